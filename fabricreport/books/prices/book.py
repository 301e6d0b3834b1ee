"""The price book: dated prices from every CSV of a folder, with history, and the ones that may be used on a day.

Over the folder that all clients share lie the rows of one client's own, its quotes above all. Shared rows are settled
among themselves, as if there were no others, so a quote never holds one of them back. Own rows are settled against the
last good row before them, shared or own; until it expires, one is used before any shared row of its item.

What happens to a bad row:

* **error** (malformed): a number that is none (comma, nan, blank), a negative price, a zero that makes no sense, a
  bad date, an unknown unit, currency or grade, low > price, price > high, no source, two prices for one item on one
  day from one source. `book.problems` lists them with file and line; `check`, a build and `prices check` end on
  them. The book itself holds such a row, so that a refresh goes on with the last good price. A file that is no price
  table at all (columns, encoding, size) is an error for all.
* **held** (plausible, but does not fit the item): a step of 2x or more against the last good price (10x, 8x, 100x,
  730x are explained), another unit or currency than before, a row given twice. Never used; `book.quarantine` and the
  view's `quarantined` note say so, and the last good price stays in use. If the price is right, a params file
  overrides it with who, why and until when.

An item's first row has no history in the folder: it is judged against the newest price shipped with the package
(`evidence/price_baseline.csv`), which also stands in, with its own date, when the folder has no usable row of the item
(none at all, none dated so early, or every one held); an item the package does not know is judged against the median
of its own later rows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date, timedelta
from functools import lru_cache
from pathlib import Path
from statistics import median_low
from typing import Any

from fabricreport.books.prices.currency import Rate, exchange_rate
from fabricreport.books.prices.files import Malformed, read_price_file
from fabricreport.books.prices.rules import Day, PriceRow, doubt, grade_rank, parse_row, spread_factor
from fabricreport.errors import InputError, Problem
from fabricreport.evidence import read_rows
from fabricreport.located import did_you_mean
from fabricreport.uncertain import Replaced, Uncertain, exactly
from fabricreport.vocabulary import Grade

__all__ = ["Held", "MissingPrice", "Price", "PriceBook", "PriceRow", "PriceView"]

CLIENTS_WORD = Grade.CONTRACT
"""The grade of a price that the client put in place of the book's."""
SHIPPED = "prices shipped with the package"
LISTED = (Grade.PUBLISHED, Grade.SECONDARY)
"""Grades of a price that somebody read, and nobody offered or signed."""
_JUMP = timedelta(days=400)
STAND_IN = "no usable row of it is in the price files on this day, so the price shipped with the package stands in"


class MissingPrice(InputError, KeyError):
    """No usable price of an item on the asked day; also a `KeyError`, so that `in` and `.get` work."""

    def __str__(self) -> str:
        return InputError.__str__(self) if not self.problems else "\n".join(str(p) for p in self.problems)


