"""Reasons beyond money: scores by printed rules, what all weightings make of them, what has a figure, and what is told."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, get_args

import numpy as np
import pytest
from bench import SHIPPED, altered, changed
from rows import rows

from fabricreport.case import Case
from fabricreport.errors import InputError
from fabricreport.evidence import read_yaml
from fabricreport.provenance import plain
from fabricreport.scenario.schema import Criterion
from fabricreport.sections.decision.besides.findings import besides_findings
from fabricreport.sections.decision.besides.mfu import utilisations_of
from fabricreport.sections.decision.besides.scores import CRITERIA, Score, offered, option_facts, scores_of, weigh
from fabricreport.sections.decision.besides.topologies import OtherTopology, other_topology_of
from fabricreport.sections.decision.finding import DecisionFinding as F
from fabricreport.sections.decision.inputs import framework_of
from fabricreport.sections.tco.cost import LOST_CAUSES

pytestmark = pytest.mark.slow

DATA = read_yaml("besides")


def client(name: str = "example", **changes: Any) -> Case:
    return changed(name, **changes)


def topology_of(case: Case) -> OtherTopology | None:
    return other_topology_of(case.search.fast, (case.comparison.choice, case.comparison.rival))


def option(case: Case, name: str) -> Any:
    return case.inputs.all_options[name]


def scored(case: Case, name: str) -> dict[str, Score]:
    return scores_of(case.inputs, option(case, name))


# ---- scores


def test_every_rule_is_of_a_criterion_asks_for_known_facts_and_the_last_of_each_holds_always() -> None:
    facts = set(option_facts(client().inputs, client().options[0]))
    for rule in DATA["rules"]:
        assert rule["criterion"] in CRITERIA and set(rule["when"]) <= facts, rule["id"]
    last = {rule["criterion"]: rule for rule in DATA["rules"]}
    assert {c: rule["when"] for c, rule in last.items()} == {c: {} for c in CRITERIA}
    assert len({rule["id"] for rule in DATA["rules"]}) == len(DATA["rules"])


@rows("name", SHIPPED)
def test_every_option_has_a_score_from_worst_to_best_on_every_criterion(name: str) -> None:
    case = client(name)
    for one in case.options:
        found = scores_of(case.inputs, one)
        assert tuple(sorted(found)) == tuple(sorted(CRITERIA))
        assert all(np.all(np.asarray(s.value) >= 0) and np.all(np.asarray(s.value) <= 1) for s in found.values())


def test_options_that_one_rule_holds_for_score_alike_in_every_draw() -> None:
    branded, whitebox = (scored(client(), f"rocev2-{o}-400g") for o in ("branded", "whitebox"))
    assert np.array_equal(branded["exit"].value, whitebox["exit"].value) and np.ndim(branded["exit"].value)
    assert not np.array_equal(branded["lock-in"].value, whitebox["lock-in"].value)


def test_what_the_staff_knows_counts_for_the_fabric_it_knows() -> None:
    home = client(organisation__existing_infiniband="large", organisation__qos_expertise="none")
    away = client(organisation__existing_infiniband="none", organisation__qos_expertise="strong")
    for case, known, unknown in (
        (home, "infiniband-ndr", "rocev2-branded-400g"),
        (away, "rocev2-branded-400g", "infiniband-ndr"),
    ):
        assert (scored(case, known)["skills"].value, scored(case, unknown)["skills"].value) == (1.0, 0.0)


def test_isolation_tells_no_fabric_apart_with_one_tenant_or_many() -> None:
    for tenancy in ("single", "multi"):
        case = client(cluster__tenancy=tenancy)
        assert {scores_of(case.inputs, o)["isolation"].value for o in case.options} == {0.5}


def test_a_policy_for_one_maker_favours_what_the_maker_of_the_gpus_sells_whole() -> None:
    case = client(organisation__single_vendor_policy="prefer")
    found = {o.id: scores_of(case.inputs, o)["lock-in"].mean for o in case.options}
    assert found["infiniband-ndr"] == found["spectrum-x-400g"] == 0.75
    assert {found[o] for o in found if o.startswith("rocev2")} == {0.5}


@rows(
    ("criterion", "changes"),
    [
        ("isolation", {"cluster__tenancy": "multi"}),
        ("lock-in", {"organisation__single_vendor_policy": "avoid"}),
        ("lock-in", {"organisation__single_vendor_policy": "prefer"}),
        ("skills", {"organisation__existing_infiniband": "large"}),
    ],
)
def test_what_both_weigh_leans_the_same_way_in_the_framework_and_in_the_scores(
    criterion: str, changes: dict[str, str]
) -> None:
    case = client(**{"organisation__existing_infiniband": "none", **changes})
    facts = {key.partition("__")[2] for key in changes}
    rules = [r for axis in framework_of(case.inputs).axes for r in axis.rules if facts & set(r.when)]
    assert rules
    lean = sum(r.lean for r in rules if not r.priced_as)
    mean = {o.id: scores_of(case.inputs, o)[criterion].mean for o in case.options}
    sides = {o.id: o.side for o in case.options}
    ahead = max(m for o, m in mean.items() if sides[o] == "infiniband") - max(
        m for o, m in mean.items() if sides[o] == "rocev2"
    )
    assert np.sign(lean) in (np.sign(ahead), 0) and (criterion != "isolation" or lean == ahead == 0)


def test_a_renter_is_offered_what_his_providers_document() -> None:
    case = client("tern-finetuning")
    one = case.changed(providers=[{"name": "Hot Aisle"}, {"name": "Lambda"}, {"name": "Nscale"}])
    infiniband, roce = option(case, "infiniband-ndr"), option(case, "rocev2-branded-400g")
    assert offered(case.inputs, infiniband) > offered(case.inputs, roce) > 0
    assert (offered(one.inputs, infiniband), offered(one.inputs, roce)) == pytest.approx((1 / 3, 2 / 3))
    assert scored(one, "rocev2-branded-400g")["supply"].value == pytest.approx(2 / 3)


def test_a_rule_says_which_of_its_facts_nobody_stated() -> None:
    bare = client().changed(organisation={"networking_maturity": "medium", "network_engineers": 2})
    assert "assumed, not stated" in scored(bare, "rocev2-branded-400g")["skills"].reason
    assert "assumed, not stated" not in scored(client(), "rocev2-branded-400g")["skills"].reason


# ---- weighings


def made(**values: tuple[Any, ...]) -> dict[str, dict[str, Score]]:
    """Options with these scores on the first criteria, and alike on the others."""
    return {
        o: {c: Score(f"{c}-{o}", c, "", (), v, v) for c, v in zip(CRITERIA, (*of, *[0.5] * 5), strict=False)}
        for o, of in values.items()
    }


def test_only_criteria_that_tell_options_apart_are_weighed_and_two_of_them_exactly() -> None:
    found = weigh(made(a=(1.0, 0.0), b=(0.0, 0.5)), seed=1, draws=64)
    assert found.telling == CRITERIA[:2]
    assert found.first == pytest.approx({"a": 2 / 3, "b": 1 / 3})
    assert (found.leader, found.even, found.stands_out) == ("a", "a", True)
    assert found.flip == pytest.approx(2 * (1 / 2 - 1 / 3))


def test_options_alike_are_not_weighed_and_half_is_not_more_often_than_not() -> None:
    alike = weigh(made(a=(), b=()), seed=1, draws=64)
    assert (alike.found, alike.first, alike.leader, alike.stands_out) == (None, {}, "", False)
    even = weigh(made(a=(1.0, 0.0), b=(0.0, 1.0)), seed=1, draws=64)
    assert even.first == pytest.approx({"a": 0.5, "b": 0.5}) and not even.stands_out


def test_an_option_worse_on_everything_changes_no_share() -> None:
    without = weigh(made(a=(1.0, 0.2, 0.4), b=(0.3, 0.9, 0.5)), seed=1, draws=2000)
    beside = weigh(made(a=(1.0, 0.2, 0.4), b=(0.3, 0.9, 0.5), c=(0.2, 0.1, 0.3)), seed=1, draws=2000)
    assert {o: beside.first[o] for o in ("a", "b")} == pytest.approx(without.first) and beside.first["c"] == 0


@rows("name", ["example", "kestrel-lab", "halden-cloud"])
def test_shares_sum_to_one_and_money_rules_out_what_costs_far_more(name: str) -> None:
    result = client(name).decision()
    weighed = result.besides.weighed
    assert sum(weighed.first.values()) == pytest.approx(1.0)
    assert {result.verdict.choice, result.verdict.runner_up} <= set(weighed.options)
    assert "ethernet-tcp" not in weighed.options


def test_a_stated_order_counts_only_the_weightings_that_keep_it() -> None:
    free = weigh(made(a=(1.0, 0.0), b=(0.0, 1.0)), seed=1, draws=4000)
    first, second = CRITERIA[:2]
    held = weigh(made(a=(1.0, 0.0), b=(0.0, 1.0)), seed=1, draws=4000, order=[first, second])
    turned = weigh(made(a=(1.0, 0.0), b=(0.0, 1.0)), seed=1, draws=4000, order=[second])
    assert free.first == pytest.approx({"a": 0.5, "b": 0.5})
    assert held.first == pytest.approx({"a": 1.0, "b": 0.0}) and turned.first == pytest.approx({"a": 0.0, "b": 1.0})
    assert held.telling == CRITERIA


def test_the_order_in_the_params_names_the_criteria_of_the_rules() -> None:
    assert get_args(Criterion) == CRITERIA
    case = client(organisation__beyond_money=["supply"])
    assert case.decision().besides.weighed.telling == CRITERIA
    assert F.BESIDES_ORDERED in told(case) and F.BESIDES_ORDERED not in told(client())
    with pytest.raises(InputError, match="already item"):
        client().changed(organisation__beyond_money=["supply", "supply"])


# ---- money


def test_lock_in_is_the_difference_of_switches_between_one_maker_and_several() -> None:
    case = client()
    priced, parts = case.decision().besides.priced, case.chain.bills.parts
    assert priced.against == "rocev2-whitebox-400g" and set(priced.replaced) == {"infiniband-ndr", "spectrum-x-400g"}
    factor = float(np.mean(case.chain.bills.common.discounting.lump(1.0, 48, 48)))
    for o, found in priced.replaced.items():
        today = parts[o]["switches"] - parts[priced.against]["switches"]
        assert float(np.mean(found)) == pytest.approx(factor * float(np.mean(today)), rel=1e-6)
    assert priced.later == {}


def test_resale_is_what_the_bill_takes_off_less_that_of_servers() -> None:
    case = client()
    found, bill = case.decision().besides.priced.resale, case.chain.bills
    for o, value in found.items():
        whole = -float(np.mean(plain(bill.components[o]["residual"])))
        servers = -float(np.mean(plain(bill.parts[o]["residual of servers"])))
        assert float(np.mean(plain(value))) == pytest.approx(whole - servers)
    assert client("tern-finetuning").decision().besides.priced.resale == {}


def test_a_grower_s_later_switches_are_a_part_of_what_it_buys() -> None:
    priced = client("kestrel-lab").decision().besides.priced
    assert set(priced.later) == set(priced.replaced) == {"infiniband-xdr", "spectrum-x-800g"}


def test_subnets_cost_what_a_plan_of_one_saves() -> None:
    case = client("kestrel-lab")
    one = client("kestrel-lab", cluster__subnets=1)
    for o, value in case.decision().besides.priced.subnets.items():
        apart = float(np.mean(plain(case.chain.bills.totals[o]) - plain(one.chain.bills.totals[o])))
        assert float(np.mean(plain(value))) == pytest.approx(apart, abs=1.0)
    assert client().decision().besides.priced.subnets == {}


def test_neighbours_cost_where_tenants_share_and_only_there() -> None:
    found = client("halden-cloud").decision().besides.priced.neighbours
    assert min(float(np.mean(plain(v))) for v in found.values()) > 0
    assert client().decision().besides.priced.neighbours == {}


# ---- the other topology


def test_the_other_topology_costs_what_the_same_plan_as_one_does() -> None:
    case = client()
    fly = client(cluster__topology="dragonfly")
    found, back = case.decision().besides.topology, topology_of(fly)
    assert found is not None and back is not None
    assert (found.other, back.other) == ("dragonfly", "fat-tree")
    for o, parts in found.costs.items():
        apart = plain(fly.chain.bills.totals[o]) - plain(case.chain.bills.totals[o])
        assert float(np.mean(parts["total"])) == pytest.approx(float(np.mean(apart)), abs=1.0)
        assert parts["total"] == pytest.approx(parts["capital"] + parts["running"] + parts["lost"])
        lost = sum(
            plain(fly.chain.bills.components[o][c]) - plain(case.chain.bills.components[o][c]) for c in LOST_CAUSES
        )
        assert float(np.mean(parts["lost"])) == pytest.approx(float(np.mean(lost)), abs=1.0)
    assert not found.same


def test_no_topology_is_counted_for_a_renter_or_for_a_taper() -> None:
    assert topology_of(client("tern-finetuning")) is topology_of(client(cluster__oversubscription=2.0)) is None
    small = topology_of(client(cluster__gpus=16, workload__model_parameters_billion=8))
    assert small is not None and small.same


# ---- utilisation


def test_utilisation_at_the_client_s_size_is_the_step_s_own_and_the_tail_takes_from_it() -> None:
    case = client()
    found = case.decision().besides.utilisations
    assert found is not None and found.own == (1024,) and set(found.by_size) == {128, 1024, 8192}
    for o, at in found.by_size[1024].items():
        assert np.array_equal(plain(at.designed), plain(case.chain.exposure.timed[o].steps[1024].mfu))
    for each in found.by_size.values():
        for at in each.values():
            assert np.all(plain(at.after_tail) <= plain(at.designed)) and np.all(plain(at.after_tail) > 0)
            assert np.all(plain(at.designed) < 1)


def test_utilisation_is_told_of_training_across_nodes_on_switches_that_hold_it() -> None:
    def of(**changes: Any) -> Any:
        case = client(**changes)
        return utilisations_of(case.chain, ["infiniband-ndr"])

    assert of(workload__kind="inference-multi-node") is None
    assert of(cluster__gpus=8, workload__model_parameters_billion=8) is None
    assert set(client("kestrel-lab").decision().besides.utilisations.by_size) == {64, 128, 256, 512, 1024}  # type: ignore[union-attr]


# ---- findings


def told(case: Case, **changes: Any) -> set[F]:
    result = case.decision()
    other = altered(result, besides=replace(result.besides, **changes)) if changes else result
    return set(besides_findings(case.inputs, other, lambda i: result.numbers[i]))


LEADS = {
    *(F.BESIDES_LEADS_OPEN, F.BESIDES_LEADS_ANNOUNCED, F.BESIDES_LEADS_CHOICE, F.BESIDES_LEADS_OTHER),
    F.BESIDES_NOBODY,
}
WEIGHINGS = {*LEADS, F.BESIDES_ALONE, F.BESIDES_ALIKE, F.BESIDES_ONE_LEADS, F.BESIDES_ONE_OPEN}
GROUPS = (
    WEIGHINGS,
    {F.LOCK_IN_PRICED, F.LOCK_IN_UNPRICED, F.LOCK_IN_RENTED},
    {F.EXIT_PRICED, F.EXIT_UNPRICED},
    {F.ONE_SUBNET, F.SUBNETS_PRICED, F.SUBNETS_UNPRICED},
    {F.ONE_TENANT, F.TENANTS},
    {F.TOPOLOGY_PRICED, F.TOPOLOGY_SAME, F.TOPOLOGY_UNCOUNTED, F.TOPOLOGY_RENTED},
    {F.MFU, F.MFU_NONE},
)


@rows(
    ("name", "holds"),
    [
        (
            "example",
            {F.BESIDES_DROPPED, F.LOCK_IN_PRICED, F.EXIT_PRICED, F.ONE_SUBNET, F.ONE_TENANT, F.TOPOLOGY_PRICED},
        ),
        (
            "tern-finetuning",
            {F.BESIDES_ONE_OPEN, F.BESIDES_UNSETTLED, F.LOCK_IN_RENTED, F.EXIT_UNPRICED, F.TOPOLOGY_RENTED},
        ),
        ("kestrel-lab", {F.LOCK_IN_LATER, F.SUBNETS_PRICED, F.SITES_APART, F.TENANTS_PRICED, F.MFU_FALLS}),
        ("halden-cloud", {F.BESIDES_LEADS_OPEN, F.BESIDES_LEADS_THIRD, F.TENANTS, F.BESIDES_STAYS, F.MFU}),
    ],
)
def test_one_of_each_group_holds_and_what_the_client_is_shows(name: str, holds: set[F]) -> None:
    found = told(client(name))
    assert holds <= found
    assert [len(group & found) for group in GROUPS] == [1] * len(GROUPS)


def test_who_leads_is_told_by_what_money_advises() -> None:
    case = client()
    weighed, choice = case.decision().besides.weighed, case.decision().verdict.choice
    other = next(o for o in weighed.options if o != choice)
    ahead, behind = {choice: (1.0, 1.0), other: (0.0, 0.5)}, {choice: (0.0, 0.5), other: (1.0, 1.0)}
    level, alike = {choice: (1.0, 0.0), other: (0.0, 1.0)}, {choice: (), other: ()}

    def leads(values: dict[str, tuple[float, ...]]) -> set[F]:
        return told(case, weighed=weigh(made(**values), seed=1, draws=64)) & WEIGHINGS

    assert leads(ahead) == {F.BESIDES_LEADS_CHOICE}
    assert leads(behind) == {F.BESIDES_LEADS_OTHER}
    assert leads(level) == {F.BESIDES_NOBODY}
    assert leads(alike) == {F.BESIDES_ALIKE}
    assert leads({choice: (1.0,)}) == {F.BESIDES_ALONE}
    assert leads({choice: (1.0, 0.5), other: (0.0, 0.5)}) == {F.BESIDES_ONE_LEADS}


def test_what_is_beyond_money_settles_nothing_where_money_leaves_two_open() -> None:
    case = client("halden-cloud")
    verdict = case.decision().verdict
    pair, third = (verdict.choice, verdict.runner_up), "rocev2-whitebox-800g"
    assert verdict.open and third not in pair

    def found(first: str, *others: str, values: tuple[float, ...] = (0.0, 0.5)) -> set[F]:
        scores = made(**{first: (1.0, 1.0), **dict.fromkeys(others, values)})
        return told(case, weighed=weigh(scores, seed=1, draws=64))

    ahead = found(pair[0], pair[1], third)
    assert {F.BESIDES_LEADS_OPEN, F.BESIDES_UNSETTLED} <= ahead and F.BESIDES_LEADS_THIRD not in ahead
    assert {F.BESIDES_LEADS_OPEN, F.BESIDES_LEADS_THIRD} <= found(third, *pair)
    one = found(pair[0], pair[1], values=(0.0, 1.0))
    assert F.BESIDES_ONE_OPEN in one and not {F.BESIDES_ONE_LEADS, F.BESIDES_ALONE_LEANS} & one
    unweighed = found(pair[0], third)  # one of the two may not be taken
    assert F.BESIDES_LEADS_ANNOUNCED in unweighed and F.BESIDES_LEADS_OPEN not in unweighed
    for weighed in (ahead, unweighed):
        assert not {F.BESIDES_LEADS_CHOICE, F.BESIDES_LEADS_OTHER} & weighed


VIEWS = {F.BESIDES_AS_FRAMEWORK, F.BESIDES_NOT_AS_FRAMEWORK, F.BESIDES_ALONE_LEANS, F.FRAMEWORK_ALONE_LEANS}


@rows(
    ("first", "total", "view"),
    [
        ("infiniband-ndr", 0.4, F.BESIDES_AS_FRAMEWORK),
        ("infiniband-ndr", -0.4, F.BESIDES_NOT_AS_FRAMEWORK),
        ("rocev2-whitebox-400g", -0.4, F.BESIDES_AS_FRAMEWORK),
        ("rocev2-whitebox-400g", 0.01, F.BESIDES_ALONE_LEANS),
        ("", 0.4, F.FRAMEWORK_ALONE_LEANS),
        ("", 0.0, None),
    ],
)
def test_whether_the_framework_and_the_scores_agree_is_told_by_their_sides(
    first: str, total: float, view: F | None
) -> None:
    case = client()
    both = ("infiniband-ndr", "rocev2-whitebox-400g")
    values = {o: (1.0, 1.0) if o == first else (0.0, 0.5) for o in both}
    values = values if first else {both[0]: (1.0, 0.0), both[1]: (0.0, 1.0)}
    result = case.decision()
    made_up = altered(
        result,
        framework=replace(result.framework, total=total),
        besides=replace(result.besides, weighed=weigh(made(**values), seed=1, draws=64)),
    )
    found = set(besides_findings(case.inputs, made_up, lambda i: result.numbers[i]))
    assert found & VIEWS == ({view} if view else set())


def test_other_draws_put_another_first_where_no_shift_of_weights_does() -> None:
    case = client()
    one, other = "infiniband-ndr", "rocev2-whitebox-400g"
    values = made(**{one: (0.0, 0.2), other: (0.5, 0.4)})
    drawn = np.linspace(0.0, 1.0, 64)
    values[other]["lock-in"] = replace(values[other]["lock-in"], value=1 - drawn, mean=0.5)
    values[one]["lock-in"] = replace(values[one]["lock-in"], value=drawn * 0.9, mean=0.45)
    luck = weigh(values, seed=1, draws=64)
    assert (luck.even, luck.flip, luck.runner_up) == (other, None, one)
    assert luck.strongest({one: "infiniband", other: "rocev2"}) == "skills" and 0 < luck.first[one] < 0.5
    assert {F.BESIDES_STAYS, F.BESIDES_OTHER_DRAWS} <= told(case, weighed=luck)
    sure = weigh(made(**{one: (0.0, 0.2), other: (0.5, 0.4)}), seed=1, draws=64)
    assert sure.runner_up == "" and F.BESIDES_OTHER_DRAWS not in told(case, weighed=sure)


def test_a_plan_without_training_or_a_choice_of_topology_is_told_as_such() -> None:
    found = told(client(), topology=None, utilisations=None)
    assert {F.TOPOLOGY_UNCOUNTED, F.MFU_NONE} <= found and F.MFU_FALLS not in found
