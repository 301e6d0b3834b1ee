"""A notebook node becomes a document: numbered, resolved, its faults listed, the notebook untouched."""

from __future__ import annotations

import base64
import copy
from collections.abc import Iterable
from typing import Any, TypeVar

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output, new_raw_cell
from rich_notebook import (
    INPUTS,
    PNG,
    block,
    chart_svg,
    cite,
    cost_table,
    figure,
    glance,
    head,
    ledger_entry,
    num,
    para,
    ref,
    rich_notebook,
    words,
)
from rows import rows

from fabricreport.base.text import csv_text, spreadsheet_cell
from fabricreport.blocks.nodes import (
    Cite,
    DataTable,
    Figure,
    Glance,
    Headline,
    Node,
    Num,
    Paragraph,
    Ref,
    plain_text,
    walk,
)
from fabricreport.memo.document.checks import check_memo
from fabricreport.memo.document.derivations import Step, short_steps
from fabricreport.memo.document.document import Document, document_from_notebook, headline
from fabricreport.memo.document.drawings import UnsafeDrawing, clean_svg
from fabricreport.memo.document.outputs import table_from_html
from fabricreport.memo.document.pieces import gather
from fabricreport.memo.document.safety import slug, visible


def read(*cells: Any, **front: Any) -> Document:
    notebook = new_notebook(cells=list(cells))
    if front:
        notebook.metadata["fabricreport"] = front
    return document_from_notebook(notebook)


N = TypeVar("N", bound=Node)


def every(nodes: Iterable[Node], kind: type[N]) -> list[N]:
    return [node for node in walk(nodes) if isinstance(node, kind)]


TABLE = "<table><thead><tr><th>a</th></tr></thead><tbody><tr><td>x</td></tr></tbody></table>"


def shows(data: dict[str, Any]) -> Any:
    return new_code_cell("x", outputs=[new_output("display_data", data=data)])


def messages(document: Document) -> list[str]:
    return [problem.message for problem in document.problems]


def test_the_rich_notebook_has_no_faults() -> None:
    assert messages(document_from_notebook(rich_notebook())) == []


def test_the_notebook_is_not_changed() -> None:
    notebook = rich_notebook()
    before = copy.deepcopy(notebook)
    document_from_notebook(notebook)
    assert notebook == before


def test_headings_are_numbered_and_annexes_lettered() -> None:
    document = document_from_notebook(rich_notebook())
    assert [h.number for h in document.contents] == ["1", "1.1", "2", "2.1", "2.2", "3", "Annex A", "Annex B"]


def test_figures_and_tables_are_numbered_across_notebooks() -> None:
    document = document_from_notebook(rich_notebook())
    assert [f.number for f in every(document.nodes, Figure)] == ["1", "2", "3"]
    assert [t.number for t in every(document.body, DataTable)] == ["1", "2", "3", "4"]


def test_references_work_forwards_and_across_notebooks() -> None:
    document = read(
        block("one", [head(1, "First"), para(ref("fig-late"), ref("tab-late"), ref("sec-two"))]),
        block("two", [head(1, "Second"), head(2, "Inner", "sec-two"), figure("fig-late"), cost_table("tab-late")]),
    )
    shown = [r.called.replace("\u00a0", " ") for r in every(document.body, Ref)]
    assert shown == ["Figure 1", "Table 1", "Section 2.1"]


def test_a_reference_to_nothing_is_listed_with_its_cell() -> None:
    document = read(block("one", [para(ref("fig-lost"))]))
    (problem,) = document.problems
    assert problem.value == "fig-lost"
    assert "cell 1" in problem.key


def test_a_dead_reference_stops_a_client_copy_and_a_section_left_out_is_told_in_words() -> None:
    cell = block("one", [para(*words("See "), ref("tab-nnoe"), *words(" and "), ref("sec-diligence"))])
    (fault,) = check_memo(gather(new_notebook(cells=[cell])))
    assert "tab-nnoe" in fault
    (paragraph,) = every(read(cell).body, Paragraph)
    assert "the section on diligence (left out of this copy)" in plain_text(paragraph.children)


