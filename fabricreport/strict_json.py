"""The same strictness for JSON, the canonical form of a params file: lines, no duplicates, finite numbers."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fabricreport.errors import InputError, Problem
from fabricreport.hostile_text import LineIndex, masked, text_problems, visible
from fabricreport.located import KeyPath, Located, dotted, read_text_strict, shown_path

_SPACE = re.compile(r"[ \t\r\n]*")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*+"')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?P<part>(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)")
_WORDS = {"true": True, "false": False, "null": None}
_MAX_DIGITS = 18


class _Fault(Exception):
    """The text is not JSON from here on; `args` are the position and the reason."""


@dataclass
class _Parser:
    """Recursive descent over one text; recursion is bounded by `max_depth`."""

    text: str
    file: str
    max_nodes: int
    max_depth: int
    problems: list[Problem] = field(default_factory=list)
    lines: dict[KeyPath, int] = field(default_factory=dict)
    nodes: int = 0

    def __post_init__(self) -> None:
        self.line = LineIndex(self.text).line_at

    def document(self) -> Any:
        value, at = self.value(self.skip(0), ())
        if (at := self.skip(at)) != len(self.text):
            raise _Fault(at, "there is something after the end of the document")
        return value

    def skip(self, at: int) -> int:
        match = _SPACE.match(self.text, at)
        return match.end() if match else at

    def value(self, at: int, path: KeyPath) -> tuple[Any, int]:
        self.nodes += 1
        if self.nodes > self.max_nodes:
            raise _Fault(at, f"it holds more than {self.max_nodes:,} values")
        if len(path) > self.max_depth:
            raise _Fault(at, f"it is nested more than {self.max_depth} deep")
        self.lines.setdefault(path, self.line(at))
        char = self.text[at : at + 1]
        if char == "{":
            return self.mapping(at, path)
        if char == "[":
            return self.sequence(at, path)
        if char == '"':
            return self.string(at, path)
        for word, value in _WORDS.items():
            if self.text.startswith(word, at):
                return value, at + len(word)
        return self.number(at, path)

    def mapping(self, at: int, path: KeyPath) -> tuple[dict[str, Any], int]:
        out: dict[str, Any] = {}
        at = self.skip(at + 1)
        if self.text[at : at + 1] == "}":
            return out, at + 1
        while True:
            if self.text[at : at + 1] != '"':
                raise _Fault(at, "a key in double quotes is expected")
            line = self.line(at)
            key, at = self.string(at, path)
            at = self.expect(self.skip(at), ":")
            here = (*path, key)
            if key in out:
                self.refuse(
                    line,
                    here,
                    f"is given twice, first on line {self.lines[here]}",
                    "",
                    "Keep one of the two.",
                )
            self.lines.setdefault(here, line)
            value, at = self.value(self.skip(at), here)
            out.setdefault(key, value)
            at = self.skip(at)
            if self.text[at : at + 1] == "}":
                return out, at + 1
            at = self.skip(self.expect(at, ","))

    def sequence(self, at: int, path: KeyPath) -> tuple[list[Any], int]:
        out: list[Any] = []
        at = self.skip(at + 1)
        if self.text[at : at + 1] == "]":
            return out, at + 1
        while True:
            value, at = self.value(at, (*path, len(out)))
            out.append(value)
            at = self.skip(at)
            if self.text[at : at + 1] == "]":
                return out, at + 1
            at = self.skip(self.expect(at, ","))

    def string(self, at: int, path: KeyPath) -> tuple[str, int]:
        match = _STRING.match(self.text, at)
        if match is None:
            raise _Fault(at, "this text in quotes does not end on its line")
        try:
            value = str(json.loads(match.group()))
        except json.JSONDecodeError as error:
            raise _Fault(at + error.pos, error.msg) from None
        problems = text_problems(value, file=self.file, line=self.line(at), key=dotted(path))
        self.problems.extend(problems)
        return (masked(value) if problems else value), match.end()

    def number(self, at: int, path: KeyPath) -> tuple[Any, int]:
        match = _NUMBER.match(self.text, at)
        if not match or not match.group():
            raise _Fault(at, "a value is expected")
        text = match.group()
        if not match["part"] and len(text) <= _MAX_DIGITS:
            return int(text), match.end()
        value = float(text) if match["part"] else math.inf
        if not math.isfinite(value):
            line = self.line(at)
            self.refuse(line, path, "the number is too large", text, "Check the number of digits and the unit.")
            return None, match.end()
        return value, match.end()

    def expect(self, at: int, char: str) -> int:
        if self.text[at : at + 1] != char:
            raise _Fault(at, f"'{char}' is expected")
        return at + 1

    def refuse(self, line: int, path: KeyPath, message: str, value: str, remedy: str) -> None:
        self.problems.append(Problem(message, self.file, line, dotted(path), visible(value), remedy))


def inspect_json(
    path: Path, *, max_bytes: int = 1_000_000, max_nodes: int = 10_000, max_depth: int = 50
) -> tuple[Located | None, tuple[Problem, ...]]:
    """What could be read of a JSON file together with every problem found; see `inspect_yaml`."""
    file = shown_path(path)
    try:
        text, problems = read_text_strict(path, max_bytes=max_bytes)
    except InputError as error:
        return None, error.problems
    parser = _Parser(text, file, max_nodes, max_depth, problems=list(problems))
    try:
        data = parser.document()
    except _Fault as fault:
        at, reason = fault.args
        line = parser.line(at)
        source = text[max(0, at - 20) : at + 20].strip()
        remedy = "Mend the JSON there, or write the params as YAML."
        parser.problems.append(Problem(f"cannot be read as JSON: {reason}", file, line, "", visible(source), remedy))
        return None, tuple(parser.problems)
    return Located(data, file, parser.lines), tuple(parser.problems)


def load_json_strict(
    path: Path, *, max_bytes: int = 1_000_000, max_nodes: int = 10_000, max_depth: int = 50
) -> Located:
    """A JSON file as plain values with lines, or an `InputError` with every problem that was found."""
    located, problems = inspect_json(path, max_bytes=max_bytes, max_nodes=max_nodes, max_depth=max_depth)
    if problems or located is None:
        raise InputError(problems)
    return located
