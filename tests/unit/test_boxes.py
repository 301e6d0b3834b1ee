"""What stands badly on a page, told from where each block begins and ends."""

from __future__ import annotations

import re
from importlib import resources
from typing import Any

from rows import rows

from fabricreport.memo.write.paper import LEAD, TEXT_BOTTOM_PT, TEXT_TOP_PT, Layout, box_remarks

CALLED = {"t1": "Table 1", "t2": "Table 2", "h1": "the heading “Money”"}


def at(kind: str, anchor: str, page: int, y_pt: float) -> dict[str, Any]:
    return {"kind": kind, "anchor": anchor, "page": page, "y_pt": y_pt}


def text(page: int, start: float, end: float, anchor: str = "", end_page: int = 0) -> list[dict[str, Any]]:
    return [at("begin", anchor, page, start), at("end", anchor, end_page or page, end)]


FULL = [*text(1, TEXT_TOP_PT, TEXT_BOTTOM_PT), *text(2, TEXT_TOP_PT, TEXT_BOTTOM_PT)]
LAYOUTS: dict[str, tuple[list[dict[str, Any]], list[dict[str, Any]], dict[str, int], str]] = {
    "full pages": (FULL, [], {}, ""),
    "a page that is half empty": ([*text(1, 80, 420), *text(2, 80, 700)], [], {}, "page 1 is empty by 51%"),
    "a page a third empty at most": ([*text(1, 80, 560), *text(2, 80, 700)], [], {}, ""),
    "the last page may be empty": ([*text(1, 80, 779), *text(2, 80, 120)], [], {}, ""),
    "text that goes on fills the page": (text(1, 80, 700, end_page=2), [], {}, ""),
    "a heading at the foot": (
        [*text(1, 80, 760), *text(2, 80, 700)], [at("heading", "h1", 1, 765)], {}, "the heading “Money” stands at the foot"
    ),
    "a heading with its matter": (FULL, [at("heading", "h1", 1, 60)], {}, ""),
    "a line that leads overleaf": ([*text(1, 80, 760, LEAD), *text(2, 80, 700)], [], {}, "what it leads to overleaf"),
    "a line that leads on": ([*text(1, 80, 740, LEAD), *text(1, 745, 779), *text(2, 80, 700)], [], {}, ""),
    "a small table that is cut": (
        [*text(1, 80, 700), *text(1, 720, 110, "t1", end_page=2), *text(2, 120, 700)], [], {"t1": 4}, "Table 1 is cut"
    ),
    "a large table that is cut": (
        [*text(1, 80, 400), *text(1, 410, 300, "t1", end_page=2), *text(2, 320, 700)], [], {"t1": 4}, ""
    ),
    "tables out of order": (
        [*text(1, 400, 779, "t1"), at("float", "t2", 1, 80), at("end", "t2", 1, 300), *text(2, 80, 700)],
        [], {"t1": 4, "t2": 4}, "Table 2 stands before Table 1",
    ),
    "a table too wide to read": ([*text(1, 80, 779, "t1"), *text(2, 80, 700)], [], {"t1": 8}, "Table 1 has 8 columns"),
}  # fmt: skip


@rows("name", LAYOUTS)
def test_what_stands_badly_is_told_with_its_page(name: str) -> None:
    blocks, headings, columns, told = LAYOUTS[name]
    found = list(box_remarks(Layout(blocks, headings, frozenset({2})), CALLED, columns))
    assert ([told] if told else []) == [told for remark in found if told in remark] and len(found) == bool(told)


def test_no_text_of_the_templates_is_set_below_eight_points() -> None:
    templates = resources.files("fabricreport.memo") / "templates"
    sizes = [
        float(size)
        for one in templates.iterdir()
        if one.name.endswith(".typ")
        for size in re.findall(r"(?:#let size-(?!ring)\w+ =|size:) ([\d.]+)pt", one.read_text(encoding="utf-8"))
    ]
    assert len(sizes) >= 4 and min(sizes) >= 8.0
