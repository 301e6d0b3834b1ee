"""When each action before signing applies, and what it is worth: one condition after the other."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import bench
import numpy as np
import pytest
import yaml
from answer_cases import answered
from monday_cases import CLIENTS, facts, listed, of
from rows import rows

from fabricreport.base.provenance import inputs_of, mean_of, plain
from fabricreport.base.vocabulary import CourseKind
from fabricreport.books.names import item_names
from fabricreport.books.quotes import items_of
from fabricreport.case import open_case
from fabricreport.models.information import Estimate
from fabricreport.sections.decision.actions import CONDITIONS, NEVER_LEFT_OUT, Due, Facts, Kind, most
from fabricreport.sections.decision.steps import SERVERS, applying, shortened
from fabricreport.sections.decision.turning import label_of

pytestmark = pytest.mark.slow


def test_a_builder_asks_for_quotes_above_all_of_what_has_no_price_or_an_old_one() -> None:
    at = facts(of("landlord"))
    quote = CONDITIONS[Kind.QUOTE](at)
    assert quote is not None
    turning = [label_of(at.given, u.stands_in) for u in at.result.unquoted if u.turned_by][:3]
    assert quote.things == (*turning, *(item_names(i).row for i in at.result.stale))
    idle = tuple(replace(u, level=None) for u in at.result.unquoted)
    left = CONDITIONS[Kind.QUOTE](facts(of("landlord"), unquoted=idle, stale={}))
    assert left is not None and len(left.things) == 1 and not set(left.things) & set(quote.things)
    assert CONDITIONS[Kind.QUOTE](facts(of("renter"))) is None


def test_quotes_ask_for_no_part_that_no_network_asked_for_has() -> None:
    for at in (facts(of(name)) for name in CLIENTS):
        parts = {item for o in at.asked for item in items_of(at.given.all_options[o])}
        others = {label_of(at.given, u.stands_in) for u in at.result.unquoted if u.item not in parts}
        quote = CONDITIONS[Kind.QUOTE](at)
        assert quote is None or not others & set(quote.things)


def test_a_quote_of_an_item_is_asked_for_once() -> None:
    for name in CLIENTS:
        found = {one.kind: set(one.things) for one in applying(facts(of(name)))}
        assert not found.get(Kind.QUOTE, set()) & found.get(Kind.STALE, set()), name


@rows(
    ("worth", "error", "left"),
    [(9.0e5, 1.0e3, True), (1.0e3, 9.0e5, False), (1.0, 1.0e-3, False)],  # within the noise; less than asking costs
)
def test_quotes_are_worth_what_they_show_less_what_asking_costs(worth: float, error: float, left: bool) -> None:
    at = facts(of("example"))
    known = at.result.information
    assert known is not None and not at.asks_first
    asked = known.tried("quotes")
    assert asked is not None
    told = replace(known, tests=(replace(asked, estimate=Estimate(worth, error)),))
    quote = CONDITIONS[Kind.QUOTE](facts(of("example"), information=told))
    assert quote is not None and quote.worth is not None and quote.pays == left
    if left:
        assert quote.worth.usd == pytest.approx(worth - float(plain(asked.cost).mean()))
        assert quote.worth.rests_on >= known.rests_on


def test_weeks_that_turn_nothing_need_no_damages() -> None:
    case = of("example")
    turns, unpriced = case.decision().turns, replace(case.decision().courses, clauses={})
    assert CONDITIONS[Kind.WEEKS](facts(case, courses=unpriced)) is not None
    still = replace(turns, drawn=tuple(replace(t, level=None, edges=()) for t in turns.drawn))
    assert CONDITIONS[Kind.WEEKS](facts(case, courses=unpriced, turns=still)) is None


def test_weeks_are_promised_once_on_the_terms_that_are_priced() -> None:
    case = of("example")
    courses = case.decision().courses
    clause = CONDITIONS[Kind.CLAUSE](facts(case))
    assert clause is not None and clause.worth is not None and clause.key == courses.base
    assert clause.worth.usd == pytest.approx(float(plain(courses.clauses[courses.base].paid).mean()))
    assert CONDITIONS[Kind.WEEKS](facts(case)) is None
    assert CONDITIONS[Kind.CLAUSE](facts(of("renter"))) is None


def test_of_two_that_may_be_ordered_a_promise_pays_as_often_as_each_is_the_cheaper() -> None:
    at = facts(of("landlord"))
    own = at.tests.terms
    assert own is not None
    other = replace(own, worth={p: v * 3 for p, v in own.worth.items()})
    even = replace(at.result.verdict, probability=0.5)
    both = facts(of("landlord"), verdict=even)
    both = replace(both, tests=replace(both.tests, terms_of_rival=other))
    alone = replace(both, tests=replace(both.tests, terms_of_rival=None))
    found, one = (CONDITIONS[Kind.ACCEPTANCE](a) for a in (both, alone))
    assert found is not None and one is not None and found.worth and one.worth
    assert found.worth.usd == pytest.approx(2 * one.worth.usd)


def test_a_course_that_is_advised_is_what_there_is_to_do() -> None:
    case = of("example")
    courses = case.decision().courses

    def with_(kind: CourseKind, **more: Any) -> Facts:
        return facts(case, courses=replace(courses, advised=replace(courses.advised, kind=kind), **more))

    for kind, course in ((Kind.RENT_FIRST, CourseKind.RENT_FIRST), (Kind.PILOT, CourseKind.PILOT)):
        assert CONDITIONS[kind](facts(case)) is None
        assert CONDITIONS[kind](with_(course)) is not None
    dear = CONDITIONS[Kind.RENT_FIRST](with_(CourseKind.RENT_FIRST))
    assert dear is not None and dear.worth is not None and not dear.pays, "it costs more, and no date is met by it"
    pressed = of("pressed")
    found = CONDITIONS[Kind.RENT_FIRST](facts(pressed))
    assert found is not None and found.worth is not None
    row = pressed.decision().courses.row(CourseKind.RENT_FIRST)
    assert row is not None and mean_of(row.against) < 0
    assert mean_of(found.worth.usd) == pytest.approx(-mean_of(row.against)), (
        "as page one and the table of courses have it"
    )
    grown = of("grower").decision().courses
    ahead = replace(grown, advised=replace(grown.advised, kind=CourseKind.AHEAD))
    assert CONDITIONS[Kind.REPRICE](facts(of("grower"), courses=ahead)) is None


def test_a_renter_asks_the_sellers_of_page_one() -> None:
    case = of("renter")
    offers, rents = case.decision().offers, CONDITIONS[Kind.RENTS](facts(case))
    assert offers is not None and rents is not None
    assert rents.things == tuple(offers.judged[o].offer.seller for o in offers.asked)
    drawn = CONDITIONS[Kind.TOPOLOGY](facts(case))
    assert drawn is not None and set(drawn.things) < set(rents.things)


def test_jobs_within_a_node_are_tried_where_they_cost_about_as_little() -> None:
    case = of("renter")
    courses = case.decision().courses
    assert CONDITIONS[Kind.TRIAL](facts(case)) is not None
    for change in ({"ranked": False}, {"against": np.array(1e9)}):
        rows = tuple(replace(r, **change) if r.kind == CourseKind.SINGLE_NODE else r for r in courses.rows)  # type: ignore[arg-type]
        assert CONDITIONS[Kind.TRIAL](facts(case, courses=replace(courses, rows=rows))) is None


def test_quotes_are_asked_of_every_network_that_is_not_told_apart_and_pay_for_the_wait() -> None:
    at = facts(of("landlord"))
    first = replace(at.result.courses, advised=replace(at.result.courses.advised, kind=CourseKind.OFFERS))
    known, offers = at.result.information, at.result.courses.offers
    assert known is not None and offers is not None
    asked = known.tried("quotes")
    assert asked is not None
    told = replace(known, tests=(replace(asked, estimate=Estimate(9.0e6, 1.0)),))
    both = facts(of("landlord"), courses=first, information=told)
    quote = CONDITIONS[Kind.QUOTE](both)
    assert quote is not None and quote.worth is not None and set(quote.networks) >= {both.names[o] for o in both.pair}
    spent = float(plain(asked.cost).mean()) + float(plain(offers.waiting).mean())
    assert quote.worth.usd == pytest.approx(9.0e6 - spent)
    kin = facts(of("grower"))
    found = CONDITIONS[Kind.QUOTE](kin)
    assert found is not None and len(found.networks) == len(kin.asked) > 1
    one = CONDITIONS[Kind.QUOTE](facts(of("example")))
    assert one is not None and not one.networks


def test_unequal_generations_are_quoted_alike_unless_the_servers_cannot_carry_the_links() -> None:
    at = facts(of("unlike generations"))
    found, pair = CONDITIONS[Kind.GENERATION](at), at.result.mismatch.alike  # type: ignore[union-attr]
    assert found is not None and found.worth is None and pair is not None
    apart = [at.given.all_options[o].name for o in (pair.choice, pair.rival) if o not in at.pair]
    assert list(found.things) == apart
    assert CONDITIONS[Kind.GENERATION](facts(of("unlike generations"), mismatch=None)) is None
    slower = facts(of("example"))
    assert slower.result.mismatch is not None and CONDITIONS[Kind.GENERATION](slower) is None


def test_nobody_tunes_where_skill_is_lacking_and_the_fabric_takes_it() -> None:
    assert CONDITIONS[Kind.TUNER](facts(of("nobody tunes"))) is not None
    assert CONDITIONS[Kind.TUNER](facts(of("grower"))) is None  # strong skill
    assert CONDITIONS[Kind.TUNER](facts(of("renter"))) is None  # the provider tunes
    own = facts(bench.changed("example", organisation__qos_expertise="none", money__manager_licence="charged"))
    skill = {o.id: o.behaviour.skill for o in own.given.options}
    assert not skill[own.result.verdict.choice] and CONDITIONS[Kind.TUNER](own) is None  # what is bought takes none


def test_who_names_the_tuner_is_not_asked_the_same_again() -> None:
    found = applying(facts(of("nobody tunes")))
    settled = [q for one in found for q in one.settles]
    tuner = next(one for one in found if one.kind == Kind.TUNER)
    assert len(settled) == len(set(settled)) and set(tuner.settles) <= set(settled)
    saved, cost = (of("nobody tunes").figure(f"tail_risk.lever.{tuner.key}.{part}").value for part in ("saved", "cost"))
    assert tuner.worth is not None and tuner.worth.usd == pytest.approx(saved - cost, rel=0.02)


@pytest.mark.usefixtures("few_draws")
def test_an_answered_question_is_not_asked_again(tmp_path: Path) -> None:
    pair = ["infiniband-ndr", "rocev2-branded-400g"]
    close = {
        "organisation__qos_expertise": "none",
        "options": pair,
    }  # two fabrics too close to tell: knowing more is worth something
    before = bench.changed("example", **close, providers=[])
    after = answered(
        tmp_path, {"question": "Q-OPS-09", "answer": "Example Works runs the same; ask its engineers."}
    ).changed(**close)
    given = {q for file in after.inputs.answer_files for q in file.answers}
    asks = [{one.due.key for one in listed(case).todos if one.action.kind == Kind.ANSWERS} for case in (before, after)]
    assert asks[0] and asks[0] <= given and not asks[1] & given


def test_stale_prices_that_no_quote_of_the_parts_list_renews_are_asked_for_apart() -> None:
    stale = of("example").decision().stale
    assert stale and not any(item.startswith("fx-") for item in stale)
    assert CONDITIONS[Kind.STALE](facts(of("example"))) is None  # three quotes renew them
    found = CONDITIONS[Kind.STALE](facts(of("out of date")))
    assert found is not None and found.key in of("out of date").decision().stale
    assert CONDITIONS[Kind.STALE](facts(of("out of date"), stale={})) is None


def test_a_stale_price_moves_the_total_as_the_model_has_it() -> None:
    case = of("example")
    item, moved = next(iter(case.decision().stale.items()))
    ends = [float(q) for q in np.quantile(plain(case.inputs.own(f"price:{item}")), [0.05, 0.95])]
    totals = [
        float(plain(case.changed(prices={item: end}).chain.bills.totals[case.comparison.choice]).mean()) for end in ends
    ]
    assert totals[1] - totals[0] == pytest.approx(moved, rel=0.01)


def test_later_stages_are_capped_where_there_are_any() -> None:
    assert CONDITIONS[Kind.REPRICE](facts(of("grower"))) == Due(Kind.REPRICE, key=of("grower").comparison.choice)
    assert CONDITIONS[Kind.REPRICE](facts(of("example"))) is None


def test_sites_gpus_and_experts_are_asked_about_where_there_is_something_to_ask() -> None:
    assert CONDITIONS[Kind.HALLS](facts(of("grower"))) == Due(Kind.HALLS, None)
    assert CONDITIONS[Kind.HALLS](facts(of("example"))) is None
    newer = CONDITIONS[Kind.NEWER_GPU](facts(of("example")))
    assert newer is not None and newer.worth is None and CONDITIONS[Kind.NEWER_GPU](facts(of("grower"))) is None
    pressed = facts(of("pressed"))
    experts = CONDITIONS[Kind.EXPERTS](pressed)
    assert experts is not None and experts.worth is not None, (
        "weeks that a price of delay hangs on are worth a judgement"
    )
    assert CONDITIONS[Kind.EXPERTS](facts(of("grower"), information=None)) is None
    asked = of("grower").changed(elicited=("elicited/example-answers.yaml",)).inputs
    assert asked.elicited and CONDITIONS[Kind.EXPERTS](replace(pressed, given=asked)) is None


def test_the_day_of_delivery_is_put_to_the_seller_by_who_has_a_date_and_by_who_has_none() -> None:
    data = yaml.safe_load((bench.PARAMS / "example.yaml").read_text(encoding="utf-8"))
    del data["schedule"]
    undated = open_case({**data, "as_of": str(data["as_of"])}).inputs
    stated = facts(of("example"))
    assert stated.given.params.dated and not undated.params.dated
    for at in (stated, replace(stated, given=undated)):
        assert CONDITIONS[Kind.DELIVERY](at) is not None


def test_every_kind_is_reached_by_some_client() -> None:
    reached: set[Kind] = set()
    for name in CLIENTS:
        reached |= {one.kind for one in applying(facts(of(name)))}
    left = {Kind.PILOT, Kind.OWN, Kind.RECORD}
    assert set(Kind) - reached <= left, "of a result made for it alone, in the tests beside"


@rows(
    ("input_id", "kind"),
    [
        ("price:switch-qm9700", Kind.QUOTE),
        ("evidence:weeks-to-stable-rocev2", Kind.CLAUSE),
        ("evidence:lead-weeks-equipment", Kind.DELIVERY),
        ("evidence:network-architect-pay", Kind.OWN),
        ("evidence:overlap-data-parallel", Kind.OWN),
        ("evidence:tuned-roce-bandwidth-share", Kind.RECORD),
        ("evidence:shared-stall-share-rocev2", Kind.RECORD),
    ],
)
def test_what_would_change_the_advice_has_a_step_that_settles_it(input_id: str, kind: Kind) -> None:
    case = of("pressed")
    (change, *_) = case.decision().changes
    changed = replace(change, turn=replace(change.turn, input_id=input_id))
    monday = listed(case, changes=(changed,))
    (step,) = [one for one in monday.todos if one.mark == monday.settles[input_id]]
    assert step.action.kind == kind and (step.due.things or kind not in (Kind.OWN, Kind.RECORD))


def test_a_list_that_is_too_long_loses_what_nothing_points_to() -> None:
    found = [Due(kind, None) for kind in Kind]
    kept = {one.kind for one in shortened(found)}
    assert kept >= {*NEVER_LEFT_OUT} and len(kept) == max(most(), len(NEVER_LEFT_OUT))


def test_who_buys_no_network_renews_no_price_of_one() -> None:
    within = bench.changed("example", cluster__gpus=64, workload__kind="inference-multi-node", schedule={})
    assert within.decision().courses.advised.kind == CourseKind.SINGLE_NODE
    stale = CONDITIONS[Kind.STALE](facts(within))
    single = within.decision().courses.single.total
    renewed = {i for i in within.decision().stale if f"price:{i}" in inputs_of(single)}
    assert renewed < set(within.decision().stale), "prices of networks are out of date too"
    assert set(stale.things if stale else ()) <= {item_names(i).row for i in renewed}
    quotes = [one for one in listed(within).todos if one.action.kind == Kind.QUOTE]
    assert [one.due.things for one in quotes] == [(SERVERS,)]
