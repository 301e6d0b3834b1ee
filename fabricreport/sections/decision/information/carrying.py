"""What of our own words carries the advice: assumed and estimated inputs by what knowing each alone is worth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fabricreport import formats
from fabricreport.inputs import Inputs
from fabricreport.models.information import Estimate
from fabricreport.sections.decision.information.knowledge import OFFER, Knowledge, fixed_in
from fabricreport.sections.decision.result import DecisionResult
from fabricreport.sections.decision.turning import Edge, currency_of, settling
from fabricreport.sections.decision.turning_words import course_told
from fabricreport.vocabulary import OURS


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
            "carrying": [{**_plain(one), "worth": one.telling} for one in self.carried],
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
    pair = result.verdict.choice, result.verdict.runner_up
    unit, currency = str(record["unit"]), currency_of(given, input_id)
    places = tuple(
        Place(formats.write(e.at, unit, 3, currency), e.at, e.side, e.chance or 0.0, course_told(given, e.course, pair))
        for e in edges
    )
    return Carried(
        *(input_id, str(record["label"]), str(record["text"]), str(record["grade"])),
        *(knowledge.worth((input_id,)), places, settled["what"], settled["when"]),
        searched=_searched(given, input_id),
    )


def _searched(given: Inputs, input_id: str) -> str:
    kind, _, name = input_id.partition(":")
    return given.evidence[name].searched if kind == "evidence" else ""


def _plain(one: Carried) -> dict[str, Any]:
    return {**vars(one), "turns": [vars(place) for place in one.turns]}
