"""The questionnaire as a workbook that a person fills in: lists to choose from, cells that do not apply greyed and locked."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from fabricreport.books.answers import LONGEST_ANSWER, bound_of_answer
from fabricreport.books.questionnaire.form import Questionnaire, proofs_told, takes_benchmark, wording
from fabricreport.books.questions import Proof, Question
from fabricreport.books.workbooks import (
    FILL_COLOUR,
    add_guide,
    bytes_of,
    font,
    height_of,
    letter_of,
    put_text,
    style_head,
)
from fabricreport.bounds import bound_of

if TYPE_CHECKING:
    from openpyxl.workbook.workbook import Workbook
    from openpyxl.worksheet.datavalidation import DataValidation
    from openpyxl.worksheet.worksheet import Worksheet

GUIDE, SHEET, LISTS = "Read first", "Answers", "Lists"
COLUMNS: tuple[str, ...] = tuple(wording().columns)
"""Columns of the table, in their order: what is asked, then what a seller fills in."""
TO_FILL = COLUMNS[COLUMNS.index("answer") :]
HEAD: tuple[str, ...] = tuple(wording().head)
"""What is told once, a row each from the second on."""
HEAD_ROWS = {key: row for row, key in enumerate(HEAD, start=2)}
TABLE_ROW = len(HEAD) + 2
"""The row of the table's head."""
LETTERS = {column: letter_of(n) for n, column in enumerate(COLUMNS)}
_TO_FILL_OF_HEAD = ("date", "answered_by", "fabric")
_WORDS = ("answer", "choice", "evidence", "document")
_GREY, _LACKS, _WRONG, _DONE = "D0D0D0", "F8CB8A", "F4A0A0", "C9E7CB"
_LONGEST_LINE = 200
_PROMPT = 250
"""Characters that a spreadsheet shows beside a cell."""


def as_workbook(form: Questionnaire) -> bytes:
    """The form as XLSX."""
    from openpyxl import Workbook  # slow to import, and only a form needs it
    from openpyxl.workbook.protection import WorkbookProtection

    book = Workbook()
    add_guide(
        book,
        GUIDE,
        (line.format(longest_answer=LONGEST_ANSWER, proofs=proofs_told()) for line in wording().read_first),
    )
    sheet = book.create_sheet(SHEET)
    lists = book.create_sheet(LISTS)
    for row, fabric in enumerate(form.fabrics, start=1):
        put_text(lists.cell(row, 1), fabric)
    lists.sheet_state = "hidden"
    _head(sheet, form)
    _table(sheet, form.questions)
    _marks(sheet, len(form.questions))
    _lay_out(sheet)
    for each in book.worksheets:
        _protect(each)
    book.security = WorkbookProtection(lockStructure=True)
    book.properties.creator, book.properties.title = "fabricreport", wording().title
    book.active = book.worksheets.index(sheet)
    _one_tab(book)
    return bytes_of(book)


# ---- the head


def _head(sheet: Worksheet, form: Questionnaire) -> None:
    from openpyxl.styles import Alignment

    put_text(sheet["A1"], wording().title)
    sheet["A1"].font = font(bold=True, size=14)
    shown = {"provider": form.provider, "asked_for": form.cluster}
    for key, row in HEAD_ROWS.items():
        label, told, note = (sheet.cell(row, n) for n in (1, 2, 3))
        put_text(label, wording().head[key].label)
        put_text(told, shown.get(key, ""))
        put_text(note, wording().head[key].note)
        label.font, note.font = font(bold=True), font(italic=True, color="606060")
        told.alignment = Alignment(wrap_text=True, vertical="top", horizontal="left")
        label.alignment = Alignment(vertical="top")
        note.alignment = Alignment(vertical="top")
        sheet.row_dimensions[row].height = height_of([(shown.get(key, ""), wording().columns["asked"].width)])
        if key in _TO_FILL_OF_HEAD:
            _open(told, text=key != "date")
    sheet.cell(HEAD_ROWS["date"], 2).number_format = "yyyy-mm-dd"
    _add(sheet, _listed(f"{LISTS}!$A$1:$A${len(form.fabrics)}"), f"B{HEAD_ROWS['fabric']}")
    _add(sheet, _no_longer(_LONGEST_LINE), f"B{HEAD_ROWS['answered_by']}")


# ---- the table


def _table(sheet: Worksheet, questions: Iterable[Question]) -> None:
    from openpyxl.styles import Alignment, Border, PatternFill, Side

    line = Side(style="thin", color="B0B0B0")
    for column, letter in LETTERS.items():
        top = sheet[f"{letter}{TABLE_ROW}"]
        put_text(top, wording().columns[column].head)
        style_head(top)
        sheet.column_dimensions[letter].width = wording().columns[column].width
    heads = wording().columns.values()
    sheet.row_dimensions[TABLE_ROW].height = height_of((column.head, column.width) for column in heads)
    for row, question in enumerate(questions, start=TABLE_ROW + 1):
        given = (question.id, question.question, question.why, question.good, question.unit)
        for column, text in zip(COLUMNS, (*given, *[""] * len(TO_FILL)), strict=True):
            cell = sheet[f"{LETTERS[column]}{row}"]
            put_text(cell, text)
            cell.alignment = Alignment(wrap_text=True, vertical="top")
            cell.border = Border(top=line, bottom=line, left=line, right=line)
            if column in TO_FILL and applies(question, column):
                _open(cell, text=column in _WORDS)
                _add(sheet, _rule(question, column), cell.coordinate)
            elif column in TO_FILL:
                cell.fill = PatternFill("solid", fgColor=_GREY)
        sheet[f"A{row}"].font = font(bold=True)
        widths = (wording().columns[column].width for column in COLUMNS)
        sheet.row_dimensions[row].height = height_of(zip(given, widths, strict=False))


