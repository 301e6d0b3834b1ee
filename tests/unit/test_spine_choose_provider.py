"""What the body of a renter's memo finds of its own: whom to sign with, on what terms, and what speaks against it."""

from __future__ import annotations

import re
from typing import Any
from unittest import mock

import bench
import pytest
from bench import OFFER as BASE
from bench import OTHER
from rows import rows

from fabricreport.base.vocabulary import Ground
from fabricreport.bodies import choose_provider as spine
from fabricreport.bodies import tables
from fabricreport.bodies.choose_provider import Read
from fabricreport.bodies.choose_provider_facts import Turns
from fabricreport.bodies.choose_provider_facts import turns as facts_of
from fabricreport.case import Case
from fabricreport.ledger.numbers import Number
from fabricreport.sections.decision.actions import PAGE_ONE
from fabricreport.sections.decision.offers.judgements import Open

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


def of(case: Case, *facts: str) -> tuple[str, ...]:
    """Some facts of a case, by name."""
    found = facts_of(case)
    return tuple(getattr(found, fact) for fact in facts)


def held(case: Case, *choices: str) -> tuple[bool, ...]:
    """Which words that choose within a sentence are there."""
    said = words(case)
    return tuple(bool(said[choice]) for choice in choices)


def words(case: Case) -> dict[str, Any]:
    return dict(spine.words(case))


def turns(case: Case) -> set[str]:
    return set(spine.turning(case))


def cells(table: Any) -> list[list[str]]:
    return [[str(cell) for cell in row.cells] for row in table.rows]


def test_published_prices_are_asked_about() -> None:
    assert facts_of(tern()) == Turns(
        answer="listed",
        between="none",
        otherwise="none",
        date="open",
        prices="several",
        sure="open",
        network="divisible",
        weighed="none",
        against="cut",
        next="none",
        in_rent="open",
        cut="priced",
        tested="two",
        steps="more",
        papers="some",
    )
    assert held(tern(), "last_date", "unsure", "counted_at") == (True,) * 3
    assert held(tern(), "beside", "many_gpus", "term_assumed", "shown", "first_without") == (False,) * 5
    assert turns(tern()) == {"term", "day"}


@rows("months", [12, 48])
def test_the_table_tells_who_may_cost_least_and_nobody_else_is_asked_or_the_strongest_case(months: int) -> None:
    case = changed(money__horizon_months=months)
    found = case.decision().offers
    assert found is not None and found.unranked
    table = tables.results(case)
    at = {column.label: place for place, column in enumerate(table.columns)}
    rows_by_offer = zip(found.order, table.rows[: len(found.order)], strict=True)
    ends = {o: [row.cells[at[end]].value for end in ("Least", "Most")] for o, row in rows_by_offer}  # type: ignore[union-attr]
    ceiling = min(most for o, (_, most) in ends.items() if Open.OLD not in found.judged[o].open)
    assert {o for o, (least, _) in ends.items() if least <= ceiling} == {*found.asked}
    assert found.pick.second in found.asked and case.figure("decision.offers.asked").value == len(found.asked)
    asked = {found.judged[o].offer.seller for o in found.asked}
    told = {seller for group in words(case)["questions"] for seller in re.split(", | and ", str(group))}
    assert told == asked


def test_what_a_model_takes_and_a_server_has_is_told_where_it_does_not_fit_and_what_is_assumed_of_it() -> None:
    large = changed(workload__model_parameters_billion=32)
    taken, has = (large.figure(f"decision.courses.single_{what}").value for what in ("needs", "holds"))
    assert of(large, "cut") == ("no_room",) and taken > has == pytest.approx(0.85 * 8 * 80)
    assert held(large, "memory_told", "full_assumed") == (True, True)
    assert held(tern(), "memory_told") == (False,)


