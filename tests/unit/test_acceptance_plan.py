"""The acceptance plan: the body and the plan agree, thresholds keep the lead, and a shell reads every command."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from random import Random

import bench
import numpy as np
import pytest
from delivered_cases import nccl_log
from rows import rows

from fabricreport.base.provenance import plain
from fabricreport.base.yaml_files import ROOT
from fabricreport.books.acceptance import filled, read_acceptance, read_healthy_runs
from fabricreport.books.glossary import glossary_book
from fabricreport.books.logs.measurements import read_log
from fabricreport.books.sellers import read_questions
from fabricreport.case import Case
from fabricreport.delivery.runs import read_order
from fabricreport.ledger.numbers import Number
from fabricreport.sections.diligence.facts import plan_words
from fabricreport.sections.diligence.plan.result import Plan, PlannedTest, headroom_bytes, layout_of, stages
from fabricreport.sections.diligence.plan.rule import healthy_of, timed
from fabricreport.sections.diligence.tables import credits, size_text
from fabricreport.sections.latency.inputs import network

pytestmark = pytest.mark.slow
GIB = 2**30
PRINTED = 66
"""Characters that one line of a command has room for in print."""


BUYER, GROWER, UNDECIDED = "example", "kestrel-lab", "tern-finetuning"


@pytest.fixture
def buyer() -> Case:
    return bench.case(BUYER)


@pytest.fixture
def infiniband() -> Case:
    """Who is advised InfiniBand: no skill with PFC and ECN, and no manager left out of the bill."""
    case = bench.changed(BUYER, organisation__qos_expertise="none", money__manager_licence="charged")
    assert case.diligence().option.family == "infiniband"
    return case


@pytest.fixture
def grower() -> Case:
    return bench.case(GROWER)


@pytest.fixture
def undecided() -> Case:
    return bench.case(UNDECIDED)


def plan(case: Case) -> Plan:
    return case.diligence().plan


def one(case: Case, test_id: str, stage: int = 1) -> PlannedTest:
    return next(t for t in plan(case).of(test_id) if t.stage == stage)


def exchange(case: Case) -> str:
    """The test of what the client's job sends."""
    terms = case.diligence().terms
    assert terms is not None
    return terms.exchange.test


# ---- one value per quantity


@rows("client", [BUYER, GROWER, UNDECIDED])
def test_the_body_s_table_and_the_plan_state_the_same_values(client: str) -> None:
    case = bench.case(client)
    promises = {p.id: p.passes.value for p in case.diligence().promises}
    first = one(case, exchange(case))
    assert first.thresholds[first.gpus, GIB] == promises["busbw"]
    assert one(case, "T-ALLREDUCE").thresholds[first.gpus, GIB] == promises["allreduce"]
    assert one(case, "T-LATENCY").thresholds[first.gpus, 8] == promises["latency"]
    assert one(case, "T-RANKS").thresholds[first.gpus, 0] == pytest.approx(promises["ranks"])
    for name in ("weeks", "interruptions", "detection"):
        assert one(case, f"T-{name.upper()}").thresholds[first.gpus, 0] == promises[name]
    for test in plan(case).of(first.id)[1:]:
        assert test.thresholds[test.gpus, GIB] == promises[f"busbw.{test.gpus}"]


@rows(("client", "sent"), [(BUYER, "T-REDUCESCATTER"), (GROWER, "T-ALLTOALL"), (UNDECIDED, "T-ALLGATHER")])
def test_bandwidth_is_credited_on_the_exchange_that_the_job_runs_alone(client: str, sent: str) -> None:
    """Sharded training sends parts to all ranks, and experts tokens to all others; both wait for it over the network."""
    case = bench.case(client)
    paying = [t for t in plan(case).tests if t.unit == "gbytes/s" and t.price]
    assert {t.id for t in paying} == {sent} and [t.stage for t in paying] == [s.number for s in stages(case.inputs)]


