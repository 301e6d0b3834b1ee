"""A prose cell as text: one line that says what it is and when it holds, then Markdown that an analyst edits, with choices within a line.

    {if:third|The next option, {third}, costs more.|}     the first text where there is one, else the second
    {if:spares|Some stand by.|}                           likewise, where a finding holds
    {one:sellers|seller|sellers}                          the first where it is one, by things or by a figure as printed
    {alike:a,b|{a}|{a} here, {b} there}                   the first where two figures print alike
    {more_or_less:decision.cash}                          more, less or the same: what the figure says of the first of the two
    {longer_or_shorter:latency.penalty}                   longer, shorter or as long, likewise
    {most:tco.part[causes]}                               the one of several things whose figure is the largest by size

A direction is worked out by the sign of a figure that tells two options apart (`compares`), as printed: above zero the
first has less. Of the largest, those that print alike are named together. A choice may hold fields and no other choice.

    %%say when=finding.clear                         Markdown: headings, paragraphs, lists
    %%say each=turn in turns                         once for each of several things
    %%say further when=finding.grows                 the same paragraph as the cell before, where both are said
    %%say glance                                     a paragraph of page one's summary
    %%say caution                                    a boxed remark (also note, decision); `title:` opens it
    %%say by=levers                                  an arm for each value of a fact, of which one is said (below)
    %%tile when=finding.costs_differ                 a tile of page one: label:, value:, note:
    %%title when=finding.costs_less                  the title of the next chart or table
    %%chart from=charts.switching_chart(case)        title:, subtitle:, alt:, caption:
    %%table tab-decision-options from=tables.options(case)     caption:, note:
    %%table tab-diligence-answers each=seller in answered from=tables.answers(result)      one table a seller, by its key

A place of the memo is one cell. Where its argument can go several ways it has arms, each under the values of one fact:

    %%say by=levers
    What pays is told in {tab-body-levers}.          what stands before the first arm begins every one
    [one, several]
    {best_lever} pays best.                          also labelled texts, each going on in the one before the first arm
    [none]                                           an arm without words says nothing, nor what begins the others

A table without rows, and a chart or table of which `from=` makes None, is not printed.

The values are those of the fact in the package: an arm that is missing, unknown or there twice is refused
before anything runs. Reading a cell needs no case and no kernel, so every field can be checked by then too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest

from fabricreport.base.locations import did_you_mean

IF, ONE, ALIKE, MOST = "if", "one", "alike", "most"
DIRECTIONS = {"more_or_less": ("the same", "less", "more"), "longer_or_shorter": ("as long", "shorter", "longer")}
"""Words by the sign of a figure: of nought, above it, below it."""
_TEXT = r"((?:[^{}|]|\{[^{}|]*\})*)"
_CHOICE = re.compile(rf"\{{({IF}|{ONE}|{ALIKE}):([^{{}}|]+)\|{_TEXT}\|{_TEXT}\}}")
_LEFT = re.compile(rf"\{{(?:{IF}|{ONE}|{ALIKE}):[^{{}}|]*")


def resolved(text: str, holds: Callable[[str, str], bool]) -> str:
    """The text with its choices made: `holds` says of a kind of choice and what it asks of whether the first text stands.

    `ProseFault` of one that cannot be read, which a reader would see as it is typed."""
    chosen = _CHOICE.sub(lambda found: found[3] if holds(found[1], found[2].strip()) else found[4], text)
    if left := _LEFT.search(chosen):
        raise ProseFault(f"{left[0]}…: a choice has two texts, and holds no other choice")
    return chosen


def readings(text: str) -> tuple[str, ...]:
    """The text with the first of all its choices, and with the second; one without any as it stands."""
    return tuple(dict.fromkeys(_CHOICE.sub(rf"\g<{way}>", text) for way in (3, 4)))


def asked_by(text: str) -> tuple[str, ...]:
    """What the choices of a text ask of, as fields."""
    return tuple(name.strip() for found in _CHOICE.finditer(text) for name in found[2].split(","))


def figure_of(field: str) -> tuple[str, str]:
    """The word that a field asks of a figure, a direction or `most`, and the figure's id; no word where it is another field."""
    word, _, figure = field.partition(":")
    return (word, figure) if figure and (word == MOST or word in DIRECTIONS) else ("", field)


