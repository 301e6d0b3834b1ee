"""What diligence says of itself: each finding true of one client and false of another, the words the same for all."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import bench
import pytest
from notebook_cells import run, sources
from rows import rows

from fabricreport.case import Case, open_case
from fabricreport.findings import Named, Spoken
from fabricreport.ledger import Number
from fabricreport.models.audit.diligence import Stake
from fabricreport.models.information import Estimate
from fabricreport.sections.diligence.findings import DiligenceFinding as F
from fabricreport.sections.diligence.findings import spoken
from fabricreport.sections.diligence.plan.words import plan_words
from fabricreport.sections.diligence.result import DiligenceResult
from fabricreport.vocabulary import Ground

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("few_draws")]

OPENINGS = {f for f in F if f.name.startswith("OPENS_")} | {F.ONE_NODE}
STANDS = {f for f in F if f.name.startswith("STANDS_")}
GROUPS = (
    OPENINGS,
    STANDS,
    {F.TESTED_ONCE, F.TESTED_AGAIN},
    {F.MANY_NODES, F.TWO_NODES},
    {F.FLATTERS, F.FLATTERS_NOT, F.TWO_NODES},
    {F.LEAD_BELOW_HAGGLING, F.PASS_LOSES_LEAD, F.PASS_KEEPS_LEAD},
    {F.PLAN_HELD, F.PLAN_CREDIT_ONLY, F.PLAN_NO_LEAD},
    {F.PLAN_ABOVE_USE, F.PLAN_BELOW_USE},
    {F.PLAN_CREDIT, F.PLAN_FREE},
    {F.PLAN_TENANTS, F.PLAN_ALONE},
    {F.ONE_SELLER, F.RENTED_FROM_MANY, F.HOSTED_BY_MANY},
    {F.KIND_SOLD, F.KIND_SOLD_BY_ALL, F.KIND_UNSOLD},
    {F.LIST_CUT, F.LIST_OPEN, F.LIST_STATED},
    {F.SELLERS_IN_BODY, F.SELLERS_IN_ANNEX},
    {F.PRICED, F.UNPRICED},
    {F.WIDEST_TURNS, F.OTHERS_TURN, F.WIDEST_STAYS},
    {F.FIRST_BY_CHOICE, F.FIRST_BY_PRICE, F.NONE_WORTH},
)


@pytest.fixture(scope="module")
def buyer() -> Case:
    return bench.case("example")


@pytest.fixture(scope="module")
def renter() -> Case:
    return bench.case("tern-finetuning")


@pytest.fixture(scope="module")
def answered_params(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("params")
    (folder / "providers").mkdir()
    shutil.copy(bench.PARAMS / "providers" / "example-answers.yaml", folder / "providers")
    text = (bench.PARAMS / "example.yaml").read_text("utf-8")
    named = "  - {name: Example Cloud, answers: providers/example-answers.yaml}\n"
    (folder / "client.yaml").write_text(text.replace("  - {name: CoreWeave}\n", named), encoding="utf-8")
    return folder / "client.yaml"


@pytest.fixture(scope="module")
def answered(answered_params: Path) -> Case:
    return open_case(answered_params)


def alone() -> Case:
    """The renter with one node."""
    return bench.case("one node rented")


def told(case: Case, **made: Any) -> Spoken:
    """What diligence says of a case whose result is changed in some fields."""
    found = spoken(case.inputs, replace(case.diligence(), **made))
    for group in GROUPS:
        assert sum(f in found.findings for f in group) <= 1, group
    assert sum(f in found.findings for f in OPENINGS) == 1
    return found


def holds(case: Case, **made: Any) -> set[F]:
    found = told(case, **made).findings
    return {f for f in F if f in found}


def led(result: DiligenceResult, lead: float, decided_by: Ground = Ground.MONEY, **verdict: Any) -> dict[str, Any]:
    """A result with another lead: as printed, and as the verdict on it."""
    number = Number("diligence.lead", lead, "usd", "Lead", "made up")
    changed = replace(result.verdict, decided_by=decided_by, lead=lead, **verdict)
    return {"verdict": changed, "numbers": {**result.numbers, "diligence.lead": number}}


def test_every_client_has_the_same_words(buyer: Case, renter: Case, answered: Case) -> None:
    words = [set(told(case).words) for case in (buyer, renter, answered, alone())]
    assert words[0] and all(w == words[0] for w in words)


def test_the_section_opens_with_what_this_client_has_to_settle(buyer: Case, renter: Case, answered: Case) -> None:
    result, rented = buyer.diligence(), renter.diligence()
    one = alone()
    assert F.ONE_NODE in holds(one) and F.ONE_NODE not in holds(renter)
    assert F.OPENS_FAILING in holds(answered) and F.OPENS_FAILING not in holds(buyer)
    assert F.OPENS_UNDOCUMENTED in holds(renter)
    assert F.OPENS_DOCUMENTED in holds(renter, shortlist=rented.fitting)
    assert F.OPENS_STAGES in holds(buyer, floors={**result.floors, 2048: next(iter(result.floors.values()))})
    for week, opens in ((1.01, F.OPENS_LATE), (0.12, F.OPENS_WEEK), (0.008, F.OPENS_FLOOR)):
        made = Number("diligence.week_in_percent", week, "share", "Week", "made up")
        assert opens in holds(buyer, numbers={**result.numbers, made.id: made})
    without = {i: n for i, n in result.numbers.items() if i != "diligence.week_in_percent"}
    assert F.OPENS_FREE in holds(buyer, numbers=without)


def test_the_plan_says_what_protects_the_lead(buyer: Case, renter: Case) -> None:
    plan = buyer.diligence().plan
    near = replace(plan.tests[1], basis="credit-only")
    assert F.PLAN_HELD in holds(buyer)
    assert F.PLAN_CREDIT_ONLY in holds(buyer, plan=replace(plan, tests=(*plan.tests, near)))
    assert F.PLAN_NO_LEAD in holds(renter) and F.PLAN_BOTH in holds(renter) and F.PLAN_BOTH not in holds(buyer)
    assert {F.TESTED_AT_ALL, F.TERMS_PRICED} <= holds(renter)
    assert {F.TESTED_AT_ALL, F.TERMS_PRICED}.isdisjoint(holds(alone()))


def test_the_plan_is_held_against_thresholds_in_use(buyer: Case) -> None:
    numbers = buyer.diligence().numbers
    for share, said in ((0.95, F.PLAN_ABOVE_USE), (0.8, F.PLAN_BELOW_USE)):
        made = Number("diligence.line_share.few", share, "share", "Share", "made up")
        assert said in holds(buyer, numbers={**numbers, made.id: made})


def test_the_plan_says_what_is_run_and_what_a_percent_is_worth(buyer: Case) -> None:
    result = buyer.diligence()
    plan = result.plan
    assert F.PLAN_CREDIT in holds(buyer) and F.PLAN_UNUSED in holds(buyer) and F.PLAN_GROWS not in holds(buyer)
    free = {i: n for i, n in result.numbers.items() if i != "diligence.credit_share"}
    assert F.PLAN_FREE in holds(buyer, numbers=free)
    used = tuple(replace(test, by_step=test.by_step is not None or None) for test in plan.tests)
    assert F.PLAN_UNUSED not in holds(buyer, plan=replace(plan, tests=used))
    later = tuple(replace(test, stage=2) for test in plan.tests)
    assert F.PLAN_GROWS in holds(buyer, plan=replace(plan, tests=(*plan.tests, *later)))


def test_sheets_are_those_of_the_fabrics_compared(buyer: Case) -> None:
    assert {F.PLAN_LOSSLESS, F.PLAN_MANAGED, F.PLAN_ALONE} <= holds(buyer)
    shared = holds(bench.changed("example", cluster__tenancy="multi"))
    assert {F.PLAN_TENANTS, F.PLAN_SHARED} <= shared and F.PLAN_ALONE not in shared
    infiniband = buyer.changed(options=["infiniband-ndr", "ethernet-tcp"], cluster__gpus=128)
    assert F.PLAN_LOSSLESS not in holds(infiniband) and F.PLAN_MANAGED in holds(infiniband)
    ethernet = buyer.changed(options=["rocev2-branded-400g", "ethernet-tcp"], cluster__gpus=128)
    assert F.PLAN_MANAGED not in holds(ethernet) and F.PLAN_LOSSLESS in holds(ethernet)


def test_a_renter_who_names_nobody_is_not_told_of_sellers(renter: Case) -> None:
    found = holds(renter, shortlist=())
    assert not {F.OPENS_DOCUMENTED, F.OPENS_UNDOCUMENTED, F.SELLERS_IN_BODY, F.ONE_SELLER} & found


@rows(
    ("lead", "ground", "stands"),
    [
        (5e5, Ground.MONEY, F.STANDS_AHEAD),
        (5e5, Ground.DEADLINE, F.STANDS_AHEAD),
        (5e5, Ground.NOTHING, F.STANDS_OPEN),
        (0.0, Ground.NOTHING, F.STANDS_OPEN),
        (5e5, Ground.SIZE, F.STANDS_OPEN),
        (0.0, Ground.MONEY, F.STANDS_LEVEL),
        (-5e5, Ground.DEADLINE, F.STANDS_BY_DATE),
        (-5e5, Ground.WEIGHTS, F.STANDS_BY_WEIGHTS),
    ],
)
def test_the_money_stands_to_the_advice_in_one_way(buyer: Case, lead: float, ground: Ground, stands: F) -> None:
    assert STANDS & holds(buyer, **led(buyer.diligence(), lead, ground)) == {stands}


def test_one_option_alone_has_no_lead_to_speak_of(buyer: Case) -> None:
    result = buyer.diligence()
    alone = replace(result.verdict, runner_up=result.verdict.choice)
    assert STANDS & holds(buyer, verdict=alone) == {F.STANDS_ALONE}


def test_the_test_is_for_all_nodes_at_every_size(buyer: Case, renter: Case) -> None:
    result = buyer.diligence()
    assert {F.TESTED, F.TESTED_ONCE, F.MANY_NODES, F.FLATTERS} <= holds(buyer)
    assert {F.TESTED_BOTH, F.TESTED_ONCE, F.TWO_NODES} <= holds(renter)
    assert F.TESTED_AGAIN in holds(buyer, floors={**result.floors, 2048: next(iter(result.floors.values()))})
    worse = Number("diligence.flattery", -0.08, "share", "Flattery", "made up")
    assert F.FLATTERS_NOT in holds(buyer, numbers={**result.numbers, worse.id: worse})


def test_a_sheet_that_asks_for_a_test_of_more_nodes_than_there_are_says_so(buyer: Case, renter: Case) -> None:
    assert F.PLAN_FEW_NODES in holds(renter) and not renter.diligence().plan.of("T-ISOLATION")
    assert F.PLAN_FEW_NODES not in holds(buyer)
    assert F.PLAN_FEW_NODES not in holds(renter.changed(cluster__gpus=32))


def test_a_pass_on_bandwidth_is_worth_what_is_left_of_the_lead(buyer: Case, renter: Case) -> None:
    result = buyer.diligence()
    made = led(result, 5e5, materiality=1e5)
    busbw = next(p for p in result.promises if p.id == "busbw")
    other = tuple(p for p in result.promises if p is not busbw)
    lost, kept = (replace(busbw.passes, value=busbw.passes.value * factor) for factor in (1.1, 0.9))
    for lead, found in ((lost, F.PASS_LOSES_LEAD), (kept, F.PASS_KEEPS_LEAD), (None, F.PASS_KEEPS_LEAD)):
        assert found in holds(buyer, promises=(replace(busbw, lead=lead), *other), **made)
    small = led(renter.diligence(), 1e3, Ground.DEADLINE, materiality=1e4)
    assert F.LEAD_BELOW_HAGGLING in holds(renter, **small)
    assert F.LEAD_BELOW_HAGGLING not in holds(renter, **led(renter.diligence(), 1e5, materiality=1e4))


def test_the_sellers_are_spoken_of_by_their_number_and_kind(buyer: Case, renter: Case) -> None:
    hosts, rented = buyer.diligence().shortlist, renter.diligence().shortlist
    assert {F.HOSTED_BY_MANY, F.SELLERS_IN_ANNEX, F.LIST_OPEN} <= holds(buyer)
    assert {F.RENTED_FROM_MANY, F.SELLERS_IN_BODY, F.LIST_CUT, F.KIND_SOLD} <= holds(renter)
    assert F.LIST_STATED in holds(renter, shortlist=renter.diligence().fitting)
    strangers = tuple(replace(s, tested=False) for s in hosts)
    assert F.KIND_UNSOLD in holds(buyer, shortlist=strangers)
    assert F.KIND_SOLD_BY_ALL in holds(buyer, shortlist=tuple(replace(s, tested=True) for s in hosts))
    assert F.KIND_SOLD in holds(buyer, shortlist=(replace(hosts[0], tested=True), *strangers[1:]))
    one = holds(renter, shortlist=tuple(s for s in rented if s.tested)[:1])
    assert (
        F.ONE_SELLER in one and not {F.KIND_SOLD, F.KIND_SOLD_BY_ALL, F.KIND_UNSOLD, F.LIST_OPEN, F.LIST_STATED} & one
    )


def test_the_list_begins_with_a_price_a_choice_or_what_moves_the_lead(buyer: Case) -> None:
    one = buyer.diligence().questions[0]
    of_choice = replace(one, informs=Estimate(5e4, 1e4), saves=None)
    of_price = replace(one, informs=Estimate(5e4, 1e4), saves=9e4)
    neither = replace(one, informs=Estimate(5e4, 4e4), saves=None)
    for question, finding in ((of_choice, F.FIRST_BY_CHOICE), (of_price, F.FIRST_BY_PRICE), (neither, F.NONE_WORTH)):
        found = told(buyer, questions=(question,))
        assert finding in found.findings
        foremost = found.words["foremost"]
        assert foremost is None if finding is F.NONE_WORTH else foremost == question.question.title


def test_the_answer_that_moves_most_may_turn_the_difference(buyer: Case) -> None:
    result = buyer.diligence()
    top, *others = result.questions
    still = tuple(replace(q, difference=None) for q in others)
    turning = holds(buyer, questions=(replace(top, difference=Stake(-1e5, 1e6)), *still))
    assert {F.PRICED, F.WIDEST_TURNS, F.SOME_TURNS, F.SILENT} <= turning
    staying = holds(buyer, questions=(replace(top, difference=Stake(1e5, 1e6)), *still))
    assert F.WIDEST_STAYS in staying and F.SOME_TURNS not in staying
    wide, narrow = replace(top, difference=Stake(1e5, 1e6)), replace(others[0], difference=Stake(-1e4, 1e5))
    other = holds(buyer, questions=(wide, narrow, *still[1:]))
    assert {F.OTHERS_TURN, F.SOME_TURNS} <= other and not {F.WIDEST_TURNS, F.WIDEST_STAYS} & other
    none = holds(buyer, questions=(replace(top, difference=None), *still))
    assert F.UNPRICED in none and not {F.SILENT, F.WIDEST_STAYS} & none


def test_who_has_answered_is_named_with_what_was_handed_over(buyer: Case, answered: Case) -> None:
    assert F.ANSWERED in holds(answered) and not {F.ANSWERED, F.SELLERS_IN_BODY} & holds(buyer)
    assert F.SILENT not in holds(answered)
    words = told(answered).words
    (seller,), (drawing, log) = words["answered"], words["papers"]  # type: ignore[misc]
    assert isinstance(seller, Named) and (seller, seller.key) == ("Example Cloud", "example-cloud")
    assert (drawing, drawing.said["seller"], log) == ("fabric-drawing.pdf", "Example Cloud", "all-nodes.txt")


def test_questions_that_do_not_apply_are_named(buyer: Case) -> None:
    assert F.LEFT_OUT in holds(buyer) and "Claim window for credits" in str(told(buyer).words["left_out"])
    result = buyer.diligence()
    with mock.patch.object(type(result.book), "questions", tuple(q.question for q in result.questions)):
        assert F.LEFT_OUT not in holds(buyer)


def test_each_seller_that_answered_has_a_table_of_its_own(answered_params: Path) -> None:
    space: dict[str, Any] = {}
    for source, tags in sources("diligence"):
        run(f"params = {str(answered_params)!r}" if "parameters" in tags else source, space)
    nodes = [n for b in space["body"].emitted for n in b.bundle["nodes"]]
    tables = [n["id"] for n in nodes if n["t"] == "datatable"]
    assert tables.count("tab-diligence-answers-example-cloud") == 1
    assert tables.count("tab-diligence-shortlist") == 1
    assert [n["t"] for n in nodes[:1]] == ["h"]


def test_a_credit_counts_over_all_stages_where_there_are_several(buyer: Case) -> None:
    lab = bench.case("kestrel-lab")
    assert lab.figure("diligence.grown").value == lab.figure("diligence.planned").value
    assert "diligence.grown" not in buyer.diligence().numbers


def test_contracts_of_clouds_are_told_of_to_a_renter(buyer: Case, renter: Case) -> None:
    assert F.RENTS in holds(renter) and F.RENTS not in holds(buyer)


def test_answers_that_turn_a_close_lead_alone_say_so(buyer: Case) -> None:
    result = buyer.diligence()
    limit = result.verdict.materiality
    near = tuple(replace(q, difference=Stake(-limit / 3, limit / 2)) for q in result.priced)
    far = (replace(near[0], difference=Stake(-limit / 3, limit * 2)), *near[1:])
    same = tuple(replace(q, difference=Stake(limit / 3, limit / 2)) for q in result.priced)
    assert {F.SOME_TURNS, F.TURNS_CLOSE} <= holds(buyer, questions=near)
    assert F.SOME_TURNS in holds(buyer, questions=far) and F.TURNS_CLOSE not in holds(buyer, questions=far)
    assert F.TURNS_CLOSE not in holds(buyer, questions=same)


@rows(("place", "run"), [(1.0, "the worst run"), (2.0, "the second-worst run")])
def test_the_run_that_counts_is_called_by_its_place(buyer: Case, place: float, run: str) -> None:
    given = mock.Mock(wraps=buyer.inputs, params=buyer.params, as_of=buyer.inputs.as_of, central=lambda _: place)
    assert str(plan_words(given, buyer.diligence())["plan_counted"]) == run
