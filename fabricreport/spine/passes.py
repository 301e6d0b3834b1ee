"""What a network has to pass, as the body shows it: every promise of the acceptance test whose shortfall has a price."""

from __future__ import annotations

from collections.abc import Sequence

from fabricreport.blocks import Column, Name, Row, Table
from fabricreport.books.names import option_names
from fabricreport.inputs import Inputs
from fabricreport.sections.decision.result import DecisionResult
from fabricreport.sections.diligence.promises import Promise
from fabricreport.sections.diligence.result import DiligenceResult

_WEEKS = "weeks"


def shown(result: DecisionResult, tests: DiligenceResult, told: Sequence[str] = ()) -> list[Promise]:
    """Those promises, without what is `told` elsewhere; the weeks until stable only where no clause limits them."""
    left = {*told, *([_WEEKS] if result.courses.clauses else [])}
    return [p for p in tests.promises if p.price is not None and p.id not in left]


def table(given: Inputs, result: DecisionResult, tests: DiligenceResult, told: Sequence[str] = ()) -> Table:
    """What to pass and what a shortfall costs; of either of two where none is advised over the other."""
    promises, of_rival = shown(result, tests, told), {p.id: p for p in tests.promises_of_rival}
    if not of_rival:
        heads: list[str | Name] = ["Pass", "Credit from", "Assumed in the cost", "A shortfall costs"]
        rows = [Row([p.title, p.passes, p.credit or p.passes, p.expected, p.price]) for p in promises]
    else:
        pair = (tests.option.id, tests.rival.id)
        short = option_names(given.options, *pair)
        heads = [Name(f"{head}, {short[o].phrase}") for head in ("Pass", "Shortfall") for o in pair]
        both = [(p, of_rival[p.id]) for p in promises if p.id in of_rival]
        rows = [Row([p.title, p.passes, other.passes, p.price, other.price]) for p, other in both]
    return Table([Column("Promise"), *(Column(head, style="mixed") for head in heads)], rows)
