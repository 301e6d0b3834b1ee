"""`<edition>.memo.docx`: page one and the body in Word's own form (ECMA-376), with what is in every file in `data/docx.yaml`."""

from __future__ import annotations

import base64
import io
import struct
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

import typst
from markupsafe import Markup

from fabricreport.base.yaml_files import read_yaml
from fabricreport.blocks import nodes
from fabricreport.blocks.forms import EMPTY, TONES
from fabricreport.ledger.bases import CONVENTION
from fabricreport.ledger.numbers import DAGGER, RING
from fabricreport.memo.document.document import Document
from fabricreport.memo.document.safety import one_line, visible
from fabricreport.memo.write.livery import inked
from fabricreport.memo.write.pdf import asked_of_typst, printable

PROVED, _ACCENT = "Editable copy; the numbers are proved in edition {}, which has the annexes and sources", "#14466b"
DPI, TEXT_WIDTH_PT, LOGO_HEIGHT_PT, _EMU_IN_PT, _TWIPS_IN_PT = 220, 481.9, 34.0, 12_700, 20
_BULLETS, _DEEPEST, _MOST_IN_CELL = 999, 2, 34  # the id of lists without numbers, the last level, characters with room
_PARTS = {name: Markup(part) for name, part in read_yaml("docx").items()}


def el(name: str, *inside: Markup, **attributes: object) -> Markup:
    """An element of WordprocessingML."""
    told = EMPTY.join(Markup(' w:{}="{}"').format(key, value) for key, value in attributes.items())
    return Markup("<w:{0}{1}>{2}</w:{0}>").format(name, told, EMPTY.join(inside))


def run(words: str, marks: str = "", style: str = "") -> Markup:
    """Words in one look: `marks` has b for bold, i for italic, and `style` is one of characters."""
    looks = [*([el("rStyle", val=style)] if style else []), *(el(mark) for mark in "bi" if mark in marks)]
    text = Markup('<w:t xml:space="preserve">{}</w:t>').format(visible(words))
    return el("r", el("rPr", *looks), text) if words else EMPTY


def paragraph(style: str, *inside: Markup, look: Markup = EMPTY) -> Markup:
    """A paragraph; `look` is what it has beside its style."""
    return el("p", el("pPr", el("pStyle", val=style), look), *inside)


