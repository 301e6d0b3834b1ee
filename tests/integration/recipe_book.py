"""The recipes of CONTRIBUTING.md: what each adds stands in `tests/data/recipes/<recipe>/`, laid out as the project is."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
RECIPES = ROOT / "tests" / "data" / "recipes"
COPIED = ("fabricreport", "notebooks", "params", "tests", "pyproject.toml")


@dataclass(frozen=True)
class Recipe:
    """A folder of lines to add, each file at the path of the file that they belong to."""

    folder: Path

    @property
    def files(self) -> set[str]:
        """The files that it touches."""
        return {path.relative_to(self.folder).as_posix() for path in self.folder.rglob("*") if path.is_file()}

    def text(self, target: str) -> str:
        """What it adds to a file."""
        return (self.folder / target).read_text(encoding="utf-8")

    def entries(self, target: str) -> Any:
        """The same, read."""
        return yaml.safe_load(self.text(target))

    @property
    def evidence(self) -> list[dict[str, Any]]:
        """The entries of the library that it adds."""
        return [entry for file in sorted(self.files) if "/library/" in file for entry in self.entries(file)]

    def follow(self, copy: Path) -> None:
        """Put each file's lines at the end of its file; under its first line, where that is a key which is there already."""
        for target in self.files:
            path, text = copy / target, self.text(target)
            before = path.read_text(encoding="utf-8")
            key, _, below = text.partition("\n")
            stands = f"\n{key}\n"
            under = key.endswith(":") and before.count(stands) == 1
            path.write_text(before.replace(stands, f"{stands}{below}") if under else before + text, encoding="utf-8")


def recipes() -> dict[str, Recipe]:
    """Every recipe by the name of its folder, in the order in which they are told."""
    return {name: Recipe(RECIPES / name) for name in ("family", "option", "gpu")}


def copied(folder: Path) -> Path:
    """A copy of what a fresh checkout holds."""
    leave = shutil.ignore_patterns("__pycache__", ".*_cache", ".hypothesis", "golden")
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=leave)
        else:
            shutil.copy(ROOT / name, folder / name)
    return folder
