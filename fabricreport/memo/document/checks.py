"""What a memo must pass before a client may see it: one comparison, one base, totals, page one, words, figures and files.

Each block carries what its section's case says of the comparison (`Case.compared`). A section that was run on another
case, or that works the lead out for itself, is told here with the two cells that part.

A second base of a quantity stands under a name of its own, which says which base it is.

`faults` stop a client copy; `remarks` are told when a build ends, since a figure that moved may make them and nobody is there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from shlex import quote
from typing import Any

from fabricreport.base.locations import did_you_mean
from fabricreport.blocks.gate import MONTHS, bare_numbers, lines_of, texts
from fabricreport.blocks.nodes import (
    DataTable,
    Figure,
    Formula,
    GlanceTile,
    Headline,
    Image,
    Inline,
    Node,
    Num,
    Numbered,
    Ref,
    plain_text,
    walk,
)
from fabricreport.ledger.bases import told
from fabricreport.ledger.numbers import AGED, Record
from fabricreport.memo.document.document import Document, in_memo, own_files
from fabricreport.memo.document.language import language_faults, language_remarks
from fabricreport.memo.document.numbering import CLOSING_ANNEXES, in_report, left_out
from fabricreport.memo.document.outputs import png_size_px
from fabricreport.memo.document.pieces import (
    ALT_REMEDY,
    CAPTION_REMEDY,
    FIGURE,
    INPUT,
    MADE,
    PARAM,
    PICTURE_REMEDY,
    Compared,
    Edit,
    Gathered,
    Piece,
    gather,
)
from fabricreport.memo.document.proofs import chart_remarks, contradictions, day_remarks, printed_faults
from fabricreport.memo.document.safety import one_line
from fabricreport.scenario import Adopted

REMEDY = "The comparison is made once, by the case: run every section on the same params, and quote its figures."
PARTS = {"choice": "the advised option", "rival": "its rival", "lead": "the lead"}


def disagreements(found: Gathered) -> Iterator[str]:
    """Every section, figure or headline that names another option, rival or amount than the first block does."""
    if not found.compared:
        return
    first = found.compared[0]
    yield from _marks(first, found)
    yield from _figures(first, found)
    yield from _headlines(first, found)


def _marks(first: Compared, found: Gathered) -> Iterator[str]:
    told: set[tuple[str, str]] = set()
    for other in found.compared:
        for part, words in PARTS.items():
            if other.mark.get(part) != first.mark.get(part) and (other.section, part) not in told:
                told.add((other.section, part))
                yield _fault(words, first.mark.get(part), first, other.mark.get(part), other.section, other.where)


def _figures(first: Compared, found: Gathered) -> Iterator[str]:
    """Ledger numbers that state the lead, against the first block's."""
    for number_id in first.mark.get("stated_as", ()):
        entry = found.ledger.get(number_id)
        if entry is not None and entry.get("text") != first.mark.get("lead"):
            where = found.ledger_where[number_id]
            yield _fault(f"the lead as {number_id}", first.mark.get("lead"), first, entry.get("text"), "", where)


def _headlines(first: Compared, found: Gathered) -> Iterator[str]:
    """The advice that the command line and `refresh` report, against the first block's."""
    for piece in found.pieces:
        for node in piece.nodes:
            choice = node.data.get("choice") if isinstance(node, Headline) else None
            if choice is not None and choice != first.mark.get("choice"):
                words = "the advised option of the headline"
                yield _fault(words, first.mark.get("choice"), first, choice, piece.section, piece.where)


def _fault(words: str, expected: Any, first: Compared, found: Any, section: str, where: str) -> str:
    second = f"the section {section} ({where})" if section else where
    return f"{where}: {words} is {found} in {second} and {expected} in the section {first.section} ({first.where}). {REMEDY}"


BASE_REMEDY = "Say the base in its label, or print one of the two."
VALUE_REMEDY = "Quote one of the two in both places, or say under `base` in `figures.yaml` in what they differ."


