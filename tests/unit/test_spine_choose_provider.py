"""What the body of a renter's memo finds of its own: whom to sign with, on what terms, and what speaks against it."""

from __future__ import annotations

from typing import Any
from unittest import mock

import bench
import pytest
from bench import OFFER as BASE
from bench import OTHER
from rows import rows

from fabricreport.case import Case
from fabricreport.sections.decision.monday.kinds import PAGE_ONE
from fabricreport.sections.decision.monday.tables import UNPRICED
from fabricreport.spine import choose_provider as spine
from fabricreport.spine import choose_provider_tables as tables
from fabricreport.spine.choose_provider import Finding as F
from fabricreport.spine.choose_provider_read import Read
from fabricreport.vocabulary import Ground

pytestmark = pytest.mark.slow

LATE = {**OTHER, "start": "2027-03-01"}
REFUSING = {**BASE, "refuses": ["acceptance-test"]}
UNSURE = {**OTHER, "network": "unknown", "topology": "Dell equipment named"}


def tern() -> Case:
    return bench.case("tern-finetuning")


def offered(*offers: dict[str, Any], **changes: Any) -> Case:
    return bench.case("offers") if offers == (BASE, OTHER) and not changes else changed(offers=list(offers), **changes)


def changed(**changes: Any) -> Case:
    return bench.changed("tern-finetuning", **changes)


def weighed() -> Any:
    """As if sellers named several networks, so that two are weighed."""
    return mock.patch.object(Read, "one_network", new=False)


def found(case: Case) -> set[F]:
    return set(spine.findings(case))


def words(case: Case) -> dict[str, Any]:
    return dict(spine.words(case))


def turns(case: Case) -> set[str]:
    return {kind for kind, turn in spine.turning(case).items() if turn}


def cells(table: Any) -> list[list[str]]:
    return [[str(cell) for cell in row.cells] for row in table.rows]


def test_published_prices_are_asked_about_and_the_name_has_a_price() -> None:
    holds = found(tern())
    assert {F.ASKING, F.ORDER_OPEN, F.READY_BY, F.WHY_RENT_ALONE} <= holds
    assert {F.BILL_RANGE, F.BEFORE_OFFER} <= holds and not holds & {F.WHY_RENT, F.READY_PAIR, F.PREMIUM}
    assert {F.ONE_SWITCH, F.SOME_WITHOUT, F.UNSURE, F.UNSURE_LISTED, F.CREDITED, F.DOCUMENTED} <= holds
    assert not holds & {F.SIGN_TESTED, F.READY_OFFER, F.NEXT, F.MANY_GPUS, F.NO_DATE}
    assert turns(tern()) == {"term", "day", "nodes"}


def test_where_every_seller_names_one_network_none_is_weighed() -> None:
    assert not found(tern()) & {F.PREMIUM, F.NAME_TOLD, F.NETWORK_IDLE, F.BOTH_SIDES, F.PAIR_TOLD}
    assert {F.NAME_TOLD, F.BOTH_SIDES} <= found(offered(BASE, {**OTHER, "fabric": "rocev2"}))
    assert len(tables.test(tern()).columns) == 4
    assert len(tables.test(offered(BASE, {**OTHER, "fabric": "rocev2"})).columns) == 5
    with weighed():
        assert {F.PREMIUM, F.NAME_TOLD, F.WHY_RENT, F.NETWORK_IDLE, F.BOTH_SIDES} <= found(tern())


def test_the_name_that_is_worth_more_is_told_first() -> None:
    with weighed():
        said = words(tern())
    verdict = tern().decision().verdict
    worth = tern().figure(f"tco.worth_less.{verdict.runner_up}").value
    assert said["better"].key == (verdict.choice if worth > 0 else verdict.runner_up)
    assert {said["better"].key, said["worse"].key} == {verdict.choice, verdict.runner_up}
    assert {said["on_its_own"].key, said["on_ethernet"].key} == {verdict.choice, verdict.runner_up}


def test_the_case_for_single_nodes_is_told_where_it_is_the_strongest() -> None:
    for billions, costs, told, other in (
        (13, 1, {F.SINGLE_MORE, F.AGAINST_MORE}, {F.SINGLE_LESS, F.AGAINST_LESS}),
        (8, -1, {F.SINGLE_LESS, F.AGAINST_LESS}, {F.SINGLE_MORE, F.AGAINST_MORE}),
    ):
        case = changed(workload__model_parameters_billion=billions)
        assert case.figure("decision.courses.against.single-node").value * costs > 0
        assert {*told, F.SINGLE_RENT} <= found(case) and not other & found(case)
    better = found(offered(BASE, UNSURE))
    assert {F.NEXT, F.NEXT_NETWORK, F.NEXT_DOCUMENTED} <= better
    assert not better & {F.AGAINST_MORE, F.NEXT_IN_DATE, F.NEXT_NOTHING}
    assert F.NEXT_IN_DATE in found(offered(BASE, {**OTHER, "expiry": "2026-11-13"}))


