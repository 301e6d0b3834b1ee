"""A Word document read back: its words, numbers, pictures, tables and notes, its parts and where they lead."""

from __future__ import annotations

import io
import re
import struct
import xml.etree.ElementTree as ET
import zipfile
from dataclasses import dataclass
from functools import cached_property

from fabricreport.blocks import nodes
from fabricreport.blocks.gate import lines_of
from fabricreport.ledger.numbers import DAGGER, RING
from fabricreport.memo.document.document import Document

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_PICTURE = "{http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing}"
_EMU_IN_INCH = 914_400


@dataclass(frozen=True)
class ReadDocx:
    """A document of these bytes."""

    data: bytes

    @cached_property
    def parts(self) -> dict[str, bytes]:
        with zipfile.ZipFile(io.BytesIO(self.data)) as archive:
            assert archive.testzip() is None and {i.date_time for i in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
            assert len(archive.namelist()) == len(set(archive.namelist()))
            return {name: archive.read(name) for name in archive.namelist()}

    @cached_property
    def xml(self) -> dict[str, ET.Element]:
        """Every part that is XML; none declares an entity."""
        found = {name: data for name, data in self.parts.items() if not name.endswith(".png")}
        assert not [name for name, data in found.items() if b"<!" in data or b"<?" in data]
        return {name: ET.fromstring(data) for name, data in found.items()}

    @property
    def body(self) -> ET.Element:
        return self.xml["word/document.xml"]

    @property
    def endnotes(self) -> dict[str, str]:
        """The text of each note, by its id."""
        notes = self.xml["word/endnotes.xml"].iter(f"{W}endnote")
        return {n.attrib[f"{W}id"]: said(n).strip() for n in notes if f"{W}type" not in n.attrib}

    def paragraphs(self, style: str = "") -> list[str]:
        """The text of each paragraph, of one style or of all, in order."""
        return [said(p) for p in self.body.iter(f"{W}p") if not style or style_of(p) == style]

    @property
    def numbers(self) -> list[str]:
        """The numbers of the ledger as printed, those of notes last."""
        runs = (run for part in (self.body, self.xml["word/endnotes.xml"]) for run in part.iter(f"{W}r"))
        return [said(run) for run in runs if run.find(f"{W}rPr/{W}rStyle[@{W}val='Number']") is not None]

    def pictures(self) -> list[tuple[str, float]]:
        """The alt text and the resolution of each picture."""
        found = []
        for inline in self.body.iter(f"{_PICTURE}inline"):
            shown, name = inline.find(f"{_PICTURE}extent"), inline.find(f"{_PICTURE}docPr")
            embedded = [v for e in inline.iter() for key, v in e.attrib.items() if key == f"{R}embed"]
            assert shown is not None and name is not None and len(embedded) == 1
            across, down = struct.unpack(">II", self.parts[f"word/{self.related()[embedded[0]][0]}"][16:24])
            wide, high = (int(shown.attrib[side]) for side in ("cx", "cy"))
            assert abs(wide / high - across / down) < 0.01
            found.append((name.attrib["descr"], across / (wide / _EMU_IN_INCH)))
        return found

    def used(self, part: str = "document") -> set[str]:
        """The ids by which a part refers to others."""
        return set(re.findall(r'r:(?:id|embed)="([^"]*)"', self.parts[f"word/{part}.xml"].decode()))

    def related(self, part: str = "document") -> dict[str, tuple[str, bool]]:
        """What the ids of a part lead to, and whether outside of the file."""
        found = self.xml[f"word/_rels/{part}.xml.rels"]
        return {r.attrib["Id"]: (r.attrib["Target"], r.attrib.get("TargetMode") == "External") for r in found}

    @property
    def properties(self) -> dict[str, str]:
        """The core properties by their bare names."""
        return {e.tag.partition("}")[2]: e.text or "" for e in self.xml["docProps/core.xml"]}


def said(element: ET.Element) -> str:
    """The words of an element, the end of a line as a space."""
    return "".join(" " if t.tag == f"{W}br" else t.text or "" for t in element.iter() if t.tag in (f"{W}t", f"{W}br"))


def style_of(p: ET.Element) -> str:
    style = p.find(f"{W}pPr/{W}pStyle")
    return "" if style is None else style.attrib[f"{W}val"]


def shown_in(document: Document) -> list[nodes.Node]:
    """All nodes of page one and the body."""
    return [*nodes.walk((*((document.glance,) if document.glance else ()), *document.first, *document.body))]


def missing_of(document: Document, copy: ReadDocx) -> list[str]:
    """The lines of page one and the body that stand in no paragraph, cell or note of a copy, word for word with their numbers."""
    shown = shown_in(document)
    lines = [words for node in shown for where, words in lines_of(node) if where != "alt text"]
    lines += [node.children for node in shown if isinstance(node, nodes.Note)]
    there = "\n".join([*copy.paragraphs(), *copy.endnotes.values()])
    return [text for words in lines if (text := nodes.words_of(words, _marked).strip()) not in there]


def _marked(node: nodes.Num | nodes.Ref | nodes.Cite | nodes.Note) -> str:
    match node:
        case nodes.Num():
            return node.text + (DAGGER if node.stale else "") + (RING if node.ring else "")
        case nodes.Cite():
            return f"[{', '.join(map(str, node.sources))}]"
        case nodes.Ref():
            return node.called
        case nodes.Note():
            return ""
