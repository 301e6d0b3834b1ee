"""From notebook cells to loose blocks: what each cell shows, which section it belongs to, and what a block may lack."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any

from fabricreport.base.errors import Problem
from fabricreport.base.vocabulary import SPINES
from fabricreport.blocks.cells import Carried, bind_cell, together
from fabricreport.blocks.document import MIME
from fabricreport.blocks.forms import MalformedNode, top_from_json
from fabricreport.blocks.nodes import BulletList, Callout, Flow, Glance, Heading, Paragraph, Text, Top, rebuilt
from fabricreport.ledger.numbers import Record
from fabricreport.memo.document.outputs import carry, metadata, own, shown_once
from fabricreport.memo.document.safety import visible
from fabricreport.scenario import Adopted

CAPTION_REMEDY = (
    'A DataFrame as last value, or a figure shown, takes {"caption": "…"} from the cell\'s metadata, a %%table cell a line '
    "`caption: …`, a %%chart cell `title: …`, a Markdown table a paragraph `Table: …` under it."
)
ALT_REMEDY: Mapping[str, str] = {
    "image": "A Markdown image takes the words in ![…].",
    "figure": 'A figure that a code cell shows takes {"alt": "…"} from the cell\'s metadata, a %%chart cell a line `alt: …`.',
    "formula": "Give it to body.formula(svg, tex, alt).",
}
PICTURE_REMEDY = (
    "attach it to the cell or draw it in a code cell; a PNG below the notebooks folder (no link, at most 5 MB) is "
    "embedded by itself."
)


ANSWERS = "answers"
"""Where a Markdown cell's own metadata keeps what the case said to its fields."""

HIDDEN_TAGS = frozenset(["remove-cell", "remove_cell", "hide-cell", "remove-output", "remove_output"])


@dataclass(frozen=True)
class Piece:
    """The nodes one cell contributes, with their section and a name for messages.

    With `further` its first paragraph goes on in the last one of the piece before. `names` are those of this cell alone: a
    name that is a number vouches for no other cell's.
    """

    nodes: tuple[Top, ...]
    section: str
    where: str
    further: bool = False
    names: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Parts:
    """The pieces of body and annexes, in order. A memo with a spine has its sections as annexes."""

    body: list[Piece]
    annexes: list[Piece]
    spined: bool

    @property
    def printed(self) -> list[Piece]:
        """All of them in reading order."""
        return [*self.body, *self.annexes]


def first_heading(pieces: Iterable[Piece]) -> Heading | None:
    """The first heading of some pieces, which is the title of what has no other."""
    return next((node for piece in pieces for node in piece.nodes if isinstance(node, Heading)), None)


def parted(pieces: Sequence[Piece]) -> Parts:
    """The parts of a memo; without a spine its sections are its body, as where one notebook is exported alone."""
    spine = [p for p in pieces if p.section in SPINES]
    return Parts(spine or list(pieces), [p for p in pieces if spine and p.section not in SPINES], bool(spine))


@dataclass(frozen=True)
class Compared:
    """What one block says of the comparison that its section rests on, and where it stands."""

    mark: Record
    section: str
    where: str


EDITS_MIME = "application/vnd.fabricreport.edits+json"
"""An output that is not printed: what its cell changed by hand (`memo.run.watch`)."""
INPUT, PARAM, FIGURE, MADE = "input", "param", "figure", "own"
"""Kinds of edits: a figure of the books, a key of the params, a figure under its own id, a number made of nothing."""


@dataclass(frozen=True)
class Edit:
    """What a number was and is; `where` its cell was written; `value`: of an input, as params state it; `source`: sha256 of its
    cell's source."""

    section: str
    where: str
    source: str
    kind: str
    id: str
    old: str
    new: str
    value: Any = None

    def place(self, ids: Mapping[str, Mapping[str, str]]) -> str:
        """Notebook and cell as a command takes them, by the ids of each notebook's cells; by its number where the cell is gone."""
        return f"{self.section}.ipynb:{ids[self.section].get(self.where) or self.where.rpartition(' ')[2]}"

    def is_signed(self, adopted: Iterable[Adopted], place: str) -> bool:
        """Whether somebody has signed for it as it is at this place."""
        return any((a.id, a.cell, a.value, a.source) == (self.id, place, self.new, self.source) for a in adopted)


def edits_in(cell: Any, section: str, where: str) -> Iterator[Edit]:
    """The edits that an executed cell shows."""
    source = sha256(str(cell.get("source", "")).encode()).hexdigest()
    for output in cell.get("outputs", ()):
        for one in (output.get("data") or {}).get(EDITS_MIME, ()):
            yield Edit(section, where, source, **visible(one))


