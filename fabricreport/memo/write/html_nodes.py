"""The memo's nodes to HTML: what the one writer leaves open is filled with numbers, anchors and files.

Every piece of text passes `markupsafe`, every id is one of ours.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence

from markupsafe import Markup

from fabricreport.blocks.html import EMPTY, HtmlWriter, unbroken
from fabricreport.blocks.nodes import Cite, DataTable, Figure, Flow, Heading, Note, Num, Numbered, Ref, Scalar, TableRow
from fabricreport.memo.document.marks import DAGGER, RING
from fabricreport.memo.document.placed import (
    PlacedCite,
    PlacedFigure,
    PlacedHeading,
    PlacedNote,
    PlacedNum,
    PlacedRef,
    PlacedRow,
    PlacedTable,
)
from fabricreport.memo.document.safe import slug
from fabricreport.memo.document.tables import table_rows
from fabricreport.spreadsheet import csv_text

MOST_DATA_ROWS = 12
"""Of longer data a figure shows the file alone: nobody reads the bars of a histogram."""
_MOST_PADDED = 6
_RING = Markup('<span class="ring" title="mostly assumed">{}</span>').format(RING)


class MemoWriter(HtmlWriter):
    """Remembers where each number stands first, so its derivation can link back."""

    def __init__(self) -> None:
        self.first_use: dict[str, str] = {}

    def sections(self, nodes: Sequence[Flow]) -> Markup:
        """Block nodes, each level-1 heading and what follows it in a `<section>`."""
        groups: list[list[Flow]] = [[]]
        for node in nodes:
            if isinstance(node, Heading) and node.level == 1:
                groups.append([])
            groups[-1].append(node)
        written = []
        for group in groups:
            if not group:
                continue
            first = group[0]
            label = Markup(' aria-labelledby="{}"').format(first.anchor) if isinstance(first, PlacedHeading) else EMPTY
            written.append(Markup("<section{}>\n{}\n</section>").format(label, self.blocks(group)))
        return Markup("\n").join(written)

    # ---- inline

    def number(self, node: Num) -> Markup:
        """A number that opens its derivation."""
        if not isinstance(node, PlacedNum):
            return super().number(node)
        identity = EMPTY
        if node.anchor not in self.first_use:
            self.first_use[node.anchor] = f"u-{node.anchor}"
            identity = Markup(' id="{}"').format(self.first_use[node.anchor])
        stale = Markup('<span class="stale" title="rests on prices out of date">{}</span>').format(DAGGER)
        return Markup('<a class="num {}"{} href="#{}"><data value="{}">{}</data>{}</a>{}').format(
            node.footing,
            identity,
            node.anchor,
            node.text if node.value is None else node.value,
            unbroken(node.text),
            stale if node.stale else EMPTY,
            _RING if node.ring else EMPTY,
        )

    def reference(self, node: Ref) -> Markup:
        """A link to a figure, table or heading."""
        if not isinstance(node, PlacedRef):
            return super().reference(node)
        return _inner_link(node.anchor, node.text)

    def citation(self, node: Cite) -> Markup:
        """Links into the source list."""
        if not isinstance(node, PlacedCite):
            return super().citation(node)
        refs = Markup(", ").join(_inner_link(r.anchor, r.number) for r in node.refs)
        return Markup('<span class="cite">[{}]</span>').format(refs)

    def footnote(self, node: Note) -> Markup:
        """A footnote's mark; the note itself stands at the memo's end."""
        if not isinstance(node, PlacedNote):
            return super().footnote(node)
        return Markup('<sup><a id="nr-{0}" href="#n-{0}" aria-label="Footnote {0}">{0}</a></sup>').format(node.number)

    # ---- blocks

    def heading(self, node: Heading) -> Markup:
        """A numbered heading."""
        if not isinstance(node, PlacedHeading):
            return super().heading(node)
        return heading(node.level, node.anchor, node.number, self.inline(node.children))

    def identity(self, node: Numbered) -> Markup:
        """The anchor."""
        return Markup(' id="{}"').format(node.anchor) if isinstance(node, PlacedFigure | PlacedTable) else EMPTY

    def row_mark(self, row: TableRow) -> Markup:
        """The ring of a row that is mostly assumed."""
        return _RING if isinstance(row, PlacedRow) and row.ring else EMPTY

    def tag(self, node: Figure | DataTable) -> Markup:
        """Figure 3, Table 4."""
        name = _name(node)
        return Markup('<span class="tag">{}</span> ').format(name) if name else EMPTY

    def drawing(self, svg: str, alt: str) -> Markup:
        """A cleaned SVG (see `memo.document.svg`) with its alt text."""
        if not svg.startswith("<svg "):
            return Markup('<p class="caption">The drawing cannot be shown.</p>')
        label = Markup('<svg class="chart" role="img" aria-label="{}" ').format(alt)
        # Safe to mark: `clean_svg` serialised it from an allow-list of elements and attributes.
        return label + Markup(svg.removeprefix("<svg "))

    def data(self, node: Figure | DataTable) -> Markup:
        """A figure's data folded away as a table and as a file; a table as a file."""
        if isinstance(node, Figure):
            return _plotted(node.id, node.data)
        return Markup('<p class="data">{}</p>').format(csv_link(node.id, table_rows(node)))

    def frame(self, node: Figure | DataTable) -> Markup:
        """The frame scrolls on a narrow screen, so it takes the keyboard's focus and has a name."""
        return Markup(' role="region" tabindex="0" aria-label="{}"').format(_name(node))

    def table_class(self, node: DataTable) -> Markup:
        """A narrow table does not fill the measure."""
        narrow = isinstance(node, PlacedTable) and node.shape.narrow
        return Markup(' class="narrow"') if narrow else EMPTY

    def digits(self, node: DataTable, row: int, column: int) -> str:
        """As many digits of padding as the cell lacks, and a point if it has none."""
        missing = min(node.shape.decimals[row][column], _MOST_PADDED) if isinstance(node, PlacedTable) else 0
        if not isinstance(node, PlacedTable) or missing <= 0:
            return ""
        return f" d{missing}{' pt' if missing == node.shape.places[column] else ''}"


