"""What a shortfall costs the buyer: by how much all GPUs of a stage miss where the credit begins, times the price that the plan
writes down, each loss counted once and none beyond where the plan ends it. What fails on fewer GPUs alone may be refused, and
has no credit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from fabricreport.acceptance.judging import Judged, TestVerdict
from fabricreport.sections.diligence.plan.result import Tool

PERCENT = "percent"
_PER_PRICED = {
    ("us", "µs"): 1.0, ("us", "us"): 1.0, ("week", "week"): 1.0, ("day", "day"): 1.0, ("day", "week"): 1.0 / 7.0,
    ("week", "day"): 7.0, ("min", "hour"): 1.0 / 60.0, ("h", "hour"): 1.0, ("s", "hour"): 1.0 / 3600.0,
    ("count", "interruption"): 1.0,
}  # fmt: skip
"""Units of a price for one of a test's unit, by (the test's unit, what the price is per)."""


@dataclass(frozen=True)
class Credit:
    """What one test that falls short is worth: its shortfall in the unit that the price is per, and the amount.

    `per`: that unit. `counts`: whether it is part of the total; else another test shows more of the same loss. `capped`:
    whether the shortfall is worth more than the plan lets be credited.
    """

    judged: Judged
    shortfall: float
    per: str
    amount: float
    counts: bool = True
    capped: bool = False


def credits_due(judged: Sequence[Judged]) -> tuple[Credit, ...]:
    """The credits of all tests that fall short on all GPUs of their stage and have a price, in the order of the tests.

    Tests of one stage whose prices are per the same unit show the same loss (bandwidth is one, whatever collective shows it; so
    is a week): only the largest of them counts. Weeks, bandwidth, latency and interruptions are different losses and add up, as
    what different stages add does.
    """
    found = [credit for one in judged if (credit := _credit(one)) is not None]
    largest = {_loss(c): c for c in sorted(found, key=lambda c: c.amount)}
    return tuple(replace(c, counts=c is largest[_loss(c)]) for c in found)


def _loss(credit: Credit) -> tuple[int, str]:
    return credit.judged.test.stage, credit.per


def total(credits: Sequence[Credit]) -> float:
    """What is due in all."""
    return sum(credit.amount for credit in credits if credit.counts)


def made_good(judged: Judged, credits: Sequence[Credit]) -> bool:
    """Whether money makes a failure good: it has a credit, or shows the same loss of bandwidth between GPUs as one that has.

    Below the end of the credits for bandwidth the fabric is refused, so one that was cut off makes nothing good.
    """
    same = [
        c
        for c in credits
        if c.judged is judged
        or (judged.test.tool is Tool.NCCL and (c.judged.test.tool, c.judged.test.unit) == (Tool.NCCL, judged.test.unit))
    ]
    return bool(same) and not any(c.capped and c.per == PERCENT for c in same)


def _credit(judged: Judged) -> Credit | None:
    paid = judged.whole or (judged if judged.gpus == judged.test.gpus else None)
    if paid is None or judged.verdict is TestVerdict.NOT_PROVEN or not paid.shortfall:
        return None
    factor, price = _per(paid), judged.test.price
    if factor is None or price is None:
        return None
    shortfall = paid.shortfall * factor
    amount, most = shortfall * price.value, judged.test.most
    capped = most is not None and amount > most
    return Credit(
        judged, shortfall, _priced_per(judged), most if most is not None and capped else amount, capped=capped
    )


def _priced_per(judged: Judged) -> str:
    price = judged.test.price
    return "" if price is None else price.unit.partition("/")[2]


def _per(judged: Judged) -> float | None:
    """Units of the price for one of the test's unit; None where the test has no price in a unit that it measures."""
    per = _priced_per(judged)
    if per == PERCENT:
        return 100.0 / judged.credit_from if judged.credit_from else None
    return _PER_PRICED.get((judged.test.unit, per))
