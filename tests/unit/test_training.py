"""Claims about the training-step model, its plans and its card."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import rows

from fabricreport.base.errors import InputError
from fabricreport.base.provenance import Traced, inputs_of
from fabricreport.base.yaml_files import read_rows, read_yaml
from fabricreport.books.constants import practice
from fabricreport.models.training import other_steps, parallel
from fabricreport.models.training.parallel import Overlap, Plan
from fabricreport.models.training.plans import best_plan, trained
from fabricreport.models.training.step import Network, StepTime, TrainingStep, training_step
from fabricreport.validation.training import training_card

PRACTICE = practice()
NDR = Network(PRACTICE, "h100", 8, "infiniband-ndr")
OVERLAP = Overlap(0.7, 0.6, 0.25, 0.1)
DENSE = replace(PRACTICE.preset("dense-70b"), batch_sequences=512.0)
SMALL = replace(PRACTICE.preset("fine-tune-8b"), batch_sequences=32.0)
PLAN = Plan(8, 2, 64, interleave=2)


def step(
    model: Any = DENSE, plan: Plan = PLAN, network: Network = NDR, overlap: Overlap = OVERLAP, **more: Any
) -> TrainingStep:
    return training_step(model, plan, network, kernel_efficiency=0.5, overlap=overlap, **more)


def roce(extra_us: Any = 7.0, share: Any = 1.0) -> Network:
    return replace(NDR, fabric="rocev2-400g", extra_step_us=extra_us, bandwidth_share=share)


def parts(found: StepTime) -> Any:
    return found.compute_s + found.in_node_s + found.exposed_communication_s + found.bubble_s + found.other_s


def test_parts_add_up_to_the_step() -> None:
    found = step(optimiser_share=0.02)
    assert parts(found) == pytest.approx(found.step_time_s)
    assert found.other_s == pytest.approx(0.02 * (found.step_time_s - found.exposed_communication_s))


def test_kernels_alone_take_the_flops_over_the_peak() -> None:
    lone = Plan(1, 1, 1)
    model = replace(PRACTICE.preset("fine-tune-8b"), batch_sequences=4.0)
    found = step(model, lone)
    flops = 4 * model.sequence_tokens * model.flops_per_token
    assert found.step_time_s == pytest.approx(flops / (0.5 * PRACTICE.gpu("h100").peak_flops))
    assert found.mfu == pytest.approx(0.5)
    assert found.exposed_communication_s == 0.0


def test_bubble_is_stages_less_one_over_interleaved_microbatches() -> None:
    found = step()
    assert found.microbatches == 8.0
    assert found.bubble_s / (found.compute_s + found.in_node_s) == pytest.approx(1.0 / (2 * 8))
    sent = {t.kind: t.exposed_s for t in found.traffic if t.on_fabric}
    in_step = sum(e for kind, e in sent.items() if kind != "data")
    data = sum(t.exposed_s for t in found.traffic if t.kind == "data")
    assert found.exposed_communication_s == pytest.approx(in_step * (1.0 + 1.0 / (2 * 8)) + data)


def test_gathered_and_reduced_bytes_are_the_weights_held_by_a_rank() -> None:
    sent = {t.collective: t.size_bytes * t.count for t in step().traffic if t.kind == "data"}
    held = DENSE.parameters / 16
    assert sent["all-gather"] == pytest.approx(2 * held)
    assert sent["reduce-scatter"] == pytest.approx(4 * held)


def test_adapters_alone_have_gradients_and_frozen_weights_travel_only_where_they_are_sharded() -> None:
    frozen = replace(DENSE, trained_share=0.005)
    for plan in (PLAN, Plan(8, 1, 128, shard=16)):
        whole, light = (
            {t.collective: t.size_bytes for t in step(model, plan).traffic if t.kind == "data"}
            for model in (DENSE, frozen)
        )
        assert light["reduce-scatter"] == pytest.approx(0.005 * whole["reduce-scatter"])
        assert light["all-gather"] == pytest.approx(whole["all-gather"] * (1.0 if plan.shard > 1 else 0.005))
    assert frozen.flops_per_token == pytest.approx(DENSE.flops_per_token * 2.005 / 3.0)
    assert parallel.bytes_per_gpu(frozen, PLAN, PRACTICE.rules) < parallel.bytes_per_gpu(DENSE, PLAN, PRACTICE.rules)


def test_sharded_weights_are_gathered_twice_in_every_microbatch() -> None:
    model = SMALL
    once, twice = ({t.collective: t.count for t in step(model, Plan(1, 1, 16, shard=s)).traffic} for s in (1, 16))
    assert twice["all-gather"] == 2 * 2 * once["all-gather"]
    assert twice["reduce-scatter"] == 2 * once["reduce-scatter"]


def test_tensor_traffic_inside_a_node_is_the_same_on_every_fabric() -> None:
    slow, fast = step(network=roce(50.0, 0.3)), step()
    assert slow.in_node_s == pytest.approx(fast.in_node_s)
    assert slow.exposed_communication_s > fast.exposed_communication_s


def test_one_node_meets_no_fabric() -> None:
    model = PRACTICE.preset("fine-tune-8b")
    fast, slow = (step(model, Plan(2, 1, 4), n) for n in (NDR, roce(100.0, 0.1)))
    assert slow.exposed_communication_s == 0.0
    assert slow.step_time_s == pytest.approx(fast.step_time_s)


def test_full_overlap_leaves_only_the_first_and_last_bucket() -> None:
    found = step(plan=Plan(8, 1, 128), overlap=Overlap(1.0, 1.0, 1.0, 0.0))
    data = [t for t in found.traffic if t.kind == "data"]
    assert found.exposed_communication_s == pytest.approx(sum(t.time_s / t.count for t in data))


def fabric_s(found: StepTime) -> float:
    """All traffic of a step on the fabric, hidden or not."""
    return float(sum(t.time_s for t in found.traffic if t.on_fabric))


def test_interference_charges_hidden_traffic_in_proportion() -> None:
    free, charged = (step(plan=Plan(8, 1, 128), overlap=Overlap(1.0, 1.0, 1.0, i)) for i in (0.0, 0.2))
    hidden = fabric_s(free) - free.exposed_communication_s
    assert charged.exposed_communication_s - free.exposed_communication_s == pytest.approx(0.2 * hidden)


@settings(max_examples=25, deadline=None)
@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 20), st.floats(0.3, 1.0))
def test_a_worse_fabric_or_less_overlap_never_shortens_the_step(a: float, b: float, extra: float, share: float) -> None:
    low, high = sorted((a, b))
    most = step(network=roce(extra, share), overlap=Overlap(low, low, low, 0.1)).step_time_s
    assert most >= step(network=roce(extra, share), overlap=Overlap(high, high, high, 0.1)).step_time_s - 1e-12
    assert most >= step(network=roce(0.0, 1.0), overlap=Overlap(low, low, low, 0.1)).step_time_s - 1e-12


def test_draws_keep_their_shape_and_their_provenance() -> None:
    extra = Traced(np.array([0.0, 3.0, 9.0]), {"evidence:x"})
    found = step(network=roce(extra, Traced(np.array([1.0, 0.9, 0.8]), {"evidence:y"})))
    assert found.step_time_s.shape == (3,)
    assert np.all(np.diff(np.asarray(found.exposed_share)) > 0)
    assert inputs_of(found.step_time_s) == {"evidence:x", "evidence:y"}


def test_draws_equal_the_same_scalars_one_by_one() -> None:
    extra = np.array([0.0, 4.0, 9.0])
    together = step(network=roce(extra)).step_time_s
    assert together == pytest.approx([float(step(network=roce(float(e))).step_time_s) for e in extra])


def test_experts_across_nodes_expose_what_experts_on_a_node_do_not() -> None:
    model = PRACTICE.preset("moe-236b")
    inside, across = (step(model, Plan(1, 32, 16, ep=e)) for e in (8, 16))
    assert not next(t for t in inside.traffic if t.kind == "experts").on_fabric
    assert across.exposed_share > 2 * inside.exposed_share


def test_a_token_crosses_the_fabric_once_for_each_node_its_experts_sit_in() -> None:
    two, three = PRACTICE.preset("moe-236b"), PRACTICE.preset("moe-671b")
    assert two.copies_per_token(1) == 3.0  # its routing's limit of ranks
    assert two.copies_per_token(2) == pytest.approx(2 * (1 - 0.5**3))
    assert two.copies_per_token(10_000) == pytest.approx(3.0, rel=1e-3)
    assert three.copies_per_token(8) == 4.0  # and of nodes


@rows("ep", [8, 16, 32])
@rows("pp, interleave", [(1, 1), (4, 2)])
def test_the_exchange_beside_another_micro_batch_never_exposes_more_and_never_nothing(
    ep: int, pp: int, interleave: int
) -> None:
    model = replace(PRACTICE.preset("moe-236b"), batch_sequences=2048.0)
    alone = Plan(1, pp, 64, ep, interleave=interleave)
    found = [step(model, alone)]
    found += [step(model, replace(alone, paired=True), overlap=replace(OVERLAP, paired=p)) for p in (0.3, 0.6, 1.0)]
    assert np.all(np.diff([float(one.exposed_share) for one in found]) <= 1e-12)
    experts = next(t for t in found[-1].traffic if t.kind == "experts")
    assert experts.exposed_s > 0.0  # what is hidden slows the kernels beside it


def test_a_rack_of_nvlink_carries_what_nodes_of_eight_send_over_the_fabric() -> None:
    model = PRACTICE.preset("fine-tune-8b")
    rack = step(model, Plan(1, 1, 64), Network(PRACTICE, "gb200-nvl72", 4, "infiniband-xdr"))
    nodes = step(model, Plan(1, 1, 64), Network(PRACTICE, "b200", 8, "infiniband-xdr"))
    assert rack.exposed_communication_s == 0.0 < nodes.exposed_communication_s


def test_an_oversubscribed_fabric_slows_fabric_traffic_alone() -> None:
    twice = step(network=replace(NDR, slowdown=2.0))
    assert fabric_s(twice) == pytest.approx(2 * fabric_s(step()))
    assert twice.in_node_s == pytest.approx(step().in_node_s)


@rows("name", PRACTICE.presets)
@rows("gpus", [256, 2048])
def test_a_chosen_plan_uses_every_gpu_fits_in_memory_and_is_the_fastest(name: str, gpus: int) -> None:
    model = PRACTICE.preset(name)
    wires = Network(PRACTICE, "h200", 8, "infiniband-ndr")
    plan = best_plan(model, wires, gpus=gpus)
    assert plan.gpus == gpus
    assert parallel.bytes_per_gpu(model, plan, PRACTICE.rules) <= 0.85 * 141e9
    fit = parallel.candidate_plans(model, PRACTICE.rules, gpus=gpus, gpus_per_node=8, memory_gbytes=141)
    assert trained(model, plan, wires) == max(trained(model, other, wires) for other in fit), "none of them is faster"
    assert plan.tp <= 8 and plan.dp % plan.ep == 0 and model.experts % plan.ep == 0


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(tuple(PRACTICE.presets)),
    st.sampled_from((1, 2, 4, 8)),
    st.sampled_from((1, 2, 4, 8, 16)),
    st.sampled_from((1, 4, 16)),
    st.floats(0, 60),
    st.floats(0.3, 1.0),
)
def test_a_larger_job_never_exposes_less_at_the_same_plan_and_batch_per_gpu(
    name: str, tp: int, pp: int, micro: int, extra: float, share: float
) -> None:
    first = 16 // tp  # from here on the replicas leave the node
    found = []
    for replicas in (first * 2**i for i in range(12) if tp * pp * first * 2**i <= 16384):
        model = replace(PRACTICE.preset(name), batch_sequences=float(micro * replicas))
        ep = min(8, first) if model.experts > 1 else 1
        found.append(float(step(model, Plan(tp, pp, replicas, ep), roce(extra, share)).exposed_share))
    assert np.all(np.diff(found) >= -1e-9)


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(("fine-tune-8b", "dense-70b", "moe-47b")),
    st.sampled_from((64, 256, 1024, 4096)),
    st.floats(0, 120),
    st.floats(0.05, 1.0),
)
def test_a_plan_of_the_fabrics_own_is_never_slower_than_the_shared_one(
    name: str, gpus: int, extra: float, share: float
) -> None:
    model = parallel.at_scale(PRACTICE.preset(name), PRACTICE.batches, gpus)
    wires = roce(extra, share)
    shared = best_plan(model, NDR, gpus=gpus)
    how: dict[str, Any] = {"kernel_efficiency": PRACTICE.rules.kernel_efficiency, "overlap": PRACTICE.rules.overlap}
    steps = [
        training_step(parallel.filled(model, plan, PRACTICE.rules), plan, wires, **how)
        for plan in (best_plan(model, wires, gpus=gpus), shared)
    ]
    paces = [float(one.pace_s) for one in steps]
    shares = [float(one.lost_share(steps[1])) for one in steps]
    assert paces[0] <= paces[1] * (1 + 1e-12)
    assert shares[0] <= shares[1] + 1e-12
    assert shares[1] == steps[1].exposed_share


def test_the_batch_grows_with_the_gpus_as_published_runs_do() -> None:
    rows = read_yaml("training_presets")["batches"]
    law = PRACTICE.batches
    assert 0.4 < law.exponent < 0.8
    for row in rows:
        published = row["sequences"] * row["sequence_tokens"]
        assert 0.4 < law.at(row["gpus"]) / published < 2.5, row["run"]
    grown = [parallel.at_scale(PRACTICE.preset("dense-70b"), law, n).batch_sequences for n in (64, 512, 4096)]
    assert grown == sorted(grown)
    assert parallel.at_scale(PRACTICE.preset("dense-405b"), law, 64).batch_sequences == 2048


@rows("gpus", [128, 1024, 4096, 16384])
def test_the_batch_of_a_chosen_plan_is_the_published_one_and_little_of_the_step_is_exposed(gpus: int) -> None:
    model = parallel.at_scale(PRACTICE.preset("dense-70b"), PRACTICE.batches, gpus)
    plan = best_plan(model, NDR, gpus=gpus)
    found = step(parallel.filled(model, plan, PRACTICE.rules), plan)
    assert 1.0 - 1e-9 <= found.batch_tokens / PRACTICE.batches.at(gpus) < 1.05
    assert float(found.exposed_share) < 0.2


def test_only_as_many_layers_are_recomputed_as_make_a_plan_fit() -> None:
    model = parallel.at_scale(PRACTICE.preset("dense-405b"), PRACTICE.batches, 8192)
    for plan in parallel.candidate_plans(model, PRACTICE.rules, gpus=8192, gpus_per_node=8, memory_gbytes=80):
        room = PRACTICE.rules.memory_share * 80e9
        assert parallel.bytes_per_gpu(model, plan, PRACTICE.rules) <= room
        if plan.recompute:
            fewer = replace(plan, recompute=plan.recompute - 1 / model.layers)
            assert parallel.bytes_per_gpu(model, fewer, PRACTICE.rules) > room


def test_a_model_that_fits_nowhere_is_refused_with_its_size() -> None:
    with pytest.raises(InputError, match="does not fit"):
        best_plan(PRACTICE.preset("dense-405b"), NDR, gpus=8)


def test_a_given_plan_scales_its_replicas_and_must_divide() -> None:
    assert parallel.given_plan(gpus=2048, tp=8, pp=4).dp == 64
    with pytest.raises(InputError, match="divide"):
        parallel.given_plan(gpus=100, tp=8, pp=4)


def test_a_custom_model_of_a_presets_size_is_the_preset_and_others_grow_from_the_nearest() -> None:
    assert parallel.custom(PRACTICE, "dense", 70.0) == PRACTICE.preset("dense-70b")
    larger = parallel.custom(PRACTICE, "dense", 110.0)
    assert larger.parameters == pytest.approx(110e9, rel=1e-6)
    assert larger.layers > DENSE.layers and larger.hidden > DENSE.hidden
    assert parallel.custom(PRACTICE, "moe", 236.0).active == pytest.approx(21e9)


@rows("size", [0.0, -1.0, float("nan"), float("inf")])
def test_a_model_without_a_size_is_refused(size: float) -> None:
    with pytest.raises(InputError):
        parallel.custom(PRACTICE, "dense", size)


def test_inference_on_one_node_meets_no_fabric_and_over_nodes_pays_one_step_a_stage() -> None:
    small = other_steps.inference_plan(DENSE, PRACTICE.rules, gpus=64, gpus_per_node=8, memory_gbytes=80)
    large = replace(DENSE, parameters=1e12, active=1e12)
    plan = other_steps.inference_plan(large, PRACTICE.rules, gpus=64, gpus_per_node=8, memory_gbytes=80)
    how: dict[str, Any] = {"batch": 32.0, "memory_efficiency": 0.6}
    assert small.pp == 1 and other_steps.inference_step(DENSE, small, roce(), **how).exposed_communication_s == 0.0
    slow, fast = (other_steps.inference_step(large, plan, n, **how) for n in (roce(7.0), roce(0.0)))
    assert slow.step_time_s - fast.step_time_s == pytest.approx((plan.pp - 1) * 7e-6)


def test_a_simulation_pays_latency_for_every_small_sum() -> None:
    how: dict[str, Any] = {"gpus": 64, "compute_ms": 10.0, "halo_mbytes": 4.0, "overlap": 1.0}
    found = [other_steps.simulation_step(roce(7.0), small_allreduces=n, **how).step_time_s for n in (0.0, 10.0, 20.0)]
    assert found[2] - found[1] == pytest.approx(found[1] - found[0])
    assert found[0] == pytest.approx(10e-3)


def test_card_predicts_later_megascale_rows_better_than_a_constant_and_a_line() -> None:
    card = training_card()
    late = card.summary["MegaScale, 3,072 to 12,288 GPUs"]
    assert late < card.baselines["MegaScale, constant MFU"]
    assert late < card.baselines["MegaScale, line in log GPUs"]
    assert late < 0.09


def test_card_says_which_expectation_was_missed() -> None:
    card = training_card()
    assert len(card.expected) == len(card.as_expected)
    assert card.as_expected["megascale-late"] == (card.summary["MegaScale, 3,072 to 12,288 GPUs"] <= 0.06)
    assert card.as_expected["megatron"] and card.as_expected["llama3"]


def test_card_sets_published_overlapped_exchanges_beside_ours_and_prints_the_misses() -> None:
    card = training_card()
    ours = {row.case: row.ours for row in card.rows if row.band == "overlapped exchange"}
    assert ours["DeepSeek-V3, exchange not overlapped, 1,024 GPUs"] == pytest.approx(0.35, abs=0.1)
    assert 0.03 <= ours["DeepSeek-V3, exchange overlapped, 1,024 GPUs"] <= 0.08
    told = {
        key: card.as_expected[key] for key in ("deepseek-plain", "deepseek-hidden", "deepseek-ratio", "megascale-kept")
    }
    assert all(told.values()), told
    assert not card.as_expected["qwen-gain"] and not card.as_expected["moe-exposed"]


def test_card_states_that_parallel_plans_are_assumed() -> None:
    assert "assumed" in training_card().data_used[0]


def test_mlperf_pairs_are_a_null_check() -> None:
    rows_ = read_rows("mlperf_pairs")
    pairs = np.array([float(row["eth_minutes"]) / float(row["ib_minutes"]) - 1 for row in rows_])
    assert pairs.size == 10
    assert np.median(pairs) == pytest.approx(0.01, abs=0.001)
    assert pairs.min() == pytest.approx(-0.043, abs=0.001) and pairs.max() == pytest.approx(0.054, abs=0.001)
    assert sum(row["ranges_overlap"] == "True" for row in rows_) == 8


def test_every_preset_names_its_source() -> None:
    for entry in read_yaml("training_presets")["presets"].values():
        assert entry["source"] and entry["grade"] and entry["seen"]
