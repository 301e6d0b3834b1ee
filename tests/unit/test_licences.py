"""Licences of managers and of switch systems: one rule for every option, and what it moves."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import bench
import numpy as np
import pytest
from rows import rows

from fabricreport.base.errors import InputError
from fabricreport.base.provenance import mean_of, plain
from fabricreport.base.uncertain import exactly
from fabricreport.base.vocabulary import Charge, Sold
from fabricreport.base.yaml_files import read_yaml
from fabricreport.bodies.buy_once import turns
from fabricreport.books.options import Licence, read_options
from fabricreport.case import Case
from fabricreport.sections.decision.reversals import CORNERS
from fabricreport.sections.tco.fabric import licences_per_year
from fabricreport.sections.tco.inputs import Charged, charged

IB, ROCE = "infiniband-ndr", "rocev2-branded-400g"
MANAGERS = ("evidence:licence-ufm-per-endpoint-year", "evidence:licence-ethernet-manager-per-endpoint-year")
SYSTEMS = ("evidence:licence-ethernet-nos-per-switch-year", "evidence:licence-whitebox-nos-per-switch-year")


def two() -> Case:
    return bench.changed("example", options=(IB, ROCE))


def under(case: Case, manager: str, system: str) -> Case:
    return case.changed(money__manager_licence=manager, money__switch_system_licence=system)


def licences(case: Case, option: str) -> Any:
    """What the option pays for licences (draws,)."""
    return plain(case.chain.bills.parts[option]["licences"])


# ---- one rule


@pytest.mark.slow
@rows(
    ("sold", "charge", "gpus", "counted"),
    [
        (Sold.INCLUDED, Charge.AS_SOLD, 1024, False),
        (Sold.APART, Charge.AS_SOLD, 1024, True),
        (Sold.OPTIONAL, Charge.AS_SOLD, 1024, False),
        (Sold.OPTIONAL, Charge.AS_SOLD, 4096, True),
        *((sold, Charge.CHARGED, gpus, True) for sold in Sold for gpus in (16, 4096)),
        *((sold, Charge.LEFT_OUT, gpus, False) for sold in Sold for gpus in (16, 4096)),
    ],
)
def test_what_is_charged_follows_from_how_it_is_sold_and_what_the_client_says(
    sold: Sold, charge: Charge, gpus: int, counted: bool
) -> None:
    above = "evidence:ufm-hard-requirement-gpus" if sold == Sold.OPTIONAL else ""
    licence = Licence(sold, "evidence:licence-ufm-per-endpoint-year", above)
    assert charged(bench.case("example").inputs, licence, charge).counted(gpus) is counted


def test_every_shipped_option_says_how_both_are_sold_with_an_entry_that_has_a_grade() -> None:
    entries = {entry["id"]: entry for entry in read_yaml("library/cost")}
    for option in read_options().values():
        for licence in (option.licence, option.operating_system):
            if licence is not None:
                assert entries[str(licence.says).removeprefix("evidence:")]["grade"], option.id
        assert option.operating_system is not None, option.id
        assert option.licence is not None or not option.rdma, option.id


@pytest.mark.slow
def test_a_licence_nobody_sells_costs_nothing_where_systems_are_charged() -> None:
    case = under(two(), "left-out", "charged")
    assert not licences(case, IB).any() and licences(case, ROCE).any()


# ---- equal treatment


@pytest.mark.slow
def test_equal_licences_on_both_make_no_difference() -> None:
    case = under(two(), "charged", "left-out")
    same = case.chain.replacing({i: exactly(170.0) for i in MANAGERS}).bills
    none = under(two(), "left-out", "left-out").chain.bills
    assert same.parts[IB]["licences"].any()
    np.testing.assert_array_equal(plain(same.parts[IB]["licences"]), plain(same.parts[ROCE]["licences"]))
    np.testing.assert_allclose(plain(same.gap(ROCE, IB)), plain(none.gap(ROCE, IB)), atol=1e-6)


@pytest.mark.slow
@rows("gpus", [8, 64, 256, 1000, 2048, 4096, 16384])
def test_one_price_on_both_costs_the_price_of_the_pieces_that_differ(gpus: int) -> None:
    """Whatever a switch and an endpoint cost a year: no fabric pays for more than its own count."""
    bills = bench.changed("example", cluster__gpus=gpus, options=(IB, ROCE)).chain.bills
    per_endpoint, per_switch = Charged(170.0, 0.0), Charged(2500.0, 0.0)
    builds = {o: bills.built[o][-1] for o in (IB, ROCE)}
    paid = {
        o: licences_per_year(build, replace(bills.own[o], manager=per_endpoint, system=per_switch))
        for o, build in builds.items()
    }
    more = builds[IB].bom.switches - builds[ROCE].bom.switches
    links = builds[IB].cables.nics * builds[IB].managed - builds[ROCE].cables.nics * builds[ROCE].managed
    assert float(paid[IB] - paid[ROCE]) == pytest.approx(2500.0 * more + 170.0 * links)


# ---- the corners


@pytest.mark.slow
def test_each_corner_is_what_the_params_set_so_find() -> None:
    case = two()
    choice, rival = case.comparison.choice, case.comparison.rival
    corners = case.decision().corners
    assert [*corners] == list(CORNERS)
    for key, gap in corners.items():
        again = under(case, *map(str, CORNERS[key])).chain.bills.gap(rival, choice)
        np.testing.assert_allclose(plain(gap), plain(again), atol=1e-6)
    assert plain(corners["as-sold"]) == pytest.approx(plain(case.comparison.lead))


@pytest.mark.slow
def test_where_the_convention_of_licences_turns_the_order_it_is_told() -> None:
    """With a cheaper switch of InfiniBand its manager, which the makers' lists charge on it alone, makes the difference."""
    case = bench.changed("example", prices={"switch-qm9700": 20_000})
    pair = case.comparison.choice, case.comparison.rival
    found = {key: pair[bool(mean_of(gap) < 0)] for key, gap in case.decision().corners.items()}
    assert found == {**dict.fromkeys(CORNERS, IB), "as-sold": ROCE}
    assert turns(case).other == "reversed"
    assert turns(bench.case("example")).other == "nearly", "there none turns it"