@rows(
    ("offers", "holds", "fails", "turning"),
    [
        ((BASE,), {F.SIGN_TESTED, F.WHY_ONE, F.PAIR_TOLD, F.READY_OFFER}, {F.ORDER_DATED, F.ASKING}, {"lone", "start"}),
        ((BASE, OTHER), {F.ORDER_DATED, F.WHY_RENT_ALONE, F.BILL_RANGE}, {F.ORDER_OLD}, {"price", "start"}),
        ((BASE, {**OTHER, "network": "extra"}), {F.BESIDE, F.SOME_WITHOUT}, {F.UNSURE}, {"price"}),
        ((REFUSING,), {F.WHY_REFUSED, F.REFUSED_ALL}, {F.SIGN_TESTED}, {"refused", "day"}),
        ((BASE, {**LATE, "fabric": "rocev2"}), {F.PAIR_TOLD}, {F.ORDER_DATED}, {"lone"}),
    ],
)  # fmt: skip
def test_what_is_said_of_offers(
    offers: tuple[dict[str, Any], ...], holds: set[F], fails: set[F], turning: set[str]
) -> None:
    case = offered(*offers)
    assert holds <= found(case) and not fails & found(case)
    assert turning <= turns(case)


def test_level_offers_turn_on_their_terms() -> None:
    case = offered(BASE, OTHER, money__materiality_usd=1e6)
    assert "either" in turns(case) and not {"price", "lone"} & turns(case)
    assert words(case)["second_way"] in ("more", "less")


def test_without_any_price_sellers_are_asked_by_name() -> None:
    case = changed(providers=[{"name": "FluidStack"}, {"name": "GMI Cloud"}])
    assert {F.UNPRICED_ALL, F.WHY_NONE, F.PAIR_TOLD, F.UNDOCUMENTED} <= found(case)
    assert words(case)["asked_list"] == "FluidStack and GMI Cloud"
    assert words(case)["lowest"] is None and "lone" in turns(case)


def test_without_another_course_a_renter_without_prices_is_told_to_ask_elsewhere() -> None:
    case = changed(providers=[{"name": "FluidStack"}], workload__kind="pretraining-dense")
    assert F.NOBODY_PRICED in found(case)


def test_one_node_needs_no_network() -> None:
    case = bench.case("one-node-startup")
    holds = found(case)
    assert {F.ASKING_ONE_NODE, F.NAME_NONE, F.WHY_RENT_ALONE, F.READY_ALONE, F.NEXT, F.NEXT_IN_DATE} <= holds
    assert not holds & {F.PREMIUM, F.NAME_TOLD, F.SOME_WITHOUT, F.UNSURE, F.NEXT_NETWORK, F.DOCUMENTED}
    assert turns(case) == {"term"}
    heads = [str(column.label) for column in tables.offers(case).columns]
    assert "Topology" not in heads and "network" not in " ".join(row[-1] for row in cells(tables.offers(case)))
    assert {F.SIGN_DATED, F.ALONE_ASKED} <= found(case.changed(offers=[BASE]))
    assert F.UNPRICED_ONE_NODE in found(case.changed(providers=[{"name": "FluidStack"}]))


def test_jobs_within_single_nodes_need_no_network_either() -> None:
    case = changed(cluster__gpus=64, workload__jobs=[{"gpus": 8, "share": 1.0}])
    holds = found(case)
    assert {F.ASKING_ONE_NODE, F.JOBS_WITHIN, F.JOBS_WITHIN_RENT, F.NO_TEST, F.BEFORE_OFFER} <= holds
    assert not holds & {F.NAME_NONE, F.TO_TEST, F.SINGLE_MORE, F.SINGLE_LESS}
    assert cells(tables.before(case))[0][-1] == UNPRICED


def test_many_gpus_are_told_of_their_dates_and_their_waits() -> None:
    case = bench.changed("example", money__acquisition="rent")
    with weighed():
        assert {F.MANY_GPUS, F.TO_TEST, F.TEST_MANY} <= found(case)
        assert not found(case) & {F.ONE_SWITCH, F.TEST_TWO}
        assert {F.TO_TEST, F.TEST_TWO} <= found(tern()) and F.MANY_GPUS not in found(tern())


def test_what_decides_between_networks_where_it_is_not_money() -> None:
    for ground, told in ((Ground.WEIGHTS, F.BY_STATED), (Ground.DEADLINE, F.BY_DATE)):
        with weighed(), mock.patch.object(type(tern().decision()), "ground", ground):
            holds = found(tern())
            assert "counts" not in turns(tern())
        assert told in holds and not {F.PREFERRED, F.PREMIUM, F.ASK_BOTH} & holds


