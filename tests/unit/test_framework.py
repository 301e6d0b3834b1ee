"""The four-axis framework and what is read off the draws beside it: known answers and laws."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from rows import rows

from fabricreport.base.yaml_files import read_yaml
from fabricreport.models.judgement.choice import swings
from fabricreport.models.judgement.comparison import expected_order
from fabricreport.models.judgement.framework import AXES, FrameworkResult, Rule, evaluate, holds, leaning, rules_from

FACTS = {
    "kind": "pretraining-dense", "latency_variance_bound": True, "vendor": "nvidia", "target_gpus": 1024, "one_node": False,
    "spans_subnets": False, "tenancy": "single", "networking_maturity": "low", "qos_expertise": "none",
    "existing_ethernet": "none", "existing_infiniband": "none", "single_vendor_policy": "neutral", "weeks_to_production": 8.0,
    "ethernet_of_one_maker": False, "ethernet_of_another_maker": True, "nvidia_cloud_partner": False,
}  # fmt: skip
EQUAL = dict.fromkeys(AXES, 1.0)
RULES = rules_from(read_yaml("framework")["rules"])
TITLES = {a["id"]: a["title"] for a in read_yaml("framework")["axes"]}


def lean(**changes: object) -> float:
    return evaluate(RULES, TITLES, {**FACTS, **changes}, EQUAL).total


def test_every_rule_asks_only_for_known_facts_and_axes() -> None:
    for rule in RULES:
        assert rule.axis in AXES and set(rule.when) <= set(FACTS) and rule.sources


def test_a_house_leans_to_the_fabric_it_runs_and_whose_sellers_it_wants() -> None:
    infiniband = lean(existing_infiniband="large", single_vendor_policy="prefer")
    ethernet = lean(existing_ethernet="large", single_vendor_policy="avoid", tenancy="multi", spans_subnets=True)
    assert infiniband > lean() > ethernet
    assert (leaning(infiniband), leaning(ethernet)) == ("infiniband", "rocev2")


def ruled(**changes: object) -> set[str]:
    found = evaluate(RULES, TITLES, {**FACTS, **changes}, EQUAL)
    return {rule.id for axis in found.axes for rule in axis.rules}


@rows(
    ("policy", "vendor", "one_maker", "another_maker", "rule", "leans"),
    [
        ("avoid", "nvidia", True, True, "avoids-single-vendor", True),
        ("avoid", "nvidia", True, False, "avoids-single-vendor-in-vain", False),
        ("prefer", "nvidia", False, True, "prefers-single-vendor", True),
        ("prefer", "nvidia", True, True, "prefers-single-vendor-of-either", False),
        ("avoid", "amd", True, True, "single-vendor-of-neither", False),
        ("prefer", "amd", True, True, "single-vendor-of-neither", False),
    ],
)
def test_a_policy_on_one_vendor_leans_only_where_the_fabrics_compared_differ_in_it(
    policy: str, vendor: str, one_maker: bool, another_maker: bool, rule: str, leans: bool
) -> None:
    given = {"vendor": vendor, "ethernet_of_one_maker": one_maker, "ethernet_of_another_maker": another_maker}
    mine, theirs = ruled(single_vendor_policy=policy, **given), ruled(**given)
    assert mine - theirs == {rule}
    assert (lean(single_vendor_policy=policy, **given) != lean(**given)) is leans


def test_the_maker_of_the_gpus_does_not_lean_the_framework_to_a_fabric() -> None:
    assert lean(vendor="amd") == lean(vendor="nvidia")


def test_a_rule_of_contract_is_told_and_leans_to_neither_side() -> None:
    assert ruled(nvidia_cloud_partner=True) - ruled() == {"nvidia-cloud-partner"}
    assert "nvidia-cloud-partner" not in ruled(nvidia_cloud_partner=True, one_node=True)
    assert lean(nvidia_cloud_partner=True) == lean()


TIGHT = {"kind": "pretraining-dense", "target_gpus": 1024, "networking_maturity": "low", "qos_expertise": "none"}
OPERATOR = {
    "kind": "mixed", "latency_variance_bound": False, "networking_maturity": "high", "qos_expertise": "strong",
    "existing_ethernet": "large",
    "weeks_to_production": 20.0,
}  # fmt: skip
SMALL = {
    "kind": "fine-tuning", "latency_variance_bound": False, "target_gpus": 64, "networking_maturity": "medium",
    "qos_expertise": "some", "weeks_to_production": 20.0,
}  # fmt: skip


@rows(
    ("client", "side", "said"),
    [
        (TIGHT, "infiniband", {"workload": 1, "maturity": 1, "scale_and_budget": 1, "time_to_production": 1}),
        (OPERATOR, "rocev2", {"workload": -1, "maturity": -1}),
        (SMALL, "rocev2", {"workload": -1, "scale_and_budget": -1}),
    ],
)
def test_the_axes_score_the_cases_of_the_article_they_are_from_as_it_does(
    client: dict[str, object], side: str, said: dict[str, int]
) -> None:
    found = evaluate(RULES, TITLES, {**FACTS, **client}, EQUAL)
    assert leaning(found.argued) == side
    assert {axis.axis: np.sign(axis.argued) for axis in found.axes} == said


def test_an_axis_of_which_no_rule_holds_is_left_out_and_its_weight_shared() -> None:
    weights = {"workload": 1.0, "maturity": 5.0, "scale_and_budget": 3.0, "time_to_production": 4.0}
    found = evaluate(RULES, TITLES, {**FACTS, **SMALL}, weights)
    assert {axis.axis: axis.weight for axis in found.axes} == {"workload": 0.25, "scale_and_budget": 0.75}
    assert evaluate([], TITLES, FACTS, weights).axes == () and evaluate([], TITLES, FACTS, weights).total == 0.0


def test_a_rule_that_the_bill_prices_is_told_and_not_counted() -> None:
    def found(rules: Sequence[Rule]) -> FrameworkResult:
        return evaluate(rules, TITLES, FACTS, EQUAL)

    told = [rule for axis in found(RULES).axes for rule in axis.rules]
    assert any(rule.priced_as for rule in told)
    assert found(RULES).total == found([rule for rule in RULES if not rule.priced_as]).total
    assert found(RULES).total != found([replace(rule, priced_as="") for rule in RULES]).total == found(RULES).argued


def test_more_expertise_never_moves_the_lean_towards_infiniband() -> None:
    leans = [lean(qos_expertise=q) for q in ("none", "some", "strong")]
    assert leans == sorted(leans, reverse=True)


def test_conditions_match_lists_ranges_and_values() -> None:
    rule = Rule(
        "r", "workload", {"kind": ["a", "b"], "target_gpus": {"min": 10, "max": 20}, "one_node": False}, 1, "", ()
    )
    assert holds(rule, {"kind": "a", "target_gpus": 10, "one_node": False})
    assert not holds(rule, {"kind": "a", "target_gpus": 20, "one_node": False})
    with pytest.raises(KeyError):
        holds(rule, {"kind": "a"})


def test_swings_rank_by_width_and_ignore_a_dummy_input() -> None:
    rng = np.random.default_rng(0)
    x, dummy = rng.uniform(0, 10, 4000), rng.uniform(0, 1, 4000)
    found = swings(3 * (x - 4.0), {"x": x, "dummy": dummy, "constant": np.ones(4000)})
    assert [s.input_id for s in found] == ["x", "dummy"]
    assert found[0].at_low == pytest.approx(3 * (0.5 - 4), abs=0.1) and found[0].at_high == pytest.approx(
        3 * (9.5 - 4), abs=0.1
    )
    assert found[1].share_of_variance < 0.01


def test_adding_a_dominated_option_does_not_reorder_the_others() -> None:
    rng = np.random.default_rng(4)
    totals = {"ib": rng.normal(10, 1, 500), "roce": rng.normal(10.2, 1, 500)}
    more = {**totals, "bad": totals["ib"] + 5}
    assert [o for o in expected_order(more) if o != "bad"] == list(expected_order(totals))


def test_every_source_a_rule_names_is_in_the_books() -> None:
    from fabricreport.books.evidence import read_evidence
    from fabricreport.books.publications import claim_record

    evidence = read_evidence()
    for source in {s for rule in RULES for s in rule.sources}:
        kind, _, name = source.partition(":")
        assert claim_record(name)["source"] if kind == "claim" else evidence[name].source


def test_a_reason_that_rests_on_what_nobody_stated_says_so_and_weighs_the_same() -> None:
    named = {"weeks_to_production": "the date of production", "qos_expertise": "skill"}
    stated = evaluate(RULES, TITLES, FACTS, EQUAL)
    silent = evaluate(RULES, TITLES, FACTS, EQUAL, assumed=named)
    assert silent.total == stated.total
    for axis, other in zip(silent.axes, stated.axes, strict=True):
        for rule, plain in zip(axis.rules, other.rules, strict=True):
            rests_on = [named[fact] for fact in rule.when if fact in named]
            assert ("assumed, not stated" in rule.reason) is bool(rests_on)
            assert all(words in rule.reason for words in rests_on) and rule.reason.startswith(plain.reason)


def test_every_fact_that_can_be_left_out_has_keys_and_a_name() -> None:
    facts = read_yaml("framework")["facts"]
    always_known = {"weeks_to_production", "kind", "vendor", "target_gpus", "one_node", "networking_maturity"}
    always_known |= {"ethernet_of_one_maker", "ethernet_of_another_maker"}
    assert set(facts) | always_known == set(FACTS) and not set(facts) & always_known
    assert all(entry["keys"] and entry["name"] for entry in facts.values())
