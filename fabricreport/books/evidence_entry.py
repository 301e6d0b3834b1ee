"""One evidence entry: what a file says of a figure or a fact, and where it comes from."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date as Date
from functools import lru_cache
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BeforeValidator, Field, PlainValidator, model_validator

from fabricreport.books.fields import CLOSED, Fault, Id, Unwritten, one_of, refusal, written
from fabricreport.books.units import unit_problem
from fabricreport.bounds import bound_of
from fabricreport.uncertain import SHAPES, Replaced, Uncertain
from fabricreport.vocabulary import Grade

CLIENTS_WORD = Grade.CONTRACT
"""The grade of a figure that the client put in place of the library's."""
UNDATED = "undated"
GRADES = tuple(Grade)
_LEFT_OUT_IF_EMPTY = ("contested", "base", "group", "derived_from", "searched", "file", "line")
_DAY = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?")
_SEEN = 'A (read in the primary), B (in a text that quotes it), D (derived) or "-" (an assumption).'


@lru_cache(maxsize=4096)
def _day(text: str) -> Date | None:
    """The first day of a year or month, or the day; None for what is none."""
    match = _DAY.fullmatch(text)
    if match is None:
        return None
    year, month, day = (int(part or 1) for part in match.groups())
    try:
        return Date(year, month, day)
    except ValueError:
        return None


def _filled(text: str) -> str:
    if not text.strip():
        raise refusal(Fault("is empty"))
    return text


def _unit(unit: str) -> str:
    if wrong := unit_problem(unit):
        raise refusal(Fault(wrong[0], suggestion=wrong[1]))
    return unit


def _dated(text: str) -> str:
    if text != UNDATED and _day(text) is None:
        remedy = f"Write YYYY, YYYY-MM or YYYY-MM-DD. If the source gives none: {UNDATED}."
        raise refusal(Fault("is not a date", remedy=remedy))
    return text


def _read(text: str) -> str:
    if _day(text) is None or len(text) != len("YYYY-MM-DD"):
        raise refusal(Fault("is not a day", remedy="Write YYYY-MM-DD."))
    return text


def _value(found: Any) -> Uncertain | str:
    """A number or a range that rises; words, which the unit has to allow."""
    if isinstance(found, str):
        return found
    if isinstance(found, dict) and set(found) not in map(set, SHAPES.values()):
        raise refusal(
            Fault(
                f"has the wrong keys: {', '.join(found)}", remedy="Write {low, high}, {low, mode, high} or {p5, p95}."
            )
        )
    numbers = found if isinstance(found, dict) else {"": found}
    for key, number in numbers.items():
        if isinstance(number, bool) or not isinstance(number, int | float) or not math.isfinite(number):
            raise refusal(Fault("must be a finite number", (key,) if key else ()))
    rising = [numbers[key] for key in ("low", "p5", "mode", "high", "p95") if key in numbers]
    if rising != sorted(rising):
        raise refusal(Fault(f"must rise from low to high, and is {rising}"))
    return Uncertain.of(found)


Filled = Annotated[str, AfterValidator(_filled)]


