"""The questionnaire as a workbook."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from typing import Any

from fabricreport.base.bounds import bound_of
from fabricreport.base.sheets import FILL_COLOUR, HEAD, LINE_POINTS, Book, Sheet, Style, height_of
from fabricreport.books.answers import LONGEST_ANSWER, bound_of_answer
from fabricreport.books.sellers import Proof, Question
from fabricreport.desk.questionnaire import (
    COLUMNS,
    GUIDE,
    HEAD_ROWS,
    LETTERS,
    LISTS,
    SHEET,
    TABLE_ROW,
    TO_FILL,
    Questionnaire,
    proofs_told,
    takes_benchmark,
    wording,
)

_GUIDE_WIDTH = 100


def add_guide(book: Book, title: str, lines: Iterable[str]) -> None:
    """Add a sheet that says how to fill in the others, a line in each row."""
    guide = book.sheet(title)
    guide.width("A", _GUIDE_WIDTH)
    for row, line in enumerate(lines, start=1):
        guide.put(f"A{row}", line)
        guide.height(row, height_of([(line, _GUIDE_WIDTH)]) + LINE_POINTS / 2)
    guide.print_across()


_TO_FILL_OF_HEAD = ("date", "answered_by", "fabric")
_WORDS = ("answer", "choice", "evidence", "document")
_LACKS, _WRONG, _DONE = "#F8CB8A", "#F4A0A0", "#C9E7CB"
_LONGEST_LINE = 200
_PROMPT = 250
"""Characters that a spreadsheet shows beside a cell."""
_LINE = "#B0B0B0"
_LABEL, _NOTE = Style(bold=True, wrap=False), Style(italic=True, colour="#606060", wrap=False)
_ASKED, _ID, _NOT_ASKED = Style(border=_LINE), Style(border=_LINE, bold=True), Style(border=_LINE, fill="#D0D0D0")


def as_workbook(form: Questionnaire, made: date) -> bytes:
    """The form as XLSX, dated as it was made: the day of the memo it is for."""
    words = wording()
    book = Book(words.title, made, locked=True)
    told = {"longest_answer": LONGEST_ANSWER, "proofs": proofs_told()}
    add_guide(book, GUIDE, (line.format(**told) for line in words.read_first))
    sheet, lists = book.sheet(SHEET), book.sheet(LISTS)
    for row, fabric in enumerate(form.fabrics, start=1):
        lists.put(f"A{row}", fabric)
    lists.layout.hide()
    _head(sheet, form)
    _table(sheet, form.questions)
    _marks(sheet, len(form.questions))
    _lay_out(sheet)
    return book.as_bytes()


# ---- the head


def _head(sheet: Sheet, form: Questionnaire) -> None:
    words = wording()
    sheet.put("A1", words.title, Style(bold=True, size=14, wrap=False))
    shown = {"provider": form.provider, "asked_for": form.cluster}
    for key, row in HEAD_ROWS.items():
        to_fill = key in _TO_FILL_OF_HEAD
        number = "yyyy-mm-dd" if key == "date" else "@" if to_fill else "General"
        style = Style(left=True, to_fill=to_fill, fill=FILL_COLOUR if to_fill else "", number=number)
        sheet.put(f"A{row}", words.head[key].label, _LABEL)
        sheet.put(f"B{row}", shown.get(key, ""), style)
        sheet.put(f"C{row}", words.head[key].note, _NOTE)
        sheet.height(row, height_of([(shown.get(key, ""), words.columns["asked"].width)]))
    fabrics = {"validate": "list", "source": f"={LISTS}!$A$1:$A${len(form.fabrics)}"}
    sheet.layout.data_validation(f"B{HEAD_ROWS['fabric']}", fabrics)
    sheet.layout.data_validation(f"B{HEAD_ROWS['answered_by']}", _no_longer(_LONGEST_LINE))


# ---- the table


def _table(sheet: Sheet, questions: Iterable[Question]) -> None:
    columns = wording().columns
    for column, letter in LETTERS.items():
        sheet.put(f"{letter}{TABLE_ROW}", columns[column].head, HEAD)
        sheet.width(letter, columns[column].width)
    sheet.height(TABLE_ROW, height_of((column.head, column.width) for column in columns.values()))
    for row, question in enumerate(questions, start=TABLE_ROW + 1):
        given = (question.id, question.question, question.why, question.good, question.unit)
        for column, text in zip(COLUMNS, given, strict=False):
            sheet.put(f"{LETTERS[column]}{row}", text, _ID if column == "question" else _ASKED)
        for column in TO_FILL:
            _to_fill(sheet, f"{LETTERS[column]}{row}", question, column)
        widths = (columns[column].width for column in COLUMNS)
        sheet.height(row, height_of(zip(given, widths, strict=False)))


def applies(question: Question, column: str) -> bool:
    """Whether a cell to fill in belongs to this question."""
    if column in ("value", "high"):
        return bool(question.unit)
    if column == "choice":
        return bool(question.choices)
    return column in _WORDS or takes_benchmark(question)


def _to_fill(sheet: Sheet, cell: str, question: Question, column: str) -> None:
    """An empty cell for a seller to fill in, or a grey one where there is nothing to."""
    if not applies(question, column):
        sheet.put(cell, "", _NOT_ASKED)
        return
    number = "@" if column in _WORDS else "General"
    sheet.put(cell, "", Style(border=_LINE, fill=FILL_COLOUR, number=number, to_fill=True))
    sheet.layout.data_validation(cell, _rule(question, column))


def _rule(question: Question, column: str) -> dict[str, Any]:
    """What may be typed into a cell, and what is said beside it."""
    told = wording().columns[column].note
    if column == "choice":
        rule: dict[str, Any] = {"validate": "list", "source": list(question.choices)}
    elif column == "evidence":
        rule = {"validate": "list", "source": list(Proof)}
        told = f"We look for: {', '.join(question.accepts)}. {told.format(proofs=proofs_told())}"
    elif column in _WORDS:
        rule = _no_longer(LONGEST_ANSWER if column == "answer" else _LONGEST_LINE)
    elif column == "gpus":
        rule = _between(2, bound_of("gpus").high, "whole")
    elif column in ("value", "high"):
        bound = bound_of_answer(question.id, question.unit)
        rule = _between(bound.least, bound.high)
        told = f"{told}: {question.unit}"
    else:
        bound = bound_of("mib" if column == "size_mib" else "gbytes/s")
        rule = _between(bound.low, bound.high)
    return rule | {"input_title": question.id, "input_message": told[:_PROMPT]}


def _no_longer(characters: int) -> dict[str, Any]:
    return {"validate": "length", "criteria": "<=", "value": characters}


def _between(low: float, high: float, kind: str = "decimal") -> dict[str, Any]:
    return {"validate": kind, "criteria": "between", "minimum": f"{low:.15g}", "maximum": f"{high:.15g}"}


# ---- what the sheet shows while it is filled in


def _marks(sheet: Sheet, questions: int) -> None:
    """Colours that follow from what is filled in: a line with an answer, a cell it lacks, one that contradicts another."""
    row, last = TABLE_ROW + 1, TABLE_ROW + questions
    at = {column: f"${letter}{row}" for column, letter in LETTERS.items()}
    answered = f"COUNTA({at[TO_FILL[0]]}:{at[TO_FILL[-1]]})>0"
    benchmark = f"COUNTA({at['gpus']}:{at['algbw_gbytes_per_s']})>0"
    proved = f'AND({at["evidence"]}<>"",{at["evidence"]}<>"{Proof.STATEMENT}")'
    rules = {
        "question": (_DONE, answered),
        "evidence": (_LACKS, f'AND({answered},{at["evidence"]}="")'),
        "document": (_LACKS, f'AND({proved},{at["document"]}="")'),
        "value": (_LACKS, f'AND({at["high"]}<>"",{at["value"]}="")'),
        "high": (_WRONG, f"AND(ISNUMBER({at['high']}),ISNUMBER({at['value']}),{at['value']}>{at['high']})"),
        "gpus": (_LACKS, f'AND({benchmark},{at["gpus"]}="")'),
        "busbw_gbytes_per_s": (_LACKS, f'AND({benchmark},{at["busbw_gbytes_per_s"]}="")'),
    }
    for column, (colour, formula) in rules.items():
        sheet.colour_where(f"{LETTERS[column]}{row}:{LETTERS[column]}{last}", formula, colour)
    everything = f"${LETTERS[TO_FILL[0]]}${row}:${LETTERS[TO_FILL[-1]]}${last}"
    lacking = f'AND(COUNTA({everything})>0,$B{HEAD_ROWS["date"]}="")'
    sheet.colour_where(f"B{HEAD_ROWS['date']}:B{HEAD_ROWS['answered_by']}", lacking, _LACKS)


def _lay_out(sheet: Sheet) -> None:
    """What stays in sight, and how it prints: A3 across, as wide as the page, the head on each."""
    layout = sheet.layout
    layout.activate()
    layout.freeze_panes(f"C{TABLE_ROW + 1}")
    sheet.print_across()
    layout.set_paper(8)
    layout.repeat_rows(TABLE_ROW - 1)
    layout.set_footer("&C&P / &N")
    layout.set_margins(left=0.4, right=0.4, top=0.5, bottom=0.5)