@dataclass(frozen=True)
class Held:
    """A row that is not used, why, and what is used instead."""

    item: str
    kind: str
    message: str
    file: str
    line: int
    date: Day | None = None
    price: float | None = None
    unit: str = ""
    currency: str = ""
    in_use: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Plain values for `--json`."""
        return asdict(self) | {"date": self.date.isoformat() if self.date else None}

    @property
    def is_fault(self) -> bool:
        """Whether the row is no price, or contradicts another: whoever wrote it has to mend it."""
        return self.kind in ("malformed", "duplicate")

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}: " if self.file else ""
        use = f"; in use: {self.in_use}" if self.in_use else "; no other price is known"
        return f"{where}{self.item or 'a row'} held ({self.kind}): {self.message}{use}"


@dataclass(frozen=True)
class Price:
    """The price of one item as of a day.

    `quarantined` tells of a newer row that was held, `stand_in` why the price is not of the client's own files ('' if
    there is nothing to tell), `spread` by what factor the rule for single web prices ranges it (1: as its row says), `one_listing` whether a single source
    has ever given it, as one figure.
    """

    item: str
    unit: str
    price: float
    low: float | None
    high: float | None
    currency: str
    date: Day
    expiry: Day
    source: str
    grade: str
    stale: bool
    age_days: int
    quarantined: str = ""
    stand_in: str = ""
    file: str = ""
    line: int = 0
    spread: float = 1.0
    one_listing: bool = False
    stated: Uncertain | None = None
    replaced: Replaced | None = None

    @property
    def id(self) -> str:
        """The id under which the ledger knows it."""
        return f"price:{self.item}"

    @property
    def figure(self) -> Uncertain:
        """The price in force: PERT between the low and the high a row states around it; without them it is exact."""
        if self.stated is not None:
            return self.stated
        low = self.price if self.low is None else self.low
        high = self.price if self.high is None else self.high
        return exactly(self.price) if low == high else Uncertain("pert", low, self.price, high)

    def with_figure(self, value: Uncertain, replaced: Replaced | None = None) -> Price:
        """The price with another figure in force; one that restates the book's keeps its grade and its age."""
        low, high = (None, None) if value.fixed else (value.low, value.high)
        found = replace(self, price=value.central, low=low, high=high, stated=value, replaced=replaced)
        if replaced is None or replaced.restates:
            return found
        return replace(
            found, grade=CLIENTS_WORD, stale=False, quarantined="" if replaced.old is None else self.quarantined
        )

    def as_dict(self) -> dict[str, Any]:
        """Plain values for `--json`."""
        facts = {k: v for k, v in asdict(self).items() if k not in ("stated", "replaced")}
        return facts | {"date": self.date.isoformat(), "expiry": self.expiry.isoformat()}


class PriceView(Mapping[str, Price]):
    """The prices that may be used on the day `as_of`, by item; rows dated later do not exist for it."""

    def __init__(self, as_of: date, prices: Mapping[str, Price], quarantine: Sequence[Held]) -> None:
        self._as_of = as_of
        self._quarantine = tuple(quarantine)
        self._prices = dict(prices)

    @property
    def as_of(self) -> date:
        """The day of the prices."""
        return self._as_of

    @property
    def quarantine(self) -> tuple[Held, ...]:
        """The rows known on that day that are not used."""
        return self._quarantine

    def __getitem__(self, item: str) -> Price:
        if item in self._prices:
            return self._prices[item]
        held = [str(h) for h in self._quarantine if h.item == item]
        why = f"no usable price of {item} on {self._as_of}" + (f" ({held[-1]})" if held else "")
        remedy = "Mend the row, or state the price under `overrides` in the params file." if held else ""
        raise MissingPrice(
            Problem(why, key=f"price:{item}", suggestion=did_you_mean(item, self._prices),
                    remedy=remedy or "Add a dated row to a CSV in params/prices.")
        )  # fmt: skip

    def by_id(self, price_id: str) -> Price:
        """The price of an id as inputs and the ledger have it: `price:` and the item. Raises `MissingPrice`."""
        return self[price_id.removeprefix("price:")]

    def __contains__(self, item: object) -> bool:  # the inherited one would word a whole complaint to say no
        return item in self._prices

    def __iter__(self) -> Iterator[str]:
        return iter(self._prices)

    def __len__(self) -> int:
        return len(self._prices)

    @property
    def stale(self) -> tuple[Price, ...]:
        """Prices past their shelf life on `as_of`, by item."""
        return tuple(p for p in self.values() if p.stale)

    def dearest(self, unit: str, currency: str) -> tuple[float, str]:
        """The largest price per one unit, such as `gpu-hour`, in a currency, and its item; 0 where there is none."""
        prices = [p for p in self._prices.values() if p.unit == unit]
        rates = {c: PriceView.rate(self, c, currency).rate for c in {p.currency for p in prices}}
        return max(((p.price * rates[p.currency], p.item) for p in prices), default=(0.0, ""))

    def plus(self, *prices: Price) -> PriceView:
        """The same view with these prices in it, in place of others of their item."""
        return PriceView(self._as_of, {**self._prices, **{p.item: p for p in prices}}, self._quarantine)

    def with_figures(self, figures: Mapping[str, tuple[Uncertain, Replaced | None]]) -> PriceView:
        """The view with other figures in force, by item; an item it does not hold is passed over."""
        held = self._prices
        return self.plus(*(held[item].with_figure(*given) for item, given in figures.items() if item in held))

    def rate(self, source: str, target: str) -> Rate:
        """The exchange rate on that day, with range and price ids; raises `InputError` if there is none."""
        return exchange_rate(self, source, target)

    def convert(self, amount: float, source: str, target: str) -> float:
        """An amount (a number or an array) in another currency."""
        return amount * self.rate(source, target).rate


