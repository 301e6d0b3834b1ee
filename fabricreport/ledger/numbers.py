"""The ledger's entry: one number the memo prints, with everything needed to challenge it, and the marks that it may bear."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fabricreport.base import formats
from fabricreport.base.formats import currency_of
from fabricreport.base.provenance import aged, drawn_exactly, inputs_of, mean_of, plain
from fabricreport.base.vocabulary import Grade
from fabricreport.ledger.bases import Base, derived

AGED = 0.05
"""The part of an amount that prices out of date must make up for it to be marked, and a part must be for its own mark to count."""
MOSTLY = 0.5
"""The part of a range that assumptions must carry for a figure to be one that is assumed."""
DAGGER, RING = "†", "○"
"""At an amount that rests on prices out of date; at what is mostly assumed."""
INPUT_KINDS = ("price:", "evidence:", "contested:", "param:")
"""How the id of an input that has draws begins, by the book that it is of."""


class InputRecords(Protocol):
    """What tells the record (source, date, grade ...) of one input id."""

    def record(self, input_id: str) -> Mapping[str, Any]:
        """The record of `price:…`, `evidence:…`, `param:…` as the document contract lists it."""
        ...


class DrawnInputs(InputRecords, Protocol):
    """What a mark is found by: records of inputs, their draws, and which are out of date."""

    @property
    def stale_ids(self) -> frozenset[str]:
        """The ids of inputs that are out of date."""
        ...

    def value(self, input_id: str) -> Any:
        """The draws of an input, or the number that all of them are."""
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
    if not records.stale_ids.isdisjoint(ids) if made_up is None else made_up >= AGED:
        return True
    heavy = (part for part in parts if abs(mean_of(part.value)) >= AGED * abs(mean_of(value)))
    return any(_dated(records, part.value, inputs_of(part.value), part.parts) for part in heavy)


def assumed(records: DrawnInputs, value: Any, ids: Iterable[str]) -> bool:
    """Whether a figure is one that is assumed: assumptions carry `MOSTLY` of what single inputs carry of its range, or more.

    A figure without a range is where it rests on nothing else.
    """
    draws = np.atleast_1d(plain(value))
    if not drawn_exactly(draws):
        known = {i: records.record(i) for i in inputs_of(value) or ids if i.startswith(INPUT_KINDS)}
        numbers = {i: r["grade"] for i, r in known.items() if r["value"] is not None}
        carried = [(grade, _carried(draws, plain(records.value(i)))) for i, grade in numbers.items()]
        ours = sum(part for grade, part in carried if grade == Grade.ASSUMPTION)
        return ours > 0 and ours >= MOSTLY * sum(part for _, part in carried)
    behind = [i for i in ids if not i.startswith("param:")] or list(ids)
    return bool(behind) and all(records.record(i)["grade"] == Grade.ASSUMPTION for i in behind)


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


Record = dict[str, Any]
"""A number or an input as `ledger.json` keeps it: JSON values by name."""

GRADES = tuple(Grade)
"""From the strongest footing to the weakest."""

SPREAD_DIGITS = 3
"""Significant digits of the ends of a range, at most."""
VALUE_DIGITS = 9
"""Significant digits kept of a stored value: more than is printed, fewer than a CPU's instruction set can disturb."""


CLIENTS_WORD, COUNTED, UNFOUNDED = Grade.CONTRACT, Grade.MEASURED, Grade.ASSUMPTION
"""Grades of numbers that no book vouches for: made of params only; counted by this package; made of nothing at all."""


def weakest(grades: Iterable[str], otherwise: str) -> str:
    """The weakest of the grades, `otherwise` if there are none."""
    ranks = [GRADES.index(Grade(g)) for g in grades if g in GRADES]
    return str(GRADES[max(ranks)]) if ranks else otherwise


def in_currency(unit: str, currency: str) -> dict[str, str]:
    """`currency`, for an entry of money in another than US dollars; nothing for any other entry."""
    return {"currency": currency} if formats.unit_in(unit, currency) != unit else {}


@dataclass(frozen=True)
class Spread:
    """The P5, P50 and P95 of a number over the case's draws, in the number's unit."""

    p5: float
    p50: float
    p95: float


