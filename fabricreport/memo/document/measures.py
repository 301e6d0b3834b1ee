"""The sentences of a memo as they are printed, and how long they are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from fabricreport.blocks.gate import lines_of
from fabricreport.blocks.nodes import BlockQuote, Cite, Code, Inline, Node, Note, Num, Ref, Text, flat, walk
from fabricreport.memo.document.gather import Piece

LONGEST = 30
"""Words of the longest sentence that a reader takes in at once."""
WORDS_OF_A_PAGE = 450
"""Words of one printed page of prose, where nobody has counted its pages."""
READ = frozenset(["prose", "caption", "note", "tile note"])
"""What is read as sentences: no heading, no table cell, no text for those who cannot see a picture."""
SAID = READ | frozenset(["heading", "title", "subtitle", "tile label", "tile value", "alt text"])
"""All that the memo says in words of its own; cells of tables hold names and data."""

_END = re.compile(r"(?:(?<=[.!?])|(?<=[.!?][”\")’]))(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\bvs\.)(?<!\bNo\.)\s+(?=[^a-z\s])")
_WORD = re.compile(r"\S*\w\S*")


@dataclass(frozen=True)
class Quoted:
    """A number of the ledger in a sentence, with the place of its first and behind its last character."""

    number: Num
    start: int
    end: int


@dataclass(frozen=True)
class Sentence:
    """A sentence as printed: what kind of text it stands in, which cell wrote it, the numbers in it."""

    words: str
    kind: str
    where: str
    section: str
    quoted: tuple[Quoted, ...] = ()

    @property
    def length(self) -> int:
        """How many words it has; a number with its unit counts as printed."""
        return len(_WORD.findall(self.words))


@dataclass(frozen=True)
class Measures:
    """How long the sentences of a part are, and how many semicolons stand on a page of it."""

    count: int
    words: int
    longest: int
    over: int
    semicolons: int
    pages: float

    @property
    def mean(self) -> float:
        """Words of a sentence on average; 0 without any."""
        return self.words / self.count if self.count else 0.0


def measured(sentences: Iterable[Sentence], pages: float | None = None) -> Measures:
    """The measures of some sentences; without a count of their pages they are taken as pages of prose alone."""
    found = list(sentences)
    words = sum(s.length for s in found)
    return Measures(
        count=len(found),
        words=words,
        longest=max((s.length for s in found), default=0),
        over=sum(s.length > LONGEST for s in found),
        semicolons=sum(s.words.count(";") for s in found),
        pages=words / WORDS_OF_A_PAGE if pages is None else pages,
    )


def sentences_of(pieces: Iterable[Piece], kinds: frozenset[str] = READ) -> list[Sentence]:
    """Every sentence of the pieces in reading order; what others said (a block quote) is theirs, and left out.

    A footnote is read behind the line that it stands in, a citation not at all.
    """
    return [sentence for piece in pieces for sentence in _of_piece(piece, kinds)]


def _of_piece(piece: Piece, kinds: frozenset[str]) -> Iterator[Sentence]:
    for node in own_nodes(piece.nodes):
        for kind, words in lines_of(node):
            if kind in kinds:
                for line in (words, *(n.children for n in walk(words) if isinstance(n, Note))):
                    yield from sentences_in(line, kind, piece)


def own_nodes(nodes: Iterable[Node]) -> Iterator[Node]:
    """Every node but those inside a block quote."""
    everything = list(nodes)
    theirs = {id(n) for q in walk(everything) if isinstance(q, BlockQuote) for n in walk(q.children)}
    return (n for n in walk(everything) if id(n) not in theirs)


def sentences_in(line: Iterable[Inline], kind: str, piece: Piece) -> Iterator[Sentence]:
    """The sentences of one line of a piece."""
    text, quoted = "", []
    for node in flat(line):
        printed = node.text if isinstance(node, Num) else _printed(node)
        if isinstance(node, Num):
            quoted.append(Quoted(node, len(text), len(text) + len(printed)))
        text += printed
    ends = [m.span() for m in _END.finditer(text)]
    for start, end in zip([0, *(e[1] for e in ends)], [*(e[0] for e in ends), len(text)], strict=True):
        words = text[start:end]
        if _WORD.search(words):
            inside = tuple(Quoted(q.number, q.start - start, q.end - start) for q in quoted if start <= q.start < end)
            yield Sentence(words.rstrip(), kind, piece.where, piece.section, inside)


def _printed(node: Inline) -> str:
    if isinstance(node, Text | Code):
        return node.words
    if isinstance(node, Ref):
        return node.shown.capitalize() if node.shown == node.id else node.shown  # printed as Figure, Table or Section
    return "" if isinstance(node, Cite | Note) else " "
