"""Markdown to document nodes, for prose blocks and for analysts' ordinary Markdown cells.

Raw HTML is off, so everything a person types stays text. Private-use characters mark what Markdown has no
syntax for; each marked span is folded into one character before parsing, so that no Markdown rule can cut it:

    U+E000 <id> U+E001         a ledger number
    U+E002 <id> U+E003         a cross-reference
    U+E004 <id>,<id> U+E005    a citation
    U+E006 <Markdown> U+E007   a footnote
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.tree import SyntaxTreeNode

Node = dict[str, Any]

NUMBER = ("\ue000", "\ue001")
REFERENCE = ("\ue002", "\ue003")
CITATION = ("\ue004", "\ue005")
FOOTNOTE = ("\ue006", "\ue007")

_SPANS = re.compile("\ue000([^\ue000-\ue007]*)\ue001|\ue002([^\ue000-\ue007]*)\ue003|\ue004([^\ue000-\ue007]*)\ue005")
_FOLDED = re.compile("([\U000f0000-\U000ffffd\ue006\ue007])")
_RESERVED = re.compile("[\U000f0000-\U000ffffd]")
_FIRST_FOLD = 0xF0000
_MOST_FOLDS = 0xFFFD
_FIELD = re.compile(r"\{\{|\}\}|\{(?!#)([^{}]*)\}")
_MATH = re.compile(r"\$\$.+?\$\$|\$(?=\S)[^$]*?(?<=\S)\$(?!\d)", re.DOTALL)
_FIGURE_ID = re.compile(r"\{\s*(?:[a-z][a-z0-9_]*[.:]|(?:fig|tab|sec)-|cite\s)[^{}]*\}")
_ANCHOR = re.compile(r"\s*\{#([a-z][a-z0-9.-]*)\}\s*$")
_CAPTION = re.compile(r"^Table:\s*")
_SAFE_LINK = re.compile(r"(?:https://|mailto:)[^\s\\]+\Z", re.IGNORECASE)
_INLINE_IMAGE = re.compile(r"data:image/png;base64,[A-Za-z0-9+/=]+\Z")


def safe_link(href: str) -> bool:
    """True for the two kinds of address a client's copy may open: https and mailto."""
    return bool(_SAFE_LINK.match(href)) and not _FOLDED.search(href)


def parse_markdown(
    text: str,
    resolve_number: Callable[[str], Node] | None = None,
    images: Mapping[str, str] | None = None,
    field: Callable[[str], Node] | None = None,
) -> list[Node]:
    """Parse Markdown into block nodes of the document contract.

    `resolve_number` turns the id of a marked number into its `num` node; without it the id is printed as
    text. `images` maps an image's address (such as `attachment:plot.png`) to a `data:image/png;base64,` one;
    an image that resolves to nothing keeps an empty `src` and its `address`; one amid words follows their block. A heading may end in `{#sec-name}`; a paragraph
    `Table: caption {#tab-name}` beside a table is its caption.

    With `field`, each `{…}` of the prose becomes the node it returns, `^[…]` a footnote, `{{` and `}}` braces; code and
    `$formulas$` are left alone. Without it braces are text.
    """
    reader = _Reader(resolve_number, images or {})
    parser = MarkdownIt("js-default").enable("table").disable("strikethrough")
    if field is not None:
        _read_fields(parser, reader, field)
    # The parser refuses odd schemes before we see them; all of them are judged in one place, `safe_link`.
    parser.validateLink = lambda url: True  # type: ignore[method-assign]
    return reader.blocks(SyntaxTreeNode(parser.parse(reader.fold(text))))


def _read_fields(parser: MarkdownIt, reader: _Reader, field: Callable[[str], Node]) -> None:
    """Teach the parser `{field}` and `^[note]`: where its own rules see code, these are never asked."""

    def braces(state: StateInline, silent: bool) -> bool:
        match = _FIELD.match(state.src, state.pos, state.posMax)
        if match is None:
            return False
        if not silent:
            state.pending += match[0][0] if match[1] is None else reader.mark(field(" ".join(match[1].split())))
        state.pos = match.end()
        return True

    def formula(state: StateInline, silent: bool) -> bool:
        match = _MATH.match(state.src, state.pos, state.posMax)
        if match is None or _FIGURE_ID.search(match[0]):  # two amounts of dollars, with figures between them
            return False
        if not silent:
            state.pending += match[0]
        state.pos = match.end()
        return True

    def note(state: StateInline, silent: bool) -> bool:
        if not state.src.startswith("^[", state.pos):
            return False
        start, limit = state.pos, state.posMax
        end = state.md.helpers.parseLinkLabel(state, start + 1)
        if end < 0:
            return False
        if not silent:
            state.pending += FOOTNOTE[0]
            state.pos, state.posMax = start + 2, end
            state.md.inline.tokenize(state)
            state.pending += FOOTNOTE[1]
        state.pos, state.posMax = end + 1, limit
        return True

    for name, rule in (("braces", braces), ("formula", formula), ("note", note)):
        parser.inline.ruler.before("emphasis", name, rule)