def test_what_stands_in_a_section_left_out_is_named_by_it_and_what_a_section_lacks_is_a_fault() -> None:
    cell = block("one", [para(ref("sec-evidence-elicited"), ref("tab-tail-levers"), ref("tab-tco-none"))])
    alone = block("tco", [para(*words("a bill"))])
    (fault,) = check_memo(gather(new_notebook(cells=[cell, alone])))
    assert "tab-tco-none" in fault


def test_the_glance_moves_to_page_one_and_the_headline_is_data() -> None:
    notebook = rich_notebook()
    document = document_from_notebook(notebook)
    assert document.glance is not None
    assert every(document.body, Glance) == [] == every(document.nodes, Headline)
    assert headline(gather(notebook))["class"] == "clear"


def test_a_second_glance_is_a_fault() -> None:
    assert messages(read(block("a", [glance(), glance()]))) == ["a memo has one glance block"]


def test_the_sections_behind_a_spine_are_annexes_and_get_their_titles() -> None:
    document = read(
        block("tco", [para("early")]),
        block("tail", [para("middle")]),
        block("tco", [para("late")]),
        block("buy_once", [head(1, "Which?"), head(1, "Body")]),
        sections=[{"id": "tco", "title": "Cost of ownership"}],
    )
    shown = [plain_text(node.children) for node in document.annexes]
    assert shown == ["Cost of ownership", "early", "late", "Tail", "middle"]
    assert [h.text for h in document.contents][:3] == ["Body", "Cost of ownership", "Tail"]


def test_markdown_cells_follow_the_blocks_around_them() -> None:
    document = read(
        block("buy_once", [head(1, "Which?")]),
        block("tco", [para("x")]),
        new_markdown_cell("after the annex block"),
    )
    assert document.body == ()
    assert plain_text(document.annexes[-1].children) == "after the annex block"


def test_sources_are_numbered_by_first_citation_then_by_use() -> None:
    document = read(block("a", [para("x", num("tco.figure-1", "$1"), cite("evidence:llama3-interruptions"))]))
    assert [s.title for s in document.sources] == [
        "The Llama 3 Herd of Models",
        "Reseller listing of Quantum-2 switches",
        "Our own assumption",
    ]


def test_two_figures_from_one_document_share_a_source_number() -> None:
    twin = {**INPUTS[2], "id": "evidence:llama3-gpus", "date": "2024-08-01"}
    cell = block("a", [para("x", cite("evidence:llama3-gpus", "evidence:llama3-interruptions"))], ledger=[])
    cell.outputs[0].data["application/vnd.fabricreport.block+json"]["inputs"] = [*INPUTS, twin]
    document = read(cell)
    assert every(document.body, Cite)[0].sources == (1,)
    assert document.sources[0].dates == ("2024-07-31", "2024-08-01")


def test_a_citation_without_a_source_is_a_fault() -> None:
    assert messages(read(block("a", [para(cite("evidence:none"))]))) == ["a citation has no source"]


def test_every_printed_number_has_one_derivation_with_its_inputs() -> None:
    document = document_from_notebook(rich_notebook())
    printed = {n.id for n in every(document.nodes, Num)} | {n.id for n in every(document.notes, Num)}
    assert {d.id for d in document.derivations} == printed
    assert len(printed) > 20
    inputs = {i.anchor for i in document.inputs}
    assert all(step.anchor in inputs for d in document.derivations for step in d.steps)


def test_inputs_get_short_codes_and_runs_of_them_are_joined() -> None:
    document = document_from_notebook(rich_notebook())
    assert [i.code for i in document.inputs] == ["E1", "C1", "P1"]
    steps = [Step(f"label {n}", f"d-{n}", f"P{n}") for n in (3, 1, 2, 12, 7)] + [
        Step("a number", "d-x"),
        Step("e", "d-e", "E1"),
    ]
    assert [s.text for s in short_steps(steps)] == ["a number", "E1", "P1–P3", "P7", "P12"]


