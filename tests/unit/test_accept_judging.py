"""Tests of the plan judged on logs and records made up: what passes, what fails, what proves nothing, and the laws that hold."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from delivered_cases import bandwidth_log, nccl_log, perftest_log
from hypothesis import given
from hypothesis import strategies as st
from rows import rows

from fabricreport.base.errors import InputError
from fabricreport.books.acceptance import Seen, read_records
from fabricreport.books.logs.measurements import read_log
from fabricreport.delivery.judgement import Fault, Judged, TestVerdict, Why, assigned, judge, judge_plan, judge_points
from fabricreport.delivery.runs import Flaw, Run, runs_of
from fabricreport.sections.diligence.plan.result import Plan, PlannedTest, Tool

GIB = 2**30
PASS, FAIL, OPEN = TestVerdict.PASS, TestVerdict.FAIL, TestVerdict.NOT_PROVEN


def planned(**changes: object) -> PlannedTest:
    """AllReduce on 16 and 64 GPUs at 1 and 8 GiB, three runs each, of which the second worst counts."""
    made = PlannedTest(
        id="T-ALLREDUCE",
        title="AllReduce",
        tool=Tool.NCCL,
        measures="allreduce",
        stage=1,
        gpus=64,
        thresholds={(g, s * GIB): 300.0 for g in (16, 64) for s in (1, 8)},
        unit="gbytes/s",
        at_least=True,
        runs=3,
        counted=2,
        command="all_reduce_perf",
        reason="",
        questions=("Q-NET-07",),
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def logged(busbw: float, gpus: int, run: int, *, sizes: tuple[int, ...] = (1, 8), **more: int) -> tuple[Run, ...]:
    """One run of AllReduce at the same bandwidth for each size, as its log is read."""
    text = bandwidth_log("allreduce", gpus, {s * GIB: busbw + s / 10 for s in sizes}, run=run, **more)
    return runs_of(read_log(text, gpus_per_node=8), f"{gpus}.{run}.log", "T-ALLREDUCE")


def delivered(*busbw: float) -> list[Run]:
    """The same runs on 16 and on 64 GPUs."""
    return [r for g in (16, 64) for n, value in enumerate(busbw) for r in logged(value, g, n)]


# ---- known answers


def test_enough_runs_that_hold_on_every_number_of_gpus_and_at_every_size_pass() -> None:
    found = judge(planned(), delivered(310, 320, 330))
    assert (found.verdict, found.why, found.runs) == (PASS, Why.HOLDS, 3)
    assert found.measured == pytest.approx(320.1, abs=0.1)  # the second worst, at the size where it is tightest
    assert found.shortfall == 0


def test_one_slow_run_of_three_is_borne_and_two_are_not() -> None:
    assert judge(planned(), delivered(250, 320, 330)).verdict is PASS
    found = judge(planned(), delivered(250, 270, 330))
    assert (found.verdict, found.why) == (FAIL, Why.BELOW)
    assert found.shortfall == pytest.approx(29.9, abs=0.1)


def test_a_slow_point_fails_the_test_though_all_others_hold() -> None:
    runs = [*delivered(310, 320, 330), *logged(200, 64, 7, sizes=(8,)), *logged(210, 64, 8, sizes=(8,))]
    found = judge(planned(), runs)
    assert (found.verdict, found.gpus, found.size_bytes) == (FAIL, 64, 8 * GIB)


def test_a_failure_on_few_gpus_tells_what_all_of_them_show_where_they_fail_too() -> None:
    few = [r for n in range(3) for r in logged(240, 16, n)]
    holds, short = ([r for n in range(3) for r in logged(value, 64, n)] for value in (310, 290))
    assert judge(planned(), [*few, *holds]).whole is None
    worst = judge(planned(), [*few, *short])
    assert worst.gpus == 16 and worst.whole is not None
    assert (worst.whole.gpus, worst.whole.size_bytes, worst.whole.shortfall) == (64, GIB, pytest.approx(9.9, abs=0.01))


def test_what_is_missing_is_named() -> None:
    test = planned()
    assert judge(test, []).why is Why.NO_LOG
    fewer = judge(test, [r for n in range(3) for r in logged(320, 16, n)])
    assert (fewer.verdict, fewer.why, fewer.gpus, fewer.largest) == (OPEN, Why.FEWER_GPUS, 64, 16)
    no_size = judge(test, [r for g in (16, 64) for n in range(3) for r in logged(320, g, n, sizes=(1,))])
    assert (no_size.verdict, no_size.why, no_size.size_bytes) == (OPEN, Why.NO_SIZE, 8 * GIB)
    few = judge(test, delivered(320, 320))
    assert (few.verdict, few.why, few.runs, few.wanted) == (OPEN, Why.FEW_RUNS, 2, 3)


def without(text: str, *sizes: int) -> str:
    """A log from which somebody took the rows of these sizes."""
    return "".join(line for line in text.splitlines(keepends=True) if line.split()[0] not in map(str, sizes))


def test_every_log_is_named_with_the_sizes_that_it_lacks() -> None:
    whole = {GIB: 200.0, 2 * GIB: 400.0, 4 * GIB: 500.0, 8 * GIB: 600.0}
    texts = {
        "T-ALLREDUCE.1.log": without(bandwidth_log("allreduce", 64, whole, run=1), 2 * GIB, 4 * GIB),
        "T-ALLREDUCE.2.log": without(bandwidth_log("allreduce", 64, whole, run=2), 8 * GIB),
        "T-ALLREDUCE.3.log": bandwidth_log("allreduce", 64, {GIB: 400.0}, run=3),
        "T-ALLREDUCE.4.log": bandwidth_log("allreduce", 64, whole, run=4),
    }
    test = planned(thresholds={(64, size * GIB): 100.0 for size in (1, 8)})
    assert test.logged_sizes == (GIB, 2 * GIB, 4 * GIB, 8 * GIB)
    found = judge(
        test, [r for log, text in texts.items() for r in runs_of(read_log(text, gpus_per_node=8), log, test.id)]
    )
    assert found.verdict is OPEN and found.faults == (
        Fault("T-ALLREDUCE.1.log", Flaw.INCOMPLETE, (2 * GIB, 4 * GIB)),
        Fault("T-ALLREDUCE.2.log", Flaw.INCOMPLETE, (8 * GIB,)),
        Fault("T-ALLREDUCE.3.log", Flaw.INCOMPLETE, (8 * GIB,)),
    )
    assert judge(planned(), delivered(310, 320, 330)).faults == ()


def test_a_log_of_other_ranks_than_it_claims_proves_nothing_and_fails_the_check_of_ranks() -> None:
    runs = [r for g in (16, 64) for n in range(3) for r in logged(320, 16, 10 * g + n, claims=g)]
    found = judge(planned(), runs)
    assert (found.verdict, found.why, found.flaw) == (OPEN, Why.VOID_RUNS, Flaw.OTHER_RANKS)
    ranks = planned(id="T-RANKS", thresholds={(64, 0): 2 * 63 / 64}, unit="ratio", runs=1, counted=1)
    assert judge(ranks, runs).why is Why.RANKS_DIFFER
    assert judge(ranks, delivered(320)).verdict is PASS


def test_wrong_results_fail_whatever_the_bandwidth() -> None:
    runs = [r for g in (16, 64) for n in range(3) for r in logged(400, g, n, wrong=4)]
    assert (judge(planned(), runs).verdict, judge(planned(), runs).why) == (FAIL, Why.WRONG_RESULTS)


def test_a_log_with_figures_that_contradict_each_other_proves_nothing() -> None:
    text = bandwidth_log("allreduce", 64, {GIB: 400.0, 8 * GIB: 400.0})
    bits = text.replace(f"{400.0:7.2f}", f"{3200.0:7.2f}").replace(
        f"{400 / (2 * 63 / 64):7.2f}", f"{3200 / (2 * 63 / 64):7.2f}"
    )
    assert bits != text
    runs = runs_of(read_log(bits, gpus_per_node=8), "bits.log", "T-ALLREDUCE")
    found = judge(planned(thresholds={(64, GIB): 3000.0}, runs=1, counted=1), runs)
    assert (found.verdict, found.flaw) == (OPEN, Flaw.CONTRADICTS)


def test_a_spike_counts_against_a_fabric_and_never_for_it() -> None:
    times = {8: 30.0, 16: 30.0, 32: 90.0, 64: 30.0, 128: 31.0}
    runs = runs_of(read_log(nccl_log("allreduce", 64, times), gpus_per_node=8), "spike.log", "T-LATENCY")
    latency = planned(id="T-LATENCY", unit="us", at_least=False, runs=1, counted=1)
    assert judge(replace(latency, thresholds={(64, 32): 80.0}), runs).verdict is FAIL
    lenient = judge(replace(latency, thresholds={(64, 32): 100.0}), runs)
    assert (lenient.verdict, lenient.flaw) == (OPEN, Flaw.REPEAT)
    assert judge(replace(latency, thresholds={(64, 64): 31.0}), runs).verdict is PASS


def test_a_link_is_judged_in_the_unit_of_its_tool() -> None:
    test = planned(id="T-LINKS", tool=Tool.PERFTEST, measures="ib_write_bw", unit="gbits/s", thresholds={(2, 0): 360.0})
    runs = [r for n in range(3) for r in runs_of(read_log(perftest_log(46.0, run=n)), f"{n}.log", "T-LINKS")]
    found = judge(test, runs)
    assert (found.verdict, found.measured) == (PASS, pytest.approx(368.0, abs=0.1))
    assert judge(replace(test, thresholds={(2, 0): 370.0}), runs).verdict is FAIL


def test_a_link_measured_in_both_directions_at_once_proves_nothing() -> None:
    text = perftest_log(92.0).replace("RDMA_Write BW Test", "RDMA_Write Bidirectional BW Test")
    test = planned(
        id="T-LINKS",
        tool=Tool.PERFTEST,
        measures="ib_write_bw",
        unit="gbits/s",
        thresholds={(2, 0): 360.0},
        runs=1,
        counted=1,
    )
    found = judge(test, runs_of(read_log(text), "both.log", "T-LINKS"))
    assert (found.verdict, found.flaw) == (OPEN, Flaw.BOTH_WAYS)


def test_records_are_runs_of_the_test_that_they_name() -> None:
    test = planned(
        id="T-WEEKS",
        tool=Tool.RECORD,
        measures="weeks",
        unit="week",
        at_least=False,
        thresholds={(64, 0): 6.0},
        runs=1,
        counted=1,
    )
    seen = Run("T-WEEKS", 64, 0, "records.yaml", 3, value=7.0)
    assert judge(test, []).why is Why.NO_RECORD
    assert judge(test, [replace(seen, value=6.0)]).verdict is PASS
    late = judge(test, [seen])
    assert (late.why, late.shortfall) == (Why.ABOVE, 1.0)
    assert judge(test, [replace(seen, gpus=32)]).why is Why.FEWER_GPUS


# ---- which test a log is of


def test_a_log_is_of_the_test_it_is_named_after_and_else_of_the_first_that_its_rows_fit() -> None:
    idle, soak = planned(thresholds={(64, 8 * GIB): 300.0}), planned(id="T-SOAK", thresholds={(64, 8 * GIB): 290.0})
    ranks = planned(id="T-RANKS", unit="ratio", thresholds={(64, 0): 1.96875})
    plan = Plan("x", (idle, ranks, soak))
    named = [replace(r, test="T-SOAK") for r in logged(295, 64, 1)]
    unnamed = [replace(r, test="") for r in logged(310, 64, 2)]
    assert {r.log for r in assigned(plan, idle, [*named, *unnamed])} == {"64.2.log"}
    assert {r.log for r in assigned(plan, soak, [*named, *unnamed])} == {"64.1.log"}
    assert {r.log for r in assigned(plan, ranks, [*named, *unnamed])} == {"64.1.log", "64.2.log"}


def test_a_table_that_names_no_program_is_of_the_test_that_its_log_is_named_after() -> None:
    text = bandwidth_log("alltoall", 16, {GIB: 60.0, 8 * GIB: 61.0})
    silent = read_log(text.replace("# alltoall_perf\n", ""), gpus_per_node=8)
    assert {r.measures for r in runs_of(silent, "a.log", "T-ALLTOALL", "alltoall")} == {"alltoall"}
    assert {r.measures for r in runs_of(silent, "a.log", "T-ALLGATHER", "allgather")} == {"allgather"}
    assert {r.measures for r in runs_of(silent, "a.log", "T-ALLREDUCE", "allreduce")} == {"allgather"}
    named = read_log(bandwidth_log("allgather", 16, {GIB: 60.0}), gpus_per_node=8)
    assert {r.measures for r in runs_of(named, "a.log", "T-ALLTOALL", "alltoall")} == {"allgather"}


def test_every_stage_of_a_plan_is_judged_in_its_order() -> None:
    plan = Plan("x", (planned(), planned(stage=2, gpus=128, thresholds={(128, GIB): 300.0})))
    found = judge_plan(plan, delivered(310, 320, 330))
    assert [(one.test.stage, one.verdict) for one in found] == [(1, PASS), (2, OPEN)]


def test_a_test_stands_as_its_worst_threshold_does() -> None:
    runs = [*delivered(310, 320, 330), *logged(200, 64, 7, sizes=(8,)), *logged(210, 64, 8, sizes=(8,))]
    plan = Plan("x", (planned(),))
    points = judge_points(plan, [r for r in runs if (r.gpus, r.size_bytes) != (16, GIB)])
    verdicts = {(one.gpus, one.size_bytes // GIB): one.verdict for one in points}
    assert verdicts == {(16, 1): OPEN, (16, 8): PASS, (64, 1): PASS, (64, 8): FAIL}


# ---- laws

runs = st.builds(
    Run,
    measures=st.just("allreduce"),
    gpus=st.sampled_from([16, 64, 512]),
    size_bytes=st.sampled_from([GIB, 8 * GIB, 64]),
    log=st.sampled_from(["a.log", "b.log"]),
    line=st.integers(1, 50),
    busbw_gbytes_per_s=st.floats(100, 600),
    algbw_gbytes_per_s=st.just(200.0),
    flaw=st.sampled_from([None, None, None, *Flaw]),
)
tests_of_any_strictness = st.builds(
    lambda least, counted: planned(runs=max(least, counted), counted=counted), st.integers(1, 5), st.integers(1, 3)
)


def shown(found: Judged) -> tuple[object, ...]:
    return found.verdict, found.why, found.gpus, found.size_bytes, found.measured, found.runs, found.lines


@given(tests_of_any_strictness, st.lists(runs, max_size=40), runs)
def test_a_further_run_never_turns_a_failure_into_anything_else(test: PlannedTest, few: list[Run], one: Run) -> None:
    if judge(test, few).verdict is FAIL:
        assert judge(test, [*few, one]).verdict is FAIL


@given(tests_of_any_strictness, st.lists(runs, max_size=40), st.floats(1.0, 3.0))
def test_more_bandwidth_never_turns_a_pass_into_a_failure(test: PlannedTest, few: list[Run], factor: float) -> None:
    faster = [replace(r, busbw_gbytes_per_s=(r.busbw_gbytes_per_s or 0) * factor) for r in few]
    if judge(test, few).verdict is PASS:
        assert judge(test, faster).verdict is PASS
    if judge(test, faster).verdict is FAIL:
        assert judge(test, few).verdict is FAIL


@given(tests_of_any_strictness, st.lists(runs, max_size=60), st.sampled_from([16, 64]), st.sampled_from([GIB, 8 * GIB]))
def test_without_runs_at_one_point_nothing_passes(test: PlannedTest, few: list[Run], gpus: int, size: int) -> None:
    left = [r for r in few if (r.gpus, r.size_bytes) != (gpus, size)]
    assert judge(test, left).verdict is not PASS


@given(tests_of_any_strictness, st.lists(runs, max_size=30), st.randoms())
def test_the_order_of_the_logs_does_not_matter(test: PlannedTest, few: list[Run], random: object) -> None:
    other = sorted(few, key=lambda _: random.random())  # type: ignore[attr-defined]
    assert shown(judge(test, few)) == shown(judge(test, other))


@given(tests_of_any_strictness, st.lists(runs, max_size=40))
def test_a_pass_rests_on_enough_runs_without_a_flaw_at_every_point(test: PlannedTest, few: list[Run]) -> None:
    if judge(test, few).verdict is PASS:
        for (gpus, size), bar in test.thresholds.items():
            here = [r for r in few if (r.gpus, r.size_bytes) == (gpus, size)]
            holding = [r for r in here if r.flaw is None and (r.busbw_gbytes_per_s or 0) >= bar]
            assert len(holding) >= test.runs - test.counted + 1


UNITS = {"T-WEEKS": "week", "T-COUNTERS": "count", "T-LINK-FAILURE": "s"}


def read(folder: Path, text: str) -> tuple[Seen, ...]:
    path = folder / "records.yaml"
    path.write_text(text, encoding="utf-8")
    return read_records(path, UNITS)


def faults(folder: Path, text: str) -> list[str]:
    with pytest.raises(InputError) as refused:
        read(folder, text)
    return [str(problem) for problem in refused.value.problems]


def test_each_record_is_read_with_its_line(tmp_path: Path) -> None:
    one = "  - {test: T-WEEKS, gpus: 64, value: 7, unit: week, evidence: Ticket of the seller}\n"
    found = read(
        tmp_path, f"tests:\n{one}  - {{test: T-COUNTERS, gpus: 64, value: 0, unit: count, evidence: none lost}}\n"
    )
    assert found == (
        Seen("T-WEEKS", 64, 7.0, "week", "Ticket of the seller", 2),
        Seen("T-COUNTERS", 64, 0.0, "count", "none lost", 3),
    )


def test_every_fault_is_told_at_once_with_line_key_and_remedy(tmp_path: Path) -> None:
    text = """tests:
  - {test: T-WEEK, gpus: 64, value: 7, unit: week, evidence: a}
  - {test: T-WEEKS, gpus: 64.5, value: seven, unit: day, evidence: ""}
  - {test: T-WEEKS, gpus: 64, value: 7, unit: week, seen: a}
  - T-WEEKS
