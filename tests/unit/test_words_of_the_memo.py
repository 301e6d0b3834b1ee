"""Sentences as a reader meets them, and their measures; words that the memo does not use, sentences too long, semicolons, labels run into the text: who stops, who is told."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from notebook_cells import SECTIONS, sources
from rows import rows

from fabricreport.base.errors import InputError
from fabricreport.base.vocabulary import SPINES
from fabricreport.base.yaml_files import read_yaml
from fabricreport.blocks.markdown import parse_markdown
from fabricreport.blocks.nodes import (
    BlockQuote,
    BulletList,
    Cite,
    DataTable,
    Glance,
    GlanceTile,
    Heading,
    Image,
    Inline,
    Note,
    Num,
    Paragraph,
    Ref,
    Strong,
    TableRow,
    Text,
    Top,
)
from fabricreport.blocks.prose import is_prose, read_cell, readings
from fabricreport.blocks.template import REFERENCES
from fabricreport.books.glossary import SHIPPED_FILE, STATISTICS, glossary_book, read_glossary
from fabricreport.memo.document.document import OWN_FILE
from fabricreport.memo.document.language import (
    LONGEST,
    READ,
    SAID,
    language_faults,
    language_remarks,
    sentences_of,
)
from fabricreport.memo.document.pieces import Gathered, Piece
from fabricreport.scenario import SECTION_NAMES

WHERE = "buy_once.ipynb, cell 4"


def p(*words: str | Inline) -> Paragraph:
    return Paragraph(tuple(Text(w) if isinstance(w, str) else w for w in words))


def memo(*nodes: Top, names: tuple[str, ...] = (), section: str = "buy_once") -> Gathered:
    body = Piece((p("A body."),), "buy_once", "buy_once.ipynb, cell 1")
    return Gathered(pieces=[body, Piece(nodes, section, WHERE)], names=set(names))


def faults(*nodes: Top, **more: object) -> list[str]:
    return list(language_faults(memo(*nodes, **more)))  # type: ignore[arg-type]


def remarks(*nodes: Top, **more: object) -> list[str]:
    return list(language_remarks(memo(*nodes, **more)))  # type: ignore[arg-type]


@rows(
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


def test_annexes_are_read_too() -> None:
    assert faults(p("It is dearer."), section="tco")


def test_a_long_sentence_is_told() -> None:
    (told,) = remarks(p(" ".join(["Word", *["word"] * LONGEST]) + "."))
    assert told.startswith(f"{WHERE}: {LONGEST + 1} words in one sentence") and told.endswith("Make two of it.")


def test_more_semicolons_than_pages_are_told_once() -> None:
    assert not remarks(p("One; two."))
    (told,) = remarks(p("One; two; three."))
    assert told.startswith("buy_once: 2 semicolons on 1 pages")
    assert not remarks(p("We asked A;B and C;D of it."), names=("A;B", "C;D"))


@rows("label", ["Footing.", "Lost to what.", "Measured:"])
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


FIGURES = (*(f"{name}." for name in SECTION_NAMES), "price:", "evidence:", "param:", "contested:", "stated.")


def field(name: str) -> Inline:
    """A figure as one word, any other word as a name, which may begin a sentence; a citation is not read."""
    if name.startswith("cite "):
        return Text("")
    if name.startswith(REFERENCES):
        return Ref(name)
    return Num(name, "9", 9.0) if name.startswith(FIGURES) else Text("Name")


def part(name: str, text: str) -> Top:
    """A caption or a label, read like a note and no paragraph of its own; an alt text, of which only the words count."""
    words = tuple(n for p in parse_markdown(text, field=field) if isinstance(p, Paragraph) for n in p.children)
    return Image("x", "", alt_nodes=words) if name == "alt" else Glance((), (GlanceTile((), (), words),))


def memo_of(notebook: str) -> Gathered:
    """What the cells of a notebook that stand in the memo may come to show, each cell once."""
    printed = []
    for number, (source, tags) in enumerate(sources(notebook), start=1):
        cell = read_cell(source) if is_prose(source) and not any(t.startswith(OWN_FILE) for t in tags) else None
        if cell is not None:
            where = f"{notebook}.ipynb, cell {number}"
            for way in cell.ways:
                texts = [node for text in readings(way.text) for node in parse_markdown(text, field=field)]
                parts = [part(name, text) for name, said in way.parts.items() for text in readings(said)]
                printed.append(Piece((*texts, *parts), notebook, where))
    return Gathered(pieces=printed)


def test_every_spine_and_every_section_is_read() -> None:
    assert {*SPINES, *SECTION_NAMES} <= set(SECTIONS)


@rows("notebook", SECTIONS)
def test_no_cell_uses_a_word_that_is_not_to_be_used(notebook: str) -> None:
    assert list(language_faults(memo_of(notebook))) == []


@rows("notebook", SECTIONS)
def test_in_no_cell_would_an_editor_mend_anything(notebook: str) -> None:
    """Semicolons are counted in a memo: of cells that exclude each other it shows a few."""
    assert [told for told in language_remarks(memo_of(notebook)) if "semicolons on" not in told] == []


def test_no_caution_about_the_plan_uses_such_a_word() -> None:
    """The memo prints them in a paragraph of their own."""
    cautions = [(c["id"], text) for c in read_yaml("plausibility") for text in (c["text"], c["look"])]
    found = Gathered(
        pieces=[Piece(parse_markdown(t, field=field), "decision", f"plausibility.yaml, {i}") for i, t in cautions]
    )
    assert cautions and list(language_faults(found)) == []
    assert [told for told in language_remarks(found) if "semicolons on" not in told] == []


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
    assert all(book.statistics.words(statistic) for statistic in STATISTICS)
    assert {*book.directions.nouns} <= {*book.directions.less, *book.directions.more}


def test_each_term_is_explained_once() -> None:
    names = [t.term.casefold() for t in glossary_book().terms]
    assert len(set(names)) == len(names)


@rows(
    ("old", "new", "said"),
    [
        ("terms:", "term:", "Did you mean 'terms'?"),
        ("{term: AFR, means:", "{term: AFR, mean:", "Did you mean 'means'?"),
        ("{term: AFR, means:", "{term: 4, means:", "terms[0].term: must be text (found 4). Put it in quotes."),
        ("stops: true", "stops: often", "must be true or false"),
        ("{term: AFR,", "{term: RCCL,", "this word is said already"),
        ("more: [more,", "more: [more, cheaper,", "this word is said already"),
        ("leads: [Why,", "leads: ['',", "leads[0]: is empty"),
        ("  p50: [", "  p55: [", "Did you mean 'p50'?"),
    ],
)
def test_a_fault_is_told_with_its_line(tmp_path: Path, old: str, new: str, said: str) -> None:
    told = refused(tmp_path, old, new)
    assert said in told and "glossary.yaml" in told


def piece(*nodes: Top) -> Piece:
    return Piece(nodes, "buy_once", "buy_once.ipynb, cell 4")


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


@given(st.lists(st.integers(1, 40), min_size=1, max_size=6))
def test_nothing_is_lost_or_made_in_splitting(lengths: list[int]) -> None:
    text = " ".join(" ".join(["Word", *["word"] * (n - 1)]) + "." for n in lengths)
    found = sentences_of([piece(p(text))])
    assert [s.length for s in found] == lengths
    assert " ".join(s.words for s in found) == text
