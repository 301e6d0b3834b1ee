"""Sentences as a reader meets them, and their measures."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fabricreport.blocks.nodes import (
    BlockQuote,
    BulletList,
    Cite,
    Glance,
    GlanceTile,
    Heading,
    Inline,
    Note,
    Num,
    Paragraph,
    Strong,
    Text,
    Top,
)
from fabricreport.memo.document.gather import Piece
from fabricreport.memo.document.measures import LONGEST, READ, SAID, measured, sentences_of


def piece(*nodes: Top) -> Piece:
    return Piece(nodes, "buy_once", "body", "buy_once.ipynb, cell 4")


def p(*words: str | Inline) -> Paragraph:
    return Paragraph(tuple(Text(w) if isinstance(w, str) else w for w in words))


def said(*nodes: Top) -> list[str]:
    return [s.words for s in sentences_of([piece(*nodes)])]


def test_a_sentence_ends_where_a_reader_ends_it() -> None:
    text = p("It saves ", Num("a.b", "$1.5M", 1.5), " (e.g. Licences, i.e. Fees). Is it sure? “No.” Buy 2.4 m of it!")
    assert said(text) == [
        "It saves $1.5M (e.g. Licences, i.e. Fees).",
        "Is it sure?",
        "“No.”",
        "Buy 2.4 m of it!",
    ]


def test_a_sentence_knows_its_numbers_and_where_they_stand() -> None:
    first, second = sentences_of([piece(p("One. It costs ", Strong((Num("a.b", "$2k", 2.0),)), " less."))])
    assert first.quoted == ()
    (quoted,) = second.quoted
    assert second.words[quoted.start : quoted.end] == "$2k"
    assert (second.where, second.section, second.kind) == ("buy_once.ipynb, cell 4", "buy_once", "prose")


def test_what_others_said_and_what_is_no_sentence_is_not_measured() -> None:
    tile = GlanceTile((Text("A label"),), (Text("A value"),), (Text("A note."),))
    nodes: tuple[Top, ...] = (
        Heading(1, (Text("Which network?"),), ""),
        BlockQuote((p("They said this."),)),
        BulletList(((p("One item."),), (p("Another", Note((Text("A footnote."),)), " item", Cite(("e",)), "."),))),
        Glance((p("The advice."),), (tile,)),
    )
    assert said(*nodes) == ["One item.", "Another item.", "A footnote.", "The advice.", "A note."]
    assert {s.kind for s in sentences_of([piece(*nodes)], SAID)} - READ == {"heading", "tile label", "tile value"}


def test_measures_of_a_part() -> None:
    long = " ".join(["Word", *["word"] * LONGEST]) + "."
    found = measured(sentences_of([piece(p("Two words; semicolon. ", long))]), pages=2)
    assert (found.count, found.words, found.longest, found.over) == (2, 34, 31, 1)
    assert (found.mean, found.semicolons_per_page) == (17.0, 0.5)
    assert measured([]).mean == measured([]).semicolons_per_page == 0.0


@given(st.lists(st.integers(1, 40), min_size=1, max_size=6))
def test_nothing_is_lost_or_made_in_splitting(lengths: list[int]) -> None:
    text = " ".join(" ".join(["Word", *["word"] * (n - 1)]) + "." for n in lengths)
    found = sentences_of([piece(p(text))])
    assert [s.length for s in found] == lengths
    assert " ".join(s.words for s in found) == text
