"""The document's nodes: one frozen class for each kind, and the one walk over them.

A block of a notebook is a tuple of `Top` nodes; what stands inside a callout, a quote or a list is `Flow`, words are
`Inline`. A memo places them: it fills the fields named in `PLACED`, which are empty in a notebook. The JSON of a
notebook's output is written and read by `blocks.forms`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from operator import is_
from typing import Any, ClassVar, Literal, TypeVar, cast

Tone = Literal["decision", "caution", "note"]
Role = Literal["normal", "total", "winner", "group"]
Align = Literal["left", "right"]
Scalar = str | float | None
"""A cell of a chart's data."""


@dataclass(frozen=True)
class Node:
    """What all nodes share: `kind` is their `t` in JSON, empty for a part that only stands in one place of one kind."""

    kind: ClassVar[str] = ""


# ---- words


@dataclass(frozen=True)
class Text(Node):
    """Words as they are printed; never markup."""

    kind = "text"
    words: str


@dataclass(frozen=True)
class Code(Node):
    """Words in the type of a program."""

    kind = "code"
    words: str


@dataclass(frozen=True)
class Break(Node):
    """The end of a line within a paragraph."""

    kind = "br"


@dataclass(frozen=True)
class Strong(Node):
    """Strongly emphasised words."""

    kind = "strong"
    children: tuple[Inline, ...]


@dataclass(frozen=True)
class Em(Node):
    """Emphasised words."""

    kind = "em"
    children: tuple[Inline, ...]


@dataclass(frozen=True)
class Link(Node):
    """Words that open an address."""

    kind = "link"
    href: str
    children: tuple[Inline, ...]


@dataclass(frozen=True)
class Num(Node):
    """A number of the ledger: its id there, how it is printed here, its value in the ledger's unit.

    Placed, it leads to its derivation; `footing` is the kind of knowledge it rests on, `stale` its age, and `ring` says that
    it is mostly assumed, where the page says so of single numbers.
    """

    kind = "num"
    id: str
    text: str
    value: float | None
    anchor: str = ""
    footing: str = ""
    stale: bool = False
    ring: bool = False


EVIDENCE_REPORT = "the evidence report"
_OF_REPORT = re.compile(r"(?:sec|tab|fig)-report(?:-|\Z)")


def is_of_report(identity: str) -> bool:
    """Whether an id is of a figure, table or heading of the evidence report."""
    return _OF_REPORT.match(identity) is not None


@dataclass(frozen=True)
class Ref(Node):
    """A cross-reference to the figure, table or heading of this id, `called` Figure 3 where a memo has placed it."""

    kind = "ref"
    id: str
    called: str = ""
    anchor: str = ""

    @property
    def shown(self) -> str:
        """What is printed: the id, until a memo knows the number behind it."""
        return self.called or self.id


@dataclass(frozen=True)
class Cite(Node):
    """A citation of inputs, by their ids; placed also as numbers of the source list, each once."""

    kind = "cite"
    ids: tuple[str, ...]
    sources: tuple[int, ...] = ()


@dataclass(frozen=True)
class Note(Node):
    """A footnote, at the place of its mark; its number where a memo has placed it."""

    kind = "note"
    children: tuple[Inline, ...]
    number: int = 0


# ---- blocks


@dataclass(frozen=True)
class Paragraph(Node):
    """A paragraph of prose."""

    kind = "p"
    children: tuple[Inline, ...]


@dataclass(frozen=True)
class Heading(Node):
    """A heading of level 1 to 3; without an `id` nothing refers to it. Its number is such as "2.1" or "Annex A"."""

    kind = "h"
    level: int
    children: tuple[Inline, ...]
    id: str
    number: str = ""
    anchor: str = ""


@dataclass(frozen=True)
class BulletList(Node):
    """A list whose order says nothing."""

    kind = "ul"
    items: tuple[tuple[Flow, ...], ...]


@dataclass(frozen=True)
class OrderedList(Node):
    """A numbered list."""

    kind = "ol"
    items: tuple[tuple[Flow, ...], ...]


