"""The bodies of memos as they are printed: page one on one page, four pages in all, few pictures, short sentences."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from notebook_cells import sources
from read_memo import page_texts

from fabricreport.blocks.prose import is_prose, read_cell
from fabricreport.memo.build import BuildResult

pytestmark = pytest.mark.slow
CLIENTS = ("example", "halden-cloud")
SPINES = ("buy_once", "choose_provider", "grow_in_stages")
MOST_PAGES, MOST_PICTURES, MOST_WORDS, MEAN_WORDS = 4, 3, 30, 20


def pages_of(pdf: Path) -> list[str]:
    return [" ".join(page.split()) for page in page_texts(pdf)]


@pytest.mark.parametrize("client", CLIENTS)
def test_page_one_holds_the_question_the_advice_both_sides_and_what_to_do(
    memos: dict[str, BuildResult], client: str
) -> None:
    first, second, *_ = pages_of(memos[client].memo_pdf)
    told = (
        "Which network should",
        "Why.",
        "The other side.",
        "would change the advice",
        "Before you sign",
    )
    places = [first.find(part) for part in (*told, "Read with care.")]
    assert -1 not in places and places == sorted(places)
    assert "Read with care." not in second


@pytest.mark.parametrize("client", [*CLIENTS, "kestrel-lab", "tern-finetuning"])
def test_the_body_is_short(memos: dict[str, BuildResult], client: str) -> None:
    pages = pages_of(memos[client].memo_pdf)
    annex = next(n for n, text in enumerate(pages) if "ANNEXES" in text.upper())
    assert annex <= MOST_PAGES


@pytest.mark.parametrize("spine", SPINES)
def test_the_body_has_few_pictures(spine: str) -> None:
    charts = [cell for source, _ in sources(spine) if is_prose(source) and (cell := read_cell(source)).kind == "chart"]
    assert len(charts) <= MOST_PICTURES


def sentences() -> list[str]:
    """Every sentence that the notebook may say, a field being one word."""
    cells = [read_cell(source) for source, _ in sources("buy_once") if is_prose(source)]
    told = [text for cell in cells if cell.kind in ("say", "tile", "chart", "table") for text in cell.texts]
    plain = [re.sub(r"\{cite [^}]*\}", "", text) for text in told]
    bare = [re.sub(r"\{[^}]*\}", "X", text) for text in plain]
    return [s for text in bare for s in re.split(r"(?<=[.?!])\s+|\n+", text) if len(s.split()) > 2]


def test_sentences_are_short() -> None:
    lengths = {s: len(s.split()) for s in sentences()}
    assert {s: n for s, n in lengths.items() if n > MOST_WORDS} == {}
    assert sum(lengths.values()) / len(lengths) < MEAN_WORDS
    assert not [s for s in lengths if ";" in s]
