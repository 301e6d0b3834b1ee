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
from functools import lru_cache
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, PlainValidator, ValidationInfo
from pydantic_core import PydanticCustomError

from fabricreport.base.bounds import price_bound
from fabricreport.base.errors import InputError
from fabricreport.base.formats import number_remedy
from fabricreport.base.locations import did_you_mean
from fabricreport.books.fields import CLOSED, Fault, Unwritten, refusal
from fabricreport.books.reader import judged_row, shipped

Day = date  # the field of the same name hides the type inside the frozen rows below

COLUMNS = ("item", "unit", "price", "low", "high", "currency", "date", "expiry", "source", "grade")
RENT_COLUMNS = ("product", "sold_by", "network", "read")
"""What a row may say beside, of a rent above all: of what product, sold by what, with the network or not, read on what day."""
ALL_COLUMNS = (*COLUMNS, *RENT_COLUMNS)
UNDATED = "undated"

ON_DEMAND, SPOT, RESERVED, LIST, MARKETPLACE = "on-demand", "spot", "reserved", "list", "marketplace"
_PRODUCTS = (ON_DEMAND, SPOT, RESERVED, LIST, MARKETPLACE, "index")
_ENDING = re.compile(r"-(reserved-[1-9]\d?m|reserved|spot|list|marketplace|index)$", re.ASCII)
_TERM = re.compile(r"reserved-([1-9]\d?)m", re.ASCII)
_CHOICES = {"sold_by": ("gpu", "node", "rack", "cluster"), "network": ("included", "extra")}
_UNKNOWN = "unknown"
RENT_UNITS = ("gpu-hour", "node-hour")

_ITEM = re.compile(r"[a-z0-9]+(?:[-.][a-z0-9]+)*")
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_ADDRESS = re.compile(r"(?:[a-z0-9-]+\.)+[a-z]{2,}(?:/[^\s;,)]*)?", re.IGNORECASE)
_CODE_HOSTS = {"github.com": "github.com", "raw.githubusercontent.com": "github.com", "gitlab.com": "gitlab.com"}


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
    retry_s: float
    longest_retry_s: float
    grade: str
    gpus: Mapping[str, str]
    skypilot_gpus: Mapping[str, str]
    terms: tuple[FeedTerm, ...]
    providers: Mapping[str, str]
    hyperscalers: tuple[str, ...]


@dataclass(frozen=True)
class Market:
    """How many sellers, of as many publishers, have to move one way, by what factor, within how many days."""

    __pydantic_config__ = CLOSED
    sellers: int
    moved: float
    within_days: int


@dataclass(frozen=True)
class PriceRules:
    """The rules of prices; the file explains each key."""

    __pydantic_config__ = CLOSED
    units: Mapping[str, PriceUnit]
    currencies: tuple[str, ...]
    grades: tuple[str, ...]
    fresh_days: int
    hold_at_ratio: float
    span_within_ratio: float
    spot_below: float
    listed_grades: tuple[str, ...]
    market: Market
    slip_tolerance: float
    slips: tuple[Slip, ...]
    spread: tuple[Spread, ...]
    spread_grades: tuple[str, ...]
    longest_source: int
    most_rows: int
    largest_file_bytes: int
    feeds: FeedRules


def _item(text: str) -> str:
    if not _ITEM.fullmatch(text):
        raise _fault(text, "not a kebab-case id", "Write it like switch-qm9700.")
    return text


def _known(text: str, info: ValidationInfo) -> str:
    key = str(info.field_name)
    known = {"unit": list(rules().units), "currency": rules().currencies, "grade": rules().grades}[key]
    if text not in known:
        raise _fault(text, f"unknown {key}", f"Known: {', '.join(known)}.", did_you_mean(text, known))
    return text


def _number(text: Any, info: ValidationInfo) -> float | None:
    if not text and info.field_name != "price":
        return None
    if not text:
        raise _fault(text, "no price", "Every row needs one; low and high may be empty.")
    if text.lower().lstrip("+-") in ("nan", "inf", "infinity"):
        raise _fault(text, "not a finite number")
    if not _NUMBER.fullmatch(text):
        remedy = number_remedy(text)
        message = "a comma in a number" if remedy and "," in text else "not a plain number"
        raise _fault(text, message, remedy or "Write digits and a decimal point; the currency has its own column.")
    if "unit" in info.data:
        bound = price_bound(info.data["unit"], info.data.get("currency", ""))
        if wrong := bound.fault(float(text)):
            raise _fault(text, wrong, "" if float(text) else "Leave the row out if there is no price.")
    price = info.data.get("price")
    if price is not None and info.field_name == "low" and float(text) > price:
        raise _fault(text, f"{float(text):,.10g} is above the price {price:,.10g}", "Needed: low <= price <= high.")
    if price is not None and info.field_name == "high" and float(text) < price:
        raise _fault(text, f"{float(text):,.10g} is below the price {price:,.10g}", "Needed: low <= price <= high.")
    return float(text)


