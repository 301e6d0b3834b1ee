"""Laws of what runs: mixes of jobs, jobs within sites, networks of sites, and kinds of work."""

from __future__ import annotations

from functools import cache
from typing import Any

import bench
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import rows

from fabricreport.base.provenance import plain
from fabricreport.case import Case
from fabricreport.sections.client import fabric_gpus, largest_job, mix_of, shared_cluster
from fabricreport.sections.latency.inputs import pair, stages
from fabricreport.sections.latency.result import Exposure, jobs_of, timed_on
from fabricreport.sections.tail_risk.inputs import CAUSES, losses

pytestmark = pytest.mark.slow


def base(name: str = "example") -> Case:
    return bench.case(name)


def changed(**keys: Any) -> Case:
    return base().changed(**keys)


def exposure_of(case: Case) -> Exposure:
    option = pair(case.inputs)[0]
    jobs = jobs_of(case.inputs, [option])
    return Exposure(stages(case.inputs), jobs, {option.id: timed_on(case.inputs, jobs, option, None)})


def lost(case: Case) -> dict[str, Any]:
    """Every share of GPU time that one option loses, communication among them."""
    found, option = exposure_of(case), pair(case.inputs)[0]
    shares, _ = losses(case.inputs, option, found.by_job(case.inputs, option.id), found.jobs.standby)
    exposed = found.over_horizon(case.inputs, option.id)
    return {cause: plain(v) for cause, v in shares.items()} | {"exposed": plain(exposed)}


@cache
def of_one(gpus: int) -> dict[str, Any]:
    return lost(changed(workload__jobs=[{"gpus": gpus, "share": 1.0}]))


def test_one_job_of_the_whole_cluster_is_the_case_without_sizes() -> None:
    alone = lost(base())
    for cause, share in of_one(1024).items():
        assert np.array_equal(share, alone[cause]), cause
    whole = changed(workload__jobs=[{"gpus": 1024, "share": 1.0}])
    assert {o: plain(v).tolist() for o, v in whole.tco().totals.items()} == {
        o: plain(v).tolist() for o, v in base().tco().totals.items()
    }


