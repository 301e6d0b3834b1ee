"""What a client has to ask sellers for: one request for each option compared, from its bill of materials."""

from __future__ import annotations

from dataclasses import dataclass

from fabricreport.books.names import item_names
from fabricreport.books.options import Option
from fabricreport.books.quotes.form import Line
from fabricreport.books.quotes.terms import Kind, items_of, terms
from fabricreport.case import Case
from fabricreport.errors import InputError, Problem
from fabricreport.sections.client import rented
from fabricreport.sections.tco.fabric import Build
from fabricreport.sections.tco.quantities import quantities


@dataclass(frozen=True)
class Request:
    """What one fabric's sellers are asked for: the option's id and name, and its lines."""

    option: str
    name: str
    lines: tuple[Line, ...]


def requests_of(case: Case) -> tuple[Request, ...]:
    """A request for every option that the client compares, for what its first stage buys.

    Raises `InputError` for a client that rents, who buys no fabric.
    """
    if rented(case.inputs):
        message = "the client rents, so there is no fabric to ask quotes for"
        raise InputError(Problem(message, key="money.acquisition", remedy="Ask for a rent instead."))
    built = case.chain.bills.built
    found = (Request(o.id, o.name, _lines(case, o, built[o.id][0])) for o in case.options)
    return tuple(request for request in found if request.lines)


def _lines(case: Case, option: Option, build: Build) -> tuple[Line, ...]:
    counts, spares = quantities(case.inputs, option, build)
    asked = items_of(option)
    lines = [_line(case, option, item, asked[item], counts[item], spares[item]) for item in asked if counts[item]]
    order = list(dict.fromkeys(kind for kinds in asked.values() for kind in kinds))
    return tuple(sorted(lines, key=lambda line: order.index(line.kind)))


def _line(case: Case, option: Option, item: str, kinds: tuple[Kind, ...], quantity: int, spares: int) -> Line:
    kind, stands_in = kinds[0], option.unquoted.get(item, "")
    unit, currency = case.inputs.price_book.terms(item) or (kind.unit, case.inputs.currency)
    what = case.record(stands_in)["label"] if stands_in else item_names(item).row
    include = [str(terms()["every"]), kind.include]
    if kind.id == "licence" and not _needed(case, option):
        include.append(str(terms()["not_needed"]))
    return Line(
        request=option.id,
        fabric=option.name,
        sold_as=option.operating_model,
        item=item,
        what=what,
        kind=kind,
        quantity=quantity,
        spares=spares,
        unit=unit,
        term_months=int(case.params.money.horizon_months),
        include="; ".join(include),
        currency=currency,
    )


def _needed(case: Case, option: Option) -> bool:
    """Whether the fabric's licence is needed at the size of the first stage."""
    above = option.licence.needed_above_gpus if option.licence else ""
    return not above or case.inputs.central(above) < case.params.cluster.gpus