@dataclass(frozen=True)
class PriceBook:
    """All rows of a folder: the good ones, oldest first within an item, and the ones held with their reasons.

    `own` are those of `rows` that one client has for itself. `hindsight`: the day whose prices count, whatever day is
    asked for.
    """

    rows: tuple[PriceRow, ...]
    quarantine: tuple[Held, ...] = ()
    problems: tuple[Problem, ...] = ()
    shipped: tuple[PriceRow, ...] = ()
    own: tuple[PriceRow, ...] = ()
    hindsight: Day | None = None

    @classmethod
    def read(cls, folder: str | Path, own: Path | None = None) -> PriceBook:
        """Read every `*.csv` of a folder, and of the client's `own`, which need not exist."""
        folder = Path(folder)
        if not folder.is_dir():
            raise InputError(Problem("no such folder of prices", str(folder), remedy="Make it and add a CSV."))
        rows, malformed = _rows_in(folder)
        own_rows, own_malformed = _rows_in(own) if own is not None else ([], [])
        return cls.of(rows, [*malformed, *own_malformed], own_rows)

    @classmethod
    def of(
        cls, rows: Iterable[PriceRow], malformed: Iterable[Malformed] = (), own: Iterable[PriceRow] = ()
    ) -> PriceBook:
        """Settle rows, and over them those of a client's own, into good ones and held ones.

        `malformed` are the rows that are no price.
        """
        rows, held, conflicts = _without_duplicates(list(rows))
        own, own_held, own_conflicts = _without_duplicates(list(own))
        malformed = tuple(malformed)
        problems = (*(m.problem for m in malformed), *conflicts, *own_conflicts)
        good, doubted = _settled(rows, frozenset())
        if own:
            good, own_doubted = _settled([*good, *own], frozenset(good))
            doubted += own_doubted
        held += own_held + doubted
        for item, day, problem, unit, currency in malformed:
            where = (problem.file, problem.line or 0)
            message = f"{problem.key}: {problem.message}" if problem.key else problem.message
            held.append(Held(item, "malformed", message, *where, day, unit=unit, currency=currency))
        mine = frozenset(own)
        book = cls(tuple(good), (), problems, baseline(), tuple(row for row in good if row in mine))
        order = sorted(held, key=lambda h: (h.file, h.line, h.item))
        return replace(book, quarantine=tuple(replace(h, in_use=book._standing(h)) for h in order))

    @property
    def items(self) -> tuple[str, ...]:
        """Every item with a good row, sorted."""
        return tuple(sorted({r.item for r in self.rows}))

    @property
    def newest(self) -> date | None:
        """The day the book tells of: the newest date of a row that may be used and is not `misdated`; None without one.

        It is the one default date of a new params file, of `prices` and of a refresh. A held row never sets it.
        """
        odd = {r.date for r in self.misdated}
        return max((r.date for r in self.rows if r.date not in odd), default=None)

    @property
    def misdated(self) -> tuple[PriceRow, ...]:
        """Good rows dated more than 400 days after every other date, the shipped prices' included: typing errors."""
        dates = sorted({r.date for r in (*self.rows, *self.shipped)})
        own = {r.date for r in self.rows}
        odd: set[date] = set()
        while len(dates) > 1 and dates[-1] in own and dates[-1] - dates[-2] > _JUMP:
            odd.add(dates.pop())
        return tuple(r for r in self.rows if r.date in odd)

    @property
    def remarks(self) -> tuple[str, ...]:
        """What to tell whoever goes by `newest`: each date that was not followed, and in which files it stands."""
        files: dict[date, set[str]] = defaultdict(set)
        for row in self.misdated:
            files[row.date].add(Path(row.file).name)
        return tuple(
            f"{', '.join(sorted(files[day]))}: a price dated {day} is more than a year after all others and was not "
            f"followed; use --as-of {day} if it is meant"
            for day in sorted(files)
        )

    def history(self, item: str) -> tuple[PriceRow, ...]:
        """The good rows of an item, oldest first."""
        return tuple(r for r in self.rows if r.item == item)

    def terms(self, item: str) -> tuple[str, str] | None:
        """Unit and currency of an item as its rows, used or not, or the package state them; None if nothing does."""
        stated: Sequence[PriceRow | Held] = (*self.quarantine, *self.shipped, *self.rows)
        found = [(row.unit, row.currency) for row in stated if row.item == item and row.unit and row.currency]
        return found[-1] if found else None

    def in_use(self, day: date) -> dict[str, PriceRow]:
        """The row of each item that counts on a day: the newest not dated later, the stronger grade first.

        Rows of the client's own that have not expired come before all others.
        """
        newest = {r.item: r for r in self.rows if r.date <= day}
        return newest | {r.item: r for r in self.own if r.date <= day <= r.expires}

    def at(self, as_of: date) -> PriceView:
        """The prices as of a day: per item the row `in_use`.

        An item without such a row has the price shipped with the package, if that is not dated later either.
        """
        as_of = self.hindsight or as_of
        own = self.in_use(as_of)
        usable = {r.item: r for r in self.shipped if r.date <= as_of} | own
        known = [h for h in self.quarantine if h.date is None or h.date <= as_of]
        notes: dict[str, str] = {}
        for held in known:
            row = usable.get(held.item)
            if row and (held.date is None or held.date >= row.date) and held.kind != "repeat":
                notes[held.item] = f"a newer price was held: {held.message} ({_place(held.file, held.line)})"
        sources: dict[str, set[str]] = defaultdict(set)
        for row in (*self.shipped, *self.rows):
            if row.date <= as_of:
                sources[row.item].add(_seller(row))
        prices = {
            item: replace(
                _as_of(row, as_of, notes.get(item, ""), "" if item in own else STAND_IN),
                one_listing=len(sources[item]) == 1 and row.low is row.high is None and row.grade in LISTED,
            )
            for item, row in sorted(usable.items())
        }
        return PriceView(as_of, prices, known)

    def convert(self, amount: float, source: str, target: str, as_of: date) -> float:
        """An amount (a number or an array) in another currency at the rate of that day."""
        return self.at(as_of).convert(amount, source, target)

    def with_own(self, *rows: PriceRow) -> PriceBook:
        """The good rows alone, with these among those of the client's own."""
        mine = frozenset(self.own)
        return PriceBook.of([row for row in self.rows if row not in mine], (), [*self.own, *rows])

    def in_hindsight(self, day: date) -> PriceBook:
        """The same book, whose prices of this day count on every other: what a purchase of the past is held against."""
        return replace(self, hindsight=day)

    def _standing(self, held: Held) -> str:
        shipped = next((r for r in self.shipped if r.item == held.item), None)
        row = self.in_use(held.date or date.max).get(held.item, shipped)
        return f"{row.price:g} {row.currency} of {row.date}" if row else ""