def test_where_every_seller_names_one_network_none_is_weighed() -> None:
    two = offered(BASE, {**OTHER, "fabric": "rocev2"})
    assert of(tern(), "between", "weighed", "network") == ("none", "none", "divisible")
    assert of(two, "between", "weighed", "network") == ("none", "idle", "apart")
    assert held(two, "two_networks", "on_its_own") == (True, True) and held(tern(), "two_networks") == (False,)
    assert [len(tables.test(case).columns) for case in (tern(), two)] == [4, 5]
    with weighed():
        assert of(tern(), "between", "weighed", "network") == ("premium", "idle", "apart")


def test_a_network_counts_where_little_money_is_material() -> None:
    assert of(offered(BASE), "weighed") == ("idle",)
    assert of(offered(BASE, money__materiality_usd=1.0), "weighed") == ("counts",)


def test_the_name_that_is_worth_more_is_told_first() -> None:
    with weighed():
        said = words(tern())
    verdict = tern().decision().verdict
    worth = tern().figure(f"tco.worth_less.{verdict.runner_up}").value
    assert said["better"].key == (verdict.choice if worth > 0 else verdict.runner_up)
    assert {said["better"].key, said["worse"].key} == {verdict.choice, verdict.runner_up}
    assert {said["on_its_own"].key, said["on_ethernet"].key} == {verdict.choice, verdict.runner_up}


@rows(
    ("billions", "material", "saves", "level"),
    [(13, None, False, False), (7, None, True, True), (7, 1.0, True, False)],
)
def test_the_case_for_single_nodes_is_told_where_it_is_the_strongest(
    billions: int, material: float | None, saves: bool, level: bool
) -> None:
    """It saves nothing as far as can be told where it is less apart than is close, and may cost more as well as less."""
    case = changed(
        workload__model_parameters_billion=billions, **({"money__materiality_usd": material} if material else {})
    )
    assert (case.figure("decision.courses.against.single-node").value < 0) == saves
    assert of(case, "cut", "against") == ("priced", "cut")
    assert held(case, "single_saves", "single_level") == (saves and not level, level)
    assert str(words(case)["single_way"]) == ("less" if saves else "more")
    assert held(case, "single_dear", "single_slow") == (material is None, False)


@rows(
    ("offers", "against"),
    [
        ((BASE, UNSURE), ("next", "network")),
        ((BASE, {**OTHER, "expiry": "2026-11-13"}), ("next", "date")),
        ((BASE, {**OTHER, "topology": "no"}), ("next", "drawing")),
        ((BASE, OTHER), ("cut", "none")),
        ((REFUSING,), ("refused", "none")),
    ],
)
def test_the_next_offer_is_the_case_against_where_it_has_something_on_paper(
    offers: tuple[dict[str, Any], ...], against: tuple[str, str]
) -> None:
    assert of(offered(*offers), "against", "next") == against


def test_a_rent_at_which_nodes_cost_the_same_is_told_where_it_prints_as_another() -> None:
    dearer = changed(workload__model_parameters_billion=13)
    assert held(dearer, "rent_level") == (True,) and "nodes" in turns(dearer)
    texts = {tern().figure(f"decision.courses.{rent}").text for rent in ("rent_hour", "single_rent")}
    assert len(texts) == 1 and held(tern(), "rent_level") == (False,)


RUN_OUT = {**OTHER, "date": "2026-09-12", "expiry": "2026-10-12"}
EXTRA = {**OTHER, "network": "extra"}


