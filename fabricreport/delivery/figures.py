"""The ledger numbers of a delivery: what was measured, asked for, short and due, and the lead before and after.

What each is called stands in `data/delivery.yaml`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from fabricreport.base.yaml_files import read_yaml
from fabricreport.delivery.judgement import PERCENT, RATIO, Credit, Judged, TestVerdict
from fabricreport.delivery.study import Acceptance, first_weeks, mean_of
from fabricreport.ledger.figures import worded
from fabricreport.ledger.numbers import Number
from fabricreport.sections.diligence.terms import CREDIT_CAP, DAMAGES_CAP

GIB, MIB, KIB = 2**30, 2**20, 2**10
_SIZES = ((GIB, "gib"), (MIB, "mib"), (KIB, "kib"))
_MEASURED = "measured"
_DIGITS, _RATIO_DIGITS = 4, 6


@dataclass(frozen=True)
class Figures:
    """Numbers of a delivery, made on request; those of a test bear its id, its stage, and GPUs and bytes of the threshold."""

    found: Acceptance

    def measured(self, one: Judged) -> Number | None:
        """What the run that counts shows."""
        return None if one.measured is None else self._plain(one, "measured", one.measured)

    def asked(self, one: Judged) -> Number:
        """The threshold, as the plan has it in the ledger."""
        bar = one.test.bars.get((one.gpus, one.size_bytes))
        return self._plain(one, "asked", one.threshold) if bar is None else bar

    def count(self, one: Judged, part: str) -> Number:
        """How many GPUs, or runs, a field of the judgement names."""
        return self._own(one, part, getattr(one, part))

    def size(self, one: Judged) -> Number | None:
        """Size of the message, in the unit that it is a whole number of; None where sizes do not matter."""
        if not one.size_bytes:
            return None
        size, unit = next(((size, name) for size, name in _SIZES if one.size_bytes % size == 0), (1, "byte"))
        return self._own(one, "size", one.size_bytes / size, unit)

    def shortfall(self, credit: Credit) -> Number:
        """By how much a test misses where its credit begins, in the unit that its price is per."""
        unit = {"percent": "relative", "µs": "us", "hour": "h", "interruption": "count"}.get(credit.per, credit.per)
        value = credit.shortfall / 100.0 if unit == "relative" else credit.shortfall
        return self._own(credit.judged, "shortfall", value, unit)

    def amount(self, credit: Credit) -> Number:
        """What a test's shortfall is worth."""
        price = credit.judged.test.price
        return self.found.case.inputs.number(
            _id(credit.judged, "credit"),
            credit.amount,
            "usd",
            **worded("delivery", "credit", test=_told(credit.judged)),
            inputs=()
            if price is None
            else (price, *([CREDIT_CAP if credit.per == PERCENT else DAMAGES_CAP] if credit.capped else [])),
        )

    @cached_property
    def credit(self) -> Number:
        """The credit due in all."""
        due = [credit for credit in self.found.credits if credit.counts]
        return self.found.case.inputs.number(
            "acceptance.credit",
            self.found.credit,
            "usd",
            **worded("delivery", "due"),
            inputs=[self.amount(credit) for credit in due],
            counted=not due,
        )

    def lead(self, when: str) -> Number:
        """The lead of the option that stands over its rival, `before` or `after` what was seen."""
        decided = self.found.decided
        draws = decided.lead_before if when == "before" else decided.lead_after
        return self.found.case.inputs.number(
            f"acceptance.lead.{when}",
            draws,
            "usd",
            central="mean",
            **worded("delivery", when),
        )

    @cached_property
    def moved(self) -> Number:
        """By how much the lead moves."""
        before, after = self.lead("before"), self.lead("after")
        moved = mean_of(self.found.decided.lead_after) - mean_of(self.found.decided.lead_before)
        return self.found.case.inputs.number(
            "acceptance.lead.moved",
            moved,
            "usd",
            **worded("delivery", "moved"),
            inputs=(before, after),
        )

    def tally(self, verdict: TestVerdict | None) -> Number:
        """How many tests have a verdict; all of them for None."""
        tests = self.found.judged if verdict is None else self.found.of(verdict)
        name = "tests" if verdict is None else verdict.replace(" ", "-")
        words = worded("delivery", "tests") if verdict is None else worded("delivery", "tally", verdict=verdict)
        return Number(f"acceptance.tally.{name}", float(len(tests)), "count", **words, grade=_MEASURED)

    @cached_property
    def files(self) -> Number:
        """Files handed over."""
        value = float(len(self.found.logs.names))
        return Number("acceptance.files", value, "count", **worded("delivery", "files"), grade=_MEASURED)

    def busbw(self) -> Number | None:
        """The AllReduce bandwidth that the decision is made again with."""
        value = self.found.seen.busbw_gbytes_per_s
        if value is None:
            return None
        return Number("acceptance.busbw", value, "gbytes/s", **worded("delivery", "busbw"), grade=_MEASURED)

    def weeks(self) -> Number | None:
        """The time until stable that the decision is made again with, as recorded."""
        one = first_weeks(self.found.judged)
        return None if one is None else self.measured(one)

    def _plain(self, one: Judged, part: str, value: float) -> Number:
        return self._own(one, part, value, one.test.unit, _RATIO_DIGITS if one.test.unit == RATIO else _DIGITS)

    def _own(self, one: Judged, part: str, value: float, unit: str = "", digits: int = 3) -> Number:
        told = read_yaml("delivery")["figures"][part]
        return Number(
            _id(one, part), float(value), unit or told["unit"], **worded("delivery", part, test=_told(one)), grade=told["grade"],
            digits=digits, currency=self.found.case.inputs.currency,
        )  # fmt: skip


def _id(one: Judged, part: str) -> str:
    return f"acceptance.{part}.{one.test.id.lower()}.{one.test.stage}.{one.gpus}.{one.size_bytes}"


def _told(one: Judged) -> str:
    """A test at one of its points, in words: a test has a threshold for every size."""
    sizes = (f"{one.gpus:,} GPUs" if one.gpus else "", f"{one.size_bytes:,} bytes" if one.size_bytes else "")
    return ", ".join([one.test.id, f"stage {one.test.stage}", *(size for size in sizes if size)])