def base_remarks(found: Gathered) -> Iterator[str]:
    """Figures that share a name and differ in their base, or share all of a base and differ in name or value."""
    entries = [entry for entry in found.ledger.values() if entry.get("base")]
    for one, other in _apart(entries, lambda e: str(e["label"]), _named):
        bases = f"“{told(one['base'])}” and “{told(other['base'])}”"
        said = f"“{one['label']}” is {one['text']} and {other['text']}, of two things or on two bases: {bases}"
        yield f"{_places(found, one, other)}: {said}. {BASE_REMEDY}"
    for one, other in _apart(entries, _quantity, lambda e: str(e["label"])):
        said = f"“{one['label']}”, {one['text']}, and “{other['label']}”, {other['text']}"
        yield f"{_places(found, one, other)}: one quantity on one base has two names: {said}. {VALUE_REMEDY}"


def _apart(
    entries: list[Record], same: Callable[[Record], str], told_as: Callable[[Record], str]
) -> Iterator[tuple[Record, Record]]:
    """Each pair of entries that are the same and are not told alike: every other one beside the first."""
    first: dict[str, Record] = {}
    for entry in entries:
        one = first.setdefault(same(entry), entry)
        if told_as(one) != told_as(entry):
            yield one, entry


def _whole(base: Record) -> str:
    return repr(sorted(base.items()))


def _named(entry: Record) -> str:
    """What one name may stand for: a base and a value, whatever the figure is said to be about."""
    return f"{_whole({**entry['base'], 'about': ()})} {entry['text']}"


def _quantity(entry: Record) -> str:
    """The base and the unit: the same quantity may be told in weeks and in dollars."""
    return f"{_whole(entry['base'])} {entry['unit']}"


def _places(found: Gathered, one: Record, other: Record) -> str:
    return " and ".join(f"{e['id']} ({found.ledger_where.get(str(e['id']), '')})" for e in (one, other))


@dataclass(frozen=True)
class Shown:
    """An amount as a table shows it."""

    value: float
    stale: bool


Line = tuple[str, Sequence[Shown | None]]
"""The role of a row, and its cells; None where a cell is no number."""


def mark_remarks(found: Gathered) -> Iterator[str]:
    """Totals of the memo's tables that are told as cleaner than a heavy part of them."""
    for piece in found.pieces:
        for table in walk(piece.nodes):
            if isinstance(table, DataTable):
                for r, c in too_clean(recorded_rows(table, found.ledger)):
                    number = next(n for n in walk(table.rows[r].cells[c]) if isinstance(n, Num))
                    yield (
                        f"{piece.where}: {number.id} ({number.text}) bears no dagger, and a heavy part of it does. "
                        "Let its sum be traced (`provenance`)."
                    )


def recorded_rows(table: DataTable, ledger: Mapping[str, Record]) -> list[Line]:
    """The rows of a printed table, with what the ledger says of each amount."""
    return [(row.role, [_shown(cell, ledger) for cell in row.cells]) for row in table.rows]


def _shown(cell: Sequence[Inline], ledger: Mapping[str, Record]) -> Shown | None:
    number = cell[0] if len(cell) == 1 and isinstance(cell[0], Num) else None
    entry = ledger.get(number.id) if number else None
    return Shown(number.value, bool(entry["stale"])) if number and entry and number.value is not None else None


def parts_of(above: Sequence[Line]) -> list[Line]:
    """The rows that a total sums up: those since the last total, or all of the group where it stands right beneath one."""
    group = above[next((n + 1 for n in reversed(range(len(above))) if above[n][0] == "group"), 0) :]
    since = group[next((n + 1 for n in reversed(range(len(group))) if group[n][0] == "total"), 0) :]
    return list(since or group)


def too_clean(rows: Sequence[Line]) -> Iterator[tuple[int, int]]:
    """Row and column of every total that bears no mark, though a heavy part of it does."""
    for r, (role, cells) in enumerate(rows):
        if role != "total":
            continue
        for c, total in enumerate(cells):
            parts = [part for _, row in parts_of(rows[:r]) if c < len(row) and (part := row[c])]
            if total and not total.stale and any(p.stale and abs(p.value) >= AGED * abs(total.value) for p in parts):
                yield r, c