@rows("client", [BUYER, GROWER, UNDECIDED])
def test_amounts_of_the_contract_keep_the_digits_that_letters_tell_them_with(client: str) -> None:
    case = bench.case(client)
    table = credits(case.inputs, case.diligence())
    held = {c.style for row in table.rows for c, cell in zip(table.columns, row.cells, strict=True) if _is_money(cell)}
    assert held == {"mixed"}, "no column rounds them to a scale of its own"


def _is_money(cell: object) -> bool:
    return isinstance(cell, Number) and cell.unit.startswith("usd")


def test_a_course_left_open_has_the_values_of_either_option(undecided: Case) -> None:
    found = undecided.diligence()
    assert found.plan_of_rival is not None
    assert (found.plan.option, found.plan_of_rival.option) == (found.option.id, found.rival.id)
    assert {t.id for t in found.plan.tests} == {t.id for t in found.plan_of_rival.tests}
    promised = {p.id: p.passes.value for p in found.promises_of_rival}
    rivals = found.plan_of_rival.of(exchange(undecided))[0]
    assert rivals.thresholds[rivals.gpus, GIB] == promised["busbw"]


def test_one_node_has_nothing_to_test(undecided: Case) -> None:
    assert plan(undecided.changed(cluster__gpus=8)).tests == ()


# ---- thresholds


def test_credits_begin_at_what_the_cost_assumes_and_floors_lie_clear_of_where_the_lead_is_gone(buyer: Case) -> None:
    clear = 1.0 + buyer.inputs.central("evidence:acceptance-margin")
    kept = [test for test in plan(buyer).tests if test.basis == "held"]
    assert {exchange(buyer), "T-SOAK"} <= {test.id for test in kept}
    unsent = [test for test in plan(buyer).tests if test.by_step is False and test.id != exchange(buyer)]
    assert unsent and not any(line.saving for test in unsent for line in test.lines.values()), "no saving is at stake"
    for test in kept:
        assert test.false_pass is not None and test.false_pass.value <= 0.05
        for line in test.lines.values():
            assert line.saving and clear * line.saving.value <= line.floor.value < line.credit.value
    for key, line in one(buyer, exchange(buyer)).lines.items():
        assumed = np.median(modelled(buyer, one(buyer, exchange(buyer)), *key))
        assert line.credit.value == pytest.approx(assumed, rel=0.005)


@rows("client", [BUYER, GROWER, UNDECIDED])
def test_of_all_that_the_model_holds_possible_few_fail_anything_at_a_stage(client: str) -> None:
    """A stage is failed no less often than its worst test, no more often than all tests by themselves, and seldom."""
    case = bench.case(client)
    fails = {
        stage.number: [t.false_fail.value for t in plan(case).tests if t.stage == stage.number and t.false_fail]
        for stage in stages(case.inputs)
    }
    shown = case.figure("diligence.plan_false_fail").value
    assert max(map(max, fails.values())) <= shown <= max(map(sum, fails.values())) + 1e-9
    one_draw = 1 / bench.DRAWS  # an end of the draws is known to one of them
    seldom = sum(case.inputs.central(f"evidence:acceptance-{n}") for n in ("model-end", "false-fail"))
    assert shown <= seldom + one_draw


def test_where_the_lead_is_gone_too_near_the_plan_says_that_only_the_credit_protects_it(
    buyer: Case, grower: Case
) -> None:
    assert one(buyer, exchange(buyer)).basis == "held"
    across = grower.changed(workload__parallelism={"tp": 8, "pp": 1, "dp": 64, "ep": 32})  # experts far over the fabric
    close = one(across, exchange(across))
    assert any(line.saving and line.floor.value < 1.05 * line.saving.value for line in close.lines.values())
    assert close.basis == "credit-only" and close.price


