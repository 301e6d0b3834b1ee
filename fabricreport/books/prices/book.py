"""The price book: dated prices from every CSV of a folder, with history, and the ones that may be used on a day.

Over the folder that all clients share lie the rows of one client's own, its quotes above all. Shared rows are settled
among themselves, as if there were no others, so a quote never holds one of them back. Own rows are settled against the
last good row before them, shared or own; until it expires, one is used before any shared row of its item.

What happens to a bad row:

* **error** (malformed): a number that is none (comma, nan, blank), a negative price, a zero that makes no sense, a
  bad date, an unknown unit, currency, grade, product or term, low > price, price > high, no source, two prices for one
  item on one day from one source, two products under one item. `book.problems` lists them with file and line; `check`, a
  build and `prices check` end on them. The book itself holds such a row, so that a refresh goes on with the last good
  price. A file that is no price table at all (columns, encoding, size) is an error for all.
* **held** (plausible, but does not fit the item): a step of 2x or more against the last good price, an unlabelled rent so
  far below it that it may be a spot price, another unit or currency than before, a row given twice. It is a question to a
  person, which `prices accept` or `prices reject` settles (`settlement.py`). Until then a price within a third and three
  times the last good one enters the memo as the span of both; any other, and one off by a slip that has a name, leaves
  the last good price alone in use.
* **let through**: a jump that sellers of several publishers made alike is the market (`settlement.py`).
* **waiting**: a row dated, or whose page was read, after the memo's date does not exist for it. **undated** rows, of which
  nobody states a day, are kept for a reader and never used.

An item's first row has no history in the folder: it is judged against the newest price shipped with the package
(`data/price_baseline.csv`), which also stands in, with its own date, when the folder has no usable row of the item
(none at all, none dated so early, or every one held); an item the package does not know is judged against the median
of its own later rows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from fabricreport.base.errors import InputError, Problem
from fabricreport.base.locations import did_you_mean
from fabricreport.base.uncertain import Replaced, Uncertain, exactly
from fabricreport.base.vocabulary import Grade
from fabricreport.base.yaml_files import read_rows
from fabricreport.books.prices.currency import Rate, exchange_rate
from fabricreport.books.prices.files import Malformed, read_price_file
from fabricreport.books.prices.rules import Day, PriceRow, parse_row, rules, spread_factor
from fabricreport.books.prices.settlement import (
    REJECTED,
    Decision,
    Held,
    decisions_in,
    place_of,
    settled,
    without_duplicates,
)

__all__ = ["MissingPrice", "Price", "PriceBook", "PriceRow", "PriceView"]

CLIENTS_WORD = Grade.CONTRACT
"""The grade of a price that the client put in place of the book's."""
SHIPPED = "prices shipped with the package"
LISTED = (Grade.PUBLISHED, Grade.SECONDARY)
"""Grades of a price that somebody read, and nobody offered or signed."""
_SETTLED = ("repeat", "rejected")
_JUMP = timedelta(days=400)
_AHEAD = timedelta(days=62)
STAND_IN = "no usable row of it is in the price files on this day, so the price shipped with the package stands in"


class MissingPrice(InputError, KeyError):
    """No usable price of an item on the asked day; also a `KeyError`, so that `in` and `.get` work."""

    def __str__(self) -> str:
        return InputError.__str__(self) if not self.problems else "\n".join(str(p) for p in self.problems)


@dataclass(frozen=True)
class Given:
    """The rows of a book as they were given, before they were settled: shared, one client's own, and those that are no price."""

    rows: tuple[PriceRow, ...] = ()
    own: tuple[PriceRow, ...] = ()
    malformed: tuple[Malformed, ...] = ()


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
    held: Held | None = None
    product: str = ""
    sold_by: str = ""
    network: str = ""
    read: Day | None = None

    @property
    def spanned(self) -> bool:
        """Whether a newer price that is held may be right, and all between the two is computed with."""
        return self.held is not None and self.held.spans

    @property
    def id(self) -> str:
        """The id under which the ledger knows it."""
        return f"price:{self.item}"

    @property
    def figure(self) -> Uncertain:
        """The price in force: PERT between the low and the high a row states around it; without them it is exact.

        Anything between it and a newer price that is held and may be right.
        """
        if self.stated is not None:
            return self.stated
        low = self.price if self.low is None else self.low
        high = self.price if self.high is None else self.high
        if self.held is not None and self.spanned:
            asked = float(self.held.price or self.price)
            return Uncertain.of({"low": min(low, asked), "high": max(high, asked)})
        return exactly(self.price) if low == high else Uncertain("pert", low, self.price, high)

    def with_figure(self, value: Uncertain, replaced: Replaced | None = None) -> Price:
        """The price with another figure in force; one that restates the book's keeps its grade and its age."""
        low, high = (None, None) if value.fixed else (value.low, value.high)
        found = replace(self, price=value.central, low=low, high=high, stated=value, replaced=replaced)
        if replaced is None or replaced.restates:
            return found
        note = "" if replaced.old is None else self.quarantined
        return replace(found, grade=CLIENTS_WORD, stale=False, quarantined=note, held=None)

    def as_dict(self) -> dict[str, Any]:
        """Plain values for `--json`."""
        facts = {k: v for k, v in self.__dict__.items() if k not in ("stated", "replaced", "held")}
        days = {k: v.isoformat() for k, v in facts.items() if isinstance(v, date)}
        return facts | days | {"held": self.held.as_dict() if self.held else None}


