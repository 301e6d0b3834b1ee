"""`memo.xlsx`: the accounts of what page one compares as live formulas, and the tables of each section.

Formulas are made of our own steps and of addresses alone; what a person or a file said is text, wherever it stands. Every formula
carries what it gives, so that a viewer that works nothing out shows the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any

from xlsxwriter.utility import xl_col_to_name

from fabricreport.base.sheets import FILL_COLOUR, HEAD, PLAIN, Book, Formula, Style, height_of
from fabricreport.base.text import spreadsheet_cell
from fabricreport.base.yaml_files import read_yaml
from fabricreport.blocks.nodes import DataTable, Heading, plain_text, walk
from fabricreport.memo.document.document import Document, FrontMatter
from fabricreport.memo.document.layout import table_rows
from fabricreport.memo.document.safety import one_line

MONEY, PRICE, WHOLE = "#,##0;[Red]-#,##0", "#,##0.00##", "#,##0"
_TITLE, _BOLD, _NOTE = Style(bold=True, size=14, wrap=False), Style(bold=True), Style(italic=True, colour="#606060")
_AMOUNT, _SUM = Style(number=MONEY), Style(bold=True, fill="#EEF2F6", number=MONEY)
_LONGEST = 32_000
_HEAD, _FIRST = 4, 5
"""The row of a sheet's heads, and the first below it."""
Given = Mapping[str, Any]


def workbook(document: Document, accounts: Given | None) -> bytes:
    """The workbook of a memo, the same bytes for the same memo; without `accounts` its tables alone."""
    front, words = document.front, read_yaml("workbook")
    book = Book(one_line(front.title), date.fromisoformat(front.date) if front.date else date(1980, 1, 1))
    summary = Page(book, front, "Summary", words["summary"]["title"], (46, 20, 20, 20, 20, 20))
    pages = [summary]
    if accounts:
        pages += _Accounts(book, front, accounts, words).written(summary)
    else:
        summary.line(3, words["summary"]["without"])
    for number, part in enumerate(_sections(document), start=1):
        pages.append(_tables(book, front, number, *part))
    for page in pages:
        page.close()
    return book.as_bytes()


class Page:
    """A sheet with its title, set up to print: across, as wide as the page, what is frozen at the head of each."""

    def __init__(self, book: Book, front: FrontMatter, name: str, title: str, widths: Sequence[float]) -> None:
        self.name, self.widths, self.sheet, brand = name, widths, book.sheet(name), front.brand
        self.head = replace(HEAD, fill=brand.accent, colour="#FFFFFF") if brand and brand.accent else HEAD
        self._texts: dict[int, list[tuple[str, float]]] = {}
        for column, width in enumerate(widths):
            self.sheet.width(xl_col_to_name(column), width)
        self.put(1, 0, title, _TITLE)
        told = (front.client, front.edition, brand.name if brand else "", brand.footer if brand else "")
        client, edition, house, footer = (one_line(text).replace("&", "&&")[:80] for text in told)
        layout = self.sheet.layout
        self.sheet.print_across()
        layout.set_paper(9)
        layout.set_header(f"&L{' · '.join(filter(None, (house, client)))}&C&A&R{edition}")
        layout.set_footer(f"&L{footer}&R&P / &N")

    def put(self, row: int, column: int, value: str | float | Formula, style: Style = PLAIN) -> None:
        """Write a cell, the row counted from 1 and the column from 0; a text of others never runs, not as CSV either."""
        if isinstance(value, str):
            value = str(spreadsheet_cell(value))[:_LONGEST]
            if style.wrap:
                self._texts.setdefault(row, []).append((value, self.widths[column]))
        self.sheet.put(f"{xl_col_to_name(column)}{row}", value, style)

    def line(self, row: int, text: str, style: Style = PLAIN) -> None:
        """A text across all columns."""
        self.put(row, 0, "", style)
        self.sheet.layout.merge_range(row - 1, 0, row - 1, len(self.widths) - 1, "")
        self._texts[row] = [(text, sum(self.widths))]
        self.sheet.put(f"A{row}", str(spreadsheet_cell(text))[:_LONGEST], style)

    def heads(self, row: int, texts: Iterable[str], *, frozen: bool = True) -> None:
        """The heads of columns; `frozen`: they stay in sight with the first column, and stand on every page."""
        for column, text in enumerate(texts):
            self.put(row, column, text, self.head)
        if frozen:
            self.sheet.layout.freeze_panes(row, 1)
            self.sheet.layout.repeat_rows(0, row - 1)

    def at(self, row: int, column: int) -> str:
        """A cell as formulas of all sheets name it."""
        return f"'{self.name}'!${xl_col_to_name(column)}${row}"

    def close(self) -> None:
        """Make each row as high as its texts."""
        for row, texts in self._texts.items():
            self.sheet.height(row, height_of(texts))