@lru_cache(maxsize=1)
def baseline() -> tuple[PriceRow, ...]:
    """The newest price of each item as shipped: the yardstick for an item's first row in a folder."""
    return tuple(parse_row(cells, SHIPPED, n) for n, cells in enumerate(read_rows("price_baseline"), start=2))


def _rows_in(folder: Path) -> tuple[list[PriceRow], list[Malformed]]:
    """The rows of every price file of a folder, in order of the files' names, and those that are no price."""
    rows: list[PriceRow] = []
    malformed: list[Malformed] = []
    for path in sorted(folder.glob("*.csv")):
        good, bad = read_price_file(path)
        rows += good
        malformed += bad
    return rows, malformed


def _without_duplicates(rows: list[PriceRow]) -> tuple[list[PriceRow], list[Held], list[Problem]]:
    groups: dict[tuple[str, date, str], list[PriceRow]] = defaultdict(list)
    for row in rows:
        groups[row.item, row.date, row.source].append(row)
    kept: list[PriceRow] = []
    held: list[Held] = []
    conflicts: list[Problem] = []
    for (item, day, _), same in groups.items():
        first = same[0]
        if all(r.cells() == first.cells() for r in same):
            kept.append(first)
            for r in same[1:]:
                held.append(_held(r, "repeat", f"repeats {_place(first.file, first.line)}"))
            continue
        places = ", ".join(_place(r.file, r.line) for r in same)
        message = f"{len(same)} different rows for {item} on {day} from one source ({places})"
        conflicts.append(Problem(message, same[-1].file, same[-1].line, "price", remedy="Keep the right one."))
        held += [_held(r, "duplicate", message) for r in same]
    return kept, held, conflicts


