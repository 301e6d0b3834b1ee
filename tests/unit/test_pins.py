from __future__ import annotations

import subprocess
import tomllib
from collections.abc import Iterator

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from fabricreport.base.project import PACKAGE, SHIPPED, shipped_files

PYPROJECT = tomllib.loads((SHIPPED / "pyproject.toml").read_text(encoding="utf-8"))
PINS = PACKAGE / "constraints.txt"


def asked_for() -> Iterator[Requirement]:
    project = PYPROJECT["project"]
    for group in (project["dependencies"], *project["optional-dependencies"].values()):
        yield from map(Requirement, group)


def pinned() -> dict[str, str]:
    rows = [row for row in PINS.read_text(encoding="utf-8").splitlines() if not row.startswith("#")]
    assert all(row.count("==") == 1 for row in rows), "one name==version a line"
    pins = dict(row.split("==") for row in rows)
    assert list(pins) == sorted({canonicalize_name(name) for name in pins}), (
        "each once, under its normal name, in order"
    )
    return pins


def test_the_exact_set_names_every_library_asked_for_within_its_range() -> None:
    pins, faults = pinned(), []
    for asked in asked_for():
        version = pins.get(canonicalize_name(asked.name), "none")
        if version == "none" or version not in asked.specifier:
            faults.append(f"{asked}: {version}")
    assert not faults


def test_every_library_asked_for_has_a_floor_that_keeps_known_holes_closed() -> None:
    floors = {asked.name: asked.specifier for asked in asked_for()}
    assert [str(r) for r in asked_for() if not any(s.operator == ">=" for s in r.specifier)] == []
    holed = {"nbconvert": "7.17.0", "mistune": "3.2.9", "jinja2": "3.1.5"}
    assert [f"{name} {version}" for name, version in holed.items() if version in floors[name]] == []


def test_what_ships_is_every_file_of_notebooks_params_and_output_that_git_has() -> None:
    asked = ["git", "ls-files", "notebooks", "params", "output"]
    kept = subprocess.run(asked, cwd=SHIPPED, capture_output=True, text=True, check=True).stdout.split()
    assert sorted(shipped_files()) == sorted(kept)
