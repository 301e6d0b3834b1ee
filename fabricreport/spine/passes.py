"""What the contract asks, as the body shows it: every promise of the acceptance test whose shortfall has a price, and damages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum

from fabricreport.blocks import Column, Name, Row, Table
from fabricreport.books.names import option_names
from fabricreport.inputs import Inputs
from fabricreport.ledger import Number
from fabricreport.sections.decision.result import DecisionResult
from fabricreport.sections.diligence.promises import Promise
from fabricreport.sections.diligence.result import DiligenceResult
from fabricreport.spine.told import Told

_WEEKS = "weeks"


class Agreed(StrEnum):
    """What a body says of damages."""

    CLAUSE_OF_ONE = "for weeks until stable of the one option that is ordered"
    CLAUSE_OF_BOTH = "for those of either of two"
    DAMAGES_SHARED = "as the share of the loss: nothing caps them"
    DELIVERY_PRICED = "for a late delivery as well"
    DELIVERY_ALONE = "for that alone: no network between nodes is bought"


def damages(case: Told) -> Iterator[Agreed]:
    """What holds of damages here; nothing where a network is rented, for its weeks stand among what has to pass."""
    terms, result = case.diligence().terms, case.decision()
    if terms.weeks is None:
        if terms.delivery.per_unit:
            yield Agreed.DELIVERY_ALONE
        return
    if not terms.weeks.per_unit or not result.courses.clauses:
        return
    both = case.diligence().terms_of_rival is not None
    yield Agreed.CLAUSE_OF_BOTH if both else Agreed.CLAUSE_OF_ONE
    if terms.weeks.by_share:
        yield Agreed.DAMAGES_SHARED
    if terms.delivery.per_unit:
        yield Agreed.DELIVERY_PRICED


def shown(result: DecisionResult, tests: DiligenceResult, told: Sequence[str] = ()) -> list[Promise]:
    """Those promises, without what is `told` elsewhere; the weeks until stable only where no clause limits them."""
    left = {*told, *([_WEEKS] if result.courses.clauses else [])}
    return [p for p in tests.promises if p.price is not None and p.id not in left]


def table(given: Inputs, result: DecisionResult, tests: DiligenceResult, told: Sequence[str] = ()) -> Table:
    """What to pass and what the seller pays beyond it; of either of two where none is advised over the other."""
    promises, of_rival = shown(result, tests, told), {p.id: p for p in tests.promises_of_rival}
    late = tests.numbers.get("diligence.damages.weeks")

    def paid(promise: Promise) -> Number | None:
        return late if promise.id == _WEEKS and late is not None else promise.price

    if not of_rival:
        heads: list[str | Name] = ["Pass", "Credit beyond", "The seller pays"]
        rows = [Row([p.title, p.passes, p.credit or p.passes, paid(p)]) for p in promises]
    else:
        pair = (tests.option.id, tests.rival.id)
        short = option_names(given.options, *pair)
        heads = [Name(f"{head}, {short[o].phrase}") for head in ("Pass", "It pays") for o in pair]
        both = [(p, of_rival[p.id]) for p in promises if p.id in of_rival]
        rows = [Row([p.title, p.passes, other.passes, paid(p), paid(other)]) for p, other in both]
    return Table([Column("Promise"), *(Column(head, style="mixed") for head in heads)], rows)