def test_a_derivation_says_its_spread_grade_and_sources() -> None:
    document = read(block("a", [para(num("tco.figure-1", "$1.1M"))]))
    (entry,) = document.derivations
    assert entry.spread == "$800k to $1.3M"
    assert entry.grade == "contract"
    assert [s.text for s in entry.sources] == ["1", "2"]


def test_a_number_missing_from_the_ledger_is_a_fault_and_stays_text() -> None:
    document = read(block("a", [para(num("tco.unknown", "$9"))]))
    assert messages(document) == ["a number is not in the ledger"]
    assert plain_text(document.body[0].children) == "$9"
    stray = ledger_entry("tco.figure-1", "$1.1M", 1.1e6, inputs=["param:cluster.gpus", "price:nobody"])
    (fault,) = check_memo(gather(new_notebook(cells=[block("a", [para("x")], ledger=[stray])])))
    assert "tco.figure-1 names the unknown input price:nobody" in fault


def test_one_number_with_two_values_names_both_cells() -> None:
    other = [ledger_entry("tco.figure-1", "$2M", 2e6)]
    document = read(block("a", [para("x")]), block("b", [para("y")], ledger=other))
    (problem,) = document.problems
    assert "cell 1" in problem.message and "cell 2" in problem.message
    close = [ledger_entry("tco.figure-1", "$1.1M", 1.1e6 + 1)]
    assert len(messages(read(block("a", [para("x")]), block("b", [para("y")], ledger=close)))) == 1


def test_a_repeated_id_is_a_fault_and_anchors_stay_unique() -> None:
    document = read(block("a", [figure("fig-a"), figure("fig-a")]))
    assert messages(document) == ["two things have the same id"]
    anchors = [f.anchor for f in every(document.body, Figure)]
    assert len(set(anchors)) == 2


def test_a_heading_never_skips_a_level() -> None:
    document = read(block("a", [head(1, "One"), head(3, "Deep")]))
    assert [h.number for h in document.contents] == ["1", "1.1"]


@rows(
    ("node", "message"),
    [
        ({"t": "image", "src": "data:image/png;base64,AAAA", "alt": "x"}, "an image is neither attached nor a PNG"),
        ({**figure("fig-a"), "alt": "  "}, "an image has no alt text"),
        ({**figure("fig-a"), "svg": "<p>x</p>"}, "a drawing cannot be shown"),
        (cost_table("tab-a", caption="") | {"caption": []}, "a table has no caption"),
        ({"t": "mystery"}, "a block is malformed"),
        ({"t": "p", "c": 7}, "a block is malformed"),
        ({"t": "h"}, "a block is malformed"),
        ("not a node", "a block is malformed"),
        ({"t": "p", "c": [{"t": "blink", "v": "x"}]}, "a block is malformed"),
        ({"t": "callout", "tone": "loud", "title": [], "c": []}, "a block is malformed"),
        ({"t": "quote", "c": [{"t": "glance", "c": [], "tiles": []}]}, "a block is malformed"),
        ({**glance(), "c": [figure("fig-a")]}, "a block is malformed"),
        ({**para("x"), "onclick": "x"}, "a block is malformed"),
        (para({**num("tco.figure-1", "$1"), "value": float("nan")}), "a block is malformed"),
    ],
)
def test_a_faulty_block_is_listed_and_does_not_stop_the_rest(node: Any, message: str) -> None:
    document = read(block("a", [node, para("the rest")], ledger=None))
    assert message in messages(document)
    assert plain_text(document.body[-1].children) == "the rest"


def test_a_block_of_another_version_and_an_error_output_are_faults() -> None:
    cell = block("a", [para("x")])
    cell.outputs[0].data["application/vnd.fabricreport.block+json"]["version"] = 2
    failed = new_code_cell("1/0", outputs=[new_output("error", ename="ZeroDivisionError", evalue="x", traceback=[])])
    assert len(messages(read(cell, failed))) == 2


