"""How the tests share two cores: what one worker has built for itself is not built again by the other."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from typing import Any
from unittest import mock

import pytest
from branch_counts import BRANCHES
from fuzz_cases import CASES, COUNTS, SEED

from fabricreport.memo.run.grammar import skip_unused_grammar

skip_unused_grammar()  # before a test imports nbformat
if (
    signal.getsignal(signal.SIGINT) is signal.SIG_IGN
):  # as of a job in the background: builds under test are interrupted
    signal.signal(signal.SIGINT, signal.default_int_handler)

TOGETHER = {
    **dict.fromkeys(("test_memos.py", "test_one_process.py", "test_seeds_stand.py"), "memos"),
    **dict.fromkeys(("test_decision_courses.py", "test_courses_told.py"), "courses"),
    **dict.fromkeys(
        ("test_monday.py", "test_monday_conditions.py", "test_monday_days.py", "test_monday_open.py"), "monday"
    ),
}
"""Files that read what is built once, by its name: the memos, the clients of `monday_cases` and `course_cases`. One worker builds it for all."""
SPREAD = {"test_covering_array.py", "test_fuzz.py"}
"""Files each of whose tests is on its own and may run on any worker."""
LONG = ("memos", "test_conformance.py", "test_build.py", "test_execute.py", "test_one_comparison.py")
"""Groups that take longest, begun first: one begun last would leave the other worker idle."""


def group_of(nodeid: str) -> str:
    """What a worker does as a whole."""
    path = nodeid.partition("::")[0]
    name = path.rpartition("/")[2]
    return TOGETHER.get(name) or (nodeid if name in SPREAD else path)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    rank = {name: number for number, name in enumerate(LONG)}
    items.sort(key=lambda item: rank.get(group_of(item.nodeid).rpartition("/")[2], len(LONG)))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Keep a file's tests on one worker: what a module has made once is not made again by the other.

    The groups of pytest-xdist's own scheduler stand in the node ids, which pytest no longer lets it change.
    """
    from xdist.scheduler import LoadScopeScheduling

    class ByFile(LoadScopeScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            return group_of(nodeid)

    config.option.loadscopereorder = False
    return ByFile(config, log)


@pytest.fixture(scope="module")
def few_draws() -> Iterator[None]:
    """Cases of 256 draws where nothing that is asked rests on their number."""
    import fabricreport.inputs

    with mock.patch.object(fabricreport.inputs, "DRAWS", 256):
        yield


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
