"""The decision of a whole case: it follows money first, says when the framework disagrees, and where it turns."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import yaml

from fabricreport.case import Case, open_case
from fabricreport.errors import InputError
from fabricreport.evidence import read_yaml
from fabricreport.ledger import Number
from fabricreport.models.judgement.framework import AXES, evaluate, rules_from
from fabricreport.models.judgement.swings import Verdict
from fabricreport.provenance import plain
from fabricreport.scenario import params_from
from fabricreport.sections.decision.study import assumed_facts, direction, fate, framework_facts, standing, target_gpus

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def case() -> Case:
    return open_case(ROOT / "params" / "example.yaml")


def changed(tmp_path: Path, **sections: dict[str, object]) -> Case:
    data = yaml.safe_load((ROOT / "params" / "example.yaml").read_text())
    data["as_of"] = str(data["as_of"])
    for name, values in sections.items():
        data[name] = {**data[name], **values} if isinstance(values, dict) else values
    path = tmp_path / "changed.yaml"
    path.write_text(yaml.safe_dump(data))
    return open_case(path)


def test_the_difference_is_that_of_the_totals_and_its_probability_a_count(case: Case) -> None:
    result = case.decision()
    verdict, totals = result.verdict, case.tco().totals
    gap = plain(totals[verdict.runner_up]) - plain(totals[verdict.choice])
    assert plain(result.difference) == pytest.approx(gap, abs=1.0)
    assert verdict.probability == pytest.approx(float(np.mean(gap > 0)), abs=1e-9)
    assert sum(result.probabilities.values()) == pytest.approx(1.0)


def test_what_both_options_share_is_no_input_of_the_difference(case: Case) -> None:
    inputs = case.decision().difference.inputs
    assert "price:server-h100-8gpu" not in inputs and "price:optic-400g-sr4" not in inputs
    assert "price:switch-qm9700" in inputs


def test_printed_flips_lie_inside_the_range_of_their_input(case: Case) -> None:
    for swing in case.decision().flips():
        draws = plain(case.sample(swing.input_id))
        assert swing.break_even is not None and draws.min() <= swing.break_even <= draws.max()


def test_a_trajectory_counts_within_three_years(tmp_path: Path) -> None:
    grown = changed(tmp_path, cluster={"trajectory": [{"month": 30, "gpus": 4096}, {"month": 40, "gpus": 8192}]})
    assert target_gpus(grown.params) == 4096
    assert framework_facts(grown.params)["target_gpus"] == 4096


def test_a_single_node_needs_no_fabric(tmp_path: Path) -> None:
    tiny = changed(tmp_path, cluster={"gpus": 8}, workload={"kind": "fine-tuning", "model_parameters_billion": 8})
    verdict = tiny.decision().verdict
    assert (verdict.confidence, verdict.decided_by) == ("does not matter", "size")


def test_better_networking_people_make_rocev2_no_dearer(tmp_path: Path) -> None:
    def gap(maturity: str, qos: str) -> float:
        one = changed(tmp_path, organisation={"networking_maturity": maturity, "qos_expertise": qos})
        return float(plain(one.tco().gap("rocev2-nvidia-800g", "infiniband-ndr")).mean())

    gaps = [gap("low", "none"), gap("medium", "some"), gap("high", "strong")]
    assert gaps == sorted(gaps, reverse=True)


def test_an_override_is_used_and_graded_as_the_clients_word(tmp_path: Path) -> None:
    override = {
        "id": "price:switch-qm9700",
        "value": 20000,
        "who": "CFO",
        "why": "a signed quote",
        "until": "2027-01-31",
    }
    cheaper = changed(tmp_path, overrides=[override])
    assert cheaper.figure("price:switch-qm9700").value == 20000
    record = cheaper.input_record("price:switch-qm9700")
    assert record["grade"] == "contract" and record["override"]["who"] == "CFO"


def test_an_override_of_nothing_is_an_error_with_a_suggestion(tmp_path: Path) -> None:
    override = {"id": "price:switch-qm970", "value": 1, "who": "A", "why": "b", "until": "2027-01-31"}
    with pytest.raises(InputError, match="switch-qm9700"):
        changed(tmp_path, overrides=[override])


@pytest.mark.parametrize("kind", ["pretraining-dense", "fine-tuning", "inference-multi-node"])
@pytest.mark.parametrize("maturity", ["low", "medium", "high"])
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
    assert "weeks_to_production" in unstated and "qos_expertise" in unstated
    facts = framework_facts(params)
    found = evaluate(
        rules_from(read_yaml("framework")["rules"]), dict.fromkeys(AXES, ""), facts, dict.fromkeys(AXES, 1.0),
        seed=1, draws=10, assumed=unstated,
    )  # fmt: skip
    rules = [rule for axis in found.axes for rule in axis.rules]
    assert any("assumed, not stated: the date of production" in rule.reason for rule in rules)
    for rule in rules:
        assert all(unstated[fact] in rule.reason for fact in rule.when if fact in unstated)
    spoken = params_from(data | {"organisation": {"networking_maturity": maturity, "time_to_production_weeks": 12}})
    assert "weeks_to_production" not in assumed_facts(spoken)


def test_an_assumed_param_is_an_assumption_and_a_stated_one_the_clients_word(case: Case, tmp_path: Path) -> None:
    assert case.input_record("param:money.horizon_months")["grade"] == "contract"
    assert case.figure("param:money.horizon_months").grade == "contract"
    data = yaml.safe_load((ROOT / "params" / "example.yaml").read_text())
    data["as_of"] = str(data["as_of"])
    del data["money"]["horizon_months"]
    path = tmp_path / "silent.yaml"
    path.write_text(yaml.safe_dump(data))
    silent = open_case(path)
    record = silent.input_record("param:money.horizon_months")
    assert (record["grade"], record["use"]) == ("assumption", "assumed: not stated")
    figure = silent.figure("param:money.horizon_months")
    assert (figure.text, figure.grade) == (case.figure("param:money.horizon_months").text, "assumption")
    assert silent.figure("param:cluster.gpus").grade == "contract"
    inputs = ("param:cluster.gpus", "price:switch-qm9700")
    priced = {c: c.number("x", 1.0, "usd", label="x", rule="x", inputs=inputs).grade for c in (case, silent)}
    assert priced[case] == priced[silent] == case.input_record("price:switch-qm9700")["grade"]


@pytest.mark.parametrize(
    ("median", "word"), [(23_185.0, "less"), (-23_185.0, "more"), (0.0, "same"), (0.001, "same"), (-0.001, "same")]
)
def test_the_word_of_the_difference_follows_the_figure_that_is_printed(median: float, word: str) -> None:
    assert direction(Number("decision.difference", median, "usd", "Difference", "median")) == word


@pytest.mark.parametrize(
    ("choice", "rival", "leans_to", "decided_by", "word"),
    [
        ("white", "ib", "neither", "money", "none"),
        ("white", "ib", "rocev2", "money", "agrees"),
        ("white", "ib", "rocev2", "framework", "chose"),
        ("white", "ib", "infiniband", "money", "rival"),
        ("tcp", "white", "infiniband", "money", "behind"),
        ("tcp", "white", "infiniband", "size", "behind"),
    ],
)
def test_the_framework_agrees_only_when_it_leans_to_the_family_of_the_choice(
    choice: str, rival: str, leans_to: str, decided_by: str, word: str
) -> None:
    families = {"ib": "infiniband", "white": "rocev2", "tcp": "ethernet-tcp"}
    verdict = Verdict(choice, rival, "toss-up", decided_by, 0.5, None, False)
    printed = {"tcp": 1.0, "white": 2.0, "ib": 3.0}
    assert standing(verdict, families, leans_to, printed) == word
    if word == "behind":
        assert standing(verdict, families, leans_to, {**printed, "ib": 1.9}) == "third"
        assert standing(verdict, families, leans_to, {"tcp": 1.0, "white": 2.0}) == "absent"


@pytest.mark.parametrize(
    ("median_gap", "mean_gap", "word"),
    [
        (5.0, 5.0, "dearer"),
        (-5.0, -5.0, "cheaper"),
        (-5.0, 5.0, "cheaper at the median"),
        (5.0, -5.0, "cheaper on the mean"),
        (0.0, 5.0, "level"),
    ],
)
def test_an_option_costs_more_only_when_its_printed_total_does(median_gap: float, mean_gap: float, word: str) -> None:
    assert fate(median_gap, mean_gap) == word
