"""Derivations: where each printed number comes from, in two steps at most; and the numbered source list.

A number that only repeats what an input says has no entry of its own: it leads to the input's.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from string import digits
from typing import Any

from fabricreport.base import formats
from fabricreport.ledger.bases import told
from fabricreport.ledger.numbers import Record
from fabricreport.memo.document.safety import one_line, slug


@dataclass(frozen=True)
class Source:
    """One document in the source list; several figures may come from it."""

    number: int
    anchor: str
    title: str
    publisher: str
    address: str
    dates: tuple[str, ...]
    read: str
    grades: tuple[str, ...]
    interest: str


@dataclass
class SourceBook:
    """The memo's inputs, and the source list that grows as they are cited."""

    inputs: Mapping[str, Record]
    _numbers: dict[tuple[str, ...], int] = field(default_factory=dict)

    @cached_property
    def _documents(self) -> Mapping[str, tuple[str, ...]]:
        """Title, publisher and address of what each input is from; an input without a source has none."""
        found = {}
        for i, entry in self.inputs.items():
            if entry.get("source"):
                found[i] = tuple(one_line(str(entry.get(part) or "")) for part in ("source", "publisher", "address"))
        return found

    def __len__(self) -> int:
        """How many sources are numbered so far."""
        return len(self._numbers)

    def number(self, input_id: str) -> int | None:
        """The number of the input's source; it is given one when it is first asked for. None if unknown."""
        found = self._documents.get(input_id)
        return None if found is None else self._numbers.setdefault(found, len(self) + 1)

    def listed(self) -> tuple[Source, ...]:
        """All numbered sources in order."""
        members: defaultdict[tuple[str, ...], list[Record]] = defaultdict(list)
        for i, document in self._documents.items():
            members[document].append(self.inputs[i])
        return tuple(self._source(key, number, members[key]) for key, number in self._numbers.items())

    def _source(self, key: tuple[str, ...], number: int, members: list[Record]) -> Source:
        def each(name: str) -> tuple[str, ...]:
            return tuple(sorted({one_line(str(m[name])) for m in members if m.get(name)}))

        grades = each("grade")
        dated = grades != ("assumption",)  # what we assume for a memo is as old as the memo
        return Source(
            number=number,
            anchor=f"s-{number}",
            title=key[0],
            publisher=key[1],
            address=key[2],
            dates=each("date") if dated else (),
            read=", ".join(each("read")[-1:]) if dated else "",
            grades=grades,
            interest="; ".join(each("interest")),
        )


FOOTING = {
    "measured": "firm",
    "contract": "firm",
    "quote": "firm",
    "published": "told",
    "secondary": "told",
    "estimate": "assumed",
    "assumption": "assumed",
}
"""The three kinds of knowledge a reader can tell apart at the number."""

KINDS = (
    ("price", "P", "Prices"),
    ("evidence", "E", "Evidence"),
    ("param", "C", "Your case"),
    ("claim", "A", "Audited claims"),
)
"""Kinds of inputs: the id's first word, the first letter of the short names, the heading of the list."""

_LETTERS = {kind: letter for kind, letter, _ in KINDS}
OTHER_CODE, OTHER_TITLE = "X", "Other inputs"
MOST_SOURCES = 6
FEWEST_IN_SET = 4
"""A set of inputs that takes fewer codes than that to write is written out wherever it occurs."""

_QUOTES = re.compile(r"as (?:stated|published|the \w+ states)\b")


class Anchors:
    """Unique, safe anchors: one for each (kind, id), the same whenever it is asked for again."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], str] = {}
        self._taken: set[str] = set()

    def of(self, kind: str, identity: str) -> str:
        """`d-tco-difference` for ("d", "tco.difference"); a second id with that slug gets `-2`."""
        key = (kind, identity)
        if key not in self._known:
            base = f"{kind}-{slug(identity)}"
            anchor, count = base, 1
            while anchor in self._taken:
                count += 1
                anchor = f"{base}-{count}"
            self._taken.add(anchor)
            self._known[key] = anchor
        return self._known[key]


@dataclass(frozen=True)
class Step:
    """A link from a derivation to what it rests on; `code` is an input's short name (P3), `text` its label."""

    text: str
    anchor: str
    code: str = ""


@dataclass(frozen=True)
class InputSet:
    """Inputs that several numbers rest on together, named once: S7 = C2–C6, E11, P1–P17."""

    code: str
    anchor: str
    steps: tuple[Step, ...]
    sources: tuple[Step, ...]