class _Reader:
    """One parse: the folded spans, and the walk from markdown-it's tree to our nodes."""

    def __init__(self, resolve_number: Callable[[str], Node] | None, images: Mapping[str, str]) -> None:
        self._resolve = resolve_number
        self._images = images
        self._spans: list[Node] = []
        self._amid: list[Node] = []
        """Images met amid words: the document has a place for them only behind the block."""

    def fold(self, text: str) -> str:
        """Replace every marked span by one private character that stands for it."""

        def keep(match: re.Match[str]) -> str:
            number, reference, citation = match.groups()
            if number is not None:
                node = self._number(number)
            elif reference is not None:
                node = {"t": "ref", "id": reference}
            else:
                node = {"t": "cite", "ids": [i.strip() for i in citation.split(",") if i.strip()]}
            return self.mark(node)

        return _SPANS.sub(keep, _RESERVED.sub("\ufffd", text))

    def mark(self, node: Node) -> str:
        """The private character that stands for a node from now on."""
        if len(self._spans) > _MOST_FOLDS:
            raise ValueError("too many marked spans in one piece of Markdown")
        self._spans.append(node)
        return chr(_FIRST_FOLD + len(self._spans) - 1)

    def _number(self, number_id: str) -> Node:
        return self._resolve(number_id) if self._resolve else {"t": "text", "v": number_id}

    # ---- blocks

    def blocks(self, parent: SyntaxTreeNode) -> list[Node]:
        nodes: list[Node] = []
        behind: dict[int, list[Node]] = {}
        for child in parent.children:
            made = self._block(child)
            amid, self._amid = self._amid, []
            if made:
                behind[id(made[-1])] = amid
            nodes += made or amid
        shown = [image for node in _adopt_captions(nodes) for image in (node, *behind.pop(id(node), ()))]
        return [*shown, *(image for amid in behind.values() for image in amid)]

    def _block(self, tree: SyntaxTreeNode) -> list[Node]:
        kind = tree.type
        if kind == "paragraph":
            return self._paragraph(tree)
        if kind == "heading":
            return [_heading(int(tree.tag[1:]), self._inline_of(tree))]
        if kind in ("bullet_list", "ordered_list"):
            items = [self.blocks(item) for item in tree.children]
            return [{"t": "ul" if kind == "bullet_list" else "ol", "items": items}]
        if kind == "blockquote":
            return [{"t": "quote", "c": self.blocks(tree)}]
        if kind in ("fence", "code_block"):
            return [{"t": "pre", "v": self._unfold(tree.content).rstrip("\n")}]
        if kind == "table":
            return [self._table(tree)]
        return []  # a thematic break says nothing a heading does not

    def _paragraph(self, tree: SyntaxTreeNode) -> list[Node]:
        inline = tree.children[0].children if tree.children else []
        if inline and all(child.type in ("image", "softbreak") for child in inline):
            return [self._image(child) for child in inline if child.type == "image"]
        nodes = self._inline_of(tree)
        return [{"t": "p", "c": nodes}] if nodes else []

    def _image(self, tree: SyntaxTreeNode) -> Node:
        address = str(tree.attrs.get("src", ""))
        source = self._images.get(address, address)
        words = _join(_close_notes(self._inline(tree.children)))
        node: Node = {"t": "image", "src": "", "alt": plain_text(words)}
        node |= {"src": source} if _INLINE_IMAGE.match(source) else {"address": self._unfold(address)}
        # The gate reads the nodes where there are any: a number of the ledger is no bare one.
        return {**node, "alt_nodes": words} if any(word["t"] == "num" for word in words) else node

    def _table(self, tree: SyntaxTreeNode) -> Node:
        head, *bodies = tree.children
        columns = []
        for cell in head.children[0].children:
            align = "right" if "right" in str(cell.attrs.get("style", "")) else "left"
            columns.append({"label": self._inline_of(cell), "unit": "", "align": align})
        rows = [
            {"cells": [self._inline_of(cell) for cell in row.children], "role": "normal"}
            for body in bodies
            for row in body.children
        ]
        return {"t": "datatable", "id": "", "caption": [], "columns": columns, "rows": rows, "note": []}

    # ---- inline

    def _inline_of(self, tree: SyntaxTreeNode) -> list[Node]:
        flat = [n for child in tree.children for n in self._inline(child.children or [child])]
        return _join(_close_notes(flat))

    def _inline(self, trees: list[SyntaxTreeNode]) -> list[Node]:
        nodes: list[Node] = []
        for tree in trees:
            nodes.extend(self._one(tree))
        return nodes

    def _one(self, tree: SyntaxTreeNode) -> list[Node]:
        kind = tree.type
        if kind in ("text", "text_special", "html_inline"):
            return self._split(tree.content, "text")
        if kind == "code_inline":
            return self._split(tree.content, "code")
        if kind == "softbreak":
            return [{"t": "text", "v": " "}]
        if kind == "hardbreak":
            return [{"t": "br"}]
        if kind in ("strong", "em"):
            return [{"t": kind, "c": _join(_close_notes(self._inline(tree.children)))}]
        if kind == "link":
            children = _join(_close_notes(self._inline(tree.children)))
            href = str(tree.attrs.get("href", ""))
            return [{"t": "link", "href": href, "c": children}] if children and safe_link(href) else children
        if kind == "image":
            self._amid.append(self._image(tree))
            return []
        return self._inline(tree.children)

    def _split(self, content: str, kind: str) -> list[Node]:
        nodes: list[Node] = []
        for piece in _FOLDED.split(content):
            if not piece:
                continue
            if piece in FOOTNOTE:
                nodes.append({"t": "note-open" if piece == FOOTNOTE[0] else "note-close"})
            elif _RESERVED.fullmatch(piece):
                nodes.append(self._spans[ord(piece) - _FIRST_FOLD])
            else:
                nodes.append({"t": kind, "v": piece})
        return nodes

    def _unfold(self, content: str) -> str:
        """The same text where no inline node can stand (code blocks, alt text)."""
        return "".join(plain_text([node]) for node in self._split(content, "text"))


