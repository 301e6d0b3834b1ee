"""From a case and the files handed over to the delivery judged: tests, credit, and the decision made again with what was measured."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from fabricreport.base.errors import InputError, Problem
from fabricreport.base.locations import did_you_mean, shown_path
from fabricreport.base.provenance import Traced, plain
from fabricreport.base.units import DAYS_PER_WEEK
from fabricreport.base.yaml_files import read_yaml
from fabricreport.books.acceptance import SUFFIXES, read_records
from fabricreport.books.logs.measurements import read_log, read_perftest
from fabricreport.books.options import Option
from fabricreport.case import Case
from fabricreport.delivery.judgement import (
    BANDWIDTH,
    RATIO,
    Credit,
    Judged,
    TestVerdict,
    assigned,
    credits_due,
    judge_plan,
    judge_points,
    made_good,
    total,
)
from fabricreport.delivery.runs import ALLREDUCE, FILE, Logs, Order, Run, read_order, runs_of, runs_of_records
from fabricreport.models.judgement.comparison import Verdict
from fabricreport.models.training.step import Network
from fabricreport.sections.chain import Delivered
from fabricreport.sections.decision.inputs import comparison_of
from fabricreport.sections.diligence.plan.result import Plan, Tool
from fabricreport.sections.diligence.plan.rule import gpu_gbytes_per_s
from fabricreport.sections.latency.inputs import cluster_allreduce, speaks_for

if TYPE_CHECKING:
    import pandas as pd


WEEKS, INTERRUPTIONS = "T-WEEKS", "T-INTERRUPTIONS"
_IN_WEEKS = {"week": 1.0, "day": 1.0 / DAYS_PER_WEEK}


@dataclass(frozen=True)
class Evidence:
    """What of the delivery enters the decision; None where nothing was seen of it.

    `busbw_gbytes_per_s`: median of the sound AllReduce runs on `gpus` at `size_bytes`, the largest that the plan asks for.
    `weeks` until stable; `faults`: interruptions seen over those expected, where more came than the plan allows.
    """

    gpus: int = 0
    size_bytes: int = 0
    busbw_gbytes_per_s: float | None = None
    weeks: float | None = None
    faults: float | None = None

    @property
    def any(self) -> bool:
        """Whether anything does."""
        return not (self.busbw_gbytes_per_s is None and self.weeks is None and self.faults is None)


@dataclass(frozen=True)
class Decided:
    """The decision with and without what was seen: verdicts, and the lead of the option that stands over its rival, by draw."""

    before: Verdict
    after: Verdict
    rival: str
    lead_before: Traced
    lead_after: Traced

    def is_advised(self, option: str, verdict: Verdict) -> bool:
        """Whether the option is advised, or one of two that money does not tell apart."""
        return option in verdict.course.options


def evidence_of(case: Case, plan: Plan, runs: Sequence[Run], judged: Sequence[Judged]) -> Evidence:
    """What the runs say about the quantities that the decision rests on.

    Bandwidth counts as the plan's first test of AllReduce has it: idle, at the most GPUs and the largest message run.
    """
    found = Evidence(weeks=_weeks(judged), faults=_faults(case, judged))
    first = next((t for t in plan.tests if (t.measures, t.unit) == (ALLREDUCE, BANDWIDTH)), None)
    if first is None:
        return found
    tests = plan.of(first.id)
    own = [run for test in tests for run in assigned(plan, test, runs) if run.flaw is None]
    per_node, cluster = int(case.params.cluster.gpus_per_node), int(case.params.cluster.gpus)
    for gpus, size in sorted({point for test in tests for point in test.thresholds}, reverse=True):
        shown = [
            r.busbw_gbytes_per_s for r in set(own) if (r.gpus, r.size_bytes) == (gpus, size) and r.busbw_gbytes_per_s
        ]
        if shown and speaks_for(case.inputs, gpus // per_node, cluster):
            return replace(found, gpus=gpus, size_bytes=size, busbw_gbytes_per_s=median(shown))
    return found


def decide_again(case: Case, option: str, seen: Evidence) -> Decided:
    """The decision of the case before and after what was seen of the option, every other input at its draws."""
    before, chain = case.comparison, case.chain
    rival = before.rival if option == before.choice else before.choice
    network = None if seen.busbw_gbytes_per_s is None else _as_measured(case, option, seen)
    faults = 1.0 if seen.faults is None else seen.faults
    bills = chain.delivered(Delivered(option, network, seen.weeks, faults)).bills if seen.any else chain.bills
    after = comparison_of(case.inputs, bills)
    return Decided(before.verdict, after.verdict, rival, chain.bills.gap(rival, option), bills.gap(rival, option))


def _as_measured(case: Case, option: str, seen: Evidence) -> Network:
    """The option's network, slowed in each draw until it shows the bandwidth that was measured."""
    wires = case.chain.exposure.timed[option].network
    modelled = cluster_allreduce(case.inputs, wires, seen.gpus, [float(seen.size_bytes)]).busbw_gbytes_per_s[..., 0]
    assert seen.busbw_gbytes_per_s is not None
    return replace(wires, slowdown=np.asanyarray(wires.slowdown) * modelled / seen.busbw_gbytes_per_s)


