"""One claim of an article, as its fields; `books.claims` reads them, `models.audit.claims` judges them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

Amount = float | tuple[float, float]
"""A number, or a range as (low, high)."""


@dataclass(frozen=True)
class Claim:
    """One claim in our words.

    `stated` is what the article says (a number, a (low, high) range or a text) in `unit`; `inputs` are the
    claim's own inputs (numbers, ranges, or `evidence:<id>`); `method` names a recomputation of
    `fabricreport.models.audit.claims`, `compare` how its outcome is held against `stated`, within `tolerance`
    (a share of what is stated). Without a number to compare, `verdict` is our judgement and `by` its grounds.
    `against` names claims of the same source that this one contradicts. `aged`: what speaks against it is younger
    than the claim, so that a claim that fails is out of date and not contradicted.
    """

    id: str
    source: str
    kind: str
    claim: str
    about: str
    stated: Amount | str
    unit: str = "text"
    inputs: Mapping[str, Amount | str] = field(default_factory=dict)
    method: str = ""
    compare: str = "equal"
    tolerance: float = 0.0
    caveat: str = ""
    verdict: str = ""
    by: tuple[str, ...] = ()
    against: tuple[str, ...] = ()
    note: str = ""
    aged: bool = False

    @property
    def is_computed(self) -> bool:
        """Whether code reaches the verdict: there is a method, and a stated number to hold its outcome against."""
        return bool(self.method) and not isinstance(self.stated, str)
