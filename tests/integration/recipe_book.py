"""The recipes of CONTRIBUTING.md as data: their blocks read, and followed in a copy of the project."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

ROOT = Path(__file__).parents[2]
COPIED = ("fabricreport", "notebooks", "params", "tests", "pyproject.toml")
_BLOCK = re.compile(r"^(?P<indent> *)```(?P<info>[^\n]+)\n(?P<text>.*?)^(?P=indent)```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """One fenced block: what to do with its text, where."""

    action: str
    target: str
    text: str

    def follow(self, copy: Path) -> None:
        """Put the text where the block says."""
        path = copy / self.target
        before = path.read_text(encoding="utf-8")
        if self.action == "append":
            after = before + self.text
        else:
            key = self.action.removeprefix("under ")
            assert before.count(f"\n{key}:\n") == 1
            after = before.replace(f"\n{key}:\n", f"\n{key}:\n{self.text}")
        path.write_text(after, encoding="utf-8")


@dataclass(frozen=True)
class Recipe:
    """A heading of the document with the blocks of data and the commands that stand under it."""

    title: str
    blocks: tuple[Block, ...]
    commands: tuple[str, ...]

    @property
    def files(self) -> set[str]:
        """The files that its blocks touch."""
        return {block.target for block in self.blocks}

    def follow(self, copy: Path) -> None:
        """Put every block where it says, in order."""
        for block in self.blocks:
            block.follow(copy)


def recipes() -> dict[str, Recipe]:
    """Every recipe of the document by its title; a part without a block to follow is none."""
    document = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    parts = re.split(r"^## (.+)$", document, flags=re.MULTILINE)[1:]
    read = [_recipe(title, text) for title, text in zip(parts[::2], parts[1::2], strict=True)]
    return {recipe.title: recipe for recipe in read if recipe.blocks}


def _recipe(title: str, text: str) -> Recipe:
    blocks: list[Block] = []
    commands: list[str] = []
    for found in _BLOCK.finditer(text):
        kind, *rest = found["info"].split()
        body = dedent(found["text"])
        if kind == "sh":
            commands += body.splitlines()
        else:
            *action, target = rest
            if action[0] == "under":  # a list of keys: its lines keep their place under the key
                body = "".join(f"  {line.strip()}\n" for line in body.splitlines())
            blocks.append(Block(" ".join(action), target, body))
    return Recipe(title, tuple(blocks), tuple(commands))


def copied(folder: Path) -> Path:
    """A copy of what a fresh checkout holds."""
    leave = shutil.ignore_patterns("__pycache__", ".*_cache", ".hypothesis", "golden")
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=leave)
        else:
            shutil.copy(ROOT / name, folder / name)
    return folder