def _by_item(rows: Iterable[PriceRow]) -> dict[str, list[PriceRow]]:
    series: dict[str, list[PriceRow]] = defaultdict(list)
    for row in sorted(rows, key=lambda r: (r.item, r.date, -grade_rank(r.grade), r.source)):
        series[row.item].append(row)
    return series


def _settled(rows: Iterable[PriceRow], sound: frozenset[PriceRow]) -> tuple[list[PriceRow], list[Held]]:
    """The good rows, oldest first within an item, and the held ones; those that are `sound` are not asked again."""
    shipped = {r.item: r for r in baseline()}
    good: list[PriceRow] = []
    held: list[Held] = []
    for item, series in _by_item(rows).items():
        last: PriceRow | None = None
        for n, row in enumerate(series):
            reason = None
            if row not in sound:
                reason = doubt(row, last) if last else _first_doubt(row, series[n + 1 :], shipped.get(item))
            if reason is None:
                good.append(last := row)
            else:
                held.append(_held(row, *reason))
    return good, held


def _first_doubt(row: PriceRow, later: list[PriceRow], shipped: PriceRow | None) -> tuple[str, str] | None:
    if shipped is not None:
        return doubt(row, shipped)
    peers = [r for r in later if r.date > row.date]
    if len(peers) < 2:
        return None
    middle = median_low(r.price for r in peers)
    return doubt(row, next(r for r in peers if r.price == middle))


def _held(row: PriceRow, kind: str, message: str) -> Held:
    return Held(row.item, kind, message, row.file, row.line, row.date, row.price, row.unit, row.currency)


def _as_of(row: PriceRow, as_of: date, note: str, stand_in: str) -> Price:
    factor = spread_factor(row.item, row.grade)
    low, high = row.low, row.high
    if factor > 1:
        low = min(row.price / factor, row.price if low is None else low)
        high = max(row.price * factor, row.price if high is None else high)
    return Price(
        row.item, row.unit, row.price, low, high, row.currency, row.date, row.expires, row.source, row.grade,
        stale=as_of > row.expires, spread=factor, age_days=(as_of - row.date).days, quarantined=note, stand_in=stand_in,
        file=row.file, line=row.line,
    )  # fmt: skip


def _seller(row: PriceRow) -> str:
    """Who gave a price, by the beginning of its source."""
    return row.source.partition(" ")[0].casefold().strip(":,")


def _place(file: str, line: int) -> str:
    return f"{Path(file).name}:{line}"
