"""What diligence says of itself: each finding true of one client and false of another, the words the same for all."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import bench
import pytest
import yaml
from notebook_cells import run, sources

from fabricreport.case import Case, open_case
from fabricreport.ledger.facts import Named, Spoken
from fabricreport.ledger.numbers import Number
from fabricreport.sections.diligence.facts import DiligenceFinding as F
from fabricreport.sections.diligence.facts import spoken

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("few_draws")]

GROUPS = (
    {F.FLATTERS, F.TWO_NODES},
    {F.PLAN_HELD, F.PLAN_CREDIT_ONLY, F.PLAN_NO_LEAD},
    {F.PLAN_CREDIT, F.PLAN_FREE, F.PLAN_UNTIMED},
    {F.PLAN_TENANTS, F.PLAN_ALONE, F.PLAN_UNTOLD},
    {F.UNANSWERED, F.ANSWERS_MOVE, F.ANSWERS_IDLE},
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
    return found


def holds(case: Case, **made: Any) -> set[F]:
    found = told(case, **made).findings
    return {f for f in F if f in found}


def test_every_client_has_the_same_words(buyer: Case, renter: Case, answered: Case) -> None:
    words = [set(told(case).words) for case in (buyer, renter, answered, alone())]
    assert words[0] and all(w == words[0] for w in words)


def test_the_plan_says_what_protects_the_lead(buyer: Case, renter: Case) -> None:
    plan = buyer.diligence().plan
    near = replace(plan.tests[1], basis="credit-only")
    assert F.PLAN_HELD in holds(buyer)
    assert F.PLAN_CREDIT_ONLY in holds(buyer, plan=replace(plan, tests=(*plan.tests, near)))
    assert F.PLAN_NO_LEAD in holds(renter) and F.PLAN_BOTH in holds(renter) and F.PLAN_BOTH not in holds(buyer)
    assert F.TESTED_AT_ALL in holds(renter) and F.TESTED_AT_ALL not in holds(alone())


def test_the_plan_is_held_against_thresholds_in_use(buyer: Case) -> None:
    numbers = buyer.diligence().numbers
    for share, below in ((0.95, False), (0.8, True)):
        made = Number("diligence.line_share.few", share, "share", "Share", "made up")
        assert bool(told(buyer, numbers={**numbers, made.id: made}).words["below_use"]) == below


def test_the_plan_says_what_is_run_and_what_a_percent_is_worth(buyer: Case) -> None:
    result = buyer.diligence()
    plan = result.plan
    assert F.PLAN_CREDIT in holds(buyer) and F.PLAN_UNUSED in holds(buyer) and F.PLAN_GROWS not in holds(buyer)
    used = tuple(replace(test, by_step=test.by_step is not None or None) for test in plan.tests)
    assert F.PLAN_UNUSED not in holds(buyer, plan=replace(plan, tests=used))
    later = tuple(replace(test, stage=2) for test in plan.tests)
    assert F.PLAN_GROWS in holds(buyer, plan=replace(plan, tests=(*plan.tests, *later)))


def test_the_plan_says_where_credits_end_and_why_there_are_none(buyer: Case) -> None:
    terms, plan = buyer.diligence().terms, buyer.diligence().plan
    assert terms is not None
    assert not {F.CREDIT_ENDS, F.CREDIT_PROTECTS} & holds(buyer)
    first = replace(terms.credits[1], ends=True)
    assert F.CREDIT_ENDS in holds(buyer, terms=replace(terms, credits={1: first}))
    near = replace(plan, tests=(replace(plan.tests[1], basis="credit-only"),))
    assert F.CREDIT_PROTECTS in holds(buyer, plan=near)
    unsent = replace(terms, credits={}, exchange=replace(terms.exchange, sent=False))
    for none, said in ((replace(terms, credits={}), F.PLAN_FREE), (unsent, F.PLAN_UNTIMED)):
        found = holds(buyer, terms=none, plan=near)
        assert said in found and not {F.PLAN_CREDIT, F.CREDIT_ENDS, F.CREDIT_PROTECTS} & found


def test_sheets_are_those_of_the_fabrics_compared(buyer: Case) -> None:
    assert {F.PLAN_LOSSLESS, F.PLAN_MANAGED, F.PLAN_ALONE} <= holds(buyer)
    shared = holds(bench.changed("example", cluster__tenancy="multi"))
    assert {F.PLAN_TENANTS, F.PLAN_SHARED} <= shared and F.PLAN_ALONE not in shared
    infiniband = buyer.changed(options=["infiniband-ndr", "ethernet-tcp"], cluster__gpus=128)
    assert F.PLAN_LOSSLESS not in holds(infiniband) and F.PLAN_MANAGED in holds(infiniband)
    ethernet = buyer.changed(options=["rocev2-branded-400g", "ethernet-tcp"], cluster__gpus=128)
    assert F.PLAN_MANAGED not in holds(ethernet) and F.PLAN_LOSSLESS in holds(ethernet)


def test_what_a_renter_does_not_tell_is_no_fact() -> None:
    """Neither whom it shares a network with, nor the size of its model."""
    data = yaml.safe_load((bench.PARAMS / "tern-finetuning.yaml").read_text(encoding="utf-8"))
    told = {"tenancy": data["cluster"].pop("tenancy"), "model": data["workload"].pop("model_parameters_billion")}
    assert told == {"tenancy": "multi", "model": 8}
    untold, stated = open_case({**data, "as_of": str(data["as_of"])}), bench.case("tern-finetuning")
    assert F.PLAN_UNTOLD in holds(untold) and F.PLAN_UNTOLD not in holds(stated)
    assumed = [bool(case.spoken("decision").words["model_assumed"]) for case in (untold, stated)]
    assert assumed == [True, False]


def test_the_test_is_for_all_nodes_at_every_size(buyer: Case, renter: Case) -> None:
    result = buyer.diligence()
    assert F.FLATTERS in holds(buyer) and F.TESTED_AGAIN not in holds(buyer)
    assert F.TWO_NODES in holds(renter)
    assert F.TESTED_AGAIN in holds(buyer, floors={**result.floors, 2048: next(iter(result.floors.values()))})
    worse = Number("diligence.flattery", -0.08, "share", "Flattery", "made up")
    assert F.FLATTERS not in holds(buyer, numbers={**result.numbers, worse.id: worse})
    assert not {F.TWO_NODES, F.FLATTERS, F.TESTED_AGAIN} & holds(alone())


def test_the_sellers_are_listed_for_a_renter_who_names_some(buyer: Case, renter: Case, answered: Case) -> None:
    assert F.SELLERS_RENTED in holds(renter) and F.SELLERS_RENTED not in holds(renter, shortlist=())
    assert buyer.diligence().shortlist and F.SELLERS_RENTED not in holds(buyer) | holds(answered)


def test_who_has_answered_is_named(buyer: Case, answered: Case) -> None:
    assert F.UNANSWERED in holds(buyer) and F.UNANSWERED not in holds(answered)
    (seller,) = told(answered).words["answered"]  # type: ignore[misc]
    assert isinstance(seller, Named) and (seller, seller.key) == ("Example Cloud", "example-cloud")


def test_a_sheet_that_asks_for_a_test_of_more_nodes_than_there_are_says_so(buyer: Case, renter: Case) -> None:
    assert F.PLAN_FEW_NODES in holds(renter) and not renter.diligence().plan.of("T-ISOLATION")
    assert F.PLAN_FEW_NODES not in holds(buyer)
    assert F.PLAN_FEW_NODES not in holds(renter.changed(cluster__gpus=32))


def test_each_seller_that_answered_has_a_table_of_its_own(answered_params: Path) -> None:
    space: dict[str, Any] = {}
    for source, tags in sources("diligence"):
        run(f"params = {str(answered_params)!r}" if "parameters" in tags else source, space)
    nodes = [n for b in space["body"].emitted for n in b.bundle["nodes"]]
    tables = [n["id"] for n in nodes if n["t"] == "datatable"]
    assert tables.count("tab-diligence-answers-example-cloud") == 1
    assert "tab-diligence-shortlist" not in tables
    assert [n["t"] for n in nodes[:1]] == ["h"]
