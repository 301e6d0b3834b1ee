"""An override, and an entry the params refer to, is held against the unit of what it replaces, at its own line."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner
from rows import rows
from scenario_cases import override

from fabricreport.base.errors import InputError, Problem
from fabricreport.base.project import PARAMS
from fabricreport.case import open_case
from fabricreport.cli.main import main

pytestmark = pytest.mark.slow


def faults(folder: Path, data: dict[str, Any]) -> tuple[Problem, ...]:
    path = folder / "acme.yaml"
    path.write_text(yaml.safe_dump(data, sort_keys=False), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        open_case(path)
    assert caught.value.exit_code == 2
    return caught.value.problems


def line_of(folder: Path, text: str) -> int:
    lines = (folder / "acme.yaml").read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, start=1) if line.strip().startswith(text))


@rows("value", [-30000, 0, 1e-300, 1e12, {"low": -1, "high": 30000}, {"p5": 1e-300, "p95": 3.0}])
@rows("entry", ["price:switch-qm9700", "evidence:switch-qm9700-watts"])
def test_an_override_that_no_price_or_power_can_have_is_refused_at_its_line(
    tmp_path: Path, entry: str, value: Any
) -> None:
    (problem,) = faults(tmp_path, override(id=entry, value=value))
    assert problem.file.endswith("acme.yaml")
    assert problem.key == "overrides[0].value"
    assert problem.line == line_of(tmp_path, "value:")


@rows(
    ("entry", "value"),
    [
        ("evidence:support-rate-nvidia-networking", 1.5),
        ("evidence:link-flaps-per-link-year", -0.01),
        ("evidence:weeks-to-stable-rocev2", {"low": 0, "high": 3}),
        ("price:electricity", 1e6),
    ],
)
def test_each_unit_has_bounds_of_its_own(tmp_path: Path, entry: str, value: Any) -> None:
    assert [p.key for p in faults(tmp_path, override(id=entry, value=value))] == ["overrides[0].value"]


@rows("value", [0.01, 30000, {"low": 28000, "mode": 30000, "high": 31000}])
def test_an_override_within_the_bounds_is_taken(tmp_path: Path, value: Any) -> None:
    path = tmp_path / "acme.yaml"
    path.write_text(yaml.safe_dump(override(value=value)), encoding="utf-8")
    assert open_case(path).inputs.central("price:switch-qm9700") > 0


def test_an_override_may_not_borrow_a_figure_that_cannot_stand_there(tmp_path: Path) -> None:
    data = override(id="evidence:support-rate-nvidia-networking", value="evidence:switch-qm9700-watts")
    assert any(p.key == "overrides[0].value" for p in faults(tmp_path, data))


def test_a_discount_rate_may_not_refer_to_a_price(tmp_path: Path) -> None:
    data = override()
    data["money"]["discount_rate_per_year"] = "price:switch-qm9700"
    assert any(p.key == "money.discount_rate_per_year" for p in faults(tmp_path, data))


def test_a_price_row_that_cannot_be_ends_check_and_build_with_its_line(tmp_path: Path) -> None:
    shutil.copytree(PARAMS / "prices", tmp_path / "prices")
    path = tmp_path / "acme.yaml"
    path.write_text(yaml.safe_dump({k: v for k, v in override().items() if k != "overrides"}), encoding="utf-8")
    feed = tmp_path / "prices" / "zz.csv"
    head = (tmp_path / "prices" / "equipment.csv").read_text(encoding="utf-8")
    header = next(line for line in head.splitlines() if line.startswith("item,"))
    row = "switch-qm9700,each,26000,27900,,USD,2026-11-19,,A reseller,quote"
    feed.write_text(f"{header}\n{row}\n", encoding="utf-8")
    told = f"{feed}:2: low: 27,900 is above the price 26,000 (found 27900). Needed: low <= price <= high."
    for command in (["check"], ["build", "--output", str(tmp_path / "output")]):
        done = CliRunner().invoke(main, [*command, str(path)])
        assert done.exit_code == 2 and told in done.stderr and "held" not in done.stderr
    (held,) = (h for h in open_case(path).prices.quarantine if h.file.endswith("zz.csv"))
    assert (held.kind, held.line) == ("malformed", 2)
