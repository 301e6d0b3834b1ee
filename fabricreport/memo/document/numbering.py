"""Where everything stands: numbers and anchors first, then every link, mark and drawing, ready for a writer."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any

from fabricreport.base.errors import Problem
from fabricreport.base.formats import NBSP
from fabricreport.blocks.markdown import safe_link
from fabricreport.blocks.nodes import (
    EVIDENCE_REPORT,
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
    flat,
    is_of_report,
    plain_text,
    rebuilt,
    walk,
)
from fabricreport.ledger.numbers import Record
from fabricreport.memo.document.derivations import FOOTING, Anchors, SourceBook, quoted_input
from fabricreport.memo.document.drawings import Drawing, UnsafeDrawing, clean_svg
from fabricreport.memo.document.layout import table_shape
from fabricreport.memo.document.outputs import PT_PER_PX, png_size_px
from fabricreport.memo.document.pieces import ALT_REMEDY, CAPTION_REMEDY, PICTURE_REMEDY, Piece
from fabricreport.memo.document.safety import one_line
from fabricreport.scenario.schema import SECTION_NAMES

CLOSING_ANNEXES = frozenset({"sec-sources", "sec-derivations"})
SOURCES_TITLE, DERIVATIONS_TITLE = "Every source is graded", "Every number leads to its inputs"
_SUBJECTS = {"tco": "total cost", "tail_risk": "tail risk", "decision": "the decision"}
_SECTION_OF = {"tail": "tail_risk"}
_OF_SECTION = re.compile(rf"(?:sec|tab|fig)-({'|'.join((*SECTION_NAMES, *_SECTION_OF))})(?:-|\Z)")
"""What belongs to a section by its id: its heading, or a heading, a table or a chart in it."""


def left_out(identity: str, present: Collection[str] = ()) -> str:
    """How prose names what stands in one of the memo's sections that this copy does not hold; '' for any other id.

    `present` are the sections that it holds.
    """
    found = _OF_SECTION.match(identity)
    section = _SECTION_OF.get(found[1], found[1]) if found else ""
    if not section or section in present:
        return ""
    return f"the section on {_SUBJECTS.get(section, section)} (left out of this copy)"


def in_report(identity: str, report: Mapping[str, Any] | None) -> str:
    """How prose names what stands in the evidence report that a memo cites; '' for any other id, and what it lacks.

    `report` is what the front matter says of it: its `edition`, and by anchor what each is called there. Without one, as
    in JupyterLab, all of it is called the evidence report.
    """
    if not is_of_report(identity):
        return ""
    if report is None:
        return EVIDENCE_REPORT
    if identity == "sec-report" and report["anchors"]:
        return f"{EVIDENCE_REPORT}, edition {report['edition']}"
    called = report["anchors"].get(identity)
    return f"{called} of {EVIDENCE_REPORT}" if called else ""


@dataclass(frozen=True)
class ContentsLine:
    """One line of the contents: a heading's number ("2.1", "Annex A"), its anchor, its text, its level from 1."""

    number: str
    anchor: str
    text: str
    level: int
    annex: bool


def unmarked(nodes: Iterable[Inline]) -> tuple[Inline, ...]:
    """The words of a heading or a title: their numbers bear no marks, which the text beneath has."""

    def one(node: Inline) -> Inline:
        if isinstance(node, Num):
            return replace(node, stale=False, ring=False)
        return replace(node, children=unmarked(node.children)) if isinstance(node, Strong | Em | Link) else node

    return tuple(one(node) for node in nodes)


def _without_alt_nodes(node: Node) -> Node:
    """A picture's words are read as a text: numbers in them are printed nowhere."""
    return replace(node, alt_nodes=()) if isinstance(node, Figure | Image) else node


