"""Every cell of every notebook keeps to the memo's language, also those that no example client is shown."""

from __future__ import annotations

import pytest
from notebook_cells import SECTIONS, sources

from fabricreport.blocks.markdown import parse_markdown
from fabricreport.blocks.nodes import Glance, GlanceTile, Image, Inline, Num, Paragraph, Ref, Text, Top
from fabricreport.blocks.prose import is_prose, read_cell
from fabricreport.blocks.template import REFERENCES
from fabricreport.evidence import read_yaml
from fabricreport.memo.document.gather import Gathered, Piece
from fabricreport.memo.document.language import SEMICOLONS, language_faults, language_remarks
from fabricreport.scenario import SECTION_NAMES
from fabricreport.vocabulary import SPINES

FIGURES = (*(f"{name}." for name in SECTION_NAMES), "price:", "evidence:", "param:", "contested:", "stated.")


def field(name: str) -> Inline:
    """A figure as one word, any other word as a name, which may begin a sentence; a citation is not read."""
    if name.startswith("cite "):
        return Text("")
    if name.startswith(REFERENCES):
        return Ref(name)
    return Num(name, "9", 9.0) if name.startswith(FIGURES) else Text("Name")


def part(name: str, text: str) -> Top:
    """A caption or a label, read like a note and no paragraph of its own; an alt text, of which only the words count."""
    words = tuple(n for p in parse_markdown(text, field=field) if isinstance(p, Paragraph) for n in p.children)
    return Image("x", "", alt_nodes=words) if name == "alt" else Glance((), (GlanceTile((), (), words),))


def memo_of(notebook: str) -> Gathered:
    """What the cells of a notebook that are printed may come to show, each cell once."""
    printed = []
    for number, (source, _) in enumerate(sources(notebook), start=1):
        cell = read_cell(source) if is_prose(source) else None
        if cell is not None and not cell.annexed:
            where = f"{notebook}.ipynb, cell {number}"
            nodes = [*parse_markdown(cell.text, field=field), *(part(*said) for said in cell.parts.items())]
            printed.append(Piece(tuple(nodes), notebook, "body", where))
    return Gathered(pieces=printed)


def test_every_spine_and_every_section_is_read() -> None:
    assert {*SPINES, *SECTION_NAMES} <= set(SECTIONS)


@pytest.mark.parametrize("notebook", SECTIONS)
def test_no_cell_uses_a_word_that_is_not_to_be_used(notebook: str) -> None:
    assert list(language_faults(memo_of(notebook))) == []


@pytest.mark.parametrize("notebook", SECTIONS)
def test_in_no_cell_would_an_editor_mend_anything(notebook: str) -> None:
    """Semicolons are counted in a memo: of cells that exclude each other it shows a few."""
    assert [told for told in language_remarks(memo_of(notebook)) if SEMICOLONS not in told] == []


def test_no_caution_about_the_plan_uses_such_a_word() -> None:
    """The memo prints them in a paragraph of their own."""
    cautions = [(c["id"], text) for c in read_yaml("plausibility") for text in (c["text"], c["look"])]
    found = Gathered(
        pieces=[
            Piece(parse_markdown(t, field=field), "decision", "body", f"plausibility.yaml, {i}") for i, t in cautions
        ]
    )
    assert cautions and list(language_faults(found)) == []
    assert [told for told in language_remarks(found) if SEMICOLONS not in told] == []