MAGICS = ("say", "tile", "title", "chart", "table")
BOXES = ("caution", "note", "decision")
PLACES = ("glance", *BOXES)
PARTS = {
    "tile": ("label", "value", "note"),
    "chart": ("title", "subtitle", "alt", "caption"),
    "table": ("caption", "note"),
    "box": ("title",),
}
_MAGIC = re.compile(r"\A%%(\w+)[ \t]*([^\n]*)(?:\n(.*))?\Z", re.DOTALL)
_OPTION = re.compile(r"\b(when|by|each|from)=")
_FACT = re.compile(r"[a-z]\w*\Z")
ARM = re.compile(r"^\[([^\[\]\n]*)\][ \t]*$", re.MULTILINE)
MOST_ARMS = 6
"""So many arms of one cell say something: beyond that its argument is cut in the wrong place."""
_CONDITION = re.compile(r"(not )?([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)\Z")
_LOOP = re.compile(r"([A-Za-z_]\w*) in ([A-Za-z_]\w*)\Z")
_TABLE_ID = re.compile(r"tab-[a-z][a-z0-9.-]*\Z")
_PART = re.compile(r"^([a-z]+(?:-[a-z]+)*):[ \t]*", re.MULTILINE)


class ProseFault(ValueError):
    """What is wrong with a prose cell, in words for whoever edits it; notebooks show it without a traceback."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


@dataclass(frozen=True)
class Arm:
    """What a cell says where its fact has one of these values; None where that is nothing."""

    values: tuple[str, ...]
    said: ProseCell | None


@dataclass(frozen=True)
class ProseCell:
    """One prose cell, read. `when` is a dotted name (`negated` turns it round), `each` a loop's name and its word.

    `source` is the expression behind `from=`; `parts` are the labelled texts (`caption:` …), `text` the rest. A cell `by` a
    fact has none of its own: its `arms` have them.
    """

    kind: str
    place: str = ""
    further: bool = False
    id: str = ""
    when: str = ""
    negated: bool = False
    each: tuple[str, str] | None = None
    source: str = ""
    parts: Mapping[str, str] = field(default_factory=dict)
    text: str = ""
    by: str = ""
    arms: tuple[Arm, ...] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        """Everything in the cell that a reader may come to see, each text once for either way that its choices may go."""
        told = (text for one in self.ways for text in (*one.parts.values(), one.text) if text)
        return tuple(dict.fromkeys(reading for text in told for reading in readings(text)))

    @property
    def asked(self) -> tuple[str, ...]:
        """The words and figures that its choices ask of."""
        return tuple(name for one in self.ways for text in (*one.parts.values(), one.text) for name in asked_by(text))

    @property
    def ways(self) -> tuple[ProseCell, ...]:
        """What it may come to say, an arm each; without arms the cell itself."""
        return tuple(arm.said for arm in self.arms if arm.said) if self.by else (self,)

    def said_of(self, value: str) -> ProseCell | None:
        """The arm of a fact's value, as a cell without arms; None where nothing is said of it."""
        return next(arm.said for arm in self.arms if value in arm.values)


def is_prose(source: str) -> bool:
    """Whether a code cell is a prose cell."""
    found = _MAGIC.match(source)
    return found is not None and found[1] in MAGICS


def opening_cells(cells: Sequence[Mapping[str, str]]) -> int:
    """How many cells a notebook opens with: those before its first prose cell, which open the case."""
    said = (n for n, cell in enumerate(cells) if cell["cell_type"] == "code" and is_prose("".join(cell["source"])))
    return next(said, len(cells))


def read_cell(source: str) -> ProseCell:
    """A prose cell from its source; `ProseFault` says what is wrong with its first line or its parts."""
    found = _MAGIC.match(source)
    if found is None or found[1] not in MAGICS:
        raise ProseFault(f"a prose cell begins with one of {', '.join('%%' + m for m in MAGICS)}")
    return read_prose(found[1], found[2], found[3] or "")


def read_prose(kind: str, line: str, body: str) -> ProseCell:
    """A prose cell from its magic, the rest of its first line and its body."""
    words, options = _options(kind, line)
    id = ""
    if kind == "table":
        id = words.pop(0) if words else ""
        if not _TABLE_ID.match(id):
            raise ProseFault("%%table names the table first: %%table tab-section-what from=…")
    further = "further" in words
    if further and kind != "say":
        raise ProseFault(f"%%{kind} cannot go further: only %%say goes on in the paragraph before")
    places = [w for w in words if w != "further"]
    if len(places) > 1 or (places and (kind != "say" or places[0] not in PLACES)):
        raise ProseFault(f"%%{kind} does not know {' '.join(places)!r}: a place is one of {', '.join(PLACES)}")
    place = places[0] if places else ""
    when = _CONDITION.match(options.get("when", "")) if "when" in options else None
    if "when" in options and when is None:
        raise ProseFault(
            f"when={options['when']}: a cell has one condition, a name such as finding.clear, or not of one"
        )
    each = _LOOP.match(options.get("each", "")) if "each" in options else None
    if "each" in options and each is None:
        raise ProseFault(f"each={options['each']}: write each=turn in turns, the last a word of this section")
    if ("from" in options) != (kind in ("chart", "table")):
        raise ProseFault(f"%%{kind} {'takes no' if 'from' in options else 'needs'} from=")
    cell = ProseCell(
        kind, place, further, id, when[2] if when else "", bool(when and when[1]), (each[1], each[2]) if each else None,
        options.get("from", ""),
    )  # fmt: skip
    if "by" not in options:
        parts, text = _parts(kind, place, body)
        return replace(cell, parts=parts, text=text)
    if "when" in options or not _FACT.match(options["by"]):
        raise ProseFault(f"by={options['by']}: a cell goes by one fact, and has no when= beside it")
    return replace(cell, by=options["by"], arms=_arms(cell, body))


