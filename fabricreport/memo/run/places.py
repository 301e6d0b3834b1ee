"""Where a build finds what the params file does not name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from fabricreport.project import PARAMS, PROJECT

if TYPE_CHECKING:
    from fabricreport.checking.check import Checked

NOTEBOOKS = PROJECT / "notebooks"

Check = Callable[[Path, date | None], "Checked"]


@dataclass(frozen=True)
class Places:
    """The folders of a build; tests put their own here.

    `check` is called with the user's params file and the date of the memo (None: the params' own).
    """

    notebooks: Path = NOTEBOOKS
    project_params: Path = PARAMS
    check: Check | None = None