def test_simulated_fabrics_pass_the_plan_as_often_as_it_states(buyer: Case) -> None:
    """Thousands of networks, one of each draw of the model, go through every floor of the job's exchange with the plan's own noise."""
    given, random = buyer.inputs, np.random.default_rng(11)
    test = one(buyer, exchange(buyer))
    assert test.false_fail is not None and test.false_pass is not None
    noise = given.central("evidence:acceptance-noise-bandwidth")
    possible = {key: modelled(buyer, test, *key) for key in test.thresholds}
    key, line = next(iter(test.lines.items()))
    assert line.saving is not None

    def passed(values: Mapping[tuple[int, int], np.ndarray]) -> float:
        through = np.ones(len(next(iter(values.values()))), dtype=bool)
        for key, true in values.items():
            runs = np.sort(true[:, None] * np.exp(noise * random.standard_normal((len(true), test.runs))), axis=1)
            through &= runs[:, test.counted - 1] >= test.thresholds[key]
        return float(np.mean(through))

    error = 4.0 * np.sqrt(0.05 * 0.95 / len(next(iter(possible.values()))))
    assert abs((1.0 - passed(possible)) - test.false_fail.value) <= error
    share = line.saving.value / float(np.median(possible[key]))
    middle = {key: np.full(len(true), np.median(true)) for key, true in possible.items()}
    assert passed({key: share * true for key, true in middle.items()}) <= test.false_pass.value + error
    assert passed(middle) >= 1.0 - given.central("evidence:acceptance-false-fail") - error


def modelled(case: Case, test: PlannedTest, gpus: int, size: int) -> np.ndarray:
    """What the model holds possible on those GPUs at that size, by draw."""
    found = timed(case.inputs, network(case.inputs, case.diligence().option), test.measures, gpus, [size])
    return plain(found.busbw_gbytes_per_s if test.at_least else found.time_us)[..., 0]


def test_more_noise_lowers_what_is_refused_and_not_where_the_credit_begins(buyer: Case) -> None:
    noisy = buyer.changed(evidence={"acceptance-noise-bandwidth": 0.06, "acceptance-noise-latency": 0.16})
    for test_id, sign in (("T-ALLREDUCE", 1.0), ("T-LATENCY", -1.0)):
        for key, line in one(buyer, test_id).lines.items():
            less = one(noisy, test_id).lines[key]
            assert sign * less.floor.value < sign * line.floor.value and less.credit.value == line.credit.value


# ---- floors


def some_clients() -> list[dict[str, object]]:
    """Changes of the example, drawn anew from one seed: its size, GPU, team and neighbours."""
    random = Random(31)
    return [
        {
            "cluster__gpus": 8 * random.randint(4, 260),
            "cluster__gpu": random.choice(["h100", "h200", "b300"]),
            "cluster__tenancy": random.choice(["single", "multi"]),
            "organisation__networking_maturity": random.choice(["low", "medium", "high"]),
        }
        for _ in range(5)
    ]


@rows("changes", [{}, {"cluster__gpus": 64}, *some_clients()])
def test_no_line_asks_more_than_the_model_s_end_and_none_under_load_more_than_idle(changes: dict[str, object]) -> None:
    case = bench.changed(BUYER, **changes)
    given, tests = case.inputs, plan(case).tests
    share = given.central("evidence:acceptance-model-end")
    for test in (t for t in tests if t.unit in ("gbytes/s", "us")):
        sign = 1.0 if test.at_least else -1.0
        for (gpus, size), line in test.lines.items():
            assert sign * line.floor.value <= sign * line.credit.value
            assert test.basis != "held" or line.saving is None or line.saving.value < line.floor.value
            if "LOADED" in test.id or test.id == "T-ISOLATION":
                idle = next(t for t in tests if t.measures == test.measures and t.unit == test.unit)
                assert sign * line.floor.value <= sign * idle.lines[test.gpus, size].floor.value
                continue
            end = np.quantile(modelled(case, test, gpus, size), share if test.at_least else 1.0 - share)
            assert sign * line.floor.value <= sign * end
            if test.at_least and (healthy := healthy_of(given, case.diligence().option, test.measures, gpus, size)):
                assert line.floor.value <= healthy.least_gbytes_per_s


