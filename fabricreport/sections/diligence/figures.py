"""The figures of the diligence section: the acceptance test, the shortlist, the questions and the answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fabricreport.books.answers import Answer
from fabricreport.figures import Declaration, FigureSpec, Index, TakenSpec
from fabricreport.ledger import Number
from fabricreport.models.audit.diligence import VERDICTS, Stake
from fabricreport.provenance import inputs_of
from fabricreport.sections.diligence.change_figures import CHANGES
from fabricreport.sections.diligence.figure_context import SIZES, DiligenceFigures, name_of
from fabricreport.sections.diligence.held import TERM_INDEX, TERMS
from fabricreport.sections.diligence.plan.figures import INDEXES, PLAN
from fabricreport.sections.diligence.result import DiligenceResult, PricedQuestion

Spec = FigureSpec[DiligenceFigures]
EachSpec = FigureSpec[DiligenceFigures, str]
PairSpec = FigureSpec[DiligenceFigures, str, str]


# ---- the acceptance test


def _promised(name: str, part: str) -> TakenSpec[DiligenceFigures, str]:
    """What the study says of a promise. A later size passes at its floor, which is a figure of its own."""

    def number(at: DiligenceFigures, promise: str) -> Number:
        found = at.promised(part, promise)
        assert found is not None
        return found

    return TakenSpec(
        f"diligence.{name}[promise]",
        number,
        when=lambda at, promise: (
            at.promised(part, promise) is not None and not (part == "passes" and promise.startswith("busbw."))
        ),
    )


def _promised_by_rival(part: str) -> TakenSpec[DiligenceFigures, str]:
    """What the study says of the same promise by the rival."""

    def number(at: DiligenceFigures, promise: str) -> Number:
        found: Number | None = getattr(at.promises_of_rival[promise], part)
        assert found is not None
        return found

    return TakenSpec(
        f"diligence.rival.{part}[promise_of_rival]",
        number,
        when=lambda at, promise: getattr(at.promises_of_rival[promise], part) is not None,
    )


def _flattery(at: DiligenceFigures) -> float:
    assert at.result.at_ends is not None
    two, whole = at.result.at_ends
    return two / whole - 1.0


_TEST = (
    _promised("pass", "passes"),
    _promised("price", "price"),
    _promised("starts", "credit"),
    _promised_by_rival("passes"),
    _promised_by_rival("price"),
    _promised_by_rival("credit"),
    TakenSpec[DiligenceFigures, str]("diligence.floor[size]", lambda at, gpus: at.result.floors[int(gpus)]),
    EachSpec(
        "diligence.gpus[size]",
        "gpus",
        label=lambda _, gpus: f"A size of the cluster: {gpus} GPUs",
        rule="as stated in the params",
        value=lambda _, gpus: float(gpus),
        inputs=("param:cluster.gpus",),
    ),
    Spec(
        "diligence.lead",
        "usd",
        label=lambda at: f"Total cost of {at.result.rival.name} less that of {at.result.option.name}",
        rule="mean over the same outcomes of total cost(rival) − total cost(option), present value",
        value=lambda at: at.result.difference,
        inputs=("param:money.horizon_months",),
        central="mean",
        compares=lambda at: (at.result.verdict.choice, at.result.verdict.runner_up),
    ),
    Spec(
        "diligence.flattery",
        "share",
        label="Busbw at two nodes above busbw at the full size",
        rule="median at two nodes ÷ median at full size − 1",
        value=_flattery,
        inputs=lambda at: at.modelled_on,
        digits=2,
        when=lambda at: at.result.at_ends is not None,
    ),
    Spec(
        "diligence.nodes",
        "node",
        label="Nodes of the cluster",
        rule="GPUs ÷ GPUs per node",
        value=lambda at: float(at.nodes),
        inputs=SIZES,
        when=lambda at: at.result.at_ends is not None,
    ),
)


# ---- the sellers


def _counted(name: str, label: str, count: Callable[[DiligenceResult], int]) -> Spec:
    """A count of the sellers on the client's list."""
    return Spec(
        f"diligence.{name}",
        "count",
        label=label,
        rule="count",
        value=lambda at: float(count(at.result)),
        inputs=lambda at: (*at.listed, at.result.book.source),
    )


_SELLERS = (
    _counted("shortlisted", "Sellers on the client's list", lambda r: len(r.shortlist)),
    _counted("fitting", "Sellers on the list with nothing open", lambda r: len(r.fitting)),
    Spec(
        "diligence.questions",
        "count",
        label="Questions this client should put",
        rule="count",
        value=lambda at: float(len(at.result.questions)),
        inputs=("param:money.acquisition",),
    ),
    EachSpec(
        "diligence.link[seller]",
        "gbits/s",
        label=lambda at, seller: f"Link of {at.links[seller].name}, at most",
        rule="as the table states it",
        value=lambda at, seller: float(at.links[seller].link_high_gbits_per_s or 0.0),
        inputs=lambda at, _: (at.result.book.source,),
    ),
    EachSpec(
        "diligence.credit[contract]",
        "share",
        label=lambda at, seller: f"Highest service credit of {at.credits[seller][0]}",
        rule="as the contract states it",
        value=lambda at, seller: at.given.entry(name_of(at.credits[seller][1])).high,
        inputs=lambda at, seller: (at.credits[seller][1],),
    ),
)


