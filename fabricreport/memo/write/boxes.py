"""What stands badly on a printed page, from where Typst says that each block begins and ends.

A page more than a third empty that ends neither body nor annexes, a heading or a lead-in without its matter, a table cut that a quarter of a
page would hold, figures and tables out of order, a table of more columns than are read across.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

Place = Mapping[str, Any]
"""Where something stands: its kind, its anchor, its page and its height in points from the page's top."""

TEXT_TOP_PT, TEXT_BOTTOM_PT = 73.7, 779.5
"""A4 less the margins set in style.typ."""
TEXT_HEIGHT_PT = TEXT_BOTTOM_PT - TEXT_TOP_PT
MOST_EMPTY = 1 / 3
"""Of a page that ends neither the body nor the annexes."""
MOST_COLUMNS = 7
"""Of a table that is read across."""
LEAD = "lead"
"""The anchor of a paragraph that ends in a colon."""


@dataclass(frozen=True)
class Layout:
    """A document as it was set. `blocks` in reading order: "begin" and "end" of what may break, "start" and "end" of what may
    not, "float" and "end" of what floats; `ends` are the pages on which body and annexes end."""

    blocks: Sequence[Place]
    headings: Sequence[Place]
    ends: frozenset[int]


def box_remarks(layout: Layout, called: Mapping[str, str], columns: Mapping[str, int]) -> Iterator[str]:
    """What stands badly; `called` names figures, tables and headings by their anchors, `columns` counts those of tables."""
    yield from _empty_pages(layout)
    yield from _bare_headings(layout, called)
    for before, here in pairwise(layout.blocks):
        if before["kind"] == "end" and before["anchor"] == LEAD and here["page"] > before["page"]:
            yield f"page {before['page']}: a lead-in stands at the foot, and what it leads to overleaf."
        if before["kind"] == "begin" and here["kind"] == "end" and before["anchor"] == here["anchor"] in called:
            yield from _cut(before, here, called)
    numbered = [p for p in layout.blocks if p["kind"] in ("begin", "start", "float") and p["anchor"] in columns]
    for before, here in pairwise(numbered):
        if (here["page"], here["y_pt"]) < (before["page"], before["y_pt"]):
            yield f"page {here['page']}: {called[here['anchor']]} stands before {called[before['anchor']]}."
    for anchor, count in columns.items():
        if count > MOST_COLUMNS:
            yield f"{called[anchor]} has {count} columns, more than {MOST_COLUMNS}: leave out or join some."


def feet(blocks: Sequence[Place]) -> dict[int, float]:
    """The height at which the last block of each page ends; a page that a block runs on from is full."""
    lowest: dict[int, float] = {}
    for place in blocks:
        if place["kind"] == "end":
            lowest[place["page"]] = max(lowest.get(place["page"], 0.0), place["y_pt"])
    for before, here in pairwise(blocks):
        if before["kind"] == "begin":
            lowest |= dict.fromkeys(range(before["page"], here["page"]), TEXT_BOTTOM_PT)
    return lowest


def _empty_pages(layout: Layout) -> Iterator[str]:
    for page, foot in feet(layout.blocks).items():
        empty = (TEXT_BOTTOM_PT - foot) / TEXT_HEIGHT_PT
        if page not in layout.ends and empty > MOST_EMPTY:
            yield f"page {page} is empty by {empty:.0%} at its foot: shorten what stands on it, or let a block there break."


def _bare_headings(layout: Layout, called: Mapping[str, str]) -> Iterator[str]:
    begun = [(p["page"], p["y_pt"]) for p in layout.blocks if p["kind"] in ("begin", "start", "float")]
    for heading in layout.headings:
        at = (heading["page"], heading["y_pt"])
        following = min((place for place in begun if place > at), default=at)
        if following[0] > heading["page"]:
            yield f"page {heading['page']}: {called.get(heading['anchor'], 'a heading')} stands at the foot without its matter."


def _cut(begin: Place, end: Place, called: Mapping[str, str]) -> Iterator[str]:
    if end["page"] == begin["page"] + 1:
        height = TEXT_BOTTOM_PT - begin["y_pt"] + end["y_pt"] - TEXT_TOP_PT
        if height < TEXT_HEIGHT_PT / 4:
            yield f"page {begin['page']}: {called[begin['anchor']]} is cut, and a quarter of a page would hold it."
