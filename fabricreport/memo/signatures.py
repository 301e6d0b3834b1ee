"""A number that a notebook's cell changes by hand, taken into the params with a name to it."""

from __future__ import annotations

import tempfile
from datetime import date
from pathlib import Path
from typing import Any

from fabricreport.base.errors import InputError, Problem, SectionFailed
from fabricreport.base.files import write_if_new, writing
from fabricreport.base.text import visible
from fabricreport.memo.build import run_plan
from fabricreport.memo.document.document import stitch
from fabricreport.memo.document.pieces import INPUT, MADE, PARAM, Edit, gather
from fabricreport.memo.run.plan import make_plan, make_ready
from fabricreport.memo.run.recall import Places, cache_place
from fabricreport.memo.run.snapshot import PART
from fabricreport.scenario import ParamsFile
from fabricreport.scenario.template import with_entries


def adopt(
    asked: str, params: Path, *, who: str, why: str, until: date | None = None, trusted: bool = True
) -> dict[str, Any]:
    """Sign for every number that the cell `asked` (NOTEBOOK:CELL) changes by hand, until a day, by default the memo's.
    `InputError` where nobody can sign for one, the notebook is not `trusted`, or the params cannot be edited: then they stay."""
    places, (notebook, _, cell) = Places.of(params, trusted=trusted), asked.partition(":")
    loaded = make_ready(params, places).loaded
    if Path(notebook).stem not in loaded.params.notebooks:
        remedy = f"One of: {', '.join(f'{name}.ipynb' for name in loaded.params.notebooks)}."
        raise InputError(Problem("is not of this memo", key="NOTEBOOK:CELL", value=visible(asked), remedy=remedy))
    edits, file = edits_of(notebook, loaded, places), Path(notebook).name
    # A number is that of the client's own file, where one lies over ours.
    named = ({f"{loaded.slug}/{PART}/{file}, cell {cell}"}, {f"{file}, cell {cell}", f"{file}:{cell}"})
    mine = next(filter(None, ([(p, e) for p, e in edits if {e.where, p} & one] for one in named)), [])
    signable = [(place, e) for place, e in mine if e.kind in (INPUT, MADE)]
    if not mine:
        free = [(p, e) for p, e in edits if e.kind in (INPUT, MADE) and not e.is_signed(loaded.params.adopted, p)]
        others = ", ".join(f"{place} ({e.id})" for place, e in free) or "none"
        remedy = f"Cells of that notebook to sign for: {others}."
        raise InputError(Problem("changes no number by hand", key="NOTEBOOK:CELL", value=visible(asked), remedy=remedy))
    if wrong := [e for _, e in mine if e.kind == PARAM or not signable]:
        remedy = "Change a key in the params, and a figure by its inputs."
        raise InputError(Problem("is no input of the books", key=e.id, value=e.new, remedy=remedy) for e in wrong)
    told = {"who": who, "why": why, "until": str(until or loaded.params.as_of)}
    entries = [
        ("overrides", {"id": e.id, "value": e.value, **told})
        if e.kind == INPUT
        else ("adopted", {"id": e.id, "cell": place, "value": e.new, "source": e.source, **told})
        for place, e in signable
    ]
    edited = with_entries(loaded, entries)
    if edited.text is None:
        raise InputError(Problem("cannot be edited safely", str(params), remedy=f"Write into it, {edited.line}"))
    with writing(params):
        changed = write_if_new(params.resolve(), edited.text)
    signed = [{"id": e.id, "old": e.old, "new": e.new} for _, e in signable]
    return {"signed": signed, "until": told["until"], "changed": changed}


def edits_of(notebook: str, loaded: ParamsFile, places: Places) -> list[tuple[str, Edit]]:
    """What a notebook of these params changes by hand when it is run, each with its place as NOTEBOOK:CELL."""
    with tempfile.TemporaryDirectory() as scratch:
        work = Path(scratch)
        plan = make_plan(loaded, work, only=Path(notebook).stem, draft=True, places=places)
        record, notebooks = run_plan(plan, cache_place(Path("output")).folder or work / "cache", work)
        if not record.ok:
            raise SectionFailed("\n".join(run.explain() for run in record.faults))
        return [(edit.place(plan.cell_ids), edit) for edit in gather(stitch(notebooks, {})).edits]
