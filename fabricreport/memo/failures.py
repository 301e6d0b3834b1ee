"""What a failed build leaves behind: the executed notebooks, and a message that names section, cell and error."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from fabricreport.memo.files import open_folder
from fabricreport.memo.record import RunRecord
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


def keep_failed(record: RunRecord, root: Path, slug: str, params_path: Path) -> str:
    """Copy the notebooks of failed sections out of the scratch folder; the message that names them."""
    folder = _failed_folder(root, slug)
    lines = []
    for run in record.faults:
        lines.append(run.explain())
        lines += [f"    {line}" for line in run.traceback.splitlines()[-3:]]
        if folder is not None and run.notebook:
            kept = folder / f"{run.section}.ipynb"
            nb = notebook_from_bytes(Path(run.notebook).read_bytes())
            for cell in nb.cells:
                if "injected-parameters" in cell.metadata.get("tags", []):
                    cell.source = f"# The build's own copy is gone\nparams = {str(params_path.absolute())!r}"
            kept.write_bytes(notebook_bytes(nb))
            lines.append(f"    the executed notebook is kept at {kept}")
    return "\n".join(lines)


def clear_failed(root: Path, slug: str) -> None:
    """Remove what an earlier failed build left: the last one succeeded."""
    folder = root / slug / FAILED
    if folder.is_dir() and not folder.is_symlink():
        shutil.rmtree(folder, ignore_errors=True)