@settings(max_examples=8, deadline=None)
@given(st.integers(1, 99), st.sampled_from((64, 256, 512)))
def test_what_a_mix_loses_is_the_mean_over_its_jobs_by_gpu_time(per_cent: int, small: int) -> None:
    share = per_cent / 100
    jobs = [{"gpus": small, "share": share}, {"gpus": 1024, "share": 1 - share}]
    mixed = lost(changed(workload__jobs=jobs))
    for cause in (*CAUSES, "exposed"):
        expected = share * of_one(small)[cause] + (1 - share) * of_one(1024)[cause]
        assert mixed[cause] == pytest.approx(expected, abs=1e-12), cause


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 512), st.integers(1, 8), st.lists(st.integers(1, 64), max_size=4, unique=True), st.booleans())
def test_jobs_share_all_time_and_stay_on_a_network(nodes: int, sites: int, sizes: list[int], joined: bool) -> None:
    sites = min(sites, nodes)
    room = -(-nodes // sites)
    jobs = [{"gpus": 8 * min(n, room), "share": 1 / len(sizes)} for n in sizes]
    jobs = list({job["gpus"]: job for job in jobs}.values())
    jobs = [{**job, "share": 1 / len(jobs)} for job in jobs]
    more: dict[str, Any] = {"workload__jobs": jobs, "cluster__sites_joined": joined or sites == 1} if jobs else {}
    case = changed(cluster__gpus=8 * nodes, cluster__sites=sites, workload__model_parameters_billion=8, **more)
    halls = case.params.cluster.halls(8 * nodes)
    assert sum(halls) == 8 * nodes and len(halls) <= sites
    mix = mix_of(case.inputs, 8 * nodes)
    assert sum(share for _, share in mix) == pytest.approx(1.0)
    networks = case.params.cluster.networks(8 * nodes)
    assert sum(networks) == 8 * nodes and max(halls) == fabric_gpus(case.inputs, 8 * nodes)
    assert all(size <= max(networks) for size, _ in mix)
    assert largest_job(case.inputs, 8 * nodes) == max(size for size, _ in mix)


def test_a_stage_too_small_for_a_job_runs_it_on_all_its_gpus() -> None:
    growth = [{"month": 12, "gpus": 1024}]
    jobs = [{"gpus": 64, "share": 0.5}, {"gpus": 512, "share": 0.5}]
    case = changed(cluster__gpus=256, cluster__trajectory=growth, workload__jobs=jobs)
    assert dict(mix_of(case.inputs, 256)) == {64: 0.5, 256: 0.5}
    assert dict(mix_of(case.inputs, 1024)) == {64: 0.5, 512: 0.5}


def test_sites_that_are_not_joined_are_priced_as_networks_of_their_own() -> None:
    jobs = [{"gpus": 512, "share": 1.0}]
    two = changed(cluster__sites=2, cluster__sites_joined=False, workload__jobs=jobs)
    one = changed(cluster__gpus=512)
    for option in two.options:
        (both,), (half,) = (case.chain.bills.built[option.id] for case in (two, one))
        assert len(both.sites) == 2 and both.gpus == 1024
        for piece in ("leaf", "spine", "core", "cables_node_leaf", "cables_leaf_spine", "nodes"):
            assert getattr(both.bom, piece) == 2 * getattr(half.bom, piece)
        assert both.cables.node_optics == 2 * half.cables.node_optics
        assert both.cables.switch_optics == 2 * half.cables.switch_optics
        owned = [case.tco().ownership for case in (two, one)]
        fabric = [plain(own.capital[option.id]["switches"]) for own in owned if own is not None]
        assert fabric[0] == pytest.approx(2 * fabric[1])
    assert two.latency().job.gpus == 512


@rows(
    ("keys", "shared"),
    [
        ({}, False),
        ({"cluster__tenancy": "multi"}, True),
        ({"workload__kind": "mixed"}, True),
        ({"cluster__tenancy": "multi", "money__acquisition": "rent"}, False),
        ({"cluster__tenancy": "multi", "workload__kind": "inference"}, False),
        ({"cluster__tenancy": "multi", "workload__jobs": [{"gpus": 64, "share": 1.0}]}, False),
        ({"cluster__tenancy": "multi", "workload__parallelism": {"tp": 8, "pp": 4, "dp": 32}}, False),
    ],
)
def test_only_a_cluster_that_is_shared_is_taken_to_run_the_published_sizes(keys: dict[str, Any], shared: bool) -> None:
    case = changed(**keys)
    assert shared_cluster(case.inputs) is shared
    assert (len(mix_of(case.inputs, 1024)) > 1) is shared


def test_published_shares_of_gpu_time_make_up_the_whole() -> None:
    shares = [share for _, share in mix_of(changed(cluster__tenancy="multi").inputs, 1024)]
    assert sum(shares) == pytest.approx(1.0) and len(shares) == 5


def test_a_small_job_trains_what_fits_on_its_gpus() -> None:
    jobs = base("kestrel-lab").latency().jobs.shared
    assert jobs[8].model is not None and jobs[512].model is not None
    assert jobs[8].model.parameters == pytest.approx(16e9) and jobs[512].model.parameters == pytest.approx(236e9)


def test_a_stated_plan_is_kept_for_every_option() -> None:
    case = changed(workload__parallelism={"tp": 8, "pp": 4, "dp": 32})
    plans = {jobs[1024].plan for jobs in case.latency().jobs.own.values()}
    assert plans == {case.latency().job.plan}


def test_no_option_is_dearer_under_the_plan_that_suits_it() -> None:
    small = {"cluster__gpus": 128, "options": ("infiniband-ndr", "rocev2-whitebox-400g", "ethernet-tcp")}
    found = changed(**small).latency()
    shared = found.job.plan
    assert shared is not None and found.jobs.own["ethernet-tcp"][128].plan != shared
    fixed = {"tp": shared.tp, "pp": shared.pp, "dp": shared.dp, "ep": shared.ep, "cp": shared.cp}
    stated = changed(**small, workload__parallelism=fixed).latency().exposed_share
    for option in ("infiniband-ndr", "rocev2-whitebox-400g", "ethernet-tcp"):
        own, kept = (float(plain(v).mean()) for v in (found.exposed_share[option], stated[option]))
        assert own <= kept + 1e-9, option


# ---- simulations


def test_a_stated_share_of_time_in_mpi_is_what_a_tuned_infiniband_waits() -> None:
    for share in (0.05, 0.2, 0.6):
        waiting = np.median(lost(changed(workload__kind="hpc-simulation", workload__mpi_share=share))["exposed"])
        assert waiting == pytest.approx(share, rel=0.1)


def test_a_simulation_on_one_gpu_waits_for_no_network_whatever_its_profile_says() -> None:
    alone = changed(
        cluster__gpus=1, workload__kind="hpc-simulation", workload__mpi_share=0.2, workload__calls_per_step=0.0
    )
    assert not np.any(lost(alone)["exposed"])


def test_more_calls_a_step_never_wait_less() -> None:
    found = [
        lost(changed(workload__kind="hpc-simulation", workload__calls_per_step=n))["exposed"] for n in (0.0, 20.0, 80.0)
    ]
    assert np.all(found[0] <= found[1]) and np.all(found[1] < found[2])


# ---- ways to fine-tune


@rows("gpus", [64, 256, 1024])
def test_adapters_and_rollouts_never_wait_longer_than_tuning_all_weights(gpus: int) -> None:
    def waiting(method: str) -> Any:
        return lost(changed(cluster__gpus=gpus, workload__kind="fine-tuning", workload__method=method))["exposed"]

    whole = float(np.mean(waiting("full")))
    assert float(np.mean(waiting("lora"))) <= whole and float(np.mean(waiting("rl"))) <= whole


def test_fine_tuning_waits_otherwise_than_pre_training_at_a_thousand_gpus() -> None:
    tuned, trained = (lost(changed(workload__kind=kind))["exposed"] for kind in ("fine-tuning", "pretraining-dense"))
    assert tuned.mean() > 2 * trained.mean()  # its batch does not grow with the GPUs
