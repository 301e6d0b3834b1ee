"""A memo after the first says what changed since: two sentences on page one, and a table whose every number has its source."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from unittest import mock

import bench
import pytest
from one_process import Whole, drawing, executed

from fabricreport.blocks.document import MIME
from fabricreport.blocks.nodes import DataTable, Num, plain_text, walk
from fabricreport.memo.document.checks import page_one, prove
from fabricreport.memo.document.document import document_of
from fabricreport.memo.document.pieces import gather
from fabricreport.memo.editions.annex import SECTION, with_changes
from fabricreport.memo.editions.causes import Cause, Kind
from fabricreport.memo.editions.manifest import HeadlineChange
from fabricreport.memo.editions.redline import NumberChange, Redline
from fabricreport.memo.run.noise import notebook_bytes

pytestmark = pytest.mark.slow
SPINE = "choose_provider"
DAY = "2026-11-20", "20 November 2026"
EDITIONS = "2026-11-20-aaaaaaaa", "2026-11-27-bbbbbbbb"
HOUR = "price:gpu-hour-h100-hyperstack"
COST = "decision.offers.total.hyperstack"
MOVE = NumberChange(
    HOUR,
    "the rent of an hour of one H100, Hyperstack",
    "usd/gpu-hour",
    3.4,
    3.2,
    "$3.40 per GPU-hour",
    "$3.20 per GPU-hour",
)


def redline(*, turned: bool) -> Redline:
    """A cost that fell from $437k, or an offer that is another."""
    now = memo().case.figure(COST)
    causes = (Cause(Kind.METHOD, 100.0), Cause(Kind.PRICE, -21_200.0, (HOUR,)), Cause(Kind.TOGETHER, 90.0, ("prices",)),
              Cause(Kind.INPUTS, 10.0, ("params", "sources")), Cause(Kind.SINCE, 1.0))  # fmt: skip
    texts = "$437k", now.text
    number = NumberChange(COST, now.label, "usd", 437_000.0, now.value, *texts, causes)
    words = (HeadlineChange("offer", "", "a", "b"),) if turned else ()
    move = replace(MOVE, record=memo().case.record(HOUR))
    return Redline("Tern", EDITIONS, words, () if turned else (number,), {}, {HOUR: move})


@cache
def memo() -> Whole:
    """The body alone of a renter's memo: its annexes have nothing to do with it."""
    case = bench.case("tern-finetuning").read_afresh()
    with drawing(False):
        return Whole(case, {SPINE: executed(SPINE, case, Path("client.yaml"))})


@pytest.mark.parametrize("turned", [False, True])
def test_what_changed_stands_on_page_one_and_in_an_annex_and_passes_every_check(turned: bool) -> None:
    done = memo()
    shown = with_changes(done.notebooks, SPINE, redline(turned=turned), DAY)
    assert SECTION not in done.notebooks
    again = with_changes(done.notebooks, SPINE, redline(turned=turned), DAY)
    assert [*map(notebook_bytes, shown.values())] == [*map(notebook_bytes, again.values())]
    with mock.patch.object(done, "notebooks", shown):
        stitched = done.memo
    proof = prove(stitched, gather(stitched))
    document = document_of(proof.printed, proof.memo)
    assert (proof.faults, proof.remarks, document.problems) == ((), (), ())
    assert page_one(document).words <= 450 and document.glance is not None
    said = plain_text(document.glance.children[-1].children)  # type: ignore[union-attr]
    assert said == (
        "Since the edition of 20 November 2026 the advice is another."
        if turned
        else "Since the edition of 20 November 2026 the advice stands. Cost of the work: Hyperstack: $437k then, $415k now, "
        "most of all for the rent of an hour of one H100, Hyperstack."
    )
    tables = [node for node in document.annexes if isinstance(node, DataTable) and node.id == f"tab-{SECTION}"]
    assert len(tables) == 1, "the price that moved is told also where the advice is another"
    added = [n for table in tables for n in walk(table) if isinstance(n, Num) and n.id != COST]
    assert added
    for number in added:
        entry = proof.found.ledger[number.id]
        now = number.id.startswith("changes.price.") and number.id.endswith(".now")  # the memo's own price
        assert entry["inputs"] == [HOUR if now else "edition:2026-11-20-aaaaaaaa"] and entry["rule"]
        assert proof.found.inputs[entry["inputs"][0]]["date"] == ("2026-08-26" if now else "2026-11-20")


def test_a_number_that_is_only_written_otherwise_stands_without_a_cause() -> None:
    found = redline(turned=False)
    alike = replace(found.numbers[0], new=found.numbers[0].old, causes=())
    shown = with_changes(memo().notebooks, SPINE, replace(found, numbers=(alike,)), DAY)
    told = [o.data[MIME]["nodes"] for cell in shown[SPINE].cells if cell.id == SECTION for o in cell.outputs]
    assert len(told) == 1 and "stands." in str(told) and "then" not in str(told)
