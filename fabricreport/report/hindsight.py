"""Purchases of others beside what we would have said: our bill beside their price, our advice beside their choice.

It is hindsight: options are those on sale at the time of the purchase, prices and evidence those of today's books. Nothing
is fitted to the cases, and a miss is printed as one. Under `RATE_FROM` compared cases no rate is worked out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from fabricreport.base import formats
from fabricreport.base.errors import InputError
from fabricreport.base.provenance import Traced, plain
from fabricreport.base.yaml_files import ROOT
from fabricreport.books.evidence import read_evidence
from fabricreport.books.options import read_options
from fabricreport.books.prices.book import PriceBook, PriceView, baseline
from fabricreport.books.publications import SYSTEM, YES, PricePaid, Purchase, purchases
from fabricreport.case import Case
from fabricreport.inputs.inputs import Inputs
from fabricreport.models.judgement.comparison import Verdict
from fabricreport.scenario import params_from

NAME = "purchases"
BOUGHT = ("servers", "switches", "optics_and_cables", "adapters", "spares_and_installation")
"""Causes of a bill that a purchase pays for."""
RATE_FROM = 8
"""Compared cases from which a rate means anything."""
DRAWS = 1024
_WHAT = "Today's prices and evidence, options on sale at the time; nothing is fitted, and misses stay."


@dataclass(frozen=True)
class Hindsight:
    """A purchase, and what of it can be set beside ours: our bill of what they took and their price, in US dollars; our
    advice, and whether theirs is the same."""

    purchase: Purchase
    bill_usd: Traced | None = None
    price_usd: float | None = None
    verdict: Verdict | None = None

    @property
    def bill_holds(self) -> bool | None:
        """Whether their price lies within the 90 % range of our bill; None where that is not compared."""
        if self.bill_usd is None or self.price_usd is None:
            return None
        low, high = np.quantile(plain(self.bill_usd), (0.05, 0.95))
        return bool(low <= self.price_usd <= high)

    @property
    def agrees(self) -> bool | None:
        """Whether they took what we would have advised; None where that is not compared, or either would have done."""
        told = self.verdict is not None and not self.verdict.confidence.close
        return self.verdict.choice in self.purchase.chosen if self.verdict is not None and told else None

    @property
    def as_expected(self) -> bool | None:
        """Whether our advice is the one that was written down before; None where none was."""
        expected = self.purchase.expected
        return None if self.verdict is None or expected is None else self.verdict.choice == expected.advice


def _in_dollars(paid: PricePaid, prices: PriceView) -> float | None:
    try:
        return prices.convert(paid.amount, paid.currency, "USD")
    except InputError:
        return None


def todays_prices() -> PriceBook:
    """The prices shipped with the package, as they are in use on whatever day a purchase was."""
    return PriceBook.of([]).in_hindsight(max(row.known_from for row in baseline()))


def case_of(purchase: Purchase) -> Case:
    """The buyer as a client of the day of the purchase, on today's books."""
    params = params_from({**purchase.params, "client": {"name": purchase.id}, "as_of": purchase.day.isoformat()})
    return Case(Inputs(params, ROOT, read_evidence(), todays_prices(), read_options(), draws=DRAWS))


def compared(purchase: Purchase) -> Hindsight:
    """A purchase beside what we would have said."""
    does = purchase.computable
    if YES not in (does.bill, does.advice):
        return Hindsight(purchase)
    case = case_of(purchase)
    bill, price = None, None
    if does.bill == YES and purchase.price is not None:
        (taken,) = purchase.chosen
        bill = _bought(case, taken)
        price = _in_dollars(purchase.price, case.inputs.prices)
    return Hindsight(purchase, bill, price, case.comparison.verdict if does.advice == YES else None)


def _bought(case: Case, option: str) -> Traced:
    parts = case.chain.bills.components[option]
    total: Any = 0.0
    for cause in BOUGHT:
        total = total + parts.get(cause, 0.0)
    return case.inputs.spread(total)


