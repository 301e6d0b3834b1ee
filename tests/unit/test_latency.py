"""Claims about when the latency gap matters."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fabricreport.constants import catalogue
from fabricreport.errors import InputError
from fabricreport.models.collectives.latency import (
    decompose,
    half_latency_size_bytes,
    penalty_map,
)
from fabricreport.models.collectives.parameters import Job, job
from fabricreport.models.collectives.timing import allreduce
from fabricreport.provenance import Traced, inputs_of

KNOWN = catalogue()
H100: dict[str, Any] = {"gpus_per_node": 8, "gpu": "h100"}
NDR: dict[str, Any] = {**H100, "fabric": "infiniband-ndr"}
SIZES = np.exp2(np.arange(3, 35))


def test_parts_add_up_to_the_time() -> None:
    split = decompose(SIZES, job(KNOWN, gpus=256, **NDR))
    assert split.node_us + split.network_us + split.bandwidth_us == pytest.approx(split.total_us)
    assert split.total_us == pytest.approx(allreduce(SIZES, job(KNOWN, gpus=256, **NDR)).time_us)


def test_an_empty_message_is_all_latency_and_a_huge_one_all_bandwidth() -> None:
    split = decompose([0.0, 2.0**40], job(KNOWN, gpus=64, **NDR))
    assert split.latency_us[0] == split.total_us[0]
    assert split.bandwidth_us[1] / split.total_us[1] > 0.999


def test_inter_node_part_is_the_delta_times_two_levels_of_tree() -> None:
    slow, fast = (decompose(8, job(KNOWN, gpus=1024, extra_step_us=x, **NDR)) for x in (7.0, 0.0))
    assert slow.network_us - fast.network_us == pytest.approx(14 * 7.0)
    assert slow.node_us == fast.node_us


def test_one_node_has_no_inter_node_part() -> None:
    assert np.all(decompose(SIZES, job(KNOWN, gpus=8, **NDR)).network_us == 0.0)


def test_half_latency_size_is_where_latency_is_half() -> None:
    where, how = job(KNOWN, gpus=512, **NDR), {"algorithm": "nvlstree", "protocol": "simple"}
    split = decompose(half_latency_size_bytes(where, **how), where, **how)
    assert split.latency_us / split.total_us == pytest.approx(0.5, abs=0.03)


def test_latency_rules_larger_messages_in_larger_clusters_and_on_flat_rings() -> None:
    tree = [half_latency_size_bytes(job(KNOWN, gpus=n, **NDR)) for n in (64, 1024)]
    ring = half_latency_size_bytes(job(KNOWN, gpus=1024, **NDR), algorithm="ring", protocol="ll128")
    assert tree[0] < tree[1] < ring


def test_half_latency_size_keeps_draws_and_provenance() -> None:
    step = Traced(np.array([[0.0], [9.0]]), {"evidence:roce-step"})
    sizes = half_latency_size_bytes(job(KNOWN, gpus=64, extra_step_us=step, **NDR))
    assert sizes.shape == (2,)
    assert sizes[1] > sizes[0]
    assert inputs_of(sizes) == {"evidence:roce-step"}


def slower(gpus: tuple[int, ...], extra_step_us: Any) -> list[tuple[Job, Job]]:
    """A fabric that differs from InfiniBand by its time per step alone, beside InfiniBand."""
    return [(job(KNOWN, gpus=n, extra_step_us=extra_step_us, **NDR), job(KNOWN, gpus=n, **NDR)) for n in gpus]


def test_penalty_of_a_fabric_over_itself_is_zero() -> None:
    found = penalty_map([(job(KNOWN, gpus=n, **NDR),) * 2 for n in (8, 16, 1024)], SIZES)
    assert np.all(found.penalty == 0.0)


def test_penalty_map_says_what_the_algorithm_is_and_how_much_it_matters() -> None:
    gpus, sizes = (16, 128, 1024), (2.0**16, 2.0**30)
    maps = {a: penalty_map(slower(gpus, 7.0), sizes, algorithm=a) for a in ("auto", "ring")}
    assert maps["auto"].penalty.shape == maps["auto"].algorithm.shape == (3, 2)
    assert maps["auto"].penalty[2, 1] == pytest.approx(0.017, abs=0.003)
    assert maps["ring"].penalty[2, 1] > 5 * maps["auto"].penalty[2, 1]
    assert set(maps["ring"].algorithm.ravel()) == {"ring"}
    assert np.all(maps["auto"].penalty[:, 0] > maps["auto"].penalty[:, 1])


def test_penalty_map_over_draws_leads_with_them() -> None:
    draws = np.array([[0.0], [3.0], [7.0]])
    found = penalty_map(slower((16, 64), draws), (8.0, 1e6, 1e9))
    assert found.penalty.shape == (3, 2, 3)
    assert np.all(found.penalty[0] == 0.0)
    assert np.all(np.diff(found.penalty, axis=0) >= 0.0)


def test_a_map_of_nothing_is_refused() -> None:
    with pytest.raises(InputError, match="at least one"):
        penalty_map([], (8.0,))
