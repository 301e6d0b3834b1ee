"""What really happened to each section of one run: our own record, never papermill's metadata.

A saved notebook says `completed` for every cell even when the kernel died or a cell timed out, so the
status here is made from the exception, from the worker's exit and from the parent's own clock of the limits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Literal

Status = Literal["ok", "failed", "timeout", "dead", "cancelled", "unsaved"]
CELL_TIMEOUT_S = 300.0
SECTION_TIMEOUT_S = 900.0
"""Seconds that a cell and a section may take unless a build says otherwise."""


@dataclass(frozen=True)
class SectionRun:
    """How one section's notebook ended.

    `cell` is the cell's number in the source notebook (from 1, all cell types counted) and `None` if no cell
    had started. `source_line` is that cell's first line. With `unsaved` every cell ran, but the disk refused the
    executed notebook, and `ename` is the error's symbol (`ENOSPC`). `notebook` is the path of the executed
    notebook as far as it got (empty if nothing was kept). `seconds` is wall time.
    """

    section: str
    status: Status
    cell: int | None = None
    source_line: str = ""
    ename: str = ""
    evalue: str = ""
    traceback: str = ""
    seconds: float = 0.0
    notebook: str = ""

    @property
    def ok(self) -> bool:
        """True if every code cell ran to its end without an error."""
        return self.status == "ok"

    def explain(self) -> str:
        """One sentence for a person: which section, which cell, what happened."""
        where = "" if self.cell is None else f" in cell {self.cell}"
        code = f" ({self.source_line})" if self.source_line else ""
        what = ": ".join(p for p in (self.ename, self.evalue) if p)
        return f"section {self.section} {_VERBS[self.status]}{where}{code}{': ' + what if what else ''}"

    def facts(self) -> dict[str, Any]:
        """The part that does not vary from run to run: for `manifest.json`."""
        return {"section": self.section, "status": self.status}

    def as_dict(self) -> dict[str, Any]:
        """Everything, timings included: for `run.json`. The notebook's path stays out: it names a user's folder."""
        return {k: v for k, v in asdict(self).items() if k != "notebook"}


_VERBS: dict[str, str] = {
    "ok": "finished",
    "failed": "failed",
    "timeout": "ran out of time",
    "dead": "died",
    "cancelled": "was cancelled",
    "unsaved": "could not be saved",
}


@dataclass(frozen=True)
class RunRecord:
    """All sections of one run, in the order they were asked for."""

    sections: tuple[SectionRun, ...]

    @property
    def ok(self) -> bool:
        """True if every section finished."""
        return all(run.ok for run in self.sections)

    @property
    def cancelled(self) -> bool:
        """True if a person stopped the run."""
        return any(run.status == "cancelled" for run in self.sections)

    @property
    def unsaved(self) -> SectionRun | None:
        """A section that ran well and that the disk refused, if there is one."""
        return next((run for run in self.sections if run.status == "unsaved"), None)

    @property
    def faults(self) -> tuple[SectionRun, ...]:
        """The sections that did not finish."""
        return tuple(run for run in self.sections if not run.ok)

    def facts(self) -> list[dict[str, Any]]:
        """Statuses only, the same for two runs of the same inputs."""
        return [run.facts() for run in self.sections]


@dataclass(frozen=True)
class Progress:
    """One step to show on a terminal: a section `started`, reached a `cell` of `cells`, or ended with a status."""

    section: str
    event: str
    cell: int = 0
    cells: int = 0
    seconds: float = 0.0

    @property
    def status(self) -> str:
        """The step in words: `started`, `cell 3 of 9`, or how the section ended."""
        return f"cell {self.cell} of {self.cells}" if self.event == "cell" else self.event


ProgressCall = Callable[[Progress], None]