def test_hidden_characters_are_shown_and_listed() -> None:
    document = read(new_markdown_cell("price 9\u202e1 and a\u200bb"))
    assert plain_text(document.body[0].children) == "price 9\ufffd1 and a\ufffdb"
    assert len(document.problems) == 1


def test_code_sources_and_plain_outputs_never_enter_the_document() -> None:
    cell = new_code_cell(
        "password = 'hunter2'",
        outputs=[new_output("stream", text="printed"), new_output("execute_result", data={"text/plain": "42"})],
    )
    assert read(cell).nodes == ()


def test_png_outputs_need_alt_text_from_metadata() -> None:
    data = {"image/png": base64.b64encode(PNG).decode()}
    said = {"image/png": {"alt": "All is grey."}, "caption": "Grey is all", "id": "fig-grey"}
    with_alt = new_output("display_data", data=data, metadata=said)
    document = read(
        new_code_cell("x", outputs=[with_alt]), new_code_cell("y", outputs=[new_output("display_data", data=data)])
    )
    first, second = every(document.body, Figure)
    assert (first.alt, plain_text(first.title), first.number, first.id) == (
        "All is grey.",
        "Grey is all",
        "1",
        "fig-grey",
    )
    assert (second.alt, second.title, second.number) == ("", (), "2")
    assert data["image/png"] in first.svg and (first.width_pt, first.height_pt) == tuple(
        0.6 * int.from_bytes(PNG[at : at + 4]) for at in (16, 20)
    )
    assert messages(document) == ["an image has no alt text"]


def test_a_dataframe_is_read_as_data() -> None:
    html = (
        "<table class='dataframe'><thead><tr><th></th><th>busbw</th><th>note</th></tr></thead><tbody>"
        "<tr><th>ring</th><td>370.5</td><td>&lt;b&gt;x</td></tr><tr><th>tree</th><td>NaN</td><td></td></tr></tbody></table>"
        "<script>alert(1)</script>"
    )
    table, _ = table_from_html(html, "Caption", "tab-x")
    assert table is not None
    assert [c.align for c in table.columns] == ["left", "right", "left"]
    assert plain_text(table.rows[0].cells[2]) == "<b>x"
    assert "alert" not in repr(table)


def test_html_without_a_table_is_a_fault() -> None:
    cell = new_code_cell("x", outputs=[new_output("display_data", data={"text/html": "<iframe src=x></iframe>"})])
    assert "holds no table" in messages(read(cell))[0]


@rows(
    ("cell", "message"),
    [
        (new_raw_cell("words"), "a raw cell is not carried into the memo"),
        (shows({"image/svg+xml": "<svg/>", "text/plain": "x"}), "an output of this kind is not shown"),
        (shows({"application/vnd.jupyter.widget-view+json": {}}), "an output of this kind is not shown"),
        (shows({"text/html": TABLE * 2}), "an HTML output holds more than one table"),
        (shows({"text/plain": "42"}), "the cell ends in a value that the memo cannot show"),
        (shows({"text/markdown": "It is {tco.x}."}), "a field of a Markdown cell is not filled"),
        (new_code_cell("x", outputs=[new_output("stream", text="hi")]), "the cell prints text, which is not carried into the memo"),
    ],
)  # fmt: skip
def test_what_a_memo_cannot_carry_is_named_with_its_cell(cell: Any, message: str) -> None:
    problems = [p for p in read(new_markdown_cell("# One"), cell).problems if "caption" not in p.message]
    assert [(p.key, p.message) for p in problems] == [("cell 2", message)]
    assert problems[0].remedy


def test_the_repr_of_a_drawing_is_no_loss_beside_the_drawing_but_any_other_value_is() -> None:
    drawing = new_output("display_data", data={"image/png": base64.b64encode(PNG).decode()}, metadata={"alt": "Grey."})

    def value(text: str) -> Any:
        return new_code_cell("x", outputs=[new_output("execute_result", data={"text/plain": text}), drawing])

    reprs = [
        "[<matplotlib.lines.Line2D at 0x0>]",
        "<Axes: xlabel='a'>",
        "(array([1.]), <BarContainer object of 3 artists>)",
    ]
    assert messages(read(*map(value, reprs))) == []
    assert len(messages(read(value("0.42")))) == 1
    assert len(messages(read(new_code_cell("x", outputs=value("<Axes: >").outputs[:1])))) == 1


