"""When a jump is the market: sellers of several publishers moved one way, and no slip with a name would explain it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from typing import NamedTuple

from fabricreport.books.prices.rules import RENT_UNITS, PriceRow, product_named, rules, slip, spans


class Jump(NamedTuple):
    """A price and the one before it; of the seller of a rent, or of the publisher of a listing."""

    row: PriceRow
    last: PriceRow

    @property
    def ratio(self) -> float:
        """How many times the one before."""
        return self.row.price / self.last.price

    @property
    def seller(self) -> str:
        """Whose price it is: rents have items for each seller, a piece of equipment is listed by several."""
        return rent_of(self.row.item).seller if self.row.unit in RENT_UNITS else self.row.publisher


class Rent(NamedTuple):
    """Whose rent an item is, and of what product; '' for one of many sellers, or no rent."""

    seller: str
    product: str


_RENT = re.compile(r"gpu-hour-([a-z0-9]+)-(.+)", re.ASCII)
_MOST_LOOKS = 5_000_000
"""Jumps times rows beyond which nobody looks: so many jumps are a broken file, and no market."""
_PANELS = ("on-demand", "hyperscaler", "hyperscaler-on-demand")
"""What rents of many sellers at once are called after their GPU."""


def of_the_market(held: Sequence[Jump], series: Mapping[str, Sequence[PriceRow]]) -> dict[PriceRow, str]:
    """The jumps that the market explains, each with the note that says by what; `series`: all rows of an item, oldest first."""
    if len(held) * sum(map(len, series.values())) > _MOST_LOOKS:
        return {}
    found = {}
    for jump in held:
        if not spans(jump.row, jump.last):
            continue
        movers = {m.seller: m for m in _movers(jump, held, series)} | {jump.seller: jump}
        publishers = {m.row.publisher for m in movers.values()}
        factors = [m.ratio for m in movers.values()]
        common = math.exp(sum(map(math.log, factors)) / len(factors))
        if min(len(movers), len(publishers)) >= rules().market.sellers and not slip(common):
            row, others = jump.row, sorted(s for s in movers if s != jump.seller)
            found[row] = (
                f"{row.item}: {row.price:g} {row.currency} of {row.date} after {jump.last.price:g} is let through: "
                f"{', '.join(others)} moved the same way"
            )
    return found


def _movers(jump: Jump, held: Sequence[Jump], series: Mapping[str, Sequence[PriceRow]]) -> Iterator[Jump]:
    """What other sellers' prices did over the same time, where it is the same way and more than little."""
    rent = rent_of(jump.row.item)
    if jump.row.unit not in RENT_UNITS:
        others: Iterable[Jump] = (j for j in held if j.row.item == jump.row.item and j.seller != jump.seller)
    else:
        rents = {i: rent_of(i) for i in series}
        items = [
            i
            for i, r in rents.items()
            if rent.seller and r.seller not in ("", rent.seller) and r.product == rent.product
        ]
        others = (j for i in items if (j := _over(series[i], jump)) is not None)
    for other in others:
        same_way = (other.ratio - 1) * (jump.ratio - 1) > 0
        far = max(other.ratio, 1 / other.ratio) >= rules().market.moved
        if same_way and far and spans(other.row, other.last) and _near(other.row.date, jump.row.date):
            yield other


def _over(rows: Sequence[PriceRow], jump: Jump) -> Jump | None:
    """A seller's newest price near the day of a jump, against its price nearest to the day that the jump began from."""
    now = [
        r for r in rows if _near(r.date, jump.row.date) and r.date > jump.last.date and r.currency == jump.row.currency
    ]
    before = [r for r in rows if now and r.date < now[-1].date and r.currency == now[-1].currency and r.price > 0]
    near = [r for r in before if _near(r.date, jump.last.date)]
    if not near:
        return None
    return Jump(now[-1], min(near, key=lambda r: (abs(r.date - jump.last.date), r.date)))


def _near(one: date, other: date) -> bool:
    return abs(one - other) <= timedelta(days=rules().market.within_days)


def rent_of(item: str) -> Rent:
    """Seller and product that an item of rent names. The market for one GPU moves that for others, so GPUs are not told apart."""
    found, product = _RENT.fullmatch(item), product_named(item)
    seller = found.group(2).removesuffix(f"-{product}") if found else ""
    return Rent("" if seller in (*_PANELS, product) else seller, product)
