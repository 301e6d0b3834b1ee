"""What a notebook's cells change by hand of the case of the params: each shows it in an output that is not printed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pydantic import BaseModel

from fabricreport.base import formats
from fabricreport.base.vocabulary import Grade
from fabricreport.blocks.cells import CASE
from fabricreport.blocks.document import Section
from fabricreport.case import Case
from fabricreport.inputs.inputs import Inputs
from fabricreport.ledger.numbers import VALUE_DIGITS
from fabricreport.memo.document.pieces import EDITS_MIME, FIGURE, INPUT, MADE, PARAM
from fabricreport.scenario import dump_uncertain


def watch(opened: Callable[[], Case], shell: Any) -> None:
    """Have a shell show after each cell from here on what it changed of the case that `opened` gives, and of no other."""
    from IPython.display import display

    known = set[tuple[Any, ...]]()

    def held(_: Any) -> None:
        found = {(e["kind"], e["id"], e["new"]): e for e in edits(opened, shell.user_ns)}
        fresh = [edit for key, edit in found.items() if key not in known]
        known.clear()
        known.update(found)
        if fresh:
            display({EDITS_MIME: fresh}, raw=True)  # type: ignore[no-untyped-call]

    held.__module__ = "__main__"  # so that it goes with the notebook
    shell.events.register("post_run_cell", held)


def edits(opened: Callable[[], Case], space: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """What is changed by hand in the variables of a notebook: inputs under it, figures that it emitted, numbers of its own."""
    sections = [v for v in space.values() if isinstance(v, Section)]
    cases = {id(v): v for v in (*space.values(), *(s.case for s in sections)) if isinstance(v, Case)}
    if not cases:
        return
    own = opened()
    for one in (space.get(CASE), space.get("given"), *(s.case for s in sections)):
        given = getattr(one, "inputs", one)
        if isinstance(given, Inputs) and given is not own.inputs:
            yield from differences(own.inputs, given)
    for entry in (entry for section in sections for block in section.emitted for entry in block.ledger):
        yield from _figure(own, entry)
    for number in (n for case in cases.values() for n in case.made.values() if not (n.inputs or n.sources)):
        if number.grade == Grade.ASSUMPTION:
            yield {"kind": MADE, "id": number.id, "old": "", "new": number.text}


def _figure(own: Case, entry: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """An emitted number that is not what the params make of its id; of an id that only the notebook knows, nothing."""
    kind, _, name = entry["id"].removeprefix("stated.").partition(".")
    try:
        made = own.figure(f"{kind}:{name}" if entry["id"].startswith("stated.") else entry["id"])
    except LookupError:
        return
    if formats.significant(made.value, VALUE_DIGITS) != entry["value"]:
        yield {"kind": FIGURE, "id": made.id, "old": made.text, "new": entry["text"]}


def differences(own: Inputs, other: Inputs) -> Iterator[dict[str, Any]]:
    """In which keys of the params, and in which figures of the books, inputs are other than one's own."""
    tops = {f"param:{key}" for key, value in own.params if not isinstance(value, BaseModel)}
    ids = {i for i in own.ids() if i.startswith("param:") or own.params == other.params}
    for input_id in sorted((tops | ids | {*own.overrides, *other.overrides}) - {"param:overrides", "param:adopted"}):
        old, new = own.record(input_id), other.record(input_id)
        if (old["value"], old["text"]) == (new["value"], new["text"]):
            continue
        edit = {"kind": PARAM, "id": input_id, "old": old["text"], "new": new["text"]}
        if not input_id.startswith("param:"):
            stated = other.overrides.get(input_id)
            value = dump_uncertain(stated.stated.value if stated else other.in_force(input_id).figure)
            edit |= {"kind": INPUT, "value": value}
        yield edit