class PriceView(dict[str, Price]):
    """The prices that may be used on the day `as_of`, by item; rows dated later do not exist for it. Read-only.

    `quarantine`: the rows known on that day that are not used.
    """

    def __init__(self, as_of: date, prices: Mapping[str, Price], quarantine: Sequence[Held]) -> None:
        super().__init__(prices)
        self.as_of, self.quarantine = as_of, tuple(quarantine)

    def __missing__(self, item: str) -> Price:
        held = [str(h) for h in self.quarantine if h.item == item]
        why = f"no usable price of {item} on {self.as_of}" + (f" ({held[-1]})" if held else "")
        remedy = "Mend the row, or state the price under `overrides` in the params file." if held else ""
        raise MissingPrice(
            Problem(why, key=f"price:{item}", suggestion=did_you_mean(item, self),
                    remedy=remedy or "Add a dated row to a CSV in params/prices.")
        )  # fmt: skip

    def by_id(self, price_id: str) -> Price:
        """The price of an id as inputs and the ledger have it: `price:` and the item. Raises `MissingPrice`."""
        return self[price_id.removeprefix("price:")]

    @property
    def questions(self) -> tuple[Held, ...]:
        """The held rows that a person has to settle, the newest of each item that is newer than the price in use."""
        beside = [p.held for p in self.values() if p.held is not None]
        return (*beside, *(h for h in self.quarantine if h.is_question and h.item not in self))

    @property
    def stale(self) -> tuple[Price, ...]:
        """Prices past their shelf life on `as_of`, by item."""
        return tuple(p for p in self.values() if p.stale)

    @cached_property
    def stale_ids(self) -> frozenset[str]:
        """Their ids."""
        return frozenset(price.id for price in self.stale)

    def dearest(self, unit: str, currency: str) -> tuple[float, str]:
        """The largest price per one unit, such as `gpu-hour`, in a currency, and its item; 0 where there is none."""
        prices = [p for p in self.values() if p.unit == unit]
        rates = {c: self.rate(c, currency).rate for c in {p.currency for p in prices}}
        return max(((p.price * rates[p.currency], p.item) for p in prices), default=(0.0, ""))

    def plus(self, *prices: Price) -> PriceView:
        """The same view with these prices in it, in place of others of their item."""
        return PriceView(self.as_of, self | {p.item: p for p in prices}, self.quarantine)

    def with_figures(self, figures: Mapping[str, tuple[Uncertain, Replaced | None]]) -> PriceView:
        """The view with other figures in force, by item; an item it does not hold is passed over."""
        return self.plus(*(self[item].with_figure(*given) for item, given in figures.items() if item in self))

    def rate(self, source: str, target: str) -> Rate:
        """The exchange rate on that day, with range and price ids; raises `InputError` if there is none."""
        return exchange_rate(self, source, target)

    def convert(self, amount: float, source: str, target: str) -> float:
        """An amount (a number or an array) in another currency."""
        return amount * self.rate(source, target).rate


