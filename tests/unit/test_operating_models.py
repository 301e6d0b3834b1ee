"""Who runs a fabric: what a turnkey one shares with InfiniBand, what skill adds to others, and operations bought in."""

from __future__ import annotations

import numpy as np
import pytest
from bench import drawn

from fabricreport.base.errors import InputError
from fabricreport.base.provenance import plain
from fabricreport.base.uncertain import exactly
from fabricreport.case import Case
from fabricreport.models.money.ownership import fabric_fte
from fabricreport.sections.client import behaviour_ids

pytestmark = pytest.mark.slow

UNSKILLED = {"organisation__networking_maturity": "low", "organisation__qos_expertise": "none"}
BOUGHT = {"organisation__operations": "bought-in"}
SWITCHES_NOT_COUNTED = {"fabric-complexity-exponent": 0.0}
"""More switches take no more staff, so that only who runs them tells fabrics apart."""
INFINIBAND, TURNKEY, BRANDED = "infiniband-ndr", "spectrum-x-400g", "rocev2-branded-400g"


@pytest.fixture(scope="module")
def greenfield() -> Case:
    """Northmere with no estate of either kind."""
    return drawn("example", organisation__existing_ethernet="none")


@pytest.mark.parametrize("maturity", ["low", "medium", "high"])
def test_what_nobody_has_found_to_differ_is_one_prior_for_both_turnkey_fabrics(greenfield: Case, maturity: str) -> None:
    given = greenfield.changed(organisation__networking_maturity=maturity, organisation__qos_expertise="none").inputs
    ids = [behaviour_ids(given, given.all_options[o]) for o in (INFINIBAND, TURNKEY)]
    for role in ("weeks", "tuning", "staff", "neighbours"):
        first, second = (given.uncertain(found[role]) for found in ids)
        assert (first.low, first.mode, first.high) == (second.low, second.mode, second.high)


def test_with_equal_inputs_a_turnkey_fabric_differs_from_infiniband_in_its_equipment_alone(greenfield: Case) -> None:
    case = greenfield.changed(**UNSKILLED, cluster__gpus=2048)
    given = case.inputs
    equal = {"evidence:in-network-reduction-gain": exactly(1.0), "evidence:fabric-complexity-exponent": exactly(0.0)}
    for option in (INFINIBAND, TURNKEY):
        ids = behaviour_ids(given, given.all_options[option])
        equal |= {ids[role]: exactly(0.5) for role in ("weeks", "tuning", "staff")}
        equal |= {ids[role]: exactly(0.01) for role in ("stalls", "contention")}
        equal |= {ids[role]: exactly(at) for role, at in (("step", 0.0), ("share", 1.0)) if role in ids}
    own = case.chain.replacing(equal).bills.own
    waits = [plain(own[option].lost.exposed_communication) for option in (INFINIBAND, TURNKEY)]
    assert np.array_equal(*waits)
    for part in (lambda o: o.bring_up_weeks, lambda o: fabric_fte(2048, o.staff), lambda o: o.lost.tail):
        assert np.array_equal(plain(part(own[INFINIBAND])), plain(part(own[TURNKEY])))
    assert not np.array_equal(plain(own[INFINIBAND].staff.factor), plain(own[BRANDED].staff.factor))


def test_without_skill_plain_rocev2_takes_about_a_post_more_and_a_turnkey_fabric_none(greenfield: Case) -> None:
    case = greenfield.changed(**UNSKILLED, cluster__gpus=2048, evidence=SWITCHES_NOT_COUNTED)
    own, pay = case.chain.bills.own, case.chain.bills.stated.pay_per_year
    posts = {o: fabric_fte(2048, own[o].staff) for o in own}
    more = {o: float(np.mean(plain(posts[o])) - np.mean(plain(posts[INFINIBAND]))) for o in posts}
    assert abs(more[TURNKEY]) < 0.1 < more[BRANDED] < 1.2
    extra = (posts[BRANDED] - posts[INFINIBAND]) * pay
    assert float(np.mean(plain(extra))) < 250_000


def test_practice_of_one_team_is_not_counted_twice(greenfield: Case) -> None:
    strong = {"organisation__qos_expertise": "strong"}
    case = greenfield.changed(**strong, organisation__existing_ethernet="large")
    one = [greenfield.changed(**strong), greenfield.changed(organisation__existing_ethernet="large")]
    option = case.inputs.all_options[BRANDED]
    both, *alone = (plain(c.inputs.effort(option).bring_up) for c in (case, *one))
    assert np.allclose(both, np.minimum(*alone))


def test_operations_bought_in_run_every_fabric_alike_whatever_the_client_s_team(greenfield: Case) -> None:
    team = {"organisation__networking_maturity": "high", "organisation__qos_expertise": "strong"}
    bought = {**BOUGHT, "evidence": SWITCHES_NOT_COUNTED}
    found = [greenfield.changed(**bought, **who).chain.bills.own for who in (UNSKILLED, team)]
    for option, own in found[0].items():
        other = found[1][option]
        assert np.array_equal(plain(own.bring_up_weeks), plain(other.bring_up_weeks))
        assert np.array_equal(plain(fabric_fte(1024, own.staff)), plain(fabric_fte(1024, other.staff)))
        assert not np.any(plain(own.training))
    posts = [plain(fabric_fte(1024, found[0][o].staff)) for o in (INFINIBAND, TURNKEY)]
    assert np.array_equal(*posts)


def test_operations_bought_in_cost_a_fee_and_save_weeks_of_a_team_without_skill(greenfield: Case) -> None:
    own, bought = (greenfield.changed(**UNSKILLED, **more).chain.bills.own for more in ({}, BOUGHT))
    for option in own:
        assert np.mean(plain(bought[option].bring_up_weeks)) < np.mean(plain(own[option].bring_up_weeks))
    assert np.mean(fabric_fte(1024, bought[INFINIBAND].staff)) > np.mean(fabric_fte(1024, own[INFINIBAND].staff))


def test_a_renter_has_no_operations_to_buy() -> None:
    with pytest.raises(InputError, match="the provider runs a rented network"):
        drawn("tern-finetuning", **BOUGHT)
