"""A memo's words and figures held to the ledger: directions to signs, statistics to what is quoted, each figure to its value.

A figure that tells two options apart says in the ledger which of them has less (`compares`), a figure of the outcomes which
statistic it is (`central`). Only what a sentence says outright is held to it: one with a condition, a negation or several
options in one place proves nothing, and passes.

A table's sums need no check: its note tells of rounding wherever they do not add up as printed (`blocks.tables`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from fabricreport.base import formats
from fabricreport.blocks.gate import MONTHS, line, written
from fabricreport.blocks.nodes import DataTable, Figure, GlanceTile, Headline, Num, Scalar, Text, walk
from fabricreport.books.glossary import EXPECTED, STATISTICS, glossary_book
from fabricreport.ledger.bases import is_money
from fabricreport.ledger.numbers import Record
from fabricreport.memo.document.language import (
    SAID,
    Called,
    Mention,
    Quoted,
    Sentence,
    Told,
    any_of,
    in_number,
    mentions_in,
    own_nodes,
    sentences_in,
    sentences_of,
    told_of,
)
from fabricreport.memo.document.pieces import Gathered, Piece

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


_BEYOND = re.compile(r"\b(?:under|over|fewer than)\b")
"""What a figure near an end of its scale is written with: it is no value then, and a bound."""
_TURNS = re.compile(r"\b(?:revers|turn|other way)", re.I)
_DAY = re.compile(rf"\b\d{{1,2}} (?:{MONTHS}) \d{{4}}\b")
_OF = re.compile(r"\s+(?:out\s+)?of\s+(?:the|all|its|their|our|your)?\s*")
_SLACK = 1e-8
"""What the nine digits of a ledger leave open."""
_ISO = re.compile(r"\d{4}-\d\d-\d\d")
_COUNTLESS = 1e15
"""Beyond it no digit that is printed is known."""
_HALF = 1.001
"""Half a step, and what a chart's rounding of its data may add."""


def printed_faults(found: Gathered) -> Iterator[str]:
    """Figures that do not read back as their value, parts above their whole, reversals that nothing tells."""
    for piece in found.pieces:
        for number, head in _numbers(piece):
            entry = found.ledger.get(number.id)
            if entry is not None and not reads_back(number.text, head, entry):
                yield (
                    f"{piece.where}: {number.id} is printed as {number.text}, and the ledger has {entry['text']}. "
                    "Quote it by its field, so that it is written from its value."
                )
    yield from _impossible_shares(found)
    choice = found.compared[0].mark.get("choice") if found.compared else None
    for sentence in sentences_of(found.pieces, SAID):
        yield from _parts_above(sentence, found.ledger)
        if choice:
            yield from _silent_reversals(sentence, found.ledger, str(choice))


def chart_remarks(found: Gathered) -> Iterator[str]:
    """Charts whose words quote what their data do not hold, and calendars that run backwards."""
    for piece in found.pieces:
        for node in walk(piece.nodes):
            if isinstance(node, Figure):
                yield from _beside_chart(node, found.ledger, piece.where)
                yield from _days_backwards(node, piece.where)


def day_remarks(found: Gathered) -> Iterator[str]:
    """Days that the memo's sentences say and no field gave: nothing moves them when the calendar does."""
    known = {name.replace("\xa0", " ") for name in found.names}
    for sentence in sentences_of(found.pieces, SAID):
        for day in _DAY.findall(sentence.words.replace("\xa0", " ")):
            if day not in known:
                yield f"{sentence.where}: “{sentence.words}” says a day by hand, {day}. Take it from a word of the section."


_UNIT_OF_ITS_OWN = re.compile(r"[$€£%]|[^\W\d_]{3,}")
_UNIT_OF_ROW = re.compile(r" \(([^()]+)\)$")


def _numbers(piece: Piece) -> Iterator[tuple[Num, str]]:
    """Each number of a piece with the unit in the head of its column or in the name of its row, empty outside of tables."""
    in_cells: set[int] = set()
    for node in walk(piece.nodes):
        if isinstance(node, DataTable):
            for row in node.rows:
                own = _UNIT_OF_ROW.search(line(row.cells[0]))
                for place, cell in enumerate(row.cells):
                    head = node.columns[place].unit if len(row.cells) == len(node.columns) else ""
                    head = head or (own[1] if own else "")
                    for number in walk(cell):
                        if isinstance(number, Num):
                            in_cells.add(id(number))
                            yield number, "" if head and _UNIT_OF_ITS_OWN.search(number.text) else head
        elif isinstance(node, Num) and id(node) not in in_cells:
            yield node, ""


