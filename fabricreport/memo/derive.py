"""Sources and derivations: where each printed number comes from, in two steps at most."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from fabricreport import formats
from fabricreport.memo.safe import one_line, slug

Node = dict[str, Any]

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

CODES, OTHER_CODE = {"price": "P", "evidence": "E", "param": "C"}, "X"
"""First letters of the inputs' short names: prices, evidence, the client's parameters."""

MOST_SOURCES = 6


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
    cited: bool


@dataclass(frozen=True)
class Step:
    """A link from a derivation to what it rests on; `code` is an input's short name (P3), `text` its label."""

    text: str
    anchor: str
    code: str = ""


@dataclass(frozen=True)
class Derivation:
    """One entry of the derivation appendix: a printed number, or an input such numbers rest on."""

    id: str
    anchor: str
    label: str
    text: str
    rule: str
    grade: str
    footing: str
    date: str
    spread: str
    steps: tuple[Step, ...]
    sources: tuple[Step, ...]
    stale: bool
    remark: str
    section: str = ""
    code: str = ""

    @property
    def short_steps(self) -> tuple[Step, ...]:
        """The steps by code, runs joined: P1–P24, E3. A number made of fifty prices fits one line of print."""
        return short_steps(self.steps)


@dataclass
class SourceBook:
    """The memo's inputs, and the source list that grows as they are cited."""

    inputs: Mapping[str, Node]
    _numbers: dict[tuple[str, str, str], int] = field(default_factory=dict)
    _cited: set[int] = field(default_factory=set)

    def cite(self, input_id: str) -> int | None:
        """The number of the input's source; it is given one at its first citation. None if unknown."""
        number = self._number(input_id)
        if number is not None:
            self._cited.add(number)
        return number

    def quiet_number(self, input_id: str) -> int | None:
        """The source's number for the appendix; a source only met here comes after all cited ones."""
        return self._number(input_id)

    def _number(self, input_id: str) -> int | None:
        entry = self.inputs.get(input_id)
        if entry is None or not entry.get("source"):
            return None
        return self._numbers.setdefault(_document_of(entry), len(self._numbers) + 1)

    def listed(self) -> tuple[Source, ...]:
        """All numbered sources in order."""
        members: dict[int, list[Node]] = {number: [] for number in self._numbers.values()}
        for entry in self.inputs.values():
            number = self._numbers.get(_document_of(entry))
            if number is not None:
                members[number].append(entry)
        return tuple(self._source(key, number, members[number]) for key, number in self._numbers.items())

    def _source(self, key: tuple[str, str, str], number: int, members: list[Node]) -> Source:
        def each(name: str) -> tuple[str, ...]:
            return tuple(sorted({one_line(str(m[name])) for m in members if m.get(name)}))

        return Source(
            number=number,
            anchor=f"s-{number}",
            title=key[0],
            publisher=key[1],
            address=key[2],
            dates=each("date"),
            read=", ".join(each("read")[-1:]),
            grades=each("grade"),
            interest="; ".join(each("interest")),
            cited=number in self._cited,
        )


def _document_of(entry: Node) -> tuple[str, str, str]:
    return (
        one_line(str(entry.get("source") or "")),
        one_line(str(entry.get("publisher") or "")),
        one_line(str(entry.get("address") or "")),
    )


def derivations(
    used: Iterable[str], ledger: Mapping[str, Node], book: SourceBook, anchors: Anchors, inputs: Iterable[Derivation]
) -> tuple[Derivation, ...]:
    """One entry for each printed ledger number, in order of first printing; `inputs` gives the codes."""
    codes = {entry.id: entry.code for entry in inputs}
    return tuple(_derived(ledger[i], ledger, book, anchors, codes) for i in used if i in ledger)


def short_steps(steps: Sequence[Step]) -> tuple[Step, ...]:
    """Steps in order of code with neighbours joined to runs; steps without a code keep their label, first."""
    named = [step for step in steps if not step.code]
    coded = sorted((s for s in steps if s.code), key=lambda s: (s.code[0], int(s.code[1:])))
    runs: list[list[Step]] = []
    for step in coded:
        follows = runs and step.code[0] == runs[-1][-1].code[0] and int(step.code[1:]) == int(runs[-1][-1].code[1:]) + 1
        if follows:
            runs[-1].append(step)
        else:
            runs.append([step])
    joined = [Step(r[0].code if len(r) == 1 else f"{r[0].code}–{r[-1].code}", r[0].anchor) for r in runs]
    return (*named, *joined)


