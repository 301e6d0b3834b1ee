"""What only the printed memo needs: derivations in run-in lists, closing annexes, faults of its pages, and fewer bytes.

The rule is said once, then for each set of inputs what its members share (inputs, grade, date, sources), then the
members; neighbours whose labels begin with the same words share those words too.

A page more than a third empty that ends neither body nor annexes, a heading or a lead-in without its matter, a table cut that a quarter of a
page would hold, figures and tables out of order, a table of more columns than are read across.

A tagged memo is thousands of small dictionaries (a link, a cell, a paragraph), which Typst writes one by one in
plain text. PDF 1.5 and later may keep them in compressed object streams (ISO 32000-1, 7.5.7 and 7.5.8). One entry
is left out: `/Suspects false` says what its absence says (ISO 32000-1, table 321; PDF/UA-1 forbids `true` only), and
Poppler calls any value but `true` a syntax error on every file it opens.
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise, takewhile
from operator import attrgetter
from typing import Any, TypeVar

from fabricreport.memo.document.derivations import Derivation, Step, grouped_inputs, in_runs, short_steps
from fabricreport.memo.document.document import Document

_SMALL_WORDS = frozenset(
    ["a", "an", "and", "at", "by", "for", "from", "in", "its", "of", "on", "per", "than", "that", "the", "to", "with"]
)
FEWEST_SHARED = 10
"""Fewer shared characters than that are not worth a heading of their own."""

K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True)
class Member:
    """One printed number within a family; `label` lacks the words of the run's `head`."""

    anchor: str
    label: str
    text: str
    spread: str
    stale: bool


@dataclass(frozen=True)
class Run:
    """Members whose labels begin with `head` (empty for a member alone)."""

    head: str
    members: tuple[Member, ...]


@dataclass(frozen=True)
class Group:
    """Members that rest on the same inputs and have the same grade, date and sources.

    `grade` is empty where the family tells it, `date` where the inputs have none.
    """

    steps: tuple[Step, ...]
    grade: str
    date: str
    sources: tuple[Step, ...]
    runs: tuple[Run, ...]


@dataclass(frozen=True)
class Family:
    """All printed numbers of one rule, in the section that printed the first of them.

    `head` holds the words all labels begin with, `grade` the grade of all members; empty if they differ.
    """

    rule: str
    section: str
    head: str
    grade: str
    groups: tuple[Group, ...]


def families(derivations: Sequence[Derivation]) -> tuple[Family, ...]:
    """The derivations by rule and then by inputs, sections and rules in order of first printing."""
    sections: dict[str, list[Family]] = {}
    for rule, entries in _alike(derivations, attrgetter("rule")).items():
        sections.setdefault(entries[0].section, []).append(_family(rule, entries))
    return tuple(chain.from_iterable(sections.values()))


def _alike(entries: Iterable[Derivation], key: Callable[[Derivation], K]) -> dict[K, list[Derivation]]:
    """The entries by what they have in common, in order of the first of each."""
    found: dict[K, list[Derivation]] = {}
    for entry in entries:
        found.setdefault(key(entry), []).append(entry)
    return found


def _family(rule: str, entries: Sequence[Derivation]) -> Family:
    head = _shared_words(entries) if len(entries) > 1 else ""
    if len(head) < FEWEST_SHARED:
        head = ""
    grades = {entry.grade for entry in entries}
    grade = grades.pop() if len(grades) == 1 else ""

    def shared(entry: Derivation) -> tuple[tuple[Step, ...], str, str, tuple[Step, ...]]:
        steps = (entry.input_set,) if entry.input_set else short_steps(entry.steps)
        # An assumption is as old as the memo.
        date = "" if entry.date == "undated" or entry.grade == "assumption" else entry.date
        return steps, "" if grade else entry.grade, date, entry.sources

    without_head = (replace(entry, label=entry.label[len(head) :].strip()) for entry in entries)
    groups = tuple(Group(*key, runs(members)) for key, members in _alike(without_head, shared).items())
    return Family(rule, entries[0].section, head.rstrip(":,;"), grade, groups)


