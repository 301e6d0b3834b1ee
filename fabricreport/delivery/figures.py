"""The ledger numbers of a delivery: what was measured, asked for, short and due, and the lead before and after."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from fabricreport.delivery.judgement import PERCENT, RATIO, Credit, Judged, TestVerdict
from fabricreport.delivery.study import Acceptance, first_weeks, mean_of
from fabricreport.ledger.numbers import Number
from fabricreport.sections.diligence.terms import CREDIT_CAP, DAMAGES_CAP

GIB, MIB, KIB = 2**30, 2**20, 2**10
_SIZES = ((GIB, "gib"), (MIB, "mib"), (KIB, "kib"))
_MEASURED, _CONTRACT = "measured", "contract"
_DIGITS, _RATIO_DIGITS = 4, 6


@dataclass(frozen=True)
class Figures:
    """Numbers of a delivery, made on request; those of a test bear its id, its stage, and GPUs and bytes of the threshold."""

    found: Acceptance

    def measured(self, one: Judged) -> Number | None:
        """What the run that counts shows."""
        if one.measured is None:
            return None
        return self._plain(one, "measured", one.measured, "Measured", "the run that counts, from the worst", _MEASURED)

    def asked(self, one: Judged) -> Number:
        """The threshold, as the plan has it in the ledger."""
        if (bar := one.test.bars.get((one.gpus, one.size_bytes))) is not None:
            return bar
        return self._plain(one, "asked", one.threshold, "Threshold", "as the plan writes it down", _CONTRACT)

    def gpus(self, one: Judged) -> Number:
        """GPUs that the threshold is for."""
        return self._count(one, "gpus", one.gpus, "gpus", "GPUs that the threshold is for", _CONTRACT)

    def largest(self, one: Judged) -> Number:
        """The most GPUs of any run handed over."""
        return self._count(one, "largest", one.largest, "gpus", "Most GPUs of any run handed over", _MEASURED)

    def runs(self, one: Judged) -> Number:
        """Runs that count."""
        return self._count(one, "runs", one.runs, "count", "Runs that count", _MEASURED)

    def missed(self, one: Judged) -> Number:
        """Runs that miss the threshold."""
        return self._count(one, "missed", one.missed, "count", "Runs that miss the threshold", _MEASURED)

    def wanted(self, one: Judged) -> Number:
        """Runs that the plan asks for."""
        return self._count(one, "wanted", one.wanted, "count", "Runs that the plan asks for", _CONTRACT)

    def missing(self, one: Judged) -> Number:
        """Runs that are missing."""
        return self._count(one, "missing", max(0, one.wanted - one.runs), "count", "Runs missing", _MEASURED)

    def size(self, one: Judged) -> Number | None:
        """Size of the message, in the unit that it is a whole number of; None where sizes do not matter."""
        if not one.size_bytes:
            return None
        unit = next((name for size, name in _SIZES if one.size_bytes % size == 0), "byte")
        value = one.size_bytes / next((size for size, name in _SIZES if name == unit), 1)
        return self._count(one, "size", value, unit, "Message size of the threshold", _CONTRACT)

    def shortfall(self, credit: Credit) -> Number:
        """By how much a test misses where its credit begins, in the unit that its price is per."""
        rule = "where the credit begins less what was measured, or the other way round for a ceiling"
        unit = {"percent": "relative", "µs": "us", "hour": "h", "interruption": "count"}.get(credit.per, credit.per)
        value = credit.shortfall / 100.0 if unit == "relative" else credit.shortfall
        return self._own(credit.judged, "shortfall", value, unit, "Shortfall", rule, _MEASURED)

    def amount(self, credit: Credit) -> Number:
        """What a test's shortfall is worth."""
        price = credit.judged.test.price
        return self.found.case.inputs.number(
            _id(credit.judged, "credit"),
            credit.amount,
            "usd",
            label=f"Credit for {_told(credit.judged)}",
            rule="shortfall × price of a unit, as the plan writes it down, to where its credits end",
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
            label="Credit due",
            rule="sum of the credits of different losses, of each loss the largest",
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
            label=f"Lead of the option that stands, {when} the delivery",
            rule="mean of the rival’s total cost less its own"
            + ("" if when == "before" else ", with what was measured in place of what was expected"),
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
            label="By how much the lead moves with the delivery",
            rule="lead after less lead before",
            inputs=(before, after),
        )

    def tally(self, verdict: TestVerdict | None) -> Number:
        """How many tests have a verdict; all of them for None."""
        tests = self.found.judged if verdict is None else self.found.of(verdict)
        name = "tests" if verdict is None else verdict.replace(" ", "-")
        return Number(
            f"acceptance.tally.{name}",
            float(len(tests)),
            "count",
            label="Tests of the plan, at every stage" if verdict is None else f"Tests with the verdict: {verdict}",
            rule="count of the tests judged",
            grade=_MEASURED,
        )

    @cached_property
    def files(self) -> Number:
        """Files handed over."""
        value = float(len(self.found.logs.names))
        return Number("acceptance.files", value, "count", "Files handed over", "count of the files", grade=_MEASURED)

    def busbw(self) -> Number | None:
        """The AllReduce bandwidth that the decision is made again with."""
        value = self.found.seen.busbw_gbytes_per_s
        if value is None:
            return None
        rule = "median of the runs without a flaw, at the most GPUs and the largest message measured"
        return Number("acceptance.busbw", value, "gbytes/s", "AllReduce busbw as delivered", rule, grade=_MEASURED)

    def weeks(self) -> Number | None:
        """The time until stable that the decision is made again with, as recorded."""
        one = first_weeks(self.found.judged)
        return None if one is None else self.measured(one)

    def _plain(self, one: Judged, part: str, value: float, label: str, rule: str, grade: str) -> Number:
        digits = _RATIO_DIGITS if one.test.unit == RATIO else _DIGITS
        return self._own(one, part, value, one.test.unit, label, rule, grade, digits)

    def _count(self, one: Judged, part: str, value: float, unit: str, label: str, grade: str) -> Number:
        return self._own(one, part, value, unit, label, "as judged", grade)

    def _own(
        self, one: Judged, part: str, value: float, unit: str, label: str, rule: str, grade: str, digits: int = 3
    ) -> Number:
        return Number(
            _id(one, part), float(value), unit, f"{label}: {_told(one)}", rule, grade=grade, digits=digits,
            currency=self.found.case.inputs.currency,
        )  # fmt: skip


def _id(one: Judged, part: str) -> str:
    return f"acceptance.{part}.{one.test.id.lower()}.{one.test.stage}.{one.gpus}.{one.size_bytes}"


def _told(one: Judged) -> str:
    """A test at one of its points, in words: a test has a threshold for every size."""
    sizes = (f"{one.gpus:,} GPUs" if one.gpus else "", f"{one.size_bytes:,} bytes" if one.size_bytes else "")
    return ", ".join([one.test.id, f"stage {one.test.stage}", *(size for size in sizes if size)])