def test_a_figure_that_is_last_value_and_shown_too_is_carried_once_and_two_showings_twice() -> None:
    data = {"image/png": base64.b64encode(PNG).decode(), "text/plain": "<Figure size 640x480 with 1 Axes>"}
    last, drawn = (
        new_output(kind, data=data, metadata={"alt": "Grey."}) for kind in ("execute_result", "display_data")
    )
    assert len(every(read(new_code_cell("fig", outputs=[last, drawn])).body, Figure)) == 1
    assert len(every(read(new_code_cell("fig", outputs=[last])).body, Figure)) == 1
    assert len(every(read(new_code_cell("show(), show()", outputs=[drawn, drawn])).body, Figure)) == 2


def checked(*cells: Any) -> list[str]:
    return check_memo(gather(new_notebook(cells=list(cells))))


@rows(
    ("text", "field"),
    [
        ("It costs {tco.total.rocev2-whitebox-400g, a lot.", "{tco.total.rocev2-whitebox-400g}"),
        ("It costs **{tco.total** here.", "{tco.total}"),
        ("Each {price:switch-qm9700", "{price:switch-qm9700}"),
        ("See {fig-waterfall.", "{fig-waterfall}"),
        ("Said {{so}} and {cite evidence:x", "{cite evidence:x}"),
    ],
)
def test_a_field_without_its_closing_brace_is_named_as_such(text: str, field: str) -> None:
    (fault,) = checked(new_markdown_cell(text))
    assert fault.startswith("cell 1: ") and f"is not closed: write {field}" in fault


@rows("text", ["Literal {{tco.total}} braces.", "A lone } or { brace.", "```\n{tco.total\n```"])
def test_braces_that_are_meant_are_no_open_field(text: str) -> None:
    assert checked(new_markdown_cell(text)) == []


def test_an_image_that_is_not_embedded_is_named_with_its_path_wherever_it_stands() -> None:
    for text in (
        "![A plot](zz.png)",
        "Amid ![A plot](zz.png) words.",
        "- ![A plot](zz.png)",
        "|h|\n|--|\n|![A plot](zz.png)|\n\nTable: T",
    ):
        (fault,) = checked(new_markdown_cell(text))
        assert fault.startswith(
            "cell 1: the image zz.png is not embedded: attach it to the cell or draw it in a code cell"
        )


def test_a_missing_alt_text_or_caption_is_told_with_the_way_to_give_it() -> None:
    alt, caption = checked(shows({"image/png": base64.b64encode(PNG).decode()}))
    assert '{"alt": "…"}' in alt and "%%chart" in alt and '{"caption": "…"}' in caption and "no title" in caption
    (caption,) = checked(shows({"text/html": TABLE}))
    assert '{"caption": "…"}' in caption and "%%table" in caption


def test_a_dataframe_without_rows_is_named() -> None:
    empty = shows({"text/html": TABLE.replace("<tr><td>x</td></tr>", "")})
    assert any("cell 1" in fault and "a DataFrame without rows is shown" in fault for fault in checked(empty))


def test_a_folder_of_the_machine_is_cut_from_what_a_cell_wrote() -> None:
    text = "/home/ann/p/style.py:99: UserWarning: see /srv/x/y.csv and https://a.example/b/c\n  code()\n"
    (problem,) = read(new_code_cell("x", outputs=[new_output("stream", name="stderr", text=text)])).problems
    assert problem.value == "UserWarning: see y.csv and https://a.example/b/c"


def test_front_matter_defaults_make_a_draft_named_after_its_first_heading() -> None:
    document = read(new_markdown_cell("# What we found\n\nText."))
    assert document.front.title == "What we found"
    assert document.front.draft
    assert document.front.date == ""


