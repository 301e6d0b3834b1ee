"""Which targets the fuzz belongs to, and its report; see `cases.py`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from cases import ASKED, CASES, COUNTS, SEED


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Each kind of file may be tried by any worker; with a number of cases asked for, by the long targets only."""
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker("spread")
            if ASKED:
                item.add_marker("trust")
                item.add_marker("soak")


def pytest_report_header() -> str:
    return f"fuzz: {CASES} cases, seed {SEED:040x}"


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A worker hands its counts to the process that reports."""
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["fuzz"] = dict(COUNTS)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    COUNTS.update(getattr(node, "workeroutput", {}).get("fuzz", {}))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for kind in sorted({name.partition(":")[0] for name in COUNTS}):
        accepted, refused = COUNTS[f"{kind}:accepted"], COUNTS[f"{kind}:refused"]
        terminalreporter.write_line(
            f"fuzz of {kind}: {accepted + refused} cases, {accepted} accepted, {refused} refused"
        )
