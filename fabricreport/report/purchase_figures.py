"""The figures of purchases of others: what is public of them, and our bill in hindsight."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fabricreport.books.purchases import SYSTEM, PricePaid
from fabricreport.figures import FigureSpec
from fabricreport.hindsight import Hindsight, all_compared
from fabricreport.provenance import inputs_of, plain

Spec = FigureSpec[Any]
EachSpec = FigureSpec[Any, str]
EXACT_DIGITS = 6


def _of_purchase(_: object, purchase: str) -> tuple[str]:
    return (f"purchase:{purchase}",)


def _price(purchase: str) -> PricePaid:
    paid = all_compared()[purchase].purchase.price
    assert paid is not None
    return paid


def _count(name: str, label: str, rule: str, counted: Callable[[Hindsight], bool]) -> Spec:
    return Spec(
        name,
        "count",
        label=label,
        rule=rule,
        value=lambda _: float(sum(map(counted, all_compared().values()))),
        counted=True,
    )


PURCHASES = (
    _count("report.purchases", "Purchases of others that are public", "count", lambda h: True),
    _count(
        "report.purchases.billed",
        "Purchases whose price is set beside our bill",
        "count of those whose GPU, number, network and scope are known",
        lambda h: h.bill_usd is not None,
    ),
    _count(
        "report.purchases.advised",
        "Purchases whose choice is set beside our advice",
        "count of those whose GPU, number, network and reasons are known",
        lambda h: h.verdict is not None,
    ),
    EachSpec(
        "report.purchase[purchase].gpus",
        "gpus",
        label=lambda _, purchase: f"GPUs bought: {all_compared()[purchase].purchase.owner}",
        rule="as it is public",
        value=lambda _, purchase: float(all_compared()[purchase].purchase.gpus or 0),
        inputs=_of_purchase,
        digits=EXACT_DIGITS,
        when=lambda _, purchase: all_compared()[purchase].purchase.gpus is not None,
    ),
    EachSpec(
        "report.purchase[purchase].price",
        lambda _, purchase: "usd" if _price(purchase).per == SYSTEM else f"usd/{_price(purchase).per}",
        label=lambda _, purchase: f"Price paid: {all_compared()[purchase].purchase.owner}",
        rule="as it is public",
        value=lambda _, purchase: _price(purchase).amount,
        inputs=_of_purchase,
        currency=lambda _, purchase: _price(purchase).currency,
        when=lambda _, purchase: all_compared()[purchase].purchase.price is not None,
    ),
    EachSpec(
        "report.purchase[purchase].bill",
        "usd",
        label=lambda _, purchase: f"Our bill, in hindsight: {all_compared()[purchase].purchase.owner}",
        rule="servers, switches, optics, cables, adapters, spares and installation of the network that was taken, at today's prices",
        value=lambda _, purchase: plain(all_compared()[purchase].bill_usd),
        inputs=lambda at, purchase: (*_of_purchase(at, purchase), *_priced(all_compared()[purchase])),
        central="mean",
        currency="USD",
        when=lambda _, purchase: all_compared()[purchase].bill_usd is not None,
    ),
)


def _priced(h: Hindsight) -> tuple[str, ...]:
    """The prices and entries that a bill rests on; what the buyer's params say stands in the purchase."""
    return tuple(i for i in inputs_of(h.bill_usd) if i.startswith(("price:", "evidence:")))
