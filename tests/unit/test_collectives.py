"""Claims about the time of collectives: known answers first, then laws."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rows import rows

from fabricreport.base.errors import InputError, OutOfRange
from fabricreport.base.provenance import Traced, inputs_of
from fabricreport.base.yaml_files import read_yaml
from fabricreport.books.constants import catalogue, fit_rule
from fabricreport.models.collectives import nccl
from fabricreport.models.collectives.fit import (
    BANDS,
    MeasuredTable,
    band_of,
    cluster_intervals,
    fit_calibration,
    fit_collectives,
)
from fabricreport.models.collectives.parameters import job
from fabricreport.models.collectives.timing import Calibration, allgather, allreduce, alltoall, reduce_scatter, sendrecv
from fabricreport.validation.card import CardRow
from fabricreport.validation.network import cluster_of, collectives_card, packaged_tables, training_tables

KNOWN = catalogue()
H100: dict[str, Any] = {"gpus_per_node": 8, "gpu": "h100", "fabric": "infiniband-ndr"}
SIZES = np.exp2(np.arange(0, 35))
MANY = np.exp2(np.arange(3, 36, 0.5))


@rows(
    ("gpus", "floor_us"),
    [(16, 25.2), (64, 45.2), (128, 55.2), (256, 65.2), (512, 75.2), (1024, 85.2), (16384, 125.2)],
)
def test_tree_ll_floor_is_the_librarys(gpus: int, floor_us: float) -> None:
    assert allreduce(8, job(KNOWN, gpus=gpus, **H100), algorithm="tree", protocol="ll").time_us == pytest.approx(
        floor_us, rel=1e-3
    )


@rows(("gpus", "slower_us"), [(16, 39.2), (128, 111.2), (1024, 183.2), (16384, 279.2)])
def test_seven_microseconds_are_paid_once_per_inter_node_step(gpus: int, slower_us: float) -> None:
    found = allreduce(8, job(KNOWN, gpus=gpus, extra_step_us=7.0, **H100), algorithm="tree", protocol="ll")
    assert found.time_us == pytest.approx(slower_us, rel=1e-3)


def test_sixteen_h100s_start_near_25_microseconds_by_tree_and_ll() -> None:
    found = allreduce(16, job(KNOWN, gpus=16, **H100))
    assert found.time_us == pytest.approx(24.96, rel=0.05)
    assert (found.algorithm, found.protocol) == ("tree", "ll")


def test_seven_microseconds_at_1024_gpus_cost_little_on_a_tree_and_much_on_a_flat_ring() -> None:
    def penalty(**how: str) -> float:
        base, slow = (
            allreduce(2**30, job(KNOWN, gpus=1024, extra_step_us=x, **H100), **how).time_us for x in (0.0, 7.0)
        )
        return float(slow / base - 1.0)

    assert penalty() == pytest.approx(0.017, abs=0.003)
    assert penalty(algorithm="tree") == pytest.approx(0.015, abs=0.004)
    assert penalty(algorithm="ring", protocol="ll128") == pytest.approx(0.17, abs=0.015)


def test_ring_at_two_ranks_is_one_exchange_each_way() -> None:
    """Two nodes of one GPU: base + 2 steps of the tree's NET constant, and every byte crosses the NIC once."""
    found = allreduce(
        [0.0, 1e12],
        job(KNOWN, gpus=2, gpus_per_node=1, gpu="h100", fabric="infiniband-ndr"),
        algorithm="ring",
        protocol="simple",
    )
    assert found.time_us[0] == pytest.approx(8.4 + 2 * 14.0)
    assert found.busbw_gbytes_per_s[1] == pytest.approx(50.0 * KNOWN.fitted.nic_efficiency, rel=1e-3)
    assert found.busbw_gbytes_per_s[1] == pytest.approx(found.algbw_gbytes_per_s[1])


def test_ring_latency_counts_the_librarys_steps() -> None:
    found = allreduce(0, job(KNOWN, gpus=64, **H100), algorithm="ring", protocol="ll128")
    assert found.time_us == pytest.approx(14.0 + (126 - 14) * 1.9 + 14 * 4.0)


