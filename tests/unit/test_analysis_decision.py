"""The decision of a whole case: it follows money first, says when the framework disagrees, and where it turns."""

from __future__ import annotations

from pathlib import Path

import bench
import numpy as np
import pytest
import yaml
from rows import rows
from scenario_cases import minimal

from fabricreport.base.errors import InputError
from fabricreport.base.provenance import plain
from fabricreport.base.yaml_files import read_yaml
from fabricreport.case import Case, open_case
from fabricreport.ledger.numbers import Number
from fabricreport.models.judgement.framework import AXES, evaluate, rules_from
from fabricreport.scenario import params_from
from fabricreport.scenario.files import TRIED_BY, WHY
from fabricreport.sections.decision.inputs import assumed_facts, framework_facts, target_gpus
from fabricreport.sections.decision.tables import rules
from fabricreport.sections.stance import direction

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def case() -> Case:
    return bench.case("example")


def test_the_difference_is_that_of_the_totals_and_its_probability_a_count(case: Case) -> None:
    result = case.decision()
    verdict, totals = result.verdict, case.tco().totals
    gap = plain(totals[verdict.runner_up]) - plain(totals[verdict.choice])
    assert plain(result.difference) == pytest.approx(gap, abs=1.0)
    assert verdict.probability == pytest.approx(float(np.mean(gap > 0)), abs=1e-9)
    assert sum(result.cheapest.shares.values()) == pytest.approx(1.0)


def test_what_both_options_share_is_no_input_of_the_difference(case: Case) -> None:
    inputs = case.decision().difference.inputs
    assert "price:server-h100-8gpu" not in inputs and "price:optic-400g-sr4" not in inputs
    assert "price:switch-qm9700" in inputs


def test_printed_flips_lie_inside_the_range_of_their_input(case: Case) -> None:
    flips = [t for t in case.decision().turns.turning if t.level]
    assert any(not turn.is_choice for turn in flips)
    for turn in flips:
        draws = plain(case.inputs.own(turn.input_id)) if not turn.is_choice else np.array([0.0, np.inf])
        assert turn.level is not None and draws.min() <= turn.level.at <= draws.max()


def test_a_trajectory_counts_within_three_years(case: Case) -> None:
    grown = case.changed(cluster__trajectory=[{"month": 30, "gpus": 4096}, {"month": 40, "gpus": 8192}])
    assert target_gpus(grown.params) == 4096
    assert framework_facts(grown.params, ())["target_gpus"] == 4096


def test_a_single_node_needs_no_fabric(case: Case) -> None:
    tiny = case.changed(cluster__gpus=8, workload__kind="fine-tuning", workload__model_parameters_billion=8)
    verdict = tiny.comparison.verdict
    assert (verdict.confidence, verdict.decided_by) == ("does not matter", "size")


def test_better_networking_people_make_rocev2_no_dearer(case: Case) -> None:
    def gap(maturity: str, qos: str) -> float:
        one = case.changed(organisation__networking_maturity=maturity, organisation__qos_expertise=qos)
        return float(plain(one.chain.bills.gap("rocev2-branded-400g", "infiniband-ndr")).mean())

    gaps = [gap("low", "none"), gap("medium", "some"), gap("high", "strong")]
    assert gaps == sorted(gaps, reverse=True)


def test_an_override_is_used_and_graded_as_the_clients_word(case: Case) -> None:
    cheaper = case.changed(prices={"switch-qm9700": 20000})
    assert cheaper.figure("price:switch-qm9700").value == 20000
    record = cheaper.record("price:switch-qm9700")
    assert (record["grade"], record["value"]) == ("contract", 20000)
    before = case.record("price:switch-qm9700")
    assert before["override"] is None and before["value"] != 20000
    said = {"who": TRIED_BY, "why": WHY, "until": str(case.as_of), "replaced": before["text"]}
    assert record["override"] == said