def plain_text(nodes: list[Node]) -> str:
    """The bare words of inline nodes; footnotes and citations are left out."""
    words = []
    for node in nodes:
        kind = node["t"]
        if kind in ("text", "code"):
            words.append(node["v"])
        elif kind == "num":
            words.append(node["text"])
        elif kind in ("strong", "em", "link"):
            words.append(plain_text(node["c"]))
        elif kind == "br":
            words.append(" ")
        elif kind == "ref":
            words.append(node.get("text") or node.get("id", ""))
    return "".join(words)


def _heading(level: int, nodes: list[Node]) -> Node:
    """A heading; a trailing `{#sec-name}` becomes its id."""
    anchor = ""
    if nodes and nodes[-1]["t"] == "text" and (match := _ANCHOR.search(nodes[-1]["v"])):
        anchor = match[1]
        nodes = [*nodes[:-1], {"t": "text", "v": nodes[-1]["v"][: match.start()]}]
    return {"t": "h", "level": min(level, 3), "c": nodes, "id": anchor}


def _adopt_captions(nodes: list[Node]) -> list[Node]:
    """Give each table the `Table: ...` paragraph that stands right after or right before it."""
    result: list[Node] = []
    for node in nodes:
        if result and _is_caption(node) and result[-1]["t"] == "datatable" and not result[-1]["caption"]:
            _caption(result[-1], node)
        elif result and node["t"] == "datatable" and _is_caption(result[-1]):
            _caption(node, result.pop())
            result.append(node)
        else:
            result.append(node)
    return result


def _is_caption(node: Node) -> bool:
    first = node["c"][0] if node["t"] == "p" and node["c"] else {"t": ""}
    return first["t"] == "text" and bool(_CAPTION.match(first["v"]))


def _caption(table: Node, paragraph: Node) -> None:
    heading = _heading(1, paragraph["c"])
    first, *rest = heading["c"]
    table["caption"] = [{"t": "text", "v": _CAPTION.sub("", first["v"])}, *rest]
    table["id"] = heading["id"]


def _close_notes(flat: list[Node]) -> list[Node]:
    """Gather what stands between the footnote marks; a mark without its partner is dropped."""
    result: list[Node] = []
    inside: list[Node] | None = None
    for node in flat:
        if node["t"] == "note-open":
            inside = [] if inside is None else inside
        elif node["t"] == "note-close":
            if inside:
                result.append({"t": "note", "c": _join(inside)})
            inside = None
        else:
            (result if inside is None else inside).append(node)
    return result + (inside or [])


def _join(nodes: list[Node]) -> list[Node]:
    """Merge neighbouring text nodes, so that equal prose gives equal nodes."""
    merged: list[Node] = []
    for node in nodes:
        if merged and node["t"] == merged[-1]["t"] == "text":
            merged[-1] = {"t": "text", "v": merged[-1]["v"] + node["v"]}
        else:
            merged.append(node)
    return merged
