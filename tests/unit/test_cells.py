"""`{…}` in Markdown cells: what is asked of the case, what is left alone, and that no text breaks it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, get_args

import nbformat
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import rows

from fabricreport.blocks.cells import ANSWERS_MIME, answers, bind_cell, fields_of
from fabricreport.blocks.gate import bare_numbers, texts
from fabricreport.blocks.markdown import parse_markdown, safe_link
from fabricreport.blocks.nodes import (
    BlockQuote,
    BulletList,
    DataTable,
    Flow,
    Heading,
    Image,
    Inline,
    Link,
    Num,
    OrderedList,
    Paragraph,
    Preformatted,
    Strong,
    TableColumn,
    TableRow,
    Text,
    plain_text,
    walk,
)
from fabricreport.ledger.numbers import Number
from fabricreport.memo.document.pieces import gather
from fabricreport.memo.run import notebook


class Case:
    """A case with one figure and its one input."""

    names = ()

    def figure(self, figure_id: str) -> Number:
        if figure_id != "tco.x":
            raise KeyError(f"no figure {figure_id}; did you mean tco.x?")
        return Number("tco.x", -5e6, "usd", "x", "r", ("price:x",), ("price:x",), "quote")

    def record(self, input_id: str) -> dict[str, Any]:
        if input_id != "price:x":
            raise KeyError(input_id)
        return {"id": input_id, "kind": "price", "grade": "quote", "source": "S"}


def shown(text: str) -> str:
    """The words of a Markdown cell with its fields answered."""
    bound = bind_cell(text, answers(fields_of(text), Case()), "tco")
    words = (n.words if isinstance(n, Preformatted) else plain_text(n.children) for n in bound.nodes)
    return " ".join(words)


@rows(
    ("text", "printed"),
    [
        ("It costs {tco.x:abs}.", "It costs $5M."),
        ("**{tco.x}** and _{ tco.x }_", "−$5M and −$5M"),
        ("# Head {tco.x} {#sec-x}", "Head −$5M"),
        ("{{tco.x}} and \\{tco.x\\}", "{tco.x} and {tco.x}"),
        ("`{tco.x}` and ``a {tco.x}``", "{tco.x} and a {tco.x}"),
        ("$\\frac{a}{b}$ and $$x^{2}$$", "$\\frac{a}{b}$ and $$x^{2}$$"),
        ("from ${tco.x:bare} to $y", "from $−5,000,000 to $y"),
        ("(${tco.x:bare}/${tco.x:bare})", "($−5,000,000/$−5,000,000)"),
        ("```\n{tco.x}\n```", "{tco.x}"),
        ("a lone } and {", "a lone } and {"),
        ("see {fig-x}", "see fig-x"),
    ],
)
def test_a_field_is_filled_in_prose_and_left_alone_in_code_and_formulas(text: str, printed: str) -> None:
    assert shown(text) == printed


def test_footnotes_tables_lists_and_alt_texts_are_filled_too() -> None:
    text = "a^[note *{tco.x}*]\n\n| h {tco.x} |\n|--|\n| c {tco.x} |\n\n- item {tco.x}\n\n![shows {tco.x}](attachment:a.png)"
    bound = bind_cell(text, answers(fields_of(text), Case()), "tco")
    assert bound.faults == () and len(bound.ledger) == 1
    words = list(texts(bound.nodes))
    assert len(words) == 5 and all(bare_numbers(said) == [] for _, said in words)
    assert isinstance(bound.nodes[-1], Image) and bound.nodes[-1].alt == "shows −$5M"
    assert [n.id for n in walk(bound.nodes[0]) if isinstance(n, Num)] == ["tco.x"]


def test_what_the_case_does_not_know_is_told_once_with_its_reason_and_without_braces() -> None:
    text = "{tco.y} {tco.y} {cite evidence:none} {tco.x}"
    bound = bind_cell(text, answers(fields_of(text), Case()), "tco")
    assert [fault.value for fault in bound.faults] == ["{tco.y}", "{cite evidence:none}"]
    assert "did you mean tco.x?" in bound.faults[0].remedy
    assert plain_text(bound.nodes[0].children) == "[tco.y] [tco.y] [cite evidence:none] −$5M"


def run(nb: Any, *extra: Any) -> Any:
    """What a kernel does with the hidden cell, without one."""
    notebook.ask(nb)
    asked = [cell for cell in nb.cells if notebook.is_asking(cell)]
    fields = dict.fromkeys(f for c in nb.cells if c.cell_type == "markdown" for f in fields_of(c.source))
    for cell in asked:
        cell.outputs = [nbformat.v4.new_output("display_data", data={ANSWERS_MIME: answers(fields, Case())}), *extra]
    notebook.take(nb)
    return nb


def test_the_hidden_cell_leaves_no_trace_but_the_answers_and_those_of_an_earlier_run_are_dropped() -> None:
    nb = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_markdown_cell("It is {tco.x}."), nbformat.v4.new_code_cell("1")]
    )
    nb.cells[0].metadata["fabricreport"] = nbformat.from_dict({"answers": {"tco.x": {"fault": "old"}}})
    assert [c.source for c in run(nb).cells] == ["It is {tco.x}.", "1"]
    found = gather(nb)
    assert found.problems == [] and list(found.ledger) == ["tco.x"] and list(found.inputs) == ["price:x"]


def test_a_notebook_without_fields_is_asked_nothing() -> None:
    nb = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("See {fig-x} and `{code}`.")])
    notebook.ask(nb)
    assert not any(notebook.is_asking(cell) for cell in nb.cells)


def test_a_warning_while_the_case_answers_is_a_fault_of_the_cell_that_asked() -> None:
    nb = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("It is {tco.x}.")])
    noise = nbformat.v4.new_output("stream", name="stderr", text="/a/b.py:1: UserWarning: odd draws\n")
    (problem,) = gather(run(nb, noise)).problems
    assert "odd draws" in problem.remedy and problem.key == "cell 1" and "/a/" not in problem.remedy


def test_answers_that_were_tampered_with_do_no_harm() -> None:
    for tampered in (
        {"tco.x": 7},
        {"tco.x": {"node": 7}},
        {"tco.x": {"node": {"t": "num"}, "ledger": 7}},
        {"tco.x": {"node": {"t": "p", "c": []}}},
        [],
    ):
        cell = nbformat.v4.new_markdown_cell("It is {tco.x}.", metadata={"fabricreport": {"answers": tampered}})
        found = gather(SimpleNamespace(get={"cells": [cell]}.get))
        assert found.pieces
        assert [p.message for p in found.problems] == ["a field of a Markdown cell is not filled"]


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet="ab.:{}^[]`$*_|#!()\\\n -\ue000\ue001\U000f0000", max_size=60))
def test_any_text_is_bound_without_an_error(text: str) -> None:
    assert set(fields_of(text)) >= {fault.value[1:-1] for fault in bind_cell(text, {}, "tco").faults}


def number(identity: str) -> Num:
    return Num(identity, "$1", 1.0)


def inline(text: str, **kw: Any) -> tuple[Inline, ...]:
    (node,) = parse_markdown(text, **kw)
    assert isinstance(node, Paragraph)
    return node.children


def kinds(nodes: Any) -> list[str]:
    return [node.kind for node in nodes]


def test_a_field_becomes_a_node_wherever_it_stands() -> None:
    text = "**{tco.a_b*c}** and _{ d }_\n\n| h |\n|---|\n| {e} |\n\n- {g}\n"
    found = []
    parse_markdown(text, lambda identity: found.append(identity) or number(identity))
    assert found == ["tco.a_b*c", "d", "e", "g"]


def test_a_number_inside_bold_keeps_its_node() -> None:
    assert inline("**{a}**", field=number) == (Strong((number("a"),)),)


def test_without_anybody_to_fill_them_braces_are_text() -> None:
    assert inline("x {tco.a} y^[z]") == (Text("x {tco.a} y^[z]"),)


def test_a_footnote_becomes_a_node_with_what_stands_in_it() -> None:
    nodes = inline("See {a}^[a *b* {n}].", field=number)
    assert kinds(nodes) == ["text", "num", "note", "text"]
    assert kinds(nodes[2].children) == ["text", "em", "text", "num"]


@rows("text", ["^[open", "close]", "{cut", "a}", "*a ^[b* c]"])
def test_a_mark_without_its_partner_loses_no_words(text: str) -> None:
    said = "".join(one.words for one in walk(inline(text, field=number)) if isinstance(one, Text))
    assert all(c in said for c in text if c.isalpha())


@rows(
    "target",
    [
        "javascript:alert(1)",
        "JaVaScript:x",
        "data:text/html,x",
        "file:///etc/passwd",
        "http://a.b",
        "//a.b",
        "vbscript:x",
    ],
)
def test_only_https_and_mailto_links_survive(target: str) -> None:
    assert inline(f"[word]({target})") == (Text("word"),)


def test_https_and_mailto_links_survive() -> None:
    for address in ("https://x.example/y", "mailto:a@b.example"):
        assert inline(f"[a]({address})") == (Link(address, (Text("a"),)),)


def test_a_link_may_not_carry_line_breaks_or_backslashes() -> None:
    assert not safe_link("https://a\n.b")
    assert not safe_link("https:\\\\a.b")


def test_raw_html_is_text() -> None:
    nodes = parse_markdown("<div onclick=x>hi</div>\n\na <b>bold</b>")
    assert plain_text(nodes[0].children) == "<div onclick=x>hi</div>"
    assert plain_text(nodes[1].children) == "a <b>bold</b>"


def test_headings_take_an_id_from_braces_and_stop_at_three_levels() -> None:
    nodes = parse_markdown("# One {#sec-one}\n\n##### Deep")
    assert nodes == (Heading(1, (Text("One"),), "sec-one"), Heading(3, (Text("Deep"),), ""))


@rows("order", ["before", "after"])
def test_a_table_takes_its_caption_from_the_paragraph_beside_it(order: str) -> None:
    table, caption = "| a | b |\n|---|--:|\n| x | 1 |\n", "Table: What it says {#tab-x}\n"
    text = f"{caption}\n{table}" if order == "before" else f"{table}\n{caption}"
    (node,) = parse_markdown(text)
    assert isinstance(node, DataTable)
    assert node.id == "tab-x"
    assert plain_text(node.caption) == "What it says"
    assert [column.align for column in node.columns] == ["left", "right"]


def test_an_image_is_kept_only_when_it_is_attached_as_png() -> None:
    (kept,) = parse_markdown("![alt](attachment:a.png)", images={"attachment:a.png": "data:image/png;base64,QUJD"})
    (lost,) = parse_markdown("![alt](../../etc/passwd)")
    assert kept == Image("data:image/png;base64,QUJD", "alt")
    assert lost == Image("", "alt", "../../etc/passwd")


@rows(
    "text",
    ["say ![a](x.png) so", "# head ![a](x.png)", "- item ![a](x.png)", "|h ![a](x.png)|\n|--|\n|c|", "**![a](x.png)**",
     "[![a](x.png)](https://a.example)", "|h|\n|--|\n|c|\n\nTable: words ![a](x.png)", "> said ![a](x.png)"],
)  # fmt: skip
def test_an_image_amid_words_follows_their_block(text: str) -> None:
    nodes = parse_markdown(text)
    first = nodes[0]
    inner = first.items[0] if isinstance(first, BulletList) else nodes
    inner = first.children if isinstance(first, BlockQuote) else inner
    assert inner[-1] == Image("", "a", "x.png")


def test_an_image_amid_a_caption_follows_its_table_and_not_the_rest_of_the_cell() -> None:
    nodes = parse_markdown("|h|\n|--|\n|c|\n\nTable: words ![a](x.png)\n\nThe rest")
    assert kinds(nodes) == ["datatable", "image", "p"]


def test_code_blocks_keep_their_lines_and_their_braces() -> None:
    assert parse_markdown("```\na\n  {x}\n```", number) == (Preformatted("a\n  {x}"),)


def test_lists_quotes_and_breaks_keep_their_structure() -> None:
    nodes = parse_markdown("1. one\n2. two\n\n> said  \n> again")
    assert nodes[0] == OrderedList(((Paragraph((Text("one"),)),), (Paragraph((Text("two"),)),)))
    assert kinds(nodes[1].children[0].children) == ["text", "br", "text"]


@settings(max_examples=50, deadline=None)
@given(st.text(alphabet="ab*_`[]()<>!#|-\n\\&; {}^$\ue000\U000f0000", max_size=80))
def test_any_text_parses_into_known_nodes(text: str) -> None:
    known = (*get_args(Flow), *get_args(Inline), TableColumn, TableRow)
    assert all(isinstance(node, known) for node in walk(parse_markdown(text, number)))