def reads_back(text: str, head: str, entry: Record) -> bool:
    """Whether every amount of a text is a figure's value or an end of its range, to the last digit told; signs aside,
    which the words about it may carry. An end near zero is told as zero."""
    told = [entry.get("value"), *(entry.get("spread") or {}).values()]
    values = [abs(float(value)) for value in told if value is not None]
    if not values or _BEYOND.search(text) or max(values) > _COUNTLESS:
        return True
    amounts = written(text.replace(formats.RANGE, ""), head)
    return all(
        (not each.value and entry.get("spread"))
        or any(abs(abs(float(each.value)) - value) <= float(each.step) / 2 + _SLACK * max(value, 1) for value in values)
        for each in amounts
    )


def _beside_chart(chart: Figure, ledger: Mapping[str, Record], where: str) -> Iterator[str]:
    """Amounts of outcomes that a chart's words quote and its data do not hold, as they are or as the sum of a line."""
    values: list[float] = []
    lines: dict[tuple[int, Scalar], float] = {}
    for row in chart.data[1:]:
        for place, cell in enumerate(row):
            if (value := _as_number(cell)) is not None:
                values.append(abs(value))
                lines[place, row[0]] = lines.get((place, row[0]), 0.0) + value
    values += map(abs, lines.values())
    for number in walk((*chart.title, *chart.subtitle, *chart.caption, *chart.alt_nodes)):
        entry = ledger.get(number.id, {}) if isinstance(number, Num) else {}
        if not isinstance(number, Num) or not chart.data or number.id.startswith("stated."):
            continue
        if not (entry.get("central") and is_money(str(entry["unit"]))):
            continue
        for amount in written(number.text):
            if not any(abs(abs(float(amount.value)) - value) <= float(amount.step) / 2 * _HALF for value in values):
                yield (
                    f"{where}: {chart.id} says {number.text} of {number.id}, and its data hold no such amount. "
                    "Draw and quote one figure."
                )


def _days_backwards(chart: Figure, where: str) -> Iterator[str]:
    """Lines of a calendar, which has several columns of days, on which a later step stands before an earlier one."""
    last: dict[Scalar, tuple[str, ...]] = {}
    for row in chart.data[1:]:
        days = tuple(str(cell) for cell in row if cell is not None and _ISO.fullmatch(str(cell)))
        if len(days) > 1:
            before = last.get(row[0], days)
            if list(days) != sorted(days) or any(one > other for one, other in zip(before, days, strict=False)):
                yield f"{where}: {chart.id} runs backwards at {', '.join(map(str, row))}. Mend the schedule that it draws."
            last[row[0]] = days


def _as_number(cell: Scalar) -> float | None:
    try:
        return float(cell) if cell is not None else None
    except ValueError:
        return None


def _impossible_shares(found: Gathered) -> Iterator[str]:
    for number_id, entry in found.ledger.items():
        base, value = entry.get("base") or {}, entry.get("value")
        if base.get("of") == "all outcomes" and value is not None and not 0 <= value <= 1:
            yield f"{found.ledger_where.get(number_id, '')}: {number_id}, {entry['text']}, is a part larger than its whole."


def _parts_above(sentence: Sentence, ledger: Mapping[str, Record]) -> Iterator[str]:
    """`5 of 3 prices`: a figure of the same unit told as a part of a smaller one."""
    for part, whole in zip(sentence.quoted, sentence.quoted[1:], strict=False):
        one, other = ledger.get(part.number.id), ledger.get(whole.number.id)
        if one is None or other is None or one.get("unit") != other.get("unit"):
            continue
        if not _OF.fullmatch(sentence.words[part.end : whole.start]):
            continue
        if (one.get("value") or 0) > (other.get("value") or 0):
            yield (
                f"{sentence.where}: “{sentence.words}” tells {part.number.id} ({part.number.text}) as a part of "
                f"{whole.number.id} ({whole.number.text}), which is smaller."
            )


def _silent_reversals(sentence: Sentence, ledger: Mapping[str, Record], choice: str) -> Iterator[str]:
    """Sentences that print a figure by which the advised option has more, and neither a minus nor a word says so."""
    book = glossary_book().directions
    for quoted in sentence.quoted:
        entry = ledger.get(quoted.number.id) or {}
        compares, value = entry.get("compares"), entry.get("value")
        text = central_text(quoted, entry) if compares and value else ""
        if not text or not compares or choice not in compares.values() or not re.search(r"[1-9]", text):
            continue
        if compares["less" if (value or 0) > 0 else "more"] == choice or text[0] in "-−–":
            continue
        if not (any_of((*book.less, *book.more)).search(sentence.words) or _TURNS.search(sentence.words)):
            yield (
                f"{sentence.where}: “{sentence.words}” quotes {quoted.number.id} ({entry['text']}), which is against "
                "the advice, and does not say so. Name the option that has less."
            )
