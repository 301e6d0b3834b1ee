"""A source that disappears is missed, and figures that rested on it are named."""

from __future__ import annotations

from pathlib import Path

from fabricreport.books.evidence import EvidenceBook, read_evidence
from fabricreport.case import open_case
from fabricreport.checking.liveness import lost_footing, standings
from fabricreport.inputs import Inputs

ROOT = Path(__file__).parents[2]


def without(*gone: str) -> Inputs:
    whole = open_case(ROOT / "params" / "example.yaml").inputs
    book = EvidenceBook(e for e in whole.evidence.values() if e.id not in gone)
    return Inputs(whole.params, whole.folder, book, whole.price_book, whole.all_options)


def test_the_table_knows_every_entry_of_the_library() -> None:
    known = {i.removeprefix("evidence:") for i in standings() if i.startswith("evidence:")}
    assert known == set(read_evidence(None))


def test_a_whole_library_has_nothing_to_say() -> None:
    assert not list(lost_footing(without()))


def test_figures_that_rest_on_a_deleted_entry_are_named() -> None:
    (problem,) = lost_footing(without("weeks-to-stable-rocev2"))
    figures = open_case(ROOT / "params" / "example.yaml").tail().numbers
    named = standings()["evidence:weeks-to-stable-rocev2"].figures
    assert problem.key == "evidence:weeks-to-stable-rocev2"
    assert named and all(figure in problem.message for figure in named)
    assert all("evidence:weeks-to-stable-rocev2" in figures[f].inputs for f in named if f in figures)


def test_an_entry_that_is_only_quoted_is_missed_too() -> None:
    (problem,) = lost_footing(without("rocev2-annex"))
    assert problem.key == "evidence:rocev2-annex" and problem.message == "is missing"
