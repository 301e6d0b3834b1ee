"""What is printed, held to the ledger and to itself: each figure reads back as its value, a part is within its whole, a
chart's words are in its data, what reverses the order says so, and figures of one paragraph add up as they stand.

A table's sums need no check: its note tells of rounding wherever they do not add up as printed (`blocks.sums`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import permutations

from fabricreport import formats
from fabricreport.bases import is_money
from fabricreport.blocks.gate import MONTHS, lines_of
from fabricreport.blocks.nodes import DataTable, Figure, Glance, Node, Num, Scalar, walk
from fabricreport.blocks.written import Written, adds_up, is_sum, written
from fabricreport.books.glossary import glossary_book
from fabricreport.ledger import Record
from fabricreport.memo.document.gather import Gathered, Piece
from fabricreport.memo.document.language import any_of
from fabricreport.memo.document.measures import SAID, Sentence, own_nodes, sentences_of
from fabricreport.memo.document.proofs import central_text

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
_MOST_PARTS = 12
"""Figures of a paragraph beyond which no reader adds them up."""


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


def sum_remarks(found: Gathered) -> Iterator[str]:
    """Figures of one paragraph, or of page one's tiles, of which two make up a third and do not as they are printed."""
    for piece in found.pieces:
        for node in own_nodes(piece.nodes):
            for numbers in _read_together(node):
                entries = {n.id: n for n in numbers if n.id in found.ledger and central_text_of(n, found.ledger[n.id])}
                yield from _unequal(entries, found.ledger, piece.where)


def _numbers(piece: Piece) -> Iterator[tuple[Num, str]]:
    """Each number of a piece with the unit in the head of its column, empty outside of tables."""
    in_cells: set[int] = set()
    for node in walk(piece.nodes):
        if isinstance(node, DataTable):
            for row in node.rows:
                for place, cell in enumerate(row.cells):
                    head = node.columns[place].unit if len(row.cells) == len(node.columns) else ""
                    for number in walk(cell):
                        if isinstance(number, Num):
                            in_cells.add(id(number))
                            yield number, head
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


def central_text_of(number: Num, entry: Record) -> bool:
    """Whether a number is printed as its central value and alone."""
    amounts = written(number.text)
    return len(amounts) == 1 and number.value is not None and reads_back(number.text, "", {"value": entry.get("value")})


def _read_together(node: Node) -> Iterator[list[Num]]:
    """The figures that a reader may add up: those of one line, and of all of page one's tiles."""
    if isinstance(node, Glance):
        yield [n for tile in node.tiles for n in walk((*tile.label, *tile.value, *tile.note)) if isinstance(n, Num)]
    for kind, words in lines_of(node):
        if kind in SAID and kind != "alt text":
            yield [n for n in walk(words) if isinstance(n, Num)]


def _unequal(numbers: Mapping[str, Num], ledger: Mapping[str, Record], where: str) -> Iterator[str]:
    """Each figure that two others of the same unit make up by their values, and not as printed."""
    by_unit: dict[str, list[str]] = {}
    for number_id in numbers:
        by_unit.setdefault(str(ledger[number_id].get("unit")), []).append(number_id)
    for ids in by_unit.values():
        if len(ids) > _MOST_PARTS:
            continue
        for whole, one, other in permutations(ids, 3):
            if one < other and _misses([numbers[i] for i in (whole, one, other)]):
                told = ", ".join(f"{i} ({numbers[i].text})" for i in (one, other))
                yield (
                    f"{where}: {whole} ({numbers[whole].text}) is made up by {told}, and not as they are printed. "
                    "Print two of the three."
                )


def _misses(numbers: list[Num]) -> bool:
    """Whether the last two of three figures make up the first by their values, as sum or difference, and not as printed."""
    values = [abs(n.value or 0.0) for n in numbers]
    shown = [Written(abs(w.value), w.step) for w in (written(n.text)[0] for n in numbers)]
    return is_sum(values[0], values[1:]) and not adds_up(shown[0], shown[1:])
