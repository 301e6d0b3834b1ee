"""What a client's own notebook begins as: copies of ours to edit, or a section with one of each thing that a memo prints."""

from __future__ import annotations

import os
import re
from pathlib import Path

import nbformat

from fabricreport.base.errors import InputError, Problem
from fabricreport.base.files import write_if_new, writing
from fabricreport.base.project import folder_to_file_in
from fabricreport.base.text import visible
from fabricreport.base.yaml_files import read_yaml
from fabricreport.blocks.prose import opening_cells
from fabricreport.inputs.dossier import read_params
from fabricreport.memo.run.overlay import OVER
from fabricreport.memo.run.recall import Places
from fabricreport.memo.run.snapshot import PART, read_notebook, sha256
from fabricreport.scenario.schema import OF_OURS, OWN_NOTEBOOK
from fabricreport.scenario.template import name_extra


def begin_section(name: str, params: Path) -> str:
    """Write a notebook of this name for the client of a params file, and say what was done; nothing that is there is replaced."""
    loaded, file = read_params(params), f"{name}.ipynb"
    extras, ours = loaded.params.extras, {*loaded.params.notebooks} - {*loaded.params.extras}
    if name in OF_OURS - ours or not re.fullmatch(OWN_NOTEBOOK, file):
        remedy = f"Name one of {', '.join(sorted(ours))}, or a new one by lower-case words joined by underscores."
        raise InputError(Problem("this memo has no such section", key="--section", value=visible(name), remedy=remedy))
    target = folder_to_file_in(params.parent, loaded.slug, PART) / file
    if target.exists() or target.is_symlink():
        raise InputError(Problem("is already there", str(target), remedy="Edit it, or move it away."))
    at = Path(os.path.relpath(params, target.parent)).as_posix()
    kernel = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    nb = nbformat.v4.new_notebook(metadata={"kernelspec": kernel, "language_info": {"name": "python"}})  # type: ignore[no-untyped-call]
    for number, source in enumerate(read_yaml("own_notebooks")["over" if name in ours else "section"], start=1):
        source = source.replace("SECTION", name).replace("DASHED", name.replace("_", "-")).replace("PARAMS", at)
        nb.cells.append(nbformat.v4.new_code_cell(source.rstrip(), id=f"{name}-own-{number}"))  # type: ignore[no-untyped-call]
    edit = None if name in {*extras, *ours} else name_extra(loaded, file)
    if name in ours:
        path = Places.of(params).notebook(name)
        copies = read_notebook(path.read_bytes(), path).cells
        for cell in copies:
            cell.metadata.setdefault("fabricreport", {})[OVER] = sha256(cell.source.encode())
        nb.cells[1:1] = copies[opening_cells(copies) :]
    else:
        nb.cells[0].metadata["tags"] = ["parameters"]
    with writing(target):
        write_if_new(target, nbformat.writes(nb) + "\n")  # type: ignore[no-untyped-call]
    if edit and edit.text is not None:
        with writing(params):
            write_if_new(params.resolve(), edit.text)
    named = "" if edit is None else f" and named it in {params}" if edit.text else f"; add to {params}: {edit.line}"
    return f"Wrote {target}{named}. Open it in JupyterLab, then: fabricreport check {params}"