def test_a_sound_network_of_64_gpus_with_default_settings_passes(infiniband: Case) -> None:
    """nccl-tests #309 at 1 GiB: 286.8 GB/s with the library's defaults, 374.8 with two settings; tuned owes nothing."""
    line = one(infiniband, "T-ALLREDUCE").lines[64, GIB]
    assert line.floor.value <= 286.8 < line.credit.value <= 374.8


def test_a_floor_gives_way_to_a_healthy_run_of_the_same_gpus_links_and_message_alone(infiniband: Case) -> None:
    before = one(infiniband, "T-ALLREDUCE").lines
    lower = one(infiniband.changed(evidence={"healthy-azure-h100-busbw": 300.0}), "T-ALLREDUCE").lines
    assert lower[64, 16 * GIB].floor.value == pytest.approx(200.0, abs=1.0) and before[64, 16 * GIB].floor.value > 200.0
    assert lower[64, 16 * GIB].credit.value == before[64, 16 * GIB].credit.value
    moved = {key for key in before if lower[key].floor.value != before[key].floor.value}
    assert moved == {(64, 16 * GIB)}


def test_every_collected_table_is_marked_and_only_a_published_result_to_be_reached_is_healthy(buyer: Case) -> None:
    book = read_healthy_runs()
    aside = {one.what for one in book.set_aside}
    assert {name for name in aside if name.endswith(".csv")} == {path.name for path in (ROOT / "nccl").glob("*.csv")}
    for run in book.runs:
        for source in (run.busbw, run.tolerance):
            record = buyer.inputs.record(source)
            assert source not in aside and record["grade"] == "published" and record["address"]
        assert 0.0 < buyer.inputs.central(run.tolerance) < 1.0 and run.settings


def test_the_plan_names_the_settings_it_is_run_with(buyer: Case, infiniband: Case) -> None:
    gain = {"in-network-reduction-gain": 1.5}
    summed, without = infiniband.changed(evidence=gain), buyer.changed(evidence=gain)
    off, on = "NCCL_COLLNET_ENABLE=0", "NCCL_COLLNET_ENABLE=1"
    assert summed.diligence().option.behaviour.reduction and not without.diligence().option.behaviour.reduction
    for case, setting in ((infiniband, off), (summed, on), (without, off)):
        assert plan(case).settings == (setting,)
        assert f'SETTINGS="-x {setting}"' in plan(case).setup[1]


# ---- stages, sizes, what the step runs


def test_tests_run_at_each_stage_up_to_its_full_size_and_not_again_on_fewer_nodes(grower: Case) -> None:
    runs = plan(grower).of("T-ALLREDUCE")
    assert [t.gpus for t in runs] == sorted({t.gpus for t in runs}) and len(runs) > 1
    for test in runs:
        assert max(gpus for gpus, _ in test.thresholds) == test.gpus
    for before, after in pairwise(runs):
        assert min(gpus for gpus, _ in after.thresholds) > before.gpus
    first = {gpus for gpus, _ in runs[0].thresholds}
    assert min(first) == 2 * int(grower.params.cluster.gpus_per_node)
    assert len(plan(grower).of("T-WEEKS")) == 1 and len(plan(grower).of("T-SOAK")) == len(runs)


def test_what_the_step_runs_is_told_from_what_it_does_not(buyer: Case) -> None:
    dense = {t.id: t.by_step for t in plan(buyer).tests}
    assert dense["T-REDUCESCATTER"] and dense["T-ALLGATHER"] and dense["T-ALLTOALL"] is False
    experts = buyer.changed(workload__kind="pretraining-moe", cluster__gpus=256)
    assert one(experts, "T-ALLTOALL").by_step is True


