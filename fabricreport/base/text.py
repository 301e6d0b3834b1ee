"""Text from people and sellers made safe: characters that make it lie, and cells of CSV that cannot say that they hold text.

A provider called "9‮1$" would print its price the other way round, and an escape code typed into a
name would repaint the terminal. Text from users is therefore refused when it holds such characters
(`text_problems`, `clean_text`), and shown with them spelt out (`visible`) when it must be quoted in an error.
"""

from __future__ import annotations

import csv
import html
import io
import math
import re
import unicodedata
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from fabricreport.base.errors import InputError, Problem

MAX_COMBINING_RUN = 8
"""More combining marks than this on one letter is a smear over the neighbouring lines, not a script."""

MAX_FOUND = 100
"""Nobody reads more faults of one kind than this, and a binary file has millions."""

_KINDS = (
    ("C0 or C1 control", "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"),
    ("bidirectional control", "\u061c\u202a-\u202e\u2066-\u2069"),
    ("invisible character", "\u00ad\u180e\u200b-\u200f\u2060-\u2065\u206a-\u206f\ufeff\U000e0000-\U000e0fff"),
    ("line separator", "\u2028\u2029"),
    ("lone surrogate", "\ud800-\udfff"),
    ("private-use character", "\ue000-\uf8ff\U000f0000-\U0010ffff"),
    ("noncharacter", "\ufdd0-\ufdef\ufff9-\ufffb\ufffe\uffff"),
)
_HOSTILE = re.compile("|".join(f"([{chars}])" for _, chars in _KINDS))
_SMEAR = "pile of combining marks"
_BREAK = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True)
class HostileCharacter:
    """One refused character: `index` into the text, its 1-based `line`, `label` ("U+202E ...") and `kind`."""

    index: int
    line: int
    label: str
    kind: str


def describe(char: str) -> str:
    """`U+202E RIGHT-TO-LEFT OVERRIDE` for a character that cannot be shown as itself."""
    name = unicodedata.name(char, "")
    return f"U+{ord(char):04X}{' ' + name if name else ''}"


def hostile_characters(text: str) -> tuple[HostileCharacter, ...]:
    """The characters of `text` that may not stand in a memo, at most `MAX_FOUND`. Tabs and line ends may."""
    if text.isascii() and text.isprintable():
        return ()  # nearly every text of a book, told quickly
    matches = list(islice(_HOSTILE.finditer(text), MAX_FOUND))
    smear = _combining_smear(text)
    if not matches and smear is None:
        return ()
    lines = LineIndex(text)
    found = [
        HostileCharacter(m.start(), lines.line_at(m.start()), describe(m.group()), _KINDS[(m.lastindex or 1) - 1][0])
        for m in matches
    ]
    if smear is not None:
        label = describe(text[smear])
        found.append(HostileCharacter(smear, lines.line_at(smear), label, _SMEAR))
    return tuple(found)


def text_problems(text: str, *, file: str = "", line: int | None = None, key: str = "") -> list[Problem]:
    """One `Problem` per kind of hostile character and line.

    `line` is the line of `file` where `text` begins; leave it out for text that is not a whole file's.
    """
    problems: dict[tuple[int, str], Problem] = {}
    for found in hostile_characters(text):
        problems.setdefault(
            (found.line, found.label),
            Problem(
                f"holds {'an' if found.kind[0] in 'aeiou' else 'a'} {found.kind}, {found.label}: a page could show something else than was typed",
                file=file,
                line=None if line is None else line + found.line - 1,
                key=key,
                value="" if found.kind == _SMEAR else visible(_around(text, found.index)),
                remedy="Delete the character, or type the words again instead of pasting them.",
            ),
        )
    return list(problems.values())


