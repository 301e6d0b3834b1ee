"""A client's folder with books of its own: what the tests of `check` share."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import yaml
from scenario_cases import PARAMS, minimal

from fabricreport.base.errors import Problem
from fabricreport.books.prices.rules import COLUMNS

HEADER = ",".join(COLUMNS)
OVERRIDE = {"id": "price:switch-qm9700", "value": 30000, "who": "J. Buyer", "why": "Quote", "until": "2027-01-31"}


def desk(folder: Path, data: dict[str, Any] | None = None, *, prices: str | None = None) -> Path:
    """A client's folder with prices of its own; the params file that stands in it."""
    folder.mkdir(exist_ok=True)
    if prices is None:
        shutil.copytree(PARAMS / "prices", folder / "prices")
    else:
        (folder / "prices").mkdir()
        (folder / "prices" / "own.csv").write_text(f"{HEADER}\n{prices}\n", encoding="utf-8")
    path = folder / "acme.yaml"
    path.write_text(yaml.safe_dump(data or minimal(), sort_keys=False), encoding="utf-8")
    return path


def line_of(path: Path, word: str) -> int:
    return 1 + next(n for n, line in enumerate(path.read_text().splitlines()) if word in line)


def only(problems: tuple[Problem, ...]) -> Problem:
    assert len(problems) == 1, [str(p) for p in problems]
    return problems[0]
