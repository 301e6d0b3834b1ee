"""The form on which a seller quotes: the same columns and the same number of quotes for every fabric."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from fabricreport.books.options import Option
from fabricreport.books.prices.book import PriceBook
from fabricreport.books.quotes.terms import Kind, items_of, terms
from fabricreport.spreadsheet import csv_text

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