def first_weeks(judged: Sequence[Judged]) -> Judged | None:
    """The first stage of the test of the time until stable that has a record."""
    return next((one for one in judged if one.test.id == WEEKS and one.measured is not None), None)


def _weeks(judged: Sequence[Judged]) -> float | None:
    """Weeks until stable as recorded."""
    one = first_weeks(judged)
    return None if one is None or one.measured is None else one.measured * _IN_WEEKS[one.test.unit]


def _faults(case: Case, judged: Sequence[Judged]) -> float | None:
    """Interruptions seen over those expected, where they fail their test; None otherwise: one month of luck proves nothing."""
    failed = [one for one in judged if one.test.id == INTERRUPTIONS and one.verdict is TestVerdict.FAIL]
    expected = next((p.expected for p in case.diligence().promises if p.id == "interruptions"), None)
    if not failed or expected is None or not expected.value:
        return None
    return max(one.measured or 0.0 for one in failed) / expected.value


def mean_of(draws: Traced) -> float:
    """Mean of draws, without provenance."""
    return float(plain(draws).mean())


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


_NAMED = re.compile(r"T-[A-Z]+(?:-[A-Z]+)*(?=\.)")  # ends at the first dot, so that it takes no longer than the name
FOLDER = "as-delivered"
"""Folder beside a params file whose files are what was handed over."""


@dataclass(frozen=True)
class Handed:
    """One file that was handed over: where it is, and its name for people."""

    name: str
    path: Path


def accept(case: Case, plan: Plan, logs: Logs) -> Acceptance:
    """The delivery that these logs show, judged against a plan of one of the case's options."""
    judged = judge_plan(plan, logs.runs)
    seen = evidence_of(case, plan, logs.runs, judged)
    decided = decide_again(case, plan.option, seen)
    options = {option.id: option for option in case.options}
    pair = options[plan.option], options[decided.rival]
    return Acceptance(case, *pair, judged, credits_due(judged), seen, decided, logs, judge_points(plan, logs.runs))


def plan_of(case: Case, option: str = "") -> Plan:
    """The acceptance plan of a case's advised option, or of `option` where two are as good and it is one of them.

    `InputError` for a client without a fabric to accept, and for an option that the case has no plan for.
    """
    diligence = case.diligence()
    plans = {plan.option: plan for plan in (diligence.plan, diligence.plan_of_rival) if plan is not None and plan.tests}
    if not plans:
        message = (
            "all GPUs sit in one node: there is no fabric to accept"
            if case.decision().joins_nodes
            else "jobs stay within nodes: there is no network between them to accept"
        )
        raise InputError(Problem(message, key="cluster.gpus", remedy="Accept the servers by their maker's own test."))
    if option and option not in plans:
        known = f"There is one for: {', '.join(plans)}."
        raise InputError(
            Problem(
                "has no acceptance plan",
                key="--option",
                value=option,
                remedy=known,
                suggestion=did_you_mean(option, plans),
            )
        )
    return plans[option] if option else next(iter(plans.values()))


