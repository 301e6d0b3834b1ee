"""Kinds of field that every schema shares: numbers with their unit, text, days, ids, words of a list, paths, and how one is refused.

A schema is a frozen dataclass with `__pydantic_config__ = CLOSED` (or a `Section` of the params). Each field's type says
what may stand there; a rule that joins several fields is a `model_validator` that raises `refusal(Fault(...), ...)`.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, NamedTuple, TypeVar, get_args

from annotated_types import Ge, GroupedMetadata, Le
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    GetCoreSchemaHandler,
    StringConstraints,
    ValidationInfo,
    WrapValidator,
)
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from fabricreport.base.bounds import Bound, bound_of, whole
from fabricreport.base.errors import InputError
from fabricreport.base.locations import KeyPath, did_you_mean
from fabricreport.base.text import clean_text

_ISO = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
RESERVED_NAMES = {"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))}


CLOSED = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)
"""The configuration of a schema that is a dataclass: a key that is not named is an error, and nothing is converted."""
FAULTS = "faults"
"""The type of the error that carries faults of ours."""
UNKNOWN = "extra_forbidden"
"""The type of the error of a key that no file may hold."""


class Fault(NamedTuple):
    """What is wrong, where below the value that was checked, and what to write; the value shown is the one found there.

    `shown`: what is shown instead, where that value is a mapping or a cell's text. Without a remedy, the description of the
    field is told.
    """

    message: str
    at: KeyPath = ()
    remedy: str = ""
    suggestion: str = ""
    shown: str | None = None


def refusal(*faults: Fault) -> PydanticCustomError:
    """The error to raise in a validator for one or more faults."""
    return PydanticCustomError(FAULTS, "{faults}", {"faults": faults})


class Section(BaseModel):
    """Strict, frozen, and closed: a key that is not named here is an error."""

    model_config = ConfigDict(
        strict=True, frozen=True, extra="forbid", validate_by_name=True, validate_by_alias=True, allow_inf_nan=False
    )


@dataclass(frozen=True)
class Unit(GroupedMetadata):
    """Metadata of a number: its unit, and the unit's bounds, narrowed to `low` and `high` where this key has less room.

    `zero`: 0 is allowed although it is below the least figure. `listed`: the type lists the values, only the unit is told.
    """

    unit: str
    low: float | None = None
    high: float | None = None
    zero: bool = False
    listed: bool = False

    @property
    def bound(self) -> Bound:
        """What this key may hold."""
        return bound_of(self.unit).within(self.low, self.high, self.zero)

    def __iter__(self) -> Iterator[object]:
        bound = self.bound
        if not self.listed:
            yield Ge(whole(bound.least))
            yield Le(whole(bound.high))
        if bound.zero:
            yield AfterValidator(self._refuse)

    def _refuse(self, value: float | None) -> float | None:
        if value is not None and (fault := self.bound.fault(value)):
            raise PydanticCustomError("text", "{reason}", {"reason": fault})
        return value


def context(info: ValidationInfo) -> Mapping[str, Any]:
    """What a value must agree with beyond its file, as it was handed to the reader."""
    return info.context or {}


def within(unit: str, low: float | None = None, high: float | None = None, why: str = "") -> AfterValidator:
    """Metadata of a book's number: the bound of its unit, narrowed to `low` and `high`; `why` says why so."""
    bound = bound_of(unit).within(low, high, False if low else None)
    if why:
        bound = replace(bound, why=why)

    def kept(value: float | None) -> float | None:
        if value is not None and (fault := bound.fault(value)):
            raise refusal(Fault(fault))
        return value

    return AfterValidator(kept)


def measured(unit: str) -> AfterValidator:
    """Metadata of a number above 0 that somebody measured, within the bounds of its unit."""

    def kept(value: float | None) -> float | None:
        fault = "" if value is None else "must be above 0" if value == 0 else bound_of(unit).fault(value)
        if fault:
            raise refusal(Fault(fault, remedy=f"The unit is {unit}."))
        return value

    return AfterValidator(kept)


def written(pattern: str, what: str, remedy: str = "") -> AfterValidator:
    """Metadata of a text that is written in one way: the pattern, what it is, and the remedy."""

    def kept(found: str | None) -> str | None:
        if found is not None and not re.fullmatch(pattern, found):
            raise refusal(Fault(f"must be {what}", remedy=remedy))
        return found

    return AfterValidator(kept)


def one_of(known: Callable[[], Collection[Any]], what: str = "one of the values allowed here") -> AfterValidator:
    """Metadata of a value out of those that `known` tells when it is checked; `what` names what is listed."""

    def kept(value: Any) -> Any:
        if value is not None and value not in known():
            raise refusal(unknown_word(value, known(), what))
        return value

    return AfterValidator(kept)


def unknown_word(word: object, known: Collection[Any], what: str, at: KeyPath = ()) -> Fault:
    """The fault of a word that is none of those known, with the nearest of them."""
    words = [str(k) for k in known]
    remedy = f"Write one of {', '.join(words)}." if words else ""
    return Fault(f"is not {what}", at, remedy, did_you_mean(word, words))


def text(
    longest: int, *, one_line: bool = True, empty: bool = False, remedy: str = "Write it, or leave the key out."
) -> AfterValidator:
    """Metadata of a text of at most so many characters that shows as it is typed.

    `empty`: it may say nothing; `remedy`: what to do where it says nothing and may not.
    """

    def kept(found: str | None) -> str | None:
        if found is None:
            return found
        if not found.strip() and not empty:
            raise refusal(Fault("is empty", remedy=remedy))
        try:
            return clean_text(found, max_chars=longest, one_line=one_line)
        except InputError as error:
            raise refusal(*(Fault(p.message, remedy=p.remedy) for p in error.problems)) from None

    return AfterValidator(kept)


