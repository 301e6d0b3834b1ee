"""What no bound by unit can know: figures that the analyses founder on are refused by check, at their line."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner
from scenario_cases import PARAMS, minimal

from fabricreport.case import open_case
from fabricreport.checking.check import check
from fabricreport.cli import main
from fabricreport.scenario import SECTION_NAMES

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("few_draws")]

BY_WHOM = {"who": "A. Buyer", "why": "A written quote", "until": "2027-06-30"}
FOUNDERED: list[tuple[str, Any]] = [
    ("evidence:pue", 0.95),
    ("evidence:lever-cost-burn-in", 0),
    ("evidence:kernel-efficiency-hopper", 0),
    ("evidence:checkpoint-write-seconds", 0),
    ("evidence:tuned-roce-bandwidth-share", 0.5),
    ("evidence:engineer-hours-per-year", 0),
    ("evidence:inference-batch", 1e15),
]


def client(folder: Path, *overrides: tuple[str, Any], **sections: Any) -> Path:
    folder.mkdir(exist_ok=True)
    shutil.copytree(PARAMS / "prices", folder / "prices")
    data = minimal() | sections | {"overrides": [{"id": i, "value": v, **BY_WHOM} for i, v in overrides]}
    path = folder / "acme.yaml"
    path.write_text(yaml.safe_dump(data, sort_keys=False), encoding="utf-8")
    return path


@pytest.mark.parametrize(("entry", "value"), FOUNDERED, ids=[e for e, _ in FOUNDERED])
def test_an_override_is_refused_where_the_analyses_founder_on_it_and_else_they_run(
    tmp_path: Path, entry: str, value: float
) -> None:
    path = client(tmp_path, (entry, value))
    done = CliRunner().invoke(main, ["check", str(path)])
    if done.exit_code == 0:
        case = open_case(path)
        assert all(case.result(section).numbers for section in SECTION_NAMES)
    else:
        (problem,) = check(path).problems
        part = "id" if problem.rule == "override-moves-nothing" else "value"
        assert done.exit_code == 2 and (problem.key, problem.value) == (f"overrides[0].{part}", entry)
        assert problem.file == str(path) and (problem.line or 0) > 1


def test_only_the_override_at_fault_is_blamed(tmp_path: Path) -> None:
    path = client(tmp_path, ("price:switch-qm9700", 30000), ("evidence:pue", 0.95))
    assert [p.key for p in check(path).problems] == ["overrides[1].value"]


def test_an_option_of_the_clients_own_that_no_model_can_carry_is_refused_at_its_place(tmp_path: Path) -> None:
    path = client(tmp_path, options=["infiniband-ndr", "rocev2-whitebox-400g", "mine"])
    (tmp_path / "options").mkdir()
    own = [{"id": "mine", "like": "rocev2-whitebox-400g", "name": "Mine", "links_per_node": 1024}]
    (tmp_path / "options" / "own.yaml").write_text(yaml.safe_dump(own), encoding="utf-8")
    (problem,) = check(path).problems
    assert problem.key == "options[2]" and problem.value == "mine" and problem.line


def test_sound_inputs_of_ones_own_are_accepted(tmp_path: Path) -> None:
    assert check(client(tmp_path, ("evidence:pue", 1.3), ("price:switch-qm9700", 30000))).problems == ()
