"""The data files shipped with the package: figures with sources, model constants, measured tables.

Figures live here as YAML and CSV, never in `.py` files. This module only opens them; meaning is given by
`fabricreport.books` (evidence, claims) and `fabricreport.models` (constants of a model).
"""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parent

_Loader: type = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@cache
def read_yaml_at(path: Path) -> Any:
    """Parse a YAML file of the package, once. Treat the result as read-only."""
    with path.open(encoding="utf-8") as handle:
        return yaml.load(handle, Loader=_Loader)


def read_yaml(name: str) -> Any:
    """Parse `<name>.yaml` beside this module, once. Treat the result as read-only."""
    return read_yaml_at(ROOT / f"{name}.yaml")


@cache
def read_rows(name: str) -> tuple[dict[str, str], ...]:
    """Rows of `<name>.csv` beside this module as dicts of strings; lines that start with `#` are comments."""
    with (ROOT / f"{name}.csv").open(encoding="utf-8", newline="") as handle:
        return tuple(csv.DictReader(line for line in handle if not line.startswith("#")))
