"""The list of numbers that rest on nothing but this memo's own word: neither an input nor a source stands behind them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from fabricreport.memo.document.gather import Gathered, Node, Piece

TITLE, SECTION, TABLE = "Numbers that this memo assumes", "sec-assumed", "tab-assumed"
_INTRO = (
    "No input of the params, no price and no source stands behind these numbers: they are this memo's own word, and can be "
    "challenged as such."
)
_CAPTION = "Each assumed number, what it says and how it was set"
_HEADS = ("Number", "What it says", "How it was set")


def assumed_numbers(found: Gathered) -> list[Node]:
    """Ledger entries of the printed numbers without inputs and sources that nobody counted, in order of first printing."""
    printed = dict.fromkeys(str(n["id"]) for piece in found.pieces for n in _numbers(piece.nodes))
    entries = [found.ledger[i] for i in printed if i in found.ledger]
    return [e for e in entries if e.get("grade") == "assumption" and not e.get("inputs") and not e.get("sources")]


def assumed_piece(found: Gathered) -> tuple[Piece, ...]:
    """The list as a piece of the annex; none if there is nothing to list."""
    entries = assumed_numbers(found)
    if not entries:
        return ()
    rows = [
        {
            "role": "normal",
            "cells": [[_number(e)], _text(str(e.get("label") or e["id"])), _text(str(e.get("rule") or ""))],
        }
        for e in entries
    ]
    table = {
        "t": "datatable",
        "id": TABLE,
        "caption": _text(_CAPTION),
        "columns": [{"label": _text(head), "unit": "", "align": "left"} for head in _HEADS],
        "rows": rows,
        "note": [],
    }
    heading = {"t": "h", "level": 1, "c": _text(TITLE), "id": SECTION}
    return (Piece((heading, {"t": "p", "c": _text(_INTRO)}, table), "", "annex", "the list of assumed numbers"),)


def _number(entry: Node) -> Node:
    return {"t": "num", "id": str(entry["id"]), "text": str(entry.get("text") or ""), "value": entry.get("value")}


def _text(words: str) -> list[Node]:
    return [{"t": "text", "v": words}]


def _numbers(value: Any) -> Iterator[Node]:
    if isinstance(value, dict):
        if value.get("t") == "num" and "id" in value:
            yield value
        value = value.values()
    elif not isinstance(value, list | tuple):
        return
    children: Iterable[Any] = value
    for child in children:
        yield from _numbers(child)
