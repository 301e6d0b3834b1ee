"""Nodes in their other forms: as the JSON of a notebook's output and back, as HTML, and as JupyterLab shows them.

A node is an object whose `t` names its kind. A field that holds its default is left out; any other must be there, of its
type, and nothing else beside it. What a memo fills is written for the printer of the PDF and never read.

Every piece of text passes `markupsafe`. A node that a memo has placed is written with its number, its anchor and its links;
drawings and files to take along are the memo's own (`memo.write.html`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING
from types import UnionType
from typing import Any, Final, Literal, TypeVar, assert_never, get_args, get_origin, get_type_hints

from markupsafe import Markup, escape

from fabricreport.blocks import nodes
from fabricreport.blocks.nodes import (
    EVIDENCE_REPORT,
    PLACED,
    BlockQuote,
    Break,
    BulletList,
    Callout,
    Cite,
    Code,
    DataTable,
    Em,
    Figure,
    Formula,
    Glance,
    GlanceTile,
    Heading,
    Headline,
    Image,
    Inline,
    Link,
    Node,
    Note,
    Num,
    OrderedList,
    Paragraph,
    Preformatted,
    Ref,
    Strong,
    TableColumn,
    TableRow,
    TableShape,
    Text,
    Top,
    is_of_report,
    plain_text,
)
from fabricreport.ledger.numbers import DAGGER, RING

KEYS = {"children": "c", "words": "v"}
"""Fields whose name is shorter in JSON."""
_UNREAD = PLACED | {"kind"}
MOST_DEEP = 60
"""Nodes inside nodes: no prose nests a tenth as deep, and nothing that is read may exhaust the stack."""

_FIELDS = {
    kind: {KEYS.get(name, name): (name, hint) for name, hint in get_type_hints(kind).items() if name not in _UNREAD}
    for kind in vars(nodes).values()
    if isinstance(kind, type) and issubclass(kind, Node)
}
"""The fields of each kind that are read, by their names in JSON, with their types."""
N = TypeVar("N", bound=Node)


class MalformedNode(ValueError):
    """JSON that is no node: what is wrong, and where in it (`figure.title[0].v`)."""


def to_json(node: Node) -> dict[str, Any]:
    """The node as JSON values, the kind as `t`."""
    made: dict[str, Any] = {"t": node.kind} if node.kind else {}
    for name, value in vars(node).items():
        if value != getattr(type(node), name, MISSING):
            made[KEYS.get(name, name)] = _plain(value)
    if isinstance(node, Headline):
        made["data"]["numbers"] = made.pop("numbers")
    return made


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return value
    if isinstance(value, Node):
        return to_json(value)
    if isinstance(value, tuple | list):
        return [_plain(part) for part in value]
    return dict(value) if isinstance(value, Mapping) else value


def top_from_json(data: object) -> Top:
    """One node of a block; raises `MalformedNode`."""
    node: Top = _union(get_args(Top), data, "", 0)
    return node


def inline_from_json(data: object) -> Inline:
    """One piece of text; raises `MalformedNode`."""
    node: Inline = _union(get_args(Inline), data, "", 0)
    return node


def _union(kinds: tuple[Any, ...], data: object, where: str, depth: int) -> Any:
    """A node of the one among `kinds` that its `t` names."""
    said = data.get("t") if isinstance(data, Mapping) else None
    for kind in kinds:
        if isinstance(data, Mapping) and kind.kind == said:
            return _node(kind, data, f"{where}.{said}" if where else str(said), depth)
    raise _fault(where, f"is no {'/'.join(kind.kind for kind in kinds)}", data if said is None else said)


def _node(kind: type[N], data: Mapping[str, Any], where: str, depth: int) -> N:
    if depth > MOST_DEEP:
        raise MalformedNode(f"more than {MOST_DEEP} nodes stand inside each other")
    if kind is Headline:
        data = _headline(data, where)
    known = _FIELDS[kind]
    for name in data:
        if name not in known and not (name == "t" and kind.kind):
            raise _fault(where, "has an unknown field", name)
    given = {}
    for short, (name, hint) in known.items():
        if short in data:
            given[name] = _value(hint, data[short], f"{where}.{short}", depth)
        elif not hasattr(kind, name):  # without a default
            raise _fault(where, "lacks a field", short)
    return kind(**given)


def _headline(data: Mapping[str, Any], where: str) -> Mapping[str, Any]:
    """A headline keeps its figures among its data."""
    inner = data.get("data")
    if not isinstance(inner, Mapping):
        raise _fault(where, "lacks a field", "data")
    rest = {name: value for name, value in inner.items() if name != "numbers"}
    return {**data, "data": rest, "numbers": inner.get("numbers", [])}


def _value(hint: Any, data: object, where: str, depth: int) -> Any:
    """The JSON value as the annotation wants it."""
    origin = get_origin(hint)
    if origin is tuple:
        if not isinstance(data, list | tuple):
            raise _fault(where, "is no list", data)
        part = get_args(hint)[0]
        return tuple(_value(part, one, f"{where}[{n}]", depth) for n, one in enumerate(data))
    if origin is Mapping:
        if not isinstance(data, Mapping):
            raise _fault(where, "is no object", data)
        return dict(data)
    if origin is Literal:
        if data not in get_args(hint):
            raise _fault(where, f"is none of {', '.join(get_args(hint))}", data)
        return data
    kinds = get_args(hint) if origin is UnionType else (hint,)
    if all(isinstance(kind, type) and issubclass(kind, Node) for kind in kinds):
        if kinds[0].kind:
            return _union(kinds, data, where, depth + 1)
        if not isinstance(data, Mapping):
            raise _fault(where, "is no object", data)
        return _node(kinds[0], data, where, depth + 1)
    return _scalar(kinds, data, where)


def _scalar(kinds: tuple[Any, ...], data: object, where: str) -> Any:
    """Text, a finite number or nothing, as far as `kinds` lets it."""
    fits = isinstance(data, kinds) or (float in kinds and isinstance(data, int))
    if not fits or isinstance(data, bool) or (isinstance(data, float) and not math.isfinite(data)):
        raise _fault(where, "is of the wrong type", data)
    return data


def _fault(where: str, words: str, value: object) -> MalformedNode:
    return MalformedNode(f"{where or 'it'} {words}: {repr(value)[:60]}")


EMPTY: Final = Markup("")
TONES = {"decision": "Decision", "caution": "Caution", "note": "Note"}
_MOST_PADDED = 6
_FIT = 3
"""Columns of a narrow table that a phone has room for."""
_RING = Markup('<span class="ring" title="mostly assumed">{}</span>').format(RING)
_STALE = Markup('<span class="stale" title="rests on prices out of date">{}</span>').format(DAGGER)


_WHOLE = re.compile(r"\b\d{4}-\d{2}(?:-\d{2})?\b|[−-][$€£]\d[\d.,]*[a-zA-Z]*|−\d[\d.,]*")
"""A date, and an amount with its minus: a line that broke inside one would part them."""


def unbroken(words: str) -> Markup:
    """Text whose dates and negative amounts stay on one line."""
    parts, end = [], 0
    for found in _WHOLE.finditer(words):
        parts += [escape(words[end : found.start()]), Markup('<span class="nb">{}</span>').format(found[0])]
        end = found.end()
    return EMPTY.join([*parts, escape(words[end:])])


class HtmlWriter:
    """Writes nodes in reading order; remembers where each number stands first, so that its derivation can link back."""

    def __init__(self) -> None:
        self.first_use: dict[str, str] = {}

    # ---- inline

    def inline(self, nodes: Iterable[Inline], *, linked: bool = True) -> Markup:
        """Inline nodes; with `linked=False` only the words, for text inside a link."""
        return EMPTY.join(self._inline_one(node, linked) for node in nodes)

    def _inline_one(self, node: Inline, linked: bool) -> Markup:
        match node:
            case Text():
                return unbroken(node.words)
            case Code():
                return Markup("<code>{}</code>").format(node.words)
            case Break():
                return Markup("<br>")
            case Strong() | Em():
                return Markup("<{0}>{1}</{0}>").format(node.kind, self.inline(node.children, linked=linked))
            case Link() | Num() | Ref() | Cite() | Note() if not linked:
                return escape(plain_text([node]))
            case Link():
                return Markup('<a class="out" rel="noreferrer" href="{}">{}</a>').format(
                    node.href, self.inline(node.children, linked=False)
                )
            case Num():
                return self._number(node)
            case Ref() if node.anchor:
                return _inner_link(node.anchor, node.called)
            case Ref():
                return Markup("<em>[{}]</em>").format(EVIDENCE_REPORT if is_of_report(node.id) else node.shown)
            case Cite() if node.sources:
                refs = Markup(", ").join(_inner_link(f"s-{number}", number) for number in node.sources)
                return Markup('<span class="cite">[{}]</span>').format(refs)
            case Cite():
                return Markup("<sup>[{}]</sup>").format(", ".join(node.ids))
            case Note() if node.number:  # the note itself stands at the memo's end
                mark = Markup('<sup><a id="nr-{0}" href="#n-{0}" aria-label="Footnote {0}">{0}</a></sup>')
                return mark.format(node.number)
            case Note():
                return Markup("<sup>({})</sup>").format(self.inline(node.children))
            case _:
                assert_never(node)

    def _number(self, node: Num) -> Markup:
        """A number of the ledger: its id as tooltip, or in a memo a link that opens its derivation."""
        value = node.text if node.value is None else node.value
        if not node.anchor:
            return Markup('<data class="num" value="{}" title="ledger: {}">{}</data>').format(value, node.id, node.text)
        identity = EMPTY
        if node.anchor not in self.first_use:
            self.first_use[node.anchor] = f"u-{node.anchor}"
            identity = Markup(' id="{}"').format(self.first_use[node.anchor])
        return Markup('<a class="num {}"{} href="#{}"><data value="{}">{}</data>{}</a>{}').format(
            node.footing,
            identity,
            node.anchor,
            value,
            unbroken(node.text),
            _STALE if node.stale else EMPTY,
            _RING if node.ring else EMPTY,
        )

    # ---- blocks

    def blocks(self, nodes: Iterable[Top]) -> Markup:
        """Block nodes, one after the other."""
        return Markup("\n").join(map(self._block, nodes))

    def _block(self, node: Top) -> Markup:
        match node:
            case Paragraph():
                return Markup("<p>{}</p>").format(self.inline(node.children))
            case Heading() if node.number:
                return heading(node.level, node.anchor, node.number, self.inline(node.children))
            case Heading():
                return Markup("<h{0}>{1}</h{0}>").format(node.level + 1, self.inline(node.children))
            case BulletList() | OrderedList():
                items = [Markup("<li>{}</li>").format(self.blocks(item)) for item in node.items]
                return Markup("<{0}>{1}</{0}>").format(node.kind, EMPTY.join(items))
            case BlockQuote():
                return Markup("<blockquote>{}</blockquote>").format(self.blocks(node.children))
            case Preformatted():
                return Markup('<pre tabindex="0">{}</pre>').format(node.words)
            case Callout():
                return self._callout(node)
            case Glance():
                return self._glance(node)
            case Figure():
                return self._figure(node)
            case DataTable():
                return self._table(node)
            case Formula() if not node.svg:
                return Markup("<p><code>{}</code></p>").format(node.tex)
            case Formula():
                return Markup('<div class="formula">{}</div>').format(self.drawing(node.svg, node.alt))
            case Image() if not node.src:
                return Markup('<p class="caption">[Image not attached: {}]</p>').format(node.alt)
            case Image():
                return Markup('<img src="{}" alt="{}">').format(node.src, node.alt)
            case Headline():
                words = Markup("<p><em>Headline for the command line: {}</em></p>")
                return words.format(", ".join(f"{key} {said}" for key, said in node.data.items()))
            case _:
                assert_never(node)

    def drawing(self, svg: str, alt: str, narrow: str = "") -> Markup:
        """A drawing with its words; in a memo also as it is on a narrow screen."""
        # Safe to mark: the preview stands in the notebook whose own code drew it.
        return Markup('<div role="img" aria-label="{}">{}</div>').format(alt, Markup(svg))

    def data(self, node: Figure | DataTable) -> Markup:
        """What lets a reader take the data along."""
        return EMPTY

    def _callout(self, node: Callout) -> Markup:
        title = Markup("<strong>{}</strong>").format(self.inline(node.title)) if node.title else EMPTY
        return Markup(
            '<div class="callout {0}" role="note"><p class="tone"><span class="tag">{1}</span> {2}</p>{3}</div>'
        ).format(node.tone, TONES[node.tone], title, self.blocks(node.children))

    def _glance(self, node: Glance) -> Markup:
        tiles = EMPTY.join(self._tile(tile) for tile in node.tiles)
        return self.blocks(node.children) + (Markup('<dl class="tiles">{}</dl>').format(tiles) if tiles else EMPTY)

    def _tile(self, tile: GlanceTile) -> Markup:
        return Markup('<div class="tile"><dt>{}</dt><dd><span class="value">{}</span>{}</dd></div>').format(
            self.inline(tile.label),
            self.inline(tile.value),
            Markup(' <span class="more">{}</span>').format(self.inline(tile.note)) if tile.note else EMPTY,
        )

    def _figure(self, node: Figure) -> Markup:
        subtitle = Markup('<span class="subtitle">{}</span>').format(self.inline(node.subtitle))
        title = Markup("<strong>{}</strong> {}").format(self.inline(node.title), subtitle if node.subtitle else EMPTY)
        return self._standing(EMPTY, node, title, self.drawing(node.svg, node.alt, node.narrow), node.caption)

    def _table(self, node: DataTable) -> Markup:
        title = Markup("<strong>{}</strong>").format(self.inline(node.caption))
        shown = Markup('<table role="table"{}><thead role="rowgroup"><tr role="row">{}</tr></thead>{}</table>').format(
            Markup(' class="{}"').format(_breadth(node)),
            EMPTY.join(self._head(column) for column in node.columns),
            self._bodies(node),
        )
        return self._standing(Markup(' class="table"'), node, title, shown, node.note)

    def _standing(
        self, kind: Markup, node: Figure | DataTable, title: Markup, shown: Markup, below: Sequence[Inline]
    ) -> Markup:
        """What stands between paragraphs: its number and title above, its caption and its data below."""
        return Markup('<figure{}{}><figcaption>{}{}</figcaption><div class="scroll"{}>{}</div>{}{}</figure>').format(
            kind,
            Markup(' id="{}"').format(node.anchor) if node.anchor else EMPTY,
            Markup('<a class="tag" href="#{}">{}</a> ').format(node.anchor, _name(node)) if node.number else EMPTY,
            title,
            # The frame scrolls on a narrow screen, so it takes the keyboard's focus and has a name.
            Markup(' role="region" tabindex="0" aria-label="{}"').format(_name(node)) if node.number else EMPTY,
            shown,
            Markup('<p class="caption">{}</p>').format(self.inline(below)) if below else EMPTY,
            self.data(node),
        )

    def _head(self, column: TableColumn) -> Markup:
        unit = Markup(' <span class="unit">{}</span>').format(column.unit) if column.unit else EMPTY
        side = Markup(' class="r"') if column.align == "right" else EMPTY
        label = self.inline(column.label)
        if not label and not unit:
            return Markup('<td role="cell"{}></td>').format(side)
        return Markup('<th scope="col" role="columnheader"{}>{}{}</th>').format(side, label, unit)

    def _bodies(self, node: DataTable) -> Markup:
        """One `tbody` for each group of rows, so that a group's name is the header of its rows only."""
        bodies: list[list[Markup]] = [[]]
        for r, row in enumerate(node.rows):
            if row.role == "group":
                words = Markup(" ").join(self.inline(cell) for cell in row.cells if cell)
                line = Markup(
                    '<tr role="row" class="group"><th scope="rowgroup" role="rowheader" colspan="{}">{}</th></tr>'
                )
                bodies.append([line.format(len(node.columns), words)])
            else:
                cells = [self._cell(node, row, r, c) for c in range(len(node.columns))]
                bodies[-1].append(Markup('<tr role="row" class="{}">{}</tr>').format(row.role, EMPTY.join(cells)))
        body = Markup('<tbody role="rowgroup">{}</tbody>')
        return EMPTY.join(body.format(EMPTY.join(rows)) for rows in bodies if rows)

    def _cell(self, node: DataTable, row: TableRow, r: int, c: int) -> Markup:
        body = self.inline(row.cells[c] if c < len(row.cells) else ())
        right = node.columns[c].align == "right"
        if c == 0 and (body or row.ring or row.role == "winner"):
            mark = Markup('<span class="mark" title="first choice">‣</span> ') if row.role == "winner" else EMPTY
            words = Markup("{}{}{}").format(mark, body, _RING if row.ring else EMPTY)
            return Markup('<th scope="row" role="rowheader" class="first{}">{}</th>').format(
                " r" if right else "", words
            )
        label = _labelled(node.columns[c]) if c else EMPTY
        side = Markup(' class="r{}"').format(_padded(node.shape, r, c)) if right else EMPTY
        return Markup('<td role="cell"{}{}>{}</td>').format(side, label, body)