# ---- the sections' tables


def _sections(document: Document) -> Iterator[tuple[str, str, list[DataTable]]]:
    """The tables of page one and of each part: what the sheet is called, and the part's title."""
    name, title, found = "Page one", document.front.title, list[DataTable]()
    for node in document.nodes:
        if isinstance(node, Heading) and node.level == 1:
            if found:
                yield name, title, found
            name = f"Section {node.number}" if node.number.isdecimal() else node.number
            title, found = " ".join(filter(None, [node.number, plain_text(node.children)])), []
        found += [one for one in walk(node) if isinstance(one, DataTable)]
    if found:
        yield name, title, found


_NUMBER = re.compile(r"([-−]?)([$€£]?)((?:\d{1,3}(?:,\d{3})+|\d+)(?:\.(\d+))?)(k|M|bn)?([ \N{NO-BREAK SPACE}]?%)?\Z")
_SCALES: Mapping[str, tuple[float, str]] = {"k": (1e3, ","), "M": (1e6, ",,"), "bn": (1e9, ",,,"), "": (1.0, "")}


def number_in(text: str) -> tuple[float, str] | None:
    """The number that a cell's text is, with the format that prints it so; None where it is more than one number."""
    found = _NUMBER.match(text.strip())
    if not found:
        return None
    sign, symbol, digits, decimals, letter, percent = found.groups("")
    scale, commas = _SCALES[letter]
    value = float(digits.replace(",", "")) * scale * (-1 if sign else 1) / (100 if percent else 1)
    shown = ("#,##0" if "," in digits else "0") + (f".{'0' * len(decimals)}" if decimals else "") + commas
    return value, "".join(f'"{mark}"' if mark else "" for mark in [symbol]) + shown + (
        f'"{letter}"' if letter else ""
    ) + percent[-1:]


def _tables(book: Book, front: FrontMatter, place: int, name: str, title: str, tables: Sequence[DataTable]) -> Page:
    """A sheet of tables, each under its caption as the memo prints it."""
    printed = [table_rows(table) for table in tables]
    columns = max(len(rows[0]) for rows in printed)
    wide = [max(len(str(row[n])) for rows in printed for row in rows if n < len(row)) for n in range(columns)]
    safe = name if re.fullmatch(r"[\w .-]{1,28}", name) else f"Part {place}"
    page = Page(book, front, safe, title, [min(max(width + 2, 12), 46) for width in wide])
    page.sheet.layout.freeze_panes(1, 1)
    row = 3
    for table, (heads, *rows) in zip(tables, printed, strict=True):
        page.line(row, f"{f'Table {table.number}: ' if table.number else ''}{plain_text(table.caption)}", _BOLD)
        page.heads(row + 1, map(str, heads), frozen=len(tables) == 1)
        for line, (cells, own) in enumerate(zip(rows, table.rows, strict=True), start=row + 2):
            for column, text in enumerate(map(str, cells)):
                value, number = number_in(text) or (text, "General")
                page.put(line, column, value, Style(bold=own.role in ("total", "winner", "group"), number=number))
        row += len(rows) + 2
        if table.note:
            page.line(row, plain_text(table.note), _NOTE)
        row += 2
    return page


# ---- the accounts

_RANKS = {"+": 1, "-": 1, "*": 2, "/": 2, "^": 3}
_KINDS = ("price", "evidence", "param")
_SIDES = (("paid", False), ("time", True))
"""What is paid, and what is time."""


