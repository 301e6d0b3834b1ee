"""What the cost study finds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fabricreport.ledger import Number
from fabricreport.models.judgement.comparison import Verdict
from fabricreport.models.judgement.difference import Difference, difference
from fabricreport.provenance import Traced
from fabricreport.sections.stance import Stance, stance
from fabricreport.sections.tco.edge import Edge
from fabricreport.sections.tco.fabric import Build, GrowthCost
from fabricreport.sections.tco.inputs import Common


@dataclass(frozen=True)
class Ownership:
    """What only an owner has: the fabric built at each stage, its capital and growth.

    `capital` is what the last stage's fabric costs at today's prices, by cause of the fabric; `bought`
    what each stage adds to it; `capital_gap` the rival's capital less the choice's, part by part. `rent_useful_hour` is what a useful
    GPU-hour costs when the same work is rented on the choice's fabric, already stable.
    """

    builds: Mapping[str, tuple[Build, ...]]
    capital: Mapping[str, Mapping[str, Traced]]
    capital_gap: Traced
    bought: Mapping[str, tuple[Mapping[str, Traced], ...]]
    growth: Mapping[str, GrowthCost]
    rent_useful_hour: Traced
    break_even_rent: Traced


@dataclass(frozen=True)
class TcoResult:
    """Present values by option and cause (draws,), the difference that decides, and the figures by id.

    `choice` and `rival` are those of the comparison, with its `verdict`; `difference` is rival less choice: positive
    means the choice is cheaper. `infiniband` and `rocev2` are the cheaper option of each family, or None. `parts` are
    the same bills piece by piece, so that what two options share cancels to exact zero in `gap`. `ownership` is None
    for a client that rents, and `edge` is where another tier of switches begins, None if that is not near.
    """

    totals: Mapping[str, Traced]
    parts: Mapping[str, Mapping[str, Traced]]
    components: Mapping[str, Mapping[str, Traced]]
    labels: Mapping[str, str]
    inputs: frozenset[str]
    order: tuple[str, ...]
    choice: str
    rival: str
    verdict: Verdict
    difference: Difference
    infiniband: str | None
    rocev2: str | None
    useful_hour: Mapping[str, Traced]
    useful_share: Mapping[str, Traced]
    worth_per_gpu_hour: Mapping[str, Traced]
    ownership: Ownership | None
    edge: Edge | None
    common: Common
    numbers: Mapping[str, Number]

    @property
    def stance(self) -> Stance:
        """What the money says of the advised course."""
        return stance(self.verdict, self.numbers["tco.difference"])

    def gap(self, a: str, b: str) -> Traced:
        """Cost of `a` less cost of `b` (draws,); what both share leaves neither money nor provenance."""
        return Traced(difference(self.parts[a], self.parts[b]).draws)
