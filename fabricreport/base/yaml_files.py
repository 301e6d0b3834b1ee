"""YAML in two readers: the package's own data, trusted and read once; and what people write, strictly, with a line for every value.

Figures live in `data/` as YAML and CSV, never in `.py` files. They are only opened here; meaning is given by
`fabricreport.books` (evidence, claims) and `fabricreport.models` (constants of a model).

Plain scalars are resolved as YAML 1.2 does and no further: `null`, `true`, `false`, integers and decimal
numbers (`1e3` is a number). `on`, `yes`, `1:30` and dates stay strings, for the schema to judge; `010`,
`.inf` and `.nan` are refused, because programs disagree on what they mean.

The tree is built from parser events without recursion, so depth and size are bounded while reading, and the
walk goes on after a fault: all faults of a file are reported at once. JSON, the canonical form of a params file, is read
by the same rules.
"""

from __future__ import annotations

import csv
import json
import math
import re
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from fabricreport.base.errors import InputError, Problem
from fabricreport.base.locations import KeyPath, Located, dotted, read_text_strict, shown_path
from fabricreport.base.text import clean_text, masked, text_problems, visible

__all__ = ["Located", "clean_text", "inspect_yaml", "load_strict", "quoted", "read_tree", "visible"]


ROOT = Path(__file__).parents[1] / "data"

_PackagedLoader: type = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@cache
def read_yaml_at(path: Path) -> Any:
    """Parse a YAML file of the package, once. Treat the result as read-only."""
    with path.open(encoding="utf-8") as handle:
        return yaml.load(handle, Loader=_PackagedLoader)


@cache
def read_yaml(name: str) -> Any:
    """Parse `<name>.yaml` of the packaged data, once. Treat the result as read-only."""
    return read_yaml_at(ROOT / f"{name}.yaml")


@cache
def read_rows(name: str) -> tuple[dict[str, str], ...]:
    """Rows of `<name>.csv` of the packaged data as dicts of strings; lines that start with `#` are comments."""
    with (ROOT / f"{name}.csv").open(encoding="utf-8", newline="") as handle:
        return tuple(csv.DictReader(line for line in handle if not line.startswith("#")))


