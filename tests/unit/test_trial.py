"""What no bound by unit can know: figures that the analyses founder on are refused by check, at their line."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import bench
import pytest
import yaml
from rows import rows
from scenario_cases import PARAMS, minimal

from fabricreport.case import Case
from fabricreport.check.check import check
from fabricreport.check.examination import foundering

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("few_draws")]

BY_WHOM = {"who": "A. Buyer", "why": "A written quote", "until": "2027-06-30"}
TWO = ["infiniband-ndr", "rocev2-branded-400g"]
FOUNDERED: list[tuple[str, float]] = [
    ("pue", 0.95),
    ("kernel-efficiency-hopper", 0),
    ("checkpoint-write-seconds", 0),
    ("tuned-roce-bandwidth-share", 0.5),
    ("engineer-hours-per-year", 0),
]


def client(folder: Path, *overrides: tuple[str, Any], **sections: Any) -> Path:
    folder.mkdir(exist_ok=True)
    shutil.copytree(PARAMS / "prices", folder / "prices")
    data = (
        minimal()
        | {"options": TWO}
        | sections
        | {"overrides": [{"id": i, "value": v, **BY_WHOM} for i, v in overrides]}
    )
    path = folder / "acme.yaml"
    path.write_text(yaml.safe_dump(data, sort_keys=False), encoding="utf-8")
    return path


def tried(entry: str, value: float) -> str:
    """Why a client that overrides an entry cannot be analysed, no part of its chain taken over from another."""
    return foundering(Case(bench.case("two options").inputs).changed(evidence={entry: value}))


@rows(("entry", "value"), FOUNDERED)
def test_what_the_analyses_founder_on_is_told_and_never_a_traceback(entry: str, value: float) -> None:
    assert tried(entry, value)


def test_a_figure_that_is_odd_but_can_be_worked_with_is_worked_with() -> None:
    assert tried("inference-batch", 1e15) == ""


def test_only_the_override_at_fault_is_blamed_at_its_line(tmp_path: Path) -> None:
    path = client(tmp_path, ("price:switch-qm9700", 30000), ("evidence:pue", 0.95))
    (problem,) = check(path).problems
    assert (problem.file, problem.key, problem.value) == (str(path), "overrides[1].value", "evidence:pue")
    assert problem.line == 1 + path.read_text(encoding="utf-8").splitlines().index("  value: 0.95")


def test_an_option_of_the_clients_own_that_no_model_can_carry_is_refused_at_its_place(tmp_path: Path) -> None:
    path = client(tmp_path, options=["infiniband-ndr", "rocev2-whitebox-400g", "mine"])
    (tmp_path / "options").mkdir()
    own = [{"id": "mine", "like": "rocev2-whitebox-400g", "name": "Mine", "links_per_node": 1024}]
    (tmp_path / "options" / "own.yaml").write_text(yaml.safe_dump(own), encoding="utf-8")
    (problem,) = check(path).problems
    assert problem.key == "options[2]" and problem.value == "mine" and problem.line


def test_sound_inputs_of_ones_own_are_accepted(tmp_path: Path) -> None:
    assert check(client(tmp_path, ("evidence:pue", 1.3), ("price:switch-qm9700", 30000))).problems == ()