@dataclass(frozen=True)
class Derivation:
    """One entry of the derivation appendix: a printed number, or an input such numbers rest on.

    `steps` are the inputs; if those have a name together, `input_set` leads to it and `sources` is empty, because
    the set tells them. `base` is what it is a quantity of, and how. An input's `remark` says what it may be used for, its `notice` who overrode it and until
    when it is good.
    """

    id: str
    anchor: str
    label: str
    text: str
    grade: str
    footing: str
    date: str
    spread: str
    sources: tuple[Step, ...]
    stale: bool
    rule: str = ""
    steps: tuple[Step, ...] = ()
    remark: str = ""
    notice: str = ""
    section: str = ""
    code: str = ""
    base: str = ""
    input_set: Step | None = None


def appendix(
    used: Mapping[str, str | None], ledger: Mapping[str, Record], book: SourceBook, anchors: Anchors
) -> tuple[tuple[Derivation, ...], tuple[Derivation, ...], tuple[InputSet, ...]]:
    """Entries of the printed numbers, their inputs, and the sets of those.

    `used`: the numbers in order of first printing, each with the input that it repeats.
    """
    own = [ledger[i] for i, quoted in used.items() if quoted is None]
    quoting = [ledger[i] for i, quoted in used.items() if quoted is not None]
    inputs = _inputs(own, quoting, book, anchors)
    entries = {entry.id: entry for entry in inputs}
    steps = {entry.id: Step(entry.label, entry.anchor, entry.code) for entry in inputs}
    steps |= {n["id"]: Step(_label(n), anchors.of("d", n["id"])) for n in own}
    derived = [_derived(n, steps, entries, anchors) for n in own]
    sets, ways = _sets(derived, inputs, anchors)
    named = (replace(d, input_set=ways[d.id], sources=()) if d.id in ways else d for d in derived)
    return tuple(named), inputs, sets


def quoted_input(entry: Record, inputs: Mapping[str, Record]) -> str | None:
    """Id of the input that this ledger number merely repeats; None if the number was worked out."""
    ids = _ids(entry, "inputs")
    if len(ids) != 1 or ids[0] not in inputs:
        return None
    says_so = str(entry["id"]).startswith("stated.") or _QUOTES.match(str(entry.get("rule") or ""))
    return ids[0] if says_so else None


def short_steps(steps: Sequence[Step]) -> tuple[Step, ...]:
    """Steps in order of code with neighbours joined to runs, P1–P24, E3; steps without a code keep their label, first.

    A number made of fifty prices fits one line of print.
    """
    named = [step for step in steps if not step.code]
    return (*named, *in_runs([Step(step.code, step.anchor) for step in steps if step.code]))


def in_runs(steps: Iterable[Step]) -> tuple[Step, ...]:
    """Steps whose texts end in a number, in its order, neighbours joined: P1–P24, E3, or 1, 4–9; a run leads to its first."""
    runs: list[tuple[Step, Step]] = []
    for step in sorted(steps, key=_place):
        letter, number = _place(step)
        if runs and _place(runs[-1][1]) == (letter, number - 1):
            runs[-1] = (runs[-1][0], step)
        else:
            runs.append((step, step))
    return tuple(first if first is last else Step(f"{first.text}–{last.text}", first.anchor) for first, last in runs)


def _place(step: Step) -> tuple[str, int]:
    letter = step.text.rstrip(digits)
    return letter, int(step.text[len(letter) :])


def grouped_inputs(inputs: Sequence[Derivation]) -> list[tuple[str, list[Derivation]]]:
    """The inputs under the headings of their kinds, empty kinds left out."""
    groups: dict[str, list[Derivation]] = {}
    for one in inputs:
        groups.setdefault(one.code[0], []).append(one)
    kinds = (*KINDS, ("", OTHER_CODE, OTHER_TITLE))
    return [(title, groups[letter]) for _, letter, title in kinds if letter in groups]


def _ids(entry: Record, name: str) -> list[str]:
    return list(map(str, entry.get(name) or ()))


def _label(entry: Record) -> str:
    return one_line(str(entry.get("label") or entry["id"]))


def _derived(
    entry: Record, steps: Mapping[str, Step], inputs: Mapping[str, Derivation], anchors: Anchors
) -> Derivation:
    behind = _ids(entry, "inputs")
    resting = [inputs[i] for i in (*_ids(entry, "sources"), *behind) if i in inputs]
    sources = _each_once(one.sources for one in resting)
    return _entry(
        entry,
        anchors,
        text=str(entry.get("text") or ""),
        rule=one_line(str(entry.get("rule") or "")),
        base=one_line(told(entry["base"])) if entry.get("base") else "",
        spread=_spread(entry),
        steps=tuple([steps.get(i) or Step(one_line(i), "") for i in behind]),
        # With more sources than that the reader finds each at its input, one step further.
        sources=sources if len(sources) <= MOST_SOURCES else (),
        section=str(entry.get("section") or ""),
    )