def _name(node: Figure | DataTable) -> str:
    if isinstance(node, PlacedFigure):
        return f"Figure {node.number}"
    return f"Table {node.number}" if isinstance(node, PlacedTable) else ""


def _inner_link(anchor: str, words: str | int) -> Markup:
    return Markup('<a href="#{}">{}</a>').format(anchor, words)


def heading(level: int, anchor: str, number: str, body: Markup) -> Markup:
    """A numbered heading; the memo's title is the page's h1, so level 1 is an h2."""
    return Markup('<h{0} id="{1}" tabindex="-1"><span class="no">{2}</span> {3}</h{0}>').format(
        level + 1, anchor, number, body
    )


def csv_link(name: str, rows: Sequence[Sequence[Scalar]]) -> Markup:
    """A link that saves the rows as CSV; the data travels inside the page (with a mark so that Excel reads UTF-8)."""
    encoded = base64.b64encode(("\ufeff" + csv_text(rows)).encode()).decode("ascii")
    file_name = f"{slug(name)}.csv"
    return Markup('<a download="{0}" href="data:text/csv;charset=utf-8;base64,{1}">{0}</a>').format(file_name, encoded)


def _plotted(name: str, rows: Sequence[Sequence[Scalar]]) -> Markup:
    """The plotted data: folded away as a table if it is short, and as a file."""
    if not rows:
        return EMPTY
    if len(rows) - 1 > MOST_DATA_ROWS:
        return Markup('<p class="data">{}</p>').format(csv_link(name, rows))
    head = EMPTY.join(Markup('<th scope="col">{}</th>').format(cell) for cell in rows[0])
    body = EMPTY.join(
        Markup("<tr>{}</tr>").format(EMPTY.join(Markup("<td>{}</td>").format(cell) for cell in row)) for row in rows[1:]
    )
    return Markup(
        '<details class="data"><summary>Data of this figure</summary><div class="scroll" role="region" tabindex="0" '
        'aria-label="Data of {}"><table><thead><tr>{}</tr></thead><tbody>{}</tbody></table></div><p>{}</p></details>'
    ).format(name, head, body, csv_link(name, rows))
