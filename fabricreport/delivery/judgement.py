"""One test of the plan judged on what was run: pass, fail or not proven, with the reason; and what a shortfall costs.

A test fails where, at one size and number of GPUs of the plan, as many runs miss the threshold as it takes for the run
that counts to miss it. It passes where every size has enough runs, and none fails. Everything else is not proven: a log
that is missing, of another number of GPUs or other settings than the order names, or that contradicts itself, never passes. A
failure is never outweighed. A fabric that passes may still owe a credit, which begins above the floor.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from statistics import median

from fabricreport.base.formats import significant
from fabricreport.books.logs.lines import log_rules
from fabricreport.delivery.runs import Flaw, Run
from fabricreport.ledger.numbers import Number
from fabricreport.sections.diligence.plan.result import Plan, PlannedTest, Tool

RATIO, BANDWIDTH, TIME = "ratio", "gbytes/s", "us"
GBITS = "gbits/s"
_BITS_PER_BYTE = 8.0


class TestVerdict(StrEnum):
    """What the logs say of one test."""

    __test__ = False

    PASS = "pass"
    FAIL = "fail"
    NOT_PROVEN = "not proven"


class Why(StrEnum):
    """Why a test stands as it does; the sentences stand in `data/delivery.yaml` under the same names."""

    HOLDS = "holds"
    BELOW = "below"
    ABOVE = "above"
    RANKS_DIFFER = "ranks-differ"
    WRONG_RESULTS = "wrong-results"
    NO_LOG = "no-log"
    NO_RECORD = "no-record"
    FEWER_GPUS = "fewer-gpus"
    NO_SIZE = "no-size"
    FEW_RUNS = "few-runs"
    FEW_RECORDS = "few-records"
    VOID_RUNS = "void-runs"
    FLAWED_RUNS = "flawed-runs"


@dataclass(frozen=True)
class Fault:
    """What a log of a test has against it: `sizes` in bytes of the rows that are flawed or, of `INCOMPLETE`, not there."""

    log: str
    flaw: Flaw
    sizes: tuple[int, ...] = ()


@dataclass(frozen=True)
class Judged:
    """One test at one stage, judged, at the point that decides: where it fails, where proof is missing, or its tightest.

    `gpus`, `size_bytes` (0 where sizes do not matter) and `threshold` of that point; `measured`: the run that counts there,
    None without one; `middle`: the middle one of those that count, by which a credit is measured. `runs`: those that count there, `wanted` as the plan asks, `missed`: those that miss the threshold.
    `largest`: most GPUs of any run of the test. `faults`: of every log of the test, of a failure those it rests on. `flaw`: of the runs that do not count, `lines`: where the runs of the reason
    stand, as (log, line). `whole`: the point on all GPUs of the stage that is paid for, where it is another one: of a failure
    shown on fewer, which alone is not paid for, and of a pass that falls short of where the credit begins.
    """

    test: PlannedTest
    verdict: TestVerdict
    why: Why
    gpus: int
    size_bytes: int
    threshold: float
    measured: float | None = None
    runs: int = 0
    missed: int = 0
    largest: int = 0
    flaw: Flaw | None = None
    faults: tuple[Fault, ...] = ()
    lines: tuple[tuple[str, int], ...] = ()
    whole: Judged | None = None
    middle: float | None = None

    @property
    def wanted(self) -> int:
        """Runs that the plan asks for at each size."""
        return self.test.runs

    @property
    def missing(self) -> int:
        """How many of them there are not."""
        return max(0, self.wanted - self.runs)

    @property
    def shortfall(self) -> float:
        """By how much the middle run misses where the credit begins, in the test's unit; 0 where it does not."""
        shown = self.measured if self.middle is None else self.middle
        if self.verdict is TestVerdict.NOT_PROVEN or shown is None:
            return 0.0
        return max(0.0, (self.credit_from - shown) * (1.0 if self.test.at_least else -1.0))

    @property
    def credit_from(self) -> float:
        """Where the credit begins at this point, as the contract prints it: at the threshold where the plan has no line."""
        line = self.test.lines.get((self.gpus, self.size_bytes))
        return self.threshold if line is None else _signed(self.test, line.credit)


def judge_plan(plan: Plan, runs: Sequence[Run]) -> tuple[Judged, ...]:
    """Every test of a plan at every stage, in the plan's order."""
    return tuple(judge(test, assigned(plan, test, runs)) for test in plan.tests)


def assigned(plan: Plan, test: PlannedTest, runs: Iterable[Run]) -> list[Run]:
    """The runs that are of a test: a log's name says of which one. A log that names none is of the first test of the plan
    that its rows fit, for those under load or for days come after it. The ranks are checked in every log of the collective.
    """
    own = [run for run in runs if run.measures == _measured_as(test)]
    if test.unit == RATIO:
        return own
    return [run for run in own if run.test == test.id or (not run.test and _first(plan, run) == test.id)]