"""
    found = faults(tmp_path, text)
    assert all(":" in fault for fault in found)
    said = "\n".join(found)
    assert "Did you mean 'T-WEEKS'?" in found[0] and ":2:" in found[0]
    assert "is recorded in week (found day)" in said
    assert "must be a number (found seven)" in said
    assert "must be a whole number (found 64.5)" in said
    assert "[1].evidence: is empty (found ''). Say what it was seen by" in said
    assert (
        "[2].seen: is not a known key" in said and "[2].evidence: is missing. Add it. Say what it was seen by" in said
    )
    assert "[3]: must hold keys of its own (found T-WEEKS)" in said


@rows("text", ["", "tests:\n", "tests: {}\n", "- a\n", "test: []\n"])
def test_a_file_without_a_list_says_how_to_begin(tmp_path: Path, text: str) -> None:
    assert faults(tmp_path, text)


@rows("value", ["-1", ".inf", ".nan", "1e300", "true"])
def test_a_value_that_its_unit_cannot_have_is_refused(tmp_path: Path, value: str) -> None:
    text = f"tests:\n  - {{test: T-WEEKS, gpus: 64, value: {value}, unit: week, evidence: a}}\n"
    assert faults(tmp_path, text)


def test_text_that_a_page_could_show_otherwise_than_typed_is_refused(tmp_path: Path) -> None:
    text = 'tests:\n  - {test: T-WEEKS, gpus: 64, value: 7, unit: week, evidence: "a\\u202eb"}\n'
    assert faults(tmp_path, text)