def _line(text: str) -> str:
    if not text.strip():
        raise PydanticCustomError("text", "is empty")
    try:
        return clean_text(text.strip(), max_chars=1000, one_line=True)
    except InputError as error:
        reason = error.problems[0]
        raise PydanticCustomError("text", "{reason}", {"reason": reason.message}) from None


def _date(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        if _ISO.fullmatch(value):
            return dt.date.fromisoformat(value)
    except ValueError:
        pass
    raise PydanticCustomError("iso_date", "is not a date of the calendar")


def _count(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


_MOST_YEARS = 5
"""An answer or a quote that is older than the memo by more than this speaks of other equipment, or bears a slip."""
_FIRST_YEAR = 2020
"""The oldest where no memo is known."""
MEND_YEAR = "Mend the year, or ask anew."


def too_old(day: dt.date, as_of: dt.date | None) -> str | None:
    """What is wrong with the day of an answer or a quote that lies years before the memo; None where it does not."""
    if as_of is None:
        return f"is before {_FIRST_YEAR}" if day.year < _FIRST_YEAR else None
    return f"is over {_MOST_YEARS} years before the memo, of {as_of}" if day.year < as_of.year - _MOST_YEARS else None


def _answered(value: Any, info: ValidationInfo) -> str:
    day = _date(value)
    if not isinstance(day, dt.date):
        raise PydanticCustomError("iso_date", "is not a date of the calendar")
    as_of = context(info).get("as_of")
    if as_of is not None and day > as_of:
        raise refusal(Fault(f"is after the memo's date, {as_of}", remedy="Mend it, or date the memo later."))
    if (fault := too_old(day, as_of)) is not None:
        raise refusal(Fault(fault, remedy=MEND_YEAR))
    return day.isoformat()


def _items(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _relative(text: str) -> str:
    parts = re.split(r"[/\\]", text)
    if text.startswith(("/", "\\", "~")) or re.match(r"[A-Za-z]:", text) or "://" in text:
        raise PydanticCustomError("path", "must be a path relative to the folder of the params file")
    if ".." in parts or "\\" in text:
        raise PydanticCustomError("path", "may not leave the folder of the params file or hold a backslash")
    if any(part.split(".")[0].lower() in RESERVED_NAMES for part in parts) or not text.strip("./"):
        raise PydanticCustomError("path", "is a name that no ordinary file has")
    return text


Line = Annotated[str, StringConstraints(min_length=1, max_length=120), AfterValidator(_line)]
"""One line of clean text, 1 to 120 characters, in NFC."""

Sentence = Annotated[str, StringConstraints(min_length=1, max_length=500), AfterValidator(_line)]
"""One line of clean text, up to 500 characters."""

IsoDate = Annotated[dt.date, BeforeValidator(_date)]
"""A date written YYYY-MM-DD."""

AnsweredDay = Annotated[str, BeforeValidator(_answered)]
"""The day on which somebody answered, YYYY-MM-DD: none after `as_of` of the context, the memo's date, nor
years before it."""

Items = BeforeValidator(_items)
"""Lets a strict tuple be written as a YAML list."""

Count = Annotated[int, BeforeValidator(_count)]
"""A whole number, also one that was written or typed into a cell as 64.0."""

RelativePath = Annotated[str, StringConstraints(min_length=1, max_length=255), AfterValidator(_relative)]
"""A POSIX path below the folder of the params file, for example `logs/acme.txt`."""

_NAME = r"[a-z0-9]+(-[a-z0-9]+)*"
_ITEM = r"[a-z0-9]+([-.][a-z0-9]+)*"

Id = Annotated[str, written(_NAME, "lower-case words joined by hyphens", "For example switch-qm9700.")]
"""An id of a book."""

EvidenceId = Annotated[str, written(rf"evidence:{_ITEM}", "a reference to an evidence entry", "Write evidence:<id>.")]
"""`evidence:<id>`, the entry that states a figure."""

PriceOrEvidenceId = Annotated[
    str,
    written(
        rf"(price|evidence):{_ITEM}",
        "a reference to a price or an evidence entry",
        "Write price:<item> or evidence:<id>.",
    ),
]
"""`price:<item>` or `evidence:<id>`."""

Held = TypeVar("Held")


class _Unwritten:
    """Refuses whatever a file says as it refuses any key that it does not know; a default is not validated."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self._refuse)

    def _refuse(self, found: Any) -> Any:
        raise PydanticCustomError(UNKNOWN, "is no key of a file")


UNWRITTEN = _Unwritten()
Unwritten = Annotated[Held, UNWRITTEN]
"""A field that no file may hold: whoever reads the file fills it in."""

NULL_IS_NONE = WrapValidator(lambda found, check: "" if found is None else check(found))
"""Metadata of a text that is written `null` where there is none, and is held as ''."""


class Keyed:
    """Metadata of a mapping whose values stand in the file as a list, each with its key in the field of this name.

    `row`: the schema of an item where it is not the value itself, which `made` makes of it.
    """

    def __init__(self, name: str, row: Any = None, made: Callable[[Any], Any] = lambda row: row) -> None:
        self.name, self.row, self.made = name, row, made

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        row = self.row or get_args(source)[1]
        rows = handler.generate_schema(tuple[row, ...])  # type: ignore[valid-type]  # known when it runs
        return core_schema.no_info_after_validator_function(
            lambda found: {getattr(one, self.name): self.made(one) for one in found}, rows
        )
