"""A memo after the first says what changed since: two sentences on page one, and a table whose every number has its source."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from unittest import mock

import bench
import pytest
from one_process import Whole, drawing, executed

from fabricreport.base.formats import NBSP
from fabricreport.blocks.document import MIME
from fabricreport.blocks.nodes import DataTable, Num, plain_text, walk
from fabricreport.memo.build import _with_changes
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
GPUS = NumberChange("param:cluster.gpus", "the number of GPUs (cluster.gpus)", "gpus", 32.0, 64.0, "32 GPUs", "64 GPUs")
TO = NumberChange("param:memo.to", "memo, to (memo.to)", "text", 0.0, 0.0, "x", "`{if:y|$9|}`")

LATE = NumberChange(
    "param:as_of", "the date (7 days later, prices newly out of date: 2)", "text", 0.0, 0.0, "2026-11-20", "2026-11-27"
)


def redline(*, turned: bool) -> Redline:
    """A cost that fell from $437k, or an offer that is another."""
    now = memo().case.figure(COST)
    causes = (Cause(Kind.METHOD, 100.0), Cause(Kind.PRICE, -21_200.0, (HOUR,)), Cause(Kind.TOGETHER, 90.0, ("prices",)),
              Cause(Kind.INPUTS, 10.0, ("params",)), Cause(Kind.INPUTS, 5.0, ("params", "sources")), Cause(Kind.SINCE, 1.0))  # fmt: skip
    texts = "$437k", now.text
    number = NumberChange(COST, now.label, "usd", 437_000.0, now.value, *texts, causes)
    words = (HeadlineChange("offer", "", "a", "b"),) if turned else ()
    move = replace(MOVE, record=memo().case.record(HOUR))
    keys = {"cluster.gpus": replace(GPUS, record=memo().case.record(GPUS.id))} | (
        {"memo.to": TO, "the memo's date": LATE} if turned else {}
    )
    moved = {"params": (*keys,), "sources": ("offers",)}
    told = words, () if turned else (number,), moved, {HOUR: move}, frozenset({COST})
    return Redline("Tern", EDITIONS, *told, keys=keys, dated=frozenset({"offer"} if turned else ()))


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
        "Since the edition of 20 November 2026 the advice is another, by the date alone."
        if turned
        else "Since the edition of 20 November 2026 the advice stands. Cost of the work: Hyperstack: $437k then, $410k now, "
        "most of all for the rent of an hour of one H100, Hyperstack."
    )
    tables = [node for node in document.annexes if isinstance(node, DataTable) and node.id == f"tab-{SECTION}"]
    assert len(tables) == 1, "the price that moved is told also where the advice is another"
    added = [n for table in tables for n in walk(table) if isinstance(n, Num) and n.id != COST]
    assert added
    for number in added:
        entry = proof.found.ledger[number.id]
        own = {f"changes.{id.replace(':', '.')}.now": id for id in (HOUR, GPUS.id)}.get(number.id)  # of this memo
        assert entry["inputs"] == [own or "edition:2026-11-20-aaaaaaaa"] and entry["rule"]
        dated = {None: "2026-11-20", HOUR: "2026-08-26", GPUS.id: EDITIONS[1][:10]}[own]
        assert proof.found.inputs[entry["inputs"][0]]["date"] == dated
    said = [" | ".join(map(plain_text, row.cells)).replace(NBSP, " ") for row in tables[0].rows]
    assert any(line.startswith("The number of GPUs (cluster.gpus) | 32 | 64 | ") for line in said)
    assert ("Memo, to (memo.to) | x | `{if:y|$9|}` | –" in said) == turned, "what a client wrote is data"
    assert ("The date (7 days later, prices newly out of date: 2) | 2026-11-20 | 2026-11-27 | –" in said) == turned


def test_a_bug_in_what_changed_leaves_the_memo_without_it_and_says_so(tmp_path: Path) -> None:
    plan = mock.Mock(edition=EDITIONS[1], slug="tern", params=mock.Mock(asked=mock.Mock(spine=SPINE)))
    plan.fingerprint.since, done = EDITIONS[0], memo().notebooks
    with (
        mock.patch("fabricreport.memo.editions.remains.keep_inputs", lambda folder, _: folder.mkdir(parents=True)),
        mock.patch("fabricreport.memo.editions.redline.redline", side_effect=ZeroDivisionError("odd\nnumbers")),
    ):
        shown, (note,), why = _with_changes(plan, tmp_path, tmp_path, done, {"numbers": [7]})
    assert shown is done and why == {} and EDITIONS[0] in note and "ZeroDivisionError: odd\\nnumbers" in note


def test_a_number_that_is_only_written_otherwise_stands_without_a_cause() -> None:
    found = redline(turned=False)
    alike = replace(found.numbers[0], new=found.numbers[0].old, causes=())
    shown = with_changes(memo().notebooks, SPINE, replace(found, numbers=(alike,)), DAY)
    told = [o.data[MIME]["nodes"] for cell in shown[SPINE].cells if cell.id == SECTION for o in cell.outputs]
    assert len(told) == 1 and "stands." in str(told) and "then" not in str(told)
