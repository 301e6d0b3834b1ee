"""Document nodes to HTML: every piece of text passes `markupsafe`, every id is one of ours."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from typing import Any

from markupsafe import Markup, escape

from fabricreport.blocks.markdown import plain_text
from fabricreport.memo.document.safe import csv_text, slug

Node = dict[str, Any]

_EMPTY = Markup("")
_DATA_ROWS_SHOWN = 40
TONES = {"decision": "Decision", "caution": "Caution", "note": "Note"}


class NodeWriter:
    """Writes nodes in reading order; remembers where each number stands first, so its derivation can link back."""

    def __init__(self) -> None:
        self.first_use: dict[str, str] = {}

    # ---- inline

    def inline(self, nodes: Iterable[Node], *, linked: bool = True) -> Markup:
        """Inline nodes; with `linked=False` only the words, for text inside a link."""
        return _EMPTY.join(self._inline_one(node, linked) for node in nodes)

    def _inline_one(self, node: Node, linked: bool) -> Markup:
        kind = node["t"]
        if kind == "text":
            return escape(node["v"])
        if kind == "code":
            return Markup("<code>{}</code>").format(node["v"])
        if kind == "br":
            return Markup("<br>")
        if kind in ("strong", "em"):
            return Markup("<{0}>{1}</{0}>").format(kind, self.inline(node["c"], linked=linked))
        if not linked:
            return escape(plain_text([node]))
        if kind == "link":
            return Markup('<a class="out" rel="noreferrer" href="{}">{}</a>').format(
                node["href"], self.inline(node["c"], linked=False)
            )
        if kind == "num":
            return self._number(node)
        if kind == "ref":
            return Markup('<a href="#{}">{}</a>').format(node["anchor"], node["text"])
        if kind == "cite":
            refs = [Markup('<a href="#{}">{}</a>').format(r["anchor"], r["number"]) for r in node["refs"]]
            return Markup('<span class="cite">[{}]</span>').format(Markup(", ").join(refs))
        return Markup('<sup><a id="nr-{0}" href="#n-{0}" aria-label="Footnote {0}">{0}</a></sup>').format(
            node["number"]
        )

    def _number(self, node: Node) -> Markup:
        identity = _EMPTY
        if node["anchor"] not in self.first_use:
            self.first_use[node["anchor"]] = f"u-{node['anchor']}"
            identity = Markup(' id="{}"').format(self.first_use[node["anchor"]])
        value = node["value"] if isinstance(node["value"], int | float) else node["text"]
        stale = (
            Markup('<span class="stale" title="rests on a figure past its shelf life">†</span>')
            if node["stale"]
            else _EMPTY
        )
        return Markup('<a class="num {}"{} href="#{}"><data value="{}">{}</data>{}</a>').format(
            node["footing"], identity, node["anchor"], value, node["text"], stale
        )

    # ---- blocks

    def blocks(self, nodes: Iterable[Node]) -> Markup:
        """Block nodes, one after the other."""
        return Markup("\n").join(self._block(node) for node in nodes)

    def sections(self, nodes: Sequence[Node]) -> Markup:
        """The same with each level-1 heading and what follows it in a `<section>`."""
        groups: list[list[Node]] = [[]]
        for node in nodes:
            if node["t"] == "h" and node["level"] == 1:
                groups.append([])
            groups[-1].append(node)
        written = []
        for group in groups:
            if not group:
                continue
            named = group[0]["t"] == "h"
            label = Markup(' aria-labelledby="{}"').format(group[0]["anchor"]) if named else _EMPTY
            written.append(Markup("<section{}>\n{}\n</section>").format(label, self.blocks(group)))
        return Markup("\n").join(written)

    def _block(self, node: Node) -> Markup:
        kind = node["t"]
        if kind == "p":
            return Markup("<p>{}</p>").format(self.inline(node["c"]))
        if kind == "h":
            return heading(node["level"], node["anchor"], node["number"], self.inline(node["c"]))
        if kind in ("ul", "ol"):
            items = [Markup("<li>{}</li>").format(self.blocks(item)) for item in node["items"]]
            return Markup("<{0}>{1}</{0}>").format(kind, _EMPTY.join(items))
        if kind == "quote":
            return Markup("<blockquote>{}</blockquote>").format(self.blocks(node["c"]))
        if kind == "pre":
            return Markup('<pre tabindex="0">{}</pre>').format(node["v"])
        if kind == "callout":
            return self._callout(node)
        if kind == "figure":
            return self._figure(node)
        if kind == "datatable":
            return self._table(node)
        return self._picture(node)

    def _callout(self, node: Node) -> Markup:
        title = Markup("<strong>{}</strong>").format(self.inline(node["title"])) if node["title"] else _EMPTY
        return Markup(
            '<div class="callout {0}" role="note"><p class="tone"><span class="tag">{1}</span> {2}</p>{3}</div>'
        ).format(node["tone"], TONES[node["tone"]], title, self.blocks(node["c"]))

    def glance(self, node: Node) -> Markup:
        """The page-one summary: what is asked and advised, and the tiles."""
        tiles = [
            Markup('<div class="tile"><dt>{}</dt><dd><span class="value">{}</span>{}</dd></div>').format(
                self.inline(tile["label"]),
                self.inline(tile["value"]),
                Markup(' <span class="more">{}</span>').format(self.inline(tile["note"])) if tile["note"] else _EMPTY,
            )
            for tile in node["tiles"]
        ]
        listed = Markup('<dl class="tiles">{}</dl>').format(_EMPTY.join(tiles)) if tiles else _EMPTY
        return self.blocks(node["c"]) + listed

    def _figure(self, node: Node) -> Markup:
        subtitle = (
            Markup('<span class="subtitle">{}</span>').format(self.inline(node["subtitle"]))
            if node["subtitle"]
            else _EMPTY
        )
        caption = (
            Markup('<p class="caption">{}</p>').format(self.inline(node["caption"])) if node["caption"] else _EMPTY
        )
        return Markup(
            '<figure id="{}"><figcaption><span class="tag">Figure {}</span> <strong>{}</strong> {}</figcaption>{}{}{}</figure>'
        ).format(
            node["anchor"],
            node["number"],
            self.inline(node["title"]),
            subtitle,
            drawing(node["svg"], node["alt"]),
            caption,
            _data(node["id"], node["data"]),
        )

    def _table(self, node: Node) -> Markup:
        rows = [
            [
                plain_text(column["label"]) + (f" ({column['unit']})" if column["unit"] else "")
                for column in node["columns"]
            ]
        ]
        rows += [[plain_text(cell) for cell in row["cells"]] for row in node["rows"]]
        note = Markup('<p class="caption">{}</p>').format(self.inline(node["note"])) if node["note"] else _EMPTY
        # The frame scrolls on a narrow screen, so it takes the keyboard's focus and has a name.
        return Markup(
            '<div class="table" id="{0}"><div class="scroll" role="region" tabindex="0" aria-label="Table {1}"><table{7}>'
            '<caption><span class="tag">Table {1}</span> <strong>{2}</strong></caption><thead><tr>{3}</tr></thead>{4}</table></div>'
            '{5}<p class="data">{6}</p></div>'
        ).format(
            node["anchor"],
            node["number"],
            self.inline(node["caption"]),
            _EMPTY.join(self._head(column) for column in node["columns"]),
            self._bodies(node),
            note,
            csv_link(node["id"], rows),
            Markup(' class="narrow"') if node["narrow"] else _EMPTY,
        )

    def _head(self, column: Node) -> Markup:
        unit = Markup(' <span class="unit">{}</span>').format(column["unit"]) if column["unit"] else _EMPTY
        side = Markup(' class="r"') if column["align"] == "right" else _EMPTY
        label = self.inline(column["label"])
        if not label and not unit:
            return Markup("<td{}></td>").format(side)
        return Markup('<th scope="col"{}>{}{}</th>').format(side, label, unit)

    def _bodies(self, node: Node) -> Markup:
        """One `tbody` for each group of rows, so that a group's name is the header of its rows only."""
        bodies: list[list[Markup]] = [[]]
        for r, row in enumerate(node["rows"]):
            if row["role"] == "group":
                words = Markup(" ").join(self.inline(cell) for cell in row["cells"] if cell)
                line = Markup('<tr class="group"><th scope="rowgroup" colspan="{}">{}</th></tr>')
                bodies.append([line.format(len(node["columns"]), words)])
            else:
                cells = [self._cell(node, row, r, c) for c in range(len(node["columns"]))]
                bodies[-1].append(Markup('<tr class="{}">{}</tr>').format(row["role"], _EMPTY.join(cells)))
        return _EMPTY.join(Markup("<tbody>{}</tbody>").format(_EMPTY.join(rows)) for rows in bodies if rows)

    def _cell(self, node: Node, row: Node, r: int, c: int) -> Markup:
        body = self.inline(row["cells"][c])
        if c == 0:
            mark = Markup('<span class="mark" title="first choice">▸</span> ') if row["role"] == "winner" else _EMPTY
            side = " r" if node["columns"][0]["align"] == "right" else ""
            return Markup('<th scope="row" class="first{}">{}{}</th>').format(side, mark, body)
        if node["columns"][c]["align"] != "right":
            return Markup("<td>{}</td>").format(body)
        missing = min(node["decimals"][r][c], 6)
        point = " pt" if missing > 0 and missing == node["places"][c] else ""
        pad = f" d{missing}{point}" if missing > 0 else ""
        return Markup('<td class="r{}">{}</td>').format(pad, body)

    def _picture(self, node: Node) -> Markup:
        if node["t"] == "formula":
            if not node["svg"]:
                return Markup("<p><code>{}</code></p>").format(node["tex"])
            return Markup('<div class="formula">{}</div>').format(drawing(node["svg"], node["alt"]))
        if not node["src"]:
            return Markup('<p class="caption">[Image not attached: {}]</p>').format(node["alt"])
        return Markup('<img src="{}" alt="{}">').format(node["src"], node["alt"])