@pytest.mark.laws(6)
@pytest.mark.parametrize(
    ("offers", "facts", "choices", "turning"),
    [
        ((BASE,), ("take", "none", "one", "pair", "offer"), set(), {"lone", "start"}),
        ((BASE, OTHER), ("take", "none", "several", "ranked", "offer"), {"highest"}, {"price", "start"}),
        (({**BASE, "topology": "no"},), ("take", "none", "one", "pair", "offer"), {"first_ask"}, {"lone"}),
        ((BASE, {**OTHER, "network": "unknown"}), ("take_if", "clear", "several", "ranked", "offer"), {"unsure"}, {"price"}),
        (({**BASE, "fabric": "unknown"},), ("take_if", "nobody", "one", "pair", "offer"), {"unnamed"}, {"lone"}),
        ((BASE, EXTRA), ("within", "clear", "several", "ranked", "offer"), {"beside", "room_told"}, {"price"}),
        (
            ({**BASE, "topology": "no"}, EXTRA),
            ("within", "asked", "several", "ranked", "offer"),
            {"beside", "room_told"},
            {"price"},
        ),
        (
            ({**BASE, "network": "extra"},),
            ("within", "nobody", "one", "pair", "offer"),
            {"beside", "first_without"},
            {"lone"},
        ),
        ((BASE, RUN_OUT), ("renew", "clear", "several", "ranked", "offer"), {"old_prices"}, {"price"}),
        ((RUN_OUT,), ("renew", "nobody", "one", "pair", "offer"), {"old_prices"}, {"lone"}),
        (({**RUN_OUT, "network": "extra"},), ("renew", "nobody", "one", "pair", "offer"), {"first_without"}, {"lone"}),
        ((REFUSING,), ("refused", "none", "one", "refused", "open"), set(), {"refused", "day"}),
        (({**BASE, "refuses": ["price-cap"]},), ("take", "none", "one", "pair", "offer"), set(), {"lone"}),
        ((LATE,), ("take", "none", "one", "pair", "risky"), set(), {"lone"}),
        ((BASE, LATE), ("take", "none", "several", "ranked", "offer"), {"late_sellers"}, {"lone"}),
        ((BASE, {**LATE, "fabric": "rocev2"}), ("take", "none", "several", "pair", "offer"), {"late_sellers"}, {"lone"}),
        (
            ({**LATE, "price_per_gpu_hour": 2.8}, EXTRA),
            ("within", "clear", "several", "ranked", "offer"),
            {"next_late"},
            {"price"},
        ),
    ],
)  # fmt: skip
def test_what_is_said_of_offers(
    offers: tuple[dict[str, Any], ...], facts: tuple[str, ...], choices: set[str], turning: set[str]
) -> None:
    case = offered(*offers)
    said = {**case.spoken("choose_provider").words}
    first = said["first_offer"]
    told = {word for word in CHOICES if said[word]} | ({"first_ask"} if first and first.said["first_ask"] else set())
    assert of(case, "answer", "otherwise", "prices", "sure", "date") == facts
    assert choices <= told and turning <= turns(case)


CHOICES = {
    "highest",
    "unsure",
    "unnamed",
    "beside",
    "room_told",
    "first_without",
    "old_prices",
    "late_sellers",
    "next_late",
}


def test_level_offers_turn_on_their_terms() -> None:
    case = offered(BASE, OTHER, money__materiality_usd=1e6)
    assert "either" in turns(case) and not {"price", "lone"} & turns(case)
    assert words(case)["second_way"] in ("more", "less")


def test_without_any_price_sellers_are_asked_by_name() -> None:
    case = changed(providers=[{"name": "FluidStack"}, {"name": "GMI Cloud"}])
    assert of(case, "answer", "prices", "sure", "papers") == ("unpriced", "none", "pair", "nobody")
    assert words(case)["asked_list"] == "FluidStack and GMI Cloud"
    assert words(case)["lowest"] is None and "lone" in turns(case)


def test_without_another_course_a_renter_without_prices_is_told_to_ask_elsewhere() -> None:
    case = changed(providers=[{"name": "FluidStack"}], workload__kind="pretraining-dense")
    assert of(case, "against", "cut") == ("nobody", "one_run")


