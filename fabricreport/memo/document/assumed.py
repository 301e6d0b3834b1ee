"""The list of numbers that rest on nothing but this memo's own word: neither an input nor a source stands behind them."""

from __future__ import annotations

from fabricreport.blocks.nodes import DataTable, Heading, Inline, Num, Paragraph, TableColumn, TableRow, Text, walk
from fabricreport.ledger import Record
from fabricreport.memo.document.gather import Gathered, Piece

TITLE, SECTION, TABLE = "Numbers that this memo assumes", "sec-assumed", "tab-assumed"
_INTRO = (
    "No input of the params, no price and no source stands behind these numbers: they are this memo's own word, and can be "
    "challenged as such."
)
_CAPTION = "Each assumed number, what it says and how it was set"
_HEADS = ("Number", "What it says", "How it was set")


def assumed_numbers(found: Gathered) -> list[Record]:
    """Ledger entries of the printed numbers without inputs and sources that nobody counted, in order of first printing."""
    printed = dict.fromkeys(n.id for piece in found.pieces for n in walk(piece.nodes) if isinstance(n, Num))
    entries = [found.ledger[i] for i in printed if i in found.ledger]
    return [e for e in entries if e.get("grade") == "assumption" and not e.get("inputs") and not e.get("sources")]


def assumed_piece(found: Gathered) -> tuple[Piece, ...]:
    """The list as a piece of the annex; none if there is nothing to list."""
    entries = assumed_numbers(found)
    if not entries:
        return ()
    rows = (
        TableRow(((_number(e),), _text(str(e.get("label") or e["id"])), _text(str(e.get("rule") or ""))), "normal")
        for e in entries
    )
    columns = tuple(TableColumn(_text(head), "", "left") for head in _HEADS)
    table = DataTable(TABLE, _text(_CAPTION), columns, tuple(rows), ())
    heading = Heading(1, _text(TITLE), SECTION)
    return (Piece((heading, Paragraph(_text(_INTRO)), table), "", "annex", "the list of assumed numbers"),)


def _number(entry: Record) -> Num:
    return Num(str(entry["id"]), str(entry.get("text") or ""), entry.get("value"))


def _text(words: str) -> tuple[Inline, ...]:
    return (Text(words),)