def test_an_override_that_restates_the_book_keeps_its_grade_and_its_age(case: Case) -> None:
    for input_id in ("price:switch-qm9700", "evidence:pue"):
        kind, _, name = input_id.partition(":")
        figure = {name: case.inputs.uncertain(input_id).written()}
        same = case.changed(prices=figure) if kind == "price" else case.changed(evidence=figure)
        before, after = case.record(input_id), same.record(input_id)
        assert after["override"]["replaced"] == before["text"] == after["text"]
        assert {**after, "override": None} == before


def test_an_override_of_nothing_is_an_error_with_a_suggestion(case: Case) -> None:
    with pytest.raises(InputError, match="switch-qm9700"):
        case.changed(prices={"switch-qm970": 1})


@rows("kind", ["pretraining-dense", "fine-tuning", "inference-multi-node"])
@rows("maturity", ["low", "medium", "high"])
def test_no_reason_claims_what_a_client_of_seven_keys_did_not_say(kind: str, maturity: str) -> None:
    data = {
        "client": {"name": "Silent"},
        "as_of": "2026-11-20",
        "cluster": {"gpus": 2048},
        "workload": {"kind": kind, "run_days": 30},
        "organisation": {"networking_maturity": maturity},
        "money": {"acquisition": "buy"},
    }
    params = params_from(data)
    unstated = assumed_facts(params)
    assert "qos_expertise" in unstated
    facts = framework_facts(params, ())
    found = evaluate(
        rules_from(read_yaml("framework")["rules"]), dict.fromkeys(AXES, ""), facts, dict.fromkeys(AXES, 1.0),
        assumed=unstated,
    )  # fmt: skip
    rules = [rule for axis in found.axes for rule in axis.rules]
    assert any("assumed, not stated: " in rule.reason for rule in rules)
    for rule in rules:
        assert all(unstated[fact] in rule.reason for fact in rule.when if fact in unstated)
    assert not any(rule.axis == "time_to_production" for rule in rules), "no date, no lean"


@rows("name", ["tern-finetuning", "launch-512-rented", "example"])
def test_only_an_owner_has_switches_in_the_bill(name: str) -> None:
    client = bench.case(name)
    billed = {str(row.cells[3]) for row in rules(client.inputs, client.decision()).rows}
    assert "switches and licences" not in billed or not client.inputs.team.rented


def test_an_assumed_param_is_an_assumption_and_a_stated_one_the_clients_word(case: Case, tmp_path: Path) -> None:
    assert case.record("param:money.horizon_months")["grade"] == "contract"
    assert case.figure("param:money.horizon_months").grade == "contract"
    data = yaml.safe_load((bench.PARAMS / "example.yaml").read_text())
    data["as_of"] = str(data["as_of"])
    del data["money"]["horizon_months"]
    path = tmp_path / "silent.yaml"
    path.write_text(yaml.safe_dump(data))
    silent = open_case(path)
    record = silent.record("param:money.horizon_months")
    assert (record["grade"], record["use"]) == ("assumption", "assumed: not stated")
    figure = silent.figure("param:money.horizon_months")
    assert (figure.text, figure.grade) == (case.figure("param:money.horizon_months").text, "assumption")
    assert silent.figure("param:cluster.gpus").grade == "contract"
    inputs = ("param:cluster.gpus", "price:switch-qm9700")
    priced = {c: c.number("x", 1.0, "usd", label="x", rule="x", inputs=inputs).grade for c in (case, silent)}
    assert priced[case] == priced[silent] == case.record("price:switch-qm9700")["grade"]


@rows(("lead", "word"), [(23_185.0, "less"), (-23_185.0, "more"), (0.0, "same"), (0.001, "less"), (-0.00001, "same")])
def test_the_word_of_the_difference_follows_the_figure_that_is_printed(lead: float, word: str) -> None:
    assert direction(Number("decision.difference", lead, "usd", "Difference", "mean")) == word


def test_a_client_who_names_no_options_has_the_same_compared_at_every_size_tried() -> None:
    small = open_case({**minimal(), "cluster": {"gpus": 128}, "workload": {"kind": "pretraining-dense"}})
    assert "ethernet-tcp" in {option.id for option in small.options}
    assert any(turn.input_id == "param:cluster.gpus" for turn in small.decision().turns.choices)
