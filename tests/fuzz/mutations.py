"""Files as a careless or hostile hand would leave them: the shipped forms with one to three things changed."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal, get_args, get_origin

from hypothesis import strategies as st
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from fabricreport.books.fields import Unit
from fabricreport.scenario import SHIPPED_OPTIONS, Bounds, Params

FIGURES = (
    *(
        "0",
        "-1",
        "1",
        "-0",
        "1e-300",
        "5e-324",
        "1e300",
        "1e400",
        "-1e400",
        "1e-400",
        ".inf",
        "-.inf",
        ".nan",
        "nan",
        "inf",
    ),
    *("9" * 17, "9" * 19, "9" * 400, "9" * 5000, "0.1", "1.5", "007", "0x1F", "1_000", "1,5", "12e", "1e12", "-30000"),
    *("\u0663", "\u00b2", "\uff11", "1 000", "50%", "400G", "$5", "1:30", "2027-12-01", "2026-02-30"),
)
WORDS = (
    *("", "null", "~", "true", "no", "[]", "{}", "[1, 2]", "{low: 1}", "{low: 1, high: 2}", "{low: 2, high: 1}"),
    *("{p5: 0, p95: 1}", "{low: 1e-300, mode: 1, high: 1e300}", "{low: .nan, high: 1}", "price:nope", "evidence:nope"),
    *(
        "price:switch-qm9700",
        "evidence:switch-qm9700-watts",
        "*a",
        "&a 3",
        "!!float 3",
        "<<",
        "'",
        '"',
        "|",
        ">",
        "- -",
    ),
    *("=cmd()", "<svg onload=x>", "${x}", "{{x}}", "../x", "/etc/passwd", "C:\\x", "con", "x" * 200, "x" * 5000),
    *("\u202e", "\u200b", "\ufeff", "\x07", "\x00", "\ud7ff", "\U000e0041", "naïve", "日本"),
)
_NUMBER = re.compile(r"(?<![\w-])[-+]?\d+(?:\.\d+)?")
_VALUE = re.compile(r"(?<=: )[^\n{}\[\]]+(?=\n)")
_WORD = re.compile(r"[A-Za-z][\w-]{2,}")


@dataclass(frozen=True)
class Change:
    """One thing done to a text: what, where (a place among those there are), and with what."""

    kind: str
    at: int
    payload: str

    def on(self, text: str) -> str:
        """The changed text."""
        return _KINDS[self.kind](text, self.at, self.payload)


def _replaced(pattern: re.Pattern[str]) -> Callable[[str, int, str], str]:
    def change(text: str, at: int, payload: str) -> str:
        spots = [m.span() for m in pattern.finditer(text)]
        if not spots:
            return text
        start, end = spots[at % len(spots)]
        return text[:start] + payload + text[end:]

    return change


def _lines(edit: Callable[[list[str], int, str], None]) -> Callable[[str, int, str], str]:
    def change(text: str, at: int, payload: str) -> str:
        lines = text.splitlines(keepends=True)
        if lines:
            edit(lines, at % len(lines), payload)
        return "".join(lines)

    return change


def _delete(lines: list[str], at: int, payload: str) -> None:
    del lines[at]


def _double(lines: list[str], at: int, payload: str) -> None:
    lines.insert(at, lines[at])


def _swap(lines: list[str], at: int, payload: str) -> None:
    other = (at * 7 + 3) % len(lines)
    lines[at], lines[other] = lines[other], lines[at]


def _indent(lines: list[str], at: int, payload: str) -> None:
    lines[at] = ("\t" if payload == "" else "  ") + lines[at]


def _outdent(lines: list[str], at: int, payload: str) -> None:
    lines[at] = lines[at].lstrip(" ")


def _insert(text: str, at: int, payload: str) -> str:
    place = at % (len(text) + 1)
    return text[:place] + payload + text[place:]


_KINDS: dict[str, Callable[[str, int, str], str]] = {
    "figure": _replaced(_NUMBER),
    "value": _replaced(_VALUE),
    "word": _replaced(_WORD),
    "delete": _lines(_delete),
    "double": _lines(_double),
    "swap": _lines(_swap),
    "indent": _lines(_indent),
    "outdent": _lines(_outdent),
    "insert": _insert,
    "truncate": lambda text, at, payload: text[: at % (len(text) + 1)],
}

changes = st.builds(
    Change,
    st.sampled_from(sorted(_KINDS)),
    st.integers(0, 2**20),
    st.sampled_from(FIGURES) | st.sampled_from(WORDS),
)


def params_data() -> st.SearchStrategy[dict[str, Any]]:
    """Params made from the schema: every key left out, at an edge of what it may be, beyond it, or of another kind."""
    return _section(Params)


def _section(model: type[BaseModel]) -> st.SearchStrategy[dict[str, Any]]:
    needed: dict[str, st.SearchStrategy[Any]] = {}
    optional: dict[str, st.SearchStrategy[Any]] = {}
    for name, field in model.model_fields.items():
        (needed if field.is_required() else optional)[field.alias or name] = _field(field)
    return st.fixed_dictionaries(needed, optional=optional)


def _field(field: FieldInfo) -> st.SearchStrategy[Any]:
    """Mostly what the field may hold; now and then something else."""
    good = _good(field)
    odd = st.sampled_from(
        [None, True, "", -1, 10**17, 1e-300, 1e300, float("inf"), float("nan"), [], {}, "x", {"low": 1}]
    )
    return st.integers(0, 255).flatmap(lambda n: odd if n == 101 else good)


def _good(field: FieldInfo) -> st.SearchStrategy[Any]:
    limits = next((m for m in field.metadata if isinstance(m, Unit | Bounds)), None)
    arms = _arms(field.annotation)
    models = [arm for arm in arms if isinstance(arm, type) and issubclass(arm, BaseModel)]
    many = any(get_origin(part) is tuple for part in (field.annotation, *get_args(field.annotation)))
    choices = [value for arm in arms if get_origin(arm) is Literal for value in get_args(arm)]
    if models and many:
        return st.lists(_section(models[0]), max_size=2)
    if models:
        return _section(models[0]) | st.sampled_from(choices) if choices else _section(models[0])
    if choices and not isinstance(limits, Bounds):
        return st.lists(st.sampled_from(choices), min_size=1, unique=True) if many else st.sampled_from(choices)
    if limits is not None:
        return _number(limits, whole=int in arms)
    if bool in arms:
        return st.booleans()
    if int in arms:
        return st.integers(0, 2**53 - 1)
    if date in arms:
        return st.sampled_from(["2026-11-20", "2027-01-31"])
    if field.default == SHIPPED_OPTIONS:
        return st.lists(st.sampled_from(SHIPPED_OPTIONS), min_size=1, max_size=4, unique=True)
    return st.sampled_from(list(field.examples or ["price:switch-qm9700" if field.metadata else "Northmere AI"]))


def _number(limits: Unit | Bounds, *, whole: bool) -> st.SearchStrategy[Any]:
    bound = limits.bound
    if bound is None:
        return st.sampled_from([30000, 0.5, {"low": 1, "high": 2}, {"p5": 1, "p95": 2}])
    edges = [bound.least, bound.low, bound.high, min(max(8.0, bound.low), bound.high)]
    if whole:
        return st.sampled_from(sorted({int(edge) for edge in edges}))
    return st.sampled_from([*edges, {"low": bound.low, "high": bound.high}] if isinstance(limits, Bounds) else edges)


def _arms(annotation: Any) -> list[Any]:
    if get_origin(annotation) is Literal:
        return [annotation]
    parts = [part for part in get_args(annotation) if part is not Ellipsis]
    return [arm for part in parts for arm in _arms(part)] or [annotation]