_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_NULL = {"", "~", "null", "Null", "NULL"}
_BOOL = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INT = re.compile(r"[-+]?[0-9]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_SPECIAL = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_MAX_DIGITS = 18
_REFUSED = object()


class _Stop(Exception):
    """A limit was passed: reading further is pointless, what was found is reported."""


@dataclass
class _Frame:
    path: KeyPath
    container: dict[str, Any] | list[Any]
    key: Any = None
    awaiting_value: bool = False


@dataclass
class _Builder:
    """Parser events in, a plain value with lines and problems out."""

    file: str
    max_nodes: int
    max_depth: int
    problems: list[Problem] = field(default_factory=list)
    lines: dict[KeyPath, int] = field(default_factory=dict)
    stack: list[_Frame] = field(default_factory=list)
    root: Any = None
    nodes: int = 0
    documents: int = 0

    def add(self, event: Any) -> None:
        """Take one event; `_Stop` when a limit is passed or a second document begins."""
        line = event.start_mark.line + 1
        if isinstance(event, yaml.DocumentStartEvent):
            self.documents += 1
            if self.documents > 1:
                self._refuse(line, (), "a second document begins", "---", "Keep one document in a file.")
                raise _Stop
        elif isinstance(event, yaml.AliasEvent):
            self._count(line)
            path = self._path()
            self._refuse(line, path, "aliases are not allowed", f"*{event.anchor}", "Write the value out.")
            self._deliver(_REFUSED, line)
        elif isinstance(event, yaml.ScalarEvent):
            self._count(line)
            self._check_node(event, line)
            self._deliver(self._quoted(event.value, line) if event.style else self._plain(event.value, line), line)
        elif isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
            self._count(line)
            self._check_node(event, line)
            self._open({} if isinstance(event, yaml.MappingStartEvent) else [], line)
        elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            self._deliver(self.stack.pop().container, line)

    def _open(self, container: dict[str, Any] | list[Any], line: int) -> None:
        if len(self.stack) >= self.max_depth:
            self._refuse(line, (), f"is nested more than {self.max_depth} deep", "", "Flatten the structure.")
            raise _Stop
        path = self._path()
        self.lines.setdefault(path, line)
        self.stack.append(_Frame(path, container))

    def _count(self, line: int) -> None:
        self.nodes += 1
        if self.nodes > self.max_nodes:
            self._refuse(line, (), f"holds more than {self.max_nodes:,} values", "", "Split the file.")
            raise _Stop

    def _path(self) -> KeyPath:
        if not self.stack:
            return ()
        top = self.stack[-1]
        if isinstance(top.container, list):
            return (*top.path, len(top.container))
        return (*top.path, top.key if isinstance(top.key, str) else "?") if top.awaiting_value else (*top.path, "?")

    def _deliver(self, value: Any, line: int) -> None:
        top = self.stack[-1] if self.stack else None
        if top is not None and isinstance(top.container, dict) and not top.awaiting_value:
            top.key, top.awaiting_value = self._key(top, value, line), True
            return
        value = None if value is _REFUSED else value
        if top is None:
            self.root = value
            self.lines.setdefault((), line)
        elif isinstance(top.container, list):
            self.lines.setdefault((*top.path, len(top.container)), line)
            top.container.append(value)
        else:
            top.awaiting_value = False
            if isinstance(top.key, str):
                top.container.setdefault(top.key, value)

    def _key(self, top: _Frame, key: Any, line: int) -> Any:
        if key is _REFUSED:
            return None
        if not isinstance(key, str):
            composite = isinstance(key, list | dict)
            shown = "a list or mapping" if composite else json.dumps(key, allow_nan=False)
            remedy = (
                "Put text that begins with a brace or bracket in quotes." if composite else "Put the key in quotes."
            )
            self._refuse(line, top.path, "a key must be text", shown, remedy)
            return None
        if key == "<<":
            self._refuse(line, top.path, "merge keys are not allowed", key, "Write the keys out.")
            return None
        if key in top.container:
            first = self.lines[(*top.path, key)]
            self._refuse(line, (*top.path, key), f"is given twice, first on line {first}", "", "Keep one of the two.")
        self.lines.setdefault((*top.path, key), line)
        return key

    def _check_node(self, event: Any, line: int) -> None:
        if event.anchor is not None:
            self._refuse(line, self._path(), "anchors are not allowed", f"&{event.anchor}", "Delete the anchor.")
        if event.tag is not None:
            self._refuse(line, self._path(), "tags are not allowed", event.tag, "Delete the tag.")

    def _quoted(self, text: str, line: int) -> str:
        if problems := text_problems(text, file=self.file, line=line):
            key = dotted(self._path())
            self.problems.extend(replace(problem, key=key) for problem in problems)
        return masked(text) if problems else text

    def _plain(self, text: str, line: int) -> Any:
        if text in _NULL:
            return None
        if text in _BOOL:
            return _BOOL[text]
        if _SPECIAL.fullmatch(text):
            self._refuse(
                line,
                self._path(),
                "infinite and undefined numbers are not allowed",
                text,
                "Write a finite number.",
            )
            return _REFUSED
        if not _FLOAT.fullmatch(text):
            return text
        digits = text.lstrip("+-")
        if len(digits) > 1 and digits[0] == "0" and digits[1].isdigit():
            remedy = f"Write {digits.lstrip('0') or '0'} for the number, or quote it if it is text."
            self._refuse(
                line,
                self._path(),
                "a number may not begin with 0: programs read it differently",
                text,
                remedy,
            )
            return _REFUSED
        if _INT.fullmatch(text):
            return int(text) if len(digits) <= _MAX_DIGITS else self._too_large(text, line)
        return float(text) if math.isfinite(float(text)) else self._too_large(text, line)

    def _too_large(self, text: str, line: int) -> object:
        self._refuse(line, self._path(), "the number is too large", text, "Check the number of digits and the unit.")
        return _REFUSED

    def _refuse(self, line: int, path: KeyPath, message: str, value: str, remedy: str) -> None:
        self.problems.append(Problem(message, self.file, line, dotted(path), visible(value), remedy))


def inspect_yaml(
    path: Path, *, max_bytes: int = 1_000_000, max_nodes: int = 10_000, max_depth: int = 50
) -> tuple[Located | None, tuple[Problem, ...]]:
    """Read as `load_strict` does, but hand back what could be read together with every problem found.

    The tree is None where the file could not be read to its end. Refused values stand as None in it.
    """
    file = shown_path(path)
    try:
        text, problems = read_text_strict(path, max_bytes=max_bytes)
    except InputError as error:
        return None, error.problems
    located, problems = _inspected(text, _Builder(file, max_nodes, max_depth, problems=list(problems)))
    if located is not None and located.data is None and not problems:
        remedy = "`fabricreport new NAME` writes a params file to start from."
        problems = (Problem("is empty: there are only comments", file, 1, remedy=remedy),)
    return located, problems


def typed_value(text: str, key: str) -> Any:
    """A value that somebody typed for a key, read as one that stands in a file; `InputError` with every problem of it."""
    found = tuple(text_problems(text, key=key))
    located, problems = (None, found) if found else _inspected(text, _Builder("", 1_000, 10))
    if located is None or problems:
        raise InputError(replace(problem, line=None, key=key) for problem in problems)
    return located.data


def _inspected(text: str, builder: _Builder) -> tuple[Located | None, tuple[Problem, ...]]:
    try:
        for event in yaml.parse(text, Loader=_Loader):
            builder.add(event)
    except _Stop:
        return None, tuple(builder.problems)
    except (
        yaml.YAMLError,
        ValueError,
        OverflowError,
    ) as error:  # the parser lets bad \U escapes out as ValueError
        builder.problems.append(_syntax_problem(error, text, builder.file))
        return None, tuple(builder.problems)
    return Located(builder.root, builder.file, builder.lines), tuple(builder.problems)


def read_tree(path: Path) -> tuple[Located, tuple[Problem, ...]]:
    """As `inspect_yaml`, but an `InputError` where nothing could be read."""
    located, problems = inspect_yaml(path)
    if located is None or (located.data is None and problems):
        raise InputError(problems)
    return located, problems


def load_strict(path: Path, *, max_bytes: int = 1_000_000, max_nodes: int = 10_000, max_depth: int = 50) -> Located:
    """A YAML file as plain values with lines, or an `InputError` with every problem that was found."""
    located, problems = inspect_yaml(path, max_bytes=max_bytes, max_nodes=max_nodes, max_depth=max_depth)
    if problems or located is None:
        raise InputError(problems)
    return located


def quoted(text: str) -> str:
    """Text in double quotes, whose escapes YAML and JSON share."""
    return json.dumps(text, ensure_ascii=False, allow_nan=False)


def _syntax_problem(error: Exception, text: str, file: str) -> Problem:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    what = getattr(error, "problem", None) or getattr(error, "reason", None) or str(error)
    rows = text.splitlines()
    row = min(mark.line, len(rows) - 1) if mark is not None else 0
    source = rows[row] if rows else ""
    remedy = "Check the indentation, the colons and the quotes on this line and the one before."
    if "\t" in source[: len(source) - len(source.lstrip())] or "\\t" in str(what):
        remedy = "Indent with spaces: YAML does not allow tabs there."
    return Problem(
        f"cannot be read as YAML: {visible(what)}",
        file,
        row + 1,
        value=visible(source.strip()),
        remedy=remedy,
    )
