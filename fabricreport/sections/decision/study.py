"""The decision: what to do, how sure we are, what would change it, what of our own words carries it, and what the answers of sellers change.

Without answers the whole chain is run once more; each answer then runs again the parts of it that its inputs reach.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from fabricreport.base import formats
from fabricreport.base.provenance import Traced
from fabricreport.base.uncertain import Uncertain
from fabricreport.base.vocabulary import OURS
from fabricreport.books.names import whole_names
from fabricreport.books.sellers import known_ids
from fabricreport.inputs.answers import Answered
from fabricreport.inputs.inputs import Inputs
from fabricreport.ledger.figures import DeclaredFigures
from fabricreport.models.information import Estimate
from fabricreport.models.judgement.comparison import Comparison
from fabricreport.sections.chain import Chain, chain
from fabricreport.sections.decision.figures import FIGURES, DecisionFigures
from fabricreport.sections.decision.information import OFFER, Knowledge, fixed_in
from fabricreport.sections.decision.inputs import comparison_of, judge_of
from fabricreport.sections.decision.offers.study import OffersResult, offers_of
from fabricreport.sections.decision.result import DecisionResult
from fabricreport.sections.decision.sensitivity import course_told
from fabricreport.sections.decision.steps import Monday
from fabricreport.sections.decision.turning import Edge, Search, settling
from fabricreport.sections.diligence.result import Changes, Outcome
from fabricreport.sections.tco.result import Bills


def run(search: Search, knowledge: Callable[[], Knowledge], steps: Callable[[], Monday]) -> DecisionResult:
    """Decide for a case, from its chain, the comparison made on its bills, and what could be found out; `steps`: what to do."""
    given, bills = search.base.given, search.base.bills
    return DecisionResult(
        search, knowledge, lambda result: DeclaredFigures(FIGURES, DecisionFigures(given, result, bills, steps), given)
    )


@dataclass(frozen=True)
class Place:
    """Where the advice turns, all other inputs at their draws: the value, the side, the chance of lying there, the course."""

    text: str
    at: float
    side: str
    chance: float
    course: str


@dataclass(frozen=True)
class Carried:
    """An input that carries the advice. `text`: the value in use; `worth`: of knowing it and nothing else, in the memo's
    currency; `searched`: where a better figure was looked for."""

    id: str
    what: str
    text: str
    grade: str
    worth: Estimate
    turns: tuple[Place, ...]
    settles: str
    when: str
    searched: str

    @property
    def telling(self) -> float:
        """Its worth, nothing where that is not told from noise."""
        return 0.0 if self.worth.below_noise else self.worth.value

    @property
    def order(self) -> tuple[float, float]:
        """What counts first comes first: its worth, then the chance that the advice is another."""
        return self.telling, sum(place.chance for place in self.turns)


@dataclass(frozen=True)
class Carrying:
    """The inputs of grades OURS that carry an advice, the most worth first, of so many (`of`) behind the costs."""

    client: str
    currency: str
    carried: tuple[Carried, ...]
    of: int

    def as_dict(self) -> dict[str, Any]:
        """Plain values for `--json`."""
        return {
            "client": self.client,
            "currency": self.currency,
            "of": self.of,
            "carrying": [
                {**vars(one), "turns": [vars(place) for place in one.turns], "worth": one.telling}
                for one in self.carried
            ],
        }


def carrying_of(given: Inputs, knowledge: Knowledge, result: DecisionResult) -> Carrying:
    """What carries the advice of a case: worth more than the noise of its estimate, or able to turn it alone."""
    behind = ours(given, knowledge)
    edges = {t.input_id: result.turns_to(t) for t in result.turns.drawn}
    found = [_carried(given, knowledge, result, i, edges.get(i, ())) for i in behind]
    kept = sorted((c for c in found if any(c.order)), key=lambda c: (*(-part for part in c.order), c.id))
    return Carrying(given.params.client.name, given.currency, tuple(kept), len(behind))


def ours(given: Inputs, knowledge: Knowledge) -> tuple[str, ...]:
    """Ids of the drawn inputs of grades OURS behind the costs; of offers, those that each has its own draws of."""
    known = {i for i in knowledge.inputs if not i.startswith(OFFER)}
    known |= fixed_in(knowledge.offers) & knowledge.rests_on if knowledge.offers else set()
    return tuple(sorted(i for i in known if given.record(i)["grade"] in OURS))


def _carried(
    given: Inputs, knowledge: Knowledge, result: DecisionResult, input_id: str, edges: tuple[Edge, ...]
) -> Carried:
    record, settled = given.record(input_id), settling(input_id)
    kind, _, name = input_id.partition(":")
    unit, currency = str(record["unit"]), given.in_force(input_id).currency or "USD"
    places = tuple(
        Place(
            formats.write(e.at, unit, 3, currency),
            e.at,
            e.side,
            e.odds,
            course_told(given, e.course, result.verdict.pair),
        )
        for e in edges
    )
    return Carried(
        *(input_id, str(record["label"]), str(record["text"]), str(record["grade"])),
        *(knowledge.worth((input_id,)), places, settled["what"], settled["when"]),
        searched=given.evidence[name].searched if kind == "evidence" else "",
    )


def changes_of(given: Inputs, comparison: Comparison, offers: OffersResult | None) -> Changes | None:
    """What the answers change, from the comparison and the offers with all of them; None where nobody has answered."""
    found = given.answered if given.answer_files else Answered()
    if not found:
        return None
    silent = given.without_answers(())
    base = chain(silent)
    every = set(known_ids().values())
    asked = dict.fromkeys(m.question for m in found.moving)
    return Changes(
        found,
        _outcome(silent, base),
        {q: _outcome(given.without_answers(every - {q}), base) for q in asked},
        outcome_of(given, comparison, offers),
    )


def outcome_of(given: Inputs, comparison: Comparison, offers: OffersResult | None) -> Outcome:
    """What is advised: of a renter the offer to take or to ask first, else the option."""
    if given.team.rented and offers is not None:
        best, other = offers.best, offers.next
        lead = given.spread(other.total - best.total) if best and other else None
        return Outcome(best.offer.seller if best else "", lead)
    name = whole_names(given.options)
    alone = len(given.options) == 1
    course = "" if comparison.verdict.open else name[comparison.choice]
    return Outcome(course, None if alone else Traced(comparison.lead))


def _outcome(given: Inputs, base: Chain) -> Outcome:
    """The outcome under some of the answers, from the chain without any."""
    figures = {i: value for i, (value, _) in given.answered.figures.items()}
    run = chain(given) if given.answered.leads else base.replacing(figures) if figures else base

    def again(own: Mapping[str, Uncertain]) -> Bills:
        return run.replacing(own).bills

    offers = offers_of(given, run.bills, judge_of(given), again) if given.team.rented else None
    return outcome_of(given, comparison_of(given, run.bills), offers)
