"""What makes a price row believable: its shape, its unit and currency, and its step from the last good price.

Two kinds of fault are kept apart. A row that cannot be read as a price (bad number, unknown unit, no source)
is *malformed*: `parse_row` raises `InputError` with file and line. A row that reads well but does not fit what
is known of its item (jump, other unit, other currency) is *held*: `doubt` returns the reason in words.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from fnmatch import fnmatchcase
from typing import Annotated, Any

from pydantic import Field

from fabricreport.books.fields import CLOSED
from fabricreport.books.reader import shipped
from fabricreport.bounds import Bound, price_bound
from fabricreport.errors import InputError, Problem
from fabricreport.located import did_you_mean

Day = date  # the field of the same name hides the type inside the frozen rows below

COLUMNS = ("item", "unit", "price", "low", "high", "currency", "date", "expiry", "source", "grade")

_ITEM = re.compile(r"[a-z0-9]+(?:[-.][a-z0-9]+)*")
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_COMMA = re.compile(r"\s*[+-]?[\d.\s]*\d,\d+\s*", re.ASCII)


@dataclass(frozen=True)
class PriceUnit:
    """A unit of the price files, and for how many days a price in it stays fresh."""

    __pydantic_config__ = CLOSED
    shelf_life_days: int


@dataclass(frozen=True)
class Slip:
    """A mistake that makes a figure so many times too large or too small."""

    __pydantic_config__ = CLOSED
    factor: float
    reason: str


@dataclass(frozen=True)
class Spread:
    """By what factor a single web price of these items is ranged, both ways."""

    __pydantic_config__ = CLOSED
    items: tuple[str, ...]
    factor: float


@dataclass(frozen=True)
class FeedTerm:
    """What a word in a feed's terms makes of a price: the term that it is for, or why it is passed over."""

    __pydantic_config__ = CLOSED
    contains: str
    term: Annotated[str, Field(alias="as")] = ""
    skip: str = ""


@dataclass(frozen=True)
class FeedRules:
    """How feeds are fetched, and what their names are here."""

    __pydantic_config__ = CLOSED
    timeout_s: float
    largest_bytes: int
    grade: str
    gpus: Mapping[str, str]
    skypilot_gpus: Mapping[str, str]
    terms: tuple[FeedTerm, ...]
    providers: Mapping[str, str]
    hyperscalers: tuple[str, ...]


@dataclass(frozen=True)
class PriceRules:
    """The rules of prices; the file explains each key."""

    __pydantic_config__ = CLOSED
    units: Mapping[str, PriceUnit]
    currencies: tuple[str, ...]
    grades: tuple[str, ...]
    hold_at_ratio: float
    slip_tolerance: float
    slips: tuple[Slip, ...]
    spread: tuple[Spread, ...]
    spread_grades: tuple[str, ...]
    longest_source: int
    most_rows: int
    largest_file_bytes: int
    feeds: FeedRules


@dataclass(frozen=True)
class PriceRow:
    """One dated price as it stands in a CSV file; `file` and `line` say where, for messages only."""

    item: str
    unit: str
    price: float
    low: float | None
    high: float | None
    currency: str
    date: Day
    expiry: Day | None
    source: str
    grade: str
    file: str = ""
    line: int = 0

    @property
    def expires(self) -> Day:
        """Last day on which the price counts as fresh: its own expiry, else its unit's shelf life."""
        life = timedelta(days=shelf_life_days(self.unit))
        return self.expiry or (self.date + life if self.date < Day.max - life else Day.max)

    def cells(self) -> tuple[str, ...]:
        """The row as CSV cells, in the order of `COLUMNS`."""
        numbers = [f"{v:.10g}" if v is not None else "" for v in (self.price, self.low, self.high)]
        expiry = self.expiry.isoformat() if self.expiry else ""
        day = self.date.isoformat()
        return (self.item, self.unit, *numbers, self.currency, day, expiry, self.source, self.grade)


def rules() -> PriceRules:
    """The rules file `evidence/price_rules.yaml`."""
    return shipped("price_rules", PriceRules)


def shelf_life_days(unit: str) -> int:
    """Days a price of this unit stays fresh when its row names no expiry."""
    return rules().units[unit].shelf_life_days


def spread_factor(item: str, grade: str) -> float:
    """The factor by which a price of this item and grade is ranged, both ways: that of its class, else 1."""
    if grade not in rules().spread_grades:
        return 1.0
    classes = (c for c in rules().spread if any(fnmatchcase(item, pattern) for pattern in c.items))
    return next((c.factor for c in classes), 1.0)


def grade_rank(grade: str) -> int:
    """0 for the strongest grade."""
    return rules().grades.index(grade)


