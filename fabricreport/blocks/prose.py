"""A prose cell as text: one line that says what it is and when it holds, then Markdown that an analyst edits.

    %%say when=finding.clear                         Markdown: headings, paragraphs, lists
    %%say each=turn in turns                         once for each of several things
    %%say further when=finding.grows                 the same paragraph as the cell before, where both are said
    %%say glance                                     a paragraph of page one's summary
    %%say caution                                    a boxed remark (also note, decision); `title:` opens it
    %%tile when=finding.costs_differ                 a tile of page one: label:, value:, note:
    %%title when=finding.costs_less                  the title of the next chart or table
    %%chart from=charts.difference_chart(case)       title:, subtitle:, alt:, caption:
    %%table tab-decision-options from=tables.options(case)     caption:, note:
    %%phrase quote each=todo in todo_quote           do:, do-several:, what a table says of such a row
    %%table tab-diligence-answers each=seller in answered from=tables.answers(result)      one table a seller, by its key

Reading a cell needs no case and no kernel, so every field can be checked before anything runs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import zip_longest

MAGICS = ("say", "tile", "title", "chart", "table", "phrase")
BOXES = ("caution", "note", "decision")
PLACES = ("glance", *BOXES)
PARTS = {
    "tile": ("label", "value", "note"),
    "chart": ("title", "subtitle", "alt", "caption"),
    "table": ("caption", "note"),
    "phrase": ("do", "do-several", "now", "turns", "odds", "settled"),
    "box": ("title",),
}
_MAGIC = re.compile(r"\A%%(\w+)[ \t]*([^\n]*)(?:\n(.*))?\Z", re.DOTALL)
_OPTION = re.compile(r"\b(when|each|from)=")
_CONDITION = re.compile(r"(not )?([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)\Z")
_LOOP = re.compile(r"([A-Za-z_]\w*) in ([A-Za-z_]\w*)\Z")
_PHRASE = re.compile(r"[a-z][a-z-]*\Z")
_TABLE_ID = re.compile(r"tab-[a-z][a-z0-9.-]*\Z")
_PART = re.compile(r"^([a-z]+(?:-[a-z]+)*):[ \t]*", re.MULTILINE)


class ProseFault(ValueError):
    """What is wrong with a prose cell, in words for whoever edits it; notebooks show it without a traceback."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


@dataclass(frozen=True)
class ProseCell:
    """One prose cell, read. `when` is a dotted name (`negated` turns it round), `each` a loop's name and its word.

    `source` is the expression behind `from=`; `parts` are the labelled texts (`caption:` …), `text` the rest.
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

    @property
    def texts(self) -> tuple[str, ...]:
        """Everything in the cell that a reader may come to see."""
        return (*self.parts.values(), *((self.text,) if self.text else ()))


def is_prose(source: str) -> bool:
    """Whether a code cell is a prose cell."""
    found = _MAGIC.match(source)
    return found is not None and found[1] in MAGICS


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
    if kind == "phrase":
        id = words.pop(0) if words else ""
        if not _PHRASE.match(id) or "each" not in options or "when" in options:
            raise ProseFault("%%phrase names itself and its thing: %%phrase quote each=todo in todo_quote")
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
    parts, text = _parts(kind, place, body)
    return ProseCell(
        kind, place, further, id, when[2] if when else "", bool(when and when[1]), (each[1], each[2]) if each else None,
        options.get("from", ""), parts, text,
    )  # fmt: skip


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
    if text and kind in ("tile", "chart", "table", "phrase"):
        raise ProseFault(
            f"%%{kind}: each text begins with one of {', '.join(p + ':' for p in known)}, not {text[:40]!r}"
        )
    return parts, text
