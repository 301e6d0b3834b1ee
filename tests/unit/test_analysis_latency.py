"""Claims about the latency section of the three clients and of variants of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
from bench import DRAWS, PARAMS, case, changed
from measured_cases import curve, table
from rows import rows

import fabricreport.inputs.inputs as inputs_module
from fabricreport.base.provenance import Traced, inputs_of, plain
from fabricreport.base.uncertain import exactly
from fabricreport.base.yaml_files import read_yaml
from fabricreport.books.options import Option
from fabricreport.case import open_case
from fabricreport.inputs.inputs import Inputs
from fabricreport.sections.latency import charts
from fabricreport.sections.latency import inputs as latency_inputs
from fabricreport.sections.latency import result as latency_gap
from fabricreport.sections.latency.result import LatencyResult

pytestmark = pytest.mark.slow

CLIENTS = ("example", "kestrel-lab", "tern-finetuning")


@rows("name", CLIENTS)
def test_every_option_has_every_array_and_number(name: str) -> None:
    client, result = case(name), case(name).latency()
    ids = {o.id for o in client.options}
    draws = client.inputs.draw(latency_inputs.STEP).shape
    for arrays in (result.exposed_share, result.step_time_s):
        assert set(arrays) == ids
        assert all(a.shape == draws and np.all(np.isfinite(plain(a))) for a in arrays.values())
    assert all(np.all((plain(a) >= 0) & (plain(a) < 1)) for a in result.exposed_share.values())
    assert {f"latency.{n}.{i}" for n in ("exposed", "exposed_now") for i in ids} <= set(result.numbers)
    assert all(number.id == key and number.rule for key, number in result.numbers.items())


@rows("name", CLIENTS)
def test_every_input_behind_a_number_has_a_record(name: str) -> None:
    client = case(name)
    ids = {i for number in client.latency().numbers.values() for i in number.inputs}
    assert all(client.record(i)["id"] == i for i in ids)


def test_the_algorithm_matters_more_than_the_fabric() -> None:
    given = case("example").inputs
    widest = {"gpus": 1024, "size_bytes": 2.0**30, "extra_step_us": given.central("evidence:roce-extra-latency-widest")}
    tree, ring = (latency_gap.latency_alone(given, **widest, **how) for how in ({}, latency_gap.flat_ring()))
    assert tree == pytest.approx(0.02, abs=0.005)
    assert ring == pytest.approx(0.17, abs=0.01)


def test_sixteen_rented_gpus_and_overlapped_experts_hardly_feel_the_fabric() -> None:
    small, moe = (case(n).latency() for n in ("tern-finetuning", "kestrel-lab"))
    assert np.quantile(np.abs(plain(small.penalty)), 0.95) < 0.004
    assert all(np.median(plain(share)) < 0.08 for share in moe.exposed_share.values())  # as published where it overlaps
    assert moe.traffic[0].kind == "experts" and moe.traffic[0].algorithm == "direct"


def test_ethernet_without_rdma_loses_far_more_than_either_rdma_fabric() -> None:
    plan = {"cluster__gpus": 128, "options": ("infiniband-ndr", "rocev2-branded-400g", "ethernet-tcp")}
    exposed = changed("example", **plan).latency().exposed_share
    assert np.all(plain(exposed["ethernet-tcp"]) > 5 * plain(exposed["infiniband-ndr"]))


def test_fabrics_differ_on_shared_draws_only_by_what_is_theirs() -> None:
    result = case("example").latency()
    spread = np.std(plain(result.step_time_s["rocev2-branded-400g"] - result.step_time_s["infiniband-ndr"]))
    assert spread < 0.05 * np.std(plain(result.step_time_s["infiniband-ndr"]))
    own = inputs_of(result.penalty)
    assert {
        "evidence:roce-extra-latency-s3",
        "evidence:roce-extra-latency-bound",
        "evidence:fabric-tuning-rocev2-medium",
    } <= own


def test_neither_fabric_is_given_more_than_its_links() -> None:
    client = case("example")
    for option in client.latency().pair:
        wires = latency_inputs.network(client.inputs, option)
        assert np.all(plain(wires.bandwidth_share) <= 1.0)


def test_a_source_that_favours_rocev2_can_make_infiniband_the_slower() -> None:
    penalty = plain(case("kestrel-lab").latency().penalty)
    assert penalty.min() < 0 < penalty.max()


def test_growth_is_weighed_by_gpu_months() -> None:
    client = case("kestrel-lab")
    result, stages = client.latency(), latency_inputs.stages(client.inputs)
    assert sum(w for _, w in stages) == pytest.approx(1.0)
    assert [g for g, _ in stages] == [512, 1536, 4096, 8192] == list(result.jobs.mixes)
    key = "infiniband-xdr"
    ends = np.sort([np.median(plain(result.exposed_now[key])), np.median(plain(result.exposed_final[key]))])
    assert ends[0] <= np.median(plain(result.exposed_share[key])) <= ends[1] + 0.02


def test_one_stage_needs_no_weights() -> None:
    result = case("example").latency()
    for key, share in result.exposed_share.items():
        assert plain(share) == pytest.approx(plain(result.exposed_now[key]))


def test_gap_of_a_large_allreduce_grows_with_the_cluster_faster_on_a_ring() -> None:
    gap = case("example").latency().gap
    tree, ring = (np.median(plain(s.gap), axis=0) for s in (gap.tree, gap.ring))
    assert np.all(np.diff(ring) > 0) and tree[-1] > tree[0]
    assert ring[-1] > 5 * tree[-1]


def test_one_node_costs_nothing_on_any_option() -> None:
    result = changed("example", cluster__gpus=8, workload__model_parameters_billion=8).latency()
    assert result.one_node and result.traffic == ()
    assert all(not np.any(plain(a)) for a in result.exposed_share.values())


def test_an_oversubscribed_fabric_exposes_more() -> None:
    narrow = changed("example", cluster__oversubscription=4.0)
    base, over = (one.latency().exposed_share["infiniband-ndr"] for one in (case("example"), narrow))
    assert np.all(plain(over) >= plain(base)) and np.median(plain(over)) > np.median(plain(base))


@rows("kind", ["hpc-simulation", "inference", "inference-multi-node", "fine-tuning", "pretraining-moe", "mixed"])
def test_every_kind_of_workload_gives_a_result(kind: str) -> None:
    result = changed("example", workload__kind=kind).latency()
    assert np.all(plain(result.penalty) > -0.5)
    assert (kind == "inference") == (result.traffic == () and not result.one_node) or kind == "inference-multi-node"


def test_simulation_with_small_sums_feels_latency_more_than_training() -> None:
    hpc = changed("example", workload__kind="hpc-simulation").latency()
    assert np.median(plain(hpc.penalty)) > 10 * np.median(plain(case("example").latency().penalty))


def test_client_logs_are_fitted_and_keep_what_was_before() -> None:
    result = case("measured").latency()
    assert result.measurements
    log, other = result.measurements.logs
    assert log.left_out == 2 and log.gpus == 16
    assert log.error_after <= log.error_before
    assert other.factors is None and not other.gpus
    number = result.numbers["latency.measured.before.0"]
    assert number.grade == "measured" and number.inputs == ("param:measurements",)


def own_log(tmp_path: Path, nodes: int, peak: float = 200.0, **changes: object) -> LatencyResult:
    """The example with a log of its own on so many nodes."""
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "own.txt").write_text(table(*curve(peak=peak), n=8 * nodes))
    text = (PARAMS / "example.yaml").read_text()
    (tmp_path / "measured.yaml").write_text(f"{text}\nmeasurements: [logs/own.txt]\n")
    with mock.patch.object(inputs_module, "DRAWS", DRAWS):
        client = open_case(tmp_path / "measured.yaml")
    return (client.changed(**changes) if changes else client).latency()


def busbw(given: Inputs, result: LatencyResult, option: Option) -> Any:
    """AllReduce at 1 GiB over the cluster as it starts, GB/s, as the logs of a result recalibrate it."""
    factors = result.measurements.factors(given) if result.measurements else None
    wires, gpus = latency_inputs.network(given, option, measured=factors), int(given.params.cluster.gpus)
    return latency_inputs.cluster_allreduce(given, wires, gpus, [2.0**30]).busbw_gbytes_per_s[..., 0]


@rows("nodes", [2, 4, 7])
def test_a_log_of_few_nodes_leaves_bandwidth_at_full_size_to_the_digit_on_both_fabrics(
    tmp_path: Path, nodes: int
) -> None:
    before, after = case("example").latency(), own_log(tmp_path, nodes)
    assert after.measurements and after.measurements.used and not after.measurements.carried(case("example").inputs)
    given = case("example").inputs
    for option in before.pair:
        np.testing.assert_array_equal(plain(busbw(given, after, option)), plain(busbw(given, before, option)))
    np.testing.assert_array_equal(plain(after.penalty), plain(before.penalty))
    np.testing.assert_array_equal(plain(after.gap.step_by_size.gap), plain(before.gap.step_by_size.gap))


@rows("nodes", [8, 16])
def test_a_log_of_enough_nodes_moves_both_fabrics_by_the_same_factors(tmp_path: Path, nodes: int) -> None:
    before, after = case("example").latency(), own_log(tmp_path, nodes, peak=100.0)
    given = case("example").inputs
    for option in before.pair:
        assert np.median(plain(busbw(given, after, option))) < 0.9 * np.median(plain(busbw(given, before, option)))


def test_a_log_of_the_whole_cluster_counts_however_small_it_is(tmp_path: Path) -> None:
    small = {"cluster__gpus": 16, "workload__model_parameters_billion": 8}
    before, after = changed("example", **small).latency(), own_log(tmp_path, 2, peak=100.0, **small)
    given = changed("example", **small).inputs
    for option in before.pair:
        assert np.median(plain(busbw(given, after, option))) < 0.9 * np.median(plain(busbw(given, before, option)))


def test_measured_tuning_replaces_the_assumed_one(tmp_path: Path) -> None:
    results = own_log(tmp_path, 8), case("example").latency()
    own, published = (busbw(case("example").inputs, result, result.pair[0]) for result in results)
    assert not any("fabric-tuning" in i for i in inputs_of(own))
    assert np.std(plain(own)) < np.std(plain(published))


def test_packaged_model_error_is_the_cards_interval() -> None:
    intervals = read_yaml("collectives")["fitted"]["intervals"]
    book = case("example").inputs.evidence
    for entry, band in (("small", "< 64 KiB"), ("large", "> 64 MiB")):
        stated = book[f"collective-model-error-{entry}"]
        assert (stated.low, stated.high) == pytest.approx(tuple(intervals[band]), abs=0.02)


@rows("name", ["kestrel-lab"])
def test_the_chart_draws_from_the_result(name: str) -> None:
    client = case(name)
    result = client.latency()
    chart = charts.scale_chart(client.inputs, result)
    assert chart is not None and chart.svg.startswith("<svg") and "mathdefault" not in chart.svg
    assert len(chart.data) > 1 and len({len(row) for row in chart.data}) == 1
    told, at = client.figure("latency.widest"), client.figure("latency.widest_at").value
    drawn = next(row for row in chart.data if "step" in str(row[0]) and str(row[1]).isdigit() and float(row[1]) == at)
    assert float(drawn[3]) == pytest.approx(told.value, rel=1e-4)
    longer = client.spoken("latency").words["longer_at_widest"]
    assert longer.key == result.pair[told.value > 0].id  # type: ignore[attr-defined]


def test_the_sweep_doubles_to_the_largest_job_the_client_plans_and_no_further() -> None:
    assert latency_gap.sweep_sizes(case("kestrel-lab").inputs)[-2:] == (512, 1024)
    assert latency_gap.sweep_sizes(changed("example", cluster__gpus=384).inputs)[-2:] == (256, 384)
    stated = changed("example", workload__jobs=[{"gpus": 64, "share": 1.0}])
    assert latency_gap.sweep_sizes(stated.inputs) == (16, 32, 64)


@rows("error", [0.9, 1.0, 1.2])
def test_fitted_factors_stay_near_themselves_whatever_one_value_the_models_error_is_asked_at(error: float) -> None:
    asked = case("example").inputs.replacing({"evidence:collective-model-error-large": exactly(error)})
    found = latency_inputs.calibration(asked, measured=latency_inputs.Measured(1.1, 0.9, 0.2, 8))
    for factor, fitted in ((found.latency_factor, 1.1), (found.bandwidth_factor, 0.9)):
        assert np.all(np.abs(np.log(plain(factor) / fitted)) < 1.5)


def test_the_widest_gap_is_told_of_where_it_is_furthest_from_nothing_either_way() -> None:
    sweep = latency_gap.Sweep((16.0, 32.0, 384.0), Traced(np.tile([0.001, -0.03, 0.02], (5, 1))))
    at, gap = latency_gap.widest(sweep)
    assert at == 32.0 and plain(gap).tolist() == [-0.03] * 5
