"""Accounts of one draw: what the models of money make of written amounts, taken apart into payments by month.

A payment is an amount, at a month or every month of a span, or for each GPU-hour installed; discounted it is a part of the
present value that the sample has in the same draw.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from typing import Any

import numpy as np

from fabricreport.base.written import CONST, LEAF, PAID, Term, Written, joined, leaf, term_of
from fabricreport.models.money.cashflow import Array, Discounting, array
from fabricreport.models.money.ownership import LostTime


@dataclass(frozen=True)
class Scheduled(Discounting):
    """Discounting that tells when what it discounts is paid; `flows` are the hours by month that it was asked for."""

    flows: list[Array] = field(default_factory=list)

    def lump(self, amount: Any, month: int, months: int) -> Array:
        """Value today of an amount at one month."""
        return self._paid(amount, "today", month, month)

    def level(
        self, amount_per_month: Any, months: int, *, after: int = 0, until: int | None = None, terms: str = "today"
    ) -> Array:
        """Value today of the same amount at the end of each month m with after < m <= until."""
        return self._paid(amount_per_month, terms, after + 1, months if until is None else until)

    def present_value(self, flows: Array, terms: str = "today") -> Array:
        """Value today of monthly flows, as one number of hours."""
        flows = np.asarray(flows, dtype=float)
        known = [n for n, own in enumerate(self.flows) if np.array_equal(own, flows)]
        place = known[0] if known else len(self.flows)
        self.flows[place:] = self.flows[place:] or [flows]
        return self._paid(1.0, terms, 0, flows.size - 1, place)

    def _paid(self, amount: Any, terms: str, first: int, last: int, hours: int | None = None) -> Array:
        times = 1.0 if hours is None else self.flows[hours]
        value = np.asarray(amount) * np.sum(np.asarray(self.factors(last, terms))[..., first:] * times, axis=-1)
        if not np.any(value):
            return array(0.0)
        key = terms, first, last, hours
        return Written(value, Term(PAID, (term_of(amount),), float(np.ravel(value)[0]), key))


@dataclass(frozen=True)
class StatedLoss(LostTime):
    """Shares of GPU time lost that stand as they are, each told by its cause and `whose` they are."""

    whose: str = ""
    when: str = ""

    def by_cause(self) -> dict[str, Array]:
        """The lost share split by cause."""
        return {cause: self._told(share, f"lost {cause}") for cause, share in super().by_cause().items()}

    @property
    def running(self) -> LostTime:
        """The same once the network is stable."""
        return replace(super().running, when=" once stable")  # type: ignore[call-arg]

    @property
    def useful_on_any(self) -> Array:
        """The share that would do work on a perfect network."""
        return self._told(super().useful_on_any, "useful on a perfect network")

    @property
    def useful_of_network(self) -> Array:
        """The share that the network leaves of that."""
        return self._told(super().useful_of_network, "useful of what the network gets")

    def _told(self, share: Array, what: str) -> Array:
        bare = np.asarray(share)
        return leaf(bare, f"share:{what}{self.when}:{self.whose}") if np.any(bare) else bare


@dataclass(frozen=True)
class Payment:
    """An amount (today's money or a contract's, by `terms`), and when it is due: each month `first` to `last`, or for each
    hour of the flow `hours`; with neither at once."""

    amount: Term
    terms: str = "today"
    first: int = 0
    last: int = 0
    hours: int | None = None


def payments(term: Term) -> Iterator[Payment]:
    """What a present value is the sum of."""
    if term.op == PAID:
        yield Payment(term.of[0], *term.key)
    elif not _dated(term):
        yield from [Payment(term)] if term.value else []
    elif term.op in ("+", "-", "neg"):
        *first, last = term.of
        yield from (paid for one in first for paid in payments(one))
        yield from _times("*", last, Term(CONST, (), 1.0 if term.op == "+" else -1.0))
    else:
        yield from _times(term.op, *(term.of if _dated(term.of[0]) else term.of[::-1]))


def _dated(term: Term) -> bool:
    """Whether a term is a payment, or a sum or a multiple of payments."""
    sides = term.of[:1] if term.op == "/" else term.of if term.op in ("+", "-", "neg", "*") else ()
    return term.op == PAID or any(map(_dated, sides))


def _times(op: str, dated: Term, by: Term) -> Iterator[Payment]:
    return (replace(one, amount=joined(op, one.amount, by)) for one in payments(dated))


def counted(term: Term) -> tuple[Term | None, Term]:
    """An amount as how many pieces (None: one) and the price of each, by the leaves that count pieces."""
    factors, product = list(split(term, "*")), partial(joined, "*")
    pieces = [one for one in factors if _counts(one)]
    prices = [one for one in factors if one not in pieces]
    return (reduce(product, pieces) if pieces else None), reduce(product, prices, Term(CONST, (), 1.0))


def split(term: Term, op: str) -> Iterator[Term]:
    """What a sum (`+`) is the sum of, or a product (`*`) the product."""
    yield from [part for one in term.of for part in split(one, op)] if term.op == op else [term]


COUNT = "count:"
"""What the key of a number of pieces begins with."""


def _counts(term: Term) -> bool:
    return term.key.startswith(COUNT) if term.op == LEAF else any(map(_counts, term.of))
