"""The document's nodes: JSON and back, one walk, a writer for each kind, and nothing else let in."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import fields, replace
from importlib import resources
from types import NoneType, UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nbformat.v4 import new_notebook
from rich_notebook import block, para, rich_notebook
from rows import rows

from fabricreport.blocks import nodes
from fabricreport.blocks.document import preview_html, preview_text
from fabricreport.blocks.forms import MOST_DEEP, HtmlWriter, MalformedNode, inline_from_json, to_json, top_from_json
from fabricreport.blocks.nodes import BlockQuote, Flow, Headline, Inline, Node, Num, Paragraph, Strong, Text, Top
from fabricreport.memo.document.checks import check_memo
from fabricreport.memo.document.document import document_from_notebook
from fabricreport.memo.document.pieces import gather
from fabricreport.memo.write.html import MemoWriter

KINDS = [*get_args(Top), *get_args(Inline)]
WORDS_OF_OURS = {*get_args(nodes.Tone), *get_args(nodes.Role), *get_args(nodes.Align)}
DEEPEST = 3


def value_of(hint: Any, left: int) -> st.SearchStrategy[Any]:
    """Any value of an annotation; with nothing left to nest, no node inside."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is tuple:
        return st.lists(value_of(arguments[0], left - 1), max_size=2 if left > 0 else 0).map(tuple)
    if origin is Literal:
        return st.sampled_from(arguments)
    if origin is UnionType and NoneType in arguments:
        return st.one_of(*(value_of(one, left) for one in arguments))
    if origin is UnionType:
        return st.sampled_from(arguments).flatmap(lambda kind: node_of(kind, left))
    if isinstance(hint, type) and issubclass(hint, Node):
        return node_of(hint, left)
    plain: dict[Any, st.SearchStrategy[Any]] = {
        str: st.text(max_size=4),
        int: st.integers(1, 3),
        float: st.floats(allow_nan=False, allow_infinity=False),
        NoneType: st.none(),
    }
    return plain.get(hint, st.dictionaries(st.text(max_size=3), st.text(max_size=3), max_size=2))


def node_of(kind: type[Node], left: int = DEEPEST) -> st.SearchStrategy[Node]:
    """Any node of a kind."""
    hints = get_type_hints(kind)
    emitted = [each.name for each in fields(kind) if each.name not in nodes.PLACED]
    parts = {name: value_of(hints[name], left) for name in emitted}
    return st.builds(kind, **parts)


def some(union: Any) -> st.SearchStrategy[Any]:
    return st.sampled_from(get_args(union)).flatmap(node_of)


@settings(max_examples=60, deadline=None)
@given(some(Top))
def test_a_block_comes_back_from_json_as_it_was(node: Top) -> None:
    assert top_from_json(json.loads(json.dumps(to_json(node), allow_nan=False))) == node


@settings(max_examples=60, deadline=None)
@given(some(Inline))
def test_words_come_back_from_json_as_they_were(node: Inline) -> None:
    assert inline_from_json(json.loads(json.dumps(to_json(node), allow_nan=False))) == node


@settings(max_examples=60, deadline=None)
@given(some(Top))
def test_the_walk_meets_every_node_that_the_json_holds_once_and_the_outer_one_first(node: Top) -> None:
    def count(data: Any) -> int:
        inner = data.values() if isinstance(data, dict) else data if isinstance(data, list) else ()
        return (isinstance(data, dict) and "t" in data) + sum(count(part) for part in inner)

    met = list(nodes.walk(node))
    assert met[0] is node
    if not isinstance(node, Headline) or "t" not in node.data:
        assert sum(bool(one.kind) for one in met) == count(to_json(node))


@settings(max_examples=60, deadline=None)
@given(some(Top))
def test_a_node_rebuilt_without_a_change_is_equal_and_a_change_reaches_every_text(node: Top) -> None:
    assert nodes.rebuilt(node) == node
    texts = [one.words for one in nodes.walk(nodes.rebuilt(node, of_text=str.upper)) if isinstance(one, Text)]
    assert texts == [one.words.upper() for one in nodes.walk(node) if isinstance(one, Text)]


def test_every_class_of_node_is_a_kind_or_a_part_of_one() -> None:
    declared = {one for one in vars(nodes).values() if isinstance(one, type) and issubclass(one, Node)} - {Node}
    assert {one for one in declared if one.kind} == set(KINDS)
    assert len({one.kind for one in KINDS}) == len(KINDS)


@rows("kind", KINDS)
@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_every_kind_has_a_writer_in_html_for_the_preview_and_the_memo_and_no_text_is_markup(
    kind: type[Node], data: st.DataObject
) -> None:
    node: Any = nodes.rebuilt(data.draw(node_of(kind)), of_text=tagged, of_node=undrawn)
    wrapped = node if isinstance(node, get_args(Top)) else Paragraph((node,))
    for written in (HtmlWriter().blocks([wrapped]), MemoWriter().blocks([wrapped]), preview_html([wrapped])):
        assert "<w>" not in written