def clean_text(
    text: str,
    *,
    file: str = "",
    line: int | None = None,
    key: str = "",
    max_chars: int = 10_000,
    one_line: bool = False,
) -> str:
    """`text` in NFC, or an `InputError` that names each hostile character and where it is.

    `one_line` also refuses tabs and line breaks (names, titles, table cells); `max_chars` bounds the length.
    """
    problems = text_problems(text, file=file, line=line, key=key)
    if one_line and re.search(r"[\t\r\n]", text):
        problems.append(
            Problem("must be a single line without tabs", file, line, key, visible(text), "Put it on one line.")
        )
    if len(text) > max_chars:
        problems.append(
            Problem(
                f"is {len(text)} characters long; at most {max_chars} are allowed",
                file,
                line,
                key,
                visible(text, 40),
                "Shorten it.",
            )
        )
    if problems:
        raise InputError(problems)
    return unicodedata.normalize("NFC", text)


def visible(value: object, limit: int = 80) -> str:
    """The value as a message may print it: hostile characters as `\\u202e`, cut after `limit` characters."""
    text = value if isinstance(value, str) else str(value)
    cut = text[: limit - 1] + "…" if len(text) > limit else text
    while (smear := _combining_smear(cut)) is not None:
        cut = cut[:smear] + cut[smear + 1 :]
    return _HOSTILE.sub(lambda m: _escape(m.group()), cut).translate({9: "\\t", 10: "\\n", 13: "\\r"})


def masked(text: str) -> str:
    """The text with each hostile character replaced by U+FFFD; the length, and so every position, is kept."""
    return _HOSTILE.sub("\ufffd", text)


class LineIndex:
    """Line numbers of one text, counted once, as editors count them (LF, CR LF or CR ends a line)."""

    def __init__(self, text: str) -> None:
        self._ends = [match.end() for match in _BREAK.finditer(text)]

    def line_at(self, index: int) -> int:
        """1-based line that holds position `index`."""
        return 1 + bisect_right(self._ends, index)


def _combining_smear(text: str) -> int | None:
    if text.isascii():
        return None
    run = 0
    for index, char in enumerate(text):
        run = run + 1 if unicodedata.combining(char) else 0
        if run > MAX_COMBINING_RUN:
            return index
    return None


def _around(text: str, index: int) -> str:
    before = _BREAK.split(text[max(0, index - 20) : index])[-1]
    after = _BREAK.split(text[index : index + 20])[0]
    return (before + after).strip()


def _escape(char: str) -> str:
    code = ord(char)
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"


FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
# A spreadsheet reads these as numbers already; a leading sign there is a sign, not a formula.
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\Z")


def spreadsheet_cell(value: Any) -> Any:
    """A value that no spreadsheet can read as a formula: numbers pass, risky text gets a leading apostrophe.

    The rule is OWASP's: a cell that starts with `=`, `+`, `-`, `@`, TAB or CR may run. A text that is a plain
    number keeps its sign. Non-finite numbers become empty cells.
    """
    if value is None:
        return ""
    if isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else ""
    text = str(value)
    if text.lstrip(" \n").startswith(FORMULA_STARTS) and not _NUMBER.match(text):
        return "'" + text
    return text


def csv_text(rows: Iterable[Sequence[Any]], end: str = "\r\n") -> str:
    """Rows as CSV with safe cells, comma-separated, with CRLF line ends (RFC 4180) unless others are asked for."""
    buffer = io.StringIO(newline="")
    csv.writer(buffer, lineterminator=end).writerows([spreadsheet_cell(cell) for cell in row] for row in rows)
    return buffer.getvalue()


class Shown(ABC):
    """What shows itself as facts, each text as text: lines in a terminal, a table in Jupyter. What it was made with stays."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name in vars(self) or hasattr(type(self), name):
            raise AttributeError(f"{name} of {type(self).__name__} is not to be set: it is a result")
        super().__setattr__(name, value)

    @property
    @abstractmethod
    def facts(self) -> Mapping[str, Any]:
        """What is shown, by its head."""

    def __repr__(self) -> str:
        return "\n".join(f"{visible(head)}: {visible(text, 500)}" for head, text in self.facts.items())

    def _repr_html_(self) -> str:
        told = ([html.escape(visible(word, 500)) for word in fact] for fact in self.facts.items())
        return f"<table>{''.join(f'<tr><th>{head}</th><td>{text}</td></tr>' for head, text in told)}</table>"