_SHOWN = 60
_LIKELIHOOD = re.compile(r"\b(remote|unlikely|roughly even|likely|probable|almost certain|nearly certain)\b", re.I)
_UNCLOSED = re.compile(
    r"\{((?:price|evidence|param|contested):[^\s{}]+|[a-z][a-z0-9_]*\.[a-z][^\s{}]*|(?:fig|tab|sec)-[^\s{}]+|cite [^\s{}]+)"
    r"(?![^{}]*\})"
)
"""What begins like a field of the ledger and has no closing brace."""
_QUOTED = "Quote it as {figure.id} of the ledger, into which case.number(…) puts one of your own, or put it in the params or the evidence."
_REMEDIES = {
    "table cell": "Make the frame of numbers of the ledger, case.figure(…) or your own case.number(…), and print it by a cell "
    "`%%table tab-NAME from=FRAME` with a line `caption: …`; `fabricreport new --section` writes all of these to copy from."
}
_CONFIDENCE = re.compile(r"\bconfiden(?:ce|t)\b", re.I)


def check_memo(found: Gathered, *, draft: bool = False) -> list[str]:
    """Every fault of a stitched memo, in reading order. A draft is checked alike: the caller only warns."""
    faults = [str(problem) for problem in found.problems]
    for piece in found.pieces:
        faults += [f"{piece.where}: {fault}" for fault in _piece_faults(piece, found.names)]
    faults += _reference_faults(found)
    faults += _dead_references(found)
    faults += disagreements(found)
    faults += language_faults(found)
    faults += contradictions(found)
    faults += printed_faults(found)
    if not draft and not found.pieces:
        faults.append("the memo is empty: no notebook emitted a block")
    return faults


def check_file(found: Gathered) -> list[str]:
    """Every fault of a file beside the memo, whose sentences are held as a memo's are: what it refers to stands in it."""
    faults = [f"{piece.where}: {fault}" for piece in found.pieces for fault in _piece_faults(piece, found.names)]
    faults += [*_reference_faults(found), *_dead_references(found)]
    return [*faults, *language_faults(found), *contradictions(found), *printed_faults(found)]


def _piece_faults(piece: Piece, known: set[str]) -> Iterator[str]:
    for node in walk(piece.nodes):
        yield from _missing_parts(node)
    for where, text in texts(piece.nodes):
        for field in () if where == "preformatted text" else _UNCLOSED.findall(text):
            yield f"the field {{{_id(field)} in {where} is not closed: write {{{_id(field)}}}."
        text = _UNCLOSED.sub(" ", text)
        for word in bare_numbers(text, known | piece.names, in_words=where != "preformatted text"):
            remedy = _REMEDIES.get(where, _QUOTED)
            yield f"bare number '{word}' in {where}: “{_excerpt(text, word)}”. {remedy}"
        for sentence in re.split(r"(?<=[.!?])\s+", text):
            if _LIKELIHOOD.search(sentence) and _CONFIDENCE.search(sentence):
                yield f"one sentence mixes likelihood and confidence: “{sentence[:_SHOWN]}…”. Make two sentences of it."


def _id(field: str) -> str:
    return field.rstrip(".,;:!?)")


def _missing_parts(node: Node) -> Iterator[str]:
    if isinstance(node, Figure | Image | Formula) and not node.alt.strip():
        name = (node.id if isinstance(node, Figure) else "") or "an image"
        yield (
            f"{name} has no alt text: say in one or two sentences what it shows, for readers who cannot see it. "
            f"{ALT_REMEDY[node.kind]}"
        )
    if isinstance(node, Figure) and not node.title:
        yield f"{node.id or 'a figure'} has no title: state its finding. {CAPTION_REMEDY}"
    if isinstance(node, DataTable) and not node.caption:
        yield f"a table has no caption: state its takeaway. {CAPTION_REMEDY}"
    if isinstance(node, Image) and not png_size_px(node.src)[0]:
        name = f"the image {one_line(node.address)[:_SHOWN]}" if node.address else "an image"
        yield f"{name} is not embedded: {PICTURE_REMEDY}"


