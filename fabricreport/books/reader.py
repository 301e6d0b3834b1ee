"""The one reader of books: a strict YAML file, to the values of a schema, to every fault with its file, line, key and remedy.

    read = read_book(path, tuple[Family, ...])    # InputError with every fault
    read.value[0].name, read.located.line_of((0, "name"))

A schema is a frozen dataclass with `__pydantic_config__ = CLOSED`, or a tuple or mapping of these; `books.fields` has the
kinds of field. What a value must agree with beyond its file (the memo's date, ids of another book) is handed in as
`context`, which validators find in `info.context`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import TypeAdapter, ValidationError

from fabricreport.books.messages import NO_REMEDIES, problems_of, without_misspelt
from fabricreport.errors import InputError, Problem
from fabricreport.evidence import ROOT
from fabricreport.located import KeyPath, Located
from fabricreport.strict_yaml import load_strict

Kind = TypeVar("Kind")
NO_NAMES: Mapping[str, str] = {}


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


def shipped(name: str, schema: type[Kind]) -> Kind:
    """What `evidence/<name>.yaml` of the package holds, read once."""
    found: Kind = _shipped(name, schema)  # type: ignore[arg-type]  # a type is hashable
    return found


@cache
def _shipped(name: str, schema: Any) -> Any:
    return read_book(ROOT / f"{name}.yaml", schema, most_values=50_000).value


@cache
def _adapter(schema: Any) -> TypeAdapter[Any]:
    return TypeAdapter(schema)