def test_two_nodes_are_flattered_and_four_are_not() -> None:
    two, four, many = (allreduce(2**34, job(KNOWN, gpus=n, **H100)).busbw_gbytes_per_s for n in (16, 32, 1024))
    assert two == pytest.approx(469.2, rel=0.02)
    assert 340 < four < 400
    assert 340 < many < 400


def test_no_larger_cluster_inherits_two_node_flattery_at_any_size() -> None:
    for gpus in (24, 32, 64, 256, 1024, 4096):
        assert np.all(allreduce(MANY, job(KNOWN, gpus=gpus, **H100)).busbw_gbytes_per_s < 400.0)


def test_rocev2_and_infiniband_agree_on_two_nodes_of_large_messages() -> None:
    roce = allreduce(2**34, job(KNOWN, gpus=16, gpus_per_node=8, gpu="h100", fabric="rocev2-400g")).busbw_gbytes_per_s
    assert roce == pytest.approx(471.2, rel=0.02)


def test_default_links_carry_sixteen_by_100g_on_a100() -> None:
    same: dict[str, Any] = {"gpus": 16, "gpus_per_node": 8, "gpu": "a100", "fabric": "rocev2-100g"}
    default, two, one = (allreduce(2**33, job(KNOWN, links_per_gpu=n, **same)).busbw_gbytes_per_s for n in (None, 2, 1))
    assert default == two
    assert default == pytest.approx(189.6, rel=0.05)
    assert one < two
    four_nodes = [
        allreduce(2**33, job(KNOWN, links_per_gpu=n, **(same | {"gpus": 32}))).busbw_gbytes_per_s for n in (1, 2)
    ]
    assert four_nodes[0] == pytest.approx(0.5 * four_nodes[1], rel=0.05)


def test_racks_of_nvl72_are_one_domain_whatever_their_hosts() -> None:
    rack: dict[str, Any] = {"gpu": "gb200-nvl72", "fabric": "infiniband-xdr"}
    hosts = allreduce(SIZES, job(KNOWN, gpus=72, gpus_per_node=4, **rack))
    whole = allreduce(SIZES, job(KNOWN, gpus=72, gpus_per_node=72, **rack))
    assert np.array_equal(hosts.time_us, whole.time_us)
    assert hosts.busbw_gbytes_per_s[-1] == pytest.approx(839.0, rel=0.15)


def test_forcing_an_algorithm_or_protocol_is_never_faster_and_does_change_the_answer() -> None:
    auto = allreduce(SIZES, job(KNOWN, gpus=256, **H100)).time_us
    forced = {
        (a, p): allreduce(SIZES, job(KNOWN, gpus=256, **H100), algorithm=a, protocol=p).time_us
        for a, p in (("ring", "ll"), ("ring", "simple"), ("tree", "ll"), ("tree", "ll128"), ("nvlstree", "auto"))
    }
    assert all(np.all(auto <= times) for times in forced.values())
    assert forced["ring", "ll"][3] > 5.0 * forced["tree", "ll"][3]
    assert forced["tree", "ll"][-1] > 2.0 * forced["tree", "ll128"][-1] > 2.0 * auto[-1]


def test_reported_algorithm_is_the_one_whose_time_is_reported() -> None:
    auto = allreduce(SIZES, job(KNOWN, gpus=64, **H100))
    for size, time, algorithm, protocol in zip(SIZES, auto.time_us, auto.algorithm, auto.protocol, strict=True):
        assert (
            allreduce(size, job(KNOWN, gpus=64, **H100), algorithm=str(algorithm), protocol=str(protocol)).time_us
            == time
        )


@rows("protocol", ["ll", "ll128", "simple"])
@rows("gpus", [8, 16, 128])
def test_allreduce_is_reduce_scatter_plus_allgather_on_a_ring(protocol: str, gpus: int) -> None:
    where, how = job(KNOWN, gpus=gpus, **H100), {"algorithm": "ring", "protocol": protocol}
    both = reduce_scatter(SIZES, where, **how).time_us + allgather(SIZES, where, **how).time_us
    assert both == pytest.approx(allreduce(SIZES, where, **how).time_us)