def test_tenants_are_tested_only_where_there_are_several(buyer: Case, grower: Case) -> None:
    assert not plan(buyer).of("T-ISOLATION")
    assert plan(grower).of("T-ISOLATION")


def test_a_fabric_without_rdma_is_not_tested_with_tools_of_rdma(undecided: Case) -> None:
    given, tools = undecided.changed(cluster__gpus=64).inputs, {"T-LINKS", "T-INCAST"}
    for option in given.all_options.values():
        layout, stage = layout_of(given, option), stages(given)[0]
        run = {entry.id for entry in layout.book.tests if layout.applies(entry, stage)}
        assert tools <= run if option.rdma else not tools & run


# ---- commands


@rows("vendor", lambda: read_acceptance().suites)
@rows("side", lambda: read_acceptance().transports)
def test_every_command_is_filled_fits_a_printed_line_and_is_read_by_a_shell(vendor: str, side: str) -> None:
    book = read_acceptance()
    suite, transport = book.suites[vendor], book.transports[side]
    words = {
        **{n: getattr(suite, n) for n in ("folder", "memory", "driver", "build", "source")},
        "suite": suite.name,
        "library_env": transport.library,
        "perftest": transport.perftest,
        "settings": "-x NCCL_COLLNET_ENABLE=0",
        **dict.fromkeys(("stage", "all_nodes", "half", "per_node", "incast_last", "runs"), "128"),
        "nodes": "2 8 32 128 512 1024",
    }
    for text in (book.setup, book.versions, *(test.command for test in book.tests)):
        made = filled(text, words)
        assert "@" not in made.replace('"${@:3}"', "").replace("${!dev[@]}", "")
        assert [line for line in made.split("\n") if len(line) > PRINTED] == []
        assert subprocess.run(["bash", "-n"], input=made, text=True, capture_output=True, check=False).stderr == ""


def _flag(size: int) -> str:
    return next((f"{size >> bits}{unit}" for bits, unit in ((30, "G"), (10, "K")) if size >> bits), str(size))


def test_commands_name_the_flags_and_environment_that_make_two_logs_comparable() -> None:
    book = read_acceptance()
    for test in book.tests:
        if test.tool == "nccl-tests" and test.bar not in ("ranks",):
            assert all(f" {flag} " in test.command for flag in ("-b", "-e", "-g", "-n", "-w", "-c")), test.id
        if " -f 2 " in test.command:  # a log is said to lack rows by these steps
            sizes = book.sizes[test.sizes]
            assert re.search(rf"-b {_flag(sizes[0])} -e {_flag(sizes[-1])} -f 2 ", test.command), test.id
    assert "NCCL_DEBUG=VERSION" in book.setup
    assert "NCCL_ALGO=Ring" in next(t for t in book.tests if t.id == "T-ALLREDUCE").command


def test_a_log_holds_the_command_and_its_settings_and_is_read_as_that_collective(buyer: Case, tmp_path: Path) -> None:
    runner = plan(buyer).setup[1] + "\nmpirun() { :; }\non hosts.txt 2 $BIN/alltoall_perf -b 1G -g 1\n"
    head = subprocess.run(
        ["bash"], input=runner, text=True, capture_output=True, check=True, cwd=tmp_path
    ).stdout  # it writes the settings of the order where it runs
    assert head.startswith("# ")
    table = nccl_log("alltoall", 16, {GIB: 17000.0, 2 * GIB: 34000.0}).replace("# alltoall_perf\n", "")
    frame = read_log(head + table, gpus_per_node=8)
    assert set(frame["collective"]) == {"alltoall"} and set(frame["ranks"]) == {16}
    assert tuple(frame.attrs["settings"].values()) == plan(buyer).settings
    assert read_order(tmp_path / "settings.txt").settings == plan(buyer).settings


