"""Values that remember their line: what the strict readers return, and how files are opened for them."""

from __future__ import annotations

import difflib
import os
import stat
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fabricreport.base.errors import InputError, Problem
from fabricreport.base.files import PLAIN
from fabricreport.base.text import masked, text_problems, visible

KeyPath = tuple[str | int, ...]
"""Where a value sits: `("cluster", "trajectory", 1, "gpus")`."""

_BOMS = (
    (b"\xff\xfe\x00\x00", "UTF-32"),
    (b"\x00\x00\xfe\xff", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
)


@dataclass(frozen=True)
class Located:
    """A parsed file: `data` (plain dicts, lists, text, numbers, booleans, None; read-only) and its lines."""

    data: Any
    file: str
    lines: Mapping[KeyPath, int] = field(repr=False)

    def line_of(self, path: Iterable[str | int] = ()) -> int:
        """1-based line of the key or list item at `path`, or of its nearest ancestor if the file has none."""
        at = tuple(path)
        while at and at not in self.lines:
            at = at[:-1]
        return self.lines.get(at, 1)

    def problem(
        self,
        path: Iterable[str | int],
        message: str,
        *,
        value: object = "",
        remedy: str = "",
        suggestion: str = "",
    ) -> Problem:
        """A `Problem` at `path` of this file, with its line and dotted key filled in."""
        at = tuple(path)
        return Problem(message, self.file, self.line_of(at), dotted(at), visible(value), remedy, visible(suggestion))


def dotted(path: Iterable[str | int]) -> str:
    """`cluster.trajectory[1].gpus` for `("cluster", "trajectory", 1, "gpus")`."""
    out = ""
    for part in path:
        out += f"[{part}]" if isinstance(part, int) else f"{'.' if out else ''}{visible(part)}"
    return out


def undotted(key: str) -> KeyPath:
    """The inverse of `dotted`: `("cluster", "trajectory", 1, "gpus")` for `cluster.trajectory[1].gpus`."""
    return tuple(int(part) if part.isdigit() else part for part in key.replace("[", ".").replace("]", "").split("."))


def did_you_mean(word: object, known: Iterable[str], *, slips_only: bool = False) -> str:
    """The known word nearest to a mistyped one, or an empty string.

    Fewest slips first (a letter dropped, added, changed, or two swapped), then the same length; a word that is
    further off is matched by its longest common parts, unless `slips_only`.
    """
    if not isinstance(word, str) or not 1 < len(word) <= 100:
        return ""
    typed = _folded(word)
    folded = {_folded(k): k for k in known}
    most = max(1, len(typed) // 5)
    letters = Counter(typed)  # a slip mends one letter at most: words that share too few are not looked at
    near = ((i, k) for i, k in enumerate(folded) if max(len(k), len(typed)) - (letters & Counter(k)).total() <= most)
    ranked = sorted((_slips(typed, k), abs(len(k) - len(typed)), i, k) for i, k in near)
    if ranked and ranked[0][0] <= most:
        return folded[ranked[0][3]]
    if slips_only:
        return ""
    close = difflib.get_close_matches(typed, folded, n=1, cutoff=0.6)
    return folded[close[0]] if close else ""


def shown_path(path: Path) -> str:
    """The path as messages print it: as given, hostile characters spelt out."""
    return visible(str(path), 4096)


def read_bytes_strict(path: Path, *, max_bytes: int = 1_000_000) -> bytes:
    """The bytes of a regular file of at most `max_bytes`; anything else is an `InputError`.

    A pipe or device is refused rather than waited for; a missing file is met with the nearest name beside it.
    """
    file = shown_path(path)
    try:
        handle = os.open(path, PLAIN)
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(Problem("does not exist", file, suggestion=_sibling(path))) from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(
            Problem(f"cannot be opened: {reason}", file, remedy="Check the path and its rights.")
        ) from None
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise InputError(Problem("is not an ordinary file", file, remedy="Name a file, not a folder, pipe or device."))
    with os.fdopen(handle, "rb") as stream:
        data = stream.read(max_bytes + 1)
    if len(data) > max_bytes:
        raise InputError(
            Problem(
                f"is larger than {max_bytes:,} bytes",
                file,
                1,
                remedy="Split the file or delete what is not needed.",
            )
        )
    return data


def decode_strict(data: bytes, file: str) -> str:
    """UTF-8 text without its byte-order mark; another encoding or an empty file is an `InputError`."""
    for bom, name in _BOMS:
        if data.startswith(bom):
            raise InputError(Problem(f"is {name}, not UTF-8", file, 1, remedy="Save the file as UTF-8."))
    try:
        text = data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = 1 + data[: error.start].count(b"\n")
        raise InputError(
            Problem(
                "is not UTF-8 text",
                file,
                line,
                value=f"byte 0x{data[error.start]:02x}",
                remedy="Save the file as UTF-8.",
            )
        ) from None
    if not text.strip():
        raise InputError(
            Problem("is empty", file, 1, remedy="`fabricreport new NAME` writes a params file to start from.")
        )
    return text


def read_text_strict(path: Path, *, max_bytes: int = 1_000_000) -> tuple[str, tuple[Problem, ...]]:
    """A UTF-8 file's text with hostile characters masked (U+FFFD), and one problem for each of them.

    Masking keeps every line and column, so a reader can go on and report its own problems in the same run.
    """
    file = shown_path(path)
    text = decode_strict(read_bytes_strict(path, max_bytes=max_bytes), file)
    problems = text_problems(text, file=file, line=1)
    return (masked(text) if problems else text), tuple(problems[:100])


def _sibling(path: Path) -> str:
    try:
        names = [p.name for p in path.parent.iterdir()]
    except (OSError, ValueError):
        return ""
    return did_you_mean(path.name, names)


def _folded(word: str) -> str:
    return word.strip().lower().replace("_", "-").replace(" ", "-")


def _slips(a: str, b: str) -> int:
    """Typing slips that turn `a` into `b` (optimal string alignment distance)."""
    before: list[int] = []
    last = list(range(len(b) + 1))
    for i in range(1, len(a) + 1):
        row = [i]
        for j in range(1, len(b) + 1):
            cost = a[i - 1] != b[j - 1]
            best = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + cost)
            if i > 1 and j > 1 and a[i - 1] == b[j - 2] and a[i - 2] == b[j - 1]:
                best = min(best, before[j - 2] + 1)
            row.append(best)
        before, last = last, row
    return last[-1]
