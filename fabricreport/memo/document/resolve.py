"""The second pass: fresh nodes with every number, link and drawing written in, ready for a writer."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable
from typing import Any

from fabricreport.blocks.markdown import safe_link
from fabricreport.memo.document.derive import FOOTING, quoted_input
from fabricreport.memo.document.numbering import MALFORMED, Numbering, left_out
from fabricreport.memo.document.remedies import ALT_REMEDY, CAPTION_REMEDY, PICTURE_REMEDY
from fabricreport.memo.document.safe import one_line
from fabricreport.memo.document.svg import UnsafeDrawing, clean_svg
from fabricreport.memo.document.tables import table_shape

Node = dict[str, Any]

_PNG = "data:image/png;base64,"
_PT_PER_PX = 0.6
"""Notebooks draw at 100 to 144 dots per inch; 120 prints their text near its intended size."""


class Resolver:
    """Copies nodes with what `Numbering` found; remembers the footnotes and the numbers it met."""

    def __init__(self, numbering: Numbering) -> None:
        self.notes: list[Node] = []
        self._numbering = numbering
        self._used: dict[str, None] = {}

    def used_numbers(self) -> list[str]:
        """Ids of the ledger numbers met by `resolve`, in order of first printing."""
        return list(self._used)

    def resolve(self, nodes: Iterable[Node], where: str) -> list[Node]:
        """Copies of the block nodes with all numbers and links written in; the originals stay untouched."""
        resolved = []
        for node in nodes:
            try:
                writer = _BLOCK_WRITERS.get(str(node["t"]))
                if writer is None:
                    raise LookupError(f"unknown kind of block {node['t']!r}")
                resolved.append(writer(self, node, where))
            except MALFORMED as error:
                self._numbering.fault("a block is malformed", where, str(error), "Emit it through the block functions.")
        return resolved

    def _paragraph(self, node: Node, where: str) -> Node:
        return {"t": "p", "c": self.inline(node["c"], where)}

    def _heading(self, node: Node, where: str) -> Node:
        return {"t": "h", **self._numbering.placed[id(node)], "c": self.inline(node["c"], where)}

    def _list(self, node: Node, where: str) -> Node:
        return {"t": node["t"], "items": [self.resolve(item, where) for item in node["items"]]}

    def _quote(self, node: Node, where: str) -> Node:
        return {"t": "quote", "c": self.resolve(node["c"], where)}

    def _pre(self, node: Node, where: str) -> Node:
        return {"t": "pre", "v": str(node["v"])}

    def _callout(self, node: Node, where: str) -> Node:
        tone = node["tone"] if node["tone"] in ("decision", "caution", "note") else "note"
        title = self.inline(node.get("title") or [], where)
        return {"t": "callout", "tone": tone, "title": title, "c": self.resolve(node["c"], where)}

    def _glance(self, node: Node, where: str) -> Node:
        tiles = [
            {key: self.inline(tile.get(key) or [], where) for key in ("label", "value", "note")}
            for tile in node["tiles"]
        ]
        return {"t": "glance", "c": self.resolve(node["c"], where), "tiles": tiles}

    def _figure(self, node: Node, where: str) -> Node:
        placed = self._numbering.placed[id(node)]
        parts = {key: self.inline(node.get(key) or [], where) for key in ("title", "subtitle", "caption")}
        drawing = self._drawing(node, f"g{placed['number']}-", where)
        data = [[str(cell) if isinstance(cell, str) else cell for cell in row] for row in node.get("data") or []]
        identity = str(node.get("id") or f"fig-{placed['number']}")
        return {
            "t": "figure",
            "id": identity,
            **placed,
            **parts,
            "alt": self._alt(node, where),
            **drawing,
            "data": data,
        }

    def _drawing(self, node: Node, prefix: str, where: str) -> Node:
        try:
            drawing = clean_svg(str(node.get("svg") or ""), prefix)
        except UnsafeDrawing as error:
            self._numbering.fault("a drawing cannot be shown", where, str(error), "Emit the chart again.")
            return {"svg": "", "width_pt": 0.0, "height_pt": 0.0}
        return {"svg": drawing.svg, "width_pt": drawing.width_pt, "height_pt": drawing.height_pt}

    def _alt(self, node: Node, where: str) -> str:
        alt = one_line(str(node.get("alt") or ""))
        if not alt:
            remedy = (
                f"Say in one or two sentences what it shows, with the numbers. {ALT_REMEDY.get(str(node['t']), '')}"
            )
            self._numbering.fault("an image has no alt text", where, str(node.get("id") or node.get("t")), remedy)
        return alt

    def _datatable(self, node: Node, where: str) -> Node:
        placed = self._numbering.placed[id(node)]
        caption = self.inline(node.get("caption") or [], where)
        if not caption:
            remedy = f"Say what the table shows. {CAPTION_REMEDY}"
            self._numbering.fault("a table has no caption", where, str(node.get("id") or ""), remedy)
        columns = [
            {
                "label": self.inline(column["label"], where),
                "unit": one_line(str(column.get("unit") or "")),
                "align": "right" if column.get("align") == "right" else "left",
            }
            for column in node["columns"]
        ]
        rows = []
        for row in node["rows"]:
            role = row.get("role") if row.get("role") in ("total", "winner", "group") else "normal"
            cells = [self.inline(cell, where) for cell in row["cells"]][: len(columns)]
            rows.append({"role": role, "cells": [*cells, *[[] for _ in range(len(columns) - len(cells))]]})
        note = self.inline(node.get("note") or [], where)
        shape = table_shape(columns, rows)
        identity = str(node.get("id") or f"tab-{placed['number']}")
        return {
            "t": "datatable",
            "id": identity,
            **placed,
            "caption": caption,
            "columns": columns,
            "rows": rows,
            "note": note,
            **shape,
        }

    def _formula(self, node: Node, where: str) -> Node:
        name = self._numbering.anchors.of("f", f"formula {len(self._numbering.placed)} {node.get('tex', '')}")
        return {
            "t": "formula",
            "tex": str(node.get("tex") or ""),
            "alt": self._alt(node, where),
            **self._drawing(node, f"{name}-", where),
        }

    def _image(self, node: Node, where: str) -> Node:
        source = str(node.get("src") or "")
        width = png_width_px(source)
        if not width:
            found = one_line(source or str(node.get("address") or ""))[:60]
            remedy = f"{PICTURE_REMEDY[:1].upper()}{PICTURE_REMEDY[1:]}"
            self._numbering.fault("an image is neither attached nor a PNG", where, found, remedy)
            source = ""
        return {"t": "image", "src": source, "alt": self._alt(node, where), "width_pt": width * _PT_PER_PX}

    # ---- inline nodes

    def inline(self, nodes: Iterable[Node], where: str) -> list[Node]:
        """Copies of inline nodes, resolved."""
        resolved: list[Node] = []
        for node in nodes:
            resolved += self._inline_one(node, where)
        return resolved

    def _inline_one(self, node: Node, where: str) -> list[Node]:
        kind = node["t"]
        if kind in ("text", "code"):
            return [{"t": kind, "v": str(node["v"])}]
        if kind == "br":
            return [{"t": "br"}]
        if kind in ("strong", "em"):
            return [{"t": kind, "c": self.inline(node["c"], where)}]
        if kind == "link":
            inner = self.inline(node["c"], where)
            return [{"t": "link", "href": str(node["href"]), "c": inner}] if safe_link(str(node["href"])) else inner
        if kind == "num":
            return [self._num(node, where)]
        if kind == "ref":
            return [self._ref(str(node["id"]), where)]
        if kind == "cite":
            return self._cite([str(i) for i in node["ids"]], where)
        if kind == "note":
            note = {"t": "note", "c": self.inline(node["c"], where), "number": len(self.notes) + 1}
            self.notes.append(note)
            return [note]
        self._numbering.fault("a piece of text is malformed", where, str(kind), "Emit it through the block functions.")
        return []

    def _num(self, node: Node, where: str) -> Node:
        number_id, text = str(node["id"]), str(node["text"])
        entry = self._numbering.ledger.get(number_id)
        if entry is None:
            self._numbering.fault(
                "a number is not in the ledger", where, number_id, "Emit the block with its ledger entry."
            )
            return {"t": "text", "v": text}
        self._used.setdefault(number_id)
        quoted = quoted_input(entry, self._numbering.book.inputs)
        return {
            "t": "num",
            "id": number_id,
            "text": text,
            "value": node.get("value"),
            "anchor": self._numbering.anchors.of("d", quoted or number_id),
            "footing": FOOTING.get(str(entry.get("grade") or ""), ""),
            "stale": bool(entry.get("stale")),
        }

    def _ref(self, identity: str, where: str) -> Node:
        target = self._numbering.targets.get(identity)
        if target is None and (words := left_out(identity)):
            return {"t": "text", "v": words}
        if target is None:
            self._numbering.fault(
                "a reference leads nowhere", where, identity, "Check the id of the figure, table or heading."
            )
            return {"t": "text", "v": f"[missing: {identity}]"}
        return {"t": "ref", "text": target[0], "anchor": target[1]}

    def _cite(self, ids: list[str], where: str) -> list[Node]:
        numbers = []
        for input_id in ids:
            number = self._numbering.book.cite(input_id)
            if number is None:
                self._numbering.fault(
                    "a citation has no source", where, input_id, "Add the entry to the evidence library."
                )
            elif number not in numbers:
                numbers.append(number)
        refs = [{"number": n, "anchor": f"s-{n}"} for n in numbers]
        return [{"t": "cite", "refs": refs}] if refs else []


_BLOCK_WRITERS: dict[str, Callable[[Resolver, Node, str], Node]] = {
    "p": Resolver._paragraph,
    "h": Resolver._heading,
    "ul": Resolver._list,
    "ol": Resolver._list,
    "quote": Resolver._quote,
    "pre": Resolver._pre,
    "callout": Resolver._callout,
    "glance": Resolver._glance,
    "figure": Resolver._figure,
    "datatable": Resolver._datatable,
    "formula": Resolver._formula,
    "image": Resolver._image,
}


def png_width_px(source: str) -> int:
    """Width of a `data:image/png;base64,` image from its header; 0 if it is none."""
    try:
        head = base64.b64decode(source.removeprefix(_PNG), validate=True)[:24]
    except ValueError:
        return 0
    is_png = source.startswith(_PNG) and head[:8] == b"\x89PNG\r\n\x1a\n" and head[12:16] == b"IHDR"
    return int.from_bytes(head[16:20]) if is_png else 0
