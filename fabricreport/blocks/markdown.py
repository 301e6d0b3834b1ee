"""Markdown to document nodes, for prose blocks and for analysts' ordinary Markdown cells.

Raw HTML is off, so everything a person types stays text. Two rules are added to Markdown's own, `{field}` and `^[footnote]`:
markdown-it's own rules never cut such a span, and what it sees as code or as an address holds none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.tree import SyntaxTreeNode

from fabricreport.blocks.nodes import (
    Align,
    BlockQuote,
    Break,
    BulletList,
    Code,
    DataTable,
    Em,
    Flow,
    Heading,
    Image,
    Inline,
    Link,
    Note,
    Num,
    OrderedList,
    Paragraph,
    Preformatted,
    Strong,
    TableColumn,
    TableRow,
    Text,
    plain_text,
)

_FIELD = re.compile(r"\{\{|\}\}|\{(?!#)([^{}]*)\}")
_MATH = re.compile(r"\$\$.+?\$\$|\$(?=\S)[^$]*?(?<=\S)\$(?!\d)", re.DOTALL)
_FIGURE_ID = re.compile(r"\{\s*(?:[a-z][a-z0-9_]*[.:]|(?:fig|tab|sec)-|cite\s)[^{}]*\}")
_ANCHOR = re.compile(r"\s*\{#([a-z][a-z0-9.-]*)\}\s*$")
_CAPTION = re.compile(r"^Table:\s*")
_SAFE_LINK = re.compile(r"(?:https://|mailto:)[^\s\\]+\Z", re.IGNORECASE)
_FILL = "field"
"""Whoever fills the fields of a text, in the environment in which it is parsed; the kind of token that a filled one is."""
_INLINE_IMAGE = re.compile(r"data:image/png;base64,[A-Za-z0-9+/=]+\Z")


def safe_link(href: str) -> bool:
    """True for the two kinds of address a client's copy may open: https and mailto."""
    return bool(_SAFE_LINK.match(href))


def parse_markdown(
    text: str, field: Callable[[str], Inline] | None = None, images: Mapping[str, str] | None = None
) -> tuple[Flow, ...]:
    """Parse Markdown into block nodes.

    `images` maps an image's address (such as `attachment:plot.png`) to a `data:image/png;base64,` one;
    an image that resolves to nothing keeps an empty `src` and its `address`; one amid words follows their block. A heading may end in `{#sec-name}`; a paragraph
    `Table: caption {#tab-name}` beside a table is its caption.

    With `field`, each `{…}` of the prose becomes the node it returns, `^[…]` a footnote, `{{` and `}}` braces; code and
    `$formulas$` are left alone. Without it braces are text.
    """
    tree = SyntaxTreeNode(_parser(field is not None).parse(text, {_FILL: field}))
    return _Reader(images or {}).blocks(tree)


@cache
def _parser(fields: bool) -> MarkdownIt:
    """The parser, with or without fields; what belongs to one text stands in the environment that it is parsed in."""
    parser = MarkdownIt("js-default").enable("table").disable("strikethrough")
    if fields:
        _read_fields(parser)
    # The parser refuses odd schemes before we see them; all of them are judged in one place, `safe_link`.
    parser.validateLink = lambda url: True  # type: ignore[method-assign]
    return parser


def _read_fields(parser: MarkdownIt) -> None:
    """Teach the parser `{field}` and `^[note]`: where its own rules see code, these are never asked."""

    def braces(state: StateInline, silent: bool) -> bool:
        match = _FIELD.match(state.src, state.pos, state.posMax)
        if match is None:
            return False
        if match[1] is None and not silent:
            state.pending += match[0][0]
        elif not silent:
            state.push(_FILL, "", 0).meta[_FILL] = state.env[_FILL](" ".join(match[1].split()))
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
            state.push("note_open", "", 1)
            state.pos, state.posMax = start + 2, end
            state.md.inline.tokenize(state)
            state.push("note_close", "", -1)
        state.pos, state.posMax = end + 1, limit
        return True

    for name, rule in (("braces", braces), ("formula", formula), ("note", note)):
        parser.inline.ruler.before("emphasis", name, rule)


