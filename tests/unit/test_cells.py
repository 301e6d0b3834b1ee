"""`{…}` in Markdown cells: what is asked of the case, what is left alone, and that no text breaks it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabricreport.blocks.cells import ANSWERS_MIME, answers, bind_cell, fields_of
from fabricreport.blocks.gate import bare_numbers, texts
from fabricreport.blocks.nodes import Image, Num, Preformatted, plain_text, walk
from fabricreport.ledger import Number
from fabricreport.memo.document.gather import gather
from fabricreport.memo.run import binding


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


@pytest.mark.parametrize(
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
    binding.ask(nb)
    asked = [cell for cell in nb.cells if binding.is_asking(cell)]
    fields = dict.fromkeys(f for c in nb.cells if c.cell_type == "markdown" for f in fields_of(c.source))
    for cell in asked:
        cell.outputs = [nbformat.v4.new_output("display_data", data={ANSWERS_MIME: answers(fields, Case())}), *extra]
    binding.take(nb)
    return nb


def test_the_hidden_cell_leaves_no_trace_but_the_answers_and_those_of_an_earlier_run_are_dropped() -> None:
    nb = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_markdown_cell("It is {tco.x}."), nbformat.v4.new_code_cell("1")]
    )
    nb.cells[0].metadata["fabricreport"] = nbformat.from_dict({"answers": {"tco.x": {"fault": "old"}}})
    assert [c.source for c in run(nb).cells] == ["It is {tco.x}.", "1"]
    found = gather(nb)
    assert found.problems == [] and list(found.ledger) == ["tco.x"] and list(found.inputs) == ["price:x"]


def test_a_notebook_without_fields_is_only_asked_what_it_read() -> None:
    nb = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("See {fig-x} and `{code}`.")])
    binding.ask(nb)
    assert [binding.asks_nothing(cell) for cell in nb.cells] == [False, True]
    binding.take(nb)
    assert len(nb.cells) == 1


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
