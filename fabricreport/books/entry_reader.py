"""The strict reading of one evidence entry from a file."""

from __future__ import annotations

import math
import re
from datetime import date as Date
from pathlib import Path
from typing import Any

from fabricreport.books.units import unit_problem
from fabricreport.bounds import bound_of
from fabricreport.errors import Problem
from fabricreport.evidence_entry import OPTIONAL, EvidenceEntry
from fabricreport.located import Located, did_you_mean
from fabricreport.uncertain import SHAPES, Uncertain
from fabricreport.vocabulary import Grade

GRADES = tuple(Grade)
"""Strongest to weakest."""
SEEN = ("A", "B", "D", "-")
"""A read in the primary, B read in a text that quotes it, D derived by arithmetic, - an assumption of ours."""
UNDATED = "undated"
HOW_TO_WRITE = {
    "id": "lower-case words joined by hyphens",
    "what": "the figure in one line of words",
    "value": "a number, {low, high}, {low, mode, high}, {p5, p95}, or words with `unit: text`",
    "unit": "such as us, gbits/s, w, share, usd/gpu-hour",
    "date": "the figure's own date, YYYY, YYYY-MM or YYYY-MM-DD, or undated",
    "source": "the title of the document",
    "publisher": "who published it",
    "read": "the day you read it, YYYY-MM-DD",
    "grade": "one of " + ", ".join(GRADES),
    "seen": 'A (read in the primary), B (in a text that quotes it), D (derived) or "-" (an assumption)',
    "use": "what the memo takes it for",
}
REQUIRED = tuple(HOW_TO_WRITE)
KEBAB = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_DAY = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?")


def read_entry(tree: Located, index: int, problems: list[Problem], *, shipped: bool = False) -> EvidenceEntry | None:
    """The entry at `index` of a file, or None with its faults added to `problems`; a shipped file is named without its folder."""
    raw = tree.data[index]
    found: list[Problem] = []
    if not isinstance(raw, dict):
        problems.append(tree.problem((index,), "must be an entry with keys", value=raw))
        return None
    known = (*REQUIRED, *OPTIONAL)
    for key in raw:
        if key not in known:
            found.append(tree.problem((index, key), "is not a key of an entry", suggestion=did_you_mean(key, known)))
    for key in REQUIRED:
        if key not in raw and not _may_be_empty(key, raw):
            remedy = f"Add `{key}:` {HOW_TO_WRITE[key]}."
            found.append(tree.problem((index,), f"has no `{key}`", value=raw.get("id", ""), remedy=remedy))
    for key in set(raw) & (set(known) - {"value", "date", "derived_from"}):
        if not isinstance(raw[key], str):
            found.append(tree.problem((index, key), "must be text", value=raw[key], remedy="Put it in quotes."))
        elif key in REQUIRED and not raw[key].strip() and not _may_be_empty(key, raw):
            remedy = f"Write {HOW_TO_WRITE[key]}."
            found.append(tree.problem((index, key), "is empty", value=raw.get("id", ""), remedy=remedy))
    if not found:
        found.extend(_semantic_problems(tree, index, raw))
    problems.extend(found)
    if found:
        return None
    value = raw["value"]
    texts = {k: raw.get(k, "") for k in (*REQUIRED, *OPTIONAL) if k not in ("value", "date", "derived_from")}
    return EvidenceEntry(
        value=value if isinstance(value, str) else Uncertain.of(value),
        date=str(raw["date"]),
        derived_from=tuple(raw.get("derived_from", ())),
        file=Path(tree.file).name if shipped else tree.file,
        line=tree.line_of((index,)),
        **texts,
    )


def _may_be_empty(key: str, raw: dict[str, Any]) -> bool:
    return key == "publisher" and raw.get("grade") == Grade.ASSUMPTION