@cache
def all_compared() -> Mapping[str, Hindsight]:
    """Every purchase beside what we would have said, by id, those that can be compared first."""
    found = [compared(purchase) for purchase in purchases().values()]
    return {h.purchase.id: h for h in sorted(found, key=lambda h: h.bill_usd is None and h.verdict is None)}


def rate(found: Collection[Hindsight]) -> tuple[int, int] | None:
    """How many took what we would have advised, and of how many; None below `RATE_FROM`."""
    answers = [h.agrees for h in found if h.agrees is not None]
    return (sum(answers), len(answers)) if len(answers) >= RATE_FROM else None


# ---- as text and as plain data


def purchases_dict() -> dict[str, Any]:
    """The comparison for `--json`."""
    found = all_compared().values()
    return {"model": NAME, "hindsight": _WHAT, "cases": [_plain(h) for h in found], "rate": rate(found)}


def _plain(h: Hindsight) -> dict[str, Any]:
    bill: dict[str, Any] | None = None
    if h.bill_usd is not None:
        bill = {"usd": float(h.bill_usd.mean()), "option": h.purchase.chosen[0], "holds": h.bill_holds}
    advice: dict[str, Any] | None = None
    if h.verdict is not None:
        told = {"agrees": h.agrees, "as_expected": h.as_expected}
        advice = {"advice": h.verdict.choice, "confidence": str(h.verdict.confidence), **told}
    return {
        "id": h.purchase.id,
        "owner": h.purchase.owner,
        "gpus": h.purchase.gpus,
        "confirmed": h.purchase.is_confirmed,
        "date": h.purchase.date,
        "chosen": list(h.purchase.chosen),
        "price_usd": h.price_usd,
        "our_bill": bill,
        "our_advice": advice,
        "computable": {"bill": h.purchase.computable.bill, "advice": h.purchase.computable.advice},
    }


def purchases_text() -> str:
    """The comparison for a terminal."""
    return "\n".join(_lines(all_compared().values()))


def _lines(found: Collection[Hindsight]) -> Iterator[str]:
    title = "Purchases of others, in hindsight"
    yield from (title, "=" * len(title), _WHAT)
    for h in found:
        yield from _case(h)
    if (told := rate(found)) is not None:
        yield f"They took what we would have advised in {told[0]} of {told[1]} compared."


def _case(h: Hindsight) -> Iterator[str]:
    p, options = h.purchase, read_options()
    size = "GPUs not counted" if p.gpus is None else f"{p.gpus:,} GPUs{'' if p.is_confirmed else ' (not confirmed)'}"
    yield f"{p.owner}, {p.date}: {size}, {p.gpu}"
    yield f"  theirs: {p.network}" + (f", for {price_text(p.price)} ({p.price.includes})" if p.price else "")
    if h.bill_usd is None:
        yield f"  our bill: {p.computable.bill}"
    else:
        told = formats.write(float(h.bill_usd.mean()), "usd")
        holds = "their price is within its range" if h.bill_holds else "their price is outside its range: a miss"
        yield f"  our bill in hindsight: {told} for servers and {options[p.chosen[0]].name}, {holds}"
    if h.verdict is None:
        yield f"  our advice: {p.computable.advice}"
    else:
        same = {True: "as they took", False: "not what they took: a miss", None: "so no choice could miss"}[h.agrees]
        told = "as expected" if h.as_expected else "not as expected"
        yield f"  our advice in hindsight: {advice_text(h)}, {same}; {told}"


def advice_text(h: Hindsight) -> str:
    """What we would have advised; where it is close, that either would do, and which costs less by a little."""
    if h.verdict is None:
        return ""
    name = read_options()[h.verdict.choice].name
    return (
        f"either, {name} by a lead too small to choose by"
        if h.verdict.confidence.close
        else f"{name} ({h.verdict.confidence})"
    )


def price_text(paid: PricePaid) -> str:
    """A price in its own currency."""
    return formats.write(paid.amount, "usd" if paid.per == SYSTEM else f"usd/{paid.per}", 3, paid.currency)
