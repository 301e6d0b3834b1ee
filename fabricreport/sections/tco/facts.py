"""What the cost study found, named: which sentence of the notebook is true, and the words that its sentences use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from functools import cached_property

from fabricreport.base.formats import inside
from fabricreport.base.provenance import mean_of
from fabricreport.base.vocabulary import Side
from fabricreport.books.names import whole_names
from fabricreport.inputs.inputs import Inputs
from fabricreport.ledger.facts import Findings, Name, Named, OptionName, Spoken
from fabricreport.sections.stance import Stance, direction
from fabricreport.sections.tco.figures import CostFigures
from fabricreport.sections.tco.result import TcoResult


class CostReading(CostFigures):
    """A cost study with what its findings and words are made of."""

    @property
    def stance(self) -> Stance:
        """What the money says of the advised course."""
        return self.result.stance

    @property
    def alone(self) -> bool:
        """Whether there is one option only."""
        return self.stance == Stance.ALONE

    @property
    def compares(self) -> bool:
        """Whether an owner compares several options."""
        return self.owns and not self.alone

    @property
    def grows(self) -> bool:
        """Whether an owner compares options whose fabric is bought in stages."""
        return self.compares and self.result.choice in self.owned.growth

    def value(self, figure_id: str) -> float:
        """The value of a figure of the section."""
        return self.result.numbers[figure_id].value

    def way(self, figure_id: str) -> str:
        """`less`, `more` or `same`, by the figure as it is printed."""
        return direction(self.result.numbers[figure_id])

    @cached_property
    def causes(self) -> Mapping[str, float]:
        """Mean difference by cause, the largest first; those that differ, where an owner compares options."""
        if not self.compares:
            return {}
        return {c: float(mean) for c, mean in self.result.difference.waterfall().items() if mean}

    @cached_property
    def saved(self) -> list[str]:
        """The largest cause on which the choice costs less; none where there is no such."""
        return [c for c, mean in self.causes.items() if mean > 0][:1]


_WAYS = {"less": "more", "same": "more", "more": "less"}
"""A rival that costs less than the choice is said to cost less: the other way round than the choice."""

_TIERS = {2: "a second tier", 3: "a third tier"}


class TcoFinding(StrEnum):
    """What may be true of the total cost; those of one group exclude each other."""

    OWNS = "the fabric is bought or leased"
    CAUSES_AT_ONCE = "an owner whose fabric is bought at once: some cause differs"
    CAUSES_GROWN = "an owner whose fabric grows: some cause differs"
    PURCHASE_APART = "one fabric is dearer to buy"
    PURCHASE_SAME = "the two fabrics cost the same to buy"
    TIERS_DIFFER = "InfiniBand needs a tier of switches more"
    EDGE_AHEAD = "one node more than a size near the client's needs another tier of switches"
    EDGE_PASSED = "the client's size is a little beyond that"
    PAIRS_TOLD = "a training client compares both families: published pairs are told in money"
    GROWS_LATE = "most of it is paid for when the cluster grows"
    GROWS_EARLY = "most of it is paid for at the start"
    OWNING_CHEAPER = "a useful hour costs less owned than rented"
    RENTING_CHEAPER = "a useful hour costs no less owned than rented"
    OPERATIONS_BOUGHT = "a service runs the client's own fabric for a fee"


F = TcoFinding


def spoken(given: Inputs, result: TcoResult) -> Spoken:
    """Findings and words of the total cost."""
    read = CostReading(given, result)
    groups = (_why, _purchase, _families, _growth, _instead)
    return Spoken(Findings(TcoFinding, (f for group in groups for f in group(read))), _words(read))


# ---- findings


def _why(read: CostReading) -> Iterator[TcoFinding]:
    if read.causes:
        yield F.CAUSES_GROWN if read.grows else F.CAUSES_AT_ONCE
    if read.given.team.bought_in:
        yield F.OPERATIONS_BOUGHT


def _purchase(read: CostReading) -> Iterator[TcoFinding]:
    if not read.compares:
        return
    yield F.PURCHASE_SAME if read.way("tco.fabric_difference") == "same" else F.PURCHASE_APART


def _families(read: CostReading) -> Iterator[TcoFinding]:
    if read.both_families:
        infiniband, rocev2 = (read.last(o or "").bom.tiers for o in (read.result.infiniband, read.result.rocev2))
        if infiniband > rocev2:
            yield F.TIERS_DIFFER
    if read.trains_on_both:
        yield F.PAIRS_TOLD
    if read.result.edge:
        yield F.EDGE_PASSED if read.result.edge.passed else F.EDGE_AHEAD


def _growth(read: CostReading) -> Iterator[TcoFinding]:
    if not read.grows:
        return
    first, *later = [mean_of(sum(added.values())) for added in read.owned.bought[read.result.choice]]
    yield F.GROWS_LATE if first < sum(later) else F.GROWS_EARLY


def _instead(read: CostReading) -> Iterator[TcoFinding]:
    if read.owns:
        yield F.OWNS
        owning = read.value(f"tco.usd_per_useful_gpu_hour.{read.result.choice}")
        cheaper = owning < read.value("tco.rent_per_useful_gpu_hour")
        yield F.OWNING_CHEAPER if cheaper else F.RENTING_CHEAPER


# ---- words


def _words(read: CostReading) -> Mapping[str, object]:
    """Every word of the section's prose; None where there is none here."""
    result, edge = read.result, read.result.edge
    name, pair = whole_names(read.given.options), (result.choice, result.rival)
    return {
        "choice": name[result.choice],
        "rival": name[result.rival],
        Side.INFINIBAND: name[result.infiniband] if result.infiniband else None,
        Side.ROCEV2: name[result.rocev2] if result.rocev2 else None,
        "noted": tuple(
            OptionName(o.name, o.id, notes=Name(" ".join(o.notes)))
            for o in read.given.options
            if o.notes and o.id in pair and read.owns
        ),
        "currency": Name(read.given.params.money.currency),
        "causes": tuple(_cause(read, c) for c in read.causes),
        "saved": tuple(_cause(read, c) for c in read.saved),
        "purchase_way": _WAYS[read.way("tco.fabric_difference")] if read.owns else None,
        "tier": _tier(read),
        "edge_option": name[edge.option] if edge else None,
        "edge_tier": Name(_TIERS[edge.tiers]) if edge else None,
        "overbuild_way": "less" if read.grows and read.value(f"tco.overbuild.{result.choice}") < 0 else "more",
    }


def _cause(read: CostReading, cause: str) -> Named:
    """A cause as it stands within a sentence."""
    return Named(inside(read.result.labels[cause]), cause)


def _tier(read: CostReading) -> Named | None:
    """The tier of switches that InfiniBand needs, by the tiers that are enough up to there."""
    if not read.both_families:
        return None
    enough = max(read.last(read.result.infiniband or "").bom.tiers - 1, 1)
    return Named(_TIERS[enough + 1], str(enough))
