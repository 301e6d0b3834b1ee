"""The memo's language: words it does not use, sentences too long, semicolons and labels run into the text.

A word that a reader would misread stops a client copy (`language_faults`); the rest is told when a build ends
(`language_remarks`). Both read the body and the printed annexes. What others are called, or said, is data and left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import groupby
from math import ceil

from fabricreport.blocks.nodes import BulletList, Inline, Num, OrderedList, Paragraph, Strong, plain_text, walk
from fabricreport.books.glossary import Instead, glossary_book
from fabricreport.memo.document.gather import Gathered, Piece, parted
from fabricreport.memo.document.measures import LONGEST, SAID, Sentence, measured, own_nodes, sentences_of

SEMICOLONS = "semicolons on"
"""What a remark on semicolons says."""
_SHOWN = 90
_NAME, _NUMBER = "\ue011", "\ue010"
_LABEL = 3
"""Words of the longest opening that can be a label."""
_OPENING = re.compile(r"\W*([^.:!?]+)[.:](?:\s|$)")


def language_faults(found: Gathered) -> Iterator[str]:
    """Words that stop a client copy, each with its cell, its sentence and what to write."""
    return _words_found(found, stops=True)


def language_remarks(found: Gathered) -> Iterator[str]:
    """What a copy may be published with, and should not: plain words that have a better, length, semicolons, labels."""
    yield from _words_found(found, stops=False)
    printed = parted(found.pieces).printed
    for sentence in sentences_of(printed):
        if sentence.length > LONGEST:
            yield f"{sentence.where}: {sentence.length} words in one sentence, more than {LONGEST}: “{_cut(sentence.words)}”. Make two of it."
    yield from _semicolons(printed, found.names)
    for piece in printed:
        for label in _labels(piece):
            yield f"{piece.where}: “{label}” is a label run into the text: make a sentence of it."


def _words_found(found: Gathered, *, stops: bool) -> Iterator[str]:
    for sentence in sentences_of(parted(found.pieces).printed, SAID):
        text = without_names(sentence, found.names)
        for instead in glossary_book().instead_of:
            if instead.stops is stops:
                for word in words_of(instead, text):
                    yield f"{sentence.where}: “{word}” in {sentence.kind}: “{_around(text, word)}”. Write instead: {instead.write}."


def words_of(instead: Instead, text: str) -> list[str]:
    """The words of an entry that a text uses, numbers of the ledger being masked in it; none where a phrase excuses them."""
    excused, banned = _patterns(instead)
    left = excused.sub(" ", text) if excused else text
    return [match[0].replace(_NUMBER, "…") for match in banned.finditer(left)]


@cache
def _patterns(instead: Instead) -> tuple[re.Pattern[str] | None, re.Pattern[str]]:
    return any_of(instead.unless) if instead.unless else None, any_of(instead.words)


def any_of(words: Iterable[str]) -> re.Pattern[str]:
    """What finds any of some words or phrases, the longest first, whole and in either case; `#` stands for a masked number."""
    ordered = sorted(words, key=lambda w: (-len(w), w))
    written = "|".join(re.escape(w).replace(r"\#", _NUMBER).replace(r"\ ", r"\s+") for w in ordered)
    return re.compile(rf"(?<![\w-])(?:{written})(?![\w-])", re.I)


def without_names(sentence: Sentence, names: Iterable[str]) -> str:
    """A sentence with its numbers and all names of the case masked: what is left are the memo's own words."""
    text, end = "", 0
    for quoted in sentence.quoted:
        text += sentence.words[end : quoted.start] + _NUMBER
        end = quoted.end
    text += sentence.words[end:]
    known = _names(frozenset(names))
    return known.sub(_NAME, text) if known else text


@cache
def _names(names: frozenset[str]) -> re.Pattern[str] | None:
    """The names that somebody bears: a word in small letters is one of ours, whatever quoted it."""
    borne = [name for name in names if re.search(r"[A-Z0-9]", name)]
    ordered = "|".join(re.escape(name) for name in sorted(borne, key=lambda n: (-len(n), n)))
    return re.compile(rf"(?<!\w)(?:{ordered})(?!\w)") if borne else None


def _semicolons(printed: Iterable[Piece], names: Iterable[str]) -> Iterator[str]:
    """Sections with more semicolons than pages of prose."""
    for section, pieces in groupby(printed, key=lambda p: p.section):
        sentences = sentences_of(pieces)
        found = [s for s in sentences if ";" in without_names(s, names)]
        count = sum(without_names(s, names).count(";") for s in found)
        pages = max(1, ceil(measured(sentences).pages))
        if count > pages:
            where = ", ".join(dict.fromkeys(s.where for s in found))
            yield f"{section}: {count} {SEMICOLONS} {pages} pages of prose, more than one a page ({where}). Make sentences of it."


def _labels(piece: Piece) -> Iterator[str]:
    """What opens a paragraph and is no sentence: a few words without a verb, a full stop or a colon behind them."""
    nodes = list(own_nodes(piece.nodes))
    listed = {id(n) for each in nodes if isinstance(each, BulletList | OrderedList) for n in walk(each)}
    for node in nodes:
        if isinstance(node, Paragraph) and id(node) not in listed and (label := _label(node.children)):
            yield label


def _label(words: tuple[Inline, ...]) -> str:
    text = plain_text(words)
    opening = _OPENING.match(text)
    if opening is None or len(text.split()) == len(opening[1].split()):
        return ""
    book, said = glossary_book(), opening[1].strip()
    few = len(said.split()) <= _LABEL and not {w.casefold() for w in said.split()} & {*book.verbs}
    bold = isinstance(words[0], Strong) and any(f"{said} ".startswith(f"{lead} ") for lead in book.leads)
    figure = any(isinstance(n, Num) and n.text in opening[0] for n in walk(words))
    return said if few and not bold and not figure else ""


def _around(text: str, word: str) -> str:
    shown = text.replace(_NUMBER, "…").replace(_NAME, "…")
    found = any_of((word,)).search(shown)
    at = max(0, (found.start() if found else 0) - _SHOWN // 2)
    return shown[at : at + _SHOWN].strip()


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1].rstrip()}…"