def _reference_faults(found: Gathered) -> Iterator[str]:
    """Citations of unknown inputs, numbers without a footing, ids used twice."""
    seen: dict[str, str] = {}
    for piece in found.pieces:
        for node in walk(piece.nodes):
            anchor = node.id if isinstance(node, Numbered) else ""
            if anchor and anchor in seen:
                yield f"{piece.where}: the id {anchor} is already used in {seen[anchor]}: give it another one."
            elif anchor:
                seen[anchor] = piece.where
    for number_id, entry in found.ledger.items():
        for input_id in entry["inputs"]:
            if input_id not in found.inputs:
                yield f"{found.ledger_where[number_id]}: number {number_id} names the unknown input {input_id}."
        if not entry["inputs"] and not entry["rule"]:
            yield f"{found.ledger_where[number_id]}: number {number_id} has neither a rule nor an input."


def _dead_references(found: Gathered) -> Iterator[str]:
    """References to a figure, table or heading that the memo does not hold; a section left out of it is told in words."""
    inside = [(piece, node) for piece in found.pieces for node in walk(piece.nodes)]
    known = {node.id for _, node in inside if isinstance(node, Numbered) and node.id} | CLOSING_ANNEXES
    present = {piece.section for piece in found.pieces}
    for piece in found.pieces:
        for target in sorted({n.id for n in walk(piece.nodes) if isinstance(n, Ref)} - known):
            if not (in_report(target, found.report) or left_out(target, present)):
                close = did_you_mean(target, known)
                yield (
                    f"{piece.where}: the reference {{{target}}} leads nowhere"
                    + (f": did you mean {{{close}}}?" if close else ": give the id of a figure, a table or a heading.")
                )


def _excerpt(text: str, word: str) -> str:
    clean = re.sub("[\ue000-\uf8ff]", "…", text)
    at = max(0, clean.find(word) - _SHOWN // 2)
    return clean[at : at + _SHOWN].strip()


def edit_faults(
    edits: Sequence[Edit], printed: Collection[str], adopted: Sequence[Adopted], ids: Mapping[str, Mapping[str, str]]
) -> Iterator[str]:
    """Every edit that nobody signed for, and every signature under no number."""
    signed, replaced = {a.id: a for a in adopted}, {e.section for e in edits if e.kind in (INPUT, PARAM)}
    for edit in edits:
        place, by = edit.place(ids), signed.get(edit.id)
        where = f"{edit.where} ({place.partition(':')[2]}): {edit.id} is {edit.new} there"
        adopt = f"or sign for it: fabricreport adopt {quote(place)} --who NAME --why REASON --params PARAMS"
        remedy = {INPUT: f"Take it back, {adopt}", PARAM: "Change it in the params.", FIGURE: "Quote it from `case`."}
        if edit.kind == MADE and edit.id in printed and not edit.is_signed(adopted, place):
            was = f"{by.who} signed for {by.value} in {by.cell} before it changed" if by else "made of nothing"
            yield f"{where}, {was}. Rest it on inputs, {adopt}"
        elif edit.kind in (INPUT, PARAM) or (edit.kind == FIGURE and edit.section not in replaced):
            yield f"{where}, and {edit.old} by params and books. {remedy[edit.kind]}"
    made = {e.id for e in edits if e.kind == MADE and e.id in printed}
    for each in adopted:
        if each.id not in made and each.cell.partition(".")[0] in ids:
            yield f"{each.cell} prints no {each.id}, for which {each.who} signed. Take it out of `adopted` in the params."


@dataclass(frozen=True)
class Proof:
    """What a stitched notebook was found to hold: all of it; the memo alone, as a notebook and gathered; the files beside
    it by name; then what is wrong with them."""

    found: Gathered
    memo: Any
    printed: Gathered
    files: Mapping[str, Any]
    faults: tuple[str, ...]
    remarks: tuple[str, ...]


def prove(stitched: Any, found: Gathered, *, draft: bool = False) -> Proof:
    """The proof of a stitched notebook with its front matter, and of all that it was `found` to hold; a draft may be empty."""
    memo, files = in_memo(stitched), own_files(stitched)
    printed = gather(memo)
    beside = [fault for part in files.values() for fault in check_file(gather(part))]
    faults = [*map(str, found.problems), *disagreements(found), *check_memo(printed, draft=draft), *beside]
    remarks = (
        *base_remarks(found),
        *chart_remarks(found),
        *day_remarks(found),
        *mark_remarks(found),
        *language_remarks(printed),
    )
    return Proof(found, memo, printed, files, tuple(dict.fromkeys(faults)), remarks)


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