def heading(level: int, anchor: str, number: str, body: Markup) -> Markup:
    """A numbered heading; the memo's title is the page's h1, so level 1 is an h2."""
    return Markup('<h{0} id="{1}" tabindex="-1"><span class="no">{2}</span> {3}</h{0}>').format(
        level + 1, anchor, number, body
    )


def drawing(svg: str, alt: str) -> Markup:
    """A cleaned SVG (see `memo.svg`) with its alt text."""
    if not svg.startswith("<svg "):
        return Markup('<p class="caption">The drawing cannot be shown.</p>')
    label = Markup('<svg class="chart" role="img" aria-label="{}" ').format(alt)
    # Safe to mark: `clean_svg` serialised it from an allow-list of elements and attributes.
    return label + Markup(svg.removeprefix("<svg "))


def csv_link(name: str, rows: Sequence[Sequence[Any]]) -> Markup:
    """A link that saves the rows as CSV; the data travels inside the page (with a mark so that Excel reads UTF-8)."""
    encoded = base64.b64encode(("\ufeff" + csv_text(rows)).encode()).decode("ascii")
    file_name = f"{slug(name)}.csv"
    return Markup('<a download="{0}" href="data:text/csv;charset=utf-8;base64,{1}">{0}</a>').format(file_name, encoded)


def _data(name: str, rows: Sequence[Sequence[Any]]) -> Markup:
    """The plotted data: folded away as a table, and as a file."""
    if not rows:
        return _EMPTY
    head = _EMPTY.join(Markup('<th scope="col">{}</th>').format(cell) for cell in rows[0])
    shown = rows[1 : _DATA_ROWS_SHOWN + 1]
    body = _EMPTY.join(
        Markup("<tr>{}</tr>").format(_EMPTY.join(Markup("<td>{}</td>").format(cell) for cell in row)) for row in shown
    )
    more = len(rows) - 1 - len(shown)
    rest = Markup(" ({} more rows in the file)").format(more) if more > 0 else _EMPTY
    return Markup(
        '<details class="data"><summary>Data of this figure</summary><div class="scroll" role="region" tabindex="0" '
        'aria-label="Data of {}"><table><thead><tr>{}</tr></thead><tbody>{}</tbody></table></div><p>{}{}</p></details>'
    ).format(name, head, body, csv_link(name, rows), rest)
