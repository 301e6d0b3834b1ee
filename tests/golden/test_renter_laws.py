"""Laws of a renter's memo, on two hundred renters drawn at random: what a lapse costs is counted at the offer advised, and no
day is named that comes too late.

`make laws` asks all of them, `make test` two, by the commit.
"""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import bench
import numpy as np
import pytest

from fabricreport.base.provenance import mean_of
from fabricreport.bodies.choose_provider_facts import turns
from fabricreport.case import Case
from fabricreport.models.money.cashflow import loss_per_week
from fabricreport.sections.decision.offers.judgements import Judged

pytestmark = [pytest.mark.slow, pytest.mark.laws(2)]
each = pytest.mark.parametrize("seed", range(200))
MARKET = "gpu-hour-h100-on-demand"


def renter(seed: int, times: float = 1.0, market: float = 1.0) -> Case:
    """A renter drawn at random with two offers, the market's price and those of both so many times what they were."""
    rng = np.random.default_rng(seed)
    hour = round(float(rng.uniform(1.0, 6.0)), 2)
    fabric = str(rng.choice(("infiniband", "rocev2")))
    offers: list[dict[str, Any]] = [
        {**bench.OTHER, "price_per_gpu_hour": hour * times, "fabric": fabric},
        {**bench.OFFER, "price_per_gpu_hour": hour * times * float(rng.uniform(1.05, 2.0))},
    ]
    keys: dict[str, Any] = {
        "cluster__gpus": int(rng.choice([16, 32, 64, 128, 256])),
        "money__horizon_months": int(rng.choice([6, 12, 24])),
        "organisation__networking_maturity": str(rng.choice(("low", "medium", "high"))),
        "workload__run_days": int(rng.choice([2, 7, 21])),
    }
    found = bench.case("tern-finetuning").inputs.prices[MARKET].price
    prices = {} if market == 1.0 else {MARKET: found * market}
    return bench.changed("tern-finetuning", offers=offers, prices=prices, **keys)


def advised(case: Case) -> Judged:
    """The offer to take."""
    offers = case.knowledge.offers
    assert offers is not None and offers.best is not None
    return offers.best


def consequences(case: Case) -> dict[str, float]:
    """What each promise costs if it is broken, the bills, and what work in single nodes costs more."""
    tests, bills = case.diligence(), case.tco().totals
    found = {p.id: p.price.value for p in (*tests.promises, *tests.promises_of_rival) if p.price}
    found |= {f"bill.{o}": mean_of(total) for o, total in bills.items()}
    return found | {row.course.id: mean_of(row.against) for row in case.decision().courses.rows}


@each
def test_what_a_lapse_costs_grows_with_the_offer_advised_and_not_with_the_market(seed: int) -> None:
    case = renter(seed)
    now = consequences(case)
    for name, cost in consequences(renter(seed, times=2.0)).items():
        # as a contract states it, in three digits, and a part of it in three
        assert cost == pytest.approx(2.0 * now[name], rel=1.1e-2), name
    assert consequences(renter(seed, market=3.0)) == pytest.approx(now, rel=1e-9)


@each
def test_a_day_without_the_gpus_costs_what_the_offer_asks_for_one(seed: int) -> None:
    case = renter(seed)
    hour, gpus = mean_of(advised(case).cost.rung.usd_per_gpu_hour), case.params.cluster.gpus
    per_week = loss_per_week(gpus, 0.0, case.chain.bills.common.gpu_hour_value)
    assert mean_of(per_week) / 7 == pytest.approx(24 * gpus * hour)


@each
def test_the_bill_of_the_network_that_an_offer_has_is_what_the_offer_comes_to(seed: int) -> None:
    case = renter(seed)
    best = advised(case)
    assert mean_of(case.chain.bills.totals[best.option]) == pytest.approx(mean_of(best.total), rel=1e-9)


@each
def test_no_day_is_named_that_the_page_calls_too_late(seed: int) -> None:
    rng = np.random.default_rng(seed)
    due = date(2026, 11, 27) + timedelta(days=int(rng.integers(4, 60)))
    keys: dict[str, Any] = {
        "cluster__gpus": int(rng.choice([16, 32, 64, 256])),
        "organisation__networking_maturity": str(rng.choice(("low", "medium", "high"))),
        "schedule": {"production_by": due.isoformat(), "share_wanted": float(rng.choice([0.3, 0.5, 0.66, 0.9]))},
    }
    case = bench.changed("tern-finetuning", **keys)
    schedule, told = case.decision().schedule, turns(case).date
    if told != "open":
        assert told == "missed" and schedule.advised.safe > due
        return
    kept = schedule.kept
    assert kept is not None
    assert kept.day <= due and kept.chance >= case.params.schedule.share_wanted
    assert schedule.last_delivery == kept.day, "page and letter name one day of hand-over"
    assert all(day < kept.day for todo in case.monday().todos for day in (todo.by, todo.answer) if day)
