"""Cells of a notebook: the magics of prose cells (`%load_ext fabricreport`), and ordinary Markdown cells whose `{id}` the ledger fills.

A prose cell is Markdown behind one line (see `prose.py`). Its fact, its condition and its loop are names that the
package decided; the words and figures in it are checked all at once, and a wrong one is named with the nearest that there is.

A Markdown cell never runs, so nobody asks the case for its figures. Therefore a build collects the fields of all
Markdown cells, lets the notebook's own kernel answer them once its last cell has run (`show_answers`), and keeps the
answers with the cell; `bind_cell` writes them in.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol, cast

from fabricreport.base.errors import Problem
from fabricreport.base.project import SHIPPED, project_of
from fabricreport.base.text import visible
from fabricreport.base.vocabulary import SPINES
from fabricreport.blocks.document import Drawing, Figures, Section
from fabricreport.blocks.forms import MalformedNode, inline_from_json, to_json
from fabricreport.blocks.markdown import parse_markdown
from fabricreport.blocks.nodes import (
    BulletList,
    Callout,
    Flow,
    Glance,
    GlanceTile,
    Heading,
    Inline,
    OrderedList,
    Ref,
    Text,
    Tone,
)
from fabricreport.blocks.prose import MAGICS, PARTS, ProseCell, ProseFault, opening_cells, read_prose, refuse_misfit
from fabricreport.blocks.tables import Table, frame_parts
from fabricreport.blocks.template import REFERENCES, Binder, Prose
from fabricreport.ledger.facts import Findings, Named, Spoken
from fabricreport.ledger.numbers import Record

BODY = "body"
"""The notebook's variable that prose cells write to."""
OPENING = (
    "from fabricreport.blocks import open_section; from fabricreport.case import open_case; "
    f'case = open_case(params); {BODY}, finding = open_section("{{}}", case)'
)
"""What a notebook of this name begins with."""


Evaluate = Callable[[str], Any]


class SpokenCase(Figures, Protocol):
    """A case that says of each section what it found, and in which words."""

    def spoken(self, section: str) -> Spoken:
        """Findings and words of a section."""
        ...


def written_at(cell: Any, notebook: str, number: int) -> tuple[str, int]:
    """The notebook and the number in it at which a cell was written: its own where a client's lies over it."""
    own = cell["metadata"].get("fabricreport")
    at = own.get("at") if isinstance(own, Mapping) else None
    is_told = isinstance(at, list) and [*map(type, at)] == [str, int]
    return (visible(at[0], 120), at[1]) if at and is_told else (notebook, number)


def open_section(name: str, case: SpokenCase) -> tuple[Section, Findings]:
    """A section to write to, and what it found: what a notebook's first cell keeps.

    body, finding = open_section("decision", case)
    """
    spoken = case.spoken(name)
    words = {**spoken.findings.by_name(), **spoken.words}
    return Section(name, case, words=words, facts=spoken.facts, muted=spoken.muted), spoken.findings


def load_magics(shell: Any) -> None:
    """Teach a running shell the magics of prose cells."""
    for kind in MAGICS:

        def run(line: str, cell: str = "", kind: str = kind) -> None:
            run_cell(read_prose(kind, line, cell), shell.user_ns, shell.ev)

        shell.register_magic_function(run, magic_kind="cell", magic_name=kind)
    shell.register_magic_function(partial(open_alone, shell=shell), magic_kind="line", magic_name="overlays")


def open_alone(line: str, *, shell: Any) -> None:
    """`%overlays tco.ipynb [PARAMS]`: run in `params/<slug>/notebooks/` what that notebook opens with, on the client's params."""
    here, (name, given, *_) = Path.cwd(), (*line.split(maxsplit=1), "", "")
    folder = here.parent.parent
    params = Path(given or folder / f"{here.parent.name}.yaml")
    beside = (place / "notebooks" / name for place in (project_of(folder), SHIPPED))
    original = next((path for path in beside if path.is_file()), None)
    if original is None or not params.is_file():
        raise ProseFault(
            f"%overlays {line}: there is no {params if original else name or 'notebook'}; say %overlays NOTEBOOK PARAMS"
        )
    sys.path.append(str(original.parent))
    cells = json.loads(original.read_text(encoding="utf-8"))["cells"]
    for cell in (cell for cell in cells[: opening_cells(cells)] if cell["cell_type"] == "code"):
        lines = "".join(cell["source"]).splitlines(keepends=True)
        shell.run_cell("".join(x for x in lines if not x.startswith("%load_ext fabricreport"))).raise_error()
        if "parameters" in cell["metadata"].get("tags", ()):
            shell.user_ns["params"] = str(params)


def run_cell(cell: ProseCell, space: Mapping[str, Any], evaluate: Evaluate) -> None:
    """Emit a prose cell with the notebook's variables; `ProseFault` says what is wrong with it.

    `evaluate` is the shell's own way to read the expression behind `from=`.
    """
    section = _section(space)
    if section.muted:
        return
    if cell.when and _value(cell.when, space) is cell.negated:
        return
    if (said := said_here(cell, section)) is not None:
        write(said, section, evaluate)


