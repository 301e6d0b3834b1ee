"""The joint study of a case: what is printed holds when the model is run again, and agrees wherever it is printed."""

from __future__ import annotations

import numpy as np
import pytest
from bench import DRAWS, SHIPPED, case, changed, drawn
from rows import rows

from fabricreport.models.judgement.best import cheapest
from fabricreport.models.judgement.comparison import evpi
from fabricreport.provenance import plain
from fabricreport.sections.decision.joint.resampled import Resampled
from fabricreport.sections.decision.joint.result import HYPERCUBES
from fabricreport.sections.decision.joint.study import contestants, joint_of
from fabricreport.sections.decision.turning import hour_value, turns_of
from fabricreport.uncertain import exactly

pytestmark = pytest.mark.slow

WITH_PAIR = ("example", "halden-cloud")
"""Clients whose money a pair of inputs turns within reach, on any draws."""


@rows("name", WITH_PAIR)
def test_the_money_is_level_at_the_pair_found_by_the_chain_itself(name: str) -> None:
    client = case(name)
    flip, compared = client.decision().joint.flip, client.comparison
    assert flip is not None
    values = {m.input_id: exactly(m.bound) for m in flip.pair}
    lead = client.chain.replacing(values).bills.gap(compared.rival, compared.choice).mean()
    assert abs(lead) < 0.02 * abs(compared.verdict.lead)
    own = [plain(client.inputs.own(m.input_id)) for m in flip.pair]
    beyond = [x > m.bound if m.above else x < m.bound for x, m in zip(own, flip.pair, strict=True)]
    assert flip.both == pytest.approx(np.mean(beyond[0] & beyond[1]))
    assert all((m.bound > m.in_use) is m.above for m in flip.pair)


def test_a_region_that_is_printed_tells_on_the_fresh_sample() -> None:
    """At the memo's own draws: fewer make no region that is printed."""
    search = drawn("tern-finetuning").search
    region = joint_of(search, turns_of(search)).region
    assert region is not None and region.fresh.tells and region.fresh.density > region.fresh.base
    assert 1 <= len(region.conditions) <= 3
    assert 0 < region.fresh.coverage < 1


@rows("name", SHIPPED)
def test_shares_are_those_of_the_draws_and_printed_once(name: str) -> None:
    client = case(name)
    found, bills = client.decision().joint, client.chain.bills
    assert found.contestants == contestants(client.search.judge, bills, client.comparison.choice)
    costs = np.stack([plain(bills.totals[o]) for o in found.contestants], axis=1)
    assert list(found.shares.values()) == pytest.approx(list(cheapest(costs)))
    for option, share in found.shares.items():
        assert client.figure(f"decision.cheapest.{option}").value == pytest.approx(share)
    pair = [plain(bills.totals[o]) for o in (client.comparison.choice, client.comparison.rival)]
    if len(found.shares) == 2:
        assert min(found.regrets.mean.values()) == pytest.approx(evpi(pair[1] - pair[0]))
    assert min(found.regrets.mean.values()) == pytest.approx(costs.mean(axis=0).min() - costs.min(axis=1).mean())


def test_costs_follow_the_value_of_an_hour_in_proportion() -> None:
    """The curve is read off two runs: at the value in use it must say what the bills say."""
    found = case("example").decision().joint
    assert found.hours is not None
    middle = len(found.hours.curve.values) // 2
    assert found.hours.curve.values[middle] == pytest.approx(hour_value(case("example").search.fast))
    assert found.hours.curve.shares[middle] == pytest.approx(list(found.shares.values()), abs=1 / DRAWS)
    assert found.hours.curve.shares.sum(axis=1) == pytest.approx(np.ones(len(found.hours.curve.values)))


def test_inputs_are_drawn_anew_in_hypercubes_of_their_own() -> None:
    given = case("example").search.fast.given
    fresh = Resampled.of(given, HYPERCUBES, 32)
    input_id = "evidence:weeks-to-stable-rocev2"
    own, drawn = plain(given.own(input_id)), plain(fresh.own(input_id))
    assert drawn.shape == (HYPERCUBES * 32,) and not np.intersect1d(own, drawn).size
    assert [np.median(part) for part in np.split(drawn, HYPERCUBES)] == pytest.approx(
        [np.median(own)] * HYPERCUBES, rel=0.25
    )
    assert plain(given.own(input_id)) is not None and given.draws == DRAWS


def test_one_option_alone_has_nothing_to_turn() -> None:
    found = case("one option").decision().joint
    assert found.flip is None and found.region is None and found.hours is None
    assert list(found.shares.values()) == [1.0] and list(found.errors.values()) == [0.0]


def test_a_range_of_the_client_s_own_stands_for_the_value_of_an_hour() -> None:
    found = changed("example", money__gpu_hour_value={"low": 2.0, "mode": 3.0, "high": 6.0}).decision().joint
    assert found.sampled is None and found.hours is not None