@dataclass(frozen=True)
class Number:
    """A number with its unit, its rule, the inputs it was made from, and how far they let it wander.

    `unit` writes any money as `usd` or `usd/<per>`; `currency` says which money that is. `central` is the statistic of the
    draws that is printed, empty where there are none. `compares` names two options, where the number tells them apart: above
    zero it is by how much, or in which share of the draws, the first has less of what its unit counts than the second. `base`
    is what it is a quantity of, and how; without one it follows from the rest.
    """

    id: str
    value: float
    unit: str
    label: str
    rule: str
    inputs: tuple[str, ...] = field(default=(), repr=False)
    sources: tuple[str, ...] = field(default=(), repr=False)
    grade: str = "contract"
    spread: Spread | None = field(default=None, repr=False)
    date: str = ""
    stale: bool = False
    assumed: bool = False
    digits: int = 3
    currency: str = "USD"
    central: str = ""
    compares: tuple[str, str] | None = None
    base: Base | None = field(default=None, repr=False)

    @property
    def based(self) -> Base:
        """What it is a quantity of, and how it is told."""
        return self.base or derived(self.label, self.unit, self.central, drawn=self.spread is not None)

    @property
    def text(self) -> str:
        """The central value as prose prints it."""
        return self._write(self.value)

    @property
    def sign(self) -> int:
        """1, 0 or -1: that of the central value as prose prints it."""
        return (self.value > 0) - (self.value < 0) if any(digit in "123456789" for digit in self.text) else 0

    @property
    def is_level(self) -> bool:
        """Whether it is written as nothing, alone or beside its range."""
        return not (self.sign and self._ends().kept(self.value))

    def show(self, style: str = "") -> str:
        """The number in one of the `STYLES`; '' is the central value."""
        if style == "":
            return self.text
        if style not in STYLES:
            raise ValueError(f"no style {style!r}: use {', '.join(STYLES[:-1])} or {STYLES[-1]}")
        return _SHOWN[style](self)

    def _abs(self) -> str:
        return self._write(abs(self.value))

    def _bare(self) -> str:
        hourly = self.unit.startswith("usd/")  # a rate reads as money does: 2.40, not 2.4
        return formats.money(self.value, self.digits, "") if hourly else formats.plain_number(self.value, self.digits)

    def _of_hundred(self) -> str:
        if self.unit != "share":
            raise ValueError(f"only a share is told of {formats.OF}, and {self.id} is in {self.unit}")
        return formats.of_hundred(self.value)

    def _ends(self, *, mirrored: bool = False) -> formats.Ends:
        """P5 and P95, of the number or of its opposite; twice the value where they are not known apart."""
        low, high = (self.spread.p5, self.spread.p95) if self.spread else (self.value, self.value)
        return formats.Ends(*((-high, -low) if mirrored else (low, high)), self.unit, self.digits, self.currency)

    def _range(self, *, unsigned: bool = False) -> str:
        ends = self._ends(mirrored=unsigned and self.value < 0)
        central = abs(self.value) if unsigned else self.value
        if ends.low == ends.high:
            return self._write(central)
        return f"{self._write(ends.kept(central))} ({formats.RANGE}: {ends.span})"

    def _write(self, value: float) -> str:
        return formats.write(value, self.unit, self.digits, self.currency)

    def _spread_text(self, spread: Spread) -> dict[str, str]:
        """The range no more exact than one is known, whatever the digits of the number itself; its ends as prose writes them."""
        digits = min(self.digits, SPREAD_DIGITS)
        low, high = replace(self, digits=digits)._ends().written
        return {"p5": low, "p50": formats.write(spread.p50, self.unit, digits, self.currency), "p95": high}

    def renamed(self, new_id: str, **changes: Any) -> Number:
        """The same number under another id; its base follows from what it is called there."""
        return replace(self, id=new_id, **{"base": None, **changes})

    def as_dict(self) -> Record:
        """The entry as `ledger.json` keeps it; its unit names the currency (`eur/day`)."""
        spread = self.spread and {k: formats.significant(v, VALUE_DIGITS) for k, v in vars(self.spread).items()}
        return {
            "id": self.id,
            "value": formats.significant(self.value, VALUE_DIGITS),
            "text": self.text,
            "unit": formats.unit_in(self.unit, self.currency),
            "label": self.label,
            "rule": self.rule,
            "inputs": list(self.inputs),
            "sources": list(self.sources),
            "grade": self.grade,
            "spread": spread,
            "spread_text": self.spread and self._spread_text(self.spread),
            "date": self.date,
            "stale": self.stale,
            "base": self.based.as_dict(),
            "assumed": self.assumed,
            **in_currency(self.unit, self.currency),
            **({"central": self.central} if self.central else {}),
            **({"compares": dict(zip(("less", "more"), self.compares, strict=True))} if self.compares else {}),
        }


