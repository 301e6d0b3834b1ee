"""The decision of a whole case: it follows money first, says when the framework disagrees, and where it turns."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import yaml

from fabricreport.analysis.decision import framework_facts, target_gpus
from fabricreport.case import Case, open_case
from fabricreport.errors import InputError
from fabricreport.provenance import plain

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
