"""A price that one seller lists cannot decide alone; inputs by fabric are counted by whom they favour."""

from __future__ import annotations

from typing import Any

import bench
import pytest

from fabricreport.base.vocabulary import Confidence
from fabricreport.case import Case
from fabricreport.sections.decision import tables
from fabricreport.sections.decision.inputs import OF_OWNERS
from fabricreport.sections.decision.reversals import (
    Prior,
    equal_priors,
    on_one_listing,
    priors_of,
    without_each,
)

pytestmark = pytest.mark.slow
INFINIBAND, TURNKEY, WHITEBOX = "infiniband-ndr", "spectrum-x-400g", "rocev2-whitebox-400g"
BRANDED = "rocev2-branded-400g"


def client(name: str = "example") -> Case:
    return bench.case(name)


def priors_of_client(**changes: Any) -> tuple[Prior, ...]:
    case = client().changed(**changes)
    return priors_of(case.inputs, case.chain.reached_by, [o.id for o in case.options])


def test_switches_that_one_seller_lists_are_known_until_somebody_offers_them() -> None:
    assert on_one_listing(client().inputs) == (TURNKEY, BRANDED, WHITEBOX)
    offered = client().changed(prices={"switch-sn5610": 52_000})
    assert on_one_listing(offered.inputs) == (WHITEBOX,)
    assert on_one_listing(client("tern-finetuning").inputs) == ()


def test_the_verdict_without_a_listing_is_that_of_a_client_who_names_no_option_of_it() -> None:
    left = without_each(client().inputs, client().chain.bills)
    for option, verdict in left.items():
        of_listing = {o.id: o.pieces["switch"].price for o in client().options}
        others = tuple(o for o, price in of_listing.items() if price != of_listing[option])
        again = client().changed(options=others).comparison.verdict
        assert (verdict.choice, verdict.runner_up, verdict.course) == (again.choice, again.runner_up, again.course)
        assert verdict.lead == pytest.approx(again.lead)


def test_a_clear_choice_is_leaning_where_another_course_is_advised_without_one_listed_price() -> None:
    case = client()
    found = case.comparison.verdict
    assert found.confidence == Confidence.CLEAR and case.decision().turned_without[0] == found.choice
    assert (case.decision().verdict.confidence, case.decision().verdict.capped) == (Confidence.LEANING, "listing")


def test_a_clear_choice_is_leaning_where_the_advice_stands_in_fewer_outcomes_than_are_asked_of_the_two() -> None:
    for price, capped in ((38_800, ""), (34_000, "act")):
        case = client().changed(prices={"switch-sn5610": 52_000, "switch-n9600-64od": price})
        found = case.decision()
        assert (case.comparison.verdict.confidence, found.verdict.capped) == (Confidence.CLEAR, capped)
        assert found.sure and (found.sure.share < found.rule.clear_probability) == bool(capped)


def test_inputs_by_fabric_favour_whom_their_means_favour_and_exchanging_them_exchanges_the_sides() -> None:
    given = {"shared-stall-share-infiniband": 0.001, "shared-stall-share-rocev2": 0.002}
    exchanged = {"shared-stall-share-infiniband": 0.002, "shared-stall-share-rocev2": 0.001}
    equal = {"shared-stall-share-infiniband": 0.002, "shared-stall-share-rocev2": 0.002}
    for entries, side in ((given, "infiniband"), (exchanged, "rocev2"), (equal, "neither")):
        priors = priors_of_client(evidence=entries, options=(INFINIBAND, BRANDED))
        favoured = [p.favours for p in priors if p.rocev2 == "evidence:shared-stall-share-rocev2"]
        assert favoured == ([] if side == "neither" else [side])


def test_inputs_of_an_operating_model_are_counted_only_where_such_an_option_is_compared() -> None:
    assert any("whitebox" in p.rocev2 for p in priors_of_client(options=(INFINIBAND, WHITEBOX)))
    turnkey = priors_of_client(options=(INFINIBAND, TURNKEY))
    assert turnkey and not any("operating-model" in p.rocev2 for p in turnkey)
    assert priors_of_client(options=(TURNKEY, WHITEBOX)) == ()


def test_what_the_client_runs_is_counted_by_kind_and_equal_treatment_leaves_it() -> None:
    runs = {"organisation__existing_ethernet": "large", "organisation__existing_infiniband": "some"}
    (estate,) = (p for p in priors_of_client(options=(INFINIBAND, BRANDED), **runs) if p.of_client)
    assert estate.favours == "rocev2"
    assert not any(p.of_client for p in priors_of_client(options=(INFINIBAND, BRANDED), **dict.fromkeys(runs, "none")))
    search = client().changed(**runs).studies.search
    assert not any(p.of_client for p in equal_priors(search))


def test_a_renter_is_told_of_nothing_that_only_an_owner_pays() -> None:
    case = client("tern-finetuning")
    units = {str(case.inputs.record(i)["unit"]) for p in case.decision().priors for i in (p.infiniband, p.rocev2) if i}
    assert units and not any(unit.startswith("usd") for unit in units)
    assert not any(key.rpartition(".")[2] in str(tables.assumed(case.inputs).rows) for key in OF_OWNERS)