def _breadth(node: DataTable) -> str:
    """How a table stands: one that needs half of the measure is `narrow`; on a phone any that does not fit stacks as `cards`."""
    narrow = node.shape is not None and node.shape.narrow
    fits = narrow and len(node.columns) <= _FIT
    return "narrow" if fits else "narrow cards" if narrow else "cards"


def _labelled(column: TableColumn) -> Markup:
    """A column's head and unit at its cell, for where rows are cards."""
    words = ", ".join(filter(None, (plain_text(column.label).strip(), column.unit)))
    return Markup(' data-label="{}"').format(words) if words else EMPTY


def _name(node: Figure | DataTable) -> str:
    return f"{'Figure' if isinstance(node, Figure) else 'Table'} {node.number}"


def _padded(shape: TableShape | None, row: int, column: int) -> str:
    """As many digits of padding as the cell lacks, and a point if it has none."""
    missing = min(shape.decimals[row][column], _MOST_PADDED) if shape else 0
    return f" d{missing}{' pt' if shape and missing == shape.places[column] else ''}" if missing > 0 else ""


def _inner_link(anchor: str, words: str | int) -> Markup:
    return Markup('<a href="#{}">{}</a>').format(anchor, words)


def called(number: str) -> str:
    """What a heading's number is called where it stands alone: Section 1, Annex A, Annex A.1."""
    return number if " " in number else f"{'Annex' if number[:1].isalpha() else 'Section'} {number}"


def heading(level: int, anchor: str, number: str, body: Markup) -> Markup:
    """A numbered heading, its number a link to itself; the memo's title is the page's h1, so level 1 is an h2."""
    return Markup('<h{0} id="{1}" tabindex="-1"><a class="no" href="#{1}" aria-label="{4}">{2}</a> {3}</h{0}>').format(
        level + 1, anchor, number, body, called(number)
    )
