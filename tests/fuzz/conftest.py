"""How many cases, from which seed, and what became of them.

`FABRICREPORT_FUZZ_CASES` (150 unless set) are shared out among the tests; where it is set the tests belong to `make trust`
and `make soak`. The seed is the commit, so that a run can be repeated and the next commit tries others.
"""

from __future__ import annotations

import os
import subprocess
from collections import Counter
from pathlib import Path

import pytest

_ASKED = os.environ.get("FABRICREPORT_FUZZ_CASES", "")
CASES = int(_ASKED or "150")
COUNTS: Counter[str] = Counter()
"""Accepted and refused cases by kind of file."""


def commit() -> str:
    """The commit under test; zeros where there is no repository."""
    run = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=Path(__file__).parent, capture_output=True, text=True, check=False
    )
    return run.stdout.strip() or "0" * 40


SEED = int(commit(), 16)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Each kind of file may be tried by any worker; with a number of cases asked for, by the long targets only."""
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker("spread")
            if _ASKED:
                item.add_marker("trust")
                item.add_marker("soak")


def pytest_report_header() -> str:
    return f"fuzz: {CASES} cases, seed {SEED:040x}"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for kind in sorted({name.partition(":")[0] for name in COUNTS}):
        accepted, refused = COUNTS[f"{kind}:accepted"], COUNTS[f"{kind}:refused"]
        terminalreporter.write_line(
            f"fuzz of {kind}: {accepted + refused} cases, {accepted} accepted, {refused} refused"
        )
