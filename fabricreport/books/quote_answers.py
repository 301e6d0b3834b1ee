"""What sellers filled in, CSV or XLSX: every row checked against what was asked, all faults at once, each with its place."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from fabricreport.base.errors import InputError, Problem
from fabricreport.base.formats import meanings, number_remedy
from fabricreport.base.locations import did_you_mean, read_bytes_strict, shown_path
from fabricreport.base.text import clean_text
from fabricreport.base.vocabulary import Grade
from fabricreport.books.fields import MEND_YEAR, too_old
from fabricreport.books.prices.files import columns_fault, separator_fault
from fabricreport.books.prices.rules import PriceRow, parse_row
from fabricreport.books.quotes import COLUMNS, GUIDE, SHEET, TO_FILL, Line, terms
from fabricreport.books.workbooks import FormCell, FormSheet, Limits, read_sheet

_KINDS = {".csv": "a form as CSV", ".xlsx": "a form as XLSX"}


@dataclass(frozen=True)
class FilledRow:
    """One row of a form, from 1: its cells by column, in their order, and the sheet or CSV that it stands in."""

    cells: Mapping[str, str]
    row: int
    sheet: FormSheet

    def problem(self, column: str, message: str, remedy: str = "", suggestion: str = "") -> Problem:
        """A fault in one cell: of a workbook by column and cell, of CSV by line and column."""
        return self.sheet.problem(self.row, list(self.cells).index(column), message, remedy, suggestion, column)

    @property
    def empty(self) -> bool:
        """Whether nothing was filled in."""
        return not any(self.cells.get(column) for column in TO_FILL)


def read_form(path: Path) -> tuple[FilledRow, ...]:
    """The rows of a filled form; `InputError` where the file is none, with every fault of its head or its cells."""
    kind, file = path.suffix.lower(), shown_path(path)
    if kind not in _KINDS:
        raise InputError(Problem("is no form of ours", file, remedy=f"Give {' or '.join(_KINDS.values())}."))
    limits = Limits.of(terms(), 2 * len(COLUMNS))
    sheet = _csv_sheet(path, limits) if kind == ".csv" else _form_sheet(path, limits)
    filled = {n: texts for n, row in enumerate(sheet.rows, start=1) if any(texts := [cell.text for cell in row])}
    if not filled:
        raise InputError(Problem("is empty", file, 1, remedy="`fabricreport quotes PARAMS` writes the form."))
    number, head = next(iter(filled.items()))
    while not head[-1]:
        head.pop()
    if fault := columns_fault(head, COLUMNS):
        raise InputError(Problem(fault[0], file, number, remedy=f"{fault[1]} Keep the head of the form.".strip()))
    if faults := [*sheet.beside(len(head)), *sheet.formulas()]:
        raise InputError(faults)
    rows = {n: dict(zip(head, [*texts, *[""] * len(head)], strict=False)) for n, texts in filled.items() if n > number}
    return tuple(FilledRow(cells, n, sheet) for n, cells in rows.items())


def _form_sheet(path: Path, limits: Limits) -> FormSheet:
    """The sheet of a workbook; a number that was typed as text and may mean two is asked about."""
    sheet = read_sheet(path, SHEET, limits, beside={GUIDE: len(terms().read_first)}, or_first=True)
    faults = [
        sheet.problem(row, column, "may be two numbers, as it is text", number_remedy(cell.value))
        for row, cells in enumerate(sheet.rows, start=1)
        for column, cell in enumerate(cells)
        if isinstance(cell.value, str) and "." in cell.value and len(meanings(cell.value)) > 1
    ]
    if faults:
        raise InputError(faults)
    return sheet


def _csv_sheet(path: Path, limits: Limits) -> FormSheet:
    """CSV as a sheet whose rows are the lines of the file: one that ends on another line than it began stands there."""
    data, file = read_bytes_strict(path, max_bytes=limits.file_bytes), shown_path(path)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = 1 + data[: error.start].count(b"\n")
        raise InputError(Problem("is not UTF-8 text", file, line, remedy="Save it as UTF-8 CSV.")) from error
    if parted := separator_fault(text, file):
        raise InputError(parted)
    reader, rows = csv.reader(io.StringIO(text, newline=""), strict=True), list[tuple[FormCell, ...]]()
    try:
        for cells in reader:
            if reader.line_num > limits.rows:
                raise InputError(Problem(f"has more than {limits.rows:,} rows", file, reader.line_num))
            rows += [()] * (reader.line_num - len(rows) - 1)
            rows.append(tuple(map(FormCell, cells)))
    except csv.Error as error:
        raise InputError(Problem(f"is no CSV table ({error})", file, reader.line_num)) from error
    return FormSheet(file, "", tuple(rows))


COMPATIBLE, GENUINE = "compatible", "genuine"
_SELLER = re.compile(r"\w[\w .&'()’-]*")
_WEEKS = "weeks to delivery"
_WHOLE = re.compile(r"\d{1,9}", re.ASCII)
_PRICE_COLUMNS = {
    "price": "unit_price",
    "date": "quoted_on",
    "expiry": "valid_until",
    "unit": "unit",
    "currency": "currency",
}
"""Columns of the price files by which a quote is filed, and those of the form."""


@dataclass(frozen=True)
class Quote:
    """One seller's price of one line: the row of the price files it makes, and what else was said.

    `with_support` is the price with support for `term_months`; what a seller left empty is None or ''.
    """

    request: str
    seller: str
    row: PriceRow
    quantity: int
    term_months: int
    with_support: float | None
    lead_weeks: float | None
    brand: str
    warranty_months: float | None

    @property
    def item(self) -> str:
        """The item of the price files."""
        return self.row.item

    @property
    def support_per_year(self) -> float | None:
        """Support a year as a share of the price, where both were quoted."""
        if self.with_support is None:
            return None
        return (self.with_support - self.row.price) / self.row.price / (self.term_months / 12)


def stated_lines(rows: Iterable[FilledRow], items: Mapping[str, Mapping[str, Line]]) -> tuple[Line, ...]:
    """What a form says was asked for, where no params say it: quantity, term and currency as they stand in its rows.

    `items`: by request and item, what is known of each; an item with a currency of its own in the price files keeps it.
    """
    found: dict[tuple[str, str], Line] = {}
    for row in rows:
        cells = row.cells
        known = items.get(cells["request"], {}).get(cells["item"])
        if known is not None and (known.request, known.item) not in found:
            found[known.request, known.item] = replace(
                known,
                quantity=_count(cells["quantity"]),
                term_months=_count(cells["term_months"]),
                currency=known.currency or cells["currency"],
            )
    return tuple(found.values())


def _count(text: str) -> int:
    """A whole number above 0, or 0 where the text is none."""
    return int(text) if _WHOLE.fullmatch(text) else 0


def read_answers(rows: Sequence[FilledRow], asked: Iterable[Line], as_of: date | None = None) -> tuple[Quote, ...]:
    """The quotes of a filled form's rows, in their order; rows in which nothing is filled in are passed over. `as_of`: the
    memo's date, if it is known.

    Raises `InputError` with every fault found: what is not asked for, and what no price can be.
    """
    lines = {(line.request, line.item): line for line in asked}
    problems: list[Problem] = []
    found: list[Quote] = []
    first: dict[tuple[str, str, str, str], FilledRow] = {}
    for row in rows:
        if row.empty:
            continue
        reader = _Row(row, [], as_of)
        quote = reader.quote(lines)
        problems += reader.problems
        if quote is None:
            continue
        key = (quote.request, quote.item, quote.seller, quote.brand)
        if key in first:
            message = f"this seller's quote of {quote.item} stands in row {first[key].row} already"
            problems.append(row.problem("seller", message, "Keep one of the two."))
        first.setdefault(key, row)
        found.append(quote)
    if not problems and not found:
        file = rows[0].sheet.file if rows else ""
        problems.append(Problem("no quote is filled in", file, remedy="Fill in the columns from `seller` on."))
    if problems:
        raise InputError(problems)
    return tuple(found)


@dataclass
class _Row:
    """Checks one row; faults go to `problems`."""

    row: FilledRow
    problems: list[Problem]
    as_of: date | None

    def quote(self, lines: Mapping[tuple[str, str], Line]) -> Quote | None:
        cells = self.row.cells
        line = self._line(lines)
        seller = self._seller()
        if line is None:
            return None
        quantity = self._quantity(line)
        self._same(line)
        brand = self._brand(line)
        support = self._positive("price_with_support")
        weeks, warranty = self._positive("lead_time_weeks", 520), self._positive("optics_warranty_months", 1200)
        if warranty is not None and not line.kind.optics:
            self._fault("optics_warranty_months", "is asked for modules alone", "Leave it empty.")
        words = _words(line, seller, quantity, weeks, brand, warranty)
        price = self._price(line, words)
        if price is not None and support is not None and support < price.price:
            message = f"is below the unit price {price.price:g}"
            self._fault("price_with_support", message, "It holds the unit price and the support.")
        if self.problems or price is None:
            return None
        term = int(cells["term_months"])
        return Quote(line.request, seller, price, quantity, term, support, weeks, brand, warranty)

    def _line(self, lines: Mapping[tuple[str, str], Line]) -> Line | None:
        request, item = self.row.cells["request"], self.row.cells["item"]
        if (request, item) in lines:
            return lines[request, item]
        requests = {r for r, _ in lines}
        if request not in requests:
            known = f"Requests: {', '.join(sorted(requests))}."
            self._fault("request", "was not asked for by these params", known, did_you_mean(request, requests))
        else:
            items = sorted(i for r, i in lines if r == request)
            self._fault("item", "is no item of this request", f"Items: {', '.join(items)}.", did_you_mean(item, items))
        return None

    def _seller(self) -> str:
        """The name of the seller, without commas, which end it in the source of a price."""
        text = " ".join(self.row.cells["seller"].replace(",", " ").split())
        if not text:
            self._fault("seller", "is missing", "Say whose quote it is.")
            return ""
        try:
            text = clean_text(text, max_chars=terms().longest_seller, one_line=True)
        except InputError as error:
            for problem in error.problems:
                self._fault("seller", problem.message, problem.remedy)
            return ""
        if not _SELLER.fullmatch(text):
            allowed = "Write letters, digits, spaces and . & ' ( ) - only, a letter or a digit first."
            self._fault("seller", "is no name of a seller", allowed)
            return ""
        return text

    def _quantity(self, line: Line) -> int:
        text = self.row.cells["quantity"]
        if not _WHOLE.fullmatch(text) or not int(text):
            self._fault("quantity", "is no count of pieces", f"The bill asks for {line.quantity}.")
            return 0
        if int(text) != line.quantity:
            remedy = "Ask for a quote of the whole quantity; `fabricreport quotes PARAMS` writes the form anew."
            self._fault("quantity", f"is not the {line.quantity} of the bill of materials", remedy)
        return int(text)

    def _same(self, line: Line) -> None:
        """What the form states and a seller must not change."""
        stated = {"unit": line.unit, "currency": line.currency, "term_months": str(line.term_months)}
        for column, value in stated.items():
            if self.row.cells[column] != value:
                self._fault(column, f"is not the {value} that was asked for", f"Write {value}.")
        if not line.term_months:
            self._fault("term_months", "is no count of months", "Write the months of the term.")

    def _brand(self, line: Line) -> str:
        text, brands = self.row.cells["optics_brand"].lower(), list(terms().brands)
        if not line.kind.optics:
            if text:
                self._fault("optics_brand", "is asked for modules alone", "Leave it empty.")
            return ""
        if text not in brands:
            self._fault("optics_brand", "must say which modules", f"One of: {', '.join(brands)}.")
        return text

    def _positive(self, column: str, most: float = 5e11) -> float | None:
        text = self.row.cells[column]
        if not text:
            return None
        remedy = ""
        try:
            value = float(text) if re.fullmatch(r"[\d.eE+-]+", text, re.ASCII) else float("nan")
        except ValueError:
            value = float("nan")
        if math.isnan(value):
            remedy = number_remedy(text) or "Write digits and a decimal point, no thousands separator."
        if not 0 < value <= most:
            self._fault(column, f"must be a number above 0, at most {most:,.0f}", remedy)
            return None
        return value

    def _price(self, line: Line, words: str) -> PriceRow | None:
        """The row of the price files, checked by the price book's own rules."""
        cells = self.row.cells
        row = {
            "item": line.item, "unit": line.unit, "price": cells["unit_price"], "low": "", "high": "",
            "currency": line.currency, "date": cells["quoted_on"], "expiry": cells["valid_until"], "source": words,
            "grade": str(Grade.QUOTE),
        }  # fmt: skip
        if not cells["valid_until"]:
            self._fault("valid_until", "is missing", "Ask until when the quote binds the seller.")
        try:
            made = parse_row(row)
        except InputError as error:
            for problem in error.problems:
                column = _PRICE_COLUMNS.get(problem.key)
                if column:
                    self._fault(column, problem.message, problem.remedy)
            return None
        if made.price <= 0:
            self._fault("unit_price", "must be above 0", "Leave the line out if there is no price.")
        if (fault := too_old(made.date, self.as_of)) is not None:
            self._fault("quoted_on", fault, MEND_YEAR)
        return made

    def _fault(self, column: str, message: str, remedy: str = "", suggestion: str = "") -> None:
        self.problems.append(self.row.problem(column, message, remedy, suggestion))


