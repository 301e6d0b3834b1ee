"""What the delivery comes to: every test judged, the credit due, the decision again, and what to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from fabricreport.acceptance.credit import Credit, made_good, total
from fabricreport.acceptance.judging import RATIO, Judged, TestVerdict
from fabricreport.acceptance.redecide import Decided, Evidence
from fabricreport.acceptance.runs import Logs
from fabricreport.books.options import Option
from fabricreport.case import Case


class Outcome(StrEnum):
    """What to do with the delivery."""

    ACCEPT = "accept"
    CREDIT = "accept with credit"
    RETEST = "retest"
    REJECT = "reject"


@dataclass(frozen=True)
class Acceptance:
    """The delivery of one option, judged. `logs`: what was handed over; `points`: every threshold by itself."""

    case: Case
    option: Option
    rival: Option
    judged: tuple[Judged, ...]
    credits: tuple[Credit, ...]
    seen: Evidence
    decided: Decided
    logs: Logs
    points: tuple[Judged, ...] = ()

    def of(self, verdict: TestVerdict) -> tuple[Judged, ...]:
        """The tests with this verdict."""
        return tuple(one for one in self.judged if one.verdict is verdict)

    @property
    def credit(self) -> float:
        """What is due in all, in the memo's currency."""
        return total(self.credits)

    @property
    def outcome(self) -> Outcome:
        """What to do."""
        return outcome_of(self.judged, self.credits, advice_lost=self.advice_lost)

    @property
    def advised_before(self) -> bool:
        """Whether the option was advised before it stood."""
        return self.decided.is_advised(self.option.id, self.decided.before)

    @property
    def advised_after(self) -> bool:
        """Whether it still is, by what was seen of it."""
        return self.decided.is_advised(self.option.id, self.decided.after)

    @property
    def advice_lost(self) -> bool:
        """Whether what was seen of it speaks for the rival."""
        return self.advised_before and not self.advised_after

    def worst_by_test(self) -> tuple[Judged, ...]:
        """One line for each test, at the stage that decides: where it fails, else where proof is missing, else the last.

        Failures first, then what is not proven; the plan's order within.
        """
        rank = {TestVerdict.FAIL: 0, TestVerdict.NOT_PROVEN: 1, TestVerdict.PASS: 2}
        by_test: dict[str, Judged] = {}
        for one in self.judged:
            before = by_test.get(one.test.id)
            if before is None or rank[one.verdict] <= rank[before.verdict]:
                by_test[one.test.id] = one
        return tuple(sorted(by_test.values(), key=lambda one: rank[one.verdict]))


def outcome_of(judged: Sequence[Judged], credits: Sequence[Credit], *, advice_lost: bool) -> Outcome:
    """The rule. Refused is a fabric that fails what money does not make good, or with which the advice is lost; then comes
    a test that is not proven, for nobody accepts what was not shown; then what a credit makes good, a pass below where credits
    begin among it. Logs of other ranks than
    they claim are refused themselves: they say nothing of the fabric.
    """
    failed = [one for one in judged if one.verdict is TestVerdict.FAIL and one.test.unit != RATIO]
    if any(not made_good(one, credits) for one in failed) or (failed and advice_lost):
        return Outcome.REJECT
    if any(one.verdict is TestVerdict.NOT_PROVEN or ranks_refused(one) for one in judged):
        return Outcome.RETEST
    return Outcome.CREDIT if failed or credits else Outcome.ACCEPT


def ranks_refused(one: Judged) -> bool:
    """Whether a log handed over ran on other ranks than it claims."""
    return one.test.unit == RATIO and one.verdict is TestVerdict.FAIL
