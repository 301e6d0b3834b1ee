"""How `.ci/run` ends: the wall time of each target, and the ten slowest tests of all of them.

`python tests/slowest.py FOLDER`: there, `seconds` has a line "target seconds" for each target, and each target that runs
tests left its report as `TARGET.xml`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from xml.etree import ElementTree

MOST = 10


def slowest(folder: Path) -> list[tuple[float, str]]:
    """Seconds and name of the slowest tests, the slowest first."""
    found = [
        (float(case.get("time", 0)), f"{report.stem}: {case.get('classname')}::{case.get('name')}")
        for report in folder.glob("*.xml")
        for case in ElementTree.parse(report).iter("testcase")
    ]
    return sorted(found, reverse=True)[:MOST]


def main(folder: Path) -> None:
    for line in (folder / "seconds").read_text(encoding="utf-8").splitlines():
        target, seconds = line.split()
        print(f"{target:>8} {int(seconds) // 60:3d} min {int(seconds) % 60:2d} s")
    for seconds, name in slowest(folder):
        print(f"{seconds:8.1f} s  {name}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
