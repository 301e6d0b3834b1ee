"""Where a build finds what the params file does not name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from fabricreport.project import PARAMS, SHIPPED, project_of

if TYPE_CHECKING:
    from fabricreport.checking.check import Checked

REPORT_NOTEBOOK = SHIPPED / "notebooks" / "evidence_report.ipynb"
"""The notebook of the evidence report, the same for every project."""
Check = Callable[[Path, date | None], "Checked"]


@dataclass(frozen=True)
class Places:
    """The folders of a build; tests put their own here.

    A notebook of `own_notebooks`, which need not exist, goes before the one of that name in `notebooks`.
    `report` is the notebook of the evidence report that memos cite; without one they name it in words.
    `check` is called with the user's params file and the date of the memo (None: the params' own).
    """

    notebooks: Path = SHIPPED / "notebooks"
    project_params: Path = PARAMS
    check: Check | None = None
    own_notebooks: Path | None = None
    report: Path | None = None

    @classmethod
    def of(cls, params_path: Path) -> Places:
        """Those of a params file: its project's own notebooks, and what is shipped."""
        return cls(own_notebooks=project_of(params_path.parent) / "notebooks", report=REPORT_NOTEBOOK)

    @property
    def notebook_folders(self) -> tuple[Path, ...]:
        """The folders in which a notebook is looked for, in this order."""
        return (self.notebooks,) if self.own_notebooks is None else (self.own_notebooks, self.notebooks)

    def notebook(self, name: str) -> Path:
        """The notebook that a section is run from; where there is none, the place at which it would be found first."""
        found = [folder / f"{name}.ipynb" for folder in self.notebook_folders]
        return next((path for path in found if path.exists() or path.is_symlink()), found[0])