def test_one_gpu_moves_nothing() -> None:
    for collective in (allreduce, allgather, reduce_scatter, alltoall, sendrecv):
        found = collective(SIZES, job(KNOWN, gpus=1, **H100))
        assert np.all(found.busbw_gbytes_per_s == 0.0)
        assert np.all((found.time_us > 0.0) & (found.time_us < 20.0))


def test_one_node_does_not_touch_the_fabric() -> None:
    same: dict[str, Any] = {"gpus": 8, "gpus_per_node": 8, "gpu": "h100"}
    for collective in (allreduce, allgather, reduce_scatter, alltoall, sendrecv):
        times = [collective(SIZES, job(KNOWN, fabric=f, **same)).time_us for f in ("infiniband-ndr", "ethernet-tcp")]
        assert np.array_equal(*times)
    assert allreduce(2**33, job(KNOWN, fabric="infiniband-ndr", **same)).busbw_gbytes_per_s > 370.0


def test_alltoall_over_nics_falls_far_below_alltoall_in_a_rack() -> None:
    rack: dict[str, Any] = {"gpus_per_node": 64, "gpu": "gb200-nvl72", "fabric": "rocev2-400g"}
    assert (
        alltoall(2**30, job(KNOWN, gpus=128, **rack)).busbw_gbytes_per_s
        < 0.2 * alltoall(2**30, job(KNOWN, gpus=64, **rack)).busbw_gbytes_per_s
    )


def test_of_an_alltoall_each_rank_keeps_its_own_part() -> None:
    found = alltoall(2**30, job(KNOWN, gpus=16, **H100))
    assert found.busbw_gbytes_per_s == pytest.approx(found.algbw_gbytes_per_s * 15 / 16)


def test_sendrecv_across_nodes_runs_at_one_gpus_nic() -> None:
    assert sendrecv(2**34, job(KNOWN, gpus=16, **H100)).busbw_gbytes_per_s == pytest.approx(47.0, rel=0.02)


@settings(max_examples=50, deadline=None)
@given(
    gpu=st.sampled_from(sorted(KNOWN.gpus)),
    fabric=st.sampled_from(sorted(KNOWN.fabrics)),
    nodes=st.integers(2, 600),
    per_node=st.sampled_from([1, 2, 4, 8]),
    size=st.floats(0, 38),
)
def test_busbw_never_exceeds_what_the_links_allow(
    gpu: str, fabric: str, nodes: int, per_node: int, size: float
) -> None:
    where = job(KNOWN, gpus=nodes * per_node, gpus_per_node=per_node, gpu=gpu, fabric=fabric)
    found = allreduce(2.0**size, job(KNOWN, gpus=nodes * per_node, gpus_per_node=per_node, gpu=gpu, fabric=fabric))
    inside = max(where.gpu.nvlink_gbytes_per_s, 2.0 * where.gpu.nvls_gbytes_per_s)
    allowed = inside
    if where.domains > 1:
        outside = where.nic_gbytes_per_s * (where.ranks - 1) / (where.domains - 1)
        allowed = min(outside, inside) if where.per_domain > 1 else outside
    assert found.busbw_gbytes_per_s <= allowed * (1 + 1e-9)


@settings(max_examples=50, deadline=None)
@given(
    gpu=st.sampled_from(["a100", "h100", "h200", "b200", "mi300x"]),
    fabric=st.sampled_from(sorted(KNOWN.fabrics)),
    nodes=st.integers(1, 300),
    more=st.integers(1, 300),
)
@example(gpu="h100", fabric="infiniband-xdr", nodes=2, more=1)
def test_time_grows_with_ranks_and_with_bytes_but_for_the_chunk_of_two_nodes(
    gpu: str, fabric: str, nodes: int, more: int
) -> None:
    few = allreduce(MANY, job(KNOWN, gpus=8 * nodes, gpus_per_node=8, gpu=gpu, fabric=fabric)).time_us
    many = allreduce(MANY, job(KNOWN, gpus=8 * (nodes + more), gpus_per_node=8, gpu=gpu, fabric=fabric)).time_us
    saved = nvls_filling_saved_beyond_two_nodes(gpu, fabric) if nodes == 2 else 0.0
    assert np.all(many >= (few - saved) * (1 - 1e-9))
    assert np.all(np.diff(few) >= -1e-9 * few[1:])