def runs(entries: Sequence[Derivation]) -> tuple[Run, ...]:
    """Neighbours whose labels begin with the same words, those words factored out; those that tell one thing of several
    options or stages are neighbours."""
    told = _alike(entries, lambda entry: entry.label.rpartition(": ")[0] or entry.label)
    made: list[Run] = []
    rest = list(chain.from_iterable(told.values()))
    while rest:
        count, head = _longest(rest)
        members = (Member(e.anchor, e.label[len(head) :].strip(), e.text, e.spread, e.stale) for e in rest[:count])
        made.append(Run(head.rstrip(":,;"), tuple(members)))
        rest = rest[count:]
    return tuple(made)


def _longest(entries: Sequence[Derivation]) -> tuple[int, str]:
    """How many entries from the front share their first words, and those words."""
    head, count = "", 1
    while count < len(entries):
        shared = _shared_words(entries[: count + 1])
        # A longer run must not cost the members before it more words than it saves.
        if len(shared) < FEWEST_SHARED or len(shared) * (count + 1) < len(head) * count:
            break
        head, count = shared, count + 1
    return count, head


def _shared_words(entries: Sequence[Derivation]) -> str:
    """The words that the labels of all begin with; at least one word of each is left over."""
    places = zip(*(entry.label.split(" ")[:-1] for entry in entries), strict=False)
    words = [first for first, *_ in takewhile(lambda place: len(set(place)) == 1, places)]
    while words and (words[-1].lower() in _SMALL_WORDS or not any(c.isalnum() for c in words[-1])):
        words.pop()
    return " ".join(words)


MOST_NAMED = 4
"""A number that rests on more inputs than that tells how many there are: the HTML edition names them."""


def closing_of(document: Document, most_inputs: int | None = None) -> Document:
    """The document with the sources, derivations and inputs that print closes with.

    All of them; of the evidence report the sources; of a memo with a body of its own, those of page one and the sources that
    print cites. Of the inputs behind page one `most_inputs` are printed at most, in their order, each without its remark.
    """
    if not document.derives_in_print:
        sources = document.sources if document.lists_sources else ()
        return replace(document, sources=sources, derivations=(), inputs=(), input_sets=())
    if not document.spined:
        sets = (replace(s, steps=short_steps(s.steps), sources=in_runs(s.sources)) for s in document.input_sets)
        return replace(document, inputs=tuple(map(_as_input, document.inputs)), input_sets=tuple(sets))
    shown = [d for d in document.derivations if d.id in document.first_numbers]
    quoted = {i for d in shown for i in (d.steps if len(d.steps) <= MOST_NAMED else ())}
    needed = {step.anchor for step in quoted}
    inputs = [d for d in document.inputs if d.anchor in needed or d.id in document.first_numbers]
    inputs = [d for _, entries in grouped_inputs(inputs) for d in entries][:most_inputs]
    inputs = [replace(d, sources=()) if d.id.startswith("param:") else d for d in inputs]  # the client's own file
    behind = {step.anchor for d in inputs for step in d.sources}
    sources = tuple(s for n, s in enumerate(document.sources) if n < document.printed_sources or s.anchor in behind)
    listed = {source.anchor for source in sources}
    return replace(
        document,
        sources=sources,
        derivations=tuple(_short(d, listed) for d in shown),
        inputs=tuple(replace(_as_input(d), remark="", sources=_listed(d, listed)) for d in inputs),
        input_sets=(),
    )


def _short(derivation: Derivation, listed: set[str]) -> Derivation:
    steps = derivation.steps
    if len(steps) > MOST_NAMED:
        steps = (Step(f"{len(steps)} inputs", ""),)
    return replace(derivation, steps=steps, sources=_listed(derivation, listed), input_set=None)


def _listed(derivation: Derivation, listed: set[str]) -> tuple[Step, ...]:
    return tuple(source for source in derivation.sources if source.anchor in listed)


def _as_input(entry: Derivation) -> Derivation:
    """An input for print: what it may be used for stands where no source can be looked up instead, and what we assume for a
    memo is as old as the memo."""
    return replace(entry, date="") if entry.grade == "assumption" else replace(entry, remark="")


