"""A filled questionnaire read from a workbook, as the values a YAML file of the same answers holds, each with its cell."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fabricreport.books.answers import MEASURED
from fabricreport.books.provider_answers import Remedies
from fabricreport.books.questionnaire.form import wording
from fabricreport.books.questionnaire.workbook import (
    COLUMNS,
    HEAD_ROWS,
    LETTERS,
    SHEET,
    TABLE_ROW,
    TO_FILL,
)
from fabricreport.books.questions import read_questions
from fabricreport.books.workbooks import FormCell, FormSheet, Limits, letter_of, read_sheet
from fabricreport.errors import InputError, Problem
from fabricreport.hostile_text import visible
from fabricreport.located import KeyPath, Located, shown_path

IN_A_SHEET = Remedies(
    missing="Fill `{key}` in, in this cell.",
    number="Write digits alone, without a unit.",
    range="Fill in both ends, or the first alone.",
    unit="Convert it; the unit of the line is {unit}.",
    words="Put figures into the answer, in words.",
    answers="Fill in the lines you answer.",
)
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?", re.ASCII)
_FILLED_ONCE = ("provider", "date", "answered_by", "fabric")
_REMEDY = "Copy the answers into the form as it was sent."


@dataclass(frozen=True)
class LocatedInSheet(Located):
    """Values with the cells they stand in; a fault names its sheet and cell."""

    cells: Mapping[KeyPath, str] = field(default_factory=dict, repr=False)

    def problem(
        self, path: Any, message: str, *, value: object = "", remedy: str = "", suggestion: str = ""
    ) -> Problem:
        """A `Problem` at the cell of `path`, or of its nearest ancestor that has one."""
        at = tuple(path)
        while at and at not in self.cells:
            at = at[:-1]
        return Problem(message, self.file, None, self.cells.get(at, SHEET), visible(value), remedy, visible(suggestion))


@dataclass(frozen=True)
class Filled:
    """A filled workbook: its values, and the ids of questions that stand in it in other words than ours."""

    located: LocatedInSheet
    reworded: tuple[str, ...]


def read_workbook(path: Path) -> Filled:
    """The answers of a workbook that `as_workbook` wrote and a person filled in; lines without an answer are left out.

    Raises `InputError` with every formula, every cell out of the table and every head that is not the form's.
    """
    words = wording()
    limits = Limits(words.most_rows, len(COLUMNS), words.largest_file_bytes, words.largest_unpacked_bytes)
    sheet = read_sheet(path, SHEET, limits)
    file = shown_path(path)
    if faults := [*_structure(sheet, file), *_not_plain(sheet, file)]:
        raise InputError(faults)
    data: dict[str, Any] = {}
    cells: dict[KeyPath, str] = {(): SHEET}
    for key in _FILLED_ONCE:
        row = HEAD_ROWS[key]
        cells[(key,)] = f"{SHEET}!B{row}"
        if text := _at(sheet, row, 1).text.strip():
            data[key] = text
    rows, lines, reworded = _rows(sheet, cells)
    data["answers"] = rows
    cells[("answers",)] = f"{SHEET}!{LETTERS['answer']}{TABLE_ROW + 1}"
    return Filled(LocatedInSheet(data, file, lines, cells), reworded)


def _rows(
    sheet: FormSheet, cells: dict[KeyPath, str]
) -> tuple[list[dict[str, Any]], dict[KeyPath, int], tuple[str, ...]]:
    """The lines with an answer, the row of each, and the questions in other words; `cells` is filled."""
    ours = {q.id: q.question for q in read_questions()}
    found: list[dict[str, Any]] = []
    lines: dict[KeyPath, int] = {}
    reworded: list[str] = []
    for number in range(TABLE_ROW + 1, len(sheet.rows) + 1):
        row = {column: _at(sheet, number, n) for n, column in enumerate(COLUMNS)}
        if not any(row[column].text.strip() for column in TO_FILL):
            continue
        at = ("answers", len(found))
        found.append(_answer(row))
        lines[at] = number
        question = row["question"].text.strip()
        if question in ours and row["asked"].text.split() != ours[question].split():
            reworded.append(question)
        cells[at] = f"{SHEET}!{LETTERS['question']}{number}"
        for column, letter in LETTERS.items():
            key = ("measured", column) if column in MEASURED else (column,)
            cells[(*at, *key)] = f"{SHEET}!{letter}{number}"
        cells[(*at, "measured")] = cells[(*at, "measured", "gpus")]
    return found, lines, tuple(reworded)


def _answer(row: Mapping[str, FormCell]) -> dict[str, Any]:
    """One line as the mapping that YAML holds of it."""
    answer: dict[str, Any] = {"answer": _words(row["answer"])}
    if question := row["question"].text.strip():
        answer["question"] = question
    low, high = _figure(row["value"]), _figure(row["high"])
    if high is not None:
        answer["value"] = ({} if low is None else {"low": low}) | {"high": high}
    elif low is not None:
        answer["value"] = low
    if "value" in answer and (unit := row["unit"].text.strip()):
        answer["unit"] = unit
    for column in ("choice", "evidence", "document"):
        if text := row[column].text.strip():
            answer[column] = text
    measured = {key: value for key in MEASURED if (value := _figure(row[key])) is not None}
    return answer | ({"measured": measured} if measured else {})


def _words(cell: FormCell) -> str:
    """What was written, with line ends as files have them."""
    return cell.text.strip().replace("\r\n", "\n").replace("\r", "\n").replace("_x000D_", "")


def _figure(cell: FormCell) -> Any:
    """A number, also one that was typed into the cell as text; what is none as it stands, None where nothing does."""
    value, text = cell.value, cell.text.strip()
    if not isinstance(value, int | float) and _NUMBER.fullmatch(text):
        value = float(text)
    return value if isinstance(value, int | float) and math.isfinite(value) else text or None


def _structure(sheet: FormSheet, file: str) -> list[Problem]:
    """What of the form is not as it was sent: the labels of its head, the heads of its columns, cells out of the table."""
    words = wording()
    wanted = {(row, 0): words.head[key].label for key, row in HEAD_ROWS.items()}
    wanted |= {(TABLE_ROW, n): words.columns[column].head for n, column in enumerate(COLUMNS)}
    found = [
        Problem(f"is not the {label} of the form", file, None, _name(row, n), visible(stands), _REMEDY)
        for (row, n), label in wanted.items()
        if (stands := _at(sheet, row, n).text.strip()) != label
    ]
    if len(sheet.rows) > words.most_rows:
        found.append(Problem(f"has more than {int(words.most_rows):,} rows", file, None, SHEET))
    outside = [number for number in range(1, len(sheet.rows) + 1) if _at(sheet, number, len(COLUMNS)).text.strip()]
    found += [Problem("stands beside the form", file, None, _name(n, len(COLUMNS)), "", _REMEDY) for n in outside]
    return found


def _not_plain(sheet: FormSheet, file: str) -> list[Problem]:
    """Cells that hold a formula or the fault of one: nothing here is worked out."""
    return [
        Problem(
            "is a formula" if cell.formula else "is the fault of a formula",
            file,
            None,
            _name(number, n),
            visible(cell.text),
            "Write what it gives, as text or a number.",
        )
        for number, row in enumerate(sheet.rows, start=1)
        for n, cell in enumerate(row)
        if cell.formula or cell.error
    ]


def _at(sheet: FormSheet, number: int, n: int) -> FormCell:
    """The cell of a row, from 1, and a column, from 0; an empty one where the sheet ends before."""
    row = sheet.rows[number - 1] if number <= len(sheet.rows) else ()
    return row[n] if n < len(row) else FormCell(None)


def _name(number: int, n: int) -> str:
    return f"{SHEET}!{letter_of(n)}{number}"
