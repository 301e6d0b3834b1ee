"""A seller's filled questionnaire: read from a workbook, kept as a file that is always the same text, and named in the params."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from fabricreport.base.errors import InputError, Problem
from fabricreport.base.files import write_if_new, writing
from fabricreport.base.formats import meanings
from fabricreport.base.locations import KeyPath, Located, did_you_mean, shown_path
from fabricreport.base.project import folder_to_file_in
from fabricreport.base.text import visible
from fabricreport.base.yaml_files import inspect_yaml, load_strict, quoted
from fabricreport.books.answers import MEASURED, Answer, AnswerFile, Remedies, answers_of
from fabricreport.books.constants import catalogue
from fabricreport.books.sellers import folded, read_questions
from fabricreport.books.workbooks import FormCell, FormSheet, Limits, read_sheet
from fabricreport.desk.questionnaire import (
    COLUMNS,
    GUIDE,
    HEAD_ROWS,
    LETTERS,
    LISTS,
    SHEET,
    TABLE_ROW,
    TO_FILL,
    provider_name,
    wording,
)
from fabricreport.inputs.dossier import read_given
from fabricreport.inputs.options import links_of
from fabricreport.scenario import ParamsFile, slugify
from fabricreport.scenario.template import name_answers

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


_HEAD = "# Answers of a seller, as `fabricreport answers` filed them."


def as_filed(found: AnswerFile) -> str:
    """The YAML text; answers in which nothing is said are left out."""
    return "\n".join(_lines(found)) + "\n"


def said(answer: Answer) -> bool:
    """Whether anything is said in it."""
    given = (answer.text.strip(), answer.document, answer.choice, answer.evidence, answer.measured)
    return answer.high is not None or any(given)


def _lines(found: AnswerFile) -> Iterator[str]:
    yield _HEAD
    yield f"provider: {quoted(found.provider)}"
    yield f"date: {found.date}"
    yield f"answered_by: {quoted(found.answered_by)}"
    if found.fabric:
        yield f"fabric: {quoted(found.fabric)}"
    yield "answers:"
    for answer in found.answers.values():
        if said(answer):
            yield f"  - question: {answer.question}"
            yield from (f"    {line}" for line in _answer_lines(answer))


def _answer_lines(answer: Answer) -> Iterator[str]:
    yield f"answer: {quoted(answer.text)}"
    if answer.low is not None and answer.high is not None:
        low, high = _number(answer.low), _number(answer.high)
        yield f"value: {low if low == high else f'{{low: {low}, high: {high}}}'}"
        yield f"unit: {answer.unit}"
    if answer.choice:
        yield f"choice: {quoted(answer.choice)}"
    if answer.evidence:
        yield f"evidence: {answer.evidence}"
    if answer.document:
        yield f"document: {quoted(answer.document)}"
    if answer.measured is not None:
        log = answer.measured
        figures = [f"gpus: {log.gpus}", f"size_mib: {_number(log.size_mib)}"]
        figures.append(f"busbw_gbytes_per_s: {_number(log.busbw_gbytes_per_s)}")
        if log.algbw_gbytes_per_s is not None:
            figures.append(f"algbw_gbytes_per_s: {_number(log.algbw_gbytes_per_s)}")
        yield f"measured: {{{', '.join(figures)}}}"


def _number(value: float) -> str:
    """The shortest digits that give this number again."""
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)


FOLDER = "providers"
_WORKBOOK, _TEXT = (".xlsx",), (".yaml", ".yml")


@dataclass(frozen=True)
class Filed:
    """What was done. `named`: the params name the file now; `line`: what to write into them where they do not.

    `changed`: files that are not as they were; `notes`: what to tell whoever filed it.
    """

    provider: str
    file: str
    questions: tuple[str, ...]
    changed: tuple[str, ...]
    named: bool
    line: str
    notes: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """Plain values for `--json`."""
        return {
            "ok": True, "provider": self.provider, "filed": self.file, "answers": list(self.questions),
            "changed": list(self.changed), "named": self.named, "line": self.line, "notes": list(self.notes),
        }  # fmt: skip


def file_answers(source: Path, params: Path) -> Filed:
    """Check the answers in `source`, a filled workbook or YAML, and file them for the client of `params`.

    Raises `InputError` with every fault, and nothing is written. The same answers twice change nothing.
    """
    given = read_given(params)
    if given.loaded is None or given.options is None:
        raise InputError(given.problems)
    loaded = given.loaded
    found, notes = _read(source, loaded, given.fabrics)
    target = _place(loaded, found.provider)
    changed = []
    if source.resolve() != target and _write(target, as_filed(found)):
        changed.append(target)
    name = target.relative_to(given.folder).as_posix()
    edit = name_answers(loaded, found.provider, name, folded)
    path = params.resolve()
    if edit.text is not None and _write(path, edit.text):
        changed.append(path)
    questions = tuple(answer.question for answer in found.answers.values() if said(answer))
    named = edit.text is not None
    notes += _remarks(loaded, found.provider, name)
    by_hand = "" if named else edit.line
    return Filed(found.provider, str(target), questions, tuple(map(str, changed)), named, by_hand, tuple(notes))


def _read(source: Path, loaded: ParamsFile, fabrics: tuple[str, ...]) -> tuple[AnswerFile, list[str]]:
    """The answers, checked as a build checks them, and notes on the form."""
    notes: list[str] = []
    end = source.suffix.lower()
    located: Located
    if end in _WORKBOOK:
        filled = read_workbook(source)
        located, remedies = filled.located, IN_A_SHEET
        notes += [f"{question} is put in other words there than we put it now" for question in filled.reworded]
    elif end in _TEXT:
        located, remedies = load_strict(source), Remedies()
    else:
        macros = "holds macros" if end == ".xlsm" else "is no form of ours"
        raise InputError(Problem(macros, shown_path(source), remedy="Give the questionnaire as XLSX or YAML."))
    stated = located.data.get("provider") if isinstance(located.data, dict) else None
    faults: list[Problem] = []
    if isinstance(stated, str):
        try:
            stated = provider_name(stated)
        except InputError as error:
            faults += [located.problem(("provider",), p.message, value=stated, remedy=p.remedy) for p in error.problems]
    try:
        found = answers_of(
            located, provider=str(stated or ""), as_of=loaded.params.as_of,
            links=links_of(loaded.params, catalogue()), fabrics=fabrics, remedies=remedies,
        )  # fmt: skip
    except InputError as error:
        known = {problem.key for problem in faults}
        raise _named_by_cell(located, [*faults, *(p for p in error.problems if p.key not in known)]) from None
    if not faults and not any(said(answer) for answer in found.answers.values()):
        faults.append(located.problem(("answers",), "holds no answer", remedy=remedies.answers))
    if faults:
        raise _named_by_cell(located, faults)
    return found, notes


def _named_by_cell(located: Located, faults: Iterable[Problem]) -> InputError:
    """The faults as an error; those of a workbook are named by sheet and cell alone."""
    in_sheet = isinstance(located, LocatedInSheet)
    return InputError([replace(fault, line=None) if in_sheet else fault for fault in faults])


def _place(loaded: ParamsFile, provider: str) -> Path:
    """The file of this provider's answers in the client's own folder: one that is free, or the provider's."""
    folder = folder_to_file_in(loaded.path.resolve().parent, loaded.slug, FOLDER)
    slug = slugify(provider, FOLDER.removesuffix("s"))
    first = folder / f"{slug}.yaml"
    told_apart = folder / f"{slug}-{sha256(folded(provider).encode()).hexdigest()[:8]}.yaml"
    return first if _free(first, provider) else told_apart


