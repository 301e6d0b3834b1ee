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

from fabricreport.books.names import item_names
from fabricreport.case import open_case
from fabricreport.models.information import Estimate
from fabricreport.provenance import plain
from fabricreport.sections.decision.monday.conditions import CONDITIONS, Due, Facts
from fabricreport.sections.decision.monday.kinds import Kind
from fabricreport.sections.decision.monday.study import applying
from fabricreport.sections.decision.turning import label_of
from fabricreport.vocabulary import CourseKind

pytestmark = pytest.mark.slow


def test_a_builder_asks_for_quotes_above_all_of_what_has_no_price_or_an_old_one() -> None:
    at = facts(of("landlord"))
    quote = CONDITIONS[Kind.QUOTE](at)
    assert quote is not None
    turning = [label_of(at.given, u.stands_in) for u in at.result.unquoted if u.turned_by][:3]
    assert quote.things == (*turning, *(item_names(i).row for i in at.result.monday.stale))
    idle = tuple(replace(u, level=None) for u in at.result.unquoted)
    fresh = replace(at.result.monday, stale={})
    left = CONDITIONS[Kind.QUOTE](facts(of("landlord"), unquoted=idle, monday=fresh))
    assert left is not None and len(left.things) == 1 and not set(left.things) & set(quote.things)
    assert CONDITIONS[Kind.QUOTE](facts(of("renter"))) is None


def test_a_quote_of_an_item_is_asked_for_once() -> None:
    for name in CLIENTS:
        found = {one.kind: set(one.things) for one in applying(facts(of(name)))}
        assert not found.get(Kind.QUOTE, set()) & found.get(Kind.STALE, set()), name


@rows(
    ("saves", "informs", "worth", "choice"),
    [
        (9.0e6, Estimate(2.0e5, 1.0e3), 9.0e6, False),
        (1.0e5, Estimate(2.0e5, 1.0e3), 2.0e5, True),
        (None, Estimate(2.0e5, 1.0e3), 2.0e5, True),
        (None, Estimate(2.0e5, 1.9e5), None, False),  # within the noise
    ],
)
def test_worth_is_of_a_price_or_of_a_choice_as_the_question_is(
    saves: float | None, informs: Estimate, worth: float | None, choice: bool
) -> None:
    at = facts(of("landlord"))
    put = tuple(
        replace(q, saves=saves, informs=informs) if q.question.id == "Q-COM-03" else q for q in at.tests.questions
    )
    quote = CONDITIONS[Kind.QUOTE](replace(at, tests=replace(at.tests, questions=put)))
    assert quote is not None and (quote.worth, quote.choice) == (worth, choice)


def test_weeks_that_turn_nothing_need_no_damages() -> None:
    case = of("example")
    turns, unpriced = case.decision().turns, replace(case.decision().courses, clauses={})
    assert CONDITIONS[Kind.WEEKS](facts(case, courses=unpriced)) is not None
    still = replace(turns, drawn=tuple(replace(t, break_even=None, edge=None) for t in turns.drawn))
    assert CONDITIONS[Kind.WEEKS](facts(case, courses=unpriced, turns=still)) is None


def test_weeks_are_promised_once_on_the_terms_that_are_priced() -> None:
    case = of("example")
    courses = case.decision().courses
    clause = CONDITIONS[Kind.CLAUSE](facts(case))
    assert clause is not None and clause.key == courses.base
    assert clause.worth == pytest.approx(float(plain(courses.clauses[courses.base].paid).mean()))
    assert CONDITIONS[Kind.WEEKS](facts(case)) is None
    assert CONDITIONS[Kind.CLAUSE](facts(of("renter"))) is None


def test_a_course_that_is_advised_is_what_there_is_to_do() -> None:
    case = of("example")
    courses = case.decision().courses

    def with_(kind: CourseKind, **more: Any) -> Facts:
        return facts(case, courses=replace(courses, advised=replace(courses.advised, kind=kind), **more))

    for kind, course in ((Kind.RENT_FIRST, CourseKind.RENT_FIRST), (Kind.PILOT, CourseKind.PILOT)):
        assert CONDITIONS[kind](facts(case)) is None
        assert CONDITIONS[kind](with_(course)) is not None
    assert CONDITIONS[Kind.BOTH](facts(case)) is None and CONDITIONS[Kind.BOTH](with_(CourseKind.OFFERS)) is not None
    dear = CONDITIONS[Kind.RENT_FIRST](with_(CourseKind.RENT_FIRST))
    assert dear is not None and dear.choice
    pressed = of("pressed")
    found = CONDITIONS[Kind.RENT_FIRST](facts(pressed))
    assert found is not None and not found.choice and found.worth is not None
    meeting = pressed.decision().courses.meeting
    assert meeting is not None and found.worth == pytest.approx(float(plain(meeting.late).mean()))
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


def test_an_open_verdict_asks_for_offers_on_both() -> None:
    at = facts(of("landlord"))
    both = CONDITIONS[Kind.BOTH](at)
    known = at.result.information
    assert at.result.verdict.open and both is not None and known is not None and len(both.things) == 2
    quotes = known.tried("quotes")
    assert quotes is not None
    for worth, error, worth_told in ((3.0e5, 1.0, 3.0e5), (1.0, 1.0e5, None)):
        asked = replace(quotes, estimate=Estimate(worth, error))
        held = CONDITIONS[Kind.BOTH](facts(of("landlord"), information=replace(known, tests=(asked,))))
        assert held is not None and held.worth == worth_told, "what quotes settle, not what knowing everything would"
    assert CONDITIONS[Kind.BOTH](facts(of("renter"))) is None and CONDITIONS[Kind.BOTH](facts(of("example"))) is None