def applies(question: Question, column: str) -> bool:
    """Whether a cell to fill in belongs to this question."""
    if column in ("value", "high"):
        return bool(question.unit)
    if column == "choice":
        return bool(question.choices)
    return column in _WORDS or takes_benchmark(question)


def _open(cell: Any, *, text: bool) -> None:
    """Make a cell one to fill in; `text`: what is typed stays text, also if it begins like a formula."""
    from openpyxl.styles import PatternFill, Protection

    cell.protection, cell.fill = Protection(locked=False), PatternFill("solid", fgColor=FILL_COLOUR)
    if text:
        cell.number_format = "@"


def _rule(question: Question, column: str) -> DataValidation:
    """What may be typed into a cell, and what is said beside it."""
    told = wording().columns[column].note
    if column == "choice":
        rule = _listed(f'"{",".join(question.choices)}"')
    elif column == "evidence":
        rule = _listed(f'"{",".join(Proof)}"')
        told = f"We look for: {', '.join(question.accepts)}. {told.format(proofs=proofs_told())}"
    elif column in _WORDS:
        rule = _no_longer(LONGEST_ANSWER if column == "answer" else _LONGEST_LINE)
    elif column == "gpus":
        rule = _between(2, bound_of("gpus").high, whole=True)
    elif column in ("value", "high"):
        bound = bound_of_answer(question.id, question.unit)
        rule = _between(bound.least, bound.high)
        told = f"{told}: {question.unit}"
    else:
        bound = bound_of("mib" if column == "size_mib" else "gbytes/s")
        rule = _between(bound.low, bound.high)
    rule.promptTitle, rule.prompt, rule.showInputMessage = question.id, told[:_PROMPT], True
    return rule


def _listed(source: str) -> DataValidation:
    return _validation(type="list", formula1=source)


def _no_longer(characters: int) -> DataValidation:
    return _validation(type="textLength", operator="lessThanOrEqual", formula1=str(characters))


def _between(low: float, high: float, *, whole: bool = False) -> DataValidation:
    return _validation(
        type="whole" if whole else "decimal", operator="between", formula1=f"{low:.15g}", formula2=f"{high:.15g}"
    )


def _validation(**rule: Any) -> DataValidation:
    from openpyxl.worksheet.datavalidation import DataValidation

    return DataValidation(allow_blank=True, showErrorMessage=True, errorStyle="stop", **rule)


def _add(sheet: Worksheet, rule: DataValidation, cell: str) -> None:
    sheet.add_data_validation(rule)
    rule.add(cell)


# ---- what the sheet shows while it is filled in


def _marks(sheet: Worksheet, questions: int) -> None:
    """Colours that follow from what is filled in: a line with an answer, a cell it lacks, one that contradicts another."""
    from openpyxl.formatting.rule import FormulaRule
    from openpyxl.styles import PatternFill

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
        letter = LETTERS[column]
        rule = FormulaRule(formula=[formula], fill=PatternFill("solid", bgColor=colour, fgColor=colour))
        sheet.conditional_formatting.add(f"{letter}{row}:{letter}{last}", rule)
    needed = f"B{HEAD_ROWS['date']}:B{HEAD_ROWS['answered_by']}"
    everything = f"${LETTERS[TO_FILL[0]]}${row}:${LETTERS[TO_FILL[-1]]}${last}"
    lacking = FormulaRule(
        formula=[f'AND(COUNTA({everything})>0,$B{HEAD_ROWS["date"]}="")'],
        fill=PatternFill("solid", bgColor=_LACKS, fgColor=_LACKS),
    )
    sheet.conditional_formatting.add(needed, lacking)


def _lay_out(sheet: Worksheet) -> None:
    """What stays in sight, and how it prints: A3 across, as wide as the page, the head on each."""
    sheet.freeze_panes = f"C{TABLE_ROW + 1}"
    sheet.page_setup.orientation, sheet.page_setup.paperSize = "landscape", 8
    sheet.page_setup.fitToWidth, sheet.page_setup.fitToHeight = 1, 0
    sheet.sheet_properties.pageSetUpPr.fitToPage = True
    sheet.print_title_rows = f"{TABLE_ROW}:{TABLE_ROW}"
    sheet.oddFooter.center.text = "&P / &N"
    sheet.page_margins.left = sheet.page_margins.right = 0.4
    sheet.page_margins.top = sheet.page_margins.bottom = 0.5


def _protect(sheet: Worksheet) -> None:
    """Keep everything but the cells to fill in as it is; columns and rows may be made wider."""
    sheet.protection.sheet = True
    sheet.protection.formatColumns = sheet.protection.formatRows = False


def _one_tab(book: Workbook) -> None:
    """Select the active sheet alone: of sheets selected together each takes what is typed into one."""
    for each in book.worksheets:
        each.sheet_view.tabSelected = each is book.active
