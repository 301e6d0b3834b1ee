"""How the tests share two cores: what one worker has built for itself is not built again by the other."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from itertools import groupby
from typing import Any
from unittest import mock
from zlib import crc32

import pytest
from fuzz_cases import CASES, COUNTS, PARTS, SEED, TENTH, some

from fabricreport.memo.run.environment import skip_unused_grammar

skip_unused_grammar()  # before a test imports nbformat
if (
    signal.getsignal(signal.SIGINT) is signal.SIG_IGN
):  # as of a job in the background: builds under test are interrupted
    signal.signal(signal.SIGINT, signal.default_int_handler)

MEMOS = "memos"
READERS = ("test_answers_memo", "test_buy_once_memo", "test_headlines", "test_language", "test_memos", "test_offers_memo", "test_one_comparison", "test_one_process", "test_report_memo", "test_seeds_stand", "test_two_clients")  # fmt: skip
"""Files that read the example memos, which one worker builds for all of them."""
CLIENTS = "clients"
DECIDED = ("test_acceptance_plan", "test_analysis_decision", "test_analysis_diligence", "test_bases", "test_beyond", "test_carrying", "test_charts", "test_cheapest", "test_clauses", "test_courses_told", "test_decision_courses", "test_every_branch", "test_findings_decision", "test_findings_diligence", "test_findings_evidence", "test_findings_latency", "test_findings_tail_risk", "test_findings_tco", "test_headline_words", "test_held_told", "test_like_with_like", "test_monday", "test_monday_conditions", "test_on_demand", "test_own_numbers", "test_page_one", "test_reversals", "test_spine_buy_once", "test_spine_choose_provider", "test_spine_grow_in_stages", "test_turning", "test_unquoted", "test_what_to_find_out", "test_within_nodes", "test_words_of_the_memo")  # fmt: skip
"""Files that ask for the whole decision of the same clients at few draws, which one worker makes for all of them."""
TOGETHER = {f"{name}.py": group for group, names in ((MEMOS, READERS), (CLIENTS, DECIDED)) for name in names}
"""Files that read what is made once, by the name of their group."""
SPREAD = {
    "test_covering_array.py",
    "test_decisions.py",
    "test_fuzz.py",
    "test_laws.py",
    "test_renter_laws.py",
}
"""Files of many clients: each is asked by one worker, whichever is free."""
DRAWN = {f"test_{law}_laws.py" for law in ("cash", "close", "mark", "schedule", "step", "sure", "terms")}
"""Files of laws on the same clients drawn at random: all that is asked of one is asked together, so that it is drawn once."""
LONG = (MEMOS, CLIENTS, "test_build.py", "test_execute.py", "test_liveness.py")
"""Groups that take longest, begun first: one begun last would leave the other worker idle."""


LAWS_IN_TEST = 10
"""Clients on which `make test` tries a law that `make laws` tries on all, unless its mark says how many (0: none)."""


def group_of(nodeid: str) -> str:
    """What a worker does as a whole."""
    path, _, test = nodeid.partition("::")
    name = path.rpartition("/")[2]
    if name in DRAWN and "[" in test:
        client = test.partition("[")[2].rstrip("]").partition("-")[0]
        return f"client {client}" if client.isdigit() else CLIENTS
    return TOGETHER.get(name) or (f"{path}[{test.partition('[')[2] or test}" if name in SPREAD else path)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what falls to other commits; begin with what takes longest, and keep each group together."""
    if out := set(left_to_other_commits(items, laws_whole="laws" in config.option.markexpr)):
        config.hook.pytest_deselected(items=[item for item in items if item in out])
        items[:] = [item for item in items if item not in out]
    readers = [item.nodeid for item in items if "memos" in getattr(item, "fixturenames", ())]
    assert {group_of(nodeid) for nodeid in readers} <= {MEMOS}, "a file that reads the memos stands among READERS"
    rank = {name: number for number, name in enumerate(LONG)}
    groups = list(dict.fromkeys(group_of(item.nodeid) for item in items))
    groups.sort(key=lambda group: rank.get(group.rpartition("/")[2], len(LONG)))
    place = {group: number for number, group in enumerate(groups)}
    items.sort(key=lambda item: place[group_of(item.nodeid)])


def _drawn_by(item: pytest.Item) -> str:
    """What decides the commits on which an item is run: all laws of one client fall to the same."""
    group = group_of(item.nodeid)
    return group if group.startswith("client ") else item.nodeid


def left_to_other_commits(items: list[pytest.Item], *, laws_whole: bool) -> Iterator[pytest.Item]:
    """All but a tenth of trust, or of laws, where a tenth is asked for; of each law all but ten clients, unless laws are."""
    if TENTH:  # the fuzz takes a tenth of its cases
        trust = [item for item in items if item.get_closest_marker("trust") and item.path.parent.name != "fuzz"]
        laws = [item for item in items if laws_whole and item.get_closest_marker("laws")]
        yield from (i for i in [*trust, *laws] if crc32(_drawn_by(i).encode()) % PARTS != SEED % PARTS)
    if not laws_whole:
        laws = (item for item in items if item.get_closest_marker("laws"))
        for _, same in groupby(laws, key=lambda item: item.nodeid.partition("[")[0]):
            clients = list(same)
            marker = clients[0].get_closest_marker("laws")
            count = next(iter(marker.args), LAWS_IN_TEST) if marker else LAWS_IN_TEST
            yield from set(clients) - set(some(clients, count))


def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """What a file keeps for itself goes when the next begins: a worker holds no more than one file needs."""
    if nextitem is not None and group_of(item.nodeid) != group_of(nextitem.nodeid):
        if "bench" in sys.modules:
            sys.modules["bench"].forget()
        if item.path != nextitem.path:
            module = item.getparent(pytest.Module).obj
            for made in vars(module).values():
                if hasattr(made, "cache_clear") and made.__module__ == module.__name__:
                    made.cache_clear()


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
    import fabricreport.inputs.inputs

    with mock.patch.object(fabricreport.inputs.inputs, "DRAWS", 256):
        yield


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
