"""Laws of the advice over random clients: what must never favour whom, whatever the figures are.

A law is tried on clients drawn at random round the example: size, team, skill, estates, dates, value of a GPU-hour.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fabricreport.case import Case, open_case
from fabricreport.provenance import plain

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("few_draws")]
ROOT = Path(__file__).parents[2]
INFINIBAND, TURNKEY, WHITEBOX = "infiniband-ndr", "rocev2-branded-400g", "rocev2-whitebox-400g"
RANDOM_CLIENTS = 6
NOISE = 2e-3
"""Share of the lines that differ by which an order of draws, and not the law, may move a mean of 256 of them."""


@cache
def example() -> Case:
    return open_case(ROOT / "params/example.yaml")


def random_client(seed: int) -> dict[str, Any]:
    """Keys of a client drawn at random; the options are the three with RDMA."""
    rng = np.random.default_rng(seed)
    level = ("none", "some", "large")
    return {
        "cluster__gpus": int(rng.choice([256, 512, 1024, 1536, 2048, 4096])),
        "organisation__networking_maturity": str(rng.choice(["low", "medium", "high"])),
        "organisation__qos_expertise": str(rng.choice(["none", "some"])),
        "organisation__existing_ethernet": str(rng.choice(level[:2])),
        "organisation__existing_infiniband": str(rng.choice(level[:2])),
        "money__horizon_months": int(rng.choice([24, 36, 48, 60])),
        "money__gpu_hour_value": float(rng.choice([1.0, 2.0, 3.0, 6.0])),
        "options": (INFINIBAND, TURNKEY, WHITEBOX),
    }


def totals(client: dict[str, Any], **changes: Any) -> dict[str, np.ndarray]:
    found = example().changed(**{**client, **changes}).chain.bills.totals
    return {o: plain(draws) for o, draws in found.items()}


def leads(client: dict[str, Any], option: str, **changes: Any) -> float:
    """Mean cost of an option less that of InfiniBand."""
    found = totals(client, **changes)
    return float((found[option] - found[INFINIBAND]).mean())


def slack(client: dict[str, Any]) -> float:
    return NOISE * float(totals(client)[INFINIBAND].mean())


@pytest.mark.parametrize("seed", range(RANDOM_CLIENTS))
def test_less_skill_never_favours_the_fabric_that_needs_more_of_it(seed: int) -> None:
    client = random_client(seed)
    for option in (TURNKEY, WHITEBOX):
        by_skill = [leads(client, option, organisation__qos_expertise=skill) for skill in ("none", "some", "strong")]
        assert by_skill == sorted(by_skill, reverse=True), option
    by_maturity = [
        leads(client, WHITEBOX, organisation__networking_maturity=level) for level in ("low", "medium", "high")
    ]
    assert np.all(np.diff(by_maturity) <= slack(client)), by_maturity


@pytest.mark.parametrize("seed", range(RANDOM_CLIENTS))
def test_an_estate_never_hurts_its_own_fabric(seed: int) -> None:
    client = random_client(seed)
    for option in (TURNKEY, WHITEBOX):
        ethernet = [leads(client, option, organisation__existing_ethernet=e) for e in ("none", "some", "large")]
        infiniband = [leads(client, option, organisation__existing_infiniband=e) for e in ("none", "some", "large")]
        assert ethernet == sorted(ethernet, reverse=True)
        assert infiniband == sorted(infiniband)


@pytest.mark.parametrize("seed", range(RANDOM_CLIENTS))
def test_fewer_weeks_never_favour_what_takes_longer_at_every_percentile(seed: int) -> None:
    client = random_client(seed)
    courses = []
    for weeks in (40, 20, 12, 8, 5, 3, 1):
        case = example().changed(**{**client, "organisation__time_to_production_weeks": weeks})
        verdict = case.comparison.verdict
        stable = {o: np.sort(plain(w)) for o, w in case.chain.losses.weeks.items()}
        courses.append((verdict.choice, stable))
    for (before, stable), (after, _) in pairwise(courses):
        slower = before != after and np.all(stable[after] >= stable[before]) and np.any(stable[after] > stable[before])
        assert not slower, (before, after)


@pytest.mark.parametrize("seed", range(RANDOM_CLIENTS))
def test_total_cost_rises_with_price_power_and_staff(seed: int) -> None:
    client = random_client(seed)
    base = totals(client)
    dearer = {
        "prices": {"switch-qm9700": 45_000, "switch-sn5610": 80_000, "switch-n9600-64od": 60_000},
        "evidence": {"fabric-fte-mid": 4.0, "fabric-fte-large": 8.0, "fabric-fte-small": 2.0},
    }
    watts = {"evidence": {"switch-qm9700-watts": 2000, "switch-sn5600-watts": 2000, "switch-tomahawk5-watts": 2000}}
    for change in ({"prices": dearer["prices"]}, {"evidence": dearer["evidence"]}, watts):
        found = totals(client, **change)
        assert all(found[o].mean() > base[o].mean() for o in base), change


@pytest.mark.parametrize("seed", range(RANDOM_CLIENTS))
def test_each_pair_turns_at_most_once_in_the_value_of_a_gpu_hour_and_towards_fewer_lost_hours(seed: int) -> None:
    client = random_client(seed)
    values = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
    found = [totals(client, money__gpu_hour_value=value) for value in values]
    for a, b in ((TURNKEY, INFINIBAND), (WHITEBOX, INFINIBAND), (WHITEBOX, TURNKEY)):
        signs = [float((t[a] - t[b]).mean()) > 0 for t in found]
        assert sum(x != y for x, y in pairwise(signs)) <= 1
    lost = {o: float(((found[-1][o] - found[0][o]) / (values[-1] - values[0])).mean()) for o in found[0]}
    cheapest = [min(t, key=lambda o: float(t[o].mean())) for t in found]
    hours = [lost[o] for o in cheapest]
    assert hours == sorted(hours, reverse=True)


def test_the_white_box_takes_longer_at_every_percentile_than_the_turnkey_fabric_of_its_kind() -> None:
    weeks = example().changed(**random_client(0)).chain.losses.weeks
    assert np.all(np.sort(plain(weeks[WHITEBOX])) >= np.sort(plain(weeks[TURNKEY])))