class Numbering:
    """Places nodes in two passes, in reading order; faults met on the way are collected.

    `numbered` gives headings, figures and tables their numbers, so that prose can refer to what follows; then `placed`
    fills in all else, and remembers the footnotes, the numbers it met, and whether a mark was set. A ring is set at the
    numbers of page one (`rings`), and at the head of a row all of whose numbers are mostly assumed.
    """

    def __init__(
        self,
        ledger: Mapping[str, Record],
        book: SourceBook,
        problems: list[Problem],
        report: Mapping[str, Any] | None = None,
        *,
        rings: bool = False,
    ) -> None:
        self.anchors = Anchors()
        self.contents: list[ContentsLine] = []
        self.ledger = ledger
        self.book = book
        self._problems = problems
        self.targets: dict[str, tuple[str, str]] = {}
        self.report = report
        self._counts = {"Figure": 0, "Table": 0}
        self._levels = [0, 0, 0]
        self._annexes = 0
        self.rings, self.any_ring = rings, False
        self.notes: list[Note] = []
        self.used: dict[str, str | None] = {}
        """Ids of the ledger numbers met so far, in order of first printing, each with the input that it only repeats."""
        self._formulas = 0
        self._where = ""
        self._in_rows: set[int] = set()
        """Where `rings` are set, numbers of tables: their rows bear the ring."""

    def numbered(self, pieces: Sequence[Piece], *, annex: bool = False) -> list[Piece]:
        """The pieces with headings (1, 1.1, 1.1.1), figures and tables numbered.

        Of annexes every heading of level 1 opens one: Annex A, A.1; figures and tables count on from the body.
        """
        done = []
        for piece in pieces:
            self._where = piece.where
            done.append(replace(piece, nodes=rebuilt(piece.nodes, of_node=partial(self._numbered, annex=annex))))
        return done

    def _closing(self, title: str, identity: str) -> ContentsLine:
        """An annex the writers fill themselves (sources, derivations)."""
        self._open_annex()
        anchor = self.anchors.of("m", identity)
        number = f"Annex {_letters(self._annexes)}"
        self.targets[identity] = (number.replace(" ", NBSP), anchor)
        return ContentsLine(number, anchor, title, 1, True)

    def closings(self, pieces: Iterable[Piece]) -> tuple[ContentsLine | None, ContentsLine | None]:
        """The annexes of sources, where anything cited or behind a printed number has one, and of derivations, where a
        number is printed."""
        numbers: set[str] = set()
        cited: set[str] = set()
        for node in chain.from_iterable(walk(piece.nodes) for piece in pieces):
            if isinstance(node, Num):
                numbers.add(node.id)
            elif isinstance(node, Cite):
                cited.update(node.ids)
        for entry in (self.ledger[i] for i in numbers if i in self.ledger):
            cited.update(map(str, chain(entry.get("inputs") or (), entry.get("sources") or ())))
        has_source = any(self.book.inputs.get(i, {}).get("source") for i in cited)
        return (
            self._closing(SOURCES_TITLE, "sec-sources") if has_source else None,
            self._closing(DERIVATIONS_TITLE, "sec-derivations") if numbers else None,
        )

    def _numbered(self, node: Node, *, annex: bool) -> Node:
        if isinstance(node, Heading):
            return self._heading(node, annex=annex)
        if not isinstance(node, Figure | DataTable):
            return node
        word, short = ("Figure", "fig") if isinstance(node, Figure) else ("Table", "tab")
        self._counts[word] += 1
        number = str(self._counts[word])
        identity = node.id or f"{short}-{number}"
        return replace(node, id=identity, number=number, anchor=self._claim(identity, f"{word}{NBSP}{number}"))

    def _heading(self, node: Heading, *, annex: bool) -> Heading:
        level = min(max(node.level, 1), 3)
        # A heading may go one level deeper than the one before it, not two: a skipped level loses readers of tags.
        deepest = next((i for i, count in enumerate(self._levels) if count == 0), 3)
        level = min(level, deepest + 1) if not annex or self._annexes else 1
        if annex and level == 1:
            self._open_annex()
        else:
            self._levels[level - 1] += 1
            self._levels[level:] = [0] * (3 - level)
        letter = _letters(self._annexes)
        inner = [str(n) for n in (self._levels[1:level] if annex else self._levels[:level])]
        number = (f"Annex {letter}" if level == 1 else ".".join([letter, *inner])) if annex else ".".join(inner)
        text = one_line(plain_text(node.children))
        word = f"{'Annex' if annex else 'Section'}{NBSP}{number.removeprefix('Annex ')}"
        anchor = self._claim(node.id or f"sec-{text}", word, explicit=bool(node.id))
        self.contents.append(ContentsLine(number, anchor, text, level, annex))
        return replace(node, level=level, number=number, anchor=anchor)

    def _open_annex(self) -> None:
        self._annexes += 1
        self._levels = [1, 0, 0]

    def _claim(self, identity: str, word: str, *, explicit: bool = True) -> str:
        if identity in self.targets and explicit:
            self._fault("two things have the same id", identity, "Give each its own id.")
        if identity in self.targets:
            return self.anchors.of("m", f"{identity} {word}")
        anchor = self.anchors.of("m", identity)
        self.targets[identity] = (word, anchor)
        return anchor

    # ---- the second pass

    def placed(self, pieces: Iterable[Piece]) -> tuple[Flow, ...]:
        """The blocks of numbered pieces with all numbers and links written in; the pieces stay untouched."""
        return tuple(node for piece in pieces for node in self._placed(piece.nodes, piece.where))

    def glance(self, node: Glance) -> Glance:
        """The page-one summary, its tiles derived first. It holds nothing that has a number of its own."""
        tiles = self._placed(node.tiles, "the glance")
        return Glance(self._placed(node.children, "the glance"), tiles)

    def _placed(self, nodes: tuple[Any, ...], where: str) -> tuple[Any, ...]:
        self._where = where
        bare = rebuilt(nodes, of_node=_without_alt_nodes)
        rows = (row for row in walk(bare) if isinstance(row, TableRow)) if self.rings else ()
        self._in_rows = {*map(id, chain.from_iterable(map(walk, rows)))}
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
                return self._drawn_figure(node)
            case DataTable():
                return self._table(node)
            case Formula():
                return self._formula(node)
            case Image():
                return self._image(node)
        return node

    def _drawn_figure(self, node: Figure) -> Figure:
        drawing = self._drawing(node.svg, f"g{node.number}-")
        return replace(
            node,
            title=unmarked(node.title),
            alt=self._alt(node),
            svg=drawing.svg,
            narrow=self._drawing(node.narrow, f"g{node.number}n-").svg if node.narrow else "",
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
        told = [self.ledger.get(n.id, {}) for cell in row.cells[1:] for n in flat(cell) if isinstance(n, Num)]
        ring = bool(told) and all(entry.get("assumed") for entry in told)
        self.any_ring |= ring
        return replace(row, ring=ring)

    def _formula(self, node: Formula) -> Formula:
        self._formulas += 1
        name = self.anchors.of("f", f"formula {self._formulas} {node.tex}")
        alt, drawing = self._alt(node), self._drawing(node.svg, f"{name}-")
        return Formula(drawing.svg, node.tex, alt, drawing.width_pt)

    def _image(self, node: Image) -> Image:
        width, _ = png_size_px(node.src)
        if not width:
            found = one_line(node.src or node.address)[:60]
            remedy = f"{PICTURE_REMEDY[:1].upper()}{PICTURE_REMEDY[1:]}"
            self._fault("an image is neither attached nor a PNG", found, remedy)
        return Image(node.src if width else "", self._alt(node), width_pt=width * PT_PER_PX)

    def _num(self, node: Num) -> Num | Text:
        entry = self.ledger.get(node.id)
        if entry is None:
            self._fault("a number is not in the ledger", node.id, "Emit the block with its ledger entry.")
            return Text(node.text)
        if node.id not in self.used:
            self.used[node.id] = quoted_input(entry, self.book.inputs)
        ring = self.rings and id(node) not in self._in_rows and bool(entry.get("assumed"))
        self.any_ring |= ring
        return replace(
            node,
            anchor=self.anchors.of("d", self.used[node.id] or node.id),
            footing=FOOTING.get(str(entry.get("grade") or ""), ""),
            stale=bool(entry.get("stale")),
            ring=ring,
        )

    def _ref(self, node: Ref) -> Ref | Text:
        target = self.targets.get(node.id)
        if target is not None:
            return Ref(node.id, *target)
        if words := in_report(node.id, self.report) or left_out(node.id):
            return Text(words)
        self._fault("a reference leads nowhere", node.id, "Check the id of the figure, table or heading.")
        return Text(f"[missing: {node.id}]")

    def _cite(self, node: Cite) -> Cite | tuple[()]:
        numbers: dict[int, None] = {}
        for input_id in node.ids:
            number = self.book.number(input_id)
            if number is None:
                self._fault("a citation has no source", input_id, "Add the entry to the evidence library.")
            else:
                numbers.setdefault(number)
        return replace(node, sources=tuple(numbers)) if numbers else ()

    def _fault(self, message: str, value: str, remedy: str) -> None:
        """Collect a fault found in a cell."""
        self._problems.append(Problem(message, key=self._where, value=value, remedy=remedy))


def _letters(number: int) -> str:
    """1 -> A, 26 -> Z, 27 -> AA."""
    letters = ""
    while number > 0:
        number, rest = divmod(number - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters
