"""A source that disappears is missed, and figures that rested on it are named."""

from __future__ import annotations

import bench
import pytest

from fabricreport.base.yaml_files import read_yaml
from fabricreport.books.evidence import EvidenceBook, read_evidence
from fabricreport.check.examination import lost_footing
from fabricreport.inputs.inputs import Inputs

pytestmark = pytest.mark.slow

WEEKS = "weeks-to-stable-rocev2"


def without(*gone: str) -> Inputs:
    whole = bench.case("example").inputs
    book = EvidenceBook(e for e in whole.shipped.values() if e.id not in gone)
    return Inputs(whole.params, whole.folder, book, whole.price_book, whole.all_options, draws=whole.draws)


def test_every_entry_of_the_library_is_known_once() -> None:
    listed = [name for key in ("live", "context") for name in read_yaml("standing")[key]]
    assert sorted(listed) == sorted(read_evidence(None))


def test_a_whole_library_has_nothing_to_say() -> None:
    assert not list(lost_footing(without()))


def test_figures_that_rest_on_a_deleted_entry_are_named() -> None:
    (problem,) = lost_footing(without(WEEKS))
    assert problem.key == f"evidence:{WEEKS}"
    missing, _, named = problem.message.partition(", and figures lose their footing: ")
    assert missing == "is missing" and named
    assert all(f"evidence:{WEEKS}" in bench.case("example").figure(figure).inputs for figure in named.split(", "))


def test_an_entry_that_is_only_quoted_is_missed_too() -> None:
    (problem,) = lost_footing(without("rocev2-annex"))
    assert problem.key == "evidence:rocev2-annex" and problem.message == "is missing"
