"""Converting money with dated exchange rates, which are themselves prices.

The item `fx-eur-usd` with unit `usd` says how many USD one EUR costs on its date. A rate is looked up
directly, then the other way round, then through USD; the ids of the rates used come back with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from fabricreport.base.errors import InputError, Problem

PIVOT = "USD"


class Rated(Protocol):
    """What a price must tell to serve as an exchange rate."""

    @property
    def price(self) -> float:
        """Units of the target currency per unit of the source currency."""

    @property
    def low(self) -> float | None:
        """Low end of the rate, or None."""

    @property
    def high(self) -> float | None:
        """High end of the rate, or None."""

    @property
    def stale(self) -> bool:
        """Whether the rate is past its shelf life."""


@dataclass(frozen=True)
class Rate:
    """Units of `target` for one unit of `source`, with its range and the price ids it rests on."""

    source: str
    target: str
    rate: float
    low: float
    high: float
    inputs: tuple[str, ...] = ()
    stale: bool = False


def exchange_rate(prices: Mapping[str, Rated], source: str, target: str) -> Rate:
    """The rate from one currency to another out of a view of prices; raises `InputError` if none is known."""
    if source == target:
        return Rate(source, target, 1.0, 1.0, 1.0)
    found = _quoted(prices, source, target)
    if found is None and PIVOT not in (source, target):
        first, second = _quoted(prices, source, PIVOT), _quoted(prices, PIVOT, target)
        if first and second:
            found = Rate(
                source, target, first.rate * second.rate, first.low * second.low, first.high * second.high,
                first.inputs + second.inputs, first.stale or second.stale,
            )  # fmt: skip
    if found is None:
        unquoted = [c for c in (target, source) if c != PIVOT and _quoted(prices, c, PIVOT) is None]
        item = f"fx-{unquoted[0].lower()}-{PIVOT.lower()}"
        raise InputError(
            Problem(f"no exchange rate from {source} to {target} on that date", key=f"price:{item}",
                    remedy=f"Add a row for {item} with unit {PIVOT.lower()} to a CSV in params/prices.")
        )  # fmt: skip
    return found


def _quoted(prices: Mapping[str, Rated], source: str, target: str) -> Rate | None:
    straight, back = f"fx-{source.lower()}-{target.lower()}", f"fx-{target.lower()}-{source.lower()}"
    if straight in prices:
        p = prices[straight]
        return Rate(source, target, p.price, p.low or p.price, p.high or p.price, (f"price:{straight}",), p.stale)
    if back in prices:
        p = prices[back]
        low, high = 1 / (p.high or p.price), 1 / (p.low or p.price)
        return Rate(source, target, 1 / p.price, low, high, (f"price:{back}",), p.stale)
    return None