def _words(line: Line, seller: str, quantity: int, weeks: float | None, brand: str, warranty: float | None) -> str:
    """The source that a price is filed with: whose quote it is, for how many, and what was said besides."""
    said = [f"{quantity} pieces" if line.unit == "each" else f"{quantity} by {line.unit}"]
    if brand:
        months = f" with {warranty:g} months of warranty" if warranty is not None else ""
        said.append(f"{brand} modules{months}")
    if weeks is not None:
        said.append(f"{weeks:g} {_WEEKS}")
    return f"Quote of {seller}, {'; '.join(said)}"


def seller_of(source: str) -> str:
    """The seller whose quote a price of the files is, by its source; '' for any other."""
    found = re.match(r"Quote of ([^,]+), ", source)
    return found[1] if found else ""


def weeks_to_delivery(source: str) -> float | None:
    """The weeks from order to delivery that such a quote states; None where it states none, or the price is of no quote."""
    found = re.search(rf"; ([0-9.e+]+) {_WEEKS}", source) if seller_of(source) else None
    return float(found[1]) if found else None


def comparable(quotes: Sequence[Quote]) -> tuple[Quote, ...]:
    """Those that may be filed as their items: the price files have modules that are compatible with the switch."""
    return tuple(q for q in quotes if q.brand != GENUINE)
