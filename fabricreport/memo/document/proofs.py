"""A memo's words held to its figures: directions to signs, options to the comparison, statistics to what is quoted.

A figure that tells two options apart says in the ledger which of them has less (`compares`), a figure of the outcomes which
statistic it is (`central`). Only what a sentence says outright is held to it: one with a condition, a negation or several
options in one place proves nothing, and passes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from fabricreport.blocks.nodes import GlanceTile, Headline, Text
from fabricreport.books.glossary import EXPECTED, STATISTICS, glossary_book
from fabricreport.ledger import Record
from fabricreport.memo.document.gather import Gathered
from fabricreport.memo.document.language import any_of
from fabricreport.memo.document.measures import SAID, Quoted, Sentence, own_nodes, sentences_in, sentences_of
from fabricreport.memo.document.options_told import Called, Mention, Told, in_number, mentions_in, told_of

_FAR = 60
"""Characters within which a word still belongs to a figure."""
_NEAR = 30
"""Characters within which a statistic does, and an option to what advises it."""
_MINUS = "-−–"
_APART = re.compile(r"[;:]|\bwhile\b|\bbut\b")
"""What parts a sentence into statements of their own."""


def contradictions(found: Gathered) -> Iterator[str]:
    """Every sentence of the memo, printed or not, that says the reverse of the figure it quotes, or advises another option."""
    mark = found.compared[0].mark if found.compared else {}
    called: Called = mark.get("called", {})
    advised = _advised(found, mark)
    for sentence in _sentences(found):
        mentions = mentions_in(sentence, called)
        for quoted in sentence.quoted:
            entry = found.ledger.get(quoted.number.id)
            if entry is not None and (text := central_text(quoted, entry)):
                yield from _direction(sentence, quoted, text, entry, mentions)
        yield from _statistics(sentence, found)
        if advised:
            yield from _advice(sentence, mentions, advised)


def _sentences(found: Gathered) -> Iterator[Sentence]:
    yield from sentences_of(found.pieces, SAID)
    for piece in found.pieces:  # a tile's label and its value are one statement
        for node in own_nodes(piece.nodes):
            if isinstance(node, GlanceTile):
                yield from sentences_in((*node.label, Text(" "), *node.value), "tile", piece)


def central_text(quoted: Quoted, entry: Record) -> str:
    """The central value as a sentence prints it, with its sign or without; empty where it prints something else of the figure."""
    shown, full = quoted.number.text.split(" (")[0], str(entry.get("text", ""))
    if entry.get("unit") == "share" and re.fullmatch(r"\d+ of \d+", shown):
        return shown
    return shown if shown in (full, full.lstrip(_MINUS)) else ""


# ---- directions


def _direction(sentence: Sentence, quoted: Quoted, text: str, entry: Record, mentions: list[Mention]) -> Iterator[str]:
    compares, value = entry.get("compares"), entry.get("value")
    if not compares or not value or not re.search(r"[1-9]", text) or compares["less"] == compares["more"]:
        return
    word = _word_of(sentence, quoted)
    told = word and told_of(sentence, word, [m for m in mentions if _beside(sentence, m, word)])
    if not word or not told or _open(sentence, quoted, told):
        return
    pair = {compares["less"], compares["more"]}
    if told.subject and told.against and told.subject != told.against and {told.subject, told.against} != pair:
        yield _fault(sentence, f"{quoted.number.id} ({text}) tells {_two(compares)} apart, and no others")
        return
    less = _less(told, word, pair)
    if less is None:
        return
    if text[0] in _MINUS:
        (less,) = pair - {less}
    true = compares["less"] if value > 0 else compares["more"]
    if less != true:
        yield _fault(sentence, f"by {quoted.number.id} ({entry['text']}) it is {true} that has less of it, not {less}")


def _less(told: Told, word: re.Match[str], pair: set[str]) -> str | None:
    """The option that a sentence says has less; None where it is none of the pair."""
    subject = told.subject
    if subject is None and told.against in pair:
        (subject,) = pair - {told.against}
    if subject not in pair or subject == told.against:
        return None
    if word[0].casefold() in glossary_book().directions.less and not told.subtracts:
        return subject
    (other,) = pair - {subject}
    return other


def _word_of(sentence: Sentence, quoted: Quoted) -> re.Match[str] | None:
    """The word of direction nearest to a figure, no other figure between; None where none is near."""
    found = [
        (gap, word)
        for word in _directions().finditer(sentence.words)
        if not in_number(sentence, word.start()) and not _bounds(sentence, word)
        if (gap := _gap(sentence, quoted, word.start(), word.end())) is not None and gap <= _FAR
    ]
    return min(found, key=lambda each: each[0])[1] if found else None


def _directions() -> re.Pattern[str]:
    told = glossary_book().directions
    return any_of((*told.less, *told.more))


def _beside(sentence: Sentence, mention: Mention, word: re.Match[str]) -> bool:
    """Whether an option is named in the statement that a word stands in."""
    first, last = sorted([(mention.start, mention.end), word.span()])
    return not _APART.search(sentence.words[first[1] : last[0]])


def _bounds(sentence: Sentence, word: re.Match[str]) -> bool:
    """Whether a word only says that a figure is a bound: `more than $5M`, `above 10 weeks`."""
    behind = re.match(r"(\s+than)?\s+", sentence.words[word.end() :])
    bounds = behind is not None and (behind[1] or word[0].casefold() in glossary_book().directions.against)
    return bounds and behind is not None and in_number(sentence, word.end() + behind.end())


def _gap(sentence: Sentence, quoted: Quoted, start: int, end: int) -> int | None:
    """Characters between a figure and a word; None where another figure, or another statement, begins between them."""
    first, last = (end, quoted.start) if end <= quoted.start else (quoted.end, start)
    between = any(first <= q.start < last for q in sentence.quoted)
    return None if between or _APART.search(sentence.words[first:last]) else last - first


def _open(sentence: Sentence, quoted: Quoted, told: Told) -> bool:
    words = glossary_book().directions
    start, end = min(told.start, quoted.start), max(told.end, quoted.end)
    clause = max(sentence.words.rfind(mark, 0, start) for mark in (",", ";", ":"))
    inside = sentence.words[clause + 1 : end]
    return (
        sentence.words.endswith("?")
        or any_of(words.conditions).search(sentence.words) is not None
        or any_of(words.open).search(inside) is not None
    )


def _two(compares: Record) -> str:
    return f"{compares['less']} and {compares['more']}"


# ---- statistics


def _statistics(sentence: Sentence, found: Gathered) -> Iterator[str]:
    """Words that name a statistic, each held to the figure nearest to it."""
    book = glossary_book().statistics
    for said in STATISTICS:
        statistic = STATISTICS[0] if said == EXPECTED else said
        for word in any_of(book.words(said)).finditer(sentence.words):
            quoted = _nearest(sentence, word)
            entry = found.ledger.get(quoted.number.id) if quoted else None
            if quoted is None or entry is None or entry.get("central", "") in ("", statistic):
                continue
            if said == EXPECTED and not _is_money(entry):
                continue
            if text := central_text(quoted, entry):
                known = book.words(entry["central"])[0]
                yield _fault(sentence, f"“{word[0]}” is said of {quoted.number.id} ({text}), which is “{known}”")


def _is_money(entry: Record) -> bool:
    return "currency" in entry or str(entry.get("unit", "")).split("/")[0] == "usd"


def _nearest(sentence: Sentence, word: re.Match[str]) -> Quoted | None:
    found = [
        (gap, quoted.start, quoted)
        for quoted in sentence.quoted
        if (gap := _gap(sentence, quoted, word.start(), word.end())) is not None and gap <= _NEAR
    ]
    return min(found, key=lambda each: each[:2])[2] if found and not in_number(sentence, word.start()) else None


# ---- what is advised


@dataclass(frozen=True)
class Advised:
    """The advised option, and what else the headline names."""

    choice: str
    headline: str


def _advised(found: Gathered, mark: Record) -> Advised | None:
    if "choice" not in mark:
        return None
    heads = [n for piece in found.pieces for n in piece.nodes if isinstance(n, Headline)]
    return Advised(str(mark["choice"]), " ".join(str(v) for head in heads for v in head.data.values()))


def _advice(sentence: Sentence, mentions: list[Mention], advised: Advised) -> Iterator[str]:
    """A sentence that advises an option outright: it must be the comparison's, or one that the headline names."""
    book = glossary_book()
    words = sentence.words
    orders = any_of(book.orders).match(words)
    for word in [*any_of(book.advice).finditer(words), *([orders] if orders else [])]:
        named = [m for m in mentions if word.end() <= m.start <= word.end() + _NEAR]
        if not named or named[0].against or named[0].option == advised.choice:
            continue
        other = words[named[0].start : named[0].end]
        left_open = any_of((*book.directions.open, *book.directions.conditions)).search(words[word.start() :])
        if not left_open and other.casefold() not in advised.headline.casefold():
            yield _fault(sentence, f"it advises {other}, and the comparison {advised.choice}")


def _fault(sentence: Sentence, said: str) -> str:
    return f"{sentence.where}: “{sentence.words}” contradicts its figure: {said}. Take the word or the name from what the case found."
