"""The second pass: every number, link and drawing written into the numbered nodes, ready for a writer."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from fabricreport.blocks.markdown import safe_link
from fabricreport.blocks.nodes import (
    Cite,
    DataTable,
    Em,
    Figure,
    Flow,
    Formula,
    Glance,
    Heading,
    Image,
    Inline,
    Link,
    Node,
    Note,
    Num,
    Ref,
    Strong,
    TableColumn,
    TableRow,
    Text,
    rebuilt,
    walk,
)
from fabricreport.ledger import Record
from fabricreport.memo.document.derive import FOOTING, quoted_input
from fabricreport.memo.document.gather import Piece
from fabricreport.memo.document.numbering import Numbering, in_report, left_out
from fabricreport.memo.document.remedies import ALT_REMEDY, CAPTION_REMEDY, PICTURE_REMEDY
from fabricreport.memo.document.safe import one_line
from fabricreport.memo.document.svg import Drawing, UnsafeDrawing, clean_svg
from fabricreport.memo.document.tables import table_shape

_PNG = "data:image/png;base64,"
_PT_PER_PX = 0.6
"""Notebooks draw at 100 to 144 dots per inch; 120 prints their text near its intended size."""


def unmarked(nodes: Iterable[Inline]) -> tuple[Inline, ...]:
    """The words of a heading or a title: their numbers bear no marks, which the text beneath has."""

    def one(node: Inline) -> Inline:
        if isinstance(node, Num):
            return replace(node, stale=False, ring=False)
        return replace(node, children=unmarked(node.children)) if isinstance(node, Strong | Em | Link) else node

    return tuple(one(node) for node in nodes)


def _numbers(nodes: Iterable[Inline]) -> Iterator[Num]:
    """Every number among inline nodes, footnotes left out."""
    for node in nodes:
        if isinstance(node, Num):
            yield node
        elif isinstance(node, Strong | Em | Link):
            yield from _numbers(node.children)


def _without_alt_nodes(node: Node) -> Node:
    """A picture's words are read as a text: numbers in them are printed nowhere."""
    return replace(node, alt_nodes=()) if isinstance(node, Figure | Image) else node


