"""What the project weighs, in four totals: `python tests/weight.py SECONDS`, as `make quick` ends."""

from __future__ import annotations

import sys
from pathlib import Path

from notebook_cells import EVERY, sources

from fabricreport.blocks.prose import is_prose
from fabricreport.bodies.bodies import DECLARED

ROOT = Path(__file__).parents[1]


def lines(folder: str) -> int:
    """Lines of the Python files below a folder."""
    return sum(len(path.read_bytes().splitlines()) for path in (ROOT / folder).rglob("*.py"))


def main(seconds: str) -> None:
    figures = sum(len(section.specs) for section in DECLARED.values())
    cells = sum(is_prose(source) for name in EVERY for source, _ in sources(name))
    print(f"lines of package and tests: {lines('fabricreport'):,} and {lines('tests'):,}")
    print(f"figures declared: {figures:,}")
    print(f"prose cells: {cells:,}")
    print(f"seconds: {seconds}")


if __name__ == "__main__":
    main(sys.argv[1])
