"""The memo's language: its sentences as printed, the words it does not use, sentences too long, and which options one names.

A word that a reader would misread stops a client copy (`language_faults`); the rest is told when a build ends
(`language_remarks`). Both read the body and the printed annexes. What others are called, or said, is data and left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from math import ceil

from fabricreport.blocks.gate import lines_of
from fabricreport.blocks.nodes import (
    BlockQuote,
    BulletList,
    Cite,
    Code,
    Inline,
    Node,
    Note,
    Num,
    OrderedList,
    Paragraph,
    Ref,
    Strong,
    Text,
    flat,
    plain_text,
    walk,
)
from fabricreport.books.glossary import Instead, glossary_book
from fabricreport.memo.document.pieces import Gathered, Piece, parted

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
    left = any_of(instead.unless).sub(" ", text) if instead.unless else text
    return [match[0].replace(_NUMBER, "…") for match in any_of(instead.words).finditer(left)]


@cache
def any_of(words: tuple[str, ...] | frozenset[str]) -> re.Pattern[str]:
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
        pages = max(1, ceil(sum(s.length for s in sentences) / WORDS_OF_A_PAGE))
        if count > pages:
            where = ", ".join(dict.fromkeys(s.where for s in found))
            yield f"{section}: {count} semicolons on {pages} pages of prose, more than one a page ({where}). Make sentences of it."


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


Called = Mapping[str, Iterable[str]]
"""The names of each option, by its id."""
_LINKED = r"(?:\s+(?:on|with|for|that|of|an|a|the|one|hour|offer|run|in|both))*\s*"
"""Small words between what holds two options apart and the name of the second: `than one on`."""
_JOINED = re.compile(r"(?:’s)?\s*(?:,|and|or|/|&)\s*(?:and\s+|or\s+)?")


_POSSESSIVE = ("’s", "'s")
_LESS = "less"
_SUBTRACTED = re.compile(r"\s+(?:(?:that|those) (?:of|on|with)\s+)?")
"""What stands between `less` and an option that is taken off another."""


@dataclass(frozen=True)
class Mention:
    """An option's name in a sentence, and whether it is the one that another is held against."""

    option: str
    start: int
    end: int
    against: bool


@dataclass(frozen=True)
class Told:
    """What a word is said of: the `subject`, where the sentence names it, and the option that it is held against.

    `subtracts`: the one less the other, which says that the first has more.
    """

    subject: str | None
    against: str | None
    subtracts: bool
    start: int
    end: int


def mentions_in(sentence: Sentence, called: Called) -> list[Mention]:
    """Every option that a sentence names, in order; names within a number of the ledger are none."""
    names = {name.casefold(): option for option, each in called.items() for name in each}
    if not names:
        return []
    return [
        Mention(names[m[0].casefold()], m.start(), m.end(), _held_against(sentence.words[: m.start()]))
        for m in any_of(frozenset(names)).finditer(sentence.words)
        if not in_number(sentence, m.start())
    ]


def in_number(sentence: Sentence, place: int) -> bool:
    """Whether a place of a sentence lies within a number of the ledger."""
    return any(q.start <= place < q.end for q in sentence.quoted)


@cache
def _before() -> re.Pattern[str]:
    words = any_of(glossary_book().directions.against).pattern
    return re.compile(rf"{words}{_LINKED}$", re.I)


def _held_against(text: str) -> bool:
    return _before().search(text) is not None


def told_of(sentence: Sentence, word: re.Match[str], mentions: list[Mention]) -> Told | None:
    """The options that a word of direction is said of; None where the sentence names none, or several in one place."""
    before = [m for m in mentions if m.end <= word.start()]
    behind = [m for m in mentions if m.start >= word.end()]
    taken_off = _taken_off(sentence, word, behind)
    own, other = [m for m in before if not m.against], [m for m in behind if m.against]
    subject = own[-1] if own else None
    if _is_noun(word) and (subject is None or sentence.words[subject.end : word.start()].strip() not in _POSSESSIVE):
        subject = next((m for m in behind if not m.against), None)
    against = taken_off or (other[0] if other else next((m for m in reversed(before) if m.against), None))
    found = [m for m in (subject, against) if m]
    if not found or any(_in_a_row(sentence, m, mentions) for m in found):
        return None
    places = [word.start(), word.end(), *(m.start for m in found), *(m.end for m in found)]
    return Told(
        subject=subject.option if subject else None,
        against=against.option if against else None,
        subtracts=taken_off is not None,
        start=min(places),
        end=max(places),
    )


def _is_noun(word: re.Match[str]) -> bool:
    return word[0].casefold() in glossary_book().directions.nouns


def _taken_off(sentence: Sentence, word: re.Match[str], behind: list[Mention]) -> Mention | None:
    """The option that a `less` takes off another, as in `the cost of A less that of B`."""
    match = _SUBTRACTED.match(sentence.words, word.end()) if word[0].casefold() == _LESS else None
    return next((m for m in behind if match and m.start == match.end()), None)


def _in_a_row(sentence: Sentence, one: Mention, mentions: list[Mention]) -> bool:
    """Whether another option's name is joined to this one, so that neither is spoken of alone."""
    between = (
        sentence.words[min(one.end, m.end) : max(one.start, m.start)]
        for m in mentions
        if m is not one and m.option != one.option
    )
    return any(_JOINED.fullmatch(text) for text in between)
