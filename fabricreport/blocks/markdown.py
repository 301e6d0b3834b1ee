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
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.tree import SyntaxTreeNode

from fabricreport.blocks.nodes import (
    Align,
    BlockQuote,
    Break,
    BulletList,
    Cite,
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
    Ref,
    Strong,
    TableColumn,
    TableRow,
    Text,
    plain_text,
)

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
_READER = "reader"
"""Whoever reads a text, in the environment in which it is parsed."""
_INLINE_IMAGE = re.compile(r"data:image/png;base64,[A-Za-z0-9+/=]+\Z")


@dataclass(frozen=True)
class _Mark:
    """Where a footnote opens or closes among the words of a line."""

    opens: bool


_Flat = Inline | _Mark


def safe_link(href: str) -> bool:
    """True for the two kinds of address a client's copy may open: https and mailto."""
    return bool(_SAFE_LINK.match(href)) and not _FOLDED.search(href)


def parse_markdown(
    text: str,
    resolve_number: Callable[[str], Inline] | None = None,
    images: Mapping[str, str] | None = None,
    field: Callable[[str], Inline] | None = None,
) -> tuple[Flow, ...]:
    """Parse Markdown into block nodes.

    `resolve_number` turns the id of a marked number into its node; without it the id is printed as
    text. `images` maps an image's address (such as `attachment:plot.png`) to a `data:image/png;base64,` one;
    an image that resolves to nothing keeps an empty `src` and its `address`; one amid words follows their block. A heading may end in `{#sec-name}`; a paragraph
    `Table: caption {#tab-name}` beside a table is its caption.

    With `field`, each `{…}` of the prose becomes the node it returns, `^[…]` a footnote, `{{` and `}}` braces; code and
    `$formulas$` are left alone. Without it braces are text.
    """
    reader = _Reader(resolve_number, images or {}, field)
    return reader.blocks(SyntaxTreeNode(_parser(field is not None).parse(reader.fold(text), {_READER: reader})))


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
        if not silent:
            state.pending += match[0][0] if match[1] is None else state.env[_READER].field(" ".join(match[1].split()))
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

    def __init__(
        self,
        resolve_number: Callable[[str], Inline] | None,
        images: Mapping[str, str],
        field: Callable[[str], Inline] | None,
    ) -> None:
        self._resolve = resolve_number
        self._field = field
        self._images = images
        self._spans: list[Inline] = []
        self._amid: list[Image] = []
        """Images met amid words: the document has a place for them only behind the block."""

    def fold(self, text: str) -> str:
        """Replace every marked span by one private character that stands for it."""

        def keep(match: re.Match[str]) -> str:
            number, reference, citation = match.groups()
            if number is not None:
                return self.mark(self._number(number))
            if reference is not None:
                return self.mark(Ref(reference))
            return self.mark(Cite(tuple(i.strip() for i in citation.split(",") if i.strip())))

        return _SPANS.sub(keep, _RESERVED.sub("\ufffd", text))

    def field(self, written: str) -> str:
        """The private character of a field of the prose."""
        assert self._field is not None, "the parser with fields is asked only for text that has some"
        return self.mark(self._field(written))

    def mark(self, node: Inline) -> str:
        """The private character that stands for a node from now on."""
        if len(self._spans) > _MOST_FOLDS:
            raise ValueError("too many marked spans in one piece of Markdown")
        self._spans.append(node)
        return chr(_FIRST_FOLD + len(self._spans) - 1)

    def _number(self, number_id: str) -> Inline:
        return self._resolve(number_id) if self._resolve else Text(number_id)

    # ---- blocks

    def blocks(self, parent: SyntaxTreeNode) -> tuple[Flow, ...]:
        groups: list[tuple[Flow, ...]] = []
        for child in parent.children:
            made = self._block(child)
            amid, self._amid = self._amid, []
            # What stands amid the words of a block follows that block, a caption included, whatever becomes of it.
            groups += [*((node,) for node in made[:-1]), (*made[-1:], *amid)]
        return tuple(node for group in _adopt_captions([g for g in groups if g]) for node in group)

    def _block(self, tree: SyntaxTreeNode) -> list[Flow]:
        kind = tree.type
        if kind == "paragraph":
            return self._paragraph(tree)
        if kind == "heading":
            return [_heading(int(tree.tag[1:]), self._inline_of(tree))]
        if kind in ("bullet_list", "ordered_list"):
            items = tuple(self.blocks(item) for item in tree.children)
            return [BulletList(items) if kind == "bullet_list" else OrderedList(items)]
        if kind == "blockquote":
            return [BlockQuote(self.blocks(tree))]
        if kind in ("fence", "code_block"):
            return [Preformatted(self._unfold(tree.content).rstrip("\n"))]
        if kind == "table":
            return [self._table(tree)]
        return []  # a thematic break says nothing a heading does not

    def _paragraph(self, tree: SyntaxTreeNode) -> list[Flow]:
        inline = tree.children[0].children if tree.children else []
        if inline and all(child.type in ("image", "softbreak") for child in inline):
            return [self._image(child) for child in inline if child.type == "image"]
        nodes = self._inline_of(tree)
        return [Paragraph(nodes)] if nodes else []

    def _image(self, tree: SyntaxTreeNode) -> Image:
        address = str(tree.attrs.get("src", ""))
        source = self._images.get(address, address)
        words = _join(_close_notes(self._inline(tree.children)))
        # The gate reads the nodes where there are any: a number of the ledger is no bare one.
        told = words if any(isinstance(word, Num) for word in words) else ()
        if _INLINE_IMAGE.match(source):
            return Image(source, plain_text(words), alt_nodes=told)
        return Image("", plain_text(words), self._unfold(address), told)

    def _table(self, tree: SyntaxTreeNode) -> DataTable:
        head, *bodies = tree.children
        columns = []
        for cell in head.children[0].children:
            align: Align = "right" if "right" in str(cell.attrs.get("style", "")) else "left"
            columns.append(TableColumn(self._inline_of(cell), "", align))
        rows = tuple(
            TableRow(tuple(self._inline_of(cell) for cell in row.children), "normal")
            for body in bodies
            for row in body.children
        )
        return DataTable("", (), tuple(columns), rows, ())

    # ---- inline

    def _inline_of(self, tree: SyntaxTreeNode) -> tuple[Inline, ...]:
        flat = [n for child in tree.children for n in self._inline(child.children or [child])]
        return _join(_close_notes(flat))

    def _inline(self, trees: list[SyntaxTreeNode]) -> list[_Flat]:
        return [node for tree in trees for node in self._one(tree)]

    def _one(self, tree: SyntaxTreeNode) -> Sequence[_Flat]:
        kind = tree.type
        if kind in ("text", "text_special", "html_inline"):
            return self._split(tree.content, Text)
        if kind == "code_inline":
            return self._split(tree.content, Code)
        if kind == "softbreak":
            return [Text(" ")]
        if kind == "hardbreak":
            return [Break()]
        if kind == "image":
            self._amid.append(self._image(tree))
            return []
        if kind not in ("strong", "em", "link"):
            return self._inline(tree.children)
        children = _join(_close_notes(self._inline(tree.children)))
        if kind == "link":
            href = str(tree.attrs.get("href", ""))
            return [Link(href, children)] if children and safe_link(href) else children
        return [Strong(children) if kind == "strong" else Em(children)]

    def _split(self, content: str, kind: type[Text] | type[Code]) -> list[_Flat]:
        nodes: list[_Flat] = []
        for piece in _FOLDED.split(content):
            if not piece:
                continue
            if piece in FOOTNOTE:
                nodes.append(_Mark(piece == FOOTNOTE[0]))
            elif _RESERVED.fullmatch(piece):
                nodes.append(self._spans[ord(piece) - _FIRST_FOLD])
            else:
                nodes.append(kind(piece))
        return nodes

    def _unfold(self, content: str) -> str:
        """The same text where no inline node can stand (code blocks, alt text)."""
        return plain_text(node for node in self._split(content, Text) if not isinstance(node, _Mark))