@dataclass(frozen=True, kw_only=True)
class EvidenceEntry:
    """One figure or fact and where it comes from.

    `value` is a figure or, with the unit `text`, a fact in words. `date` is the figure's own date or "undated"; `read` is
    the day the source was read. `contested` names the quantity on which sources disagree, `base` what this source's
    figure is measured on; `derived_from` lists the entries it was computed from; `searched` says where a better figure was
    looked for. `replaced` tells whose figure stands here in place of the library's.
    """

    __pydantic_config__ = CLOSED
    id: Annotated[Id, Field(description="Lower-case words joined by hyphens.")]
    what: Annotated[Filled, Field(description="The figure in one line of words.")]
    value: Annotated[
        Uncertain | str,
        PlainValidator(_value),
        Field(description="A number, {low, high}, {low, mode, high}, {p5, p95}, or words with `unit: text`."),
    ]
    unit: Annotated[str, AfterValidator(_unit), Field(description="Such as us, gbits/s, w, share, usd/gpu-hour.")]
    date: Annotated[
        str,
        AfterValidator(_dated),
        BeforeValidator(lambda found: str(found) if type(found) is int else found),  # a year is typed without quotes
        Field(description=f"The figure's own date, YYYY, YYYY-MM or YYYY-MM-DD, or {UNDATED}."),
    ]
    source: Annotated[Filled, Field(description="The title of the document.")]
    publisher: str = ""
    address: str = ""
    read: Annotated[str, AfterValidator(_read), Field(description="The day you read it, YYYY-MM-DD.")]
    grade: Annotated[str, one_of(lambda: GRADES, "a grade"), Field(description=f"One of {', '.join(GRADES)}.")]
    seen: Annotated[str, written("[ABD-]", "A, B, D or -"), Field(description=_SEEN)]
    interest: str = ""
    use: Annotated[Filled, Field(description="What the memo takes it for.")]
    contested: Id = ""
    base: str = ""
    group: Id = ""
    derived_from: Annotated[tuple[str, ...], Field(description="Ids of entries.")] = ()
    searched: Annotated[str, Field(description="The day and where a better figure was looked for, and not found.")] = ""
    file: Unwritten[str] = ""
    line: Unwritten[int] = 0
    replaced: Unwritten[Replaced | None] = None

    @model_validator(mode="after")
    def agreeing(self) -> Self:
        """Grade, publisher and how it was seen agree; so do its days, and its value and unit."""
        if faults := [*self._faults_of_source(), *self._faults_of_value()]:
            raise refusal(*faults)
        return self

    def _faults_of_source(self) -> Iterator[Fault]:
        ours, day = self.grade == Grade.ASSUMPTION, None if self.date == UNDATED else _day(self.date)
        if (self.seen == "-") != ours:
            remedy = '`seen: "-"` belongs to `grade: assumption`, and only there.'
            yield Fault("and grade disagree", ("seen",), remedy)
        if not ours and not self.publisher.strip():
            yield Fault("is missing", ("publisher",), "Add `publisher:` who published it.")
        if self.contested and not self.base:
            yield Fault("a contested figure must say what it is measured on", ("base",), "Add `base:`.")
        if day and (read := _day(self.read)) and day > read:
            remedy = "Write YYYY, YYYY-MM or YYYY-MM-DD."
            yield Fault(f"is after the day it was read, {self.read}", ("date",), remedy)

    def _faults_of_value(self) -> Iterator[Fault]:
        if self.unit == "text":
            if not isinstance(self.value, str) or not self.value.strip():
                yield Fault("must be words, as its unit is text", ("value",), "Write it in words, or mend `unit`.")
        elif isinstance(self.value, str):
            remedy = "Write a number, or `unit: text` for a fact in words."
            yield Fault(f"must be a number in {self.unit}", ("value",), remedy)
        else:
            remedy = "For a signed difference use `unit: relative`, for a multiple `x`." if self.unit == "share" else ""
            told, bound = self.value.written(), bound_of(self.unit)
            for key, number in told.items() if isinstance(told, dict) else [("", told)]:
                if wrong := bound.fault(number):
                    yield Fault(wrong, ("value", key) if key else ("value",), remedy)

    @property
    def figure(self) -> Uncertain:
        """The figure; `TypeError` for a fact in words."""
        if isinstance(self.value, str):
            raise TypeError(f"evidence {self.id} is text: it has no number to draw")
        return self.value

    @property
    def kind(self) -> str:
        """The form of the value: number, text, range, pert or interval."""
        return "text" if isinstance(self.value, str) else self.value.kind

    @property
    def low(self) -> float:
        """Lower end: the number itself, `low` or `p5`; not a number for a text."""
        return math.nan if isinstance(self.value, str) else self.value.low

    @property
    def high(self) -> float:
        """Upper end: the number itself, `high` or `p95`; not a number for a text."""
        return math.nan if isinstance(self.value, str) else self.value.high

    @property
    def mid(self) -> float:
        """The number, the mode of a PERT, the middle of a range, the median of a lognormal (normal) interval."""
        return math.nan if isinstance(self.value, str) else self.value.central

    def with_figure(self, value: Uncertain, replaced: Replaced | None = None) -> EvidenceEntry:
        """The entry with another figure in force; one that restates the library's keeps its grade."""
        if replaced is None or replaced.restates:
            return dataclasses.replace(self, value=value, replaced=replaced)
        grade, date = replaced.grade or CLIENTS_WORD, replaced.date or self.date
        return dataclasses.replace(self, value=value, replaced=replaced, grade=grade, date=date)

    def as_dict(self) -> dict[str, Any]:
        """The entry for `--json`: the file's own keys, without empty optional ones."""
        facts = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        value = self.value if isinstance(self.value, str) else self.value.written()
        facts |= {"derived_from": list(self.derived_from), "value": value}
        facts.pop("replaced")
        return {k: v for k, v in facts.items() if k not in _LEFT_OUT_IF_EMPTY or v}
