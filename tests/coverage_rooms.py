"""How many lines of each room the tests run: `python tests/coverage_rooms.py RUN.json`, as `make coverage` ends.

RUN.json is what `coverage json` writes; what kernels alone run is not in it, for they are killed when they are done. No room
may run fewer than `coverage_rooms.yaml` says that it ran, by more than half a point (of each law `make test` asks some clients,
by the commit), and none fewer than `FLOOR`. `--write` records what was run.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import yaml

RECORD = Path(__file__).with_suffix(".yaml")
FLOOR, SLACK = 85.0, 0.5
NO_ROOMS = {"__init__", "__main__"}
HEAD = "# Percent of each room's statements that `make test` runs: written by `python tests/coverage_rooms.py RUN.json --write`.\n"


def room_of(path: str) -> str:
    """The folder below the package that a file lies in, or the module that is a room by itself."""
    return Path(path.rpartition("fabricreport/")[2]).parts[0].removesuffix(".py")


def percents(files: Mapping[str, Mapping[str, Mapping[str, int]]]) -> dict[str, float]:
    """Percent of the statements of each room that were run."""
    of, run = Counter[str](), Counter[str]()
    for path, found in files.items():
        of[room_of(path)] += found["summary"]["num_statements"]
        run[room_of(path)] += found["summary"]["covered_lines"]
    return {room: round(100 * run[room] / of[room], 1) for room in sorted(of) if of[room] and room not in NO_ROOMS}


def faults(now: Mapping[str, float], before: Mapping[str, float]) -> list[str]:
    """What fell, what lies below the floor, and what of the record is gone."""
    fell = [f"{room}: {now[room]} %, was {was} %" for room, was in before.items() if now.get(room, 100.0) < was - SLACK]
    low = [f"{room}: {percent} %, at least {FLOOR:g} %" for room, percent in now.items() if percent < FLOOR]
    return fell + low + [f"{room}: no such room was run" for room in before if room not in now]


def main() -> int:
    """The command line: 1 where a room ran less."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("run", type=Path)
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    now = percents(json.loads(asked.run.read_text(encoding="utf-8"))["files"])
    before = yaml.safe_load(RECORD.read_text(encoding="utf-8")) or {} if RECORD.exists() else {}
    for room, percent in now.items():
        print(f"{room:12}{percent:7.1f} %{before.get(room, 0):9.1f} %")
    if asked.write:
        RECORD.write_text(HEAD + "".join(f"{room}: {percent}\n" for room, percent in now.items()), encoding="utf-8")
        return 0
    print("\n".join(found := faults(now, before)))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
