"""The figures of the diligence section: the shortlist, the questions, the answers and what they change.

What each is called and rests on stands in `figures.yaml`; those of the acceptance plan stand in `plan`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from fabricreport.base.provenance import Traced, inputs_of
from fabricreport.base.uncertain import Uncertain
from fabricreport.books.answers import Answer
from fabricreport.books.sellers import ContractOnly, Seller
from fabricreport.inputs.answers import Moved
from fabricreport.ledger.figures import Declaration, Footing, Index, Reckoning, figure
from fabricreport.ledger.numbers import Number
from fabricreport.models.audit.diligence import VERDICTS, Stake
from fabricreport.sections.arrivals import OF_WEEKS, OwnUnit, own_weeks
from fabricreport.sections.client import stages_of
from fabricreport.sections.diligence.amounts import LOST
from fabricreport.sections.diligence.clauses import Held, held
from fabricreport.sections.diligence.plan.figures import PlanFigures
from fabricreport.sections.diligence.promises import Promise
from fabricreport.sections.diligence.result import Changes, Judged, PricedQuestion, key_of
from fabricreport.sections.diligence.terms import DAMAGES_CAP, Damages

_LOW, _HIGH = 0.05, 0.95
_OF_OFFER = "offer:"
_LATER_SIZE = "busbw."


@dataclass(frozen=True)
class DiligenceFigures(PlanFigures):
    """What the figures of diligence are made from, and how each is made; `weeks`: until each option runs stably."""

    weeks: Mapping[str, Traced]

    # ---- names

    @property
    def option_name(self) -> str:
        """The name of the option tested."""
        return self.result.option.name

    @property
    def rival_name(self) -> str:
        """The name of the option that it is held against."""
        return self.result.rival.name

    @property
    def compared(self) -> tuple[str, str]:
        """Ids of the two: a difference above zero says that the first costs less."""
        return self.result.verdict.choice, self.result.verdict.runner_up

    def link_name(self, seller: str) -> str:
        """The name of a seller whose link is known."""
        return self.links[seller].name

    def contract_name(self, seller: str) -> str:
        """The name of a seller whose service credit is known."""
        return self.credits[seller][0]

    def judged_name(self, seller: str) -> str:
        """The name of a seller that has answered."""
        return self.judged[seller].file.provider

    def title(self, question: str) -> str:
        """The title of a question."""
        return self.result.book.question(question).title

    # ---- the acceptance test

    @cached_property
    def promises(self) -> Mapping[str, Promise]:
        """The lines of the acceptance test by id."""
        return {p.id: p for p in self.result.promises}

    @cached_property
    def promises_of_rival(self) -> Mapping[str, Promise]:
        """The same test for the rival, where the course is open, by its id."""
        return {p.id: p for p in self.result.promises_of_rival}

    def has_pass(self, promise: str) -> bool:
        """Whether a promise has a value of its own to pass at: a later size passes at its floor."""
        return not promise.startswith(_LATER_SIZE)

    def has_price(self, promise: str) -> bool:
        """Whether a shortfall of it has a price."""
        return self.promises[promise].price is not None

    def has_start(self, promise: str) -> bool:
        """Whether its credit begins elsewhere than where it passes."""
        return self.promises[promise].credit is not None

    def rival_has_price(self, promise: str) -> bool:
        """Whether a shortfall of the rival's has a price."""
        return self.promises_of_rival[promise].price is not None

    def rival_has_credit(self, promise: str) -> bool:
        """Whether the rival's credit begins elsewhere than where it passes."""
        return self.promises_of_rival[promise].credit is not None

    @property
    def has_ends(self) -> bool:
        """Whether a network joins the nodes, so that bandwidth is modelled on two of them and on all."""
        return self.result.at_ends is not None

    @property
    def modelled_on(self) -> Footing:
        """Inputs of the modelled bandwidth."""
        expected = next(p.expected for p in self.result.promises if p.expected)
        return {"param:cluster.gpus", "param:cluster.gpus_per_node", *expected.inputs}

    @figure("diligence.pass[promise]")
    def passes(self, promise: str) -> Number:
        return self.promises[promise].passes

    @figure("diligence.price[promise]")
    def price(self, promise: str) -> Any:
        return self.promises[promise].price

    @figure("diligence.starts[promise]")
    def starts(self, promise: str) -> Any:
        return self.promises[promise].credit

    @figure("diligence.rival.passes[promise_of_rival]")
    def rival_passes(self, promise: str) -> Number:
        return self.promises_of_rival[promise].passes

    @figure("diligence.rival.price[promise_of_rival]")
    def rival_price(self, promise: str) -> Any:
        return self.promises_of_rival[promise].price

    @figure("diligence.rival.credit[promise_of_rival]")
    def rival_credit(self, promise: str) -> Any:
        return self.promises_of_rival[promise].credit

    @figure("diligence.floor[size]")
    def floor(self, gpus: str) -> Number:
        return self.result.floors[int(gpus)]

    @figure("diligence.gpus[size]")
    def gpus(self, gpus: str) -> float:
        return float(gpus)

    @figure("diligence.lead")
    def lead(self) -> Any:
        return self.result.difference

    @figure("diligence.flattery")
    def flattery(self) -> float:
        assert self.result.at_ends is not None
        two, whole = self.result.at_ends
        return two / whole - 1.0

    @figure("diligence.nodes")
    def nodes(self) -> int:
        cluster = self.given.params.cluster
        return -(-int(cluster.gpus) // int(cluster.gpus_per_node))

    # ---- the sellers

    @property
    def listed(self) -> tuple[str, ...]:
        """The sellers' names in the params, as inputs."""
        return tuple(f"param:providers[{i}].name" for i in range(len(self.given.params.providers)))

    @property
    def listed_in_table(self) -> Footing:
        """These and the table of the sellers."""
        return (*self.listed, self.result.book.source)

    @property
    def table(self) -> Footing:
        """The table of the sellers, as an input."""
        return (self.result.book.source,)

    @cached_property
    def links(self) -> Mapping[str, Seller]:
        """Sellers in the table whose link is known, by id."""
        return {s.id: s for s in self.result.book.sellers if s.link_high_gbits_per_s is not None}

    @cached_property
    def credits(self) -> Mapping[str, tuple[str, str]]:
        """Name of the seller and entry of its service credit, by the seller's id; the contracts read outside the table too."""
        contracts: list[Seller | ContractOnly] = [*self.result.book.sellers, *self.result.book.contracts_only]
        found = {one.id: (one.name, i) for one in contracts for i in one.sla if i.endswith("-credit")}
        return {k: (name, i) for k, (name, i) in found.items() if self.given.entry(_name_of(i)).kind != "text"}

    @figure("diligence.shortlisted")
    def shortlisted(self) -> int:
        return len(self.result.shortlist)

    @figure("diligence.fitting")
    def fitting(self) -> int:
        return len(self.result.fitting)

    @figure("diligence.questions")
    def questions_put(self) -> int:
        return len(self.result.questions)

    @figure("diligence.link[seller]")
    def link(self, seller: str) -> Any:
        return self.links[seller].link_high_gbits_per_s

    @figure("diligence.credit[contract]")
    def contract_credit(self, seller: str) -> Reckoning:
        entry = self.credits[seller][1]
        return Reckoning(self.given.entry(_name_of(entry)).high, inputs=(entry,))

    # ---- the questions: what an answer is worth to the difference, and to the option's own cost

    @cached_property
    def questions(self) -> Mapping[str, PricedQuestion]:
        """The questions this client should put, by id."""
        return {q.question.id: q for q in self.result.questions}

    def has_worth(self, question: str) -> bool:
        """Whether an answer is worth anything to the choice."""
        return self.questions[question].worth > 0

    def has_move(self, question: str) -> bool:
        """Whether it moves the difference."""
        return self.questions[question].difference is not None

    def has_stake(self, question: str) -> bool:
        """Whether it moves the option's own cost."""
        return self.questions[question].own_cost is not None

    @property
    def chosen_on(self) -> Footing:
        """Ids of every input that the choice rests on."""
        return inputs_of(*self.result.totals.values())

    def swing(self, stake: Stake | None, amount: Traced) -> Reckoning:
        """How far an answer moves an amount; asked for where it does."""
        assert stake is not None
        return Reckoning(stake.width, inputs=inputs_of(amount))

    @figure("diligence.informs[question]")
    def informs(self, question: str) -> Any:
        return self.questions[question].informs.value

    @figure("diligence.moves[question]")
    def moves(self, question: str) -> Reckoning:
        return self.swing(self.questions[question].difference, self.result.difference)

    @figure("diligence.stake[question]")
    def stake(self, question: str) -> Reckoning:
        return self.swing(self.questions[question].own_cost, self.result.total)

    # ---- the answers

    @cached_property
    def judged(self) -> Mapping[str, Judged]:
        """Answer files and the verdicts on them, by the seller's name as part of an id."""
        return {key_of(j.file.provider): j for j in self.result.judged}

    @property
    def answered(self) -> Mapping[str, None]:
        """Ids of the questions that some seller has answered."""
        return dict.fromkeys(q for j in self.result.judged for q in j.file.answers)

    def answer(self, seller: str, question: str) -> Answer:
        """One answer; asked for where there is one."""
        return self.judged[seller].file.answers[question]

    def has_range(self, seller: str, question: str) -> bool:
        """Whether an answer is a range, and no log."""
        answer = self.answer(seller, question)
        return answer.low is not None and answer.high is not None

    def has_answer(self, seller: str, question: str) -> bool:
        """Whether a seller has answered a question by a figure."""
        answer = self.judged[seller].file.answers.get(question)
        return answer is not None and (answer.measured is not None or self.has_range(seller, question))

    def answer_unit(self, seller: str, question: str) -> str:
        """The unit of an answer."""
        return self.answer(seller, question).unit

    @figure("diligence.answers[judged]")
    def answers(self, seller: str) -> int:
        return len(self.judged[seller].findings)

    @figure("diligence.answers[judged][verdict]")
    def answers_judged(self, seller: str, verdict: str) -> int:
        return self.judged[seller].count(verdict)

    @figure("diligence.answer[judged][answered]")
    def answer_figure(self, seller: str, question: str) -> Reckoning:
        answer = self.answer(seller, question)
        if answer.low is not None and answer.high is not None:
            return Reckoning((answer.low + answer.high) / 2, digits=6)
        assert answer.measured is not None
        return Reckoning(answer.measured.busbw_gbytes_per_s, digits=4)

    # ---- what the answers change: each input before and after an answer, and the lead with and without

    @property
    def changes(self) -> Changes:
        """The changes; asked for where somebody has answered."""
        assert self.result.changes is not None, "asked for where somebody has answered"
        return self.result.changes

    @property
    def moved(self) -> Mapping[str, Moved]:
        """What each answer moves, by key."""
        return self.result.changes.moved if self.result.changes else {}

    def moving(self, key: str) -> str:
        """The question whose answer moves it."""
        return self.moved[key].question

    def has_before(self, key: str) -> bool:
        """Whether there is a figure before the answer."""
        return self.moved[key].old is not None

    def has_after(self, key: str) -> bool:
        """Whether there is one with it."""
        return self.moved[key].new is not None

    @property
    def leads_without(self) -> bool:
        """Whether something leads without any answer."""
        return self.result.changes is not None and self.changes.without.lead is not None

    @property
    def leads_together(self) -> bool:
        """Whether something leads with all of them."""
        return self.result.changes is not None and self.changes.together.lead is not None

    def leads_alone(self, question: str) -> bool:
        """Whether something leads with the answers to a question alone."""
        return self.changes.alone[question].lead is not None

    def own_weeks(self, input_id: str) -> OwnUnit | None:
        """The client's own weeks for one of those that every network's are reckoned from; None for any other input."""
        among = dict.fromkeys((self.result.option.id, self.result.rival.id, *self.weeks))
        of = [option for option in among if option in self.weeks]
        return own_weeks(input_id, self.given.own(input_id), self.weeks, of) if input_id.startswith(OF_WEEKS) else None

    def moved_unit(self, key: str) -> str:
        """The unit of what an answer moves: the input's, or for a term of an offer the question's."""
        moved = self.moved[key]
        if moved.input_id.startswith(_OF_OFFER):
            return self.result.book.question(moved.question).unit
        own = self.own_weeks(moved.input_id)
        return own.unit if own else str(self.given.record(moved.input_id)["unit"])

    def behind_moved(self, key: str) -> Footing:
        """The seller, the input, and of what is weighed by how much such an answer may be off."""
        moved = self.moved[key]
        own = () if moved.input_id.startswith(_OF_OFFER) else (moved.input_id,)
        weighed = () if moved.old is None else (f"evidence:answer-noise-{moved.proof}",)
        return (*self.listed, *own, *weighed)

    def end(self, key: str, found: Uncertain | None, share: float) -> float:
        """One end of a figure that an answer moves."""
        assert found is not None, "asked for where there is one"
        own, told = self.own_weeks(self.moved[key].input_id), float(found.quantile(share))
        return own.told(told) if own else told

    @figure("diligence.before_low[moved]")
    def before_low(self, key: str) -> float:
        return self.end(key, self.moved[key].old, _LOW)

    @figure("diligence.before_high[moved]")
    def before_high(self, key: str) -> float:
        return self.end(key, self.moved[key].old, _HIGH)

    @figure("diligence.after_low[moved]")
    def after_low(self, key: str) -> float:
        return self.end(key, self.moved[key].new, _LOW)

    @figure("diligence.after_high[moved]")
    def after_high(self, key: str) -> float:
        return self.end(key, self.moved[key].new, _HIGH)

    @figure("diligence.lead_without")
    def lead_without(self) -> Any:
        return self.changes.without.lead

    @figure("diligence.lead_together")
    def lead_together(self) -> Any:
        return self.changes.together.lead

    @figure("diligence.lead_alone[alone]")
    def lead_alone(self, question: str) -> Any:
        return self.changes.alone[question].lead

    # ---- the terms of the contract

    @cached_property
    def held(self) -> Mapping[str, Held]:
        """What sellers can be held to of what they answered, by question id."""
        return held(self.given, self.result)

    def held_seller(self, question: str) -> str:
        """The seller that can be held to it."""
        return self.held[question].seller

    def held_unit(self, question: str) -> str:
        """Its unit."""
        return self.held[question].question.unit

    def late(self, late: str) -> Damages:
        """What is paid for being late: `weeks` of the network, or `delivery`."""
        found: Damages = getattr(self.result.terms, late)
        return found

    def late_by_share(self, late: str) -> bool:
        """Whether that is a share of the loss, which nothing caps."""
        return self.late(late).by_share

    def ends_late(self, late: str) -> bool:
        """Whether it ends at a share of a price, and is anything."""
        return self.late(late).cap is not None and float(self.late(late).per_unit) > 0

    @property
    def caps_network(self) -> bool:
        """Whether damages end at a share of the price of the network."""
        return self.result.terms.weeks is not None and self.result.terms.weeks.cap is not None

    @property
    def caps_servers(self) -> bool:
        """Whether they end at a share of that of the servers, ordered without a network."""
        return self.result.terms.weeks is None and self.result.terms.delivery.cap is not None

    @property
    def rival_has_credits(self) -> bool:
        """Whether bandwidth of the rival's that falls short at the first stage is credited."""
        return self.result.terms_of_rival is not None and 1 in self.result.terms_of_rival.credits

    @property
    def in_orders(self) -> bool:
        """Whether the network is accepted at several sizes."""
        return len(self.result.floors) > 1

    @figure("diligence.damages[late]")
    def damages(self, late: str) -> Number:
        return self.result.terms.damages[late]

    @figure("diligence.price.delivery")
    def price_of_delivery(self) -> Number:
        return self.result.terms.loss["delivery"]

    @figure("diligence.share[late]")
    def share(self, late: str) -> float:
        return self.late(late).share

    @figure("diligence.cap")
    def cap(self) -> Any:
        return self.given.central(DAMAGES_CAP)

    @figure("diligence.cap_amount")
    def cap_amount(self) -> Any:
        return self.late("weeks").cap

    @figure("diligence.cap_after[late]")
    def cap_after(self, late: str) -> Reckoning:
        return Reckoning(self.late(late).days_until_cap, inputs=(DAMAGES_CAP, *self.late(late).rests_on))

    @figure("diligence.cap_servers")
    def cap_servers(self) -> Any:
        return self.given.central(DAMAGES_CAP)

    @figure("diligence.credit_most")
    def credit_most(self) -> Number:
        return self.credit.most

    @figure("diligence.rival.credit_most")
    def rival_credit_most(self) -> Number:
        assert self.result.terms_of_rival is not None, "asked for where there is a credit"
        return self.result.terms_of_rival.credits[1].most

    @figure("diligence.term[term]")
    def term(self, question: str) -> float:
        return self.held[question].value

    @figure("diligence.planned")
    def planned(self) -> Any:
        return max(gpus for _, gpus in stages_of(self.given))

    @figure("diligence.ordered")
    def ordered(self) -> Any:
        return self.given.params.cluster.gpus


def _name_of(entry_id: str) -> str:
    """An entry's id without its kind."""
    return entry_id.partition(":")[2]


FIGURES: Declaration[DiligenceFigures] = Declaration(
    "diligence",
    DiligenceFigures,
    {
        "bar": Index(lambda at: at.bars),
        "bar_of_rival": Index(lambda at: at.bars_of_rival),
        "span": Index(lambda at: at.spans, called=lambda at, gpus: at.nodes_of(int(gpus))),
        "ethernet": Index(lambda at: at.ethernets, called=DiligenceFigures.ethernet_name),
        "promise": Index(lambda at: at.promises),
        "promise_of_rival": Index(lambda at: at.promises_of_rival),
        "size": Index(lambda at: map(str, at.result.floors)),
        "seller": Index(lambda at: at.links, called=DiligenceFigures.link_name),
        "contract": Index(lambda at: at.credits, called=DiligenceFigures.contract_name),
        "question": Index(lambda at: at.questions, called=DiligenceFigures.title),
        "judged": Index(lambda at: at.judged, called=DiligenceFigures.judged_name),
        "verdict": Index(lambda _: VERDICTS, VERDICTS),
        "answered": Index(lambda at: at.answered, called=DiligenceFigures.title),
        "moved": Index(lambda at: at.moved, called=DiligenceFigures.moving),
        "alone": Index(lambda at: at.result.changes.alone if at.result.changes else ()),
        "term": Index(lambda at: at.held, called=DiligenceFigures.title),
        "late": Index(lambda at: at.result.terms.damages, called=lambda _, late: LOST[late]),
    },
)
"""Every figure of the section."""