def nvls_filling_saved_beyond_two_nodes(gpu: str, fabric: str) -> Any:
    """Two nodes fill the NVLS tree with chunks of 128 KiB, more nodes with 64 KiB (nccl enqueue.cc).

    Where the NICs limit, as all 400G fabrics do, each byte sent twice beyond two nodes costs far more than the smaller
    chunk saves. NICs of 800G outrun the switches' reduction at any number of nodes, so there the saving is seen.
    """
    where = job(KNOWN, gpus=16, gpus_per_node=8, gpu=gpu, fabric=fabric)
    if not nccl.has_nvls(where):
        return 0.0
    chunk = KNOWN.library.chunk_kib
    fill = nccl.allreduce_parts(MANY, where, "nvlstree", "simple", KNOWN.fitted).fill_us
    return fill * (1 - chunk.nvls_many_nodes / chunk.nvls_two_nodes)


def test_a_third_node_is_faster_only_where_nics_outrun_the_switches() -> None:
    def quickest_share(fabric: str) -> float:
        two, three = (
            allreduce(MANY, job(KNOWN, gpus=n, gpus_per_node=8, gpu="h100", fabric=fabric)).time_us for n in (16, 24)
        )
        return float(np.min(three / two))

    assert quickest_share("infiniband-xdr") < 1.0
    assert quickest_share("infiniband-ndr") >= 1.0
    assert quickest_share("rocev2-400g") >= 1.0


@settings(max_examples=30, deadline=None)
@given(
    nodes=st.integers(2, 500),
    size=st.floats(3, 34),
    low=st.floats(0, 20),
    more=st.floats(0, 20),
    share=st.floats(0.3, 0.99),
)
def test_a_worse_fabric_is_never_faster(nodes: int, size: float, low: float, more: float, share: float) -> None:
    def time(step: float, achieved: float) -> float:
        return float(
            allreduce(
                2.0**size, job(KNOWN, gpus=8 * nodes, extra_step_us=step, bandwidth_share=achieved, **H100)
            ).time_us
        )

    assert time(low + more, 1.0) >= time(low, 1.0)
    assert time(low, share) >= time(low, 1.0)


def test_draws_lead_and_sizes_trail() -> None:
    step, share = np.array([[0.0], [3.0], [9.0]]), np.array([[1.0], [0.9], [0.5]])
    found = allreduce(SIZES, job(KNOWN, gpus=64, extra_step_us=step, bandwidth_share=share, **H100))
    assert found.time_us.shape == found.busbw_gbytes_per_s.shape == np.shape(found.algorithm) == (3, SIZES.size)
    alone = allreduce(SIZES, job(KNOWN, gpus=64, extra_step_us=9.0, bandwidth_share=0.5, **H100))
    assert found.time_us[2] == pytest.approx(alone.time_us)


def test_provenance_of_uncertain_inputs_reaches_the_time() -> None:
    step = Traced(np.array([[1.0], [2.0]]), {"evidence:roce-step"})
    share = Traced(np.array([[0.9], [0.8]]), {"evidence:roce-share"})
    found = allreduce(SIZES, job(KNOWN, gpus=64, extra_step_us=step, bandwidth_share=share, **H100))
    assert inputs_of(found.time_us) == {"evidence:roce-step", "evidence:roce-share"}


def test_calibration_scales_latency_and_bandwidth_apart() -> None:
    plain = allreduce([0.0, 2.0**36], job(KNOWN, gpus=64, **H100)).time_us
    tuned = allreduce([0.0, 2.0**36], job(KNOWN, gpus=64, **H100), calibration=Calibration(2.0, 0.5)).time_us
    assert tuned / plain == pytest.approx([2.0, 2.0])
    faster = allreduce([2.0**36], job(KNOWN, gpus=64, **H100), calibration=Calibration(1.0, 1.1)).time_us
    assert faster / plain[1] == pytest.approx([1 / 1.1], rel=1e-3)
    with pytest.raises(OutOfRange, match="positive"):
        allreduce(8, job(KNOWN, gpus=64, **H100), calibration=Calibration(0.0, 1.0))