def _first(plan: Plan, run: Run) -> str:
    """Id of the first test of the plan that asks for such a run, else of the first that it would be of on other GPUs or at
    another size.
    """
    alike = [test for test in plan.tests if test.unit != RATIO and run.measures == _measured_as(test)]
    fitting = [
        test for test in alike
        if any(size in (0, run.size_bytes) and _on(test, run, gpus) for gpus, size in test.thresholds)
    ]  # fmt: skip
    return next((test.id for test in [*fitting, *alike]), "")


def _measured_as(test: PlannedTest) -> str:
    return test.id if test.tool is Tool.RECORD else test.measures


def _on(test: PlannedTest, run: Run, gpus: int) -> bool:
    """Whether a run is on so many GPUs; what joins two adapters says nothing of GPUs."""
    return test.tool is Tool.PERFTEST or run.gpus == gpus


def judge_points(plan: Plan, runs: Sequence[Run]) -> tuple[Judged, ...]:
    """Every threshold of every test by itself, in the plan's order, few GPUs and small messages first."""
    return tuple(point.judged() for test in plan.tests for point in _points(test, assigned(plan, test, runs)))


def judge(test: PlannedTest, own: Sequence[Run]) -> Judged:
    """One test on the runs that are of it."""
    points = _points(test, own)
    for verdict in (TestVerdict.FAIL, TestVerdict.NOT_PROVEN):
        found = [point for point in points if point.verdict is verdict]
        if found:
            shown = max(found, key=_Point.weight)
            return replace(shown.judged(), whole=_whole(test, found) if shown.gpus != test.gpus else None)
    tightest = min(points, key=_Point.margin).judged()
    return replace(tightest, whole=_owing(test, points, tightest))


def _owing(test: PlannedTest, points: Sequence[_Point], shown: Judged) -> Judged | None:
    """Of a test that passes, the point on all GPUs that falls farthest short of where the credit begins, as a share of it."""
    on_all = (point.judged() for point in points if point.gpus == test.gpus)
    worst = max(on_all, key=lambda one: one.shortfall / one.credit_from if one.shortfall else 0.0, default=shown)
    return worst if worst.shortfall and worst != shown else None


def _points(test: PlannedTest, own: Sequence[Run]) -> list[_Point]:
    return [_Point(test, own, *point, _as_written(test, point)) for point in sorted(test.thresholds)]


def _as_written(test: PlannedTest, point: tuple[int, int]) -> float:
    """The threshold as the contract prints it: nobody signs the digits behind."""
    line = test.lines.get(point)
    return test.thresholds[point] if line is None or test.unit == RATIO else _signed(test, line.floor)


def _signed(test: PlannedTest, number: Number) -> float:
    return number.value if test.unit == RATIO else significant(number.value, number.digits)


def _whole(test: PlannedTest, alike: Sequence[_Point]) -> Judged | None:
    """The test on all GPUs of its stage, at the point that weighs most of those of one verdict; None without one."""
    points = [point for point in alike if point.gpus == test.gpus]
    return max(points, key=_Point.weight).judged() if points else None


def faults_of(test: PlannedTest, own: Iterable[Run]) -> tuple[Fault, ...]:
    """Everything that keeps the runs of a test from counting, by log; also the sizes of the plan that a sound log lacks."""
    found: dict[tuple[str, Flaw], set[int]] = {}
    for run in own:
        sizes = {size for gpus, size in test.thresholds if _on(test, run, gpus)}
        lacks = (set(test.logged_sizes) if run.flaw is Flaw.INCOMPLETE else sizes - {0}) - run.table
        if lacks and sizes and run.table:
            found.setdefault((run.log, Flaw.INCOMPLETE), set()).update(lacks)
        if run.flaw and sizes & {0, run.size_bytes} and (test.unit != RATIO or run.flaw is Flaw.OTHER_RANKS):
            of_row = {run.size_bytes} if run.flaw in (Flaw.REPEAT, Flaw.WARM_UP) else set()
            found.setdefault((run.log, run.flaw), set()).update(of_row)
    return tuple(Fault(log, flaw, tuple(sorted(sizes))) for (log, flaw), sizes in found.items())