def tagged(text: str) -> str:
    return text if text in WORDS_OF_OURS else "<w>"


def undrawn(node: Node) -> Node:
    """A drawing is markup already: the notebook's own in a preview, cleaned in a memo."""
    return replace(node, svg="") if isinstance(node, nodes.Figure | nodes.Formula) else node


def test_every_kind_but_what_is_not_printed_has_a_branch_in_the_pdfs_templates() -> None:
    folder = resources.files("fabricreport.memo") / "templates"
    branches = "".join((folder / name).read_text(encoding="utf-8") for name in ("inline.typ", "blocks.typ"))
    drawn = set(re.findall(r'node\.t == "(\w+)"', branches))
    assert drawn == {kind.kind for kind in (*get_args(Flow), *get_args(Inline))}


def test_a_document_holds_no_node_without_its_number_link_or_size() -> None:
    document = document_from_notebook(rich_notebook())
    filled = {
        "num": "footing",
        "ref": "anchor",
        "cite": "sources",
        "note": "number",
        "formula": "width_pt",
        "image": "width_pt",
    }
    filled |= dict.fromkeys(("h", "figure", "datatable"), "number")
    found = list(nodes.walk(document.nodes))
    assert [one for one in found if one.kind in filled and not getattr(one, filled[one.kind])] == []
    assert {one.kind for one in found} >= set(filled)


def test_what_a_memo_fills_is_not_read_from_a_notebook() -> None:
    with pytest.raises(MalformedNode, match="num has an unknown field: 'stale'"):
        inline_from_json({"t": "num", "id": "a", "text": "1", "value": 1.0, "stale": True})


TEXT = {"t": "text", "v": "x"}


@rows(
    ("data", "told"),
    [
        ("words", "it is no"),
        ({"t": "mystery"}, "it is no"),
        ({"t": ["p"]}, "it is no"),
        ({}, "it is no"),
        (TEXT, "it is no"),
        ({"t": "p"}, "p lacks a field: 'c'"),
        ({"t": "p", "c": "x"}, "p.c is no list"),
        ({"t": "p", "c": [TEXT], "id": 1}, "p has an unknown field: 'id'"),
        ({"t": "p", "c": [{"t": "text", "v": 7}]}, "p.c[0].text.v is of the wrong type: 7"),
        ({"t": "p", "c": [{"t": "num", "id": "a", "text": "1", "value": True}]}, "value is of the wrong type: True"),
        ({"t": "p", "c": [{"t": "num", "id": "a", "text": "1", "value": float("inf")}]}, "wrong type: inf"),
        ({"t": "h", "level": 1.5, "c": [], "id": ""}, "h.level is of the wrong type"),
        ({"t": "ul", "items": [TEXT]}, "ul.items[0] is no list"),
        ({"t": "quote", "c": [{"t": "headline", "data": {}}]}, "quote.c[0] is no"),
        ({"t": "callout", "tone": {}, "title": [], "c": []}, "callout.tone is none of decision, caution, note"),
        ({"t": "glance", "c": [], "tiles": [7]}, "glance.tiles[0] is no object"),
        ({"t": "headline", "data": 7}, "headline lacks a field: 'data'"),
        ({"t": "headline", "data": {"numbers": ["tco.x"]}}, "headline.numbers[0] is no num"),
    ],
)
def test_what_is_no_node_is_refused_with_its_place_and_stops_a_client_copy(data: Any, told: str) -> None:
    with pytest.raises(MalformedNode, match=re.escape(told)):
        top_from_json(data)
    faults = check_memo(gather(new_notebook(cells=[block("a", [data, para("the rest")])])))
    assert len(faults) == 1 and "cell 1" in faults[0] and "a block is malformed" in faults[0]


@rows(
    "nest",
    [
        lambda inner: {"t": "quote", "c": [inner]},
        lambda inner: {"t": "ul", "items": [[inner]]},
        lambda inner: {"t": "p", "c": [{"t": "strong", "c": inner["c"]}]},
    ],
)
def test_what_nests_without_end_is_refused_and_what_nests_a_little_is_not(
    nest: Callable[[dict[str, Any]], dict[str, Any]],
) -> None:
    def nested(times: int) -> dict[str, Any]:
        node: dict[str, Any] = {"t": "p", "c": [TEXT]}
        for _ in range(times):
            node = nest(node)
        return node

    assert plain(top_from_json(nested(MOST_DEEP // 2 - 1))) == "x"
    with pytest.raises(MalformedNode, match="stand inside each other"):
        top_from_json(nested(400))


def plain(node: Top) -> str:
    return "".join(one.words for one in nodes.walk(node) if isinstance(one, Text))


def test_words_are_read_through_emphasis_and_a_note_is_left_out() -> None:
    said = (Strong((Text("a "), Num("x", "$1", 1.0))), nodes.Note((Text("n"),)), nodes.Break(), nodes.Ref("fig-a"))
    assert nodes.plain_text(said) == "a $1 fig-a"
    assert preview_text([BlockQuote((Paragraph(said),))]) == "a $1 fig-a"
