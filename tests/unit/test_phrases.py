"""What a table says of its rows stands in the notebook: kept by name, said of a thing, and named where it is missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from fabricreport.blocks import Column, Name, Named, Row, Section, Table
from fabricreport.blocks.nodes import DataTable, plain_text
from fabricreport.blocks.phrases import Phrase
from fabricreport.blocks.prose import ProseFault, read_cell
from fabricreport.blocks.say import run_cell
from fabricreport.blocks.tables import table_node
from fabricreport.ledger import Number

CELL = (
    "%%phrase quote each=todo in todo_quote\ndo: Ask for {todo.first}\nworth: {tco.gap[todo]} less\nsend: Please quote."
)


@dataclass(frozen=True)
class Ledger:
    """A case with one figure."""

    names: tuple[str, ...] = ()

    def figure(self, figure_id: str) -> Number:
        return {"tco.gap.switch": Number("tco.gap.switch", 5.0, "count", "Gap", "counted")}[figure_id]

    def record(self, input_id: str) -> dict[str, Any]:
        raise KeyError(input_id)


def thing() -> Named:
    return Named("A", "switch", first=Name("a switch of 64 ports"))


def said(section: Section, *cells: Phrase) -> list[str]:
    section.table("tab-x", "What to do", [Column("")] * len(cells), [Row(list(cells))])
    node = section.emitted[-1].nodes[0]
    assert isinstance(node, DataTable)
    return [plain_text(cell) for cell in node.rows[0].cells]


def notebook() -> tuple[Section, Section]:
    body = Section("decision", Ledger(), words={"todo_quote": (thing(),)})
    annex = body.annex()
    run_cell(read_cell(CELL), {"body": body}, str)
    return body, annex


def test_a_phrase_is_said_of_its_thing_in_body_and_annex_and_emits_nothing_itself() -> None:
    body, annex = notebook()
    assert body.emitted == []
    assert said(body, Phrase("quote", "do", thing()), Phrase("quote", "worth", thing())) == [
        "Ask for a switch of 64 ports", "5 less",
    ]  # fmt: skip
    assert said(annex, Phrase("quote", "send", thing())) == ["Please quote."]


def test_its_figures_and_names_count_as_met_by_the_table() -> None:
    body, _ = notebook()
    said(body, Phrase("quote", "do", thing()), Phrase("quote", "worth", thing()))
    assert [entry["id"] for entry in body.emitted[-1].ledger] == ["tco.gap.switch"]
    assert "a switch of 64 ports" in body.emitted[-1].names


@pytest.mark.parametrize(
    ("phrase", "hint"),
    [(Phrase("quot", "do", thing()), "did you mean quote"), (Phrase("quote", "choice", thing()), "with choice")],
)
def test_a_phrase_that_no_cell_said_is_named(phrase: Phrase, hint: str) -> None:
    body, _ = notebook()
    with pytest.raises(KeyError, match=hint):
        said(body, phrase)


def test_a_wrong_field_of_a_phrase_is_named() -> None:
    body, _ = notebook()
    run_cell(read_cell(CELL.replace("todo.first", "todo.frist")), {"body": body}, str)
    with pytest.raises(ProseFault, match="first"):
        said(body, Phrase("quote", "do", thing()))


@pytest.mark.parametrize(
    "line", ["%%phrase each=todo in x", "%%phrase quote", "%%phrase quote when=finding.x each=todo in x"]
)
def test_a_phrase_names_itself_and_its_thing_and_has_no_condition(line: str) -> None:
    with pytest.raises(ProseFault, match="names itself"):
        read_cell(f"{line}\ndo: x")


def test_a_phrase_outside_of_a_section_is_refused() -> None:
    body, _ = notebook()
    rows = Table([Column("")], [Row([Phrase("quote", "do", thing())])])
    with pytest.raises(ValueError, match="section"):
        table_node(body.binder({}), "tab-x", "x", rows.columns, rows.rows, "")
