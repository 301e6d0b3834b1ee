"""How many cases, from which seed, and what became of them.

`FABRICREPORT_FUZZ_CASES` (150 unless set) are shared out among the tests; where it is set the tests belong to `make trust`
and `make soak`. The seed is the commit, so that a run can be repeated and the next commit tries others.
"""

from __future__ import annotations

import os
import subprocess
from collections import Counter
from pathlib import Path

ASKED = os.environ.get("FABRICREPORT_FUZZ_CASES", "")
CASES = int(ASKED or "150")
COUNTS: Counter[str] = Counter()
"""Accepted and refused cases by kind of file."""


def commit() -> str:
    """The commit under test; zeros where there is no repository."""
    run = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=Path(__file__).parent, capture_output=True, text=True, check=False
    )
    return run.stdout.strip() or "0" * 40


SEED = int(commit(), 16)
