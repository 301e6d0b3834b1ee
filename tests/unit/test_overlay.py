"""A client's own notebooks: how they lie over the originals, what is refused of them, and what is told."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricreport.memo.run.overlay import laid_over
from fabricreport.memo.run.snapshot import sha256

HEAD = "%load_ext fabricreport\n%overlays tco.ipynb"


def cell(id: str, source: str, *, kind: str = "code", over: str | None = None) -> dict[str, Any]:
    own = {} if over is None else {"fabricreport": {"over": sha256(over.encode())}}
    return {"cell_type": kind, "id": id, "metadata": own, "source": source}


def cells(*ids: str) -> list[dict[str, Any]]:
    return [cell(i, f"%%say\n{i}") for i in ids]


ORIGINAL = [cell("o1", "params = 1"), cell("o2", "case = 2"), *cells("o3", "o4", "o5")]


def shown(own: list[dict[str, Any]], original: list[dict[str, Any]] = ORIGINAL) -> list[str]:
    """The ids as laid over, an own cell in place of an original one with a star."""
    found, _ = laid_over(original, own, "tco.ipynb", "acme/notebooks/tco.ipynb")
    theirs = {c["id"] for c in original}
    return [c["id"] + "*" * (c["metadata"]["fabricreport"]["at"][0][0] == "a" and c["id"] in theirs) for c in found]


def test_a_cell_replaces_takes_out_or_stands_behind_the_one_before_it() -> None:
    assert shown(cells("o4")) == ["o1", "o2", "o3", "o4*", "o5"]
    assert shown([cell("o4", " \n")]) == ["o1", "o2", "o3", "o5"]
    assert shown(cells("a", "o3", "b", "c", "o4", "d")) == ["a", "o1", "o2", "o3*", "b", "c", "o4*", "d", "o5"]
    assert shown([*cells("o5", "a"), cell("o3", ""), *cells("b")]) == ["o1", "o2", "b", "o4", "o5*", "a"]


def test_behind_a_head_that_says_what_it_overlays_stand_cells_that_the_original_opens_with() -> None:
    assert shown([cell("h", HEAD), *cells("a")]) == ["o1", "o2", "a", "o3", "o4", "o5"]
    more = laid_over(ORIGINAL, [cell("h", HEAD + "\nimport numpy")], "tco.ipynb", "x")[0][2]
    assert (more["id"], more["source"]) == ("h", "import numpy"), "what only runs it alone is gone"


def test_a_copy_that_nobody_edited_follows_the_original_and_an_edited_one_tells_of_its_change() -> None:
    def told(*own: dict[str, Any]) -> tuple[list[str], list[tuple[str, str]]]:
        found, notes = laid_over(ORIGINAL, [cell("h", HEAD), *own], "tco.ipynb", "x")
        return [c["source"] for c in found][2:], notes

    rest, now = ["%%say\no4", "%%say\no5"], sha256(b"%%say\no3")
    assert told(cell("o3", "older", over="older")) == (["%%say\no3", *rest], [])
    assert told(cell("o3", "mine", over="%%say\no3")) == (["mine", *rest], [])
    assert told(cell("o3", "mine", over="older")) == (["mine", *rest], [("o3", now)])
    assert told(cell("o3", "mine")) == (["mine", *rest], [("o3", now)]), "nobody knows what it was written over"
    assert told(cell("gone", "older", over="older")) == (["%%say\no3", *rest], [])
    assert told(cell("gone", "mine", over="older")) == (["mine", "%%say\no3", *rest], [("gone", "")])


def test_what_is_no_overlay_is_refused() -> None:
    for own, why in (
        (cells("a", "b"), "shares no cell"),
        ([cell("h", "%overlays latency.ipynb"), *cells("o3")], "is called tco.ipynb"),
        (cells("o3", "o3"), "two cells"),
    ):
        with pytest.raises(ValueError, match=why):
            laid_over(ORIGINAL, own, "tco.ipynb", "x")


own_cells = st.lists(st.sampled_from(["o1", "o2", "o3", "o4", "o5", "a", "b", "c", "d"]), unique=True)


@given(own_cells, st.sets(st.sampled_from(["o1", "o3", "o5", "a", "c"])))
def test_laws_of_laying_over(ids: list[str], empty: set[str]) -> None:
    own = [cell("h", HEAD), *(cell(i, "" if i in empty else f"%%say\nmine {i}") for i in ids)]
    found, _ = laid_over(ORIGINAL, own, "tco.ipynb", "x")
    got = [c["id"] for c in found]
    kept = [c["id"] for c in ORIGINAL if not (c["id"] in ids and c["id"] in empty)]
    assert [i for i in got if i[0] == "o"] == kept, "the originals keep their order"
    assert sorted(got) == sorted([*kept, *(i for i in ids if i[0] != "o" and i not in empty)]), (
        "no cell is lost or doubled"
    )
    assert all(c["source"] == f"%%say\nmine {c['id']}" for c in found if c["id"] in ids), "the client's own words stand"
    again, _ = laid_over(found, own, "tco.ipynb", "x")
    assert [(c["id"], c["source"]) for c in again] == [(c["id"], c["source"]) for c in found], "twice is once"