_SHOWN: Mapping[str, Callable[[Number], str]] = {
    "range": Number._range,
    "spread": lambda number: number._ends().span,
    "low": lambda number: number._ends().written[0],
    "high": lambda number: number._ends().written[1],
    "sides": lambda number: number._ends().sides,
    "turned": lambda number: number._ends().turned,
    "abs": Number._abs,
    "absrange": lambda number: number._range(unsigned=True),
    "of100": Number._of_hundred,
    "bare": Number._bare,
}

STYLES = tuple(_SHOWN)
"""How a number may be shown: its value with the 90 % range, the range only, an end of it, the range in words (what is saved,
seen from what costs less where it is positive, and from the other), the value without sign, that with the range, a share of 100, without unit."""

FigureOf = Callable[[str], Number]
"""Gives a number of the case by its id: how tables and words ask for what they print."""


def _quantile(ordered: NDArray[np.float64], share: float) -> float:
    """What `np.quantile` gives for values in ascending order, to the bit and without sorting them for each share."""
    place = (ordered.size - 1) * share
    below = int(place)
    low, high = float(ordered[below]), float(ordered[min(below + 1, ordered.size - 1)])
    part = place - below
    return low + (high - low) * part if part < 0.5 else high - (high - low) * (1 - part)


def _median(ordered: NDArray[np.float64]) -> float:
    """What `np.median` gives for values in ascending order."""
    half = ordered.size // 2
    return float(ordered[half]) if ordered.size % 2 else float(ordered[half - 1] + ordered[half]) / 2


@dataclass(frozen=True)
class NumberMaker:
    """Makes numbers whose inputs, grade, date and staleness follow from the provenance of the arrays given."""

    records: DrawnInputs
    currency: str = "USD"

    def number(
        self,
        id: str,
        value: Any,
        unit: str,
        *,
        label: str,
        rule: str,
        inputs: Iterable[str] = (),
        sources: Iterable[str] = (),
        digits: int = 3,
        central: str = "p50",
        counted: bool = False,
        parts: Iterable[Part] = (),
    ) -> Number:
        """Turn a value (scalar, or draws along the first axis) into a ledger number.

        `parts` are what a total is the sum of: where one that makes up much of it is marked it is (see `dated`).

        `central` says which statistic of the draws is printed: `p50` or `mean`. Inputs named in `inputs`
        (params, mostly) are added to those the array itself carries; `sources` are entries the number tells
        something of (an age, a count) without depending on their value.

        A number with neither inputs nor sources is an assumption. `counted` says that it only counts or compares
        records this package ships (entries of the library, rows of a validation card), which anybody can count again.
        """
        array = np.atleast_1d(plain(value))
        if array.ndim != 1 or not np.all(np.isfinite(array)):
            raise ValueError(f"number {id}: needs a finite scalar or a vector of draws, got shape {array.shape}")
        spread, middle = None, float(np.mean(array))
        if array.size > 1:
            ordered = np.sort(array)
            p5, p50, p95 = (_quantile(ordered, share) for share in (0.05, 0.5, 0.95))
            spread = Spread(p5, p50, p95) if p95 > p5 else None
            if central == "p50":
                middle = _median(ordered)
        ids, named = tuple(sorted(inputs_of(value) | set(inputs))), set(sources)
        found = {i: self.records.record(i) for i in sorted({*ids, *named})}
        behind = {i: r for i, r in found.items() if r["kind"] != "param"}
        dates = [str(r["date"]) for r in behind.values() if r.get("date")]
        return Number(
            id=id,
            value=middle,
            unit=unit,
            label=label,
            rule=rule,
            inputs=ids,
            sources=tuple(sorted({*behind, *named})),
            grade=weakest(
                (str(r["grade"]) for r in (behind or found).values()),
                otherwise=CLIENTS_WORD if found else COUNTED if counted else UNFOUNDED,
            ),
            spread=spread,
            date=max(dates, default=""),
            stale=dated(self.records, value, ids, unit, parts),
            assumed=assumed(self.records, value, ids),
            digits=digits,
            currency=self.currency,
            central=central if spread else "",
        )