def refuse_misfit(cell: ProseCell, kinds: Mapping[str, Collection[str]]) -> None:
    """`ProseFault` where the fact of a cell is none of these, or its arms are not the values that the fact may have."""
    values = kinds.get(cell.by)
    if values is None:
        close = did_you_mean(cell.by, kinds)
        known = f"did you mean {close}?" if close else f"they are {', '.join(kinds) or 'none'}"
        raise ProseFault(f"by={cell.by}: this section has no such fact; {known}")
    said = {value for arm in cell.arms for value in arm.values}
    faults = [f"has no arm [{value}]" for value in values if value not in said]
    for value in sorted(said - set(values)):
        close = did_you_mean(value, values)
        hint = f"did you mean [{close}]?" if close else f"it is one of {', '.join(values)}"
        faults.append(f"may not be [{value}]; {hint}")
    if faults:
        raise ProseFault("\n".join(f"by={cell.by} {fault}" for fault in faults))


def _arms(cell: ProseCell, body: str) -> tuple[Arm, ...]:
    """The arms of a cell, each with what stands before the first."""
    cuts = list(ARM.finditer(body))
    if not cuts:
        raise ProseFault(
            "a cell by= a fact has an arm for each of its values: [value] in a line of its own, then its words"
        )
    begun = _parts(cell.kind, cell.place, body[: cuts[0].start()])
    arms = []
    for cut, following in zip_longest(cuts, cuts[1:]):
        values = tuple(value.strip() for value in cut[1].split(","))
        parts, text = _parts(cell.kind, cell.place, body[cut.end() : following.start() if following else len(body)])
        whole = {name: f"{begun[0].get(name, '')} {parts.get(name, '')}".strip() for name in {**begun[0], **parts}}
        said = replace(cell, parts=whole, text=f"{begun[1]} {text}".strip()) if parts or text else None
        arms.append(Arm(values, said))
    every = [value for arm in arms for value in arm.values]
    if twice := sorted({value for value in every if every.count(value) > 1}):
        raise ProseFault(f"there are two arms of [{twice[0]}]")
    if (speaking := sum(arm.said is not None for arm in arms)) > MOST_ARMS:
        raise ProseFault(f"{speaking} arms are too many for one place: at most {MOST_ARMS} say something")
    return tuple(arms)


def _options(kind: str, line: str) -> tuple[list[str], dict[str, str]]:
    head, *rest = _OPTION.split(line.strip())
    options: dict[str, str] = {}
    for name, value in zip(rest[::2], rest[1::2], strict=True):
        if name in options:
            raise ProseFault(f"%%{kind} says {name}= twice")
        options[name] = value.strip()
    return head.split(), options


def _parts(kind: str, place: str, body: str) -> tuple[dict[str, str], str]:
    """The labelled texts, each up to the next label, and what stands before the first."""
    known = PARTS.get("box" if place in BOXES else kind, ())
    cuts = [m for m in _PART.finditer(body) if m[1] in known]
    if place in BOXES:
        cuts = cuts[:1]
    parts: dict[str, str] = {}
    for cut, following in zip_longest(cuts, cuts[1:]):
        if cut[1] in parts:
            raise ProseFault(f"%%{kind} says {cut[1]}: twice")
        parts[cut[1]] = body[cut.end() : following.start() if following else len(body)].strip()
    text = (body[: cuts[0].start()] if cuts else body).strip()
    if place in BOXES and "title" in parts:  # a box's title is its first line, its text the rest
        title, _, text = parts["title"].partition("\n")
        return {"title": title.strip()}, text.strip()
    if text and kind in ("tile", "chart", "table"):
        raise ProseFault(
            f"%%{kind}: each text begins with one of {', '.join(p + ':' for p in known)}, not {text[:40]!r}"
        )
    return parts, text
