"""Which switch is bought, and what one switch has nothing of: laws, and known answers."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import bench
import numpy as np
import pytest
from rows import rows

from fabricreport.base.provenance import plain
from fabricreport.base.uncertain import exactly
from fabricreport.books.options import Option
from fabricreport.case import Case
from fabricreport.inputs.options import Terms, burden, cheapest
from fabricreport.scenario import SHIPPED_OPTIONS
from fabricreport.sections.tail_risk.inputs import FABRIC_CAUSES

pytestmark = pytest.mark.slow

SIZES = range(16, 4_201, 8)
RDMA = ["infiniband-ndr", "spectrum-x-400g", "rocev2-branded-400g", "rocev2-whitebox-400g"]
QM9700, SN5610, N9600, N9510 = "switch-qm9700", "switch-sn5610", "switch-n9600-64od", "switch-n9510-64d"


@cache
def client(gpus: int, **keys: Any) -> Case:
    return bench.changed("example", cluster__gpus=gpus, options=RDMA, **keys)


def terms(oversubscription: float = 1.0) -> Terms:
    given = bench.case("example").inputs
    cluster = given.params.cluster.model_copy(update={"oversubscription": oversubscription})
    return Terms(given.params.model_copy(update={"cluster": cluster}), given.prices, given.in_force)


def cost(option: Option, gpus: int, oversubscription: float = 1.0) -> float:
    """What the cheapest network costs to buy and run; beyond what the switches hold, infinity."""
    found = cheapest(option, gpus, gpus, terms(oversubscription))
    return float("inf") if found is None else found[1]


@pytest.mark.laws(3)
@pytest.mark.parametrize("name", SHIPPED_OPTIONS)
def test_more_gpus_never_cost_less_and_another_switch_on_sale_never_costs_more(name: str) -> None:
    option = bench.case("example").inputs.all_options[name]
    costs = np.array([cost(option, gpus) for gpus in SIZES])
    alone = np.array([cost(replace(option, switches=()), gpus) for gpus in SIZES])
    held = np.isfinite(costs)
    assert (np.diff(costs[held]) >= -1e-6).all()
    assert (costs <= alone).all()


@rows("option", lambda: bench.case("example").inputs.all_options.values())
def test_more_taper_never_costs_more(option: Option) -> None:
    for gpus in range(128, 4_200, 256):
        costs = [cost(option, gpus, ratio) for ratio in (1.0, 1.5, 2.0, 3.0)]
        assert costs == sorted(costs, reverse=True)


def test_where_one_switch_joins_all_no_fabric_with_rdma_starts_or_loses_otherwise_than_another() -> None:
    losses = client(64, cluster__tenancy="multi").chain.losses
    for cause in FABRIC_CAUSES:
        shares = [plain(losses.lost[option][cause]) for option in RDMA]
        assert all(np.array_equal(share, shares[0]) for share in shares), cause
    weeks = [plain(losses.weeks[option]) for option in RDMA]
    assert all(np.array_equal(one, weeks[0]) for one in weeks)
    staff = [client(64).chain.bills.own[option].staff.factor for option in RDMA]
    assert all(np.all(factor == 1.0) for factor in staff)


def test_skill_and_who_sells_the_parts_change_nothing_on_one_switch_and_do_on_two_tiers() -> None:
    lost = {
        (gpus, skill): client(gpus, organisation__qos_expertise=skill).chain.losses.weeks["rocev2-whitebox-400g"]
        for gpus in (64, 256)
        for skill in ("none", "strong")
    }
    assert np.array_equal(lost[64, "none"], lost[64, "strong"])
    assert np.mean(lost[256, "none"]) > np.mean(lost[256, "strong"])


@rows(
    ("gpus", "option", "switches", "tiers"),
    [(1_024, "infiniband-ndr", 48, 2), (1_024, "rocev2-branded-400g", 24, 2), (4_096, "infiniband-ndr", 320, 3)],
)
def test_trouble_grows_with_switches_and_tiers_over_those_of_the_reference_design(
    gpus: int, option: str, switches: int, tiers: int
) -> None:
    given = bench.case("example").inputs
    own = next(o for o in given.options if o.id == option)
    found = burden(given.params, own, gpus, lambda entry: given.central(f"evidence:{entry}"))
    power = given.central("evidence:fabric-complexity-exponent")
    assert found == pytest.approx(((switches - 1) * (tiers - 1) / (47 * gpus / 1_024)) ** power)


@rows(
    ("gpus", "prices", "bought"),
    [
        (128, {}, (QM9700, SN5610, SN5610, N9600)),  # two tiers of 64 ports against one switch of 128
        (64, {N9510: 15_000}, (QM9700, "", "", N9510)),
        (64, {N9510: 60_000, SN5610: 15_000}, (QM9700, SN5610, SN5610, N9600)),
    ],
)
def test_the_cheapest_switch_is_bought_and_a_price_that_another_beats_buys_that(
    gpus: int, prices: dict[str, float], bought: tuple[str, ...]
) -> None:
    case = client(gpus).changed(prices=prices)
    refs = [option.pieces["switch"].price for option in case.options]
    assert refs == [f"price:{item}" if item else "evidence:switch-400g-64port-usd" for item in bought]
    for option in case.options:
        built = case.chain.bills.built[option.id][-1].bom
        assert (built.radix, built.tiers) == (option.radix, option.tiers)


def test_an_input_moved_alone_leaves_the_switch_that_was_bought() -> None:
    given = client(64).inputs
    moved = given.replacing({"price:switch-n9510-64d": exactly(1_000.0)})
    assert moved.options == given.options


def test_a_renter_and_a_single_node_buy_no_other_switch() -> None:
    for case in (client(8), client(64, money__acquisition="rent")):
        assert [option.radix for option in case.options] == [64, 128, 128, 128]
        assert not any(option.one_switch for option in case.options)


@rows(
    ("gpus", "option", "edge", "tiers", "passed"),
    [
        (1_920, "infiniband-ndr", 2_048, 3, False),
        (2_056, "infiniband-ndr", 2_048, 3, True),
        (72, "infiniband-ndr", 64, 2, True),
        (1_024, "", 0, 0, False),
    ],
)
def test_the_edge_of_a_tier_is_told_near_it_and_costs_what_the_model_says_of_both_sizes(
    gpus: int, option: str, edge: int, tiers: int, passed: bool
) -> None:
    found = client(gpus).tco().edge
    if not option:
        assert found is None
        return
    assert found is not None and (found.option, found.gpus, found.tiers, found.passed) == (option, edge, tiers, passed)
    at, beyond = (client(size).chain.bills.totals[option] for size in (edge, edge + 8))
    assert np.mean(found.cost) == pytest.approx(float(np.mean(beyond) - np.mean(at)))
    assert 0 < np.mean(found.network) < np.mean(found.cost)