def _derived(
    entry: Node, ledger: Mapping[str, Node], book: SourceBook, anchors: Anchors, codes: Mapping[str, str]
) -> Derivation:
    inputs = [str(i) for i in entry.get("inputs") or []]
    cited = dict.fromkeys([*(str(s) for s in entry.get("sources") or []), *inputs])
    sources = _source_steps(cited, book)
    grade = str(entry.get("grade") or "")
    return Derivation(
        id=str(entry["id"]),
        anchor=anchors.of("d", str(entry["id"])),
        label=one_line(str(entry.get("label") or entry["id"])),
        text=str(entry.get("text") or ""),
        rule=one_line(str(entry.get("rule") or "")),
        grade=grade,
        footing=FOOTING.get(grade, ""),
        date=str(entry.get("date") or ""),
        spread=_spread(entry),
        steps=tuple(_step(i, ledger, book, anchors, codes) for i in inputs),
        # With more sources than that the reader finds each at its input, one step further.
        sources=sources if len(sources) <= MOST_SOURCES else (),
        stale=bool(entry.get("stale")),
        remark="",
        section=str(entry.get("section") or ""),
    )


def _step(
    input_id: str, ledger: Mapping[str, Node], book: SourceBook, anchors: Anchors, codes: Mapping[str, str]
) -> Step:
    if input_id in ledger:
        label = ledger[input_id].get("label") or input_id
        return Step(one_line(str(label)), anchors.of("d", input_id))
    entry = book.inputs.get(input_id)
    label = (entry or {}).get("label") or input_id
    return Step(one_line(str(label)), anchors.of("d", input_id) if entry else "", codes.get(input_id, ""))


def _source_steps(ids: Iterable[str], book: SourceBook) -> tuple[Step, ...]:
    numbers = {n for i in ids if (n := book.quiet_number(i)) is not None}
    return tuple(Step(str(n), f"s-{n}") for n in sorted(numbers))


def used_inputs(
    used: Iterable[str], ledger: Mapping[str, Node], book: SourceBook, anchors: Anchors
) -> tuple[Derivation, ...]:
    """One entry for each input a printed number rests on or a sentence cites, sorted by kind and label."""
    wanted: dict[str, None] = {}
    for number_id in used:
        entry = ledger.get(number_id, {})
        wanted |= dict.fromkeys(str(i) for i in [*(entry.get("inputs") or []), *(entry.get("sources") or [])])
    found = [_input(book.inputs[i], book, anchors) for i in wanted if i in book.inputs]
    found.sort(key=lambda d: (d.id.partition(":")[0], d.label.lower(), d.id))
    counts = dict.fromkeys([*CODES.values(), OTHER_CODE], 0)
    coded = []
    for entry_of_input in found:
        letter = CODES.get(entry_of_input.id.partition(":")[0], OTHER_CODE)
        counts[letter] += 1
        coded.append(replace(entry_of_input, code=f"{letter}{counts[letter]}"))
    return tuple(coded)


def _input(entry: Node, book: SourceBook, anchors: Anchors) -> Derivation:
    grade = str(entry.get("grade") or "")
    override = entry.get("override")
    remarks = [one_line(str(entry.get("use") or ""))]
    if isinstance(override, dict):
        who, why, until = (one_line(str(override.get(k, ""))) for k in ("who", "why", "until"))
        remarks.append(f"Overridden by {who} until {until}: {why}")
    if entry.get("expiry"):
        remarks.append(f"Good until {one_line(str(entry['expiry']))}")
    return Derivation(
        id=str(entry["id"]),
        anchor=anchors.of("d", str(entry["id"])),
        label=one_line(str(entry.get("label") or entry["id"])),
        text=str(entry.get("text") or ""),
        rule="",
        grade=grade,
        footing=FOOTING.get(grade, ""),
        date=str(entry.get("date") or ""),
        spread="",
        steps=(),
        sources=_source_steps([str(entry["id"])], book),
        stale=bool(entry.get("stale")),
        remark=". ".join(r.rstrip(".") for r in remarks if r),
    )


def _spread(entry: Node) -> str:
    spread = entry.get("spread")
    if not isinstance(spread, dict):
        return ""
    unit = str(entry.get("unit") or "")
    low, high = (formats.write(float(spread[k]), unit) for k in ("p5", "p95"))
    return f"{low} to {high}" if low != high else ""
