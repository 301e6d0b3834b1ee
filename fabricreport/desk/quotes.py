"""What a client has to ask sellers for: the questionnaire of one, and the pieces of its options with the workbook that asks for them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from fabricreport.base.errors import InputError, Problem
from fabricreport.base.sheets import FILL_COLOUR, HEAD, PLAIN, Book, Style
from fabricreport.books.equipment import families, gpu_types
from fabricreport.books.names import item_names
from fabricreport.books.options import Option
from fabricreport.books.prices.book import PriceBook
from fabricreport.books.quotes import COLUMNS, GUIDE, SHEET, TO_FILL, Kind, Line, items_of, rows_of, terms
from fabricreport.books.sellers import read_providers
from fabricreport.books.workbooks import letter_of
from fabricreport.case import Case, open_case
from fabricreport.desk.questionnaire import Questionnaire, in_groups, provider_name, wording
from fabricreport.desk.workbooks import add_guide
from fabricreport.inputs.dossier import read_prices
from fabricreport.inputs.inputs import Inputs
from fabricreport.scenario import client_slug
from fabricreport.sections.client import stages_of
from fabricreport.sections.diligence.study import asked, nodes_of
from fabricreport.sections.tco.fabric import Build, quantities
from fabricreport.sections.tco.inputs import manager_of, system_of


def questionnaire_of(case: Case, provider: str) -> Questionnaire:
    """The questions this client puts, for a seller of any name; `InputError` for a name that is none."""
    name = provider_name(provider)
    fabrics = (
        *(option.id for option in case.options),
        *(f for f in families() if f not in {o.id for o in case.options}),
    )
    questions = in_groups(asked(case.inputs, read_providers(), joins_nodes=case.decision().joins_nodes))
    return Questionnaire(name, _cluster(case.inputs), fabrics, questions)


def _cluster(given: Inputs) -> str:
    """What is asked for, in words."""
    words, cluster = wording(), given.params.cluster
    text = words.cluster.format(
        gpus=f"{cluster.gpus:,}",
        gpu=gpu_types().of(str(cluster.gpu)).name,
        nodes=f"{nodes_of(given):,}",
        links=cluster.links_per_gpu,
        rate=f"{cluster.link_gbits_per_s:g}",
    )
    later = [words.stage.format(gpus=f"{gpus:,}", month=month) for month, gpus in stages_of(given)[1:]]
    return text + (words.stages.format(stages=", ".join(later)) if later else "")


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
    if case.inputs.team.rented:
        message = "the client rents, so there is no fabric to ask quotes for"
        raise InputError(Problem(message, key="money.acquisition", remedy="Ask for a rent instead."))
    built = case.chain.bills.built
    found = (Request(o.id, o.name, _lines(case, o, built[o.id][0])) for o in case.options)
    return tuple(request for request in found if request.lines)


def cases_beside(prices: Path) -> dict[str, Case | None]:
    """The cases of the params files directly beside a folder of prices, by file name; None for one that cannot be read."""
    cases: dict[str, Case | None] = {}
    for path in sorted(prices.resolve().parent.glob("*.yaml")):
        try:
            cases[path.name] = open_case(path)
        except InputError:
            cases[path.name] = None
    return cases


def moved(case: Case, items: Collection[str]) -> tuple[str, ...]:
    """Those of these items that the compared options rest on and of which another price is in use since the case was read,
    on the memo's day or on that of a refresh."""
    if case.inputs.team.rented:
        return ()  # what a rent costs is never asked for by the piece
    before, after = case.inputs.price_book, read_prices(case.inputs.folder, client_slug(case.params))
    days = {case.as_of, max(case.as_of, after.newest or case.as_of)}
    needed = {item for option in case.options for item in items_of(option)} & {*items}
    return tuple(
        item
        for item in sorted(needed)
        if f"price:{item}" not in case.inputs.overrides
        and any(_figure(before, item, day) != _figure(after, item, day) for day in days)
    )


def _figure(book: PriceBook, item: str, day: date) -> tuple[object, ...] | None:
    """A price as it counts in a memo; None where there is none."""
    price = book.at(day).get(item)
    return None if price is None else (price.figure, price.unit, price.currency, price.grade, price.date)


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
    include = [terms().every, kind.include]
    if not _in_bill(case, option, kind):
        include.append(terms().not_needed if kind.id == "licence" else terms().included)
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


def _in_bill(case: Case, option: Option, kind: Kind) -> bool:
    """Whether what is asked for is in the bill of the first stage; all is but licences."""
    charged = {"licence": manager_of, "operating_system": system_of}.get(kind.id)
    return charged is None or charged(case.inputs, option).counted(case.params.cluster.gpus)


_WIDTHS = {"what": 44, "include": 60, "fabric": 30, "item": 30, "request": 26, "seller": 26}
_WIDTH = 16
_WORDS = ("seller", "quoted_on", "valid_until")
_STYLES = {column: Style(fill=FILL_COLOUR, number="@" if column in _WORDS else "General") for column in TO_FILL}


def as_workbook(lines: Iterable[Line], made: date) -> bytes:
    """The form as XLSX, how to fill it in on the sheet before it; `made`: the day of the memo it is for."""
    book = Book(SHEET, made)
    add_guide(book, GUIDE, terms().read_first)
    sheet = book.sheet(SHEET)
    rows = rows_of(lines)
    for n, column in enumerate(COLUMNS):
        letter = letter_of(n)
        sheet.width(letter, _WIDTHS.get(column, _WIDTH))
        sheet.put(f"{letter}1", column, HEAD)
        for number, row in enumerate(rows, start=2):
            sheet.put(f"{letter}{number}", row[n], _STYLES.get(column, PLAIN))
    sheet.layout.freeze_panes("A2")
    sheet.layout.activate()
    return book.as_bytes()


PREFIX, SEVERAL = "quotes-", "several-quotes.csv"
