"""The file of the memo's language is read strictly, and is itself in order."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabricreport.books.glossary import SHIPPED_FILE, STATISTICS, glossary_book, read_glossary
from fabricreport.errors import InputError

TEXT = SHIPPED_FILE.read_text(encoding="utf-8")


def refused(tmp_path: Path, old: str, new: str) -> str:
    assert old in TEXT
    path = tmp_path / "glossary.yaml"
    path.write_text(TEXT.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(InputError) as error:
        read_glossary(path)
    return str(error.value)


def test_the_shipped_file_reads() -> None:
    book = glossary_book()
    assert {"InfiniBand", "RDMA", "NCCL", "AllReduce", "PFC", "ECMP", "MFU", "outcome", "nine times in ten"} <= {
        t.term for t in book.terms
    }
    assert "RoCEv2" in {name for t in book.terms for name in t.names}
    assert set(book.statistics) == set(STATISTICS)
    assert {*book.directions.nouns} <= {*book.directions.less, *book.directions.more}


def test_each_term_is_explained_once() -> None:
    names = [t.term.casefold() for t in glossary_book().terms]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("terms:", "term:", "Did you mean 'terms'?"),
        ("{term: AFR, means:", "{term: AFR, mean:", "Did you mean 'means'?"),
        ("{term: AFR, means:", "{term: 4, means:", "must be words"),
        ("stops: true", "stops: often", "must be true or false"),
        ("{term: AFR,", "{term: RCCL,", "this word is said already"),
        ("more: [more,", "more: [more, cheaper,", "this word is said already"),
        ("leads: [Why,", "leads: ['',", "must be words"),
        ("  p50: [", "  p55: [", "Did you mean 'p50'?"),
    ],
)
def test_a_fault_is_told_with_its_line(tmp_path: Path, old: str, new: str, said: str) -> None:
    told = refused(tmp_path, old, new)
    assert said in told and "glossary.yaml" in told