def _semantic_problems(tree: Located, index: int, raw: dict[str, Any]) -> list[Problem]:
    def fault(key: str, message: str, *, remedy: str = "", suggestion: str = "") -> Problem:
        at = (index, key) if key in raw else (index,)
        return tree.problem(at, message, value=raw.get(key, ""), remedy=remedy, suggestion=suggestion)

    found: list[Problem] = []
    for key in ("id", "contested", "group"):
        if raw.get(key) and not KEBAB.fullmatch(raw[key]):
            found.append(fault(key, "must be lower-case words joined by hyphens"))
    wrong_unit = unit_problem(raw["unit"])
    if wrong_unit:
        found.append(fault("unit", wrong_unit[0], suggestion=wrong_unit[1]))
    if raw["grade"] not in GRADES:
        found.append(
            fault(
                "grade",
                "is not a grade",
                suggestion=did_you_mean(raw["grade"], GRADES),
                remedy=f"One of: {', '.join(GRADES)}.",
            )
        )
    if raw["seen"] not in SEEN:
        found.append(fault("seen", "must be A, B, D or -"))
    elif (raw["seen"] == "-") != (raw["grade"] == Grade.ASSUMPTION):
        found.append(
            fault("seen", "and grade disagree", remedy='`seen: "-"` belongs to `grade: assumption`, and only there.')
        )
    if bool(raw.get("contested")) and not raw.get("base"):
        found.append(fault("base", "a contested figure must say what it is measured on", remedy="Add `base:`."))
    parents = raw.get("derived_from", [])
    if not isinstance(parents, list) or not all(isinstance(p, str) for p in parents):
        found.append(fault("derived_from", "must be a list of entry ids"))
    found.extend(_date_problems(raw, fault))
    found.extend(_value_problems(tree, index, raw))
    return found


def _date_problems(raw: dict[str, Any], fault: Any) -> list[Problem]:
    remedy = "Write YYYY, YYYY-MM or YYYY-MM-DD."
    found = []
    read = _parse_day(raw["read"])
    if read is None or len(raw["read"]) != len("YYYY-MM-DD"):
        found.append(fault("read", "is not a day", remedy="Write YYYY-MM-DD."))
        read = None
    figure = str(raw["date"])
    if figure != UNDATED:
        day = _parse_day(figure)
        if day is None:
            found.append(fault("date", "is not a date", remedy=f"{remedy} If the source gives none: {UNDATED}."))
        elif read is not None and day > read:
            found.append(fault("date", f"is after the day it was read, {raw['read']}", remedy=remedy))
    return found


def _parse_day(text: str) -> Date | None:
    match = _DAY.fullmatch(text)
    if match is None:
        return None
    year, month, day = (int(part or 1) for part in match.groups())
    try:
        return Date(year, month, day)
    except ValueError:
        return None


def _value_problems(tree: Located, index: int, raw: dict[str, Any]) -> list[Problem]:
    value, unit = raw["value"], raw["unit"]
    at = (index, "value")
    if isinstance(value, str):
        if unit == "text" and value.strip():
            return []
        remedy = "Write a number, or `unit: text` for a fact in words."
        return [tree.problem(at, f"must be a number in {unit}", value=value, remedy=remedy)]
    if unit == "text":
        return [tree.problem(at, "must be words, as its unit is text", value=value)]
    numbers: dict[str, Any]
    if isinstance(value, dict):
        if set(value) not in [set(keys) for keys in SHAPES.values()]:
            remedy = "Write {low, high}, {low, mode, high} or {p5, p95}."
            return [tree.problem(at, "has the wrong keys", value=", ".join(map(str, value)), remedy=remedy)]
        numbers = value
    else:
        numbers = {"value": value}
    for key, number in numbers.items():
        if isinstance(number, bool) or not isinstance(number, int | float) or not math.isfinite(number):
            where = (*at, key) if isinstance(value, dict) else at
            return [tree.problem(where, "must be a finite number", value=number)]
    ordered = [numbers[k] for k in ("low", "p5", "mode", "high", "p95", "value") if k in numbers]
    if ordered != sorted(ordered):
        return [tree.problem(at, "must rise from low to high", value=ordered)]
    wrong = bound_of(unit).fault(value) if unit_problem(unit) is None else ""
    if wrong:
        remedy = "For a signed difference use `unit: relative`, for a multiple `x`." if unit == "share" else ""
        return [tree.problem(at, wrong, value=value if isinstance(value, dict) else f"{value:g}", remedy=remedy)]
    return []