def _heading(level: int, nodes: tuple[Inline, ...]) -> Heading:
    """A heading; a trailing `{#sec-name}` becomes its id."""
    last = nodes[-1] if nodes else None
    match = _ANCHOR.search(last.words) if isinstance(last, Text) else None
    if not isinstance(last, Text) or match is None:
        return Heading(min(level, 3), nodes, "")
    return Heading(min(level, 3), (*nodes[:-1], Text(last.words[: match.start()])), match[1])


def _adopt_captions(groups: list[tuple[Flow, ...]]) -> list[tuple[Flow, ...]]:
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


def _close_notes(flat: Iterable[_Flat]) -> list[Inline]:
    """Gather what stands between the footnote marks; a mark without its partner is dropped."""
    result: list[Inline] = []
    inside: list[Inline] | None = None
    for node in flat:
        if isinstance(node, _Mark):
            if not node.opens and inside:
                result.append(Note(_join(inside)))
            if not node.opens or inside is None:
                inside = [] if node.opens else None
        else:
            (result if inside is None else inside).append(node)
    return result + (inside or [])


def _join(nodes: Iterable[Inline]) -> tuple[Inline, ...]:
    """Merge neighbouring text nodes, so that equal prose gives equal nodes."""
    merged: list[Inline] = []
    for node in nodes:
        last = merged[-1] if merged else None
        if isinstance(node, Text) and isinstance(last, Text):
            merged[-1] = Text(last.words + node.words)
        else:
            merged.append(node)
    return tuple(merged)
