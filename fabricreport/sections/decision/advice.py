"""The advice in short, for whoever asks a case and reads no memo: what to do, how surely, and the two that are compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fabricreport.base import formats
from fabricreport.base.text import Shown
from fabricreport.base.vocabulary import CourseKind
from fabricreport.base.yaml_files import read_yaml
from fabricreport.inputs.inputs import Inputs
from fabricreport.ledger.numbers import Number
from fabricreport.models.judgement.comparison import Comparison, Course
from fabricreport.models.money.offers import Standing
from fabricreport.sections.decision.offers.study import OffersResult
from fabricreport.sections.decision.sensitivity import VERB


@dataclass(frozen=True, repr=False)
class Rivals(Shown):
    """The two that a headline compares, what both cost and how much more the rival; without one that is '' and has no figures."""

    choice: str
    rival: str
    cost: Number
    rival_cost: Number | None = None
    lead: Number | None = None

    @property
    def facts(self) -> Mapping[str, str]:
        """What a reader is shown, by its head."""
        told = {"Choice": self.choice, "Rival": self.rival, "Cost": self.cost.text}
        if self.rival_cost is not None and self.lead is not None:
            told |= {"Rival's cost": self.rival_cost.text, "Difference": self.lead.show("range")}
        return told | {"Costs less": self.side}

    @property
    def side(self) -> str:
        """Which of the two costs less on the mean; '' where neither does."""
        lead = self.lead.value if self.lead else 0.0
        return self.choice if lead > 0 else self.rival if lead < 0 else ""


def payable(given: Inputs, totals: Mapping[str, Any], offers: OffersResult | None) -> dict[str, tuple[str, Any]]:
    """The name and the total cost (draws,) of each option, or of a renter of each offer, by id."""
    if offers is not None:
        return {o: (judged.offer.seller, judged.total) for o, judged in offers.judged.items()}
    return {option.id: (option.name, totals[option.id]) for option in given.options}


def rivals_of(given: Inputs, totals: Mapping[str, Any], found: Comparison, offers: OffersResult | None) -> Rivals:
    """The two options; of a renter the offer to take and the next, or of published prices the cheapest and the dearest."""
    pair = found.choice, found.rival
    if offers is not None:
        settled = offers.best is not None and not offers.listed
        pair = (offers.pick.first, offers.pick.second) if settled else (offers.order[0], offers.order[-1])
    known = payable(given, totals, offers)
    name, cost = known[pair[0]]
    if pair[1] in ("", pair[0]):
        return Rivals(name, "", amount(given, cost))
    rival, dearer = known[pair[1]]
    lead = found.lead if offers is None else dearer - cost
    return Rivals(name, rival, *(amount(given, value) for value in (cost, dearer, lead)))


def amount(given: Inputs, value: Any) -> Number:
    """An amount that no ledger holds."""
    return given.number("advice.amount", value, "usd", label="amount", rule="mean of all outcomes", central="mean")


@dataclass(frozen=True, repr=False)
class Advice(Shown):
    """What to do (`action`, in words; `course` and `offer` by id), the class between two networks, the two compared, and in what
    share of outcomes the act costs no more than the best other one by a margin (`sure`; None without another).

    >>> advice = case.decision().advice
    >>> advice.confidence, advice.action.partition(" ")[0]
    ('leaning', 'Buy')
    """

    action: str
    course: str
    offer: str
    confidence: str
    decided_by: str
    sure: float | None
    compared: Rivals

    @property
    def facts(self) -> Mapping[str, str]:
        """What a reader is shown, by its head; the class is of one network beside another."""
        told = {} if self.offer else {"Class": self.confidence, "Decided by": self.decided_by}
        told |= {} if self.sure is None else {"Sure": formats.percent(self.sure)}
        return {"Action": self.action, **self.compared.facts, **told}


def action_of(given: Inputs, course: Course, pair: Sequence[str], offers: OffersResult | None) -> str:
    """What to do, in words."""
    names, words = {option.id: option.name for option in given.options}, read_yaml("advice")
    if offers is not None:
        sellers, standing = {o: judged.offer.seller for o, judged in offers.judged.items()}, offers.pick.standing
        key = "level" if standing == Standing.EITHER else standing.name.lower()
        return str(words[key]).format(first=sellers.get(offers.pick.first), second=sellers.get(offers.pick.second))
    about = [names[option] for option in course.options or pair]
    told = words["either"] if course.kind == CourseKind.EITHER else read_yaml("courses")[course.kind]["name"]
    return str(told).format(verb=VERB[given.params.money.acquisition], option=about[0], pair=" and ".join(about))