def said_here(cell: ProseCell, section: Section) -> ProseCell | None:
    """The arm of a cell that its section's facts choose, None where it says nothing; a cell without arms as it is."""
    if not cell.by:
        return cell
    refuse_misfit(cell, section.facts.kinds())
    return cell.said_of(section.facts.arm(cell.by))


def write(cell: ProseCell, section: Section, evaluate: Evaluate) -> None:
    """Emit a prose cell, its condition taken as met."""
    if cell.kind == "title":
        section.next_title = cell.text
    elif cell.kind == "tile":
        _tile(cell, section)
    elif cell.kind == "chart":
        _chart(cell, section, evaluate)
    elif cell.kind == "table":
        _table(cell, section, evaluate)
    else:
        _say(cell, section)


def _section(space: Mapping[str, Any]) -> Section:
    section = space.get(BODY)
    if not isinstance(section, Section):
        raise ProseFault(
            f"there is no {BODY} to write to: begin with (NAME is the notebook's) {OPENING.format('NAME')}"
        )
    return section


def _value(name: str, space: Mapping[str, Any]) -> bool:
    head, *rest = name.split(".")
    if head not in space:
        raise ProseFault(f"when={name}: the notebook has no {head}")
    value = space[head]
    for part in rest:
        try:
            value = getattr(value, part)
        except AttributeError as error:
            raise ProseFault(f"when={name}: {error}") from error
    if not isinstance(value, bool):
        raise ProseFault(f"when={name} is a {type(value).__name__}: a condition is true or false, and decided before")
    return value


def _things(cell: ProseCell, section: Section) -> Sequence[Mapping[str, object]]:
    """The words of each round of a cell: one round without a loop."""
    if cell.each is None:
        return ({},)
    name, word = cell.each
    things = section.words.get(word)
    if not isinstance(things, tuple):
        known = [w for w, said in section.words.items() if isinstance(said, tuple)]
        raise ProseFault(f"each={name} in {word}: this section has no {word} to go through; it has {', '.join(known)}")
    return [{name: thing} for thing in things]


def _say(cell: ProseCell, section: Section) -> None:
    binder = section.binder({})
    nodes: tuple[Flow, ...] = ()
    for words in _things(cell, section):
        nodes = together(nodes, binder.within(words).prose(cell.text))
    if not nodes:
        return
    if cell.place == "glance":
        section.emit((Glance(nodes, ()),), binder, further=cell.further)
    elif cell.place:
        title = binder.prose_line(cell.parts["title"]) if "title" in cell.parts else ()
        section.emit((Callout(cast(Tone, cell.place), title, nodes),), binder)
    else:
        section.emit(tuple(_opening(node, section) for node in nodes), binder, further=cell.further)


def _opening(node: Flow, section: Section) -> Flow:
    """A heading of level one opens the section; those of a body are told apart by their words."""
    if isinstance(node, Heading) and node.level == 1 and not node.id and section.name not in SPINES:
        return section.opening(node)
    return node


def together(first: Sequence[Flow], second: Sequence[Flow]) -> tuple[Flow, ...]:
    """Two runs of blocks as one: a list goes on where the next one begins."""
    if first and second:
        last, following = first[-1], second[0]
        for kind in (BulletList, OrderedList):
            if isinstance(last, kind) and isinstance(following, kind):
                return (*first[:-1], kind((*last.items, *following.items)), *second[1:])
    return (*first, *second)


def _tile(cell: ProseCell, section: Section) -> None:
    binder = section.binder({})
    label, value, note = (binder.prose_line(cell.parts[key]) if key in cell.parts else () for key in PARTS["tile"])
    section.emit((Glance((), (GlanceTile(label, value, note),)),), binder)


def _titled(cell: ProseCell, section: Section, key: str) -> dict[str, str]:
    """The texts of a chart or a table; a title said before stands where the cell has none of its own."""
    said: dict[str, str] = {name: Prose(text) for name, text in cell.parts.items()}
    kept, section.next_title = section.next_title, ""
    if kept:
        said.setdefault(key, Prose(kept))
    return said


def _chart(cell: ProseCell, section: Section, evaluate: Evaluate) -> None:
    for words, _, drawn in _rounds(cell, section, evaluate):
        if not isinstance(drawn, Drawing):
            raise ProseFault(f"from={cell.source} is a {type(drawn).__name__}, not a Drawing")
        said = _titled(cell, section, "title")
        if missing := [part for part in ("title", "subtitle", "alt") if part not in said]:
            raise ProseFault(f"{drawn.id} has no {' and no '.join(missing)}")
        title, subtitle, alt, caption = (said.get(part, "") for part in PARTS["chart"])
        section.chart(drawn, title=title, subtitle=subtitle, alt=alt, caption=caption, **words)


def _table(cell: ProseCell, section: Section, evaluate: Evaluate) -> None:
    for words, key, made in _rounds(cell, section, evaluate):
        table = Table(*frame_parts(made)) if hasattr(made, "itertuples") else made
        table_id = f"{cell.id}-{key}" if key else cell.id
        if not isinstance(table, Table):
            raise ProseFault(f"from={cell.source} is a {type(made).__name__}, not a Table or a DataFrame")
        said = _titled(cell, section, "caption")
        if not table.rows:
            continue
        if "caption" not in said:
            raise ProseFault(f"{table_id} has no caption: a table says what it shows")
        note = said.get("note", "")
        section.table(table_id, said["caption"], table.columns, table.rows, note=note, **{**words, **table.values})


