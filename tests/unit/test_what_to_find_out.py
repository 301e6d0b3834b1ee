"""What a client is told to find out first: groups and tests as data, luck that is not for sale, the order of the questions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import bench
import numpy as np
import pytest
from rows import rows
from scipy import stats

from fabricreport.base.provenance import Traced, inputs_of, plain
from fabricreport.case import Case
from fabricreport.models.audit.diligence import Stake
from fabricreport.models.information import Estimate, evpi
from fabricreport.sections.decision.information import (
    OFFER,
    Information,
    Tried,
    Worth,
    among,
    beyond,
    less_luck,
    read_groups,
    read_probes,
)
from fabricreport.sections.diligence.result import PricedQuestion

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def cases() -> dict[str, Case]:
    return {client: bench.case(client) for client in bench.SHIPPED}


# ---- groups and tests


def test_every_group_and_every_test_reaches_an_input_of_some_client(cases: dict[str, Case]) -> None:
    known = {i for case in cases.values() for i in case.knowledge.inputs}
    assert all(among(known, group.patterns) for group in read_groups())
    assert all(among(known, reading.patterns) for test in read_probes() for reading in test.sees)


def test_hardly_an_input_is_in_no_group(cases: dict[str, Case]) -> None:
    every = [p for group in read_groups() for p in group.patterns]
    for case in cases.values():
        left = set(case.knowledge.inputs) - set(among(case.knowledge.inputs, every))
        assert len(left) < 0.1 * len(case.knowledge.inputs)


def test_what_is_found_out_is_drawn_and_stands_behind_a_cost(cases: dict[str, Case]) -> None:
    for case in cases.values():
        assert case.knowledge.inputs
        assert all(np.ptp(case.knowledge.draw(i)) > 0 for i in case.knowledge.inputs)
        assert not any(i.startswith("param:") for i in case.knowledge.inputs)


def test_the_value_is_that_of_the_options_that_can_be_ordered(cases: dict[str, Case]) -> None:
    for case in cases.values():
        found = case.knowledge
        if found.offers:
            assert set(found.options) == set(found.offers.totals)
            continue
        assert set(found.options) == set(case.studies.search.judge.advisable(case.chain.bills))


def test_a_client_without_a_choice_has_nothing_to_find_out(cases: dict[str, Case]) -> None:
    alone = cases["example"].changed(cluster__gpus=8, options=["infiniband-ndr"])
    assert alone.decision().information is None
    assert alone.knowledge.worth(alone.knowledge.inputs) == Estimate(0.0, 0.0)


def test_what_no_cost_rests_on_is_worth_nothing(cases: dict[str, Case]) -> None:
    assert cases["example"].knowledge.worth(["evidence:no-such-input"]) == Estimate(0.0, 0.0)


def test_a_noisier_test_shows_less() -> None:
    found = bench.drawn("kestrel-lab").knowledge
    quotes = next(g for g in read_groups() if g.id == "quotes")
    ids = among(found.inputs, quotes.patterns)
    sharp, blunt = (found.shown(dict.fromkeys(ids, noise)) for noise in (0.001, 3.0))
    assert sharp.value > blunt.value + 2 * sharp.standard_error
    assert abs(sharp.value - found.worth(ids).value) < 2 * sharp.standard_error


# ---- luck is not for sale


@rows(("known", "spread", "allowed"), [(4.0, 0.5, 6.0), (9.0, 0.3, 6.0), (5.0, 0.0, 4.0), (3.0, 0.2, 0.0)])
def test_weeks_beyond_those_allowed_are_their_mean_over_luck(known: float, spread: float, allowed: float) -> None:
    luck = np.exp(spread * stats.norm.ppf((np.arange(200_000) + 0.5) / 200_000) - spread**2 / 2)
    expected = np.maximum(known * luck - allowed, 0).mean()
    assert beyond(np.array([known]), spread, allowed)[0] == pytest.approx(expected, rel=1e-3, abs=1e-6)


def test_the_price_of_a_day_meets_no_luck() -> None:
    plain_case = bench.drawn("example")
    priced = plain_case.changed(money__price_of_delay_usd_per_day=100_000)
    for case, moved in ((plain_case, False), (priced, True)):
        for option in case.options:
            total = plain(case.chain.bills.totals[option.id])
            known = less_luck(case.inputs, case.chain.bills, option, total)
            assert np.array_equal(known, total) is not moved
            assert known.mean() == pytest.approx(total.mean(), rel=0.01)
            assert known.std() <= total.std()


# ---- what is said


def tried(value: float, error: float, cost: float, at: int = 0) -> Tried:
    return Tried(read_probes()[at], ("price:x",), Estimate(value, error), Traced([cost]))


def made(found: tuple[Worth, ...] = (), tests_: tuple[Tried, ...] = ()) -> Information:
    return Information(("a", "b"), frozenset(), found, tests_)


def test_the_groups_that_tell_come_most_first(cases: dict[str, Case]) -> None:
    case = cases["example"]
    found = case.decision().information
    assert found is not None
    values = [w.estimate.value for w in found.telling]
    assert values == sorted(values, reverse=True)


# ---- the order of the questions


def question(case: Case, **changed: Any) -> PricedQuestion:
    return replace(case.diligence().questions[0], **changed)


def test_questions_stand_by_what_their_answers_are_worth_then_by_what_they_move(cases: dict[str, Case]) -> None:
    case = cases["tern-finetuning"]
    choice = question(case, informs=Estimate(3_700.0, 100.0), difference=None, own_cost=None)
    noise = question(case, informs=Estimate(9_000_000.0, 8_000_000.0), difference=Stake(0.0, 1.0), own_cost=None)
    price = question(case, informs=Estimate(0.0, 0.0), difference=None, own_cost=Stake(0.0, 1e6))
    assert sorted([price, noise, choice], key=lambda q: q.order, reverse=True) == [choice, noise, price]
    assert (choice.worth, noise.worth) == (3_700.0, 0.0)


# ---- a renter chooses among sellers


@pytest.fixture
def apart() -> Case:
    """A renter whose sellers may ask anything from a third of what they publish to three times that."""
    return bench.drawn("tern-finetuning", evidence={"rent-spread": {"low": 0.3, "mode": 1.0, "high": 3.0}})


def test_each_seller_s_price_is_uncertain_on_its_own(apart: Case) -> None:
    found = apart.knowledge
    prices = [i for i in found.inputs if i.startswith(OFFER)]
    assert {i.removeprefix(OFFER) for i in prices} == set(found.options)
    together = np.corrcoef([found.draw(i) for i in prices])
    assert np.all(np.abs(together - np.eye(len(prices))) < 0.2)
    assert {"evidence:rent-spread", "evidence:rent-move-same-seller"}.isdisjoint(found.inputs)


def test_the_price_of_each_seller_is_nearly_all_that_a_renter_can_learn(apart: Case) -> None:
    found = apart.knowledge
    prices = [i for i in found.inputs if i.startswith(OFFER)]
    rest = found.worth([i for i in found.inputs if i not in prices])
    known = found.worth(prices)
    of_everything = evpi(found.costs)
    assert of_everything > 0 and not known.below_noise and rest.below_noise
    assert known.value <= of_everything + 2 * known.standard_error
    assert found.worth(["evidence:rent-spread"]) == known
    asked = next(q for q in apart.diligence().questions if q.question.id == "Q-COM-01")
    assert asked.informs == known


def test_rents_are_asked_of_the_sellers_to_ask_first_alone(cases: dict[str, Case]) -> None:
    result = cases["tern-finetuning"].decision()
    assert result.information is not None and result.offers is not None
    rents = result.information.tried("rents")
    assert rents is not None and set(rents.shows) == {f"{OFFER}{o}" for o in result.offers.asked}


def test_a_test_shows_what_stands_behind_the_two_compared(cases: dict[str, Case]) -> None:
    for name in ("example", "halden-cloud", "kestrel-lab"):
        case = cases[name]
        result, bills = case.decision(), case.chain.bills
        pair = (result.verdict.choice, result.verdict.runner_up)
        behind = inputs_of(*(bills.totals[o] for o in pair))
        assert result.information is not None
        shown = {i for t in result.information.tests for i in t.shows if not i.startswith("contested:")}
        assert shown and shown <= behind