@dataclass
class Gathered:
    """Everything read from a notebook, in order, before numbering.

    `names` are the case's own (client, providers, products), which may hold digits; `report` is what the front matter
    says of the evidence report, None without one. `accounts`: what the workbook is made of, None where no cell gave it.
    `edits`: what cells changed by hand.
    """

    pieces: list[Piece] = field(default_factory=list)
    ledger: dict[str, Record] = field(default_factory=dict)
    inputs: dict[str, Record] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    ledger_where: dict[str, str] = field(default_factory=dict)
    compared: list[Compared] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    report: Mapping[str, Any] | None = None
    accounts: Mapping[str, Any] | None = None
    edits: list[Edit] = field(default_factory=list)


def gather(nb: Any) -> Gathered:
    """Read all cells of a notebook node. Faults are collected, never raised: the checker decides."""
    own_matter = (nb.get("metadata") or {}).get("fabricreport") or {}
    found = Gathered(report=own_matter.get("report"))
    cells = list(nb.get("cells", []))
    section = next(filter(None, map(_home, cells)), "")
    for index, cell in enumerate(cells):
        # The section of a cell that tells none is that of the cell before, of the first ones that which follows.
        section, where = _home(cell) or section, _name(cell, index)
        found.edits += edits_in(cell, str(own(cell).get("section", section)), where)
        tags = set(metadata(cell).get("tags", []))
        if tags & HIDDEN_TAGS:
            continue
        if cell.get("cell_type") == "markdown":
            _markdown_cell(found, cell, section, where)
        elif cell.get("cell_type") == "code":
            for output in shown_once(cell.get("outputs", [])):
                bundle = (output.get("data") or {}).get(MIME)
                if bundle is not None:
                    _block(found, bundle, where)
                elif EDITS_MIME not in (output.get("data") or {}):
                    _take(found, carry(cell, output), section, where)
        else:
            remedy = "Make it a Markdown cell, or tag it remove-cell."
            found.problems.append(Problem("a raw cell is not carried into the memo", key=where, remedy=remedy))
    found.pieces = joined(found.pieces)
    for extra in own_matter.get("extras", ()):
        found.pieces = opened(found.pieces, extra)
    return found


def opened(pieces: Iterable[Piece], section: str) -> list[Piece]:
    """The pieces with one heading of level one in a section of the client's own, which bears its name; others are set lower."""
    found, anchor, is_open = list[Piece](), f"sec-{section}", False
    for piece in pieces:
        nodes = list[Top]()
        for node in piece.nodes if piece.section == section else ():
            if isinstance(node, Heading) and node.level == 1:
                node = replace(node, level=2) if is_open else replace(node, id=anchor)
            elif not is_open:
                nodes.append(Heading(1, (Text(section.replace("_", " ").capitalize()),), anchor))
            is_open = True
            nodes.append(node)
        found.append(replace(piece, nodes=tuple(nodes)) if nodes else piece)
    return found


def _name(cell: Any, index: int) -> str:
    said = own(cell)
    notebook = str(said.get("notebook", said.get("section", "")))
    number = said.get("cell", index + 1)
    return f"{notebook}, cell {number}" if notebook else f"cell {number}"


def _home(cell: Any) -> str:
    """The section that a cell tells: its blocks', else that of its own metadata; '' if neither does."""
    outputs = cell.get("outputs", []) if cell.get("cell_type") == "code" else []
    bundles = ((output.get("data") or {}).get(MIME) for output in outputs)
    return str(next((b for b in bundles if isinstance(b, dict)), own(cell)).get("section", ""))


def _markdown_cell(found: Gathered, cell: Any, home: str, where: str) -> None:
    attached = {
        str(name): f"data:image/png;base64,{''.join(str(data['image/png']).split())}"
        for name, data in (cell.get("attachments") or {}).items()
        if isinstance(data, dict) and "image/png" in data
    }
    # A picture named by its path is attached under that path when a build copies the notebook (`memo.pictures`).
    attachments = {address: picture for n, picture in attached.items() for address in (f"attachment:{n}", n)}
    given = own(cell).get(ANSWERS)
    bound = bind_cell(str(cell.get("source", "")), given if isinstance(given, dict) else {}, home, attachments)
    _take(found, bound, home, where)


def _take(found: Gathered, carried: Carried, home: str, where: str) -> None:
    found.problems += [replace(fault, key=where) for fault in carried.faults]
    _keep(found, carried.nodes, home, where)
    _note_records(found, carried.ledger, carried.inputs, where)