def _entry(entry: Record, anchors: Anchors, **own: Any) -> Derivation:
    """A derivation with what its record says of itself."""
    grade = str(entry.get("grade") or "")
    return Derivation(
        id=str(entry["id"]),
        anchor=anchors.of("d", str(entry["id"])),
        label=_label(entry),
        grade=grade,
        footing=FOOTING.get(grade, ""),
        date=str(entry.get("date") or ""),
        stale=bool(entry.get("stale")),
        **own,
    )


def _each_once(sources: Iterable[Sequence[Step]]) -> tuple[Step, ...]:
    """Sources in the order of their numbers."""
    return tuple(sorted({source for some in sources for source in some}, key=lambda source: int(source.text)))


def _sets(
    derived: Sequence[Derivation], inputs: Sequence[Derivation], anchors: Anchors
) -> tuple[tuple[InputSet, ...], dict[str, Step]]:
    """Sets that occur again and are long to write, most inputs first, and the way to one by the id of what rests on it."""
    users: dict[tuple[Step, ...], list[Derivation]] = {}
    cited = {entry.anchor: entry.sources for entry in inputs}
    for entry in derived:
        if len(entry.steps) >= FEWEST_IN_SET:
            users.setdefault(short_steps(entry.steps), []).append(entry)
    again = [entries for key, entries in users.items() if len(entries) > 1 and len(key) >= FEWEST_IN_SET]
    again.sort(key=lambda entries: -len(entries[0].steps))
    found: list[InputSet] = []
    ways: dict[str, Step] = {}
    for number, entries in enumerate(again, start=1):
        code = f"S{number}"
        steps = entries[0].steps
        sources = _each_once(cited.get(step.anchor, ()) for step in steps)
        found.append(InputSet(code, anchors.of("i", code), steps, sources))
        ways |= dict.fromkeys((entry.id for entry in entries), Step(code, found[-1].anchor, code))
    return tuple(found), ways


def _inputs(
    own: Sequence[Record], quoting: Sequence[Record], book: SourceBook, anchors: Anchors
) -> tuple[Derivation, ...]:
    """One coded entry for each input a printed number rests on or repeats.

    Inputs that numbers use together stand together, so that most sets of inputs are a few runs of codes.
    """
    sets = sorted({tuple(_ids(n, "inputs")) for n in own}, key=lambda ids: (-len(ids), ids))
    largest_first = list(map(frozenset, sets))
    repeated: dict[str, list[Record]] = {}
    for number in quoting:
        repeated.setdefault(_ids(number, "inputs")[0], []).append(number)
    wanted: dict[str, None] = {}
    for n in (*own, *quoting):
        wanted |= dict.fromkeys([*_ids(n, "inputs"), *_ids(n, "sources")])
    found = [_input(book.inputs[i], repeated.get(i, []), book, anchors) for i in wanted if i in book.inputs]
    found.sort(
        key=lambda d: (
            d.id.partition(":")[0],
            tuple(d.id not in inputs for inputs in largest_first),
            d.label.lower(),
            d.id,
        )
    )
    counts: Counter[str] = Counter()
    coded = []
    for entry in found:
        letter = _LETTERS.get(entry.id.partition(":")[0], OTHER_CODE)
        counts[letter] += 1
        coded.append(replace(entry, code=f"{letter}{counts[letter]}"))
    return tuple(coded)


def _input(entry: Record, repeated: Sequence[Record], book: SourceBook, anchors: Anchors) -> Derivation:
    """`repeated` are the ledger numbers that quote this input: their texts stand in where it has none of its own."""
    override = entry.get("override")
    notices = []
    if isinstance(override, dict):
        who, why, until = (one_line(str(override.get(k, ""))) for k in ("who", "why", "until"))
        notices.append(f"Overridden by {who}{until and f' until {until}'}: {why}")
    if entry.get("expiry"):
        notices.append(f"Good until {one_line(str(entry['expiry']))}")
    text, source = str(entry.get("text") or ""), book.number(str(entry["id"]))
    said = ", ".join(dict.fromkeys(str(n.get("text") or "") for n in repeated))
    return _entry(
        entry,
        anchors,
        text=text or said,
        # A range already says how far the figure may be off.
        spread="" if " to " in text else next((s for n in repeated if (s := _spread(n))), ""),
        sources=(Step(str(source), f"s-{source}"),) if source is not None else (),
        remark=one_line(str(entry.get("use") or "")),
        notice=". ".join(n.rstrip(".") for n in notices),
    )


def _spread(entry: Record) -> str:
    """P5 to P95 as the number itself writes them, in its own currency and to its own digits."""
    spread = entry.get("spread_text")
    if not isinstance(spread, dict):
        return ""
    low, high = str(spread["p5"]), str(spread["p95"])
    return "" if low == high else formats.between(low, high)