def folder_of(option: str) -> str:
    """Name of the folder of what was handed over: of the advised option, or of the one that is named."""
    return f"{FOLDER}-{option}" if option else FOLDER


def handed_beside(params: Path) -> tuple[str, tuple[Handed, ...]]:
    """The option that is named, '' for the advised one, and everything that lies in the folder of what was handed over."""
    beside = params.resolve().parent
    folders = sorted(path for path in beside.glob(f"{FOLDER}*") if path.is_dir())
    if len(folders) > 1:
        named = ", ".join(folder.name for folder in folders)
        raise InputError(
            Problem(f"holds several deliveries: {named}", str(beside), remedy="Keep the one to be judged.")
        )
    if not folders:
        return "", ()
    files = (path for path in sorted(folders[0].rglob("*")) if path.is_file())
    return folders[0].name.removeprefix(FOLDER).removeprefix("-"), tuple(Handed(path.name, path) for path in files)


def read_logs(case: Case, plan: Plan, files: Sequence[Handed]) -> Logs:
    """Every log and every record; one `InputError` lists the faults of all of them.

    Files of the same bytes are one: a run counts once, however often it is handed over.
    """
    units = {test.id: test.unit for test in plan.tests if test.tool is Tool.RECORD}
    measures = {test.id: test.measures for test in plan.tests}
    option = next(o for o in case.options if o.id == plan.option)
    rules = int(case.params.cluster.gpus_per_node), gpu_gbytes_per_s(case.inputs, option)
    order = _order(plan, files)
    runs: list[Run] = []
    problems: list[Problem] = []
    beside: list[str] = []
    for name, path in _once(files):
        if name.partition(".")[0] in (FILE, *read_yaml("delivery")["beside"]):
            beside.append(name)
            continue
        try:
            if path.suffix.lower() in SUFFIXES:
                runs += runs_of_records(read_records(path, units), name)
            else:
                test = _test_of(plan, name, path)
                runs += runs_of(_frame(path, *rules), name, test, measures.get(test, ""), order)
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(problems)
    return Logs(tuple(runs), tuple(file.name for file in files), tuple(beside), order.settings)


def _order(plan: Plan, files: Sequence[Handed]) -> Order:
    """The settings of the order: those of the file that names them, else the plan's own."""
    path = next((file.path for file in files if file.name.partition(".")[0] == FILE), None)
    return Order(plan.settings) if path is None else read_order(path)


def _frame(path: Path, gpus_per_node: int, line_gbytes_per_s: float) -> pd.DataFrame:
    """A log; one between two adapters is held against their line rate. A collective may show more: switches that add up
    what passes through them save half of the traffic.
    """
    frame = read_log(path, gpus_per_node=gpus_per_node)
    if frame.attrs["kind"] != "perftest":
        return frame
    return read_perftest(path, nic_gbytes_per_s=line_gbytes_per_s)


def _test_of(plan: Plan, name: str, path: Path) -> str:
    """The test that a log's name begins with, '' if it begins with none; `InputError` for one that the plan does not have."""
    known, named = dict.fromkeys(test.id for test in plan.tests), _NAMED.match(name)
    if named is None or named[0] in known:
        return named[0] if named else ""
    raise InputError(
        Problem(
            "is named after a test that the plan does not have",
            shown_path(path),
            value=named[0],
            suggestion=did_you_mean(named[0], known),
            remedy=f"Known: {', '.join(known)}.",
        )
    )


def _once(files: Sequence[Handed]) -> Iterator[tuple[str, Path]]:
    """The files with names that tell them apart, those of the same bytes once; what cannot be read is left to its reader."""
    known: set[str] = set()
    told: dict[str, int] = {}
    for file in files:
        digest = _digest(file.path)
        if digest in known:
            continue
        known.add(digest or str(file.path))
        told[file.name] = told.get(file.name, 0) + 1
        yield (file.name if told[file.name] == 1 else f"{file.name} ({told[file.name]})"), file.path


def _digest(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
    except OSError:
        return ""