Place = Mapping[str, Any]
"""Where something stands: its kind, its anchor, its page and its height in points from the page's top."""

TEXT_TOP_PT, TEXT_BOTTOM_PT = 73.7, 779.5
"""A4 less the margins set in style.typ."""
TEXT_HEIGHT_PT = TEXT_BOTTOM_PT - TEXT_TOP_PT
MOST_EMPTY = 1 / 3
"""Of a page that ends neither the body nor the annexes."""
MOST_COLUMNS = 7
"""Of a table that is read across."""
LEAD = "lead"
"""The anchor of a paragraph that leads to what follows it."""


@dataclass(frozen=True)
class Layout:
    """A document as it was set. `blocks` in reading order: "begin" and "end" of what may break, "start" and "end" of what may
    not, "float" and "end" of what floats; `ends` are the pages on which body and annexes end."""

    blocks: Sequence[Place]
    headings: Sequence[Place]
    ends: frozenset[int]


def box_remarks(layout: Layout, called: Mapping[str, str], columns: Mapping[str, int]) -> Iterator[str]:
    """What stands badly; `called` names figures, tables and headings by their anchors, `columns` counts those of tables."""
    yield from _empty_pages(layout)
    yield from _bare_headings(layout, called)
    for before, here in pairwise(layout.blocks):
        if before["kind"] == "end" and before["anchor"] == LEAD and here["page"] > before["page"]:
            yield f"page {before['page']}: a lead-in stands at the foot, and what it leads to overleaf."
        if before["kind"] == "begin" and here["kind"] == "end" and before["anchor"] == here["anchor"] in called:
            yield from _cut(before, here, called)
    numbered = [p for p in layout.blocks if p["kind"] in ("begin", "start", "float") and p["anchor"] in columns]
    for before, here in pairwise(numbered):
        if (here["page"], here["y_pt"]) < (before["page"], before["y_pt"]):
            yield f"page {here['page']}: {called[here['anchor']]} stands before {called[before['anchor']]}."
    for anchor, count in columns.items():
        if count > MOST_COLUMNS:
            yield f"{called[anchor]} has {count} columns, more than {MOST_COLUMNS}: leave out or join some."


def feet(blocks: Sequence[Place]) -> dict[int, float]:
    """The height at which the last block of each page ends; a page that a block runs on from is full."""
    lowest: dict[int, float] = {}
    for place in blocks:
        if place["kind"] == "end":
            lowest[place["page"]] = max(lowest.get(place["page"], 0.0), place["y_pt"])
    for before, here in pairwise(blocks):
        if before["kind"] == "begin":
            lowest |= dict.fromkeys(range(before["page"], here["page"]), TEXT_BOTTOM_PT)
    return lowest


def _empty_pages(layout: Layout) -> Iterator[str]:
    for page, foot in feet(layout.blocks).items():
        empty = (TEXT_BOTTOM_PT - foot) / TEXT_HEIGHT_PT
        if page not in layout.ends and empty > MOST_EMPTY:
            yield f"page {page} is empty by {empty:.0%} at its foot: shorten what stands on it, or let a block there break."


def _bare_headings(layout: Layout, called: Mapping[str, str]) -> Iterator[str]:
    begun = [(p["page"], p["y_pt"]) for p in layout.blocks if p["kind"] in ("begin", "start", "float")]
    for heading in layout.headings:
        at = (heading["page"], heading["y_pt"])
        following = min((place for place in begun if place > at), default=at)
        if following[0] > heading["page"]:
            yield f"page {heading['page']}: {called.get(heading['anchor'], 'a heading')} stands at the foot without its matter."


def _cut(begin: Place, end: Place, called: Mapping[str, str]) -> Iterator[str]:
    if end["page"] == begin["page"] + 1:
        height = TEXT_BOTTOM_PT - begin["y_pt"] + end["y_pt"] - TEXT_TOP_PT
        if height < TEXT_HEIGHT_PT / 4:
            yield f"page {begin['page']}: {called[begin['anchor']]} is cut, and a quarter of a page would hold it."


