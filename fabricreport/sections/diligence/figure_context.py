"""What the figures of diligence are made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from fabricreport.books.answers import Answer
from fabricreport.books.providers import ContractOnly, Seller
from fabricreport.inputs import Inputs
from fabricreport.ledger import Number
from fabricreport.provenance import Traced, inputs_of
from fabricreport.sections.diligence.changes import Changes, key_of
from fabricreport.sections.diligence.held import Held, held
from fabricreport.sections.diligence.promises import Promise
from fabricreport.sections.diligence.result import DiligenceResult, Judged, PricedQuestion
from fabricreport.sections.schedule.own_weeks import OF_WEEKS, OwnUnit, own_weeks

SIZES = ("param:cluster.gpus", "param:cluster.gpus_per_node")


@dataclass(frozen=True)
class DiligenceFigures:
    """What the figures of diligence are made from; `weeks`: until each option runs stably."""

    given: Inputs
    result: DiligenceResult
    weeks: Mapping[str, Traced]

    def own_weeks(self, input_id: str) -> OwnUnit | None:
        """The client's own weeks for one of those that every network's are reckoned from; None for any other input."""
        among = dict.fromkeys((self.result.option.id, self.result.rival.id, *self.weeks))
        of = [option for option in among if option in self.weeks]
        return own_weeks(input_id, self.given.own(input_id), self.weeks, of) if input_id.startswith(OF_WEEKS) else None

    # ---- the acceptance test

    @cached_property
    def promises(self) -> Mapping[str, Promise]:
        """The lines of the acceptance test by id; those of later sizes are told by their floors."""
        return {p.id: p for p in self.result.promises}

    @cached_property
    def promises_of_rival(self) -> Mapping[str, Promise]:
        """The same test for the rival, where the course is open, by its id."""
        return {p.id: p for p in self.result.promises_of_rival}

    def promised(self, part: str, promise: str) -> Number | None:
        """A number that the study of a promise made: `passes`, `price` or `credit`."""
        found: Number | None = getattr(self.promises[promise], part)
        return found

    @property
    def nodes(self) -> int:
        """Nodes that the cluster starts with."""
        return -(-int(self.given.params.cluster.gpus) // int(self.given.params.cluster.gpus_per_node))

    @property
    def modelled_on(self) -> set[str]:
        """Inputs of the modelled bandwidth."""
        return {*SIZES, *next(p.expected for p in self.result.promises if p.expected).inputs}

    # ---- the sellers

    @property
    def listed(self) -> tuple[str, ...]:
        """The sellers' names in the params, as inputs."""
        return tuple(f"param:providers[{i}].name" for i in range(len(self.given.params.providers)))

    @cached_property
    def links(self) -> Mapping[str, Seller]:
        """Sellers in the table whose link is known, by id."""
        return {s.id: s for s in self.result.book.sellers if s.link_high_gbits_per_s is not None}

    @cached_property
    def credits(self) -> Mapping[str, tuple[str, str]]:
        """Name of the seller and entry of its service credit, by the seller's id; the contracts read outside the table too."""
        contracts: list[Seller | ContractOnly] = [*self.result.book.sellers, *self.result.book.contracts_only]
        found = {one.id: (one.name, i) for one in contracts for i in one.sla if i.endswith("-credit")}
        return {k: (name, i) for k, (name, i) in found.items() if self.given.entry(name_of(i)).kind != "text"}

    # ---- the questions and the answers

    @cached_property
    def questions(self) -> Mapping[str, PricedQuestion]:
        """The questions this client should put, by id."""
        return {q.question.id: q for q in self.result.questions}

    @property
    def chosen_on(self) -> frozenset[str]:
        """Ids of every input that the choice rests on."""
        return inputs_of(*self.result.totals.values())

    @cached_property
    def judged(self) -> Mapping[str, Judged]:
        """Answer files and the verdicts on them, by the seller's name as part of an id."""
        return {key_of(j.file.provider): j for j in self.result.judged}

    @cached_property
    def held(self) -> Mapping[str, Held]:
        """What sellers can be held to of what they answered, by question id."""
        return held(self.given, self.result)

    def answer(self, seller: str, question: str) -> Answer | None:
        """One answer that holds a figure."""
        found = self.judged[seller].file.answers.get(question)
        return found if found and (found.measured or (found.low is not None and found.high is not None)) else None

    # ---- what the answers change

    @property
    def changes(self) -> Changes:
        """The changes; asked for where somebody has answered."""
        assert self.result.changes is not None, "asked for where somebody has answered"
        return self.result.changes


def name_of(entry_id: str) -> str:
    """An entry's id without its kind."""
    return entry_id.partition(":")[2]
