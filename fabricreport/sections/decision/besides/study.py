"""Reasons beyond money: options over all weightings, what has a figure, utilisation by size, and the other topology."""

from __future__ import annotations

from dataclasses import dataclass

from fabricreport.chain import Chain
from fabricreport.models.judgement.comparison import Comparison
from fabricreport.sections.decision.besides.mfu import Utilisations, utilisations_of
from fabricreport.sections.decision.besides.priced import Priced, priced_of
from fabricreport.sections.decision.besides.scores import Weighed, weighed_of
from fabricreport.sections.decision.besides.topologies import OtherTopology, other_topology_of
from fabricreport.sections.decision.inputs import Judge


@dataclass(frozen=True)
class Besides:
    """What speaks for an option besides its bill. `compared`: the choice and its rival, of which the last two speak;
    `utilisations` is None without training across nodes, `topology` where it cannot be counted."""

    compared: tuple[str, ...]
    weighed: Weighed
    priced: Priced
    utilisations: Utilisations | None
    topology: OtherTopology | None


def besides_of(base: Chain, fast: Chain, judge: Judge, comparison: Comparison) -> Besides:
    """Everything beyond money; `fast` is the chain without provenance, on which what-ifs are run."""
    compared = tuple(dict.fromkeys((comparison.choice, comparison.rival)))
    weighed = weighed_of(base.given, judge, base.bills, compared)
    return Besides(
        compared,
        weighed,
        priced_of(base, fast, weighed.options),
        utilisations_of(base, compared),
        other_topology_of(fast, compared),
    )
