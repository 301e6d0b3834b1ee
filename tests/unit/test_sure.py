"""How sure an act is: known answers, and what no other act can do to it."""

from __future__ import annotations

import numpy as np
import pytest

from fabricreport.models.judgement import choice as model
from fabricreport.models.judgement.choice import Array, best_other, following

DRAWS = 400
many = pytest.mark.parametrize("seed", range(200))


def sure(act: Array, others: dict[str, Array], margin: float) -> float:
    """The share alone, with one margin against every act."""
    return model.sure(act, others, lambda _: margin).share


def acts(seed: int) -> tuple[Array, dict[str, Array], float]:
    """An act, other acts and a margin, of random cost and spread."""
    rng = np.random.default_rng(seed)
    common = rng.normal(0, rng.uniform(0, 5), DRAWS)
    costs = [common + rng.normal(rng.normal(0, 2), rng.uniform(0, 3), DRAWS) for _ in range(int(rng.integers(2, 6)))]
    return costs[0], {str(n): cost for n, cost in enumerate(costs[1:])}, float(rng.uniform(0, 3))


def test_the_best_other_act_is_fixed_before_the_draws():
    act, even, wild = np.array([1.0, 1.0, 1.0]), np.array([2.0, 2.0, 0.9]), np.array([0.0, 0.0, 9.0])
    assert best_other(act, {"even": even, "wild": wild}) == "even"
    assert sure(act, {"even": even, "wild": wild}, 0.05) == pytest.approx(2 / 3)


def test_the_margin_is_that_of_the_best_other_act():
    act, near, far = np.zeros(4), np.array([-3.0, -1.0, 1.0, 4.0]), np.full(4, 9.0)
    found = model.sure(act, {"near": near, "far": far}, {"near": 2.0, "far": 5.0}.__getitem__)
    assert (found.other, found.margin, found.share) == ("near", 2.0, 0.75)


def test_what_is_found_out_is_followed():
    assert following(np.array([0, 1, 0]), np.array([[1.0, 9], [9, 2], [3, 9]])).tolist() == [1, 2, 3]


def test_a_normal_lead_gives_its_own_share():
    lead = np.random.default_rng(0).normal(1.0, 1.0, 100_000)
    assert sure(np.zeros(lead.size), {"rival": lead}, 0.0) == pytest.approx(0.8413, abs=0.004)


def test_an_act_as_dear_as_the_only_other_is_sure():
    act = np.random.default_rng(0).normal(size=DRAWS)
    assert sure(act, {"same": act.copy()}, 0.0) == 1.0


@many
def test_an_act_that_costs_more_and_changes_nothing_makes_nothing_surer(seed: int):
    act, others, margin = acts(seed)
    rng = np.random.default_rng(seed + 1_000)
    before = sure(act, others, margin)
    for cost in (act, *others.values()):
        dearer = cost + rng.uniform(1e-6, 4) * rng.uniform(0.5, 1, DRAWS)
        assert sure(act, {**others, "dearer": dearer}, margin) <= before
    cheaper_at_times = {key: cost for key, cost in others.items() if np.any(cost < act)}
    asked = act + rng.uniform(0, 4, DRAWS)
    assert sure(asked, cheaper_at_times, margin) <= sure(act, cheaper_at_times, margin)


@many
def test_a_wider_margin_never_makes_less_sure(seed: int):
    act, others, margin = acts(seed)
    shares = [sure(act, others, margin * k) for k in (0.0, 0.5, 1.0, 2.0, 5.0)]
    assert shares == sorted(shares)
    assert 0 <= shares[0] <= shares[-1] <= 1