class _Reader:
    """One parse: the walk from markdown-it's tree to our nodes."""

    def __init__(self, images: Mapping[str, str]) -> None:
        self._images = images
        self._amid: list[Image] = []
        """Images met amid words: the document has a place for them only behind the block."""

    # ---- blocks

    def blocks(self, parent: SyntaxTreeNode) -> tuple[Flow, ...]:
        groups: list[tuple[Flow, ...]] = []
        for child in parent.children:
            made = self._block(child)
            amid, self._amid = self._amid, []
            # What stands amid the words of a block follows that block, a caption included, whatever becomes of it.
            groups += [*zip(made[:-1]), (*made[-1:], *amid)]
        return tuple(chain.from_iterable(_adopt_captions(filter(None, groups))))

    def _block(self, tree: SyntaxTreeNode) -> list[Flow]:
        kind = tree.type
        if kind == "paragraph":
            return self._paragraph(tree)
        if kind == "heading":
            return [_heading(int(tree.tag[1:]), self._inline(tree.children))]
        if kind in ("bullet_list", "ordered_list"):
            items = tuple(self.blocks(item) for item in tree.children)
            return [BulletList(items) if kind == "bullet_list" else OrderedList(items)]
        if kind == "blockquote":
            return [BlockQuote(self.blocks(tree))]
        if kind in ("fence", "code_block"):
            return [Preformatted(tree.content.rstrip("\n"))]
        if kind == "table":
            return [self._table(tree)]
        return []  # a thematic break says nothing a heading does not

    def _paragraph(self, tree: SyntaxTreeNode) -> list[Flow]:
        inline = tree.children[0].children if tree.children else []
        if inline and all(child.type in ("image", "softbreak") for child in inline):
            return [self._image(child) for child in inline if child.type == "image"]
        nodes = self._inline(tree.children)
        return [Paragraph(nodes)] if nodes else []

    def _image(self, tree: SyntaxTreeNode) -> Image:
        address = str(tree.attrs.get("src", ""))
        source = self._images.get(address, address)
        words = self._inline(tree.children)
        # The gate reads the nodes where there are any: a number of the ledger is no bare one.
        told = words if any(isinstance(word, Num) for word in words) else ()
        if _INLINE_IMAGE.match(source):
            return Image(source, plain_text(words), alt_nodes=told)
        return Image("", plain_text(words), address, told)

    def _table(self, tree: SyntaxTreeNode) -> DataTable:
        head, *bodies = tree.children
        columns = []
        for cell in head.children[0].children:
            align: Align = "right" if "right" in str(cell.attrs.get("style", "")) else "left"
            columns.append(TableColumn(self._inline(cell.children), "", align))
        rows = tuple(
            TableRow(tuple(self._inline(cell.children) for cell in row.children), "normal")
            for body in bodies
            for row in body.children
        )
        return DataTable("", (), tuple(columns), rows, ())

    # ---- inline

    def _inline(self, trees: Iterable[SyntaxTreeNode]) -> tuple[Inline, ...]:
        """Inline nodes, neighbouring texts made one, so that equal prose gives equal nodes."""
        merged: list[Inline] = []
        for node in chain.from_iterable(map(self._one, trees)):
            last = merged[-1] if merged else None
            if isinstance(node, Text) and isinstance(last, Text):
                merged[-1] = Text(last.words + node.words)
            else:
                merged.append(node)
        return tuple(merged)

    def _one(self, tree: SyntaxTreeNode) -> Sequence[Inline]:
        kind = tree.type
        if kind in ("text", "text_special", "html_inline", "code_inline"):
            return [Code(tree.content) if kind == "code_inline" else Text(tree.content)] if tree.content else []
        if kind == _FILL:
            return [tree.meta[_FILL]]
        if kind == "softbreak":
            return [Text(" ")]
        if kind == "hardbreak":
            return [Break()]
        if kind == "image":
            self._amid.append(self._image(tree))
            return []
        children = self._inline(tree.children)
        if kind == "link":
            href = str(tree.attrs.get("href", ""))
            return [Link(href, children)] if children and safe_link(href) else children
        if kind == "note":
            return [Note(children)] if children else []
        if kind in ("strong", "em"):
            return [Strong(children) if kind == "strong" else Em(children)]
        return children


def _heading(level: int, nodes: tuple[Inline, ...]) -> Heading:
    """A heading; a trailing `{#sec-name}` becomes its id."""
    last = nodes[-1] if nodes else None
    match = _ANCHOR.search(last.words) if isinstance(last, Text) else None
    if not isinstance(last, Text) or match is None:
        return Heading(min(level, 3), nodes, "")
    return Heading(min(level, 3), (*nodes[:-1], Text(last.words[: match.start()])), match[1])


def _adopt_captions(groups: Iterable[tuple[Flow, ...]]) -> list[tuple[Flow, ...]]:
    """Give each table the `Table: ...` paragraph that stands right after or right before it.

    A group is a block and the images that follow it.
    """
    result: list[tuple[Flow, ...]] = []
    for node, *images in groups:
        before, *earlier = result[-1] if result else (None,)
        caption = _caption(node)
        if caption and isinstance(before, DataTable) and not before.caption:
            result[-1] = (replace(before, caption=caption.children, id=caption.id), *earlier, *images)
        elif isinstance(node, DataTable) and before is not None and (caption := _caption(before)):
            result[-1] = (replace(node, caption=caption.children, id=caption.id), *earlier, *images)
        else:
            result.append((node, *images))
    return result


def _caption(node: Flow) -> Heading | None:
    """The caption that a paragraph `Table: …` says, with its id; None for any other node."""
    first = node.children[0] if isinstance(node, Paragraph) and node.children else None
    if not isinstance(node, Paragraph) or not isinstance(first, Text) or not _CAPTION.match(first.words):
        return None
    return _heading(1, (Text(_CAPTION.sub("", first.words)), *node.children[1:]))
