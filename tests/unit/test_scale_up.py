"""What a rack takes off the fabric: by hand for one plan, by law for any group, and nothing for servers of eight."""

from __future__ import annotations

from typing import Any

import bench
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricreport.case import Case
from fabricreport.constants import practice
from fabricreport.models.training.parallel import Plan
from fabricreport.models.training.scale_up import kept, leaving, sent_bytes
from fabricreport.models.training.step import Network, Traffic, TrainingStep, training_step
from fabricreport.sections.latency.findings import LatencyFinding

RULES = practice().rules
DENSE = practice().preset("dense-70b")


def step(plan: Plan, gpu: str, per_node: int) -> TrainingStep:
    network = Network(practice(), gpu, per_node, "infiniband-xdr")
    return training_step(DENSE, plan, network, kernel_efficiency=0.5, overlap=RULES.overlap)


def case_of(**keys: Any) -> Case:
    return bench.changed("example", **keys)


def test_what_two_racks_keep_of_a_plan_is_worked_out_by_hand() -> None:
    """Tensor 8, data 18 on two racks of 72: nine replicas a rack; activations stay, gradients cross on 2 of 18 hops."""
    found = step(Plan(tp=8, pp=1, dp=18), "gb200-nvl72", 72)
    layers, width = DENSE.layers, DENSE.hidden
    micro = DENSE.batch_sequences / 18 if DENSE.batch_sequences > 18 else 1.0
    tensor = 4 * layers * micro * DENSE.sequence_tokens * width * 2 * (2 * 7 / 8)
    weights = DENSE.parameters / 8
    data = (2 + 4) * weights * 17 / 18  # BF16 gathered, FP32 reduced
    assert {t.kind: sum(sent_bytes(s) for s in found.traffic if s.kind == t.kind) for t in found.traffic} == (
        pytest.approx({"tensor": tensor, "data": data})
    )
    shares = kept(found)
    assert shares is not None
    assert shares.bytes_share == pytest.approx((tensor + data * 16 / 18) / (tensor + data))
    across = sum(float(t.time_s) for t in found.traffic if t.kind == "data")
    inside = sum(float(t.time_s) for t in found.traffic if t.kind == "tensor")
    assert shares.time_share == pytest.approx(inside / (inside + across))


def test_a_rack_keeps_more_off_the_fabric_than_servers_of_eight() -> None:
    plan = Plan(tp=8, pp=1, dp=18)
    rack, servers = kept(step(plan, "gb200-nvl72", 72)), kept(step(plan, "b200", 8))
    assert rack is not None and servers is not None
    assert rack.bytes_share > servers.bytes_share


@given(
    ranks=st.integers(2, 4096),
    collective=st.sampled_from(["all-reduce", "all-gather", "all-to-all", "send-recv"]),
    algorithm=st.sampled_from(["ring", "tree", "nvlstree", "direct"]),
    data=st.data(),
)
def test_what_leaves_lies_between_nothing_and_all_and_is_all_of_ranks_that_sit_apart(
    ranks: int, collective: str, algorithm: str, data: st.DataObject
) -> None:
    domains = data.draw(st.sampled_from([d for d in range(1, ranks + 1) if ranks % d == 0]))

    def of(domains: int) -> float:
        return leaving(Traffic("", collective, 1.0, 1.0, ranks, domains, domains > 1, 1.0, 1.0, algorithm, "simple"))

    assert 0.0 <= of(domains) <= of(ranks) == 1.0
    assert of(1) == 0.0


@pytest.mark.slow
def test_the_memo_says_it_of_racks_and_nothing_of_servers() -> None:
    servers = case_of(cluster__gpus=512)
    rack = {"gpu": "gb200-nvl72", "gpus": 1152, "gpus_per_node": 72, "nic_ports_per_node": 72}
    racks = case_of(**{f"cluster__{key}": value for key, value in rack.items()})
    said = {LatencyFinding.KEEPS_MOST, LatencyFinding.KEEPS_LESS}
    assert not said & {f for f in LatencyFinding if f in servers.spoken("latency").findings}
    assert len(said & {f for f in LatencyFinding if f in racks.spoken("latency").findings}) == 1
    assert (
        "latency.kept.bytes" not in servers.latency().numbers and "latency.domain_gpus" not in servers.latency().numbers
    )
    numbers = racks.latency().numbers
    assert numbers["latency.domain_gpus"].value == 72
    assert 0.0 < numbers["latency.kept.bytes"].value < 1.0
    assert 0.0 < numbers["latency.kept.time"].value < 1.0
