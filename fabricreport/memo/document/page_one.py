"""What page one of a memo holds, counted as a reader counts, and the most that one minute has room for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from fabricreport.blocks.gate import MONTHS, lines_of
from fabricreport.blocks.nodes import DataTable, Figure, GlanceTile, Inline, Num, plain_text, walk
from fabricreport.memo.document.document import Document

MOST_WORDS, MOST_NUMBERS, MOST_PICTURES, TILES, MOST_OF_TILE = 450, 40, 1, 4, 12
"""Words, numbers and pictures of page one at most; its tiles; words of a tile's head, and of the line beneath."""
_WORD = re.compile(r"\S*\w\S*")
_DATE = re.compile(rf"\b[0-3]?\d\s(?:{MONTHS})\b|\b(?:{MONTHS})\s20\d\d\b")
"""A day, with its year or without, or a month."""


@dataclass(frozen=True)
class PageOne:
    """The counts of a page one: a date is one number, as `95 of 100` is; names such as 400G and Table 1 are none.

    `tiles` has the words of each tile's head and of its line; `tables` the rows of each table.
    """

    words: int
    numbers: int
    pictures: int
    tiles: tuple[tuple[int, int], ...]
    tables: tuple[int, ...]


def page_one(document: Document) -> PageOne:
    """The counts of the memo's page one, the texts within its picture left out."""
    front = document.front
    shown = (*((document.glance,) if document.glance else ()), *document.first)
    nodes = list(walk(shown))
    texts = [front.title, f"{front.kind} for {front.client}", front.date_text, f"to {front.to}"]
    lines = [words for node in nodes for where, words in lines_of(node) if where != "alt text"]
    texts += [plain_text(words) for words in lines]
    tiles = tuple(
        (_words(tile.label) + _words(tile.value), _words(tile.note)) for tile in nodes if isinstance(tile, GlanceTile)
    )
    numbers = sum(isinstance(node, Num) for words in lines for node in walk(words))
    return PageOne(
        words=sum(len(_WORD.findall(text)) for text in texts),
        numbers=numbers + sum(len(_DATE.findall(text)) for text in texts),
        pictures=sum(isinstance(node, Figure) for node in nodes),
        tiles=tiles,
        tables=tuple(len(node.rows) for node in nodes if isinstance(node, DataTable)),
    )


def page_one_remarks(document: Document) -> Iterator[str]:
    """What page one has too much of, with what to do about it; nothing of a memo without a body of its own."""
    if not document.spined:
        return
    found = page_one(document)
    for count, most, what in (
        (found.words, MOST_WORDS, "words"),
        (found.numbers, MOST_NUMBERS, "numbers"),
        (found.pictures, MOST_PICTURES, "pictures"),
    ):
        if count > most:
            yield f"page one has {count} {what}, more than {most}: move a paragraph behind the first heading."
    for number, (head, line) in enumerate(found.tiles, 1):
        for count, what in ((head, "head"), (line, "line")):
            if count > MOST_OF_TILE:
                yield f"page one: the {what} of tile {number} has {count} words, more than {MOST_OF_TILE}: shorten it."


def _words(words: tuple[Inline, ...]) -> int:
    return len(_WORD.findall(plain_text(words)))