def test_what_an_hour_is_worth_names_the_rent_it_rests_on() -> None:
    stated = {**tern().inputs.params.money.model_dump(exclude_unset=True), "gpu_hour_value": 2.0}
    holds = found(changed(money=stated))
    assert F.BEFORE in holds and not {F.BEFORE_MARKET, F.BEFORE_OFFER} & holds
    assert {F.BEFORE, F.BEFORE_OFFER, F.BEFORE_MARKET} & found(tern()) == {F.BEFORE_OFFER}


def test_a_date_that_no_hand_over_meets_is_told_without_one() -> None:
    case = changed(schedule__production_by="2026-11-28")
    assert {F.READY_ALONE, F.DATE_MISSED} <= found(case)
    with weighed():
        late = found(case)
    assert {F.READY_PAIR, F.DATE_MISSED_ON} <= late and not late & {F.READY_BY}


def test_a_renter_without_a_date_is_told_what_a_day_costs() -> None:
    case = changed(schedule={})
    assert {F.NO_DATE, F.DAY_PRICED} <= found(case) and not {F.READY_BY, F.READY_PAIR, F.READY_ALONE} & found(case)
    assert not {"day", "start"} & turns(case)


def test_the_tables_hold_at_most_so_many_lines() -> None:
    shown = cells(tables.offers(tern()))
    judged = tern().decision().offers
    assert judged is not None and len(shown) == min(len(judged.judged), spine.SHOWN)
    assert [row[0] for row in shown] == [j.offer.seller for j in judged.judged.values()][: spine.SHOWN]
    first, rest = cells(tables.before(tern())), cells(tables.after(tern()))
    assert len(first) == PAGE_ONE and len(first) + len(rest) == len(tern().monday().todos)
    assert [row[0] for row in (*first, *rest)] == [one.mark for one in tern().monday().todos] and (
        F.MORE_STEPS in found(tern())
    ) == bool(rest)
    assert len(cells(tables.changes(tern()))) == len(turns(tern()))


def test_what_an_offer_refuses_is_told_before_anything_is_asked() -> None:
    rows = {row[0]: row[-1] for row in cells(tables.offers(offered(BASE, {**OTHER, "refuses": ["acceptance-test"]})))}
    assert rows["Example Hosting"].startswith("Refuses: ")
    late = cells(tables.offers(offered(BASE, LATE)))
    assert {row[0]: row[-1] for row in late}["Example Hosting"] == "Sooner?"


def test_sellers_who_are_asked_the_same_are_asked_in_one_line() -> None:
    questions = words(tern())["questions"]
    asked = [seller for group in questions for seller in group.replace(" and ", ", ").split(", ")]
    assert sorted(asked) == sorted(row[0] for row in cells(tables.results(tern()))[:-1])
    assert all(group.said["question"].endswith("?") for group in questions)
    assert len(questions) == len({group.said["question"] for group in questions}) < len(asked)
    refused = words(offered(BASE, {**OTHER, "refuses": ["acceptance-test"]}))["questions"]
    assert [g.said["question"] for g in refused if g == "Example Hosting"] == [
        "Does it still refuse this: acceptance test?"
    ]


def test_each_price_is_told_until_when_it_is_good() -> None:
    made = offered(BASE, {**OTHER, "expiry": "2026-12-24"})
    assert [row[1].replace("\xa0", " ") for row in cells(tables.results(made))[:-1]] == ["24 Dec 2026", "12 Dec 2026"]
    assert words(made)["good_until"].replace("\xa0", " ") == "24 Dec 2026"
    assert tern().spoken("choose_provider").words["oldest_price"] == "November 2025"


def test_a_published_price_says_whether_it_holds_the_network_and_an_offer_what_to_ask() -> None:
    published, made = tables.offers(tern()), tables.offers(offered(BASE, UNSURE))
    heads = [[str(column.label) for column in table.columns] for table in (published, made)]
    assert "In the rent?" in heads[0] and "Ask first" not in heads[0]
    assert "Ask first" in heads[1] and "In the rent?" not in heads[1]
    assert {row[3] for row in cells(published)} <= {"yes", "not said"}


def test_a_rent_at_which_nodes_cost_the_same_is_told_only_where_hours_are_worth_their_rent() -> None:
    stated = {**tern().inputs.params.money.model_dump(exclude_unset=True), "gpu_hour_value": 5.0}
    case = changed(money=stated)
    holds = case.spoken("decision").findings
    assert not holds.offers_single_node_dearer and not holds.offers_single_node_cheaper
    with pytest.raises(KeyError):
        case.figure("decision.courses.single_rent")
