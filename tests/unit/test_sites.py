"""Laws of a cluster in several sites: links are priced by distance and rate, jobs over them pay in time, and more sites
never cost less."""

from __future__ import annotations

import itertools
from typing import Any

import bench
import numpy as np
import pytest
from rows import rows

from fabricreport.base.provenance import plain
from fabricreport.case import Case
from fabricreport.models.training.step import SiteLinks
from fabricreport.sections.sites import gbits_per_gpu, gbits_per_gpu_of, port_count
from fabricreport.sections.tco.inputs import SITE_FIBRE, SITE_GATEWAYS, SITE_LEASE, SITE_OPTICS

pytestmark = pytest.mark.slow
B300: dict[str, Any] = {
    "cluster__gpus": 16384,
    "cluster__gpu": "b300",
    "options": ("infiniband-xdr", "spectrum-x-800g"),
}


def client(**keys: Any) -> Case:
    return bench.changed("example", **keys)


def means(case: Case) -> dict[str, float]:
    return {option: float(np.mean(plain(total))) for option, total in case.chain.bills.totals.items()}


def waiting(case: Case) -> dict[str, float]:
    return {option: float(np.mean(plain(share))) for option, share in case.latency().exposed_now.items()}


def links(case: Case) -> dict[str, float]:
    return {o: float(np.mean(plain(parts.get("site_links", 0.0)))) for o, parts in case.chain.bills.components.items()}


@rows(
    ("sites", "gbits", "delay_us", "seconds"),
    [
        (1, 400.0, 10.0, 0.0),
        (2, 400.0, 0.0, 0.02),  # a gigabyte each way: half in each of two turns
        (2, 400.0, 10.0, 0.02002),
        (4, 400.0, 10.0, 0.03006),  # a quarter in each of six turns
        (2, 200.0, 10.0, 0.04002),
        (2, 400.0, 4900.0, 0.0298),  # 1,000 km of glass
    ],
)
def test_a_sum_over_sites_takes_its_bytes_over_the_rate_and_light_there_and_back(
    sites: int, gbits: float, delay_us: float, seconds: float
) -> None:
    assert SiteLinks(sites, gbits, delay_us).allreduce_s(1e9) == pytest.approx(seconds)


def test_sixteen_thousand_gpus_cost_less_in_one_site_than_in_two_and_in_two_than_in_four() -> None:
    one, two, four = (means(client(**B300, cluster__sites=sites)) for sites in (1, 2, 4))
    assert all(one[o] < two[o] < four[o] for o in one)


SPANS: dict[str, tuple[Any, ...]] = {
    "nodes": (16, 60, 128, 256, 1024),
    "kind": ("pretraining-dense", "pretraining-moe", "mixed", "inference", "hpc-simulation"),
    "km": (0.5, 2.0, 30.0, 500.0),
    "tbits": (None, 0.4, 4.0),
    "small": (False, True),
}


def at_random(seed: int) -> tuple[Any, ...]:
    pick = np.random.default_rng(seed)
    return tuple(span[pick.integers(len(span))] for span in SPANS.values())


CLIENTS = ((256, "pretraining-moe", 0.5, None, False), *(at_random(seed) for seed in range(39)))


@pytest.mark.laws(2)
@pytest.mark.parametrize(tuple(SPANS), CLIENTS)
def test_more_sites_never_cost_less_and_never_wait_less(
    nodes: int, kind: str, km: float, tbits: float | None, small: bool
) -> None:
    keys: dict[str, Any] = {"cluster__gpus": 8 * nodes, "workload__kind": kind, "workload__model_parameters_billion": 8}
    keys |= {"workload__jobs": [{"gpus": 8, "share": 1.0}]} if small else {}
    there = {"cluster__site_distance_km": km, "cluster__site_tbits_per_s": tbits}
    cases = [client(**keys), *(client(**keys, **there, cluster__sites=sites) for sites in (2, 4))]
    for fewer, more in itertools.pairwise(cases):
        less, dearer = means(fewer), means(more)
        assert all(less[o] < dearer[o] for o in less)
        assert all(waiting(fewer)[o] <= waiting(more)[o] + 1e-12 for o in less)
    if small:
        assert waiting(cases[0]) == waiting(cases[-1])


def test_one_site_has_no_links() -> None:
    for option in client().options:
        assert port_count(client().params.cluster, option, 1024) == 0
    assert not any(links(client()).values())
    assert "site_links" not in client().chain.bills.labels


def test_links_cost_more_with_distance_and_with_rate_and_a_job_waits_less_at_a_higher_rate() -> None:
    near, metro, far = (client(cluster__sites=2, cluster__site_distance_km=km) for km in (1.0, 40.0, 400.0))
    slow, fast = (client(cluster__sites=2, cluster__site_tbits_per_s=tbits) for tbits in (1.0, 50.0))
    for o in links(near):
        assert links(near)[o] < links(metro)[o] < links(far)[o]
        assert waiting(near)[o] < waiting(metro)[o] < waiting(far)[o]
        assert links(slow)[o] < links(fast)[o] and waiting(slow)[o] > waiting(fast)[o]


def test_every_fabric_pays_for_its_links_by_one_rule() -> None:
    case = client(cluster__sites=2, cluster__site_distance_km=40.0, cluster__site_tbits_per_s=20.0)
    bills = case.chain.bills
    first, *others = (bills.parts[option] for option in bills.order)
    for other in others:
        for piece in (SITE_OPTICS, SITE_GATEWAYS, SITE_FIBRE, SITE_LEASE):
            assert np.array_equal(plain(first[piece]), plain(other[piece])), piece
    assert {build.site_ports for builds in bills.built.values() for build in builds} == {100}


def test_links_are_bought_when_the_second_site_begins() -> None:
    case = client(cluster__gpus=512, cluster__sites=2, cluster__trajectory=[{"month": 12, "gpus": 1024}])
    for builds in case.chain.bills.built.values():
        before, after = (build.site_ports for build in builds)
        assert before == 0 < after


def test_a_gpu_sends_between_sites_what_it_sends_on_the_network_that_is_timed() -> None:
    case = client()
    for option in case.options:
        wires = case.chain.exposure.timed[option.id].network
        assert gbits_per_gpu_of(wires) == pytest.approx(gbits_per_gpu(case.params.cluster, option))
