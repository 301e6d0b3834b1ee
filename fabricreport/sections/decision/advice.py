"""The advice in short, for whoever asks a case and reads no memo: what to do, how surely, and what is held against it."""

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
from fabricreport.models.judgement.choice import Sure
from fabricreport.models.judgement.comparison import Comparison, Course, Verdict
from fabricreport.sections.decision.offers.study import OffersResult
from fabricreport.sections.decision.sensitivity import VERB


@dataclass(frozen=True, repr=False)
class Compared(Shown):
    """The two that a headline compares, of a client that rents two sellers: their names and mean costs, and what the second
    costs more than the first, each with its range; a `rival` of '' where there is no second."""

    choice: str
    rival: str
    cost: Number
    rival_cost: Number | None
    lead: Number | None

    @property
    def facts(self) -> Mapping[str, str]:
        """What a reader is shown, by its head."""
        told = {"choice": self.choice, "rival": self.rival, "cost": self.cost.text}
        if self.rival_cost is not None and self.lead is not None:
            told |= {"rival_cost": self.rival_cost.text, "lead": self.lead.show("range"), "side": self.side}
        return _headed(told)

    @property
    def side(self) -> str:
        """Which of the two costs less on the mean; '' where neither does."""
        less = 0.0 if self.lead is None else self.lead.value
        return self.choice if less > 0 else self.rival if less < 0 else ""


def payable(given: Inputs, totals: Mapping[str, Any], offers: OffersResult | None) -> dict[str, tuple[str, Any]]:
    """The name and the total cost (draws,) of each option, or of a renter of each offer, by id."""
    if offers is not None:
        return {o: (judged.offer.seller, judged.total) for o, judged in offers.judged.items()}
    return {option.id: (option.name, totals[option.id]) for option in given.options}


def compared(given: Inputs, totals: Mapping[str, Any], found: Comparison, offers: OffersResult | None) -> Compared:
    """What the headline of a case compares: the two options, or of a renter the offer to take and the next, and where only
    published prices stand in the cheapest and the dearest."""
    known, pair = payable(given, totals, offers), (found.choice, found.rival)
    if offers is not None:
        listed = offers.listed or offers.best is None
        pair = (offers.order[0], offers.order[-1]) if listed else (offers.pick.first, offers.pick.second)
    first, second = pair
    second = second if second != first else ""

    def amount(what: str, value: Any) -> Number:
        return given.number(f"advice.{what}", value, "usd", label=what, rule="mean over all outcomes", central="mean")

    name, total = known[first]
    if not second:
        return Compared(name, "", amount("cost", total), None, None)
    other, dearer = known[second]
    lead = found.lead if offers is None else dearer - total
    return Compared(name, other, amount("cost", total), amount("rival cost", dearer), amount("lead", lead))


@dataclass(frozen=True, repr=False)
class Advice(Shown):
    """What to do (`action`, in words; `course` and `offer` by id), how surely, and the two compared.

    `confidence`: the class between two networks; `sure`: the share of outcomes in which the act costs no more than the best
    other one by a margin, None without another.

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
    compared: Compared

    @property
    def facts(self) -> Mapping[str, str]:
        """What a reader is shown, by its head."""
        told = {} if self.offer else {"confidence": self.confidence, "decided_by": self.decided_by}
        told |= {} if self.sure is None else {"sure": formats.percent(self.sure)}
        return {**_headed({"action": self.action}), **self.compared.facts, **_headed(told)}


def _headed(told: Mapping[str, str]) -> dict[str, str]:
    heads = read_yaml("advice")["heads"]
    return {heads[key]: text for key, text in told.items() if text}


def advice_of(
    given: Inputs, course: Course, verdict: Verdict, sure: Sure | None, offers: OffersResult | None, two: Compared
) -> Advice:
    """The advice on a case, from what its decision found."""
    return Advice(
        action=_action(given, course, verdict.pair, offers),
        course=course.id,
        offer=offers.pick.first if offers else "",
        confidence=str(verdict.confidence),
        decided_by=str(verdict.decided_by),
        sure=sure.share if sure else None,
        compared=two,
    )


def _action(given: Inputs, course: Course, pair: Sequence[str], offers: OffersResult | None) -> str:
    names = {option.id: option.name for option in given.options}
    words = read_yaml("advice")
    if offers is not None:
        sellers = {o: judged.offer.seller for o, judged in offers.judged.items()}
        two = {"first": sellers.get(offers.pick.first, ""), "second": sellers.get(offers.pick.second, "")}
        return _put(words["sellers"][offers.pick.standing.name.lower()], two)
    between = " and ".join(names[o] for o in course.options or pair)
    told = words["either"] if course.kind == CourseKind.EITHER else read_yaml("courses")[course.kind]["name"]
    option = names[course.options[0]] if course.options else names[pair[0]]
    return _put(told, {"verb": VERB[given.params.money.acquisition], "option": option, "pair": between})


def _put(text: str, words: Mapping[str, str]) -> str:
    """Words in the place of their names; a name is data and is not looked through for others."""
    return text.format_map(words)