def test_one_node_needs_no_network() -> None:
    case = bench.case("one-node-startup")
    needless = ("one_node", "needless", "held", "none", "none", "none")
    assert of(case, "network", "tested", "in_rent", "papers", "between", "cut") == needless
    assert of(case, "date", "against", "next") == ("missed", "next", "date") and held(case, "networked") == (False,)
    assert turns(case) == {"term"}
    heads = [str(column.label) for column in tables.offers(case).columns]
    assert "Topology" not in heads and "network" not in " ".join(row[-1] for row in cells(tables.offers(case)))
    assert of(case.changed(offers=[BASE]), "answer", "against") == ("take", "alone")
    assert of(case.changed(providers=[{"name": "FluidStack"}]), "answer") == ("unpriced",)


def test_jobs_within_single_nodes_need_no_network_either() -> None:
    case = changed(cluster__gpus=64, workload__jobs=[{"gpus": 8, "share": 1.0}])
    assert of(case, "network", "tested", "cut") == ("within", "needless", "none")
    assert held(case, "networked", "rent_level", "counted_at") == (False, True, True)
    assert cells(tables.before(case))[0][-1] == "{decision.worth.rents}", "its price is worth asking for"


def test_what_comes_late_is_paid_by_damages_and_not_by_the_client_s_loss() -> None:
    rows = {str(row.cells[0]): row.cells[-1] for row in tables.test(tern()).rows}
    paid = next(cell for title, cell in rows.items() if title.startswith("Power-on"))
    assert isinstance(paid, Number) and paid.value == tern().figure("diligence.damages.weeks").value
    assert paid.value < tern().figure("diligence.price.weeks").value


def test_many_gpus_are_told_of_their_dates_and_their_waits() -> None:
    case = bench.changed("example", money__acquisition="rent")
    with weighed():
        assert [held(each, "many_gpus") for each in (case, tern())] == [(True,), (False,)]
    assert [of(each, "tested") for each in (case, tern())] == [("many",), ("two",)]


@pytest.mark.parametrize("ground", [Ground.WEIGHTS, Ground.DEADLINE])
def test_what_decides_between_networks_where_it_is_not_money(ground: Ground) -> None:
    with weighed(), mock.patch.object(type(tern().decision()), "ground", ground):
        assert of(tern(), "between", "weighed") == ("stated", "counts") and "counts" not in turns(tern())


def test_an_hour_that_the_client_states_is_counted_at_no_rent() -> None:
    stated = {**tern().inputs.params.money.model_dump(exclude_unset=True), "gpu_hour_value": 2.0}
    assert words(changed(money=stated))["counted_at"] is None
    assert "expect of" in words(tern())["counted_at"]


def test_a_date_that_no_hand_over_meets_is_told_without_one() -> None:
    case = changed(schedule__production_by="2026-11-28")
    assert of(case, "date") == ("missed",) and held(case, "last_date", "two_networks") == (False, False)
    with weighed():
        assert of(case, "date") == ("missed",) and held(case, "two_networks") == (True,)


def test_a_renter_without_a_date_is_told_what_a_day_costs() -> None:
    case = changed(schedule={})
    assert of(case, "date") == ("weeks",) and not {"day", "start"} & turns(case)
    assert of(case.changed(cluster__gpus=8), "date") == ("days",)


def test_the_tables_hold_at_most_so_many_lines() -> None:
    shown = cells(tables.offers(tern()))
    judged = tern().decision().offers
    assert judged is not None and len(shown) == min(len(judged.judged), spine.SHOWN)
    assert [row[0] for row in shown] == [j.offer.seller for j in judged.judged.values()][: spine.SHOWN]
    first, rest = cells(tables.before(tern())), cells(tables.after(tern()))
    assert len(first) == PAGE_ONE and len(first) + len(rest) == len(tern().monday().todos)
    assert [row[0] for row in (*first, *rest)] == [one.mark for one in tern().monday().todos]
    assert of(tern(), "steps") == ("more" if rest else "few",)
    assert len(cells(tables.renter_changes(tern()))) == len(turns(tern()))


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
    assert held(case, "rent_level") == (False,)
    with pytest.raises(KeyError):
        case.figure("decision.courses.single_rent")