def parse_row(cells: Mapping[str, str], file: str = "", line: int = 0) -> PriceRow:
    """Read one CSV row; raises `InputError` naming every fault in it, with file and line."""
    faults: list[Problem] = []

    def fault(key: str, message: str, remedy: str = "", suggestion: str = "") -> None:
        shown = clean_text(cells.get(key, ""))[:60]
        faults.append(Problem(message, file, line, key, shown, remedy, suggestion))

    text = {name: (cells.get(name) or "").strip() for name in COLUMNS}
    if not _ITEM.fullmatch(text["item"]):
        fault("item", "not a kebab-case id", "Write it like switch-qm9700.")
    units, currencies, grades = rules().units, rules().currencies, rules().grades
    for key, known in (("unit", list(units)), ("currency", currencies), ("grade", grades)):
        if text[key] not in known:
            fault(key, f"unknown {key}", f"Known: {', '.join(known)}.", did_you_mean(text[key], known))
    numbers = {key: _number(text[key], key, fault) for key in ("price", "low", "high") if key == "price" or text[key]}
    _check_numbers(numbers, price_bound(text["unit"], text["currency"]) if text["unit"] in units else None, fault)
    day, expiry = _day(text["date"], "date", fault), None
    if text["expiry"]:
        expiry = _day(text["expiry"], "expiry", fault)
        if day and expiry and expiry < day:
            fault("expiry", f"expires before its own date {day}")
    if problem := source_fault(text["source"]):
        fault("source", problem, "Name who said the price and where it can be read.")
    if faults or day is None:
        raise InputError(faults)
    return PriceRow(
        item=text["item"], unit=text["unit"], price=numbers["price"] or 0.0, low=numbers.get("low"),
        high=numbers.get("high"), currency=text["currency"], date=day, expiry=expiry, source=text["source"],
        grade=text["grade"], file=file, line=line,
    )  # fmt: skip


def doubt(row: PriceRow, last: PriceRow) -> tuple[str, str] | None:
    """Why a well-formed row is held against the last good one: `(kind, message)`, or None if it fits."""
    if row.unit != last.unit:
        return "unit", f"the unit is {row.unit}, but {row.item} has been priced per {last.unit} until {last.date}"
    if row.currency != last.currency:
        return (
            "currency",
            f"the currency is {row.currency}, but {row.item} has been in {last.currency} until {last.date}",
        )
    if row.price <= 0 or last.price <= 0:
        if row.price == last.price:
            return None
        return "jump", f"{row.price:g} after {last.price:g}: a step from or to zero cannot be judged"
    ratio = row.price / last.price
    if max(ratio, 1 / ratio) < rules().hold_at_ratio * (1 - 1e-9):
        return None
    size = f"{ratio:.3g} times" if ratio > 1 else f"1/{1 / ratio:.3g} of"
    message = f"{row.price:g} {row.currency} is {size} the last good price {last.price:g} of {last.date}"
    reason = slip(ratio)
    return "jump", f"{message}: looks like {reason}" if reason else message


def slip(ratio: float) -> str:
    """The named slips (cents, node for GPU, month for hour ...) that a jump of this size looks like, or ''."""
    tolerance, size = math.log(rules().slip_tolerance), abs(math.log(ratio))
    near = [(abs(size - math.log(s.factor)), s.reason) for s in rules().slips]
    return "; or ".join(reason for distance, reason in sorted(near) if distance <= tolerance)


def source_fault(text: str) -> str:
    """What is wrong with a source text ('' if nothing): empty, too long, hidden characters, a formula."""
    if not text:
        return "no source"
    if len(text) > rules().longest_source:
        return f"longer than {rules().longest_source} characters"
    if clean_text(text) != text:
        return "holds control, zero-width or bidirectional characters"
    if text[0] in "=+-@":
        return "starts like a spreadsheet formula"
    return ""


def clean_text(text: str | None) -> str:
    """The text without control, zero-width and bidirectional characters, so that a message cannot be forged."""
    return "".join(c for c in text or "" if unicodedata.category(c) not in ("Cc", "Cf", "Co", "Cs", "Zl", "Zp"))


def _number(text: str, key: str, fault: Any) -> float | None:
    if not text:
        fault(key, "no price", "Every row needs one; low and high may be empty.")
        return None
    if _COMMA.fullmatch(text):
        fault(key, "a comma in a number", "Write a decimal point and no thousands separator.")
        return None
    if text.lower().lstrip("+-") in ("nan", "inf", "infinity"):
        fault(key, "not a finite number")
        return None
    if not _NUMBER.fullmatch(text):
        fault(key, "not a plain number", "Write digits and a decimal point; the currency has its own column.")
        return None
    return float(text)


def _check_numbers(numbers: Mapping[str, float | None], bound: Bound | None, fault: Any) -> None:
    for key, value in numbers.items():
        if value is not None and bound is not None and (wrong := bound.fault(value)):
            fault(key, wrong, "" if value else "Leave the row out if there is no price.")
    price, low, high = numbers.get("price"), numbers.get("low"), numbers.get("high")
    if price is None:
        return
    if low is not None and low > price:
        fault("low", f"above the price {price:g}", "Needed: low <= price <= high.")
    if high is not None and high < price:
        fault("high", f"below the price {price:g}", "Needed: low <= price <= high.")


def _day(text: str, key: str, fault: Any) -> date | None:
    try:
        if not _DATE.fullmatch(text):
            raise ValueError(text)
        return date.fromisoformat(text)
    except ValueError:
        fault(key, "not a date", "Write it as YYYY-MM-DD.")
        return None
