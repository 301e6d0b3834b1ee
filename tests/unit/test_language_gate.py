"""Words that the memo does not use, sentences too long, semicolons, labels run into the text: who stops, who is told."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricreport.blocks.nodes import BlockQuote, BulletList, DataTable, Num, Paragraph, Strong, TableRow, Text, Top
from fabricreport.books.glossary import glossary_book
from fabricreport.memo.document.gather import Gathered, Piece
from fabricreport.memo.document.language import language_faults, language_remarks
from fabricreport.memo.document.measures import LONGEST

WHERE = "buy_once.ipynb, cell 4"


def p(*words: str | Num | Strong) -> Paragraph:
    return Paragraph(tuple(Text(w) if isinstance(w, str) else w for w in words))


def memo(*nodes: Top, names: tuple[str, ...] = (), place: str = "body", section: str = "buy_once") -> Gathered:
    body = Piece((p("A body."),), "buy_once", "body", "buy_once.ipynb, cell 1")
    return Gathered(pieces=[body, Piece(nodes, section, place, WHERE)], names=set(names))


def faults(*nodes: Top, **more: object) -> list[str]:
    return list(language_faults(memo(*nodes, **more)))  # type: ignore[arg-type]


def remarks(*nodes: Top, **more: object) -> list[str]:
    return list(language_remarks(memo(*nodes, **more)))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text",
    [
        "It is cheaper in most of the draws.",
        "The P5–P95 range is wide.",
        "They take some and others days, respectively.",
        "InfiniBand is the dearer option.",
        "Less than that is not worth a  thought.",
        "Both have the same luck.",
        "Much of its footing is thin.",
        "Weeks until collectives are stable count.",
        "Exposed communication is long.",
        "The bring-up takes long.",
    ],
)
def test_a_word_that_is_misread_stops_the_copy_and_says_what_to_write(text: str) -> None:
    (fault,) = faults(p(text))
    assert fault.startswith(f"{WHERE}: “") and "Write instead: " in fault and text[:6].strip() in fault


def test_the_excerpt_shows_the_word_itself() -> None:
    (fault,) = faults(p("They are drawn wider " + "than that " * 12 + "in a draw."))
    assert "in a draw.”" in fault and "drawn" not in fault


def test_beyond_is_refused_before_a_figure_alone() -> None:
    assert faults(p("It turns beyond ", Num("a.b", "10 weeks", 10.0), "."))
    assert not faults(p("It goes beyond that."))


def test_a_word_in_its_own_right_is_none() -> None:
    assert not faults(p("The server draws power, and you are exposed to prices."))
    assert not faults(p("Please draw the network for us."))
    assert not remarks(p("The fabric manager is licensed, and the choice between them is yours."))


def test_a_plain_word_that_has_a_better_is_told_and_does_not_stop() -> None:
    assert not faults(p("The fabric counts."))
    (told,) = remarks(p("The fabric counts."))
    assert "“fabric”" in told and "Write instead: network" in told


def test_what_others_are_called_or_said_is_data() -> None:
    quoted = BlockQuote((p("The draws are dearer, respectively."),))
    table = DataTable("tab-x", (Text("A caption says it"),), (), (TableRow(((Text("Dearer draws"),),), "normal"),), ())
    assert not faults(quoted, table, p("We asked Dearer Draws Inc. about it."), names=("Dearer Draws Inc.",))
    assert faults(p("It is dearer."), names=("dearer",))


def test_only_what_is_printed_is_read() -> None:
    assert faults(p("It is dearer."), section="tco")
    assert not faults(p("It is dearer."), section="tco", place="annex")
    assert not remarks(p("word " * 60), section="tco", place="annex")


def test_a_long_sentence_is_told() -> None:
    (told,) = remarks(p(" ".join(["Word", *["word"] * LONGEST]) + "."))
    assert told.startswith(f"{WHERE}: {LONGEST + 1} words in one sentence") and told.endswith("Make two of it.")


def test_more_semicolons_than_pages_are_told_once() -> None:
    assert not remarks(p("One; two."))
    (told,) = remarks(p("One; two; three."))
    assert told.startswith("buy_once: 2 semicolons on 1 pages")
    assert not remarks(p("We asked A;B and C;D of it."), names=("A;B", "C;D"))


@pytest.mark.parametrize("label", ["Footing.", "Lost to what.", "Measured:"])
def test_a_label_run_into_the_text_is_told(label: str) -> None:
    bold = p(Strong((Text(label),)), " It rests on sources.")
    assert [r.split(" is a")[0] for r in remarks(bold)] == [f"{WHERE}: “{label[:-1]}”"]
    assert remarks(p(f"{label} It rests on sources."))


def test_sentences_leads_and_items_are_no_labels() -> None:
    assert not remarks(p(Strong((Text("Nobody knows."),)), " It rests on sources."))
    assert not remarks(p(Strong((Text("Why."),)), " It rests on sources."))
    assert not remarks(p(Strong((Text("Why RoCEv2."),)), " It rests on sources."))
    assert remarks(p(Strong((Text("Whyever."),)), " It rests on sources."))
    assert not remarks(BulletList(((p("Meta: it rests on sources."),),)))
    assert not remarks(p("It costs ", Num("a.b", "$1.5M", 1.0), ": much."))
    assert not remarks(p("Just this."))


@given(st.sampled_from([w for i in glossary_book().instead_of for w in i.words if "#" not in w]))
def test_every_word_not_to_use_is_found_wherever_it_stands(word: str) -> None:
    for text in (f"{word} it is.", f"It is {word.upper()}, so.", f"So it is: {word}."):
        assert any(f"“{word}”".casefold() in told.casefold() for told in (*faults(p(text)), *remarks(p(text))))
    assert not faults(p(f"It is x{word}x.")) and not remarks(p(f"It is x{word}x."))