# ---- the questions: what an answer is worth to the difference, and to the option's own cost

_RERUN = "the model run again with the inputs it settles at the ends (of the 90 % range) that lower, then at those that raise it"


def _moved(name: str, words: str, stake: Callable[[PricedQuestion], Stake | None]) -> EachSpec:
    """How far an answer moves an amount, labelled by the title of the question."""

    def width(at: DiligenceFigures, question: str) -> float:
        found = stake(at.questions[question])
        assert found is not None
        return found.width

    return EachSpec(
        f"diligence.{name}[question]",
        "usd",
        label=lambda at, question: f"How far “{at.questions[question].question.title}” moves {words}",
        rule=_RERUN,
        value=width,
        inputs=lambda at, _: inputs_of(at.result.total if name == "stake" else at.result.difference),
        when=lambda at, question: stake(at.questions[question]) is not None,
    )


_WORTH = (
    EachSpec(
        "diligence.informs[question]",
        "usd",
        label=lambda at, question: (
            f"What an answer to “{at.questions[question].question.title}” is worth to the choice"
        ),
        rule="regression on the outcomes, learnt on some and judged on the others: mean cost of the option that is cheapest on average − that of the option chosen on what is answered",
        value=lambda at, question: at.questions[question].informs.value,
        inputs=lambda at, _: at.chosen_on,
        digits=2,
        when=lambda at, question: at.questions[question].worth > 0,
    ),
    _moved("moves", "the mean difference between the networks", lambda priced: priced.difference),
    _moved("stake", "the mean total cost of the tested option", lambda priced: priced.own_cost),
)


# ---- the answers


def _answered(at: DiligenceFigures, seller: str, question: str) -> Answer:
    found = at.answer(seller, question)
    assert found is not None
    return found


def _is_range(answer: Answer) -> bool:
    return answer.low is not None and answer.high is not None


def _figure_of(answer: Answer) -> Any:
    if answer.low is not None and answer.high is not None:
        return (answer.low + answer.high) / 2
    assert answer.measured is not None
    return answer.measured.busbw_gbytes_per_s


def _answer_label(at: DiligenceFigures, seller: str, question: str) -> str:
    provider = at.judged[seller].file.provider
    if _is_range(_answered(at, seller, question)):
        return f"{provider} on “{at.result.book.question(question).title}”"
    return f"busbw that {provider} reports"


_ANSWERS = (
    EachSpec(
        "diligence.answers[judged]",
        "count",
        label=lambda at, seller: f"Questions put to {at.judged[seller].file.provider}",
        rule="count",
        value=lambda at, seller: float(len(at.judged[seller].findings)),
        inputs=lambda at, _: at.listed,
    ),
    PairSpec(
        "diligence.answers[judged][verdict]",
        "count",
        label=lambda at, seller, verdict: f"Answers of {at.judged[seller].file.provider}: {verdict}",
        rule="count of verdicts",
        value=lambda at, seller, verdict: float(at.judged[seller].count(verdict)),
        inputs=lambda at, *_: at.listed,
    ),
    PairSpec(
        "diligence.answer[judged][answered]",
        lambda at, seller, question: (
            _answered(at, seller, question).unit if _is_range(_answered(at, seller, question)) else "gbytes/s"
        ),
        label=_answer_label,
        rule=lambda at, seller, question: (
            "as answered; the middle of a range" if _is_range(_answered(at, seller, question)) else "as answered"
        ),
        value=lambda at, seller, question: _figure_of(_answered(at, seller, question)),
        inputs=lambda at, *_: at.listed,
        digits=lambda at, seller, question: 6 if _is_range(_answered(at, seller, question)) else 4,
        when=lambda at, seller, question: at.answer(seller, question) is not None,
    ),
)

FIGURES: Declaration[DiligenceFigures] = Declaration(
    "diligence",
    (*_TEST, *PLAN, *_SELLERS, *_WORTH, *_ANSWERS, *CHANGES, *TERMS),
    {
        **TERM_INDEX,
        **INDEXES,
        "promise": Index(lambda at: at.promises),
        "promise_of_rival": Index(lambda at: at.promises_of_rival),
        "size": Index(lambda at: map(str, at.result.floors)),
        "seller": Index(lambda at: at.links),
        "contract": Index(lambda at: at.credits),
        "question": Index(lambda at: at.questions),
        "judged": Index(lambda at: at.judged),
        "verdict": Index(lambda _: VERDICTS, VERDICTS),
        "moved": Index(lambda at: at.result.changes.moved if at.result.changes else ()),
        "alone": Index(lambda at: at.result.changes.alone if at.result.changes else ()),
        "answered": Index(lambda at: dict.fromkeys(q for j in at.result.judged for q in j.file.answers)),
    },
)
"""Every figure of the section."""
