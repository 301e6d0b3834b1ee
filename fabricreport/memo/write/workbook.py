"""`memo.xlsx`: the accounts of what page one compares as live formulas, and the tables of each section.

Formulas are made of our own steps and of addresses alone; what a person or a file said is text, wherever it stands. Every formula
carries what it gives, so that a viewer that works nothing out shows the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any

from xlsxwriter.utility import xl_col_to_name

from fabricreport.base.sheets import FILL_COLOUR, HEAD, PLAIN, Book, Formula, Style, height_of
from fabricreport.base.text import spreadsheet_cell
from fabricreport.base.written import CONST, INSTALLED, LEAF, PAID
from fabricreport.base.yaml_files import read_yaml
from fabricreport.blocks.nodes import DataTable, Heading, plain_text, walk
from fabricreport.memo.document.document import Document, FrontMatter
from fabricreport.memo.document.layout import table_texts
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
        pages = [*_Accounts(book, front, accounts, words, summary).written()]
    else:
        summary.line(3, words["summary"]["without"])
    for number, (part, tables) in enumerate(_sections(document).items(), start=1):
        pages.append(_tables(book, front, number, *part, tables))
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
        client, edition, house, footer = map(_on_the_margin, told)
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
        if len(self.widths) > 1:
            self.sheet.layout.merge_range(row - 1, 0, row - 1, len(self.widths) - 1, "")
        self.put(row, 0, text, style)
        self._texts[row] = [(text, sum(self.widths))]

    def row(self, row: int, column: int, values: Iterable[str | float], style: Style = PLAIN) -> None:
        """Values side by side, from a column on."""
        for place, value in enumerate(values, start=column):
            self.put(row, place, value, style)

    def heads(self, row: int, texts: Iterable[str], *, frozen: bool = True) -> None:
        """The heads of columns; `frozen`: they stay in sight with the first column, and stand on every page."""
        self.row(row, 0, texts, self.head)
        if frozen:
            self.sheet.layout.freeze_panes(row, 1)
            self.sheet.layout.repeat_rows(0, row - 1)

    def at(self, row: int, column: int) -> str:
        """A cell as formulas of all sheets name it."""
        return f"'{self.name}'!${xl_col_to_name(column)}${row}"

    def span(self, first: int, last: int, column: int) -> str:
        """Some rows of a column, as formulas name them."""
        return f"{self.at(first, column)}:{self.at(last, column).partition('!')[2]}"

    def close(self) -> None:
        """Make each row as high as its texts."""
        for row, texts in self._texts.items():
            self.sheet.height(row, height_of(texts))


def _on_the_margin(text: str) -> str:
    """A text of others at a page's head or foot, in which & begins a code: two of them, of which no cut leaves one."""
    found = one_line(text).replace("&", "&&")[:80]
    return found[: len(found) - found.count("&") % 2]


# ---- the sections' tables


def _sections(document: Document) -> dict[tuple[str, str], list[DataTable]]:
    """The tables of page one and of each part, by what the sheet is called and the part's title."""
    part = "Page one", document.front.title
    found: dict[tuple[str, str], list[DataTable]] = {}
    for node in document.nodes:
        if isinstance(node, Heading) and node.level == 1:
            name = f"Section {node.number}" if node.number.isdecimal() else node.number
            part = name, " ".join(filter(None, [node.number, plain_text(node.children)]))
        for table in (one for one in walk(node) if isinstance(one, DataTable)):
            found.setdefault(part, []).append(table)
    return found


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
    before, after = (f'"{mark}"' if mark else "" for mark in (symbol, letter))
    return value, f"{before}{shown}{after}{percent[-1:]}"


