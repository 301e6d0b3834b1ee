"""What diligence finds: the shortlist, the priced questions, the verdicts on answers, and what the answers change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from fabricreport.base.provenance import Traced
from fabricreport.books.answers import AnswerFile
from fabricreport.books.options import Option
from fabricreport.books.sellers import ProviderBook, Question, Seller
from fabricreport.inputs.answers import Answered, Moved
from fabricreport.ledger.numbers import Number
from fabricreport.models.audit import diligence as model
from fabricreport.models.information import Estimate
from fabricreport.models.judgement.comparison import Verdict
from fabricreport.sections.diligence.plan.result import Plan
from fabricreport.sections.diligence.promises import Promise
from fabricreport.sections.diligence.terms import Terms


def key_of(name: str) -> str:
    """A seller's name as part of an id."""
    return "-".join("".join(c if c.isalnum() else " " for c in name.casefold()).split())


@dataclass(frozen=True)
class Outcome:
    """What is advised: its name, '' where nothing is advised over anything else, and its lead over what comes next (draws,)
    in the memo's currency, None where it stands alone."""

    course: str
    lead: Traced | None


@dataclass(frozen=True)
class Changes:
    """The outcome without any answer, with the answers to each question alone, and with all of them."""

    answered: Answered
    without: Outcome
    alone: Mapping[str, Outcome]
    together: Outcome

    @property
    def turned(self) -> bool:
        """Whether the advice is another one because of the answers."""
        return self.without.course != self.together.course

    @cached_property
    def moved(self) -> Mapping[str, Moved]:
        """What each answer does that moves something, by a key: seller, question, and which of the inputs."""
        found: dict[str, Moved] = {}
        for m in self.answered.moving:
            base = f"{key_of(m.provider)}.{m.question}"
            found[f"{base}.{1 + sum(k.startswith(f'{base}.') for k in found)}"] = m
        return found

    @property
    def sellers(self) -> tuple[str, ...]:
        """Sellers of whose answers one moves something."""
        return tuple(dict.fromkeys(m.provider for m in self.answered.moving))

    def of_seller(self, seller: str) -> Mapping[str, Moved]:
        """What a seller's answers move, by key."""
        return {key: m for key, m in self.moved.items() if m.provider == seller}


LISTED = 8
"""Most rows of the short table of sellers."""


@dataclass(frozen=True)
class Shortlisted:
    """One seller of the params' list, with what it documents and what is open.

    `topology` as `topology_stated` has it; `tested` says whether a test is written for its kind of fabric. `gaps`: what to
    ask, in words.
    """

    name: str
    seller: Seller | None
    topology: str
    tested: bool
    gaps: tuple[str, ...]

    @property
    def fits(self) -> bool:
        """Nothing is open: a fabric that is compared, fast enough on every node, topology stated."""
        return not self.gaps


@dataclass(frozen=True)
class PricedQuestion:
    """A question and what its answer is worth: to the choice, to the bill, and as swings of the lead and of the option's cost.

    `settles`: ids of the inputs it settles here. `informs`: what knowing them is worth to the choice. A swing is None where no input that this case draws depends on the answer.
    """

    question: Question
    settles: tuple[str, ...]
    difference: model.Stake | None
    own_cost: model.Stake | None
    informs: Estimate

    @property
    def worth(self) -> float:
        """What its answer is worth to the choice, as far as that stands out of its noise; else nothing."""
        return 0.0 if self.informs.below_noise else self.informs.value

    @property
    def order(self) -> tuple[float, float, float]:
        """What the list is ordered by: the worth, then how far the answer moves the lead, then the cost."""
        moved, staked = (stake.width if stake else 0.0 for stake in (self.difference, self.own_cost))
        return self.worth, moved, staked


@dataclass(frozen=True)
class Judged:
    """One seller's answer file and the verdict on each question asked, by question id."""

    file: AnswerFile
    findings: Mapping[str, model.Finding]

    def count(self, verdict: str) -> int:
        """How many answers have this verdict."""
        return sum(f.verdict == verdict for f in self.findings.values())


@dataclass(frozen=True)
class Contract:
    """A seller's service levels as read: claim window as a figure, or in words; highest credit, a share."""

    name: str
    claim: Number | str | None
    credit: Number | None


@dataclass(frozen=True)
class DiligenceResult:
    """The acceptance test, the shortlist, the priced questions and the verdicts on answers, with the figures by id.

    `option` is the one advised and tested (of an open course the one with the lower mean), `rival` the one it is held
    against, `total` the cost of the option, `totals` of every option by id. `promises_of_rival`: the same test for the
    rival, where the course is open; `plan`, `plan_of_rival`: the acceptance plan of either. `floors`: busbw floor by size in
    GPUs. `at_ends`: modelled busbw of the option on two nodes and on those the cluster starts with, medians, GB/s; None where
    no network joins them. `terms`: of the contract; `terms_of_rival`: the same of the rival, where the course is open. `changes`: what the answers change, None where nobody
    has answered. `price`: of what the seller delivers over the horizon, the fabric or the rent, (draws,).
    """

    option: Option
    rival: Option
    verdict: Verdict
    promises: tuple[Promise, ...]
    promises_of_rival: tuple[Promise, ...]
    floors: Mapping[int, Number]
    plan: Plan
    plan_of_rival: Plan | None
    shortlist: tuple[Shortlisted, ...]
    questions: tuple[PricedQuestion, ...]
    judged: tuple[Judged, ...]
    at_ends: tuple[float, float] | None
    difference: Traced
    total: Traced
    totals: Mapping[str, Traced]
    price: Traced
    book: ProviderBook
    numbers: Mapping[str, Number]
    terms: Terms
    terms_of_rival: Terms | None = None
    changes: Changes | None = None

    @property
    def flatters(self) -> bool:
        """Whether two nodes show more bandwidth than the whole cluster; asked where it has several nodes."""
        return self.numbers["diligence.flattery"].value > 0

    @property
    def first(self) -> tuple[PricedQuestion, ...]:
        """The questions whose answers are worth something or move an amount; all where none does."""
        told = tuple(p for p in self.questions if p.worth > 0 or p.difference or p.own_cost)
        return told or self.questions

    @property
    def shown(self) -> tuple[Shortlisted, ...]:
        """What a short table shows: the whole list, or, of a long one, the sellers with nothing open."""
        rows = sorted(self.shortlist, key=lambda s: (len(s.gaps), not s.tested))
        if len(rows) <= LISTED:
            return tuple(rows)
        return tuple(s for s in rows if s.fits)[:LISTED] or tuple(rows[:LISTED])

    @property
    def fitting(self) -> tuple[Shortlisted, ...]:
        """Sellers with nothing open."""
        return tuple(s for s in self.shortlist if s.fits)

    @property
    def undocumented(self) -> tuple[Shortlisted, ...]:
        """Sellers that do not state a topology."""
        return tuple(s for s in self.shortlist if s.topology != "stated")

    @property
    def priced(self) -> tuple[PricedQuestion, ...]:
        """Questions whose answer moves the difference between the fabrics, in the order of the list."""
        return tuple(q for q in self.questions if q.difference is not None)

    @property
    def put(self) -> frozenset[str]:
        """Ids of the questions that this client puts."""
        return frozenset(q.question.id for q in self.questions)