class Resolver:
    """Writes into nodes what `Numbering` found; remembers the footnotes, the numbers it met, and whether a mark was set.

    A ring is set at the numbers of page one (`rings`), and at the head of a row all of whose numbers are mostly assumed.
    """

    def __init__(self, numbering: Numbering, *, rings: bool = False) -> None:
        self.rings, self.any_ring = rings, False
        self.notes: list[Note] = []
        self._numbering = numbering
        self._used: dict[str, None] = {}
        self._formulas = 0
        self._where = ""
        self._in_rows: set[int] = set()
        """Numbers of tables: their rows bear the ring."""

    def used_numbers(self) -> list[str]:
        """Ids of the ledger numbers met so far, in order of first printing."""
        return list(self._used)

    def resolve(self, pieces: Iterable[Piece]) -> tuple[Flow, ...]:
        """The blocks of numbered pieces with all numbers and links written in; the pieces stay untouched."""
        return tuple(node for piece in pieces for node in self._placed(piece.nodes, piece.where))

    def glance(self, node: Glance) -> Glance:
        """The page-one summary, its tiles derived first. It holds nothing that has a number of its own."""
        tiles = self._placed(node.tiles, "the glance")
        return Glance(self._placed(node.children, "the glance"), tiles)

    def _placed(self, nodes: tuple[Any, ...], where: str) -> tuple[Any, ...]:
        self._where = where
        bare = rebuilt(nodes, of_node=_without_alt_nodes)
        self._in_rows = {id(number) for row in walk(bare) if isinstance(row, TableRow) for number in walk(row)}
        return rebuilt(bare, of_node=self._one)

    def _one(self, node: Node) -> Node | tuple[Node, ...]:
        match node:
            case Num():
                return self._num(node)
            case Ref():
                return self._ref(node)
            case Cite():
                return self._cite(node)
            case Note():
                # What stands in the note was numbered before it: a note inside a note comes first.
                self.notes.append(replace(node, number=len(self.notes) + 1))
                return self.notes[-1]
            case Link():
                return node if safe_link(node.href) else node.children
            case TableRow():
                return self._row(node)
            case Heading() | Figure() | DataTable() if not node.number:
                self._fault(
                    "a block is malformed", f"a {node.kind} inside the glance", "Emit it through the block functions."
                )
                return ()
            case Heading():
                return replace(node, children=unmarked(node.children))
            case Figure():
                return self._figure(node)
            case DataTable():
                return self._table(node)
            case Formula():
                return self._formula(node)
            case Image():
                return self._image(node)
        return node

    def _figure(self, node: Figure) -> Figure:
        drawing = self._drawing(node.svg, f"g{node.number}-")
        return replace(
            node,
            title=unmarked(node.title),
            alt=self._alt(node),
            svg=drawing.svg,
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

    def _table(self, node: DataTable) -> DataTable:
        if not node.caption:
            self._fault("a table has no caption", node.id, f"Say what the table shows. {CAPTION_REMEDY}")
        columns = tuple(TableColumn(c.label, one_line(c.unit), c.align) for c in node.columns)
        missing = ((),) * len(columns)
        rows = tuple(replace(row, cells=(*row.cells, *missing)[: len(columns)]) for row in node.rows)
        shape = table_shape(columns, rows)
        return replace(node, caption=unmarked(node.caption), columns=columns, rows=rows, shape=shape)

    def _row(self, row: TableRow) -> TableRow:
        told = [self._entry(number) for cell in row.cells[1:] for number in _numbers(cell)]
        ring = bool(told) and all(entry.get("assumed") for entry in told)
        self.any_ring |= ring
        return replace(row, ring=ring)

    def _entry(self, number: Num) -> Record:
        return self._numbering.ledger.get(number.id, {})

    def _formula(self, node: Formula) -> Formula:
        self._formulas += 1
        name = self._numbering.anchors.of("f", f"formula {self._formulas} {node.tex}")
        alt, drawing = self._alt(node), self._drawing(node.svg, f"{name}-")
        return Formula(drawing.svg, node.tex, alt, drawing.width_pt)

    def _image(self, node: Image) -> Image:
        width = png_width_px(node.src)
        if not width:
            found = one_line(node.src or node.address)[:60]
            remedy = f"{PICTURE_REMEDY[:1].upper()}{PICTURE_REMEDY[1:]}"
            self._fault("an image is neither attached nor a PNG", found, remedy)
        return Image(node.src if width else "", self._alt(node), width_pt=width * _PT_PER_PX)

    def _num(self, node: Num) -> Num | Text:
        entry = self._numbering.ledger.get(node.id)
        if entry is None:
            self._fault("a number is not in the ledger", node.id, "Emit the block with its ledger entry.")
            return Text(node.text)
        self._used.setdefault(node.id)
        ring = self.rings and id(node) not in self._in_rows and bool(entry.get("assumed"))
        self.any_ring |= ring
        return replace(
            node,
            anchor=self._numbering.anchors.of("d", quoted_input(entry, self._numbering.book.inputs) or node.id),
            footing=FOOTING.get(str(entry.get("grade") or ""), ""),
            stale=bool(entry.get("stale")),
            ring=ring,
        )

    def _ref(self, node: Ref) -> Ref | Text:
        target = self._numbering.targets.get(node.id)
        if target is not None:
            return Ref(node.id, *target)
        if words := in_report(node.id, self._numbering.report) or left_out(node.id):
            return Text(words)
        self._fault("a reference leads nowhere", node.id, "Check the id of the figure, table or heading.")
        return Text(f"[missing: {node.id}]")

    def _cite(self, node: Cite) -> Cite | tuple[()]:
        numbers: dict[int, None] = {}
        for input_id in node.ids:
            number = self._numbering.book.number(input_id)
            if number is None:
                self._fault("a citation has no source", input_id, "Add the entry to the evidence library.")
            else:
                numbers.setdefault(number)
        return replace(node, sources=tuple(numbers)) if numbers else ()

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
