"""Accounts of one draw: what the models of money make of written amounts, taken apart into payments by month.

A payment is an amount, at a month or every month of a span, or for each GPU-hour installed; discounted it is a part of the
present value that the sample has in the same draw.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from functools import reduce
from typing import Any

import numpy as np

from fabricreport.base.written import CONST, LEAF, Term, Written, leaf, made, term_of
from fabricreport.models.money.cashflow import Array, Discounting, array
from fabricreport.models.money.ownership import LostTime

PAID, HOURS = "paid", "hours"


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
        value = float(np.sum(flows * np.ravel(np.asarray(self.factors(flows.size - 1, terms)))))
        return Written(value, Term(HOURS, (), value, f"{terms}:{place}"))

    def _paid(self, amount: Any, terms: str, first: int, last: int) -> Array:
        value = np.asarray(amount) * np.sum(np.asarray(self.factors(last, terms))[..., first : last + 1], axis=-1)
        if not np.any(value):
            return array(0.0)
        return Written(value, Term(PAID, (term_of(amount),), float(np.ravel(value)[0]), f"{terms}:{first}:{last}"))


class StatedLoss(LostTime):
    """Shares of GPU time lost that stand as they are, each told by its cause and whose they are."""

    whose, when = "", ""

    @classmethod
    def of(cls, lost: LostTime, whose: str, when: str = "") -> StatedLoss:
        """The same shares, told."""
        found = cls(**{f.name: getattr(lost, f.name) for f in fields(lost)})
        vars(found).update(whose=whose, when=when)
        return found

    def by_cause(self) -> dict[str, Array]:
        """The lost share split by cause."""
        return {cause: self._told(share, f"lost {cause}") for cause, share in super().by_cause().items()}

    @property
    def running(self) -> LostTime:
        """The same once the network is stable."""
        return StatedLoss.of(super().running, self.whose, " once stable")

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
        terms, first, last = term.key.split(":")
        yield Payment(term.of[0], terms, int(first), int(last))
    elif term.op == HOURS:
        terms, flow = term.key.split(":")
        yield Payment(Term(CONST, (), 1.0), terms, hours=int(flow))
    elif term.op in ("+", "-") and _dated(term):
        yield from payments(term.of[0])
        sign = 1.0 if term.op == "+" else -1.0
        yield from (_times(one, Term(CONST, (), sign)) for one in payments(term.of[1]))
    elif term.op == "neg" and _dated(term):
        yield from (_times(one, Term(CONST, (), -1.0)) for one in payments(term.of[0]))
    elif term.op in ("*", "/") and _dated(term):
        dated, other = term.of if _dated(term.of[0]) else term.of[::-1]
        yield from (_times(one, other, term.op) for one in payments(dated))
    elif term.value:
        yield Payment(term)


def _dated(term: Term) -> bool:
    """Whether a term is a sum or a multiple of payments."""
    if term.op in (PAID, HOURS):
        return True
    sides = {"+": term.of, "-": term.of, "neg": term.of, "*": term.of, "/": term.of[:1]}.get(term.op, ())
    return any(map(_dated, sides))


def _times(one: Payment, by: Term, op: str = "*") -> Payment:
    value = one.amount.value * by.value if op == "*" else one.amount.value / by.value
    return Payment(made(op, [one.amount, by], value), one.terms, one.first, one.last, one.hours)


def counted(term: Term) -> tuple[Term | None, Term]:
    """An amount as how many pieces (None: one) and the price of each, by the leaves that count pieces."""
    factors = list(_factors(term))
    pieces = [one for one in factors if _counts(one)]
    prices = [one for one in factors if one not in pieces]
    return (reduce(product, pieces) if pieces else None), reduce(product, prices, Term(CONST, (), 1.0))


def summands(term: Term) -> Iterator[Term]:
    """What a sum is the sum of."""
    if term.op == "+":
        for one in term.of:
            yield from summands(one)
    elif term.value:
        yield term


def _factors(term: Term) -> Iterator[Term]:
    if term.op == "*":
        for one in term.of:
            yield from _factors(one)
    else:
        yield term


def product(a: Term, b: Term) -> Term:
    """The product of two terms."""
    return made("*", [a, b], a.value * b.value)


def added(a: Term, b: Term) -> Term:
    """The sum of two terms."""
    return made("+", [a, b], a.value + b.value)


COUNT = "count:"
"""What the key of a number of pieces begins with."""


def _counts(term: Term) -> bool:
    return term.key.startswith(COUNT) if term.op == LEAF else any(map(_counts, term.of))