@dataclass(frozen=True)
class PriceBook:
    """All rows of a folder: the good ones, oldest first within an item, and the ones held with their reasons.

    `own` are those of `rows` that one client has for itself, `undated` those of which nobody states a day, `notes` what is
    told of rows that the market let through. `decisions` are what persons settled, the client's own last.
    `hindsight`: the day whose prices count, whatever day is asked for.
    """

    rows: tuple[PriceRow, ...]
    quarantine: tuple[Held, ...] = ()
    problems: tuple[Problem, ...] = ()
    shipped: tuple[PriceRow, ...] = ()
    own: tuple[PriceRow, ...] = ()
    undated: tuple[PriceRow, ...] = ()
    notes: tuple[str, ...] = ()
    decisions: tuple[Decision, ...] = ()
    given: Given = Given()
    hindsight: Day | None = None

    @classmethod
    def read(cls, folder: str | Path, own: Path | None = None) -> PriceBook:
        """Read every `*.csv` of a folder, and of the client's `own`, which need not exist, and what was decided of their rows."""
        folder = Path(folder)
        if not folder.is_dir():
            raise InputError(Problem("no such folder of prices", str(folder), remedy="Make it and add a CSV."))
        rows, malformed = _rows_in(folder)
        own_rows, own_malformed = _rows_in(own) if own is not None else ([], [])
        decided = (*decisions_in(folder), *(decisions_in(own) if own is not None else ()))
        return cls.of(rows, [*malformed, *own_malformed], own_rows, decided)

    @classmethod
    def of(
        cls,
        rows: Iterable[PriceRow],
        malformed: Iterable[Malformed] = (),
        own: Iterable[PriceRow] = (),
        decisions: Sequence[Decision] = (),
        day: date = date.max,
    ) -> PriceBook:
        """Settle rows, and over them those of a client's own, into good ones and held ones.

        `malformed` are the rows that are no price; `day` is that on which the shipped prices were known that they are
        judged by.
        """
        given = Given(tuple(rows), tuple(own), tuple(malformed))
        undated = tuple(row for row in (*given.rows, *given.own) if row.undated)
        rows, held, conflicts = without_duplicates([row for row in given.rows if not row.undated])
        own, own_held, own_conflicts = without_duplicates([row for row in given.own if not row.undated])
        problems = (*(m.problem for m in given.malformed), *conflicts, *own_conflicts)
        verdicts = {one.key: one for one in decisions}
        shipped = tuple(row for row in baseline() if row.known_from <= day)
        good, doubted, notes = settled(rows, frozenset(), verdicts, shipped)
        if own:
            good, own_doubted, _ = settled([*good, *own], frozenset(good), verdicts, shipped)
            doubted += own_doubted
        held += own_held + doubted
        for item, dated, problem, unit, currency in given.malformed:
            where = (problem.file, problem.line or 0)
            message = f"{problem.key}: {problem.message}" if problem.key else problem.message
            held.append(Held(item, "malformed", message, *where, dated, unit=unit, currency=currency))
        mine = frozenset(own)
        of_mine = tuple(row for row in good if row in mine)
        book = cls(tuple(good), (), problems, shipped, of_mine, undated, notes, tuple(decisions), given)
        order = sorted(held, key=lambda h: (h.file, h.line, h.item))
        return replace(book, quarantine=book._standing(order))

    def known(self, day: date) -> PriceBook:
        """The book as it stood on a day: a row dated or read later does not exist for it, and judges no other."""
        rows, own = ([r for r in given if r.known_from <= day] for given in (self.given.rows, self.given.own))
        whole = len(rows) + len(own) == len(self.given.rows) + len(self.given.own)
        if whole and all(row.known_from <= day for row in self.shipped):
            return self
        return PriceBook.of(rows, self.given.malformed, own, self.decisions, day)

    def waiting(self, day: date) -> tuple[PriceRow, ...]:
        """The rows that are not there yet on a day, by their own date or because their page was read later."""
        return tuple(r for r in (*self.given.rows, *self.given.own) if r.known_from > day and not r.undated)

    @property
    def items(self) -> tuple[str, ...]:
        """Every item with a good row, sorted."""
        return tuple(sorted({r.item for r in self.rows}))

    @property
    def newest(self) -> date | None:
        """The day the book tells of: the newest on which a row that may be used became known and is not `misdated`.

        It is the one default date of a new params file, of `prices` and of a refresh; None without a row. A held row never
        sets it.
        """
        odd = {r.known_from for r in self.misdated}
        return max((r.known_from for r in self.rows if r.known_from not in odd), default=None)

    @property
    def misdated(self) -> tuple[PriceRow, ...]:
        """Good rows known more than 400 days after every other, the shipped prices included, or dated more than two months
        after their page was read: typing errors.
        """
        dates = sorted({r.known_from for r in (*self.rows, *self.shipped)})
        own = {r.known_from for r in self.rows}
        odd: set[date] = set()
        while len(dates) > 1 and dates[-1] in own and dates[-1] - dates[-2] > _JUMP:
            odd.add(dates.pop())
        return tuple(r for r in self.rows if r.known_from in odd or (r.read and r.date - r.read > _AHEAD))

    @property
    def remarks(self) -> tuple[str, ...]:
        """What to tell whoever goes by `newest`: each row whose date was not followed, where it stands, and why."""
        return tuple(
            f"{r.file}:{r.line}: {r.item} is dated {r.date}, "
            + (
                f"long after its page was read on {r.read}"
                if r.read and r.date - r.read > _AHEAD
                else "more than a year after all others"
            )
            + f", and was not followed; use --as-of {r.known_from} if it is meant"
            for r in self.misdated
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
        newest = {r.item: r for r in self.rows if r.known_from <= day}
        return newest | {r.item: r for r in self.own if r.known_from <= day <= r.expires}

    def at(self, as_of: date) -> PriceView:
        """The prices as of a day: per item the row `in_use`.

        An item without such a row has the price shipped with the package, if that is not dated later either.
        """
        return self.known(self.hindsight or as_of)._at(self.hindsight or as_of)

    def _at(self, as_of: date) -> PriceView:
        own = self.in_use(as_of)
        usable = {r.item: r for r in self.shipped if r.known_from <= as_of} | own
        known = [h for h in self.quarantine if h.date is None or h.date <= as_of]
        newer: dict[str, list[Held]] = defaultdict(list)
        for held in known:
            row = usable.get(held.item)
            if row and (held.date is None or held.date >= row.date) and held.kind not in _SETTLED:
                newer[held.item].append(held)
        sources: dict[str, set[str]] = defaultdict(set)
        for row in (*self.shipped, *self.rows):
            if row.date <= as_of:
                sources[row.item].add(_seller(row))
        prices = {
            item: replace(
                _as_of(row, as_of, newer.get(item, ()), "" if item in own else STAND_IN),
                one_listing=len(sources[item]) == 1 and row.low is row.high is None and row.grade in LISTED,
            )
            for item, row in sorted(usable.items())
        }
        return PriceView(as_of, prices, [h for h in known if h.kind != REJECTED])

    def with_own(self, *rows: PriceRow) -> PriceBook:
        """The good rows alone, with these among those of the client's own."""
        mine = frozenset(self.own)
        return PriceBook.of([row for row in self.rows if row not in mine], (), [*self.own, *rows], self.decisions)

    def in_hindsight(self, day: date) -> PriceBook:
        """The same book, whose prices of this day count on every other: what a purchase of the past is held against."""
        return replace(self, hindsight=day)

    def _standing(self, held: Iterable[Held]) -> tuple[Held, ...]:
        """Held rows, each with the price beside it: of the good ones not dated later, whenever their pages were read."""
        of_item: dict[str, list[PriceRow]] = defaultdict(list)
        for row in (*self.shipped, *self.rows):
            of_item[row.item].append(row)
        mine = frozenset(self.own)
        found = []
        for one in held:
            day = one.date or date.max
            known = [r for r in of_item[one.item] if r.date <= day or r in self.shipped]
            own = [r for r in known if r in mine and day <= r.expires]
            told = (f"{r.price:g} {r.currency} of {r.date}" for r in reversed(own or known))
            found.append(replace(one, in_use=next(told, "")))
        return tuple(found)


@lru_cache(maxsize=1)
def baseline() -> tuple[PriceRow, ...]:
    """The two newest prices of each item as shipped, the newest last: the yardstick for an item's first row in a folder."""
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


def _as_of(row: PriceRow, as_of: date, newer: Sequence[Held], stand_in: str) -> Price:
    """A row as the price of a day, with the newest of the rows that are held against it."""
    held = max(newer, key=lambda h: (h.is_question, h.date or date.max, h.line), default=None)
    note = f"a newer price was held: {held.message} ({place_of(held.file, held.line)})" if held else ""
    factor = spread_factor(row.item, row.grade)
    low, high = row.low, row.high
    if factor > 1:
        low = min(row.price / factor, row.price if low is None else low)
        high = max(row.price * factor, row.price if high is None else high)
    return Price(
        row.item, row.unit, row.price, low, high, row.currency, row.date, row.expires, row.source, row.grade,
        stale=row.expires - as_of < timedelta(days=rules().fresh_days), spread=factor, age_days=(as_of - row.date).days, quarantined=note, stand_in=stand_in,
        file=row.file, line=row.line, held=held if held and held.is_question else None, product=row.product,
        sold_by=row.sold_by, network=row.network, read=row.read,
    )  # fmt: skip


def _seller(row: PriceRow) -> str:
    """Who gave a price, by the beginning of its source."""
    return row.source.partition(" ")[0].casefold().strip(":,")
