"""Every sentence of every notebook is rendered, also where no shipped client takes it: fields, bare numbers, spelling."""

from __future__ import annotations

import re
from dataclasses import astuple
from functools import cache

import bench
import pytest
from every_branch import Branch, Lenient, branches, given
from notebook_cells import SECTIONS, sources
from spelling import misspelt, texts

from fabricreport.base.vocabulary import SPINES
from fabricreport.blocks import Column, Row
from fabricreport.blocks.cells import fields_of
from fabricreport.blocks.document import Section
from fabricreport.blocks.gate import bare_numbers
from fabricreport.blocks.prose import is_prose, read_cell, readings
from fabricreport.blocks.template import PhraseCell
from fabricreport.bodies.bodies import SPINE
from fabricreport.books.sellers import offer_terms
from fabricreport.sections.decision.actions import actions
from fabricreport.sections.decision.steps import named

CLIENT_OF = {"choose_provider": "tern-finetuning", "grow_in_stages": "kestrel-lab"}
"""Who asks each question; the example the others."""
pytestmark = pytest.mark.slow
every_section = pytest.mark.parametrize("section", SECTIONS)


def client_of(section: str) -> str:
    return CLIENT_OF.get(section, "example")


@cache
def rendered(section: str) -> tuple[Branch, ...]:
    client = client_of(section)
    return tuple(branches(section, bench.case(client), bench.PARAMS / f"{client}.yaml"))


@every_section
def test_each_branch_is_rendered_and_holds_no_bare_number(section: str) -> None:
    done = rendered(section)
    cells = [read_cell(source) for source, _ in sources(section) if is_prose(source)]
    assert len(done) == sum(len(cell.ways) for cell in cells) and any(b.taken for b in done)
    bare = {
        branch.where: found
        for branch in done
        for bundle in branch.bundles
        for text in texts(bundle["nodes"])
        if (found := bare_numbers(text, bundle["names"]))
    }
    assert bare == {}


def asked_of(section: str) -> set[str]:
    """The findings that a notebook asks for, by their last name, and what its choices ask."""
    cells = [branch.cell for branch in rendered(section)]
    return {name for cell in cells for name in (cell.when.rpartition(".")[2], *cell.asked)}


def said_in(section: str) -> set[str]:
    """The words that a notebook says."""
    cells = [branch.cell for branch in rendered(section)]
    fields = " ".join(field for cell in cells for text in cell.texts for field in fields_of(text))
    asked = {name for cell in cells for name in cell.asked}
    return asked | {cell.each[1] for cell in cells if cell.each} | set(re.findall(r"\w+", fields))


def asked_by_the_body() -> set[str]:
    """The findings and words of sections that the code of the memo's body asks for, in the package or in a notebook."""
    code = "".join(p.read_text(encoding="utf-8") for p in (bench.ROOT / "fabricreport" / "bodies").glob("*.py"))
    code += "".join(source for spine in SPINES for source, _ in sources(spine) if not is_prose(source))
    named = re.findall(r"\bD\.([A-Z_]+)|\b(?:decision|diligence|findings|latency|tco)\.([a-z_]+)", code)
    return {(constant or name).lower() for constant, name in named} | set(re.findall(r'"(\w+)"', code))


@every_section
def test_every_finding_is_asked_for_and_every_word_is_said(section: str) -> None:
    """In its own notebook, in the memo's body or by what finds the body's own."""
    case = bench.case(client_of(section))
    spoken = case.spoken(section)
    bodies = [section] if section in SPINES else [section, *SPINES]
    assert {f.name.lower() for f in spoken.findings.kind} - asked_by_the_body() - set().union(
        *map(asked_of, bodies)
    ) == set()
    own = SPINE[section].words(case) if section in SPINES else spoken.words
    assert set(own) - asked_by_the_body() - set().union(*map(said_in, bodies)) == set()


@every_section
def test_a_cell_without_a_condition_says_something(section: str) -> None:
    always = [b for b in rendered(section) if not (b.cell.when or b.cell.each or b.cell.kind == "title")]
    assert [branch.where for branch in always if not branch.bundles] == []


def test_every_name_of_a_step_and_every_turn_of_an_answer_is_written_and_spelt() -> None:
    """Texts of the data with fields: each for a step as it is named, whatever the client, and with each of its choices."""
    steps = [text for action in actions().values() for text in (action.does, action.several) if text]
    turns = [text for turn in offer_terms().turns.values() for text in astuple(turn)]
    names = {name for client in bench.SHIPPED for name in bench.case(client).names}
    todo = named(bench.case("example").monday().todos[0])
    for section, written in (("decision", steps), ("choose_provider", turns)):
        case = bench.case(client_of(section))
        words = {name: given(word) for name, word in case.spoken(section).words.items()}
        body = Section(section, Lenient(case), words=words)
        cells = [PhraseCell(said, {"todo": todo}) for text in written for said in readings(text)]
        body.table("tab-x", "What is said", [Column("")] * len(cells), [Row(list(cells))])
        assert misspelt(texts(body.emitted[-1].bundle["nodes"]), names) == []


@every_section
def test_every_word_of_every_branch_is_spelt_as_the_dictionary_or_our_list_has_it(section: str) -> None:
    said = (t for branch in rendered(section) for bundle in branch.bundles for t in texts(bundle["nodes"]))
    assert misspelt(said, {name for client in bench.SHIPPED for name in bench.case(client).names}) == []
