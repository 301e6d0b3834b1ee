"""The one reader of books: a strict YAML file, to the values of a schema, to every fault with its file, line, key and remedy.

    read = read_book(path, tuple[Family, ...])    # InputError with every fault
    read.value[0].name, read.located.line_of((0, "name"))

A schema is a frozen dataclass with `__pydantic_config__ = CLOSED`, or a tuple or mapping of these; `books.fields` has the
kinds of field. What a value must agree with beyond its file (the memo's date, ids of another book) is handed in as
`context`, which validators find in `info.context`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import TypeAdapter, ValidationError

from fabricreport.books.messages import problems_of, without_misspelt
from fabricreport.errors import InputError, Problem
from fabricreport.evidence import ROOT
from fabricreport.located import KeyPath, Located
from fabricreport.strict_yaml import load_strict

Kind = TypeVar("Kind")


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
    located: Located, schema: type[Kind], *, at: KeyPath = (), data: Any = None, **context: Any
) -> tuple[Kind | None, list[Problem]]:
    """The part of a file at the key `at` as a value of the schema, or None with its faults.

    `data`: what is to be checked instead, where that part was completed from another; its keys keep their lines.
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
        told = [problem for detail in details for problem in problems_of(detail, located, schema, at)]
        return None, sorted(without_misspelt(told), key=lambda p: p.line or 0)


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