class _Point:
    """One threshold of a test, and the runs at its number of GPUs and size."""

    def __init__(self, test: PlannedTest, own: Sequence[Run], gpus: int, size: int, threshold: float) -> None:
        self.test, self.own, self.gpus, self.size, self.threshold = test, own, gpus, size, threshold
        self.here = sorted(
            (run for run in own if self._is_here(run)), key=lambda run: (_badness(test, run), run.log, run.line)
        )
        self.missing = [run for run in self.here if self._misses(run)]
        self.sound = [run for run in self.here if run.flaw is None or (run in self.missing and not run.void)]

    def _is_here(self, run: Run) -> bool:
        at_size = self.size in (0, run.size_bytes)
        return at_size and _on(self.test, run, self.gpus) and _value(self.test, run) is not None

    def _misses(self, run: Run) -> bool:
        """Whether a run speaks against the fabric."""
        if self.test.unit == RATIO:
            return run.flaw is Flaw.OTHER_RANKS
        if run.void:
            return False
        value = _value(self.test, run)
        assert value is not None
        below = value < self.threshold if self.test.at_least else value > self.threshold
        return below or run.flaw is Flaw.WRONG_RESULTS

    @property
    def verdict(self) -> TestVerdict:
        if len(self.missing) >= self.test.counted:
            return TestVerdict.FAIL
        return TestVerdict.PASS if len(self.sound) >= self.test.runs else TestVerdict.NOT_PROVEN

    @property
    def counted(self) -> Run | None:
        """The run that counts: from the worst, as many as the plan says."""
        among = self.missing if self.verdict is TestVerdict.FAIL else self.sound
        return among[min(self.test.counted, len(among)) - 1] if among else None

    @property
    def measured(self) -> float | None:
        return None if self.counted is None else _value(self.test, self.counted)

    @property
    def middle(self) -> float | None:
        found = [value for run in self.sound if (value := _value(self.test, run)) is not None]
        return median(found) if found else None

    def margin(self) -> float:
        """By which share of the threshold the run that counts is on the right side of it."""
        if self.measured is None:
            return 0.0
        better = self.measured - self.threshold if self.test.at_least else self.threshold - self.measured
        return better / abs(self.threshold) if self.threshold else better

    def weight(self) -> tuple[float, int, int]:
        """What puts one point before another of the same verdict: a larger shortfall, else more GPUs and larger messages."""
        short = -self.margin() if self.verdict is TestVerdict.FAIL else 0.0
        return short, self.gpus, self.size

    def judged(self) -> Judged:
        why, shown = self._why()
        return Judged(
            self.test,
            self.verdict,
            why,
            self.gpus,
            self.size,
            self.threshold,
            measured=self.measured,
            middle=self.middle,
            runs=len(self.sound),
            missed=len(self.missing),
            largest=max((run.gpus or 0 for run in self.own), default=0),
            flaw=next((run.flaw for run in shown if run.flaw), None),
            faults=self._faults({run.log for run in shown}),
            lines=tuple(sorted({(run.log, run.line) for run in shown})),
        )

    def _faults(self, shown: Collection[str]) -> tuple[Fault, ...]:
        """What the logs of the test have against them; of a failure those of the logs that it rests on."""
        if self.verdict is TestVerdict.PASS:
            return ()
        found = faults_of(self.test, self.own)
        return tuple(fault for fault in found if self.verdict is TestVerdict.NOT_PROVEN or fault.log in shown)

    def _why(self) -> tuple[Why, Sequence[Run]]:
        """The reason, and the runs that it rests on."""
        if self.verdict is TestVerdict.PASS:
            return Why.HOLDS, self.sound
        if self.verdict is TestVerdict.FAIL:
            return self._why_failed(), self.missing
        by_hand = self.test.tool is Tool.RECORD
        flawed = [run for run in self.here if run not in self.sound]
        if not self.own:
            return (Why.NO_RECORD if by_hand else Why.NO_LOG), ()
        if flawed and not self.sound:
            return (Why.VOID_RUNS if all(run.void for run in flawed) else Why.FLAWED_RUNS), flawed
        if flawed:
            return Why.FLAWED_RUNS, flawed
        if self.here:
            return (Why.FEW_RECORDS if by_hand else Why.FEW_RUNS), self.sound
        if any(run.gpus == self.gpus for run in self.own):
            return Why.NO_SIZE, self.own
        return Why.FEWER_GPUS, self.own

    def _why_failed(self) -> Why:
        if self.test.unit == RATIO:
            return Why.RANKS_DIFFER
        if self.margin() >= 0 and any(run.flaw is Flaw.WRONG_RESULTS for run in self.missing):
            return Why.WRONG_RESULTS
        return Why.BELOW if self.test.at_least else Why.ABOVE


def _value(test: PlannedTest, run: Run) -> float | None:
    """What a run shows, in the test's unit; None where it shows nothing of it."""
    if test.tool is Tool.RECORD:
        return run.value
    if test.unit == TIME:
        return run.p99_us if test.tool is Tool.PERFTEST and run.p99_us is not None else run.time_us
    busbw, algbw = run.busbw_gbytes_per_s, run.algbw_gbytes_per_s
    if test.unit == RATIO:
        clear = log_rules().rank_check_algbw_gbytes_per_s  # below it the printed figures are too coarse to divide
        return busbw / algbw if busbw is not None and algbw is not None and algbw >= clear else None
    return busbw if busbw is None or test.unit != GBITS else busbw * _BITS_PER_BYTE


def _badness(test: PlannedTest, run: Run) -> float:
    """The value with its sign such that the worst run comes first."""
    value = _value(test, run)
    assert value is not None
    return value if test.at_least else -value


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
