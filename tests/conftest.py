"""How the tests share two cores: what one worker has built for itself is not built again by the other."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from itertools import groupby
from typing import Any
from unittest import mock
from zlib import crc32

import pytest
from branch_counts import BRANCHES
from fuzz_cases import CASES, COUNTS, PARTS, SEED, TENTH, some

from fabricreport.memo.run.environment import skip_unused_grammar

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


LAWS_IN_TEST = 10
"""Clients on which `make test` tries a law that `make laws` tries on all."""


def group_of(nodeid: str) -> str:
    """What a worker does as a whole."""
    path = nodeid.partition("::")[0]
    name = path.rpartition("/")[2]
    return TOGETHER.get(name) or (nodeid if name in SPREAD else path)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what falls to other commits; begin with what takes longest."""
    if out := set(left_to_other_commits(items, laws_whole="laws" in config.option.markexpr)):
        config.hook.pytest_deselected(items=[item for item in items if item in out])
        items[:] = [item for item in items if item not in out]
    rank = {name: number for number, name in enumerate(LONG)}
    items.sort(key=lambda item: rank.get(group_of(item.nodeid).rpartition("/")[2], len(LONG)))


def left_to_other_commits(items: list[pytest.Item], *, laws_whole: bool) -> Iterator[pytest.Item]:
    """All but a tenth of trust where a tenth is asked for; of each law all but ten clients, unless laws are."""
    if TENTH:  # the fuzz takes a tenth of its cases
        trust = [item for item in items if item.get_closest_marker("trust") and item.path.parent.name != "fuzz"]
        yield from (item for item in trust if crc32(item.nodeid.encode()) % PARTS != SEED % PARTS)
    if not laws_whole:
        laws = (item for item in items if item.get_closest_marker("laws"))
        for _, same in groupby(laws, key=lambda item: item.nodeid.partition("[")[0]):
            clients = list(same)
            yield from set(clients) - set(some(clients, LAWS_IN_TEST))


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
