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
from fabricreport.books.questionnaire.layout import (
    COLUMNS,
    GUIDE,
    HEAD_ROWS,
    LETTERS,
    LISTS,
    SHEET,
    TABLE_ROW,
    TO_FILL,
)
from fabricreport.books.questions import read_questions
from fabricreport.books.workbook_reader import FormCell, FormSheet, Limits, read_sheet
from fabricreport.decimals import meanings
from fabricreport.errors import InputError, Problem
from fabricreport.hostile_text import visible
from fabricreport.located import KeyPath, Located

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
    ours = {GUIDE: len(words.read_first), LISTS: words.most_rows}
    sheet = read_sheet(path, SHEET, Limits.of(words, len(COLUMNS)), beside=ours)
    labels = {(row, 0): words.head[key].label for key, row in HEAD_ROWS.items()}
    labels |= {(TABLE_ROW, n): words.columns[column].head for n, column in enumerate(COLUMNS)}
    if faults := [*sheet.other_than(labels), *sheet.beside(len(COLUMNS)), *sheet.formulas()]:
        raise InputError(faults)
    data: dict[str, Any] = {}
    cells: dict[KeyPath, str] = {(): SHEET}
    for key in _FILLED_ONCE:
        row = HEAD_ROWS[key]
        cells[(key,)] = sheet.name(row, 1)
        if text := sheet.at(row, 1).text:
            data[key] = text
    rows, lines, reworded = _rows(sheet, cells)
    data["answers"] = rows
    cells[("answers",)] = f"{SHEET}!{LETTERS['answer']}{TABLE_ROW + 1}"
    return Filled(LocatedInSheet(data, sheet.file, lines, cells), reworded)


def _rows(
    sheet: FormSheet, cells: dict[KeyPath, str]
) -> tuple[list[dict[str, Any]], dict[KeyPath, int], tuple[str, ...]]:
    """The lines with an answer, the row of each, and the questions in other words; `cells` is filled."""
    ours = {q.id: q.question for q in read_questions()}
    found: list[dict[str, Any]] = []
    lines: dict[KeyPath, int] = {}
    reworded: list[str] = []
    for number in range(TABLE_ROW + 1, len(sheet.rows) + 1):
        row = {column: sheet.at(number, n) for n, column in enumerate(COLUMNS)}
        if not any(row[column].text for column in TO_FILL):
            continue
        at = ("answers", len(found))
        found.append(_answer(row))
        lines[at] = number
        question = row["question"].text
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
    answer: dict[str, Any] = {"answer": row["answer"].text}
    if question := row["question"].text:
        answer["question"] = question
    low, high = _figure(row["value"]), _figure(row["high"])
    if high is not None:
        answer["value"] = ({} if low is None else {"low": low}) | {"high": high}
    elif low is not None:
        answer["value"] = low
    if "value" in answer and (unit := row["unit"].text):
        answer["unit"] = unit
    for column in ("choice", "evidence", "document"):
        if text := row[column].text:
            answer[column] = text
    measured = {key: value for key in MEASURED if (value := _figure(row[key])) is not None}
    return answer | ({"measured": measured} if measured else {})


def _figure(cell: FormCell) -> Any:
    """A number, also one that was typed into the cell as text and means one thing; what is none as it stands, None where
    nothing does."""
    value, text = cell.value, cell.text
    if not isinstance(value, int | float) and _NUMBER.fullmatch(text) and len(meanings(text)) < 2:
        value = float(text)
    return value if isinstance(value, int | float) and math.isfinite(value) else text or None
