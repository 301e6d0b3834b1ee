"""The one reader of books: a strict YAML file or CSV, to the values of a schema, to every fault with file, line, key, remedy.

    read = read_book(path, tuple[Family, ...])    # InputError with every fault
    read.value[0].name, read.located.line_of((0, "name"))

A schema is a frozen dataclass with `__pydantic_config__ = CLOSED`, or a tuple or mapping of these; `books.fields` has the
kinds of field. What a value must agree with beyond its file (the memo's date, ids of another book) is handed in as
`context`, which validators find in `info.context`.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import TypeAdapter, ValidationError

from fabricreport.base.errors import InputError, Problem
from fabricreport.base.locations import KeyPath, Located
from fabricreport.base.yaml_files import ROOT, load_strict
from fabricreport.books.messages import NO_REMEDIES, problems_of, without_misspelt

Kind = TypeVar("Kind")
NO_NAMES: Mapping[str, str] = {}
HeadCheck = Callable[[list[str], str, int], Sequence[str]]
"""The columns that a first line names, in a file at a line; refuses one that is not as needed."""


@dataclass(frozen=True)
class Read(Generic[Kind]):
    """What a file holds, and where each value of it stands."""

    value: Kind
    located: Located


def read_book(path: Path, schema: type[Kind], *, most_values: int = 10_000, **context: Any) -> Read[Kind]:
    """A YAML file of this schema; `InputError` with every fault. `most_values` is the largest file that is read."""
    located = load_strict(path, max_nodes=most_values)
    return Read(checked(located, schema, **context), located)


def checked(located: Located, schema: type[Kind], **context: Any) -> Kind:
    """What a file that is parsed already holds; `InputError` with every fault."""
    found, problems = judged(located, schema, **context)
    if problems or found is None:
        raise InputError(problems)
    return found


def judged(
    located: Located,
    schema: type[Kind],
    *,
    at: KeyPath = (),
    data: Any = None,
    mended: Mapping[str, str] = NO_REMEDIES,
    **context: Any,
) -> tuple[Kind | None, list[Problem]]:
    """The part of a file at the key `at` as a value of the schema, or None with its faults.

    `data`: what is to be checked instead, where that part was completed from another; its keys keep their lines. `mended`:
    by type of error, the remedy in a file that is not mended as YAML is.
    """
    given = located.data if data is None else data
    if data is None:
        for part in at:
            given = given[part]
    try:
        # As JSON, which has no tuples, days or members of an enumeration: a strict schema takes them from lists and text.
        adapter: TypeAdapter[Kind] = _adapter(schema)  # type: ignore[arg-type]  # a type is hashable
        return adapter.validate_json(json.dumps(given, allow_nan=False), context=context), []
    except ValidationError as error:
        details = error.errors(include_url=False)
        told = [problem for detail in details for problem in problems_of(detail, located, schema, at, mended)]
        return None, sorted(without_misspelt(told), key=lambda p: p.line or 0)


def repeated(
    located: Located, at: KeyPath, key: str, message: str, known: Mapping[str, str] = NO_NAMES
) -> list[Problem]:
    """A fault for each row of the list at `at` whose `key` an earlier row has; `known`: what else a value is called.

    Told of the file as it stands, so that it is told together with whatever else is wrong; `{line}` of the message is
    filled in.
    """
    found: list[Problem] = []
    first: dict[str, int] = {}
    listed = located.data
    for part in at:
        listed = listed.get(part) if isinstance(listed, dict) else None
    for n, row in enumerate(listed if isinstance(listed, list) else ()):
        value = row.get(key) if isinstance(row, dict) else None
        if not isinstance(value, str):
            continue
        before = first.setdefault(known.get(value, value), n)
        if before != n:
            told = message.format(line=located.line_of((*at, before)))
            found.append(located.problem((*at, n, key), told, value=value, remedy="Keep one of the two."))
    return found


@dataclass(frozen=True)
class TableRow(Generic[Kind]):
    """A row of a table: its cells, what it holds, or what is wrong with it."""

    cells: tuple[str, ...]
    value: Kind | None
    problems: tuple[Problem, ...] = ()


def read_table(
    text: str, file: str, schema: type[Kind], *, head: HeadCheck, most_rows: int
) -> Iterator[TableRow[Kind]]:
    """The rows of a CSV, good ones beside faulty ones; empty lines and those that begin with # are none.

    `head` names its columns, or refuses its first line. Raises `InputError` for what is no table: broken quotes, no first
    line, too many rows.
    """
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    columns: Sequence[str] = ()
    try:
        for cells in reader:
            line = reader.line_num
            if not "".join(cells).strip() or cells[0].startswith("#"):
                continue
            if not columns:
                columns = head([c.strip() for c in cells], file, line)
                continue
            if line > most_rows:
                raise InputError(Problem(f"more than {most_rows} rows", file, line))
            yield _row(cells, file, line, schema, columns)
    except csv.Error as error:
        raise InputError(Problem(f"not a CSV table ({error})", file, reader.line_num)) from error
    if not columns:
        raise InputError(Problem("an empty file", file, 1, remedy="Its first line names the columns."))


def _row(cells: Sequence[str], file: str, line: int, schema: type[Kind], columns: Sequence[str]) -> TableRow[Kind]:
    if len(cells) != len(columns):
        message = f"{len(cells)} cells instead of {len(columns)}"
        told = Problem(message, file, line, remedy="Quote a text that holds a comma; no decimal commas.")
        return TableRow(tuple(cells), None, (told,))
    value, problems = judged_row(dict(zip(columns, cells, strict=True)), file, line, schema)
    return TableRow(tuple(cells), value, tuple(problems))


def judged_row(cells: Mapping[str, str], file: str, line: int, schema: type[Kind]) -> tuple[Kind | None, list[Problem]]:
    """The cells of one row as a value of the schema, or None with its faults; the schema has fields `file` and `line`."""
    stripped = {name: cell.strip() for name, cell in cells.items()}
    value, problems = judged(Located(stripped, file, {(): line}), schema)
    return (None if value is None else replace(value, file=file, line=line)), problems  # type: ignore[type-var]


def shipped(name: str, schema: type[Kind]) -> Kind:
    """What `data/<name>.yaml` of the package holds, read once."""
    found: Kind = _shipped(name, schema)  # type: ignore[arg-type]  # a type is hashable
    return found


@cache
def _shipped(name: str, schema: Any) -> Any:
    return read_book(ROOT / f"{name}.yaml", schema, most_values=50_000).value


@cache
def _adapter(schema: Any) -> TypeAdapter[Any]:
    return TypeAdapter(schema)
