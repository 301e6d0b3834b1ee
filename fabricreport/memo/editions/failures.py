"""What a failed build leaves behind: the executed notebooks, and a message with section, cell, error and remedy."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from fabricreport.descriptors import close_folder, open_folder
from fabricreport.memo.run.plan import BuildPlan
from fabricreport.memo.run.run_record import RunRecord, SectionRun
from fabricreport.memo.run.volatile import notebook_bytes, notebook_from_bytes
from fabricreport.project import IS_INSTALLED, PACKAGE

FAILED = ".failed"


def _failed_folder(root: Path, slug: str) -> Path | None:
    """The folder for failed notebooks, emptied; None if a link or file stands in its way."""
    folder = root / slug / FAILED
    try:
        for part in (root / slug, folder):
            part.mkdir(exist_ok=True)
            close_folder(open_folder(part))
        for old in folder.glob("*.ipynb"):
            old.unlink()
    except OSError:
        return None
    return folder


def keep_failed(record: RunRecord, root: Path, plan: BuildPlan, params_path: Path) -> str:
    """Copy the notebooks of failed sections out of the scratch folder; the message that names them.

    The message and the notebooks name the user's own files where a section was given a copy.
    """
    folder = _failed_folder(root, plan.slug)
    own = _own_names(plan)
    lines = []
    for run in record.faults:
        lines.append(own(run.explain()))
        lines += [f"    {own(line)}" for line in run.traceback.splitlines()[-3:]]
        if folder is not None and run.notebook:
            lines.append("    " + _keep(run, folder, params_path, own))
        lines.append("    " + _remedy(run, plan.sources[run.section]))
    return "\n".join(lines)


def _keep(run: SectionRun, folder: Path, params_path: Path, own: Callable[[str], str]) -> str:
    """Copy one executed notebook; where it is, or why it is not there (the failure itself matters more)."""
    kept = folder / f"{run.section}.ipynb"
    try:
        nb = notebook_from_bytes(Path(run.notebook).read_bytes())
        for cell in nb.cells:
            if "injected-parameters" in cell.metadata.get("tags", []):
                cell.source = f"# The build's own copy is gone\nparams = {str(params_path.absolute())!r}"
            cell.update({k: _renamed(cell[k], own) for k in ("outputs",) if k in cell})
        kept.write_bytes(notebook_bytes(nb))
    except OSError as error:
        kept.unlink(missing_ok=True)
        return f"the executed notebook could not be kept: {error.strerror or error}"
    return f"the executed notebook is kept at {kept}"


def _remedy(run: SectionRun, source: Path) -> str:
    if run.status == "dead":
        return "Free some memory, or build fewer clients at once (--jobs 1), then run the command again."
    ours = IS_INSTALLED and source.is_relative_to(PACKAGE)  # nobody is told to write there
    named = source.name if ours else str(source)
    cell = f"cell {run.cell} of {named}" if run.cell is not None else named
    if run.status == "timeout":
        return f"Make {cell} shorter, or give the machine less else to do, and run the command again."
    if ours:
        return (
            f"The fault is in {cell} as shipped: please report it with your params file. `fabricreport new --project` "
            "puts the notebooks where you can mend them."
        )
    return (
        f"Mend {cell} and run the command again. If nobody changed that notebook, this is a bug in fabricreport: "
        "please report it with your params file."
    )


def _own_names(plan: BuildPlan) -> Callable[[str], str]:
    """Text with the paths of a build's own copies turned into those of the user's files."""
    work, pairs = plan.snapshot.folder.parent, list[tuple[str, str]]()
    for top in dict.fromkeys((work.absolute(), work.resolve())):
        pairs += [(str(top / "inputs" / name), str(at)) for name, at in plan.snapshot.origins.items()]
        pairs += [(str(top / "inputs"), str(plan.snapshot.origins["params.json"].parent))]
        pairs += [(str(top), "the build's copy")]
    pairs.sort(key=lambda pair: len(pair[0]), reverse=True)

    def rename(text: str) -> str:
        for scratch, named in pairs:
            text = text.replace(scratch, named)
        return text

    return rename


def _renamed(node: Any, own: Callable[[str], str]) -> Any:
    """The outputs of a cell with every text renamed."""
    if isinstance(node, str):
        return own(node)
    if isinstance(node, Mapping):
        return {key: _renamed(value, own) for key, value in node.items()}
    return [_renamed(item, own) for item in node] if isinstance(node, list) else node


def clear_failed(root: Path, slug: str) -> None:
    """Remove what an earlier failed build left: the last one succeeded."""
    folder = root / slug / FAILED
    if folder.is_dir() and not folder.is_symlink():
        shutil.rmtree(folder, ignore_errors=True)
