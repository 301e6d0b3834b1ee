"""The smallest params file, with one thing changed: what the scenario tests share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from fabricreport.base.errors import InputError, Problem
from fabricreport.scenario import load_params, params_from

PARAMS = Path(__file__).parents[2] / "params"
EXAMPLES = ("example", "tern-finetuning", "kestrel-lab")


def minimal() -> dict[str, Any]:
    return {
        "client": {"name": "Acme"},
        "as_of": "2026-11-20",
        "cluster": {"gpus": 64},
        "workload": {"kind": "fine-tuning"},
        "organisation": {"networking_maturity": "medium"},
        "money": {"acquisition": "buy"},
    }


def with_value(dotted: str, value: Any) -> dict[str, Any]:
    """The minimal data with one key set."""
    data = minimal()
    *parents, last = dotted.split(".")
    at = data
    for part in parents:
        at = at.setdefault(part, {})
    at[last] = value
    return data


def problems_of(data: dict[str, Any], tmp_path: Path | None = None) -> tuple[Problem, ...]:
    with pytest.raises(InputError) as caught:
        if tmp_path is None:
            params_from(data)
        else:
            path = tmp_path / "params.yaml"
            path.write_text(yaml.safe_dump(data, sort_keys=False))
            load_params(path)
    return caught.value.problems


def only(data: dict[str, Any]) -> Problem:
    problems = problems_of(data)
    assert len(problems) == 1, problems
    return problems[0]


def override(**changes: Any) -> dict[str, Any]:
    entry = {
        "id": "price:switch-qm9700",
        "value": {"low": 28000, "high": 31000},
        "who": "J. Buyer",
        "why": "Quote of 3 November",
        "until": "2027-01-31",
    }
    return minimal() | {"overrides": [{k: v for k, v in (entry | changes).items() if v != "drop"}]}
