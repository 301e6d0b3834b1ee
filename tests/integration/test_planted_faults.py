"""Forty faults planted in a sound memo, in figures, bases, limits, dates, marks and words: which check finds each.

A fault is planted in what the notebooks show, as a mistake in a section or a hand on a published notebook would leave it.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from functools import cache
from itertools import zip_longest
from typing import Any

import bench
import pytest
from one_process import whole_of
from read_memo import blocks_of

from fabricreport.base.formats import MINUS
from fabricreport.memo.document.checks import prove
from fabricreport.memo.document.pieces import gather

pytestmark = pytest.mark.slow
Plant = Callable[[Any], None]
CASH, TIME, PAIRS = "decision.cash", "decision.time", "decision.reverses.pairs"
CHOICE, RIVAL = "rocev2-branded-400g", "infiniband-ndr"


@cache
def sound() -> Any:
    """The example client's stitched memo, in which the proof finds nothing."""
    return whole_of(bench.case("example")).memo


def nodes(value: Any, kind: str) -> Iterator[dict[str, Any]]:
    """Every node of a kind in the JSON of a block."""
    if isinstance(value, dict):
        if value.get("t") == kind:
            yield value
        value = list(value.values())
    if isinstance(value, list):
        for part in value:
            yield from nodes(part, kind)


def shown(memo: Any) -> Iterator[Any]:
    for block in blocks_of(memo):
        yield from block["nodes"]


