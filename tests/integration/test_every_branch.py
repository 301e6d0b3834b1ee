"""Every sentence of every notebook is rendered, also where no shipped client takes it: fields, bare numbers, language."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from branch_counts import BRANCHES
from every_branch import Branch, branches
from notebook_cells import SECTIONS, sources

import fabricreport.inputs as inputs_module
from fabricreport.blocks.cells import fields_of
from fabricreport.blocks.gate import bare_numbers
from fabricreport.blocks.prose import is_prose
from fabricreport.case import Case, open_case
from fabricreport.spine.spoken import SPINE
from fabricreport.vocabulary import SPINES

ROOT = Path(__file__).parents[2]
CLIENT_OF = {"choose_provider": "tern-finetuning", "grow_in_stages": "kestrel-lab", "buy_once": "example"}
"""Who asks each question."""
OWN_WORDS = {spine: words for spine, (_, _, words) in SPINE.items()}
CLIENTS = ("example", "tern-finetuning", "kestrel-lab", "halden-cloud")
WORDS = ROOT / "tests/data/words.txt"
pytestmark = pytest.mark.slow


@cache
def case(client: str) -> Case:
    with mock.patch.object(inputs_module, "DRAWS", 256):
        return open_case(ROOT / f"params/{client}.yaml")


@cache
def rendered(section: str, client: str) -> tuple[Branch, ...]:
    with mock.patch.object(inputs_module, "DRAWS", 256):
        return tuple(branches(section, case(client), ROOT / f"params/{client}.yaml"))


def texts(node: Any) -> Iterator[str]:
    """Every piece of prose below a node, numbers and references left out."""
    if isinstance(node, list):
        for part in node:
            yield from texts(part)
    elif isinstance(node, dict) and node.get("t") == "text":
        yield str(node["v"])
    elif isinstance(node, dict):
        for key, part in node.items():
            if key not in ("data", "svg") and isinstance(part, dict | list):
                yield from texts(part)


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("section", SECTIONS)
def test_each_branch_is_rendered_and_holds_no_bare_number(section: str, client: str) -> None:
    done = rendered(section, client)
    assert len(done) == sum(is_prose(source) for source, _ in sources(section))
    bare = {
        branch.where: found
        for branch in done
        for bundle in branch.bundles
        for text in texts(bundle["nodes"])
        if (found := bare_numbers(text, bundle["names"]))
    }
    assert bare == {}


def asked_of(section: str) -> set[str]:
    """The findings that a notebook asks for, by their last name."""
    return {b.cell.when.rpartition(".")[2] for b in rendered(section, CLIENT_OF.get(section, "example")) if b.cell.when}


def said_in(section: str) -> set[str]:
    """The words that a notebook says."""
    cells = [branch.cell for branch in rendered(section, CLIENT_OF.get(section, "example"))]
    fields = " ".join(field for cell in cells for text in cell.texts for field in fields_of(text))
    return {cell.each[1] for cell in cells if cell.each} | set(re.findall(r"\w+", fields))


@pytest.mark.parametrize("section", SECTIONS)
def test_every_finding_is_asked_for_and_every_word_is_said(section: str) -> None:
    """In its own notebook or in the memo's body."""
    spoken = case(CLIENT_OF.get(section, "example")).spoken(section)
    bodies = [section] if section in SPINES else [section, *SPINES]
    assert {f.name.lower() for f in spoken.findings.kind} - set().union(*map(asked_of, bodies)) == set()
    own = OWN_WORDS[section](case(CLIENT_OF[section])) if section in SPINES else spoken.words
    assert set(own) - set().union(*map(said_in, bodies)) == set()


@pytest.mark.parametrize("section", SECTIONS)
def test_branches_are_counted_and_each_client_takes_some_of_them(section: str) -> None:
    taken = {client: {b.number for b in rendered(section, client) if b.taken} for client in CLIENTS}
    BRANCHES[f"{section}:rendered"] = len(rendered(section, "example"))
    BRANCHES[f"{section}:taken"] = len(set().union(*taken.values()))
    assert taken[CLIENT_OF[section]] if section in SPINES else all(taken.values())


@pytest.mark.parametrize("section", SECTIONS)
def test_a_cell_without_a_condition_says_something(section: str) -> None:
    always = [b for b in rendered(section, "example") if not b.cell.when and b.cell.kind != "title" and not b.cell.each]
    assert [branch.where for branch in always if not branch.bundles] == []


@pytest.mark.parametrize("section", SECTIONS)
def test_every_word_of_every_branch_is_spelt_as_the_dictionary_or_our_list_has_it(section: str) -> None:
    if shutil.which("hunspell") is None:
        pytest.skip("hunspell is not installed")
    names = {name for client in CLIENTS for name in case(client).names}
    prose = "\n".join(
        text
        for client in CLIENTS
        for branch in rendered(section, client)
        for bundle in branch.bundles
        for text in texts(bundle["nodes"])
    )
    for name in sorted(names, key=len, reverse=True):
        prose = prose.replace(name, " ")
    prose = re.sub(r"\S*\d\S*", " ", prose)  # names of products and protocols, which the gate judges
    prose = re.sub(r"(?<=\w)[’'](?:s\b)?", " ", prose)
    command = ["hunspell", "-d", "en_GB", "-p", str(WORDS), "-l"]
    wrong = subprocess.run(command, input=prose, capture_output=True, text=True, check=True).stdout.split()
    assert sorted(set(wrong)) == []
