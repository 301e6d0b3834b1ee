"""Ordinary Markdown cells: `{id}` in them is filled from the ledger, as in `body.say`.

A Markdown cell never runs, so nobody asks the case for its figures. Therefore a build collects the fields of all
Markdown cells, lets the notebook's own kernel answer them once its last cell has run (`show_answers`), and keeps the
answers with the cell; `bind_cell` writes them in.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from fabricreport.blocks.document import Figures
from fabricreport.blocks.markdown import parse_markdown
from fabricreport.blocks.node_json import MalformedNode, inline_from_json, to_json
from fabricreport.blocks.nodes import Flow, Inline, Ref, Text
from fabricreport.blocks.template import REFERENCES, Binder
from fabricreport.errors import Problem
from fabricreport.ledger import Record

ANSWERS_MIME = "application/vnd.fabricreport.answers+json"
CASE, BODY = "case", "body"
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
        return {"fault": f"the notebook has no variable `{CASE}`. Begin it with {CASE} = open_case(params)"}
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
