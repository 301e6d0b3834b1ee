"""The editable copy: all that the body says, as text and nothing else; whole as a file, and the same bytes twice."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest
from read_docx import ReadDocx, W, missing_of, shown_in
from rich_notebook import HOSTILE, PNG, hostile_notebook, rich_notebook
from rows import words

from fabricreport.blocks import nodes
from fabricreport.memo.document.document import Document, document_from_notebook
from fabricreport.memo.document.safety import visible
from fabricreport.memo.write.docx import DPI, PROVED, DocxWriter
from fabricreport.scenario.brand import Brand

UNSEEN = "rate\x07 \x1b[31m9\u202e1\ufeff$ ]]> &#x1b; <w:t>"


def read(document: Document) -> ReadDocx:
    return ReadDocx(DocxWriter(document).written())


@pytest.fixture(scope="module")
def rich() -> Document:
    return document_from_notebook(rich_notebook())


@pytest.fixture(scope="module")
def copy(rich: Document) -> ReadDocx:
    return read(rich)


def test_a_copy_says_all_that_page_one_and_the_body_say(rich: Document, copy: ReadDocx) -> None:
    assert missing_of(rich, copy) == []
    printed = [node.text for node in shown_in(rich) if isinstance(node, nodes.Num)]
    assert len(printed) > 30 and sorted(copy.numbers) == sorted(printed)
    assert copy.paragraphs("Title") == [rich.front.title]
    assert PROVED.format("2026-11-20-ab12cd34") in copy.paragraphs()[:3]
    for level in (1, 2):
        told = [n for n in rich.body if isinstance(n, nodes.Heading) and n.level == level]
        assert copy.paragraphs(f"Heading{level}") == [f"{n.number}  {nodes.plain_text(n.children)}" for n in told]
    assert copy.endnotes == {"1": "One run of one operator; 8.8 a day."}
    assert [e.attrib[f"{W}id"] for e in copy.body.iter(f"{W}endnoteReference")] == ["1"]


def test_every_part_is_named_every_id_leads_somewhere_and_outside_only_links_do(copy: ReadDocx) -> None:
    types = copy.xml["[Content_Types].xml"]
    named = {e.attrib["PartName"].removeprefix("/") for e in types if "PartName" in e.attrib}
    assert named == {name for name in copy.xml if not name.endswith(".rels") and name != "[Content_Types].xml"}
    related = copy.related()
    within = {f"word/{target}" for target, outside in related.values() if not outside}
    pictures = {name for name in copy.parts if name.endswith(".png")}
    assert within == (named | pictures) - {"word/document.xml", "docProps/core.xml"}
    assert copy.used() <= set(related) and copy.used("endnotes") <= set(copy.related("endnotes"))
    assert [target for target, outside in related.values() if outside] == ["https://example.org/x"]
    known = {e.attrib[f"{W}styleId"] for e in copy.xml["word/styles.xml"].iter(f"{W}style")}
    used = {
        e.attrib[f"{W}val"] for name in copy.xml for e in copy.xml[name].iter() if e.tag in (f"{W}pStyle", f"{W}rStyle")
    }
    based = {e.attrib[f"{W}val"] for e in copy.xml["word/styles.xml"].iter() if e.tag in (f"{W}basedOn", f"{W}next")}
    assert used | based <= known


def test_pictures_have_their_words_and_are_sharp(rich: Document, copy: ReadDocx) -> None:
    shown = [n for n in shown_in(rich) if isinstance(n, nodes.Figure | nodes.Formula | nodes.Image)]
    found = copy.pictures()
    assert [alt for alt, _ in found] == [node.alt for node in shown] and len({*map(type, shown)}) == 3
    drawn = [dpi for (_, dpi), node in zip(found, shown, strict=True) if not isinstance(node, nodes.Image)]
    assert min(drawn) >= DPI - 1 >= 200


def test_tables_repeat_their_heads_fill_their_grids_and_lists_count_from_one(rich: Document, copy: ReadDocx) -> None:
    tables = [n for n in shown_in(rich) if isinstance(n, nodes.DataTable)]
    made = [*copy.body.iter(f"{W}tbl")]
    assert len(made) == len(tables) + 1, "the tiles are one too"
    for table in made:
        rows, grid = table.findall(f"{W}tr"), table.findall(f"{W}tblGrid/{W}gridCol")
        assert [row.find(f"{W}trPr/{W}tblHeader") is not None for row in rows] == [True] + [False] * (len(rows) - 1)
        for row in rows:
            assert sum(int(e.attrib[f"{W}val"]) for e in row.iter(f"{W}gridSpan")) == len(grid)
    assert sorted(len(table.findall(f"{W}tr")) for table in made[1:]) == sorted(1 + len(t.rows) for t in tables)
    one = nodes.OrderedList(((nodes.Paragraph((nodes.Text("one"),)), nodes.BulletList(((),))),))
    twice = read(replace(rich, body=(one, one)))
    own = [e.attrib[f"{W}val"] for e in twice.body.iter(f"{W}numId")]
    stated = {e.attrib[f"{W}numId"]: e for e in twice.xml["word/numbering.xml"].findall(f"{W}num")}
    assert len(own) == 4 and own[1] == own[3] and len(set(own)) == 3 and set(own) <= set(stated)
    assert all(stated[i].find(f"{W}lvlOverride/{W}startOverride") is not None for i in (own[0], own[2]))


def test_the_same_memo_is_the_same_bytes_and_its_dates_are_the_memos(rich: Document, copy: ReadDocx) -> None:
    assert DocxWriter(rich).written() == copy.data
    told = copy.properties
    assert told["created"] == told["modified"] == "2026-11-20T00:00:00Z"
    assert (told["title"], told["creator"], told["language"]) == (rich.front.title, "Fabric practice", "en-GB")


@pytest.mark.parametrize("payload", [" ".join(HOSTILE), UNSEEN])
def test_hostile_text_stands_as_typed_and_leads_nowhere(payload: str) -> None:
    document = document_from_notebook(hostile_notebook(payload))
    found = read(document)
    assert missing_of(document, found) == [] and visible(payload).split()[0] in "".join(found.paragraphs())
    known = {f"{W}{tag}" for tag in words("document body p pPr pStyle r rPr t")}
    assert known <= {element.tag for element in found.body.iter()}
    assert all(element.tag.startswith("{http://schemas.openxmlformats.org/") for element in found.body.iter())
    assert not [target for target, outside in found.related().values() if outside and not target.startswith("http")]
    assert not any(
        ord(c) < 32 and c not in "\t\n\r" for part in found.xml.values() for c in ET.tostring(part, "unicode")
    )


def test_a_sender_has_name_logo_and_accent(rich: Document) -> None:
    brand = Brand("Acme & <Partners>", PNG, "#aa1122", "#33bbcc", "Registered in Elsewhere")
    made = read(replace(rich, front=replace(rich.front, brand=brand), body=()))
    assert made.paragraphs()[0] == " Acme & <Partners>" and made.pictures()[0][0] == brand.name
    styles = {e.attrib[f"{W}styleId"]: e for e in made.xml["word/styles.xml"].iter(f"{W}style")}
    assert {styles[s].find(f"{W}rPr/{W}color").attrib[f"{W}val"] for s in ("Title", "Heading1")} == {"aa1122"}  # type: ignore[union-attr]
    assert "Registered in Elsewhere" in ET.tostring(made.xml["word/footer.xml"], "unicode")
