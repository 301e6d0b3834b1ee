"""The body of a memo about a plan in stages: what it finds of its own, its words and its tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import bench
import pytest
from bench import altered
from rows import rows

from fabricreport.base.provenance import mean_of
from fabricreport.base.vocabulary import Ground
from fabricreport.bodies import tables
from fabricreport.bodies.grow_in_stages import MOST_CARES, Finding, _asked, _lay_out, _reason, cares, findings, words
from fabricreport.case import Case
from fabricreport.ledger.facts import Name, Named
from fabricreport.ledger.numbers import Number
from fabricreport.sections.decision.result import DecisionResult
from fabricreport.sections.tco.cost import FABRIC_CAUSES, by_cause, purchases

pytestmark = pytest.mark.slow
F = Finding
ELSEWHERE = ("too_late", "too_late_alone", "take_small", "single_nodes")
"""Advice of the decision that no day to sign goes with."""


class Altered:
    """A case of which some figures, or the decision, are others."""

    def __init__(self, case: Case, values: Mapping[str, float], decision: DecisionResult | None = None) -> None:
        self._case, self._values, self._decision = case, values, decision

    def __getattr__(self, name: str) -> Any:
        return getattr(self._case, name)

    def figure(self, figure_id: str) -> Number:
        found = self._case.figure(figure_id)
        return found.renamed(figure_id, value=self._values[figure_id]) if figure_id in self._values else found

    def decision(self) -> DecisionResult:
        return self._decision or self._case.decision()


def of(case: Case, values: Mapping[str, float] | None = None, decision: DecisionResult | None = None) -> set[Finding]:
    return set(findings(Altered(case, values or {}, decision)))  # type: ignore[arg-type]


def kestrel() -> Case:
    return bench.case("kestrel-lab")


def alone() -> DecisionResult:
    """The decision as if nothing were compared with the choice."""
    result = kestrel().decision()
    return altered(result, verdict=replace(result.verdict, runner_up=result.verdict.choice))


def test_a_plan_over_sites_that_are_not_joined_has_two_networks_and_any_other_has_one() -> None:
    apart = bench.case("sites apart")
    assert _asked(apart) == "several"
    assert _asked(kestrel()) == "one"
    assert words(apart)["sites"] == "two sites"


def test_a_plan_that_does_not_grow_has_no_stages() -> None:
    assert _asked(bench.case("example")) == "stays"
    assert not of(bench.case("example")) & {F.STAGES_OF_TWO, F.RECABLED, F.STOP_WASTES}


def test_stages_are_told_for_two_options_or_for_the_only_one() -> None:
    assert {F.COMPARED, F.STAGED, F.STAGES_OF_TWO} <= of(kestrel())
    found = of(kestrel(), decision=alone())
    assert F.STAGED in found
    assert not found & {F.STAGES_OF_TWO, F.COMPARED, F.DATE_ALIKE, F.DATE_APART}


@rows(("value", "said"), [(2e6, "saves"), (-2e6, "extra"), (0.0, "even")])
def test_the_money_is_told_by_its_sign(value: float, said: str) -> None:
    assert _reason(Altered(kestrel(), {"decision.difference": value})) == said  # type: ignore[arg-type]
    assert _reason(Altered(kestrel(), {}, alone())) == "alone"  # type: ignore[arg-type]


def test_a_saving_that_leaves_the_course_open_is_told_as_such() -> None:
    result = kestrel().decision()
    left = altered(result, verdict=replace(result.verdict, decided_by=Ground.NOTHING))
    assert left.verdict.open
    assert _reason(Altered(kestrel(), {"decision.difference": 1e6}, left)) == "open"  # type: ignore[arg-type]


def test_switches_ahead_of_need_are_told_with_the_cables_that_they_spare() -> None:
    choice = kestrel().decision().verdict.choice
    assert F.RECABLED in of(kestrel())
    assert F.RECABLED not in of(kestrel(), {f"tco.recabled.{choice}": 0.0})
    assert not of(kestrel(), {f"tco.stage.overbuilt.0.{choice}": 0.0}) & {F.AHEAD_LOST, F.RECABLED}


@rows("parts", [False, True])
def test_money_is_followed_against_other_reasons_where_money_decided(parts: bool) -> None:
    told = kestrel().spoken("decision")
    same = ("quote_turns", "halls_assumed", "later", "also_tied", "sign_stage_one", "settle_stage_one")
    kept = {name: getattr(told.findings, name) for name in same}
    dropped = ("generation_turns", "listing_turns", *ELSEWHERE)
    apart = replace(told, findings=SimpleNamespace(**kept, **dict.fromkeys(dropped, False)))  # type: ignore[arg-type]
    apart.findings.money_and_framework_part = parts  # type: ignore[attr-defined]
    case: Any = Altered(kestrel(), {})
    case.spoken = lambda section: apart if section == "decision" else kestrel().spoken(section)
    assert (F.FOLLOWS_MONEY in set(findings(case))) is parts
    close = altered(kestrel().decision(), verdict=replace(kestrel().decision().verdict, decided_by=Ground.WEIGHTS))
    case = Altered(kestrel(), {}, close)
    case.spoken = lambda section: apart if section == "decision" else kestrel().spoken(section)
    assert F.FOLLOWS_MONEY not in set(findings(case))


def test_measures_are_told_of_the_option_that_they_are_worked_out_for() -> None:
    assert F.LEVERS_HERE in of(kestrel())
    case: Any = Altered(kestrel(), {})
    case.tail = lambda: replace(kestrel().tail(), worked=kestrel().decision().verdict.runner_up)
    assert F.LEVERS_HERE not in set(findings(case))


def test_ordering_now_is_told_where_it_adds_to_the_cost() -> None:
    assert F.NOW_ADDS in of(kestrel())
    assert F.NOW_ADDS not in of(kestrel(), {"decision.courses.against.ahead": -1e6})


def test_stopping_is_told_as_a_waste_where_either_network_has_paid_for_growth() -> None:
    rival = kestrel().decision().verdict.runner_up
    assert F.STOP_WASTES in of(kestrel())
    assert F.STOP_WASTES_NOTHING in of(kestrel(), {f"decision.courses.wasted.0.{rival}": 0.0})


def test_nothing_changes_the_advice_where_nothing_is_worth_knowing() -> None:
    grower = kestrel()
    told, found = {F.CHANGES, F.FLIPS, F.NO_CHANGES}, grower.decision()
    assert told & of(grower, decision=altered(found, changes=("worth knowing",))) == {F.CHANGES}
    assert told & of(grower, decision=altered(found, changes=())) == {F.FLIPS}
    assert told & of(grower, decision=altered(found, changes=(), flips=())) == {F.NO_CHANGES}


def test_weeks_and_waiting_are_alike_or_apart_as_they_print() -> None:
    choice, rival = kestrel().decision().verdict.choice, kestrel().decision().verdict.runner_up
    weeks = kestrel().figure(f"tail_risk.weeks.{rival}").value
    assert F.DATE_ALIKE in of(kestrel(), {f"tail_risk.weeks.{choice}": weeks})
    assert F.DATE_APART in of(kestrel(), {f"tail_risk.weeks.{choice}": weeks + 3})
    waits = {kestrel().figure(f"latency.part.exposed.{o}").text for o in (choice, rival)}
    assert (F.STEP_ALIKE if len(waits) == 1 else F.STEP_APART) in of(kestrel())


def test_the_kind_of_network_stays_open_only_at_a_site_not_yet_begun() -> None:
    assert {F.SITE_OPEN, F.SITES_BEGUN} & of(bench.case("sites apart")) == {F.SITE_OPEN}
    assert {F.SITE_OPEN, F.SITES_BEGUN} & of(kestrel()) == {F.SITES_BEGUN}


def test_a_client_reads_the_first_cautions_that_hold() -> None:
    assert cares(kestrel()) == (F.CARE_UNPRICED, F.CARE_LINKS, F.CARE_LATER)

    def with_all(section: str) -> Any:
        found = {"quote_turns": True} | dict.fromkeys(("halls_assumed", "later", "beyond_mixture"), False)
        return SimpleNamespace(findings=SimpleNamespace(**found, generation_turns=True, listing_turns=True))

    case: Any = SimpleNamespace(spoken=with_all)
    assert cares(case) == (F.CARE_UNPRICED, F.CARE_GENERATION, F.CARE_LISTING)
    assert len(cares(case)) == MOST_CARES


def test_the_maker_of_later_stages_stays_open_where_there_are_several() -> None:
    assert words(kestrel())["leave_later"] == "leave the maker of every later stage open"
    result = kestrel().decision()
    turned = altered(result, verdict=replace(result.verdict, choice=result.verdict.runner_up))
    assert words(Altered(kestrel(), {}, turned))["leave_later"] == "commit to no later stage"  # type: ignore[arg-type]


def test_cables_are_laid_out_for_a_site_that_is_begun_or_for_the_whole_of_one_network() -> None:
    two, one = words(bench.case("sites apart")), words(kestrel())
    assert two["Lay_out"] == "Lay the cables of the first site out for its"
    assert two["full_size"] == "the full size of the first site"
    assert one["Lay_out"] == "Lay the cables out for" and one["full_size"] == "full size"
    for told, figure in ((two, "latency.site_gpus"), (one, "decision.final_gpus")):
        laid = told["Lay_out"]
        assert isinstance(laid, Named) and getattr(laid.said["gpus"], "id", "") == figure
    begun: Any = Altered(kestrel(), {})
    halls = SimpleNamespace(networks=lambda gpus: (1, 1, 1) if gpus > 512 else (1, 1), gpus=512, final_gpus=8192)
    begun.inputs = SimpleNamespace(params=SimpleNamespace(cluster=halls))
    assert _lay_out(begun) == "Lay the cables of each site out for its"


def test_what_later_stages_hold_is_told_as_lost_where_the_first_stage_alone_is_signed_for() -> None:
    choice = kestrel().decision().verdict.choice
    assert F.AHEAD_LOST in of(kestrel())
    assert F.AHEAD_LOST not in of(kestrel(), {f"decision.courses.wasted.0.{choice}": 0.0})
    told = kestrel().spoken("decision")
    other: Any = Altered(kestrel(), {})
    names = (
        "sign_stage_one",
        "settle_stage_one",
        "also_tied",
        "quote_turns",
        "halls_assumed",
        "later",
        "generation_turns",
    )
    bare = SimpleNamespace(**dict.fromkeys((*names, "listing_turns", "money_and_framework_part", *ELSEWHERE), False))
    other.spoken = lambda section: replace(told, findings=bare) if section == "decision" else kestrel().spoken(section)
    assert F.AHEAD_LOST not in set(findings(other))


def test_words_are_few_and_of_this_case() -> None:
    told = words(kestrel())
    for word, most in (("our_causes", 1),):
        things = told[word]
        assert isinstance(things, tuple) and 0 < len(things) <= most, word


# ---- tables


def test_every_stage_is_a_row_with_both_networks_and_the_last_row_is_the_whole() -> None:
    table, tco = tables.stages(kestrel().tco()), kestrel().tco()
    assert [row.role for row in table.rows] == ["normal"] * 4 + ["total"]
    bills = kestrel().chain.bills
    for column, option in ((3, tco.choice), (5, tco.rival)):
        costs = [row.cells[column] for row in table.rows]
        assert all(isinstance(cost, Number) for cost in costs)
        *each, whole = [cost.value for cost in costs if isinstance(cost, Number)]
        assert sum(each) == pytest.approx(whole, rel=1e-6), option
        first = by_cause(purchases(bills.built[option], bills.own[option], bills.common)[0].capex_usd)
        fabric = sum(mean_of(first[cause]) for cause in FABRIC_CAUSES if cause in first)
        assert each[0] == pytest.approx(fabric, rel=1e-6)


def test_one_network_alone_is_told_once() -> None:
    one: Any = SimpleNamespace(**{name: getattr(kestrel().tco(), name) for name in ("ownership", "numbers", "choice")})
    one.rival = one.choice
    assert len(tables.stages(one).columns) == 4
    assert len(tables.stages(kestrel().tco()).columns) == 7


@rows(
    ("sites", "closed"),
    [
        ([1, 1, 1, 2], ["first site", "–", "–", "next site"]),
        ([1, 1], ["all stages", "–"]),
        ([0, 0], ["all stages", "–"]),
        ([2, 2, 3], ["first sites", "–", "next site"]),
    ],
)
def test_a_stage_closes_off_another_network_where_it_begins_a_site(sites: list[int], closed: list[str]) -> None:
    assert tables.closes_off(sites) == closed


def test_what_is_paid_where_all_stages_come_is_marked_as_the_cash_that_it_is() -> None:
    later = [{"month": 9, "gpus": 1024}, {"month": 22, "gpus": 2048}]
    keys = {
        "cluster__gpus": 512,
        "cluster__gpu": "h200",
        "cluster__trajectory": later,
        "money__acquisition": "colocate",
    }
    case = bench.changed("example", **keys)
    growing = case.decision().courses.growing
    assert growing
    last = len(growing.stops) - 1
    for option in growing.left:
        paid, cash = (case.figure(f"{name}.{option}") for name in (f"decision.courses.paid.{last}", "tco.cash"))
        assert paid.value == pytest.approx(cash.value) and paid.stale == cash.stale


@rows("both", [False, True])
def test_every_size_of_a_network_has_values_to_pass(both: bool) -> None:
    tests = kestrel().diligence()
    if both:
        tests = replace(tests, plan_of_rival=replace(tests.plan, option=kestrel().decision().verdict.runner_up))
    table = tables.acceptance(kestrel().inputs, tests)
    shown = {"allreduce": None, tests.terms.exchange.measures: None, "alltoall": False}
    first = {test.measures: test for test in reversed(tests.plan.tests) if test.unit == "gbytes/s"}
    titles = {
        first[name].title for name, unless in shown.items() if unless is None or first[name].by_step is not unless
    }
    exchanges = [str(row.cells[1 if both else 0]) for row in table.rows]
    assert sorted(exchanges) == sorted([*titles] * (2 if both else 1))
    sizes = [column.label for column in table.columns if isinstance(column.label, Name)]
    assert sizes == [f"{gpus:,} GPUs" for gpus in dict.fromkeys(test.gpus for test in tests.plan.tests)]
    assert isinstance(table.rows[0].cells[-1], Number)
