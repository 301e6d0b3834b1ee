"""How the tests share two cores: what one worker has built for itself is not built again by the other."""

from __future__ import annotations

from typing import Any

import pytest
from branch_counts import BRANCHES
from fuzz_cases import CASES, COUNTS, SEED


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep a file's tests on one worker, and all tests that read the built memos on one; an array is spread out."""
    for item in items:
        if "memos" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.xdist_group("memos"))
        elif not item.get_closest_marker("spread"):
            item.add_marker(pytest.mark.xdist_group(item.nodeid.partition("::")[0]))


def pytest_report_header() -> str:
    return f"fuzz: {CASES} cases, seed {SEED:040x}"


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A worker hands its counts to the process that reports."""
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["fuzz"] = dict(COUNTS)
        output["branches"] = dict(BRANCHES)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    COUNTS.update(getattr(node, "workeroutput", {}).get("fuzz", {}))
    BRANCHES.update(getattr(node, "workeroutput", {}).get("branches", {}))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for section in sorted({name.partition(":")[0] for name in BRANCHES}):
        made, taken = BRANCHES[f"{section}:rendered"], BRANCHES[f"{section}:taken"]
        terminalreporter.write_line(f"branches of {section}: {made} rendered, {taken} taken by a shipped client")
    for kind in sorted({name.partition(":")[0] for name in COUNTS}):
        accepted, refused = COUNTS[f"{kind}:accepted"], COUNTS[f"{kind}:refused"]
        terminalreporter.write_line(
            f"fuzz of {kind}: {accepted + refused} cases, {accepted} accepted, {refused} refused"
        )