@rows(
    ("change", "says"),
    [
        ({"gpu": "h10"}, "Did you mean 'h100'"),
        ({"fabric": "infinband-ndr"}, "Did you mean 'infiniband-ndr'"),
        ({"algorithm": "rings"}, "Did you mean 'ring'"),
        ({"protocol": "LL"}, "Did you mean 'll'"),
        ({"gpus": 20}, "Use 16 or 24"),
        ({"gpus": 0}, "at least 1"),
        ({"gpus": 16.5}, "whole number"),
        ({"gpus": True}, "whole number"),
        ({"gpus_per_node": -8}, "at least 1"),
        ({"links_per_gpu": 0}, "Leave it out"),
        ({"links_per_gpu": float("nan")}, "Leave it out"),
        ({"size_bytes": -1}, "not negative"),
        ({"size_bytes": [8, float("inf")]}, "not negative"),
        ({"size_bytes": "1G"}, "finite numbers"),
        ({"extra_step_us": -1.0}, "extra_step_us"),
        ({"bandwidth_share": 1.2}, "bandwidth_share"),
        ({"gpus": 16_777_216}, "at most 1,048,576"),
        ({"gpu": "a100", "algorithm": "nvlstree"}, "Choose among ring/ll"),
        ({"algorithm": "nvlstree", "protocol": "ll"}, "does not exist"),
    ],
)
def test_what_cannot_be_is_refused_with_a_remedy(change: dict[str, Any], says: str) -> None:
    asked: dict[str, Any] = {"gpus": 16, **H100, **change}
    how = {key: asked.pop(key) for key in ("algorithm", "protocol") if key in asked}
    size_bytes = asked.pop("size_bytes", 8)
    with pytest.raises(InputError, match=says):
        allreduce(size_bytes, job(KNOWN, **asked), **how)


def test_collectives_without_an_algorithm_say_so() -> None:
    with pytest.raises(InputError, match="AllGather has no such algorithm"):
        allgather(8, job(KNOWN, gpus=16, **H100), algorithm="tree")
    with pytest.raises(InputError, match="AlltoAll has no such algorithm"):
        alltoall(8, job(KNOWN, gpus=16, **H100), algorithm="ring")


def test_every_gpu_runs_on_every_fabric() -> None:
    for gpu in KNOWN.gpus:
        for fabric in KNOWN.fabrics:
            for gpus in (1, 4, 8, 16, 144, 1024):
                found = allreduce(SIZES, job(KNOWN, gpus=gpus, gpus_per_node=4, gpu=gpu, fabric=fabric))
                assert np.all(np.isfinite(found.time_us) & (found.time_us > 0.0))


ON_H100: dict[str, Any] = {"gpus_per_node": 8, "gpu": "h100"}
NDR: dict[str, Any] = {**ON_H100, "fabric": "infiniband-ndr"}
MESSAGES = np.exp2(np.arange(3, 35))


def synthetic(gpus: int = 64, **how: Any) -> MeasuredTable:
    sizes = np.exp2(np.arange(3, 34.0))
    same: dict[str, Any] = {"gpus": gpus, "gpus_per_node": 8, "gpu": "h100", "fabric": "infiniband-ndr"}
    times = allreduce(sizes, job(KNOWN, **same), **how).time_us
    return MeasuredTable(KNOWN, case=f"made-{gpus}", size_bytes=sizes, time_us=times, **same)


def test_packaged_parameters_are_what_the_training_tables_give() -> None:
    fitted, packaged = asdict(fit_collectives(training_tables(), fit_rule())), asdict(KNOWN.fitted)
    assert fitted == pytest.approx(packaged, rel=0.02)


@pytest.mark.slow
@pytest.mark.laws(0)
def test_packaged_intervals_are_what_resampling_clusters_gives() -> None:
    packaged = read_yaml("collectives")["fitted"]["intervals"]
    for band, interval in cluster_intervals(packaged_tables(), fit_rule()).items():
        assert interval == pytest.approx(packaged[band], rel=0.03)
        assert interval[0] < 1.0 < interval[1]