def test_each_of_two_networks_has_its_own_set_up_and_the_same_commands() -> None:
    """InfiniBand needs no address index and no traffic class, and a seller of Ethernet runs nothing without them."""
    client = bench.case("launch-512-rented")
    result = client.diligence()
    either = {result.option.name: result.plan, result.rival.name: result.plan_of_rival}
    said = plan_words(client.inputs, result)["plan_setups"]
    assert {str(setup.said["on"]): str(setup.said["command"]) for setup in said} == {
        name: made.setup[1] for name, made in either.items() if made
    }
    assert len({tuple(test.command for test in made.tests) for made in either.values() if made}) == 1
    assert sum("$GID" in made.setup[1] for made in either.values() if made) == 1


@rows("test_id", ["T-LATENCY-LOADED", "T-ISOLATION"])
def test_the_background_load_ends_with_its_test(test_id: str, tmp_path: Path) -> None:
    command = next(t for t in read_acceptance().tests if t.id == test_id).command
    started, ended = (next(line for line in command.split("\n") if word in line) for word in ("flood=$!", "kill"))
    load = "on() { bash -c 'echo $$ > pid; exec sleep 60'; }\non > load.log 2>&1 &\n"
    stopped = ended.strip().removeprefix("lat loaded; ")
    script = load + started.strip().replace("sleep 60", "sleep 0.5") + "\n" + stopped + "\n! kill -0 $(cat pid)\n"
    done = subprocess.run(["bash"], input=script, text=True, check=False, cwd=tmp_path, timeout=20, capture_output=True)
    assert done.returncode == 0  # of the last line: no such process is left


def test_amd_gpus_are_tested_with_their_maker_s_programs(buyer: Case) -> None:
    sold = ["infiniband-ndr", "amd-branded-400g"]
    amd = buyer.changed(cluster__gpu="mi300x", cluster__vendor="amd", cluster__gpus=256, options=sold)
    assert "rccl-tests" in plan(amd).setup[1] and "rccl-tests" not in plan(buyer).setup[1]
    assert "--use_rocm" in one(amd, "T-LINKS").command


def test_the_list_of_nodes_in_the_set_up_is_that_of_the_thresholds(grower: Case) -> None:
    each = int(grower.params.cluster.gpus_per_node)
    for test in plan(grower).of("T-ALLREDUCE"):
        nodes = " ".join(str(gpus // each) for gpus in sorted({gpus for gpus, _ in test.thresholds}))
        assert f'LADDER="{nodes}"' in plan(grower).setup[test.stage]
        assert f"RUNS={test.runs}" in plan(grower).setup[test.stage]


# ---- questions and sheets


def test_questions_and_tests_name_each_other() -> None:
    tests = {test.id for test in read_acceptance().tests}
    named = {i for q in read_questions() for i in q.tests}
    explained = {i for term in glossary_book().terms for i in term.also if i.startswith("T-")}
    assert named == tests == explained
    assert all(row.asks in {q.id for q in read_questions()} for row in read_acceptance().settings)
    assert set(read_acceptance().reasons) == {"floor", "exact", "in-use", "assumed"}


def test_what_no_source_states_is_left_to_the_seller() -> None:
    for row in read_acceptance().settings:
        assert bool(row.stated) == bool(row.evidence), row.what


def test_headroom_is_the_cable_there_and_back_and_two_packets(buyer: Case) -> None:
    """By hand: 2 x 50 m x 4.9 ns/m x 400 Gb/s / 8 = 24,500 bytes, and two packets of 4,200."""
    option = next(o for o in buyer.options if o.behaviour.skill and o.planes == 1)
    assert headroom_bytes(buyer.inputs, option) == pytest.approx(24_500 + 8_400)


@rows(("size", "text"), [(8, "8 B"), (1024, "1 KiB"), (65536, "64 KiB"), (16 * GIB, "16 GiB")])
def test_sizes_are_spelt_as_the_benchmark_means_them(size: int, text: str) -> None:
    assert size_text(size).replace("\N{NO-BREAK SPACE}", " ") == text