def _block(found: Gathered, bundle: Any, where: str) -> None:
    if not isinstance(bundle, dict) or bundle.get("version") != 1 or not isinstance(bundle.get("nodes"), list):
        remedy = "Run the notebook again with this version of fabricreport."
        found.problems.append(Problem("the block has an unknown form", key=where, remedy=remedy))
        return
    section = str(bundle.get("section", ""))
    nodes = tuple(_read(found, bundle["nodes"], where))
    names = {*map(str, bundle.get("names", ()))}
    own = frozenset(name for name in names if not any(map(str.isalpha, name)))
    _keep(found, nodes, section, where, own, further=bundle.get("further") is True)
    found.names.update(names - own)
    if isinstance(bundle.get("compared"), dict):
        found.compared.append(Compared(visible(bundle["compared"]), section, where))
    if isinstance(bundle.get("accounts"), dict):
        found.accounts = bundle["accounts"]
    _note_records(found, bundle.get("ledger", []), bundle.get("inputs", []), where)


def _note_records(found: Gathered, ledger: Iterable[Record], inputs: Iterable[Record], where: str) -> None:
    for entry in ledger:
        _merge_ledger(found, visible(entry), where)
    for entry in inputs:
        if str(entry.get("id", "")) not in found.inputs:
            found.inputs[str(entry.get("id", ""))] = visible(entry)


def _merge_ledger(found: Gathered, entry: Record, where: str) -> None:
    number_id = str(entry.get("id", ""))
    first = found.ledger.setdefault(number_id, entry)
    first_where = found.ledger_where.setdefault(number_id, where)
    if (first.get("value"), first.get("text")) != (entry.get("value"), entry.get("text")):
        message = f"one number has two values: {first.get('text')} in {first_where}, {entry.get('text')} in {where}"
        remedy = "What concerns the whole memo is changed in the params, not in one notebook."
        found.problems.append(Problem(message, key=number_id, remedy=remedy))


def _read(found: Gathered, nodes: Iterable[object], where: str) -> Iterator[Top]:
    """The nodes of a block; what is none is told and left out."""
    for data in nodes:
        try:
            yield top_from_json(data)
        except MalformedNode as error:
            remedy = "Emit it through the block functions."
            found.problems.append(Problem("a block is malformed", key=where, value=str(error), remedy=remedy))


def _keep(
    found: Gathered,
    nodes: tuple[Top, ...],
    section: str,
    where: str,
    names: frozenset[str] = frozenset(),
    *,
    further: bool = False,
) -> None:
    if not nodes:
        return
    shown = rebuilt(nodes, of_text=visible)
    if shown != nodes:
        message = "the text holds characters that hide or reorder what is shown; they were removed"
        found.problems.append(Problem(message, key=where, remedy="Delete bidi controls and zero-width characters."))
    found.pieces.append(Piece(shown, section, where, further, names))


def joined(pieces: Iterable[Piece]) -> list[Piece]:
    """The pieces with every block made one that goes on in the next piece of its section.

    A prose cell has one condition, so page one's summary, a list and a boxed remark may stand in several cells: a remark
    without a title, or with the same one, goes on from the one before it. The reader sees one block.
    """
    found: list[Piece] = []
    for piece in pieces:
        last = found[-1] if found else None
        goes_on = last is not None and last.nodes and piece.nodes and last.section == piece.section
        one = _continued(last.nodes[-1], piece.nodes[0], piece.further) if last is not None and goes_on else None
        if last is None or one is None:
            found.append(piece)
            continue
        found[-1] = replace(last, nodes=(*last.nodes[:-1], one), names=last.names | piece.names)
        if piece.nodes[1:]:
            found.append(replace(piece, nodes=piece.nodes[1:]))
    return found


def _continued(first: Top, second: Top, further: bool) -> Top | None:
    """Both as one block; None where the second is a block of its own."""
    if isinstance(first, Glance) and isinstance(second, Glance):
        return Glance(_paragraphs(first.children, second.children, further), (*first.tiles, *second.tiles))
    if further and isinstance(first, Paragraph) and isinstance(second, Paragraph):
        return Paragraph((*first.children, Text(" "), *second.children))
    if isinstance(first, Callout) and isinstance(second, Callout):
        same = first.tone == second.tone and second.title in ((), first.title)
        return replace(first, children=together(first.children, second.children)) if same else None
    if isinstance(first, BulletList) and isinstance(second, BulletList):
        return BulletList((*first.items, *second.items))
    return None


def _paragraphs(first: tuple[Flow, ...], second: tuple[Flow, ...], further: bool) -> tuple[Flow, ...]:
    """Two runs of blocks; with `further` the last paragraph of the one goes on in the first of the other."""
    if further and first and second and isinstance(first[-1], Paragraph) and isinstance(second[0], Paragraph):
        return (*first[:-1], Paragraph((*first[-1].children, Text(" "), *second[0].children)), *second[1:])
    return (*first, *second)