def _tables(book: Book, front: FrontMatter, place: int, name: str, title: str, tables: Sequence[DataTable]) -> Page:
    """A sheet of tables, each under its caption as the memo prints it."""
    printed = [table_texts(table) for table in tables]
    columns = max(len(rows[0]) for rows in printed)
    wide = [max(len(row[n]) for rows in printed for row in rows if n < len(row)) for n in range(columns)]
    safe = name if re.fullmatch(r"[\w .-]{1,28}", name) else f"Part {place}"
    page = Page(book, front, safe, title, [min(max(width + 2, 12), 46) for width in wide])
    page.sheet.layout.freeze_panes(1, 1)
    row = 3
    for table, (heads, *rows) in zip(tables, printed, strict=True):
        page.line(row, f"{f'Table {table.number}: ' if table.number else ''}{plain_text(table.caption)}", _BOLD)
        page.heads(row + 1, heads, frozen=len(tables) == 1)
        for line, (cells, own) in enumerate(zip(rows, table.rows, strict=True), start=row + 2):
            for column, text in enumerate(cells):
                value, number = number_in(text) or (text, "General")
                page.put(line, column, value, Style(bold=own.role in ("total", "winner", "group"), number=number))
        row += len(rows) + 2
        if table.note:
            page.line(row, plain_text(table.note), _NOTE)
        row += 2
    return page


# ---- the accounts

_RANKS = {"+": 1, "-": 1, "*": 2, "/": 2, PAID: 2, "^": 3}
_CALLS = {"min": "MIN({},{})", "max": "MAX({},{})", "ceil": "ROUNDUP({},0)"}
_KINDS = {"price": 0, "evidence": 1, "param": 2}
"""In which order the inputs stand, before those that are worked out."""
_SIDES = ("paid", "time")
"""What is paid, and what is time."""
_TERMS = {"today": 1, "fixed": 2}
"""The columns of the discount factors, before those of the hours."""
_HOURS = 3