def _rounds(
    cell: ProseCell, section: Section, evaluate: Evaluate
) -> Iterator[tuple[Mapping[str, object], str, object]]:
    """What `from=` gives in each round of a cell, with the round's words and the key of its thing; nothing where it gives None.

    Without a loop that is the thing itself; in one, `from=` gives one for each thing by its key.
    """
    made = evaluate(cell.source)
    if made is None:
        return
    for words in _things(cell, section):
        key = "".join(thing.key for thing in words.values() if isinstance(thing, Named))
        if words and not (isinstance(made, Mapping) and key in made):
            raise ProseFault(f"from={cell.source} gives nothing for {key}: in a loop it gives one by each key")
        yield words, key, made[key] if words else made


ANSWERS_MIME = "application/vnd.fabricreport.answers+json"
CASE = "case"
"""The notebook's variables that answer for its Markdown cells: figures, and the words of the section."""

_NOT_ASKED = "Only a build fills the Markdown cells of a notebook (fabricreport build); a %%say cell is filled anywhere"
_BRACES = "Braces that are meant to be printed are doubled: {{ and }}."


@dataclass(frozen=True)
class Carried:
    """A cell or an output as document nodes, what could not be filled or shown, the ledger entries and inputs behind it."""

    nodes: tuple[Flow, ...] = ()
    faults: tuple[Problem, ...] = ()
    ledger: tuple[Record, ...] = ()
    inputs: tuple[Record, ...] = ()


def fields_of(text: str) -> tuple[str, ...]:
    """The fields of a Markdown cell that only a case can fill, each once; cross-references fill themselves."""
    found: dict[str, None] = {}

    def note(field: str) -> Inline:
        if not field.startswith(REFERENCES):
            found[field] = None
        return Text("")

    parse_markdown(text, note)
    return tuple(found)


def answers(
    fields: Iterable[str], case: Figures | None, words: Mapping[str, object] | None = None
) -> dict[str, dict[str, Any]]:
    """What the case, or a word of the section, says to each field: `{node, ledger, inputs}`, or `{fault}` with the reason."""
    return {field: _answer(field, case, words or {}) for field in fields}


def _answer(field: str, case: Figures | None, words: Mapping[str, object]) -> dict[str, Any]:
    if case is None:
        return {
            "fault": f"the notebook has no variable `{CASE}`. Begin it with `from fabricreport.case import open_case` and `{CASE} = open_case(params)`"
        }
    binder = Binder(case.figure, words)
    try:
        node = binder.field_node(field)
        ledger, inputs = binder.behind(case)
        return {"node": to_json(node), "ledger": ledger, "inputs": inputs}
    except Exception as error:  # whatever an analysis raises is a fault of this field, told with its cell
        said = str(error.args[0]) if isinstance(error, LookupError) and error.args else str(error)
        return {"fault": said or type(error).__name__}


def show_answers(fields: Iterable[str], namespace: Mapping[str, Any]) -> None:
    """Display the answers of a running notebook's `case`, for the build to collect."""
    from IPython.display import display

    case = namespace.get(CASE)
    words = getattr(namespace.get(BODY), "words", None)
    given = answers(fields, case if hasattr(case, "figure") else None, words)
    display({ANSWERS_MIME: given}, raw=True)  # type: ignore[no-untyped-call]


def bind_cell(text: str, given: Mapping[str, Any], section: str, images: Mapping[str, str] | None = None) -> Carried:
    """The cell with every field filled from `given`; one without an answer is named and printed without its braces."""
    used: dict[str, Mapping[str, Any]] = {}
    faults: dict[str, Problem] = {}

    def fill(field: str) -> Inline:
        if field.startswith(REFERENCES):
            return Ref(field)
        found = given.get(field)
        with suppress(MalformedNode):
            if isinstance(found, Mapping) and "node" in found:
                node = inline_from_json(found["node"])
                used[field] = found
                return node
        reason = str(found["fault"]) if isinstance(found, Mapping) and "fault" in found else _NOT_ASKED
        remedy = f"{reason[:1].upper()}{reason[1:].rstrip('.?')}{'?' if reason.endswith('?') else '.'} {_BRACES}"
        faults[field] = Problem("a field of a Markdown cell is not filled", value=f"{{{field}}}", remedy=remedy)
        return Text(f"[{field}]")

    nodes = parse_markdown(text, fill, images)
    ledger = tuple({**entry, "section": section} for entry in _records(used, "ledger"))
    return Carried(nodes, tuple(faults.values()), ledger, tuple(_records(used, "inputs")))


def _records(used: Mapping[str, Mapping[str, Any]], kind: str) -> list[Record]:
    lists = [found.get(kind) for found in used.values()]
    return [entry for found in lists if isinstance(found, list) for entry in found if isinstance(entry, dict)]