class DocxWriter:
    """Writes page one and the body as a Word document; what its parts refer to is gathered on the way."""

    def __init__(self, document: Document) -> None:
        self.document, self.brand = document, document.front.brand
        self.links, self.notes, self.lists, self.images = list[str](), list[Markup](), list[int](), list[bytes]()
        self.drawn = self._drawn()

    def written(self) -> bytes:
        """The file, its parts in one order."""
        front, body = self.document.front, self._body()
        told = {n: one_line(str(getattr(front, n))) for n in ("title", "subject", "sender", "edition", "date")}
        told["accent"] = ((self.brand and self.brand.accent) or _ACCENT).removeprefix("#")
        told |= {"body": body, "footer": run(f"{front.edition}  {self.brand.footer if self.brand else ''}")}
        for name in ("link", "image", "note", "list"):
            found = enumerate(getattr(self, f"{name}s"), 1)
            told[f"{name}s"] = EMPTY.join(_PARTS[name].format(number=n, value=one) for n, one in found)
        made = {name: part.format(**told).encode() for name, part in _PARTS.items() if "." in name}
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as archive:
            for name, data in (made | {f"word/media/{n}.png": png for n, png in enumerate(self.images, 1)}).items():
                archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)  # of 1 January 1980
        return file.getvalue()

    def _body(self) -> Markup:
        """Who, to whom and when; that this copy proves nothing; page one, the body, the marks and abbreviations."""
        found, front, brand = self.document, self.document.front, self.brand
        logo = self._picture(brand.logo_png, brand.name) if brand and brand.logo_png else EMPTY
        told = f"{front.kind} for {front.client}", front.date_text, f"to {front.to}", f"from {front.sender}"
        head = paragraph("Tag", logo, run(f" {brand.name}")) if brand else EMPTY
        head += paragraph("Tag", run(" · ".join(told))) + paragraph("Title", run(front.title))
        head += paragraph("Fine", run(PROVED.format(front.edition), "i"))
        first = EMPTY.join(map(self._glance, filter(None, [found.glance]))) + self.blocks(found.first)
        turned = paragraph("Gap", Markup('<w:r><w:br w:type="page"/></w:r>'))
        keys = (CONVENTION, *found.keys, *(f"{term.term}: {term.means}." for term in found.abbreviations))
        return head + first + turned + self.blocks(found.body) + paragraph("Fine", run(" ".join(keys)))

    def inline(self, words: Iterable[nodes.Inline], marks: str = "") -> Markup:
        """Words with their marks."""
        return EMPTY.join(self._inline(node, marks) for node in words)

    def _inline(self, node: nodes.Inline, marks: str) -> Markup:
        match node:
            case nodes.Link() if node.href.lower().startswith(("https://", "http://")):
                self.links.append(one_line(node.href))
                words = run(nodes.plain_text(node.children), marks, "Hyperlink")
                return Markup('<w:hyperlink r:id="l{}">{}</w:hyperlink>').format(len(self.links), words)
            case nodes.Strong() | nodes.Em() | nodes.Link():
                return self.inline(node.children, marks + {"strong": "b", "em": "i"}.get(node.kind, ""))
            case nodes.Num():
                return run(node.text, marks, "Number") + run(DAGGER * node.stale + RING * node.ring, marks)
            case nodes.Ref():
                return run(node.shown, marks)
            case nodes.Cite():
                return run(f"[{', '.join(map(str, node.sources))}]", marks)
            case nodes.Note():
                self.notes.append(self.inline(node.children))
                return _PARTS["mark"].format(number=len(self.notes))
            case nodes.Break():
                return el("r", el("br"))
            case nodes.Text() | nodes.Code():
                return run(node.words, marks, "Code" if isinstance(node, nodes.Code) else "")

    def blocks(self, found: Iterable[nodes.Flow], style: str = "Normal", level: int = 0) -> Markup:
        """Blocks one after the other, `level` deep in lists."""
        return EMPTY.join(self._block(node, style, level) for node in found)

    def _block(self, node: nodes.Flow, style: str, level: int) -> Markup:
        match node:
            case nodes.Paragraph():
                look = el("ind", left=360 * level) if level else EMPTY
                return paragraph(style, self.inline(node.children), look=look)
            case nodes.Heading():
                return paragraph(f"Heading{node.level}", run(f"{node.number}  "), self.inline(node.children))
            case nodes.BulletList() | nodes.OrderedList():
                return EMPTY.join(self._items(node, min(level, _DEEPEST)))
            case nodes.BlockQuote():
                return self.blocks(node.children, "Quote", level)
            case nodes.Preformatted():
                return EMPTY.join(paragraph("Lines", run(line)) for line in node.words.splitlines())
            case nodes.Callout():
                title = paragraph("Box", run(f"{TONES[node.tone]}: ", "b"), self.inline(node.title, "b"))
                return title + self.blocks(node.children, "Box", level)
            case nodes.DataTable():
                title = run(f"Table {node.number}. ", "b") + self.inline(node.caption, "b")
                below = paragraph("Fine", self.inline(node.note)) if node.note else EMPTY
                return paragraph("Caption", title) + self._table(node) + below
            case nodes.Figure():
                title = run(f"Figure {node.number}. ", "b") + self.inline(node.title, "b") + run(" ")
                title, picture = paragraph("Caption", title, self.inline(node.subtitle)), self._shown(node)
                return title + picture + (paragraph("Fine", self.inline(node.caption)) if node.caption else EMPTY)
            case nodes.Formula() | nodes.Image():
                return self._shown(node)

    def _items(self, node: nodes.BulletList | nodes.OrderedList, level: int) -> Iterator[Markup]:
        """A list; each that is numbered begins at 1, and what follows an item's first paragraph stands under it."""
        if ordered := isinstance(node, nodes.OrderedList):
            self.lists.append(level)
        mark = el("numPr", el("ilvl", val=level), el("numId", val=len(self.lists) if ordered else _BULLETS))
        for item in node.items:
            first = item[0].children if item and isinstance(item[0], nodes.Paragraph) else None
            yield paragraph("ListParagraph", self.inline(first or ()), look=mark)
            yield self.blocks(item[first is not None :], "ListParagraph", level + 1)

    def _glance(self, node: nodes.Glance) -> Markup:
        """The advice, and the tiles as a table."""
        title, tiles = (nodes.Text("The decision at a glance"),), node.tiles
        heads = tuple(nodes.TableColumn(tile.label, "", "left") for tile in tiles)
        values, notes = tuple(tile.value for tile in tiles), tuple(tile.note for tile in tiles)
        rows = nodes.TableRow(values, "total"), nodes.TableRow(notes, "normal")
        below = self._table(nodes.DataTable("", title, heads, rows, ())) if tiles else EMPTY
        return paragraph("Box", self.inline(title)) + self.blocks(node.children, "Box") + below

    def _table(self, node: nodes.DataTable) -> Markup:
        """A table with its columns as wide as their longest words ask for; a narrow one takes two thirds of the text's width."""
        texts = zip([c.label for c in node.columns], *(r.cells for r in node.rows if r.role != "group"), strict=True)
        shares = [4 + min(max(len(nodes.plain_text(words)) for words in column), _MOST_IN_CELL) for column in texts]
        unit = TEXT_WIDTH_PT * _TWIPS_IN_PT * (2 / 3 if node.shape and node.shape.narrow else 1) / sum(shares)
        widths = [round(unit * share) for share in shares]

        def row(said: list[Markup], head: Markup = EMPTY) -> Markup:
            one, span = ([sum(widths)], len(widths)) if len(said) == 1 else (widths, 1)
            looks = [el("tcPr", el("tcW", w=width, type="dxa"), el("gridSpan", val=span)) for width in one]
            lines = zip(said, (el("jc", val=column.align) for column in node.columns), strict=False)
            cells = (paragraph("Cell", words, look=look) for words, look in lines)
            return el("tr", el("trPr", el("cantSplit"), head), *map(partial(el, "tc"), looks, cells))

        heads = [self.inline(c.label, "b") + run(f" {c.unit}" if c.unit else "") for c in node.columns]
        made = [row(heads, el("tblHeader"))]
        for one in node.rows:
            said = [self.inline(words, "" if one.role == "normal" else "b") for words in one.cells]
            said[0] = run("‣ " * (one.role == "winner")) + said[0] + run(RING * one.ring)
            made.append(row([run(" ").join(filter(None, said))] if one.role == "group" else said))
        facts = _PARTS["table"].format(width=sum(widths), told=one_line(nodes.plain_text(node.caption)))
        grid = el("tblGrid", *(el("gridCol", w=width) for width in widths))
        return el("tbl", facts, grid, *made) + paragraph("Gap")

    def _shown(self, node: nodes.Figure | nodes.Formula | nodes.Image) -> Markup:
        """A picture on a line of its own; its words where it cannot be had."""
        source = node.src if isinstance(node, nodes.Image) else node.svg
        png = self.drawn.get(source) or base64.b64decode(source.partition(";base64,")[2])
        return paragraph("Picture", self._picture(png, node.alt, node.width_pt) if png else run(node.alt))

    def _picture(self, png: bytes, alt: str, width_pt: float = 0.0) -> Markup:
        """A picture among words, at most as wide as the text; a logo has its height instead."""
        self.images.append(png)
        across, down = struct.unpack(">II", png[16:24])
        wide = round(min(width_pt or LOGO_HEIGHT_PT * across / down, TEXT_WIDTH_PT) * _EMU_IN_PT)
        high, number = round(wide * down / across), len(self.images)
        return _PARTS["picture"].format(wide=wide, high=high, number=number, alt=one_line(alt))

    def _drawn(self) -> dict[str, bytes]:
        """Drawings as PNG, by what they are drawn from."""
        shown = nodes.walk((*self.document.first, *self.document.body))
        svgs = [*dict.fromkeys(n.svg for n in shown if isinstance(n, nodes.Figure | nodes.Formula) and n.svg)]
        pages = "".join(f'#page(image("{n}.svg"))\n' for n, _ in enumerate(svgs))
        with tempfile.TemporaryDirectory(prefix="memo-") as name:
            for n, svg in enumerate(svgs):
                Path(name, f"{n}.svg").write_text(printable(inked(svg, self.brand)), encoding="utf-8")
            Path(name, "memo.typ").write_text(f"#set page(width: auto, height: auto, margin: 0pt)\n{pages}")
            made = asked_of_typst(typst.compile, Path(name).resolve(), format="png", ppi=DPI)
        return dict(zip(svgs, made if isinstance(made, list) else [made], strict=bool(svgs)))