class _Accounts:
    """The accounts on their sheets: each step has the value that the model gave it, and a cell where one shows it."""

    def __init__(self, book: Book, front: FrontMatter, accounts: Given, words: Given, summary: Page) -> None:
        self.front, self.words, self.all, self.steps = front, words, accounts, accounts["steps"]
        self.subjects: list[Given] = accounts["subjects"]
        self.hours: list[list[float]] = accounts["hours"]
        self.cells, self.gives = dict[int, str](), dict[str, float]()
        paid = [p["last"] for s in self.subjects for line in s["lines"] for p in line["payments"]]
        self.last = max([*paid, *(len(flow) - 1 for flow in self.hours)])
        self.years = -(-self.last // 12)
        self.totals = self.years + 5
        """The column of what is paid in all; the present value stands beside it."""
        widths: dict[str, tuple[int, ...]] = {
            "inputs": (46, 13, 15, 12, 46, 11, 14, 14, 14, 10, 40),
            "materials": (52, 46, 12, 16, 18),
            "flows": (34, 7, 31, 16, *[14] * (self.years + 3)),
            "apart": (50, *[20] * len(self.subjects)),
            "gap": (50, 22, 22, 22),
            "months": (14, 18, 18, *[18] * len(self.hours)),
        }
        self.pages = {"summary": summary}
        for key, own in widths.items():
            self.pages[key] = page = Page(book, front, words[key]["name"], words[key]["title"], own)
            if "note" in words[key]:
                page.line(2, self._said(words[key]["note"]), _NOTE)
        self.flows, self.months, self.apart = (self.pages[key] for key in ("flows", "months", "apart"))
        ids = [s["id"] for s in self.subjects]
        self.two = [ids.index(own) for own in accounts["compared"]]
        self.names = [self.subjects[n]["name"] for n in self.two]
        self.names += [words["gap"]["less"].format(a=self.names[0], b=self.names[1])] if self.names[1:] else []
        self.due, self.sums = dict[tuple[str, str], list[tuple[int, Given, Given]]](), dict[tuple[str, str], int]()
        """The row, line and payment of all that is due to each, paid and time; and the rows of the sums."""

    def written(self) -> Iterable[Page]:
        """All sheets of the accounts; the first is written last, for it sums up the others."""
        self._place()
        self._inputs()
        self._months()
        self._materials()
        self._flows()
        self._apart()
        self._gap()
        self._summary(self.pages["summary"])
        return self.pages.values()

    def _page(self, key: str, *more: str) -> tuple[Page, Given]:
        """A sheet and its words; its heads are written, and `more` after them."""
        page, words = self.pages[key], self.words[key]
        page.heads(_HEAD, [*map(self._said, words["heads"]), *more])
        return page, words

    def _said(self, text: str, **more: Any) -> str:
        return text.format(currency=self.all["currency"], **more)

    # ---- formulas

    def _told(self, step: int, above: int = 0) -> str:
        """A step by the cells that show what it is made of."""
        op, value, *of = self.steps[step]
        if step in self.cells:
            return self.cells[step]
        if op == CONST:
            return f"{value:.15g}" if value >= 0 else f"({value:.15g})"
        if op == INSTALLED:
            return f"SUM({self._span(_HOURS + int(of[0]))})"
        if op == "neg":
            return f"(-{self._told(of[0], 4)})"
        if op in _CALLS:
            return _CALLS[op].format(*map(self._told, of))
        rank = _RANKS[op]
        if op == PAID:
            told, amount = self._factors(*of[1])[0], self._told(of[0], 3)
            if amount == "1":
                return told
            told = f"{amount}*{told}"
        else:
            told = f"{self._told(of[0], rank + (op == '^'))}{op}{self._told(of[1], rank + (op in '-/^'))}"
        return f"({told})" if rank < above else told

    def _span(self, column: int, first: int = 0, last: int | None = None) -> str:
        return self.months.span(_FIRST + first, _FIRST + (self.last if last is None else last), column)

    def _factors(self, terms: str, first: int, last: int, flow: int | None) -> tuple[str, float]:
        """What an amount each month of a span, or for each hour of a flow, is multiplied by: told, and its value."""
        if flow is None:
            told, times = f"SUM({self._span(_TERMS[terms], first, last)})", dict.fromkeys(range(first, last + 1), 1.0)
        else:
            told = f"SUMPRODUCT({self._span(_HOURS + flow)},{self._span(_TERMS[terms])})"
            times = dict(enumerate(self.hours[flow]))
        rate = 1.0 + float(self.steps[self.all["rates"][terms]][1])
        return told, float(sum(count * rate ** (-month / 12) for month, count in times.items()))

    def _show(self, page: Page, row: int, column: int, step: int, style: Style) -> None:
        """Show a step in a cell, which is its cell from then on."""
        self._put(page, row, column, self._told(step), self.steps[step][1], style)
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

    def _sums(self, page: Page, row: int, label: str, columns: Iterable[int], rows: Sequence[int]) -> None:
        """A row of the sums of other rows."""
        page.put(row, 0, label, _SUM)
        for column in columns:
            self._add(page, row, column, [page.at(one, column) for one in rows])

    def _compared(self, page: Page, of: int, places: Sequence[tuple[int, int]], style: Style) -> None:
        """What is compared of a row of cash and time, each in its place, and the second less the first in the third."""
        for place, own in zip(places, self.two, strict=False):
            self._add(page, *place, [self.apart.at(of, 1 + own)], style)
        if self.two[1:]:
            first, second = (page.at(*place) for place in places[:2])
            self._put(page, *places[2], f"{second}-{first}", self.gives[second] - self.gives[first], style)

    # ---- sheets

    def _inputs(self) -> None:
        page, words = self._page("inputs")
        steps = {rest[0]: n for n, (op, _, *rest) in enumerate(self.steps) if op == LEAF}
        told = sorted(self.all["inputs"].items(), key=lambda item: _KINDS.get(item[1]["kind"], len(_KINDS)))
        for row, (key, one) in enumerate(told, start=_FIRST):
            value = self.steps[steps[key]][1]
            number = WHOLE if float(value).is_integer() else "#,##0.0#####"
            names = ("label", "unit", "", "grade", "source", "date")
            page.row(row, 0, [one.get(name) or words["ours"].get(name, "") for name in names])
            ink = "#0000C0" if one["low"] < one["high"] else ""
            page.put(row, 2, value, Style(fill=FILL_COLOUR, border="#B0B0B0", colour=ink, number=number))
            page.row(row, 6, [one["low"], one["high"], value], Style(number=number))
            within = f"AND(G{row}<H{row},C{row}>=G{row},C{row}<=H{row})"
            self._put(page, row, 9, f'IF(C{row}=I{row},"",IF({within},"changed","rebuild"))', "", _BOLD)
            page.put(row, 10, key, _NOTE)
            self.cells[steps[key]] = page.at(row, 2)

    def _months(self) -> None:
        words = self.words["months"]
        self.months.put(3, 0, words["rate"])
        page, _ = self._page("months", *(f"{words['hours']} ({n})" for n, _ in enumerate(self.hours, 1)))
        for terms, column in _TERMS.items():
            self._show(page, 3, column, self.all["rates"][terms], Style(number="0.00%"))
        for month in range(self.last + 1):
            row = _FIRST + month
            page.put(row, 0, month)
            for terms, column in _TERMS.items():
                text, factor = f"(1+{'ABC'[column]}$3)^(-$A{row}/12)", self._factors(terms, month, month, None)[1]
                self._put(page, row, column, text, factor, Style(number="0.000000"))
            page.row(row, _HOURS, [f[month] if month < len(f) else 0.0 for f in self.hours], Style(number=WHOLE))

    def _materials(self) -> None:
        page, words = self._page("materials")
        names, row = {s["id"]: s["name"] for s in self.subjects}, _FIRST
        for one in self.all["materials"]:
            page.put(row, 0, f"{names[one['subject']]}: {words[one['what']].format(**one)}", _BOLD)
            for part in one["parts"]:
                first = row + 1
                for pieces, price, amount, keys in part["rows"]:
                    row += 1
                    page.row(row, 0, [part["name"], ", ".join(self.all["inputs"][key]["label"] for key in keys)])
                    page.put(row, 2, 1.0) if pieces is None else self._show(page, row, 2, pieces, Style(number=WHOLE))
                    self._show(page, row, 3, price, Style(number=PRICE))
                    self._put(page, row, 4, f"C{row}*D{row}", self.steps[amount][1], _AMOUNT)
                    self.cells.setdefault(amount, page.at(row, 4))
                if part["sum"] not in self.cells:
                    row += 1
                    self._sums(page, row, words["sum"].format(**part), [4], range(first, row))
                    self.cells[part["sum"]] = page.at(row, 4)
            for label, unit, step in one["runs"]:
                row += 1
                page.row(row, 0, [label, words["units"][unit]])
                self._show(page, row, 4, step, _AMOUNT)
            row += 2

    def _place(self) -> None:
        """The rows of the payments, and the cells of their totals, which formulas above them name."""
        row = _FIRST
        for subject in self.subjects:
            own = subject["id"]
            for side in _SIDES:
                lines = [line for line in subject["lines"] if line["time"] == (side == "time")]
                due = [(line, paid) for line in lines for paid in line["payments"]]
                self.due[own, side] = [(at, *one) for at, one in enumerate(due, start=row + 1)]
                row += len(due) + 1
                self.sums[own, side] = row
            self.sums[own, "total"] = row + 1
            for key in ("paid", "total"):
                if subject[key] is not None:
                    self.cells[subject[key]] = self.flows.at(self.sums[own, key], self.totals + 1)
            row += 3

    def _flows(self) -> None:
        said = self.words["flows"]
        years = [self._said(said["year"], year=year) for year in range(1, self.years + 1)]
        more = self._said(said["signing"]), *years, self._said(said["sum"]), self._said(said["present"])
        page, words = self._page("flows", *more)
        columns = range(4, self.totals + 2)
        for subject in self.subjects:
            own = subject["id"]
            page.put(self.sums[own, "paid"] - len(self.due[own, "paid"]) - 1, 0, subject["name"], _BOLD)
            for side in _SIDES:
                for row, line, paid in self.due[own, side]:
                    page.row(row, 0, [line["name"], words[f"{side}_short"]])
                    self._payment(row, paid)
                self._sums(page, self.sums[own, side], words[side], columns, [row for row, *_ in self.due[own, side]])
            both = [self.sums[own, side] for side in _SIDES]
            self._sums(page, self.sums[own, "total"], words["total"], columns, both)

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
                times = f"SUM({self._span(_HOURS + flow, months[0], months[-1])})"
                count = sum(self.hours[flow][months[0] : months[-1] + 1])
            else:
                count = float(sum(first <= month <= last for month in months))
                times = f"{count:.0f}"
            if count:
                self._put(page, row, 4 + year, f"$D{row}*{times}", each * count, _AMOUNT)
        self._add(page, row, self.totals, [page.at(row, 4 + year) for year in range(self.years + 1)], _AMOUNT)
        told, factor = self._factors(terms, first, last, flow)
        self._put(page, row, self.totals + 1, f"$D{row}*{told}", each * factor, _AMOUNT)

    def _apart(self) -> None:
        page, words = self._page("apart", *(s["name"] for s in self.subjects))
        sides = self.words["flows"]
        ids, columns = [s["id"] for s in self.subjects], range(1, 1 + len(self.subjects))
        self.lines, sums, row = list[tuple[int, str, Style]](), list[int](), _FIRST
        for side in _SIDES:
            first = row
            for cause in dict.fromkeys(line["cause"] for s in ids for _, line, _ in self.due[s, side]):
                self.lines.append((row, cause, _AMOUNT))
                page.put(row, 0, cause)
                for column, own in enumerate(ids, start=1):
                    rows = [at for at, line, _ in self.due[own, side] if line["cause"] == cause]
                    self._add(page, row, column, [self.flows.at(at, self.totals + 1) for at in rows], _AMOUNT)
                row += 1
            self._sums(page, row, sides[side], columns, range(first, row))
            self.lines.append((row, sides[side], _SUM))
            sums.append(row)
            row += 1
        self._sums(page, row, sides["total"], columns, sums)
        self.lines.append((row, sides["total"], _SUM))
        page.put(row + 2, 0, self._said(words["hour"]))
        page.put(row + 3, 0, words["lost"])
        for column, subject in zip(columns, self.subjects, strict=True):
            hour, value = subject["hour"], self.steps[subject["hour"]][1]
            self._put(page, row + 2, column, self._told(hour), value, Style(number=PRICE))
            whole, price = self.flows.at(self.sums[subject["id"], "time"], self.totals), page.at(row + 2, column)
            hours = self.gives[whole] / value if value else 0.0
            self._put(page, row + 3, column, f"IF({price}=0,0,{whole}/{price})", hours, Style(number=WHOLE))

    def _gap(self) -> None:
        page, _ = self._page("gap", *self.names)
        for row, (of, label, style) in enumerate(self.lines, start=_FIRST):
            page.put(row, 0, label, style)
            self._compared(page, of, [(row, 1), (row, 2), (row, 3)], style)

    def _summary(self, page: Page) -> None:
        page.line(2, f"{self.front.client}, {self.front.date_text}")
        page.line(3, f"{self.front.edition}, {self.front.status}")
        _, words = self._page("summary")
        self._compared(page, self.lines[-1][0], [(_FIRST + n, 1) for n in range(3)], _SUM)
        means = [self.subjects[n]["mean"] for n in self.two]
        for row, (name, mean) in enumerate(zip(self.names, [*means, means[-1] - means[0]], strict=False), start=_FIRST):
            page.put(row, 0, name, _BOLD)
            page.put(row, 2, mean - self.gives[page.at(row, 1)], _AMOUNT)
            self._put(page, row, 3, f"B{row}+C{row}", mean, _SUM)
            page.put(row, 4, mean, _AMOUNT)
            text = f'IF(ABS(D{row}-E{row})<1,"{words["agrees"]}","{words["moved"]}")'
            self._put(page, row, 5, text, words["agrees"], PLAIN)
        row = _FIRST + len(self.names) + 1
        checks = self.pages["inputs"].span(_FIRST, _FIRST + len(self.all["inputs"]) - 1, 9)
        text = f'IF(COUNTIF({checks},"changed")=1,"{words["keeps"]}","{words["built"]}")'
        text = f'IF(COUNTIF({checks},"changed")>1,"{words["several"]}",{text})'
        page.put(row, 0, words["state"], _BOLD)
        style = Style(bold=True, wrap=False)
        self._put(page, row, 1, f'IF(COUNTIF({checks},"rebuild")>0,"{words["rebuild"]}",{text})', words["built"], style)
        for line, note in enumerate(words["notes"], start=row + 2):
            page.line(line, note)
