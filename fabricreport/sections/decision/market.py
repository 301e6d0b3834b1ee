"""Whether what stands in for an older generation can be used by the client's servers."""

from __future__ import annotations

from fabricreport.inputs import Inputs
from fabricreport.sections.decision.alike import Mismatch, Pair


def too_fast(given: Inputs, pair: Pair) -> bool:
    """Whether an option of a pair has faster links than the client's servers carry."""
    own = float(given.params.cluster.link_gbits_per_s)
    return any(given.all_options[o].link_gbits_per_s > own for o in (pair.choice, pair.rival))


def beyond_the_servers(given: Inputs, mismatch: Mismatch | None) -> bool:
    """Whether an option of the pair most alike has."""
    return mismatch is not None and mismatch.alike is not None and too_fast(given, mismatch.alike)
