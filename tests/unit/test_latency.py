"""Claims about when the latency gap matters."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fabricreport.errors import InputError, OutOfRange
from fabricreport.models.collectives.latency import (
    claim_value,
    contested,
    decompose,
    gpus_below_which_it_does_not_matter,
    half_latency_size_bytes,
    penalty_map,
    step_penalty,
)
from fabricreport.models.collectives.timing import allreduce
from fabricreport.provenance import Traced, inputs_of

H100: dict[str, Any] = {"gpus_per_node": 8, "gpu": "h100"}
NDR: dict[str, Any] = {**H100, "fabric": "infiniband-ndr"}
SIZES = np.exp2(np.arange(3, 35))


def test_parts_add_up_to_the_time() -> None:
    split = decompose(SIZES, gpus=256, **NDR)
    assert split.node_us + split.network_us + split.bandwidth_us == pytest.approx(split.total_us)
    assert split.total_us == pytest.approx(allreduce(SIZES, gpus=256, **NDR).time_us)


def test_an_empty_message_is_all_latency_and_a_huge_one_all_bandwidth() -> None:
    split = decompose([0.0, 2.0**40], gpus=64, **NDR)
    assert split.latency_us[0] == split.total_us[0]
    assert split.bandwidth_us[1] / split.total_us[1] > 0.999


def test_inter_node_part_is_the_delta_times_two_levels_of_tree() -> None:
    slow, fast = (decompose(8, gpus=1024, extra_step_us=x, **NDR) for x in (7.0, 0.0))
    assert slow.network_us - fast.network_us == pytest.approx(14 * 7.0)
    assert slow.node_us == fast.node_us


def test_one_node_has_no_inter_node_part() -> None:
    assert np.all(decompose(SIZES, gpus=8, **NDR).network_us == 0.0)


def test_half_latency_size_is_where_latency_is_half() -> None:
    how: dict[str, Any] = {"gpus": 512, "algorithm": "nvlstree", "protocol": "simple", **NDR}
    size = half_latency_size_bytes(**how)
    split = decompose(size, **how)
    assert split.latency_us / split.total_us == pytest.approx(0.5, abs=0.03)


def test_latency_rules_larger_messages_in_larger_clusters_and_on_flat_rings() -> None:
    tree = [half_latency_size_bytes(gpus=n, **NDR) for n in (64, 1024)]
    ring = half_latency_size_bytes(gpus=1024, algorithm="ring", protocol="ll128", **NDR)
    assert tree[0] < tree[1] < ring


def test_half_latency_size_keeps_draws_and_provenance() -> None:
    step = Traced(np.array([[0.0], [9.0]]), {"evidence:roce-step"})
    sizes = half_latency_size_bytes(gpus=64, extra_step_us=step, **NDR)
    assert sizes.shape == (2,)
    assert sizes[1] > sizes[0]
    assert inputs_of(sizes) == {"evidence:roce-step"}


def test_penalty_of_a_fabric_over_itself_is_zero() -> None:
    found = penalty_map((8, 16, 1024), SIZES, fabric="infiniband-ndr", **H100)
    assert np.all(found.penalty == 0.0)


def test_penalty_map_says_what_the_algorithm_is_and_how_much_it_matters() -> None:
    gpus, sizes = (16, 128, 1024), (2.0**16, 2.0**30)
    maps = {
        a: penalty_map(gpus, sizes, algorithm=a, extra_step_us=7.0, bandwidth_share=1.0, **H100)
        for a in ("auto", "ring")
    }
    assert maps["auto"].penalty.shape == maps["auto"].algorithm.shape == (3, 2)
    assert maps["auto"].penalty[2, 1] == pytest.approx(0.017, abs=0.003)
    assert maps["ring"].penalty[2, 1] > 5 * maps["auto"].penalty[2, 1]
    assert set(maps["ring"].algorithm.ravel()) == {"ring"}
    assert np.all(maps["auto"].penalty[:, 0] > maps["auto"].penalty[:, 1])


def test_penalty_map_over_draws_leads_with_them() -> None:
    draws = np.array([[0.0], [3.0], [7.0]])
    found = penalty_map((16, 64), (8.0, 1e6, 1e9), extra_step_us=draws, bandwidth_share=1.0, **H100)
    assert found.penalty.shape == (3, 2, 3)
    assert np.all(found.penalty[0] == 0.0)
    assert np.all(np.diff(found.penalty, axis=0) >= 0.0)


def test_a_map_of_nothing_is_refused() -> None:
    with pytest.raises(InputError, match="at least one"):
        penalty_map((), (8.0,), **H100)


def test_full_overlap_hides_the_gap_and_no_overlap_shows_it() -> None:
    base, ours = 100.0, 120.0
    hidden, shown = (step_penalty(base, ours, compute_us=1000.0, overlap_share=o) for o in (0.5, 0.0))
    assert hidden == 0.0
    assert shown == pytest.approx(20.0 / 1100.0)
    with pytest.raises(OutOfRange, match="overlap_share"):
        step_penalty(base, ours, compute_us=1000.0, overlap_share=1.5)


def test_without_a_gap_it_never_matters_and_a_wide_one_matters_from_two_nodes() -> None:
    how: dict[str, Any] = {"size_bytes": 2.0**24, "bandwidth_share": 1.0, **H100}
    assert gpus_below_which_it_does_not_matter(0.01, extra_step_us=0.0, **how) == 131_072
    assert gpus_below_which_it_does_not_matter(0.001, extra_step_us=50.0, **how) == 8


def test_the_threshold_cluster_grows_with_size_and_overlap_and_shrinks_with_the_gap() -> None:
    how: dict[str, Any] = {"bandwidth_share": 1.0, **H100}
    small, large = (
        gpus_below_which_it_does_not_matter(0.01, size_bytes=s, extra_step_us=3.0, **how) for s in (2.0**22, 2.0**30)
    )
    assert small < large
    gaps = np.array([[0.5], [3.0], [9.0]])
    by_gap = gpus_below_which_it_does_not_matter(0.01, size_bytes=2.0**28, extra_step_us=gaps, **how)
    assert by_gap.shape == (3,)
    assert np.all(np.diff(by_gap) <= 0.0)
    hidden = gpus_below_which_it_does_not_matter(0.01, size_bytes=2.0**28, extra_step_us=gaps, exposed_share=0.1, **how)
    assert np.all(hidden >= by_gap)


@pytest.mark.parametrize("quantity", ["step-us", "bandwidth-share"])
def test_contested_quantities_have_sources_that_disagree_and_ranges_by_who_tunes(quantity: str) -> None:
    by_maturity = [contested(quantity, m) for m in ("low", "medium", "high")]
    assert all(c.low <= c.mode <= c.high for c in by_maturity)
    worse = [c.mode if quantity == "step-us" else 1.0 - c.mode for c in by_maturity]
    assert worse == sorted(worse, reverse=True)
    values = [claim_value(claim) for claim in by_maturity[0].claims]
    assert max(values) > min(values)
    assert by_maturity[0].grade == "assumption"
    assert all(claim["source"] and claim["grade"] and claim["base"] for claim in by_maturity[0].claims)


def test_unknown_maturity_or_quantity_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(InputError, match="Did you mean 'medium'"):
        contested("step-us", "medum")
    with pytest.raises(InputError, match="Did you mean 'step-us'"):
        contested("step_us")