def test_the_fit_does_not_see_held_out_tables() -> None:
    assert not any(t.held_out for t in training_tables())
    assert sum(t.held_out and t.counted for t in packaged_tables()) >= 6


def test_fit_recovers_parameters_it_was_given() -> None:
    truth = replace(KNOWN.fitted, nic_efficiency=0.96, ll_channel_us=1.2)
    tables = [replace(synthetic(n, parameters=truth)) for n in (16, 32, 128)]
    found = fit_collectives(tables, fit_rule())
    assert found.nic_efficiency == pytest.approx(0.96, rel=0.01)
    assert found.ll_channel_us == pytest.approx(1.2, abs=0.3)


def test_fit_of_nothing_is_refused() -> None:
    with pytest.raises(InputError, match="no measured row counts"):
        fit_collectives([replace(synthetic(), counted=False)], fit_rule())


def test_one_bad_row_does_not_steer_the_fit() -> None:
    clean, spoilt = synthetic(64), synthetic(64)
    spoilt.time_us[-1] *= 4.0
    before, after = (fit_collectives([synthetic(16), t], fit_rule()).nic_efficiency for t in (clean, spoilt))
    assert after == pytest.approx(before, rel=0.02)


def test_calibration_finds_the_clients_own_factors() -> None:
    made = synthetic(128, calibration=Calibration(1.5, 0.8))
    found = fit_calibration(made)
    assert found.latency_factor == pytest.approx(1.5, rel=0.05)
    assert found.bandwidth_factor == pytest.approx(0.8, rel=0.05)


def test_calibration_without_small_sizes_leaves_latency_near_the_model() -> None:
    made = synthetic(16, calibration=Calibration(1.0, 0.7))
    large = made.size_bytes >= 2**31
    found = fit_calibration(replace(made, size_bytes=made.size_bytes[large], time_us=made.time_us[large]))
    assert found.bandwidth_factor == pytest.approx(0.7, rel=0.05)
    assert found.latency_factor == pytest.approx(1.0, rel=0.25)


def test_two_rows_calibrate_nothing() -> None:
    made = synthetic(16)
    with pytest.raises(InputError, match="fewer than 3"):
        fit_calibration(replace(made, size_bytes=made.size_bytes[:2], time_us=made.time_us[:2]))


def test_bands_split_at_64_kib_and_64_mib() -> None:
    assert band_of([8, 65535, 65536, 2**26, 2**26 + 1]).tolist() == [0, 0, 1, 1, 2]


def test_card_meets_what_was_expected_before_the_fit_and_says_where_not() -> None:
    card = collectives_card()
    assert card.summary["overall"] <= 0.12
    assert all(card.summary[band] <= 0.20 for band in BANDS)
    met = {item for item, true in card.as_expected.items() if true}
    assert met >= {"small-infiniband", "overall", "band-small", "band-middle", "band-large", "held-out"}
    assert set(card.intervals) == set(BANDS)
    assert card.does_not_claim and card.irreducible and card.valid_range


def test_every_cluster_with_a_table_is_within_20_percent() -> None:
    card = collectives_card()
    tables = [t.case for t in packaged_tables() if t.size_bytes.size > 1]
    worst = max(card.summary[case] for case in tables)
    assert worst <= 0.20


def test_card_shows_every_measured_row_and_why_some_do_not_count() -> None:
    card = collectives_card()
    assert len(card.rows) == sum(t.size_bytes.size for t in packaged_tables())
    assert all(row.note for row in card.rows if not row.counted)
    assert {cluster_of(row) for row in card.rows} == {t.case for t in packaged_tables()}
    assert {cluster_of(row) for row in card.held_out} == {t.case for t in packaged_tables() if t.held_out}


def test_a_row_of_a_card_works_out_its_error_and_refuses_zero() -> None:
    assert CardRow("x", published=10.0, ours=9.0, held_out=True).error == pytest.approx(-0.1)
    with pytest.raises(InputError, match="zero"):
        CardRow("x", published=0.0, ours=9.0, held_out=True)
