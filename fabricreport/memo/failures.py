"""What a failed build leaves behind: the executed notebooks, and a message with section, cell, error and remedy."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from fabricreport.memo.files import open_folder
from fabricreport.memo.record import RunRecord, SectionRun
from fabricreport.memo.volatile import notebook_bytes, notebook_from_bytes

FAILED = ".failed"


def _failed_folder(root: Path, slug: str) -> Path | None:
    """The folder for failed notebooks, emptied; None if a link or file stands in its way."""
    folder = root / slug / FAILED
    try:
        for part in (root / slug, folder):
            part.mkdir(exist_ok=True)
            os.close(open_folder(part))
        for old in folder.glob("*.ipynb"):
            old.unlink()
    except OSError:
        return None
    return folder


def keep_failed(record: RunRecord, root: Path, slug: str, params_path: Path, notebooks: Path) -> str:
    """Copy the notebooks of failed sections out of the scratch folder; the message that names them.

    `notebooks` is the folder of their sources, for the remedy.
    """
    folder = _failed_folder(root, slug)
    lines = []
    for run in record.faults:
        lines.append(run.explain())
        lines += [f"    {line}" for line in run.traceback.splitlines()[-3:]]
        if folder is not None and run.notebook:
            lines.append("    " + _keep(run, folder, params_path))
        lines.append("    " + _remedy(run, notebooks))
    return "\n".join(lines)


def _keep(run: SectionRun, folder: Path, params_path: Path) -> str:
    """Copy one executed notebook; where it is, or why it is not there (the failure itself matters more)."""
    kept = folder / f"{run.section}.ipynb"
    try:
        nb = notebook_from_bytes(Path(run.notebook).read_bytes())
        for cell in nb.cells:
            if "injected-parameters" in cell.metadata.get("tags", []):
                cell.source = f"# The build's own copy is gone\nparams = {str(params_path.absolute())!r}"
        kept.write_bytes(notebook_bytes(nb))
    except OSError as error:
        kept.unlink(missing_ok=True)
        return f"the executed notebook could not be kept: {error.strerror or error}"
    return f"the executed notebook is kept at {kept}"


def _remedy(run: SectionRun, notebooks: Path) -> str:
    source = notebooks / f"{run.section}.ipynb"
    if run.status == "dead":
        return "Free some memory or build with --jobs 1, then run the command again."
    cell = f"cell {run.cell} of {source}" if run.cell is not None else str(source)
    if run.status == "timeout":
        return f"Make {cell} shorter, or give the machine less else to do, and run the command again."
    return (
        f"Mend {cell} and run the command again. If nobody changed that notebook, this is a bug in fabricreport: "
        "please report it with your params file."
    )


def clear_failed(root: Path, slug: str) -> None:
    """Remove what an earlier failed build left: the last one succeeded."""
    folder = root / slug / FAILED
    if folder.is_dir() and not folder.is_symlink():
        shutil.rmtree(folder, ignore_errors=True)
