"""Every GPU type of the params has its row in every table that is looked up by it, and a missing row is told."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_args

import pytest

from fabricreport.case import open_case
from fabricreport.constants import catalogue, practice
from fabricreport.errors import InputError
from fabricreport.evidence import read_yaml
from fabricreport.scenario.schema import Cluster
from fabricreport.sections.tco import inputs as tco_inputs

GPUS = get_args(Cluster.model_fields["gpu"].annotation)
EXAMPLE = Path(__file__).parents[2] / "params" / "example.yaml"


def of(gpu: str) -> Any:
    return SimpleNamespace(params=SimpleNamespace(cluster=SimpleNamespace(gpu=gpu)))


@pytest.mark.parametrize(
    ("table", "known"),
    [
        ("servers", [row["gpu"] for row in read_yaml("servers")]),
        ("collectives", list(read_yaml("collectives")["gpus"])),
        ("training_presets", list(read_yaml("training_presets")["gpus"])),
    ],
)
def test_a_table_has_one_row_for_each_type_and_no_other(table: str, known: list[str]) -> None:
    assert sorted(known) == sorted(GPUS), table


@pytest.mark.parametrize("gpu", GPUS)
def test_what_the_rows_refer_to_is_in_the_books(gpu: str) -> None:
    case, row = open_case(EXAMPLE), tco_inputs.server_row(of(gpu))
    named = [row[key] for key in ("price", "watts", "nic_price", "nic_watts", "rent", "fabric_per_gpu")]
    assert all(case.inputs.central(input_id) > 0 for input_id in (*named, f"evidence:{practice().gpu(gpu).efficiency}"))


@pytest.mark.parametrize("look_up", [lambda gpu: tco_inputs.server_row(of(gpu)), catalogue().gpu, practice().gpu])
def test_a_type_without_a_row_is_an_input_error_with_a_remedy(look_up: Any) -> None:
    with pytest.raises(InputError) as caught:
        look_up("h999")
    (problem,) = caught.value.problems
    assert "h999" in problem.value and "gpu" in problem.key and "h100" in str(problem) and problem.remedy