def test_a_near_kin_is_asked_for_too() -> None:
    found = CONDITIONS[Kind.KIN](facts(of("grower")))
    assert found is not None and found.key == of("grower").decision().kin
    assert CONDITIONS[Kind.KIN](facts(of("grower"), kin="")) is None


def test_unequal_generations_are_quoted_alike_unless_the_servers_cannot_carry_the_links() -> None:
    at = facts(of("unlike generations"))
    found, pair = CONDITIONS[Kind.GENERATION](at), at.result.mismatch.alike  # type: ignore[union-attr]
    assert found is not None and found.worth and pair is not None
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
    saved = of("nobody tunes").figure(f"tail_risk.lever.{tuner.key}.saved").value
    assert tuner.worth == pytest.approx(saved, rel=0.01)


@pytest.mark.usefixtures("few_draws")
def test_an_answered_question_is_not_asked_again(tmp_path: Path) -> None:
    close = {"organisation__qos_expertise": "none"}  # two fabrics too close to tell: knowing more is worth something
    before = bench.changed("example", **close, providers=[])
    after = answered(
        tmp_path, {"question": "Q-OPS-09", "answer": "Example Works runs the same; ask its engineers."}
    ).changed(**close)
    given = {q for file in after.inputs.answer_files for q in file.answers}
    asks = [{one.due.key for one in listed(case).todos if one.action.kind == Kind.ANSWERS} for case in (before, after)]
    assert asks[0] and asks[0] <= given and not asks[1] & given


def test_stale_prices_that_no_quote_of_the_parts_list_renews_are_asked_for_apart() -> None:
    at_stake = of("example").decision().monday
    assert at_stake.stale and not any(item.startswith("fx-") for item in at_stake.stale)
    assert CONDITIONS[Kind.STALE](facts(of("example"))) is None  # three quotes renew them
    found = CONDITIONS[Kind.STALE](facts(of("out of date")))
    assert found is not None and found.worth == of("out of date").decision().monday.stale[found.key]
    assert CONDITIONS[Kind.STALE](facts(of("out of date"), monday=replace(at_stake, stale={}))) is None


def test_a_stale_price_moves_the_total_as_the_model_has_it() -> None:
    case = of("example")
    item, moved = next(iter(case.decision().monday.stale.items()))
    ends = [float(q) for q in np.quantile(plain(case.inputs.own(f"price:{item}")), [0.05, 0.95])]
    totals = [
        float(plain(case.changed(prices={item: end}).chain.bills.totals[case.comparison.choice]).mean()) for end in ends
    ]
    assert totals[1] - totals[0] == pytest.approx(moved, rel=0.01)


def test_later_stages_are_what_is_bought_after_the_first() -> None:
    found = CONDITIONS[Kind.REPRICE](facts(of("grower")))
    assert found is not None and found.worth and found.worth > 0
    assert of("grower").figure(f"decision.courses.left.{found.key}").value == pytest.approx(found.worth, rel=0.01)
    assert CONDITIONS[Kind.REPRICE](facts(of("example"))) is None


def test_sites_gpus_and_experts_are_asked_about_where_there_is_something_to_ask() -> None:
    assert CONDITIONS[Kind.HALLS](facts(of("grower"))) == Due(Kind.HALLS, None)
    assert CONDITIONS[Kind.HALLS](facts(of("example"))) is None
    newer = CONDITIONS[Kind.NEWER_GPU](facts(of("example")))
    assert newer is not None and newer.worth is None and CONDITIONS[Kind.NEWER_GPU](facts(of("grower"))) is None
    found = of("grower").decision().information
    assert found is not None
    told = tuple(
        replace(w, estimate=Estimate(5.0e5, 1.0) if w.group.id == "weeks" else Estimate(0.0, 1.0)) for w in found.groups
    )
    experts = CONDITIONS[Kind.EXPERTS](facts(of("grower"), information=replace(found, groups=told)))
    assert experts is not None and (experts.worth, experts.key) == (5.0e5, "weeks")
    assert CONDITIONS[Kind.EXPERTS](facts(of("grower"), information=replace(found, groups=()))) is None
    assert CONDITIONS[Kind.EXPERTS](facts(of("grower"), information=None)) is None
    asked = of("grower").changed(elicited=("elicited/example-answers.yaml",)).inputs
    told_already = replace(facts(of("grower"), information=replace(found, groups=told)), given=asked)
    assert asked.elicited and CONDITIONS[Kind.EXPERTS](told_already) is None


def test_a_date_of_the_client_s_own_is_put_to_the_seller() -> None:
    data = yaml.safe_load((bench.PARAMS / "example.yaml").read_text(encoding="utf-8"))
    del data["schedule"]
    undated = open_case({**data, "as_of": str(data["as_of"])}).inputs
    stated = facts(of("example"))
    assert CONDITIONS[Kind.DELIVERY](stated) is not None
    assert CONDITIONS[Kind.DELIVERY](replace(stated, given=undated)) is None


def test_every_kind_is_reached_by_some_client() -> None:
    reached: set[Kind] = set()
    for name in CLIENTS:
        reached |= {one.kind for one in applying(facts(of(name)))}
    assert set(Kind) - reached <= {Kind.PILOT}, "of a result made for it alone, in the tests above"