MOST_IN_STREAM = 200
"""Objects a reader must unpack to see one of them."""

_TABLE = re.compile(rb"xref\n0 (\d+)\n")
_ROW = re.compile(rb"(\d{10}) 00000 n")
_OBJECT = re.compile(rb"\s*(\d+) 0 obj\n(.*)\nendobj\s*\Z", re.DOTALL)
_TRAILER = re.compile(rb"trailer\n<<(.*)>>\nstartxref\n(\d+)\n%%EOF\s*\Z", re.DOTALL)
_FIRST = re.compile(rb"\d+ 0 obj\n")
_SIZE = re.compile(rb"/Size \d+")

_CATALOG = b"<</Type/Catalog"
_SUSPECTS = (b"/MarkInfo<</Marked true/Suspects false>>", b"/MarkInfo<</Marked true>>")

XrefRow = tuple[int, int, int]
"""A row of the cross-reference stream: (1, offset, 0) or (2, number of the object stream, index in it)."""


def pack(pdf: bytes) -> bytes:
    """The same document in fewer bytes; a file that is not laid out as Typst does comes back unchanged."""
    found, trailer, first = _objects(pdf), _TRAILER.search(pdf), _FIRST.search(pdf)
    if found is None or trailer is None or first is None:
        return pdf
    small: list[tuple[int, bytes]] = []
    free = max(found) + 1
    places: dict[int, XrefRow] = {}
    written = bytearray(pdf[: first.start()])

    def write(number: int, body: bytes) -> None:
        places[number] = (1, len(written), 0)
        written.extend(b"%d 0 obj\n%s\nendobj\n" % (number, body))

    for number, body in found.items():
        if body.endswith(b"endstream"):
            write(number, body)
        else:
            small.append((number, body.replace(*_SUSPECTS, 1) if body.startswith(_CATALOG) else body))
    for first_of in range(0, len(small), MOST_IN_STREAM):
        members = small[first_of : first_of + MOST_IN_STREAM]
        write(free, _object_stream(members))
        places |= {number: (2, free, index) for index, (number, _) in enumerate(members)}
        free += 1
    start = len(written)
    places[free] = (1, start, 0)
    entries = _SIZE.sub(b"/Size %d" % (free + 1), trailer[1])
    write(free, _cross_references(places, free + 1, entries))
    written.extend(b"startxref\n%d\n%%%%EOF\n" % start)
    return bytes(written)


def _objects(pdf: bytes) -> dict[int, bytes] | None:
    """Objects by number in the file's order, as the cross-reference table finds them; None if it does not."""
    trailer = _TRAILER.search(pdf)
    table = _TABLE.match(pdf, int(trailer[2])) if trailer else None
    if trailer is None or table is None:
        return None
    offsets = sorted(map(int, _ROW.findall(pdf, table.end(), trailer.start())))
    objects: dict[int, bytes] = {}
    for start, end in pairwise([*offsets, table.start()]):
        match = _OBJECT.match(pdf[start:end])
        if match is None:
            return None
        objects[int(match[1])] = match[2]
    return objects if len(objects) == int(table[1]) - 1 else None


def _object_stream(members: list[tuple[int, bytes]]) -> bytes:
    heads, bodies, at = [], [], 0
    for number, body in members:
        heads.append(b"%d %d" % (number, at))
        bodies.append(body)
        at += len(body) + 1
    head = b" ".join(heads) + b"\n"
    kind = b"/Type/ObjStm/N %d/First %d" % (len(members), len(head))
    return _stream(kind, head + b"\n".join(bodies))


def _cross_references(places: Mapping[int, XrefRow], size: int, trailer: bytes) -> bytes:
    data = b"".join(struct.pack(">BIH", *places.get(number, (0, 0, 65535))) for number in range(size))
    return _stream(b"/Type/XRef/W[1 4 2]" + trailer, data)


def _stream(entries: bytes, data: bytes) -> bytes:
    packed = zlib.compress(data, 7)  # 9 takes twice as long for less than a hundredth
    return b"<<%s/Filter/FlateDecode/Length %d>>\nstream\n%s\nendstream" % (entries, len(packed), packed)