def one(memo: Any, kind: str, holds: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    return next(node for top in shown(memo) for node in nodes(top, kind) if holds(node))


def prints(number_id: str, text: str, *, within: str = "") -> Plant:
    """A figure is printed otherwise: the first place, or the first in the table or chart of an id."""

    def plant(memo: Any) -> None:
        tops = [t for t in shown(memo) if not within or t.get("id") == within]
        next(n for t in tops for n in nodes(t, "num") if n["id"] == number_id)["text"] = text

    return plant


def says(old: str, new: str) -> Plant:
    """Words are others."""

    def plant(memo: Any) -> None:
        node = one(memo, "text", lambda n: old in n["v"])
        node["v"] = node["v"].replace(old, new)

    return plant


def adds(words: str, *number_ids: str) -> Plant:
    """A paragraph stands at the end of the body's first block of prose; each `#` is a figure, without its sign."""

    def plant(memo: Any) -> None:
        block = next(b for b in blocks_of(memo) if b["nodes"] and b["nodes"][0]["t"] == "p")
        parts: list[dict[str, Any]] = []
        for words_before, number_id in zip_longest(words.split("#"), number_ids):
            parts += [{"t": "text", "v": words_before}] if words_before else []
            if number_id:
                entry = known(memo, number_id)
                parts.append(
                    {"t": "num", "id": number_id, "text": entry["text"].lstrip(MINUS), "value": entry["value"]}
                )
        block["nodes"].append({"t": "p", "c": parts})

    return plant


def both(*plants: Plant) -> Plant:
    def plant(memo: Any) -> None:
        for each in plants:
            each(memo)

    return plant


def known(memo: Any, number_id: str) -> Any:
    return next((e for b in blocks_of(memo) for e in b["ledger"] if e["id"] == number_id), {"value": None})


def kept(number_id: str, *, once: bool = False, **changes: Any) -> Plant:
    """The ledger has another value, label or base of a figure, in all blocks or in one of them."""

    def plant(memo: Any) -> None:
        entries = [e for b in blocks_of(memo) for e in b["ledger"] if e["id"] == number_id]
        for entry in entries[:1] if once else entries:
            base = {**entry["base"], **changes.get("base", {})}
            entry.update({**changes, "base": base})

    return plant


def like(number_id: str, other: str, **changes: Any) -> Plant:
    """A figure takes the label and the base of another, and then these."""

    def plant(memo: Any) -> None:
        model = known(memo, other)
        base = {**model["base"], **changes.pop("base", {})}
        kept(number_id, **{"label": model["label"], "unit": model["unit"], **changes, "base": base})(memo)

    return plant


def chart(chart_id: str, row: int, column: int, value: str) -> Plant:
    def plant(memo: Any) -> None:
        one(memo, "figure", lambda n: n["id"] == chart_id)["data"][row][column] = value

    return plant


def compared(**changes: Any) -> Plant:
    def plant(memo: Any) -> None:
        block = [b for b in blocks_of(memo) if b.get("compared")][-1]
        block["compared"] = {**block["compared"], **changes}

    return plant


def chart_loses(part: str) -> Plant:
    def plant(memo: Any) -> None:
        one(memo, "figure", lambda n: n["id"] == "fig-body-causes")[part] = [] if part == "title" else ""

    return plant


def no_mark(memo: Any) -> None:
    """All parts of a table's first total bear the dagger, and the total none."""
    table = one(memo, "datatable", lambda n: n["id"] == "tab-tco-materials")
    total = next(n for n, row in enumerate(table["rows"]) if row["role"] == "total")
    *parts, whole = [list(nodes(row["cells"], "num"))[-1]["id"] for row in table["rows"][1 : total + 1]]
    for part in parts:
        kept(part, stale=True)(memo)
    kept(whole, stale=False)(memo)


def astray(memo: Any) -> None:
    one(memo, "ref", lambda n: True)["id"] = "tab-body-nowhere"


FAULTS: dict[str, tuple[Plant, str]] = {
    # ---- figures
    "a tile prints another amount": (prints(CASH, "$1.32M"), "is printed as $1.32M"),
    "a tile prints another unit": (prints(CASH, "$1.22k"), "is printed as $1.22k"),
    "a share is printed of ten": (prints("decision.sure.act", "95 of 10"), "is printed as 95 of 10"),
    "a cell of a table is another": (
        prints("decision.total." + CHOICE, "57.59", within="tab-body-options"),
        "printed as 57.59",
    ),
    "an end of a range is another": (
        prints("decision.gap.spectrum-x-400g", "0.34 to 5.07", within="tab-body-options"),
        "is printed as 0.34 to 5.07",
    ),
    "the words for a chart say another amount": (prints(CASH, "$1.52M", within="fig-body-causes"), "printed as $1.52M"),
    "a chart's data are another's": (chart("fig-body-causes", 5, 1, "1320000"), "its data hold no such amount"),
    "one block has another value": (kept(CASH, once=True, value=9e5, text="$900k"), "one number has two values"),
    "a table of the memo has another value": (
        kept("decision.total." + CHOICE, once=True, value=7e6, text="$7M"),
        "one number has two values",
    ),
    "a share of outcomes exceeds them all": (
        kept("decision.sure.act", value=1.2, text="120 %"),
        "larger than its whole",
    ),
    "a part is larger than what it is of": (
        adds("# of #", "decision.total." + RIVAL, "decision.total." + CHOICE),
        "which is smaller",
    ),
    "a digit is typed": (adds("The network costs 12 million."), "bare number"),
    "a figure of the ledger has no footing": (kept(CASH, rule="", inputs=[]), "neither a rule nor an input"),
    # ---- bases
    "one name stands for two quantities": (like(TIME, CASH, base={"quantity": "time"}), "of two things"),
    "one name stands for two values": (like(TIME, CASH), "of two things"),
    "one quantity has two names": (like(TIME, CASH, label="What is paid"), "has two names"),
    "one name is told on two horizons": (
        like(TIME, CASH, base={"horizon": "over the first year"}),
        "on two bases",
    ),
    "one name is told from two clocks": (like(TIME, CASH, base={"clock": "from power-on"}), "on two bases"),
    "one name is told at two sizes": (like(TIME, CASH, base={"size": "at the first size"}), "on two bases"),
    "a mean is called a median": (
        adds("The median of it is #.", "decision.difference"),
        "contradicts its figure",
    ),
    # ---- limits and repeats
    "a limit is written in words": (adds("The weeks end after twelve weeks."), "bare number 'twelve weeks'"),
    "a number of repeats is written in words": (adds("Each test has five repeats."), "bare number 'five repeats'"),
    "a threshold is printed otherwise": (prints("diligence.pass.busbw", "158 GB/s"), "printed as 158 GB/s"),
    "damages are printed otherwise": (prints("diligence.damages.weeks", "$229k per week"), "printed as $229k per week"),
    # ---- dates
    "a day is typed": (says("Sign by 11 December 2026", "Sign by 12 December 2026"), "says a day by hand"),
    "a day of a tile is another": (
        says("In time by 19 February 2027", "In time by 9 February 2027"),
        "says a day by hand",
    ),
    "a calendar runs backwards": (chart("fig-body-schedule", 2, 2, "2026-12-01"), "runs backwards"),
    "nine in ten come before half": (chart("fig-body-schedule", 2, 3, "2027-01-01"), "runs backwards"),
    # ---- marks
    "a total is cleaner than its parts": (no_mark, "bears no dagger"),
    # ---- words
    "the lead is turned round": (adds("RoCEv2 costs # more than InfiniBand.", CASH), "contradicts its figure"),
    "the other option is advised": (adds("We advise Spectrum-X."), "it advises"),
    "a reversal is not told": (adds("Look at # of GPU time.", TIME), "does not say so"),
    "a section compares another option": (compared(choice="spectrum-x-400g"), "the advised option is spectrum-x-400g"),
    "a section states another lead": (compared(lead="$1"), "the lead is $1"),
    "likelihood and confidence are mixed": (adds("It is likely, and our confidence is high."), "mixes likelihood"),
    "a word that is misread": (adds("They cost less and take longer, respectively."), "Write instead"),
    "a reference leads nowhere": (astray, "leads nowhere"),
    "a chart states no finding": (chart_loses("title"), "has no title"),
    "a chart says nothing to who cannot see it": (chart_loses("alt"), "has no alt text"),
}


def told(memo: Any) -> list[str]:
    proof = prove(memo, gather(memo))
    return [*proof.faults, *proof.remarks]


def test_the_sound_memo_has_nothing_to_tell() -> None:
    assert told(sound()) == []


@pytest.mark.laws(10)
@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_is_found(name: str) -> None:
    plant, expected = FAULTS[name]
    memo = copy.deepcopy(sound())
    plant(memo)
    found = told(memo)
    assert any(expected in fault for fault in found), found[:3]