def _free(target: Path, provider: str) -> bool:
    """Whether a provider's answers may take the place of a file: none is there, or it holds theirs."""
    if not target.exists() and not target.is_symlink():
        return True
    located, _ = inspect_yaml(target)
    owner = located.data.get("provider") if located is not None and isinstance(located.data, dict) else None
    return isinstance(owner, str) and folded(owner) == folded(provider)


def _others(loaded: ParamsFile, name: str) -> list[str]:
    """Other params files of this client, beside this one, in which the file is named."""
    here = loaded.path.resolve()
    beside = (path for path in sorted(here.parent.glob("*.yaml")) if path != here)
    return [path.name for path in beside if name in path.read_text("utf-8", errors="replace")]


def _write(target: Path, text: str) -> bool:
    """Make a file hold this text, and its folder if need be; whether that changed it."""
    with writing(shown_path(target)):
        return write_if_new(target, text)


def _remarks(loaded: ParamsFile, provider: str, name: str) -> list[str]:
    """What to tell whoever filed the answers: a provider that was not listed, a file that other params name."""
    listed = [p.name for p in loaded.params.providers]
    found = []
    if folded(provider) not in map(folded, listed):
        near = did_you_mean(provider, listed)
        found.append(f"{provider} was not among the providers" + (f"; did you mean {near}?" if near else ""))
    if others := _others(loaded, name):
        found.append(f"{name} is named by {', '.join(others)} too")
    return found
