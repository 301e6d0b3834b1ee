"""The shape of a printed table: how wide it is, which columns stretch, how decimals line up."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from fabricreport.blocks.markdown import plain_text

Node = dict[str, Any]

_DECIMAL = re.compile(r"^[^\d]*[\d,\u202f\u00a0 ]*\d(?:\.(\d+))?\D*$")
_CHAR_PT = 4.35
"""Mean advance of a character of the table's type (Libertinus Serif at 8.75 pt), a little on the safe side."""
_GAP_PT = 14.0
_TEXT_PT, _WIDE_PT = 354.0, 467.0
_LONG_CHARS = 22
_GAP_CHARS = 3
_ROOMY, _SMALL = 0.8, 0.45


def table_shape(columns: Sequence[Node], rows: Sequence[Node]) -> Node:
    """What both writers need: `narrow` (two thirds of the text's measure will do), `wide` (it wants the whole page), `crowded` (more than that), `stretch` (per
    column), `places` (most decimal places per right-aligned column) and `decimals` (per cell).

    `decimals[r][c]` is the number of decimal places missing to the longest of that right-aligned column, or
    -1 where a cell is no plain number.
    """
    lengths = [
        max(
            [
                _chars(column["label"]),
                len(column["unit"]),
                *(_chars(r["cells"][i]) for r in rows if r["role"] != "group"),
            ]
        )
        for i, column in enumerate(columns)
    ]
    natural_pt = sum(lengths) * _CHAR_PT + _GAP_PT * max(len(columns) - 1, 0)
    left = [i for i, column in enumerate(columns) if column["align"] == "left"]
    stretch = [max(lengths[i], 8) if i in left and lengths[i] > _LONG_CHARS else 0 for i in range(len(columns))]
    if natural_pt < _ROOMY * _TEXT_PT:
        # Spread evenly: a number must not stand at the far end of an empty line from its label.
        stretch = [length + _GAP_CHARS for length in lengths]
    elif not any(stretch) and left:
        stretch[left[0]] = 1
    return {
        "narrow": natural_pt < _SMALL * _TEXT_PT,
        "wide": natural_pt > _TEXT_PT,
        "crowded": natural_pt > _WIDE_PT,
        "stretch": stretch,
        **_decimal_places(columns, rows),
    }


def _chars(nodes: list[Node]) -> int:
    return len(plain_text(nodes))


def _decimal_places(columns: Sequence[Node], rows: Sequence[Node]) -> Node:
    found = [
        [_decimals(row["cells"][i]) if column["align"] == "right" else None for i, column in enumerate(columns)]
        for row in rows
    ]
    most = [max((row[i] or 0 for row in found), default=0) for i in range(len(columns))]
    missing = [[most[i] - places if places is not None else -1 for i, places in enumerate(row)] for row in found]
    return {"decimals": missing, "places": most}


def _decimals(nodes: list[Node]) -> int | None:
    match = _DECIMAL.match(plain_text(nodes).strip())
    return len(match[1] or "") if match else None
