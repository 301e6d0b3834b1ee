"""The second pass: fresh nodes with every number, link and drawing written in, ready for a writer."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import assert_never

from fabricreport.blocks.markdown import safe_link
from fabricreport.blocks.nodes import (
    BlockQuote,
    Break,
    BulletList,
    Callout,
    Cite,
    Code,
    DataTable,
    Em,
    Figure,
    Flow,
    Formula,
    Glance,
    GlanceTile,
    Heading,
    Headline,
    Image,
    Inline,
    Link,
    Note,
    Num,
    Numbered,
    OrderedList,
    Paragraph,
    Preformatted,
    Ref,
    Strong,
    TableColumn,
    TableRow,
    Text,
)
from fabricreport.ledger import Record
from fabricreport.memo.document.derive import FOOTING, quoted_input
from fabricreport.memo.document.numbering import ContentsLine, NumberedPiece, Numbering, Place, in_report, left_out
from fabricreport.memo.document.placed import (
    CitedSource,
    PlacedCite,
    PlacedFigure,
    PlacedFormula,
    PlacedHeading,
    PlacedImage,
    PlacedNote,
    PlacedNum,
    PlacedRef,
    PlacedRow,
    PlacedTable,
)
from fabricreport.memo.document.remedies import ALT_REMEDY, CAPTION_REMEDY, PICTURE_REMEDY
from fabricreport.memo.document.safe import one_line
from fabricreport.memo.document.svg import Drawing, UnsafeDrawing, clean_svg
from fabricreport.memo.document.tables import table_shape

_PNG = "data:image/png;base64,"
_PT_PER_PX = 0.6
"""Notebooks draw at 100 to 144 dots per inch; 120 prints their text near its intended size."""
_EMIT = "Emit it through the block functions."


def unmarked(nodes: Iterable[Inline]) -> tuple[Inline, ...]:
    """The words of a heading or a title: their numbers bear no marks, which the text beneath has."""

    def one(node: Inline) -> Inline:
        if isinstance(node, PlacedNum):
            return replace(node, stale=False, ring=False)
        return replace(node, children=unmarked(node.children)) if isinstance(node, Strong | Em | Link) else node

    return tuple(one(node) for node in nodes)


def _numbers(nodes: Iterable[Inline]) -> Iterator[PlacedNum]:
    """Every number among inline nodes."""
    for node in nodes:
        if isinstance(node, PlacedNum):
            yield node
        elif isinstance(node, Strong | Em | Link):
            yield from _numbers(node.children)


class Resolver:
    """Copies nodes with what `Numbering` found; remembers the footnotes, the numbers it met, and whether a mark was set.

    A ring is set at the numbers of page one (`rings`), and at the head of a row all of whose numbers are mostly assumed.
    """

    def __init__(self, numbering: Numbering, *, rings: bool = False) -> None:
        self.rings, self.any_ring = rings, False
        self.notes: list[PlacedNote] = []
        self._numbering = numbering
        self._used: dict[str, None] = {}
        self._formulas = 0
        self._where = ""
        self._places: Iterator[Place] = iter(())

    def used_numbers(self) -> list[str]:
        """Ids of the ledger numbers met so far, in order of first printing."""
        return list(self._used)

    def resolve(self, numbered: NumberedPiece) -> list[Flow]:
        """Copies of the piece's blocks with all numbers and links written in; the originals stay untouched."""
        self._where, self._places = numbered.piece.where, iter(numbered.places)
        # A glance stands on page one and a headline is not printed: neither is written where it was emitted.
        return self._flows(node for node in numbered.piece.nodes if not isinstance(node, Glance | Headline))

    def glance(self, node: Glance, where: str) -> Glance:
        """The page-one summary, resolved. It holds nothing that has a number of its own."""
        self._where, self._places = where, iter(())
        tiles = tuple(
            GlanceTile(self.inline(tile.label), self.inline(tile.value), self.inline(tile.note)) for tile in node.tiles
        )
        return Glance(tuple(self._flows(node.children)), tiles)

    def _flows(self, nodes: Iterable[Flow]) -> list[Flow]:
        return [shown for node in nodes if (shown := self._flow(node)) is not None]

    def _flow(self, node: Flow) -> Flow | None:
        match node:
            case Paragraph():
                return Paragraph(self.inline(node.children))
            case Heading() | Figure() | DataTable():
                return self._numbered(node)
            case BulletList() | OrderedList():
                return replace(node, items=tuple(tuple(self._flows(item)) for item in node.items))
            case BlockQuote():
                return BlockQuote(tuple(self._flows(node.children)))
            case Callout():
                return Callout(node.tone, self.inline(node.title), tuple(self._flows(node.children)))
            case Formula():
                return self._formula(node)
            case Image():
                return self._image(node)
            case Preformatted():
                return node
            case _:
                assert_never(node)

    def _numbered(self, node: Numbered) -> Flow | None:
        place = next(self._places, None)
        if place is None:
            self._fault("a block is malformed", f"a {node.kind} inside the glance", _EMIT)
            return None
        if isinstance(node, Figure):
            return self._figure(node, place)
        return self._table(node, place) if isinstance(node, DataTable) else self._heading(node, place)

    def _heading(self, node: Heading, place: Place) -> PlacedHeading:
        if not isinstance(place, ContentsLine):
            raise TypeError(f"{self._where}: the place of a heading is none: {place}")
        children = unmarked(self.inline(node.children))
        return PlacedHeading(place.level, children, node.id, place.number, place.anchor, place.text, place.annex)

    def _figure(self, node: Figure, place: Place) -> PlacedFigure:
        title, subtitle, caption = (
            unmarked(self.inline(node.title)),
            self.inline(node.subtitle),
            self.inline(node.caption),
        )
        drawing = self._drawing(node.svg, f"g{place.number}-")
        return PlacedFigure(
            id=node.id or f"fig-{place.number}",
            title=title,
            subtitle=subtitle,
            caption=caption,
            alt=self._alt(node),
            svg=drawing.svg,
            data=node.data,
            number=place.number,
            anchor=place.anchor,
            width_pt=drawing.width_pt,
            height_pt=drawing.height_pt,
        )

    def _drawing(self, svg: str, prefix: str) -> Drawing:
        try:
            return clean_svg(svg, prefix)
        except UnsafeDrawing as error:
            self._fault("a drawing cannot be shown", str(error), "Emit the chart again.")
            return Drawing("", 0.0, 0.0)

    def _alt(self, node: Figure | Formula | Image) -> str:
        alt = one_line(node.alt)
        if not alt:
            remedy = f"Say in one or two sentences what it shows, with the numbers. {ALT_REMEDY[node.kind]}"
            self._fault("an image has no alt text", node.id if isinstance(node, Figure) else node.kind, remedy)
        return alt

    def _table(self, node: DataTable, place: Place) -> PlacedTable:
        caption = unmarked(self.inline(node.caption))
        if not caption:
            self._fault("a table has no caption", node.id, f"Say what the table shows. {CAPTION_REMEDY}")
        columns = tuple(TableColumn(self.inline(c.label), one_line(c.unit), c.align) for c in node.columns)
        rows = tuple(self._row(row, len(columns)) for row in node.rows)
        return PlacedTable(
            id=node.id or f"tab-{place.number}",
            caption=caption,
            columns=columns,
            rows=rows,
            note=self.inline(node.note),
            number=place.number,
            anchor=place.anchor,
            shape=table_shape(columns, rows),
        )

    def _row(self, row: TableRow, width: int) -> TableRow:
        outside, self.rings = self.rings, False
        cells = tuple(self.inline(cell) for cell in row.cells[:width])
        self.rings = outside
        told = [number for cell in cells[1:] for number in _numbers(cell)]
        ring = bool(told) and all(self._entry(number).get("assumed") for number in told)
        self.any_ring |= ring
        return PlacedRow(cells + ((),) * (width - len(cells)), row.role, ring)

    def _entry(self, number: Num) -> Record:
        return self._numbering.ledger.get(number.id, {})

    def _formula(self, node: Formula) -> PlacedFormula:
        self._formulas += 1
        name = self._numbering.anchors.of("f", f"formula {self._formulas} {node.tex}")
        alt, drawing = self._alt(node), self._drawing(node.svg, f"{name}-")
        return PlacedFormula(drawing.svg, node.tex, alt, drawing.width_pt, drawing.height_pt)

    def _image(self, node: Image) -> PlacedImage:
        width = png_width_px(node.src)
        if not width:
            found = one_line(node.src or node.address)[:60]
            remedy = f"{PICTURE_REMEDY[:1].upper()}{PICTURE_REMEDY[1:]}"
            self._fault("an image is neither attached nor a PNG", found, remedy)
        return PlacedImage(src=node.src if width else "", alt=self._alt(node), width_pt=width * _PT_PER_PX)

    # ---- inline nodes

    def inline(self, nodes: Iterable[Inline]) -> tuple[Inline, ...]:
        """Copies of inline nodes, resolved."""
        return tuple(shown for node in nodes for shown in self._inline_one(node))

    def _inline_one(self, node: Inline) -> Sequence[Inline]:
        match node:
            case Text() | Code() | Break():
                return (node,)
            case Strong() | Em():
                return (replace(node, children=self.inline(node.children)),)
            case Link():
                inner = self.inline(node.children)
                return (Link(node.href, inner),) if safe_link(node.href) else inner
            case Num():
                return (self._num(node),)
            case Ref():
                return (self._ref(node),)
            case Cite():
                return self._cite(node)
            case Note():
                # What stands in the note is numbered before it: a note inside a note comes first.
                children = self.inline(node.children)
                self.notes.append(PlacedNote(children, len(self.notes) + 1))
                return (self.notes[-1],)
            case _:
                assert_never(node)

    def _num(self, node: Num) -> Num | Text:
        entry = self._numbering.ledger.get(node.id)
        if entry is None:
            self._fault("a number is not in the ledger", node.id, "Emit the block with its ledger entry.")
            return Text(node.text)
        self._used.setdefault(node.id)
        anchor = self._numbering.anchors.of("d", quoted_input(entry, self._numbering.book.inputs) or node.id)
        footing = FOOTING.get(str(entry.get("grade") or ""), "")
        ring = self.rings and bool(entry.get("assumed"))
        self.any_ring |= ring
        return PlacedNum(node.id, node.text, node.value, anchor, footing, bool(entry.get("stale")), ring)

    def _ref(self, node: Ref) -> Ref | Text:
        target = self._numbering.targets.get(node.id)
        if target is not None:
            return PlacedRef(node.id, *target)
        if words := in_report(node.id, self._numbering.report) or left_out(node.id):
            return Text(words)
        self._fault("a reference leads nowhere", node.id, "Check the id of the figure, table or heading.")
        return Text(f"[missing: {node.id}]")

    def _cite(self, node: Cite) -> Sequence[Cite]:
        numbers: dict[int, None] = {}
        for input_id in node.ids:
            number = self._numbering.book.cite(input_id)
            if number is None:
                self._fault("a citation has no source", input_id, "Add the entry to the evidence library.")
            else:
                numbers.setdefault(number)
        refs = tuple(CitedSource(n, f"s-{n}") for n in numbers)
        return (PlacedCite(node.ids, refs),) if refs else ()

    def _fault(self, message: str, value: str, remedy: str) -> None:
        self._numbering.fault(message, self._where, value, remedy)


def png_width_px(source: str) -> int:
    """Width of a `data:image/png;base64,` image from its header; 0 if it is none."""
    try:
        head = base64.b64decode(source.removeprefix(_PNG), validate=True)[:24]
    except ValueError:
        return 0
    is_png = source.startswith(_PNG) and head[:8] == b"\x89PNG\r\n\x1a\n" and head[12:16] == b"IHDR"
    return int.from_bytes(head[16:20]) if is_png else 0
