"""Kinds of field the params share: a number with its unit, one line of text, an ISO date, a list, a path, and the base model."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any

from annotated_types import Ge, GroupedMetadata, Le
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, StringConstraints
from pydantic_core import PydanticCustomError

from fabricreport.bounds import Bound, bound_of, whole
from fabricreport.errors import InputError
from fabricreport.hostile_text import clean_text

_ISO = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
RESERVED_NAMES = {"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))}


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

Items = BeforeValidator(_items)
"""Lets a strict tuple be written as a YAML list."""

RelativePath = Annotated[str, StringConstraints(min_length=1, max_length=255), AfterValidator(_relative)]
"""A POSIX path below the folder of the params file, for example `logs/acme.txt`."""
