"""What sellers are asked for, by kind of piece, and the form on which they quote: the same columns for every fabric."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache

from fabricreport.base.locations import KeyPath
from fabricreport.base.text import csv_text
from fabricreport.books.fields import CLOSED, Unwritten
from fabricreport.books.options import MONEY, Option
from fabricreport.books.prices.book import PriceBook
from fabricreport.books.reader import shipped

_PRICE = "price:"


@dataclass(frozen=True)
class Kind:
    """A kind of piece: what a sentence calls one of it, its unit in the price files, what a price of it has to include, and
    whether it is a module."""

    __pydantic_config__ = CLOSED
    each: str
    unit: str
    include: str
    optics: bool = False
    id: Unwritten[str] = ""


@dataclass(frozen=True)
class QuoteTerms:
    """The terms of every request; the file explains each key."""

    __pydantic_config__ = CLOSED
    kinds: Mapping[str, Kind]
    every: str
    not_needed: str
    included: str
    read_first: tuple[str, ...]
    brands: tuple[str, ...]
    quotes: int
    longest_seller: int
    most_rows: int
    largest_file_bytes: int
    largest_unpacked_bytes: int


def terms() -> QuoteTerms:
    """The terms of every request, `data/quotes.yaml`."""
    return shipped("quotes", QuoteTerms)


@cache
def kinds() -> Mapping[str, Kind]:
    """The kinds of pieces by id, in the order of a request."""
    return {name: replace(kind, id=name) for name, kind in terms().kinds.items()}


def items_of(option: Option) -> dict[str, tuple[Kind, ...]]:
    """The items of the price files that this option, once `priced`, is or would be priced by, with the kinds of piece
    that each stands for.

    An item nobody has a price for is one of them: a quote filed as it takes the place of what stands in.
    """
    asked = {stand_in: item for item, stand_in in option.unquoted.items()}
    found: dict[str, tuple[Kind, ...]] = {}
    for need in option.needs:
        item = need.ref.removeprefix(_PRICE) if need.ref.startswith(_PRICE) else asked.get(need.ref)
        if item is not None and set(MONEY) <= set(need.units) and (kind := _kind(need.path)):
            found[item] = (*found.get(item, ()), kind)
    return found


def _kind(path: KeyPath) -> Kind | None:
    """The kind of piece whose price stands at a key of an option; None for one that nobody is asked for."""
    if path[0] == "support":
        return None
    of_a_piece = "pieces" in path
    return kinds()[str(path[path.index("pieces") + 1] if of_a_piece else path[0])]


GIVEN = (
    "request",
    "fabric",
    "sold_as",
    "item",
    "what",
    "quantity",
    "of_which_spares",
    "unit",
    "term_months",
    "include",
    "currency",
    "quote",
)
"""Columns that say what is asked for."""
TO_FILL = (
    "seller",
    "quoted_on",
    "unit_price",
    "price_with_support",
    "valid_until",
    "lead_time_weeks",
    "optics_brand",
    "optics_warranty_months",
)
"""Columns that a seller fills in."""
COLUMNS = (*GIVEN, *TO_FILL)
SHEET, GUIDE = "Quotes", "Read first"


@dataclass(frozen=True)
class Line:
    """One piece of one request: how many are asked for, spares included, in which unit and currency, for how long.

    `sold_as` is the operating model of the fabric: who answers for it.
    """

    request: str
    fabric: str
    sold_as: str
    item: str
    what: str
    kind: Kind
    quantity: int
    spares: int
    unit: str
    term_months: int
    include: str
    currency: str

    def cells(self, quote: int) -> tuple[str | int, ...]:
        """The given cells of one quote of it."""
        return (
            *(self.request, self.fabric, self.sold_as, self.item, self.what, self.quantity, self.spares, self.unit),
            *(self.term_months, self.include, self.currency, quote),
        )


def lines_of(option: Option, book: PriceBook) -> dict[str, Line]:
    """What is known of an option's items without a client, by item: no quantity, no term, the currency of the price files
    ('' where no price states one)."""
    found = {}
    for item, (kind, *_) in items_of(option.priced({})).items():
        unit, currency = book.terms(item) or (kind.unit, "")
        found[item] = Line(
            option.id, option.name, option.operating_model, item, "", kind, 0, 0, unit, 0, kind.include, currency
        )
    return found


def rows_of(lines: Iterable[Line]) -> list[list[str | int]]:
    """The form's rows without its head, what is to be filled in left empty: three for every line."""
    empty = [""] * len(TO_FILL)
    return [[*line.cells(n), *empty] for line in lines for n in range(1, terms().quotes + 1)]


def as_csv(lines: Iterable[Line]) -> bytes:
    """The form as CSV, with a byte order mark for spreadsheets."""
    return ("\ufeff" + csv_text([COLUMNS, *rows_of(lines)])).encode("utf-8")
