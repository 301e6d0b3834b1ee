"""The figures of what the answers change: each input before and after an answer, and the lead with and without."""

from __future__ import annotations

from collections.abc import Callable

from fabricreport.answered import Moved
from fabricreport.figures import FigureSpec
from fabricreport.sections.diligence.changes import Changes, Outcome
from fabricreport.sections.diligence.figure_context import DiligenceFigures
from fabricreport.uncertain import Uncertain

Spec = FigureSpec[DiligenceFigures]
EachSpec = FigureSpec[DiligenceFigures, str]
BEFORE, AFTER = "before", "after"
_ENDS = {"low": 0.05, "high": 0.95}
_OF_OFFER = "offer:"


def _moved(at: DiligenceFigures, key: str) -> Moved:
    return at.changes.moved[key]


def unit_of(at: DiligenceFigures, key: str) -> str:
    """The unit of what an answer moves: the input's, or for a term of an offer the question's."""
    moved = _moved(at, key)
    if moved.input_id.startswith(_OF_OFFER):
        return at.result.book.question(moved.question).unit
    own = at.own_weeks(moved.input_id)
    return own.unit if own else str(at.given.record(moved.input_id)["unit"])


def _rests_on(at: DiligenceFigures, key: str) -> tuple[str, ...]:
    """The seller, the input, and of what is weighed by how much such an answer may be off."""
    moved = _moved(at, key)
    own = () if moved.input_id.startswith(_OF_OFFER) else (moved.input_id,)
    weighed = () if moved.old is None else (f"evidence:answer-noise-{moved.proof}",)
    return (*at.listed, *own, *weighed)


def _end_spec(when: str, words: str, rule: str, end: str) -> EachSpec:
    """One end of the figure that an answer moves: `when` before it or after it."""

    def figure(at: DiligenceFigures, key: str) -> Uncertain | None:
        moved = _moved(at, key)
        return moved.old if when == BEFORE else moved.new

    def value(at: DiligenceFigures, key: str) -> float:
        found = figure(at, key)
        assert found is not None, "asked for where there is one"
        own, told = at.own_weeks(_moved(at, key).input_id), float(found.quantile(_ENDS[end]))
        return own.told(told) if own else told

    def label(at: DiligenceFigures, key: str) -> str:
        return f"What {_moved(at, key).question} moves, {end} end, {words}"

    def there(at: DiligenceFigures, key: str) -> bool:
        return figure(at, key) is not None

    return EachSpec(f"diligence.{when}_{end}[moved]", unit_of, label, rule, value, _rests_on, when=there)


def _lead(which: str, words: str, outcome: Callable[[Changes], Outcome]) -> Spec:
    """The mean lead under an outcome."""
    return Spec(
        f"diligence.lead_{which}",
        "usd",
        f"Lead of what is advised, {words}, on average",
        "total cost of what comes next less that of what is advised",
        lambda at: outcome(at.changes).lead,
        central="mean",
        when=lambda at: at.result.changes is not None and outcome(at.result.changes).lead is not None,
    )


CHANGES: tuple[FigureSpec[DiligenceFigures, *tuple[str, ...]], ...] = (
    *(
        _end_spec(
            BEFORE, "before the answer", "low or high end of the 90 % range of the figure in force without answers", e
        )
        for e in _ENDS
    ),
    *(_end_spec(AFTER, "with the answer alone", "updated by the answer, by what it rests on", e) for e in _ENDS),
    _lead("without", "without any answer", lambda c: c.without),
    _lead("together", "with all answers", lambda c: c.together),
    EachSpec(
        "diligence.lead_alone[alone]",
        "usd",
        label=lambda at, question: f"Mean lead of what is advised, with the answers to {question} alone",
        rule="total cost of what comes next less that of what is advised",
        value=lambda at, question: at.changes.alone[question].lead,
        central="mean",
        when=lambda at, question: at.changes.alone[question].lead is not None,
    ),
)