def test_decimals_line_up_by_the_digits_a_cell_lacks() -> None:
    table = cost_table("tab-a", 0)
    table["columns"] = [{"label": words("n"), "unit": unit, "align": "right"} for unit in ("GB/s", "")]
    table["rows"] = [{"cells": [words(v)] * 2, "role": "normal"} for v in ("1.25", "30", "−2.5", "n/a")]
    (node,) = every(read(block("a", [table])).body, DataTable)
    assert node.shape.decimals == ((0, -1), (2, -1), (1, -1), (-1, -1)), "numbers of rows of their own make no line"


def test_svg_keeps_drawing_and_drops_the_rest() -> None:
    text = (
        '<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" width="72pt" height="36pt" viewBox="0 0 72 36" onload="x()">'
        '<script>alert(1)</script><style>*{stroke-linejoin: round}</style><style>@import "x"</style><foreignObject><p/></foreignObject>'
        '<a href="https://evil.example"><rect/></a><image href="https://evil.example/x.png"/>'
        '<g id="g1" onclick="x()"><path id="p" d="M0 0" style="fill: #1F2430; background: url(https://e.example)"/>'
        '<use href="#p" clip-path="url(#c)"/><use href="https://evil.example/#p"/></g></svg>'
    )
    drawing = clean_svg(text, "k-")
    assert (drawing.width_pt, drawing.height_pt) == (72.0, 36.0)
    for word in ("script", "evil", "onload", "onclick", "foreignObject", "style=", "@import", "<a "):
        assert word not in drawing.svg
    assert 'id="k-g1"' not in drawing.svg
    for word in ('id="k-0"', 'href="#k-0"', 'clip-path="url(#k-c)"', 'fill="#1f2430"', 'stroke-linejoin="round"'):
        assert word in drawing.svg


@rows(
    "text",
    [
        "no svg",
        "<svg/>",
        '<!DOCTYPE svg [<!ENTITY a "b">]><svg xmlns="http://www.w3.org/2000/svg" width="1" height="1">&a;</svg>',
        '<svg xmlns="http://www.w3.org/2000/svg"/>',
        '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1">' + "<g>" * 3000 + "</g>" * 3000 + "</svg>",
    ],
)
def test_an_unsafe_or_sizeless_svg_is_refused(text: str) -> None:
    with pytest.raises(UnsafeDrawing):
        clean_svg(text, "k-")


def test_a_matplotlib_chart_survives_cleaning() -> None:
    drawing = clean_svg(chart_svg(), "k-")
    assert drawing.width_pt == pytest.approx(468, abs=1)
    assert drawing.svg.count("<path") > 10


@rows("text", ["=1+1", "+cmd", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "=HYPERLINK(1)", " =1", "-", "+a"])
def test_a_cell_that_could_run_gets_an_apostrophe(text: str) -> None:
    assert spreadsheet_cell(text) == "'" + text


@rows("value", ["-2.5", "+3", "1e-3", "-.5", "plain", "", "a=b", 3, -2.5, True, "'x"])
def test_numbers_and_plain_text_pass_unchanged(value: Any) -> None:
    assert spreadsheet_cell(value) == value


def test_a_non_finite_number_and_none_are_empty_cells() -> None:
    assert [spreadsheet_cell(v) for v in (float("nan"), float("inf"), None)] == ["", "", ""]


def test_csv_quotes_what_needs_quoting() -> None:
    assert csv_text([["a,b", '="x"', 1.5]]) == '"a,b","\'=""x""",1.5\r\n'


def test_slugs_are_never_paths() -> None:
    assert slug("../../etc/passwd") == "etc-passwd"
    assert slug("Ü ber—x") == "u-ber-x"
    assert slug("漢字") == "x"
    assert len(slug("a" * 300)) <= 60


def test_a_pile_of_accents_is_cut() -> None:
    assert len(visible("e" + "\u0301" * 500)) < 12
