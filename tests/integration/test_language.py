"""The four example memos keep to the language: short sentences, hardly a semicolon, no word that is not to be used."""

from __future__ import annotations

from functools import cache
from math import ceil

import pytest
from one_process import ROOT, SMALL_DRAWS, whole

from fabricreport.memo.document.gather import Gathered, gather
from fabricreport.memo.document.language import language_faults, language_remarks
from fabricreport.memo.document.measures import LONGEST, measured, sentences_of
from fabricreport.memo.document.parts import parted
from fabricreport.memo.document.proofs import contradictions

CLIENTS = ("example", "tern-finetuning", "kestrel-lab", "halden-cloud")
MEAN = 20
"""Words of a sentence that a memo stays below on average."""

pytestmark = [pytest.mark.slow, pytest.mark.parametrize("client", CLIENTS)]


@cache
def memo(client: str) -> Gathered:
    return gather(whole(ROOT / "params" / f"{client}.yaml", draws=SMALL_DRAWS, draw_charts=False).memo)


def test_no_word_is_used_that_is_not_to_be_used(client: str) -> None:
    assert list(language_faults(memo(client))) == []


def test_an_editor_would_mend_nothing(client: str) -> None:
    assert list(language_remarks(memo(client))) == []


def test_sentences_are_short_and_hold_hardly_a_semicolon(client: str) -> None:
    parts = parted(memo(client).pieces)
    assert parts.spined and parts.annexes
    for part in (parts.body, parts.annexes):
        found = measured(sentences_of(part))
        assert found.count and found.mean < MEAN and found.longest <= LONGEST and not found.over
        assert found.semicolons <= ceil(found.pages)


def test_no_word_says_the_reverse_of_a_figure_and_figures_were_held_to_words(client: str) -> None:
    found = memo(client)
    assert list(contradictions(found)) == []
    assert any(entry.get("compares") for entry in found.ledger.values())
    assert any(entry.get("central") for entry in found.ledger.values())
