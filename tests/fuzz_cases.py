"""How many cases, which of them, from which seed, and what became of them.

`FABRICREPORT_FUZZ_CASES` (80 unless set) are shared out among the fuzz tests; where it is set they belong to `make trust` and
`make soak`. `FABRICREPORT_TENTH=1` takes a tenth of them, and of all other tests of trust. The seed is the commit, so that a
run can be repeated and the next commit tries others.
"""

from __future__ import annotations

import os
import subprocess
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")
PARTS = 10
TENTH = bool(os.environ.get("FABRICREPORT_TENTH"))
ASKED = os.environ.get("FABRICREPORT_FUZZ_CASES", "")
CASES = int(ASKED or "80") // (PARTS if TENTH else 1)
COUNTS: Counter[str] = Counter()
"""Accepted and refused cases by kind of file."""


def commit() -> str:
    """The commit under test; zeros where there is no repository."""
    run = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=Path(__file__).parent, capture_output=True, text=True, check=False
    )
    return run.stdout.strip() or "0" * 40


SEED = int(commit(), 16)


def some(of: Sequence[T], count: int) -> list[T]:
    """So many of them, spread evenly, from where this commit begins."""
    count = min(count, len(of))
    return [of[(SEED + number * len(of) // count) % len(of)] for number in range(count)]
