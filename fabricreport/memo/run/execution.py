"""Run the notebooks of a memo by papermill, in one kernel one after the other, and say truthfully how each ended.

They are merged into one notebook that papermill executes once. Only where the kernel has died, or does not answer an
interrupt, is another started, for the notebooks that remain.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from fabricreport.memo.editions.manifest import (
    CELL_TIMEOUT_S,
    SECTION_TIMEOUT_S,
    Progress,
    ProgressCall,
    RunRecord,
    SectionRun,
)
from fabricreport.memo.run.environment import ready_fonts, section_environment, skip_unused_grammar
from fabricreport.memo.run.noise import notebook_from_bytes, strip_volatile

OUTPUT_LIMIT_BYTES = 64_000_000
_SOCKET_DIR_LIMIT = 60  # characters; the path of a unix socket ends at 103 on some systems


def run_sections(
    notebooks: Mapping[str, Path],
    params_json: Path,
    scratch: Path,
    *,
    cell_timeout_s: float = CELL_TIMEOUT_S,
    section_timeout_s: float = SECTION_TIMEOUT_S,
    output_limit_bytes: int = OUTPUT_LIMIT_BYTES,
    progress: ProgressCall | None = None,
    matplotlib_dir: Path | None = None,
    folders: Mapping[str, Path] | None = None,
    watched: Collection[str] = (),
    runtime: Runtime | None = None,
) -> RunRecord:
    """Execute each notebook with the papermill parameter `params` = path of the canonical JSON.

    `notebooks` maps a section's name to its source; each runs in its folder of `folders`, else in its notebook's.
    The executed notebook of section s is `scratch/s.ipynb`, also when s failed (as far as it got).
    What a `watched` one changed of the process is told in the metadata of its executed notebook. `matplotlib_dir` keeps
    matplotlib's font list from run to run; a `runtime` is used and left as it is. Never raises for a section's fault; an
    interrupt ends the kernel and gives the status `cancelled` to what had not finished.
    """
    skip_unused_grammar()
    from fabricreport.memo.run.session import Limits

    limits = Limits(cell_timeout_s, section_timeout_s, output_limit_bytes)
    scratch.mkdir(parents=True, exist_ok=True)
    fonts = [*([matplotlib_dir] if matplotlib_dir else []), scratch.resolve() / "matplotlib"]
    with contextlib.nullcontext(runtime) if runtime else runtime_with(fonts) as used:
        within = {s: (folders[s] if folders else Path(path).parent).resolve() for s, path in notebooks.items()}
        run = _Run(params_json.resolve(), scratch.resolve(), within, used, progress or _silent, watched)
        return run.of(notebooks, limits)


@dataclass
class Runtime:
    """Where kernels work: a folder with a short private path for their sockets, their environment, and one that stays, if any."""

    folder: Path
    env: dict[str, str]
    kernel: Any = None

    def renew(self) -> None:
        """Have another kernel that stays in place of the one before; it starts when it is first asked."""
        from fabricreport.memo.run.session import end_kernel, new_kernel

        end_kernel(self.kernel)
        self.kernel = new_kernel(self.folder)


@contextlib.contextmanager
def runtime_with(fonts: Sequence[Path] = ()) -> Iterator[Runtime]:
    """One that is gone afterwards; matplotlib's list of fonts is in one of these folders, else in its own."""
    from fabricreport.memo.run.session import end_kernel

    base = tempfile.gettempdir()  # the output's own path may be too long for a socket
    short = "/tmp" if len(base) > _SOCKET_DIR_LIMIT and Path("/tmp").is_dir() else base
    folder = Path(tempfile.mkdtemp(prefix="fbr-", dir=short))
    runtime = Runtime(folder, section_environment(os.environ, folder))
    try:
        runtime.env["MPLCONFIGDIR"] = str(ready_fonts(runtime.env, fonts or [folder / "matplotlib"]).resolve())
        yield runtime
    finally:
        end_kernel(runtime.kernel)
        shutil.rmtree(folder, ignore_errors=True)


def stripped(record: RunRecord, work: Path) -> dict[str, NotebookNode]:
    """The executed notebooks of a run within the folder `work`, by section, without what differs from run to run."""
    folders = {str(f) for w in (work.absolute(), work.resolve()) for f in (w / "inputs", w)}
    return {
        run.section: strip_volatile(notebook_from_bytes(Path(run.notebook).read_bytes()), folders=folders)
        for run in record.sections
        if run.ok
    }


@dataclass
class _Run:
    """One build's notebooks: where they run, and how each has ended so far."""

    params: Path
    scratch: Path
    folders: Mapping[str, Path]
    runtime: Runtime
    progress: ProgressCall
    watched: Collection[str]
    done: dict[str, SectionRun] = field(default_factory=dict)

    def of(self, notebooks: Mapping[str, Path], limits: Any) -> RunRecord:
        cancelled = False
        while not cancelled and (left := {s: p for s, p in notebooks.items() if s not in self.done}):
            cancelled = self._in_one_kernel(left, limits)
        for section in notebooks:
            if section not in self.done:
                self.done[section] = SectionRun(section, "cancelled")
                self.progress(Progress(section, "cancelled"))
        return RunRecord(tuple(self.done[section] for section in notebooks))

    def _in_one_kernel(self, notebooks: Mapping[str, Path], limits: Any) -> bool:
        """Run notebooks until all have ended or the kernel is lost; True if somebody has stopped the run."""
        from fabricreport.memo.run.notebook import merge, prepared, taken_out
        from fabricreport.memo.run.session import Session, execute

        ready = {}
        for section, path in notebooks.items():
            try:
                ready[section] = prepared(path, self.params)
            except Exception as error:
                self.done[section] = SectionRun(
                    section, "failed", ename=type(error).__name__, evalue=str(error)[:2_000]
                )
        if not ready:
            return False
        merged = merge(ready, self.folders, self.params, self.watched)
        session = Session(merged, limits, self.progress)
        execute(merged.notebook, session, self.runtime.env, self.runtime.folder, self.runtime.kernel)
        if self.runtime.kernel and {end.status for end in session.ends.values()} & {"dead", "timeout"}:
            self.runtime.renew()
        for part in merged.parts:
            if part.section in session.ends:
                kept = self.scratch / f"{part.section}.ipynb"
                self.done[part.section] = _kept(session.ends[part.section], taken_out(session.nb, part), kept)
        return session.cancelled


def _kept(run: SectionRun, nb: Any, path: Path) -> SectionRun:
    """Write the notebook as far as it got, the memo's source or the debugger's; a success without it is none."""
    text = json.dumps(nb, ensure_ascii=False, allow_nan=False)
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        path.unlink(missing_ok=True)
        if not run.ok:
            return run
        name = errno.errorcode.get(error.errno or errno.EIO, "EIO")
        return SectionRun(run.section, "unsaved", ename=name, evalue=error.strerror or str(error), seconds=run.seconds)
    return replace(run, notebook=str(path))


def _silent(_: Progress) -> None:
    return
