"""Which figures the memo marks: those that rest on prices out of date, and those that mostly rest on what it assumes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fabricreport import formats
from fabricreport.formats import currency_of
from fabricreport.provenance import aged, drawn_exactly, inputs_of, mean_of, plain
from fabricreport.vocabulary import Grade

AGED = 0.05
"""The part of an amount that prices out of date must make up for it to be marked, and a part must be for its own mark to count."""
MOSTLY = 0.5
"""The part of a range that assumptions must carry for a figure to be one that is assumed."""
DAGGER, RING = "†", "○"
"""At an amount that rests on prices out of date; at what is mostly assumed."""
_DRAWN = ("price:", "evidence:", "contested:", "param:")
"""Kinds of inputs that have draws."""


class InputRecords(Protocol):
    """What tells the record (source, date, grade ...) of one input id."""

    def record(self, input_id: str) -> Mapping[str, Any]:
        """The record of `price:…`, `evidence:…`, `param:…` as the document contract lists it."""
        ...


class DrawnInputs(InputRecords, Protocol):
    """What a mark is found by: records of inputs, and their draws."""

    def draw(self, input_id: str) -> Any:
        """The draws of an input."""
        ...


@dataclass(frozen=True)
class Part:
    """An amount that a total is the sum of, with the parts that it is the sum of itself."""

    value: Any
    parts: tuple[Part, ...] = ()


def dated(records: DrawnInputs, value: Any, ids: Iterable[str], unit: str, parts: Iterable[Part] = ()) -> bool:
    """Whether an amount of money, and nothing else, is marked as resting on prices out of date: they make up `AGED` of it or more.

    So is a total of which one of the `parts` is marked and makes up as much: no total is cleaner than such a part. Of an amount
    that a search has found it cannot be told: it is marked where any input it rests on (`ids`) is out of date.
    """
    return bool(currency_of(unit, "USD")) and _dated(records, value, ids, parts)


def _dated(records: DrawnInputs, value: Any, ids: Iterable[str], parts: Iterable[Part]) -> bool:
    made_up = aged(value)
    if any(records.record(i).get("stale") for i in ids) if made_up is None else made_up >= AGED:
        return True
    heavy = (part for part in parts if abs(mean_of(part.value)) >= AGED * abs(mean_of(value)))
    return any(_dated(records, part.value, inputs_of(part.value), part.parts) for part in heavy)


def assumed(records: DrawnInputs, value: Any, ids: Iterable[str]) -> bool:
    """Whether a figure is one that is assumed: assumptions carry `MOSTLY` of what single inputs carry of its range, or more.

    A figure without a range is where it rests on nothing else.
    """
    draws = np.atleast_1d(plain(value))
    if not drawn_exactly(draws):
        known = [i for i in inputs_of(value) or ids if i.startswith(_DRAWN) and records.record(i)["value"] is not None]
        carried = {i: _carried(draws, plain(records.draw(i))) for i in known}
        ours = sum(part for i, part in carried.items() if _assumption(records, i))
        return ours > 0 and ours >= MOSTLY * sum(carried.values())
    behind = [i for i in ids if not i.startswith("param:")] or list(ids)
    return bool(behind) and all(_assumption(records, i) for i in behind)


def _assumption(records: DrawnInputs, input_id: str) -> bool:
    return bool(records.record(input_id)["grade"] == Grade.ASSUMPTION)


def _carried(values: NDArray[np.float64], cause: NDArray[np.float64]) -> float:
    """The part of the variance of values that lies on a line through one cause, less what chance alone gives."""
    if cause.shape != values.shape or drawn_exactly(cause):
        return 0.0
    moving, centred = cause - cause.mean(), values - values.mean()
    part = float(moving @ centred) ** 2 / float((moving @ moving) * (centred @ centred))
    return max(part - 1 / values.size, 0.0)


def keys(*, stale: bool, assumed: bool) -> tuple[str, ...]:
    """What the marks at numbers mean, as the key under page one tells it: a text for each that the document bears."""
    aged, mostly = (formats.write(part, "share") for part in (AGED, MOSTLY))
    dagger = (
        f"A dagger ({DAGGER}): prices expired, or about to within two weeks, may be {aged} or more of the money, "
        "or of a part as large; headings and drawings bear none."
    )
    ring = f"A ring ({RING}), at figures of page one and heads of rows that are so throughout, or an open bar: we assume {mostly} or more of the range."
    return (*((dagger,) if stale else ()), *((ring,) if assumed else ()))