class Undated(Day):
    """The day on which a price was read whose own day nobody states."""


def _day(text: Any, info: ValidationInfo) -> Day | None:
    if text == UNDATED and info.field_name == "date":
        return Undated(1, 1, 1)
    if not text and info.field_name == "read" and isinstance(info.data.get("date"), Undated):
        raise _fault(text, "an undated price needs the day on which its page was read", "Fill in the column read.")
    if not text and info.field_name in ("expiry", "read"):
        return None
    try:
        day = date.fromisoformat(text) if _DATE.fullmatch(text) else None
    except ValueError:
        day = None
    if day is None:
        raise _fault(text, "not a date", "Write it as YYYY-MM-DD.")
    if info.field_name == "expiry" and (begins := info.data.get("date")) and day < begins:
        raise _fault(text, f"expires before its own date {begins}")
    return day


def _source(text: str) -> str:
    if problem := source_fault(text):
        raise _fault(text, problem, "Name who said the price and where it can be read.")
    return text


def _fault(text: str, message: str, remedy: str = "", suggestion: str = "") -> PydanticCustomError:
    return refusal(Fault(message, (), remedy, suggestion, shown=clean_text(text)[:60]))


def _choice(text: str, info: ValidationInfo) -> str:
    known = _CHOICES[str(info.field_name)]
    if text in ("", _UNKNOWN):
        return ""
    if text not in known:
        raise _fault(text, f"unknown {info.field_name}", f"Known: {', '.join((*known, _UNKNOWN))}.")
    return _of_a_rent(text, info)


def _product(text: str, info: ValidationInfo) -> str:
    if text in ("", _UNKNOWN):
        return ""
    if text not in _PRODUCTS and not _TERM.fullmatch(text):
        term = text.startswith(RESERVED)
        raise _fault(
            text,
            "unknown term" if term else "unknown product",
            "Write the months as in reserved-12m, or reserved alone." if term
            else f"Known: {', '.join((*_PRODUCTS, 'reserved-12m', _UNKNOWN))}.",
            "" if term else did_you_mean(text, _PRODUCTS),
        )  # fmt: skip
    item = info.data.get("item", "gpu-hour-h100-seller")
    named = product_named(item)
    if text != named:
        own = item.removesuffix(f"-{named}") + ("" if text == ON_DEMAND else f"-{text}")
        message = f"mixed products: by its ending {item} holds {named} prices"
        raise _fault(text, message, f"Give each product an item of its own, here {own}.")
    return _of_a_rent(text, info)


def _of_a_rent(text: str, info: ValidationInfo) -> str:
    unit = info.data.get("unit")
    if unit is not None and unit not in RENT_UNITS:
        raise _fault(text, f"only a rent says this, and the unit is {unit}", f"Known: {', '.join(RENT_UNITS)}.")
    return text


def term_months(item: str) -> int | None:
    """The months of the term that an item of rent is a price for; None where it names none."""
    found = _TERM.fullmatch(product_named(item))
    return int(found.group(1)) if found else None


def product_named(item: str) -> str:
    """The product that the ending of an item of rent names: on demand without one."""
    found = _ENDING.search(item)
    return found.group(1) if found else ON_DEMAND


_Known = Annotated[str, AfterValidator(_known)]
_Cell = BeforeValidator(_number)
_DayCell = BeforeValidator(_day)