@dataclass(frozen=True)
class BlockQuote(Node):
    """What somebody else said."""

    kind = "quote"
    children: tuple[Flow, ...]


@dataclass(frozen=True)
class Preformatted(Node):
    """Lines that are printed as they stand."""

    kind = "pre"
    words: str


@dataclass(frozen=True)
class Callout(Node):
    """A boxed remark."""

    kind = "callout"
    tone: Tone
    title: tuple[Inline, ...]
    children: tuple[Flow, ...]


@dataclass(frozen=True)
class Figure(Node):
    """A drawn chart: a finding as title, what is measured as subtitle, its words for who cannot see it, its data.

    `alt_nodes` are the alt text's words with their numbers of the ledger; the first row of `data` is its head.
    `narrow` is the drawing for a narrow screen, if there is one.
    Placed, its drawings are cleaned and the wide one has its size in points; one that cannot be shown is empty.
    """

    kind = "figure"
    id: str
    title: tuple[Inline, ...]
    subtitle: tuple[Inline, ...]
    caption: tuple[Inline, ...]
    alt: str
    svg: str
    data: tuple[tuple[Scalar, ...], ...]
    alt_nodes: tuple[Inline, ...] = ()
    narrow: str = ""
    number: str = ""
    anchor: str = ""
    width_pt: float = 0.0
    height_pt: float = 0.0


@dataclass(frozen=True)
class TableColumn(Node):
    """The head of a table's column: words, unit, and the side its cells are set to."""

    label: tuple[Inline, ...]
    unit: str
    align: Align


@dataclass(frozen=True)
class TableRow(Node):
    """A row's cells, and what the row is: a total, the winner, or the name of a group of rows.

    Placed, `ring` says that all it tells is mostly assumed.
    """

    cells: tuple[tuple[Inline, ...], ...]
    role: Role
    ring: bool = False


@dataclass(frozen=True)
class TableShape(Node):
    """What both writers need of a table.

    `narrow`: two thirds of the text's measure will do; `wide`: it wants the whole page; `crowded`: more than that.
    `stretch` is the share of the width per column, `places` the most decimal places per right-aligned column, and
    `decimals[r][c]` how many of those the cell lacks, or -1 where it is no plain number.
    """

    narrow: bool
    wide: bool
    crowded: bool
    stretch: tuple[int, ...]
    decimals: tuple[tuple[int, ...], ...]
    places: tuple[int, ...]


@dataclass(frozen=True)
class DataTable(Node):
    """A table whose caption states its takeaway; `id` may be empty. Placed, every row has a cell for each column."""

    kind = "datatable"
    id: str
    caption: tuple[Inline, ...]
    columns: tuple[TableColumn, ...]
    rows: tuple[TableRow, ...]
    note: tuple[Inline, ...]
    number: str = ""
    anchor: str = ""
    shape: TableShape | None = None


@dataclass(frozen=True)
class Formula(Node):
    """A drawn formula, its source and its words; placed, its drawing is cleaned and has its width in points."""

    kind = "formula"
    svg: str
    tex: str
    alt: str
    width_pt: float = 0.0


@dataclass(frozen=True)
class Image(Node):
    """A picture as a `data:image/png` address; where `src` is empty, `address` says what could not be attached.

    `alt_nodes` are the alt text's words where a number of the ledger is among them. `width_pt` is the width at which the
    text of a placed picture prints near its intended size.
    """

    kind = "image"
    src: str
    alt: str
    address: str = ""
    alt_nodes: tuple[Inline, ...] = ()
    width_pt: float = 0.0


@dataclass(frozen=True)
class GlanceTile(Node):
    """One tile of page one: a label, a large value, a line under it."""

    label: tuple[Inline, ...]
    value: tuple[Inline, ...]
    note: tuple[Inline, ...]


@dataclass(frozen=True)
class Glance(Node):
    """Page one's summary: the advice in sentences, then tiles."""

    kind = "glance"
    children: tuple[Flow, ...]
    tiles: tuple[GlanceTile, ...]


