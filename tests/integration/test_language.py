"""The four example memos keep to the language: short sentences, hardly a semicolon, no word that is not to be used."""

from __future__ import annotations

from math import ceil

import pytest
from read_memo import blocks_of, stitched
from spelling import misspelt, texts

from fabricreport.base.vocabulary import Question
from fabricreport.memo.build import BuildResult
from fabricreport.memo.document.document import in_memo
from fabricreport.memo.document.language import (
    LONGEST,
    WORDS_OF_A_PAGE,
    language_faults,
    language_remarks,
    sentences_of,
)
from fabricreport.memo.document.pieces import Gathered, gather, parted
from fabricreport.memo.document.proofs import contradictions

CLIENTS = ("example", "tern-finetuning", "kestrel-lab", "halden-cloud")
MEAN = 20
"""Words of a sentence that a memo stays below on average."""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", params=CLIENTS)
def memo(request: pytest.FixtureRequest, memos: dict[str, BuildResult]) -> Gathered:
    return gather(in_memo(stitched(memos[request.param].folder)))


def test_no_word_is_used_that_is_not_to_be_used(memo: Gathered) -> None:
    assert list(language_faults(memo)) == []


def test_every_word_is_spelt_as_the_dictionary_or_our_list_has_it(memos: dict[str, BuildResult]) -> None:
    blocks = [block for result in memos.values() for block in blocks_of(stitched(result.folder))]
    said = (text for block in blocks for text in texts(block["nodes"]))
    assert misspelt(said, {name for block in blocks for name in block["names"]}) == []


def test_an_editor_would_mend_nothing(memo: Gathered) -> None:
    assert list(language_remarks(memo)) == []


def test_sentences_are_short_and_hold_hardly_a_semicolon(memo: Gathered) -> None:
    parts = parted(memo.pieces)
    assert parts.spined and parts.annexes
    for part in (parts.body, parts.annexes):
        found = sentences_of(part)
        words = sum(sentence.length for sentence in found)
        assert found and words / len(found) < MEAN and max(sentence.length for sentence in found) <= LONGEST
        assert sum(sentence.words.count(";") for sentence in found) <= ceil(words / WORDS_OF_A_PAGE)


def test_no_word_says_the_reverse_of_a_figure_and_figures_were_held_to_words(memo: Gathered) -> None:
    assert list(contradictions(memo)) == []
    renter = any(piece.section == Question.CHOOSE_PROVIDER.spine for piece in memo.pieces)
    assert renter or any(entry.get("compares") for entry in memo.ledger.values()), "sellers may all name one network"
    assert any(entry.get("central") for entry in memo.ledger.values())