@dataclass(frozen=True)
class PriceRow:
    """One dated price as it stands in a CSV file; `file` and `line` say where, for messages only."""

    __pydantic_config__ = CLOSED
    item: Annotated[str, AfterValidator(_item)]
    unit: _Known
    currency: _Known
    price: Annotated[float, _Cell]
    low: Annotated[float | None, _Cell]
    high: Annotated[float | None, _Cell]
    date: Annotated[Day, PlainValidator(_day)]
    expiry: Annotated[Day | None, _DayCell]
    source: Annotated[str, AfterValidator(_source)]
    grade: _Known
    product: Annotated[str, AfterValidator(_product)] = ""
    sold_by: Annotated[str, AfterValidator(_choice)] = ""
    network: Annotated[str, AfterValidator(_choice)] = ""
    read: Annotated[Day | None, _DayCell] = None
    file: Unwritten[str] = ""
    line: Unwritten[int] = 0

    @property
    def expires(self) -> Day:
        """Last day on which the price counts as fresh: its own expiry, else its unit's shelf life."""
        life = timedelta(days=shelf_life_days(self.unit))
        return self.expiry or (self.date + life if self.date < Day.max - life else Day.max)

    def __post_init__(self) -> None:
        """An undated price is known from the day on which its page was read."""
        if self.undated and self.read is not None:
            object.__setattr__(self, "date", Undated(self.read.year, self.read.month, self.read.day))

    @property
    def undated(self) -> bool:
        """Whether nobody states the day of the price; `date` is then that on which its page was read."""
        return isinstance(self.date, Undated)

    @property
    def known_from(self) -> Day:
        """The first day on which the row is there for a memo: of its price, or when its page was read if that is later."""
        return max(self.date, self.read or self.date)

    @property
    def labelled(self) -> bool:
        """Whether something says of which product the price is: its column, or an ending of its item."""
        return bool(self.product) or product_named(self.item) != ON_DEMAND

    @property
    def publisher(self) -> str:
        """Who published the price: the owner or host of the first address in its source, else how the source begins."""
        found = _ADDRESS.search(self.source)
        if not found:
            return re.split(r"[,;:(]", self.source)[0].strip().casefold()
        host, _, path = found.group().casefold().removeprefix("www.").partition("/")
        return f"{_CODE_HOSTS[host]}/{path.partition('/')[0]}" if host in _CODE_HOSTS else host

    def cells(self) -> tuple[str, ...]:
        """The row as CSV cells, in the order of `ALL_COLUMNS`."""
        numbers = [f"{v:.10g}" if v is not None else "" for v in (self.price, self.low, self.high)]
        expiry, read = (d.isoformat() if d else "" for d in (self.expiry, self.read))
        day = UNDATED if self.undated else self.date.isoformat()
        beside = (self.product, self.sold_by, self.network, read)
        return (self.item, self.unit, *numbers, self.currency, day, expiry, self.source, self.grade, *beside)


def rules() -> PriceRules:
    """The rules file `data/price_rules.yaml`."""
    return shipped("price_rules", PriceRules)


def shelf_life_days(unit: str) -> int:
    """Days a price of this unit stays fresh when its row names no expiry."""
    return rules().units[unit].shelf_life_days


@lru_cache(maxsize=4096)
def spread_factor(item: str, grade: str) -> float:
    """The factor by which a price of this item and grade is ranged, both ways: that of its class, else 1."""
    for ranged in rules().spread if grade in rules().spread_grades else ():
        for pattern in ranged.items:
            if fnmatchcase(item, pattern):
                return ranged.factor
    return 1.0


def grade_rank(grade: str) -> int:
    """0 for the strongest grade."""
    return rules().grades.index(grade)


def parse_row(cells: Mapping[str, str], file: str = "", line: int = 0) -> PriceRow:
    """Read one CSV row; raises `InputError` naming every fault in it, with file and line."""
    row, faults = judged_row({name: cells.get(name) or "" for name in ALL_COLUMNS}, file, line, PriceRow)
    if row is None:
        raise InputError(faults)
    return row


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
    listed = row.unit in RENT_UNITS and row.grade in rules().listed_grades
    if listed and not row.labelled and ratio < rules().spot_below and row.date >= last.date:
        message = f"{row.price:g} {row.currency} is {ratio:.2g} of the last good price {last.price:g} of {last.date}"
        return "spot", f"{message}, and nothing says that it is not a spot price"
    if max(ratio, 1 / ratio) < rules().hold_at_ratio * (1 - 1e-9):
        return None
    size = f"{ratio:.3g} times" if ratio > 1 else f"1/{1 / ratio:.3g} of"
    message = f"{row.price:g} {row.currency} is {size} the last good price {last.price:g} of {last.date}"
    reason = slip(ratio)
    return "jump", f"{message}: looks like {reason}" if reason else message


def spans(row: PriceRow, last: PriceRow) -> bool:
    """Whether a price that jumped may be right all the same: within a third and three times, and no slip with a name."""
    ratio = row.price / last.price if last.price > 0 else math.inf
    within = rules().span_within_ratio * (1 + 1e-9)
    return 1 / within <= ratio <= within and not slip(ratio)


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