@dataclass(frozen=True)
class Headline(Node):
    """Not printed: what the command line and `refresh` report, and its figures."""

    kind = "headline"
    data: Mapping[str, object]
    numbers: tuple[Num, ...]


Inline = Text | Code | Break | Strong | Em | Link | Num | Ref | Cite | Note
Flow = (
    Paragraph
    | Heading
    | BulletList
    | OrderedList
    | BlockQuote
    | Preformatted
    | Callout
    | Figure
    | DataTable
    | Formula
    | Image
)
Top = Flow | Glance | Headline
Numbered = Heading | Figure | DataTable
"""What a memo numbers and prose can refer to."""
PLACED = frozenset(
    ("anchor", "footing", "stale", "ring", "called", "sources", "number", "width_pt", "height_pt", "shape")
)
"""Fields that a memo fills when it places a node: where it stands or leads, its number, its marks, its size in print."""

Part = TypeVar("Part", bound=Node | tuple[Any, ...])


_HOLDERS = (Node, tuple)


def walk(part: Node | Iterable[Node]) -> Iterator[Node]:
    """A node, or each of some, with every node inside it: a node before its parts, these in reading order."""
    waiting: list[object] = [part if isinstance(part, Node) else tuple(part)]
    while waiting:
        value = waiting.pop()
        if isinstance(value, Node):
            yield value
        inside = vars(value).values() if isinstance(value, Node) else cast(tuple[object, ...], value)
        waiting += [each for each in inside if isinstance(each, _HOLDERS)][::-1]


def _same(value: Any) -> Any:
    return value


def rebuilt(
    part: Part, *, of_text: Callable[[str], str] = _same, of_node: Callable[[Node], Node | tuple[Node, ...]] = _same
) -> Part:
    """The same node, or nodes, with every piece of text passed through `of_text` and every node, the inner ones first,
    through `of_node`, which answers with what may stand in its place: of one among others, also several or none."""
    value: Any = part
    made: Any = value
    if isinstance(value, str):
        made = of_text(value)
    elif isinstance(value, tuple | list):
        among: list[Any] = []
        for inner in value:
            one = rebuilt(inner, of_text=of_text, of_node=of_node)
            among += one if isinstance(inner, Node) and isinstance(one, tuple) else (one,)
        made = value if len(among) == len(value) and all(map(is_, among, value)) else type(value)(among)
    elif isinstance(value, dict):
        made = {of_text(str(name)): rebuilt(one, of_text=of_text, of_node=of_node) for name, one in value.items()}
    elif isinstance(value, Node):
        changed = {}
        for name, inner in vars(value).items():
            one = rebuilt(inner, of_text=of_text, of_node=of_node)
            if one is not inner:
                changed[name] = one
        made = of_node(replace(value, **changed) if changed else value)
    return cast(Part, made)


def flat(nodes: Iterable[Inline]) -> Iterator[Text | Code | Break | Num | Ref | Cite | Note]:
    """Inline nodes as a line reads: what is emphasised or linked among the rest, a footnote as one."""
    for node in nodes:
        if isinstance(node, Strong | Em | Link):
            yield from flat(node.children)
        else:
            yield node


def words_of(nodes: Iterable[Inline], marked: Callable[[Num | Ref | Cite | Note], str]) -> str:
    """Inline nodes as one line of text; `marked` says how a number, a reference, a citation or a footnote reads."""
    return "".join(
        node.words if isinstance(node, Text | Code) else " " if isinstance(node, Break) else marked(node)
        for node in flat(nodes)
    )


def plain_text(nodes: Iterable[Inline]) -> str:
    """The bare words of inline nodes; footnotes and citations are left out."""
    return words_of(nodes, _plain)


def _plain(node: Num | Ref | Cite | Note) -> str:
    if isinstance(node, Num):
        return node.text
    return node.shown if isinstance(node, Ref) else ""