@pytest.mark.slow
def test_who_rents_has_no_licences_to_count() -> None:
    assert bench.case("tern-finetuning").decision().corners == {}


@pytest.mark.slow
@rows(("key", "ids"), [("money__manager_licence", MANAGERS), ("money__switch_system_licence", SYSTEMS)])
def test_a_licence_left_out_is_no_footing_of_the_bills(key: str, ids: tuple[str, ...]) -> None:
    reached = bench.case("example").changed(**{key: "left-out"}).chain.reached_by
    assert not reached & set(ids)


# ---- what a file may say


@rows(
    "terms",
    [
        "licence: {sold: apart, per_year: null}",
        "licence: {sold: optional, per_year: 'evidence:licence-ufm-per-endpoint-year'}",
        "licence: {sold: included, above_gpus: 'evidence:ufm-hard-requirement-gpus'}",
        "operating_system: {sold: free}",
    ],
)
def test_terms_of_a_licence_that_contradict_each_other_are_refused(terms: str, tmp_path: Any) -> None:
    (tmp_path / "own.yaml").write_text(f"- id: own\n  like: infiniband-ndr\n  name: Own\n  {terms}\n")
    with pytest.raises(InputError) as refused:
        read_options(tmp_path)
    assert len(refused.value.problems) == 1


@pytest.mark.slow
def test_an_unknown_charge_is_refused_with_what_may_stand_there() -> None:
    with pytest.raises(InputError, match="as-sold"):
        bench.case("example").changed(money__manager_licence="free")