class _Accounts:
    """The accounts on their sheets: each step has the value that the model gave it, and a cell where one shows it."""

    def __init__(self, book: Book, front: FrontMatter, accounts: Given, words: Given) -> None:
        self.front, self.words, self.all, self.steps = front, words, accounts, accounts["steps"]
        self.subjects: list[Given] = accounts["subjects"]
        self.hours: list[list[float]] = accounts["hours"]
        self.cells: dict[int, str] = {}
        self.gives: dict[str, float] = {}
        paid = [p["last"] for s in self.subjects for line in s["lines"] for p in line["payments"]]
        self.last = max([*paid, *(len(flow) - 1 for flow in self.hours)])
        self.years = -(-self.last // 12)
        self.totals = self.years + 5
        """The column of what is paid in all; the present value stands beside it."""
        many = len(self.subjects)
        self.inputs = self._page(book, "inputs", (46, 13, 15, 12, 46, 11, 14, 14, 14, 10, 40))
        self.parts = self._page(book, "materials", (52, 46, 12, 16, 18))
        self.flows = self._page(book, "flows", (34, 7, 31, 16, *[14] * (self.years + 3)))
        self.apart = self._page(book, "apart", (50, *[20] * many))
        self.gap = self._page(book, "gap", (50, 22, 22, 22))
        self.months = self._page(book, "months", (14, 18, 18, *[18] * len(self.hours)))
        self.rows: dict[tuple[str, str], list[int]] = {}
        self.sums: dict[tuple[str, str], int] = {}

    def _page(self, book: Book, key: str, widths: Sequence[float]) -> Page:
        words = self.words[key]
        page = Page(book, self.front, words["name"], words["title"], widths)
        if words.get("note"):
            page.line(2, self._said(words["note"]), _NOTE)
        return page

    def _said(self, text: str, **more: Any) -> str:
        return text.format(currency=self.all["currency"], **more)

    def written(self, summary: Page) -> list[Page]:
        """All sheets of the accounts; the first is written last, for it sums up the others."""
        self._place()
        last = self._inputs()
        self._months()
        self._materials()
        self._flows()
        self._apart()
        self._gap()
        self._summary(summary, last)
        return [self.inputs, self.parts, self.flows, self.apart, self.gap, self.months]

    # ---- formulas

    def _told(self, step: int, above: int = 0, *, own: bool = False) -> str:
        """A step by the cells that show what it is made of; `own`: it is the step of the cell that is written."""
        op, value, *of = self.steps[step]
        if step in self.cells and (op == "in" or not own):
            return self.cells[step]
        if op == "n":
            return f"{value:.15g}" if value >= 0 else f"({value:.15g})"
        if op in ("paid", "hours", "installed"):
            return self._due(op, of)
        if op == "neg":
            return f"(-{self._told(of[0], 4)})"
        if op in ("min", "max"):
            return f"{op.upper()}({self._told(of[0])},{self._told(of[1])})"
        if op == "ceil":
            return f"ROUNDUP({self._told(of[0])},0)"
        rank = _RANKS[op]
        told = f"{self._told(of[0], rank + (op == '^'))}{op}{self._told(of[1], rank + (op in '-/^'))}"
        return f"({told})" if rank < above else told

    def _due(self, op: str, of: Sequence[Any]) -> str:
        """An amount times its discount factors, discounted hours, or all hours of a flow."""
        if op == "installed":
            return f"SUM({self._span(3 + int(of[0]))})"
        if op == "paid":
            terms, first, last = of[1].split(":")
            return f"{self._told(of[0], 3)}*{self._factors(terms, int(first), int(last), None)}"
        terms, flow = of[0].split(":")
        return self._factors(terms, 0, 0, int(flow))

    def _span(self, column: int, first: int = 0, last: int | None = None) -> str:
        end = self.months.at(_FIRST + (self.last if last is None else last), column)
        return f"{self.months.at(_FIRST + first, column)}:{end.partition('!')[2]}"

    def _factors(self, terms: str, first: int, last: int, flow: int | None) -> str:
        """What an amount each month of a span, or for each hour of a flow, is multiplied by."""
        column = 1 if terms == "today" else 2
        if flow is not None:
            return f"SUMPRODUCT({self._span(3 + flow)},{self._span(column)})"
        return f"SUM({self._span(column, first, last)})"

    def _weight(self, terms: str, first: int, last: int, flow: int | None) -> float:
        rate = 1.0 + float(self.steps[self.all["rates"][terms]][1])
        hours = dict(enumerate(self.hours[flow])) if flow is not None else dict.fromkeys(range(first, last + 1), 1.0)
        return float(sum(hour * rate ** (-month / 12) for month, hour in hours.items()))

    def _show(self, page: Page, row: int, column: int, step: int, style: Style, *, own: bool = False) -> None:
        """Show a step in a cell, which is its cell from then on."""
        self._put(page, row, column, self._told(step, own=own), self.steps[step][1], style)
        self.cells.setdefault(step, page.at(row, column))

    def _put(self, page: Page, row: int, column: int, text: str, gives: float | str, style: Style) -> None:
        page.put(row, column, Formula(f"={text}", gives), style)
        if not isinstance(gives, str):
            self.gives[page.at(row, column)] = gives

    def _add(self, page: Page, row: int, column: int, cells: Sequence[str], style: Style = _SUM) -> None:
        """The sum of cells."""
        rows = [int(cell.rpartition("$")[2]) for cell in cells]
        spans = len(rows) > 2 and rows == list(range(rows[0], rows[-1] + 1))
        text = f"SUM({cells[0]}:{cells[-1].partition('!')[2]})" if spans else "+".join(cells) or "0"
        self._put(page, row, column, text, sum(self.gives.get(cell, 0.0) for cell in cells), style)

    # ---- sheets

    def _inputs(self) -> int:
        """The inputs, each in a cell; gives the last row."""
        page, words, told = self.inputs, self.words["inputs"], self.all["inputs"]
        page.heads(_HEAD, words["heads"])
        steps = {rest[0]: n for n, (op, _, *rest) in enumerate(self.steps) if op == "in"}
        order = {key: _KINDS.index(one["kind"]) if one["kind"] in _KINDS else 9 for key, one in told.items()}
        for row, key in enumerate(sorted(told, key=order.__getitem__), start=_FIRST):
            one, value = told[key], self.steps[steps[key]][1]
            number = WHOLE if float(value).is_integer() else "#,##0.0#####"
            for column, name in enumerate(("label", "unit", "", "grade", "source", "date")):
                page.put(row, column, one.get(name) or words["ours"].get(name, ""))
            page.put(row, 2, value, Style(fill=FILL_COLOUR, border="#B0B0B0", colour="#0000C0", number=number))
            for column, other in ((6, one["low"]), (7, one["high"]), (8, value)):
                page.put(row, column, other, Style(number=number))
            within = f"AND(G{row}<H{row},C{row}>=G{row},C{row}<=H{row})"
            self._put(page, row, 9, f'IF(C{row}=I{row},"",IF({within},"changed","rebuild"))', "", _BOLD)
            page.put(row, 10, key, _NOTE)
            self.cells[steps[key]] = page.at(row, 2)
        return _FIRST + len(told) - 1

    def _months(self) -> None:
        page, words = self.months, self.words["months"]
        page.put(3, 0, words["rate"])
        page.heads(_HEAD, [*words["heads"], *(f"{words['hours']} ({n})" for n, _ in enumerate(self.hours, 1))])
        for column, terms in enumerate(("today", "fixed"), start=1):
            self._show(page, 3, column, self.all["rates"][terms], Style(number="0.00%"), own=True)
        for month in range(self.last + 1):
            row = _FIRST + month
            page.put(row, 0, month)
            for column, terms in enumerate(("today", "fixed"), start=1):
                text = f"(1+{xl_col_to_name(column)}$3)^(-$A{row}/12)"
                self._put(page, row, column, text, self._weight(terms, month, month, None), Style(number="0.000000"))
            for column, flow in enumerate(self.hours, start=3):
                page.put(row, column, flow[month] if month < len(flow) else 0.0, Style(number=WHOLE))

    def _materials(self) -> None:
        page, words = self.parts, self.words["materials"]
        page.heads(_HEAD, map(self._said, words["heads"]))
        names, row = {s["id"]: s["name"] for s in self.subjects}, _FIRST
        for one in self.all["materials"]:
            page.put(row, 0, f"{names[one['subject']]}: {words[one['what']].format(**one)}", _BOLD)
            for part in one["parts"]:
                for pieces, price, amount, keys in part["rows"]:
                    row += 1
                    page.put(row, 0, part["name"])
                    page.put(row, 1, ", ".join(self.all["inputs"][key]["label"] for key in keys))
                    page.put(row, 2, 1.0) if pieces is None else self._show(page, row, 2, pieces, Style(number=WHOLE))
                    self._show(page, row, 3, price, Style(number=PRICE))
                    self._put(page, row, 4, f"C{row}*D{row}", self.steps[amount][1], _AMOUNT)
                    self.cells.setdefault(amount, page.at(row, 4))
                if part["sum"] not in self.cells:
                    cells = [page.at(row - n, 4) for n in reversed(range(len(part["rows"])))]
                    row += 1
                    page.put(row, 0, words["sum"].format(**part), _SUM)
                    self._add(page, row, 4, cells)
                    self.cells[part["sum"]] = page.at(row, 4)
            for label, unit, step in one["runs"]:
                row += 1
                page.put(row, 0, label)
                page.put(row, 1, words["units"][unit])
                self._show(page, row, 4, step, _AMOUNT)
            row += 2

    def _place(self) -> None:
        """The cells of rates and of the totals of payments, which formulas above them name."""
        for column, terms in enumerate(("today", "fixed"), start=1):
            self.cells[self.all["rates"][terms]] = self.months.at(3, column)
        row = _FIRST
        for subject in self.subjects:
            for kind, timed in _SIDES:
                count = sum(len(line["payments"]) for line in subject["lines"] if line["time"] == timed)
                self.rows[subject["id"], kind] = list(range(row + 1, row + 1 + count))
                row += count + 1
                self.sums[subject["id"], kind] = row
            self.sums[subject["id"], "total"] = row + 1
            for key in ("paid", "total"):
                if subject[key] is not None:
                    self.cells[subject[key]] = self.flows.at(self.sums[subject["id"], key], self.totals + 1)
            row += 3

    def _flows(self) -> None:
        page, words = self.flows, self.words["flows"]
        years = [words["year"].format(year=year) for year in range(1, self.years + 1)]
        page.heads(_HEAD, map(self._said, [*words["heads"], words["signing"], *years, words["sum"], words["present"]]))
        self.causes: dict[tuple[str, str, bool], list[int]] = {}
        for subject in self.subjects:
            own, sums = subject["id"], [self.sums[subject["id"], kind] for kind, _ in _SIDES]
            page.put(self.sums[own, "paid"] - len(self.rows[own, "paid"]) - 1, 0, subject["name"], _BOLD)
            for kind, timed in _SIDES:
                rows = iter(self.rows[own, kind])
                for line in (one for one in subject["lines"] if one["time"] == timed):
                    for payment, row in zip(line["payments"], rows, strict=False):
                        self.causes.setdefault((own, line["cause"], timed), []).append(row)
                        page.put(row, 0, line["name"])
                        page.put(row, 1, words[f"{kind}_short"])
                        self._payment(row, payment)
                self._sums(self.sums[own, kind], words[kind], self.rows[own, kind])
            self._sums(self.sums[own, "total"], words["total"], sums)

    def _sums(self, row: int, label: str, rows: Sequence[int]) -> None:
        self.flows.put(row, 0, label, _SUM)
        for column in range(4, self.totals + 2):
            self._add(self.flows, row, column, [self.flows.at(one, column) for one in rows])

    def _payment(self, row: int, paid: Given) -> None:
        """A payment in its row: when it is due, what is paid by year and in all, and its present value."""
        page, words, flow = self.flows, self.words["flows"], paid["hours"]
        first, last, terms = paid["first"], paid["last"], paid["terms"]
        due = words["hourly"] if flow is not None else words["once"] if first == last else words["monthly"]
        page.put(row, 2, due.format(first=first, last=last, terms=words[terms]))
        self._show(page, row, 3, paid["amount"], Style(number=PRICE))
        each = float(self.steps[paid["amount"]][1])
        for year in range(self.years + 1):
            months = range(max(0, 12 * year - 11), min(12 * year, self.last) + 1)
            if flow is not None:
                times = f"SUM({self._span(3 + flow, months[0], months[-1])})"
                count = sum(self.hours[flow][m] for m in months if m < len(self.hours[flow]))
            else:
                count = float(sum(first <= month <= last for month in months))
                times = f"{count:.0f}"
            if count:
                self._put(page, row, 4 + year, f"$D{row}*{times}", each * count, _AMOUNT)
        self._add(page, row, self.totals, [page.at(row, 4 + year) for year in range(self.years + 1)], _AMOUNT)
        span = terms, first, last, flow
        self._put(page, row, self.totals + 1, f"$D{row}*{self._factors(*span)}", each * self._weight(*span), _AMOUNT)

    def _apart(self) -> None:
        page, words = self.apart, self.words["apart"]
        page.heads(_HEAD, [words["head"], *(s["name"] for s in self.subjects)])
        self.lines: list[tuple[int, str, Style]] = []
        row, sums = _FIRST, list[int]()
        for timed, label in ((False, words["paid"]), (True, words["time"])):
            first = row
            for cause in dict.fromkeys(name for _, name, kind in self.causes if kind == timed):
                self.lines.append((row, cause, _AMOUNT))
                page.put(row, 0, cause)
                for column, subject in enumerate(self.subjects, start=1):
                    rows = self.causes.get((subject["id"], cause, timed), [])
                    cells = [self.flows.at(one, self.totals + 1) for one in rows]
                    self._add(page, row, column, cells, _AMOUNT)
                row += 1
            sums.append(row)
            self._sum_row(row, label, range(first, row))
            row += 1
        self._sum_row(row, words["total"], sums)
        page.put(row + 2, 0, self._said(words["hour"]))
        page.put(row + 3, 0, words["lost"])
        for column, subject in enumerate(self.subjects, start=1):
            self._put(
                page, row + 2, column, self._told(subject["hour"]), self.steps[subject["hour"]][1], Style(number=PRICE)
            )
            whole = self.flows.at(self.sums[subject["id"], "time"], self.totals)
            price = page.at(row + 2, column)
            hours = self.gives[whole] / self.gives[price] if self.gives[price] else 0.0
            text = f"IF({price}=0,0,{whole}/{price})"
            self._put(page, row + 3, column, text, hours, Style(number=WHOLE))

    def _sum_row(self, row: int, label: str, rows: Iterable[int]) -> None:
        self.apart.put(row, 0, label, _SUM)
        self.lines.append((row, label, _SUM))
        for column in range(1, len(self.subjects) + 1):
            self._add(self.apart, row, column, [self.apart.at(one, column) for one in rows])

    @property
    def two(self) -> list[tuple[Given, int]]:
        """What page one compares, each with its column on the sheet of cash and time."""
        order = [s["id"] for s in self.subjects]
        return [(self.subjects[order.index(o)], 1 + order.index(o)) for o in self.all["compared"]]

    def _gap(self) -> None:
        page, words = self.gap, self.words["gap"]
        names = [subject["name"] for subject, _ in self.two]
        page.heads(
            _HEAD, [words["head"], *names, *([words["less"].format(a=names[0], b=names[1])] if names[1:] else [])]
        )
        for row, (at, label, style) in enumerate(self.lines, start=_FIRST):
            page.put(row, 0, label, style)
            for column, (_, place) in enumerate(self.two, start=1):
                self._add(page, row, column, [self.apart.at(at, place)], style)
            self._less(page, row, 3, [page.at(row, column) for column in range(1, len(names) + 1)], style)

    def _less(self, page: Page, row: int, column: int, cells: Sequence[str], style: Style) -> None:
        """The second of two cells less the first."""
        if len(cells) > 1:
            self._put(page, row, column, f"{cells[1]}-{cells[0]}", self.gives[cells[1]] - self.gives[cells[0]], style)

    def _summary(self, page: Page, last: int) -> None:
        words, front = self.words["summary"], self.front
        page.line(2, f"{front.client}, {front.date_text}")
        page.line(3, f"{front.edition}, {front.status}")
        page.heads(_HEAD, map(self._said, words["heads"]))
        means = [subject["mean"] for subject, _ in self.two]
        names = [subject["name"] for subject, _ in self.two]
        if names[1:]:
            names.append(words["less"].format(a=names[0], b=names[1]))
            means.append(means[1] - means[0])
        for row, (name, mean) in enumerate(zip(names, means, strict=True), start=_FIRST):
            page.put(row, 0, name, _BOLD)
            if row < _FIRST + len(self.two):
                self._add(page, row, 1, [self.apart.at(self.lines[-1][0], self.two[row - _FIRST][1])])
            else:
                self._less(page, row, 1, [page.at(_FIRST, 1), page.at(_FIRST + 1, 1)], _SUM)
            page.put(row, 2, mean - self.gives[page.at(row, 1)], _AMOUNT)
            self._put(page, row, 3, f"B{row}+C{row}", mean, _SUM)
            page.put(row, 4, mean, _AMOUNT)
            self._put(
                page, row, 5, f'IF(ABS(D{row}-E{row})<1,"{words["agrees"]}","{words["moved"]}")', words["agrees"], PLAIN
            )
        row = _FIRST + len(names) + 1
        checks = self.inputs.at(_FIRST, 9) + ":" + self.inputs.at(last, 9).partition("!")[2]
        text = f'IF(COUNTIF({checks},"changed")=1,"{words["keeps"]}","{words["built"]}")'
        text = f'IF(COUNTIF({checks},"changed")>1,"{words["several"]}",{text})'
        page.put(row, 0, words["state"], _BOLD)
        style = Style(bold=True, wrap=False)
        self._put(page, row, 1, f'IF(COUNTIF({checks},"rebuild")>0,"{words["rebuild"]}",{text})', words["built"], style)
        for line, note in enumerate(words["notes"], start=row + 2):
            page.line(line, note)
