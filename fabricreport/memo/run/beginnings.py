"""What a client's own notebook begins as: copies of ours to edit, or a section with one of each thing that a memo prints.

The words stand in `data/own_notebooks.yaml`.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fabricreport.base.errors import InputError, Problem
from fabricreport.base.files import write_if_new
from fabricreport.base.project import folder_to_file_in
from fabricreport.base.text import visible
from fabricreport.base.yaml_files import read_yaml
from fabricreport.blocks.prose import opening_cells
from fabricreport.inputs.dossier import read_params
from fabricreport.memo.run.overlay import OVER
from fabricreport.memo.run.recall import Places
from fabricreport.memo.run.snapshot import PART, read_notebook, sha256


def begin_section(name: str, params: Path) -> str:
    """Write a notebook of this name for the client of a params file, and say what was done; nothing that is there is replaced."""
    from fabricreport.scenario.schema import OF_OURS, OWN_NOTEBOOK
    from fabricreport.scenario.template import name_extra

    loaded = read_params(params)
    given, file = loaded.params, f"{name}.ipynb"
    if name in OF_OURS - {*given.notebooks} or not re.fullmatch(OWN_NOTEBOOK, file):
        known = ", ".join(one for one in given.notebooks if one not in given.extras)
        remedy = f"Name one of {known}, or a section of the client's own: lower-case words joined by underscores."
        raise InputError(Problem("this memo has no such section", key="--section", value=visible(name), remedy=remedy))
    target = folder_to_file_in(params.parent, loaded.slug, PART) / file
    if target.exists() or target.is_symlink():
        raise InputError(Problem("is already there", str(target), remedy="Edit it, or move it away."))
    at, said = os.path.relpath(params, target.parent), read_yaml("own_notebooks")
    words = {"SECTION": name, "DASHED": name.replace("_", "-"), "PARAMS": Path(at).as_posix()}
    original = None if name in given.extras or name not in given.notebooks else Places.of(params).notebook(name)
    kind = "over" if original else "section"
    cells = [_cell(f"{name}-own-{n}", source, words) for n, source in enumerate(said[kind], start=1)]
    if original:
        cells[1:1] = _copies(read_notebook(original.read_bytes(), original).cells)
    elif cells:
        cells[0]["metadata"]["tags"] = ["parameters"]
    edit = None if original or name in given.extras else name_extra(loaded, file)
    nb = {"cells": cells, "metadata": {"language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 5}
    write_if_new(target, json.dumps(nb, indent=1, ensure_ascii=False, allow_nan=False) + "\n")
    if edit and edit.text is not None:
        write_if_new(params.resolve(), edit.text)
    named = "" if edit is None else f" and named it in {params}" if edit.text else f"; add to {params}: {edit.line}"
    return f"Wrote {target}{named}. Open it in JupyterLab, then: fabricreport check {params}"


def _cell(id: str, source: str, words: dict[str, str]) -> dict[str, Any]:
    for word, stands_for in words.items():
        source = source.replace(word, stands_for)
    return {
        "cell_type": "code",
        "execution_count": None,
        "id": id,
        "metadata": {},
        "outputs": [],
        "source": source.rstrip("\n"),
    }


def _copies(cells: list[Any]) -> Iterator[dict[str, Any]]:
    """The cells of a notebook behind those that it opens with, each remembering what it was copied from."""
    for cell in cells[opening_cells(cells) :]:
        over = {"fabricreport": {**cell.metadata.get("fabricreport", {}), OVER: sha256(cell.source.encode())}}
        yield {**cell, "metadata": {**cell.metadata, **over}, **({"outputs": []} if cell.cell_type == "code" else {})}
