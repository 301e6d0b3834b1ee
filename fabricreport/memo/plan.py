"""What one build will do, worked out before any kernel starts: params checked, inputs frozen, edition named."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabricreport.errors import InputError, Problem
from fabricreport.memo import fingerprint as prints
from fabricreport.memo.environment import PROJECT
from fabricreport.memo.fingerprint import Fingerprint
from fabricreport.memo.inputs import Snapshot, take_snapshot

if TYPE_CHECKING:
    from fabricreport.scenario import Params, ParamsFile

CLIENT_COPY = "Client copy"
DRAFT = "Draft"
NOTEBOOKS = PROJECT / "notebooks"

Check = Callable[[Path], object]


@dataclass(frozen=True)
class Places:
    """Where a build finds what is not named in the params file; tests put their own folders here.

    `check` is called with the user's params file and raises `InputError` if the books do not fit it.
    """

    notebooks: Path = NOTEBOOKS
    project_params: Path = PROJECT / "params"
    check: Check | None = None


@dataclass(frozen=True)
class BuildPlan:
    """One build: its params, frozen inputs, notebook sources (copies, by section) and the edition's name."""

    params: Params
    slug: str
    as_of: str
    sections: tuple[str, ...]
    notebooks: dict[str, Path]
    snapshot: Snapshot
    fingerprint: Fingerprint
    edition: str
    draft: bool
    only: str
    notes: tuple[str, ...] = ()

    @property
    def status(self) -> str:
        """What the memo's head says."""
        return DRAFT if self.draft else CLIENT_COPY


def load_checked(params_path: Path, places: Places) -> ParamsFile:
    """The params file with its books tried out; `InputError` lists every fault of the user's files."""
    from fabricreport.scenario import load_params_file

    loaded = load_params_file(params_path)
    (places.check or _open_case)(params_path)
    return loaded


def make_plan(
    loaded: ParamsFile,
    work: Path,
    *,
    only: str | None = None,
    draft: bool = False,
    as_of: str | date | None = None,
    places: Places | None = None,
) -> BuildPlan:
    """Freeze all inputs and notebook sources into the existing folder `work` and name the edition.

    `only` takes one section and makes a draft of it. `as_of` replaces the date of the params. `InputError` names
    each file that cannot be had; nothing has been started then.
    """
    places = places or Places()
    params = loaded.params
    if as_of is not None:
        params = params.model_copy(update={"as_of": parse_date(as_of)})
    sections = _sections(params, only)
    snapshot = take_snapshot(params, loaded.path, work / "inputs", project_params=places.project_params)
    notebooks = _copy_notebooks(places.notebooks, sections, work / "sources")
    variant = f"only:{only}" if only else ("draft" if draft else "")
    found = Fingerprint(
        params=snapshot.params_sha256,
        inputs=snapshot.hashes,
        notebooks={s: prints.notebook_digest(p) for s, p in notebooks.items()},
        notebook_helpers=prints.tree_digest(places.notebooks, without=(".ipynb",)),
        package=prints.package_digest(),
        versions=prints.versions(),
        python=prints.python_version(),
        seed=int(params.seed),
        variant=variant,
    )
    day = params.as_of.isoformat()
    edition = f"{day}-{found.digest[:8]}" + (f"-{only}" if only else "")
    return BuildPlan(
        params,
        loaded.slug,
        day,
        sections,
        notebooks,
        snapshot,
        found,
        edition,
        draft or bool(only),
        only or "",
        loaded.notes,
    )


def parse_date(value: str | date) -> date:
    """A date written YYYY-MM-DD."""
    try:
        return value if isinstance(value, date) else date.fromisoformat(value)
    except ValueError:
        raise InputError(
            Problem("is not a date", key="--as-of", value=str(value)[:40], remedy="Write it as 2026-11-20.")
        ) from None


def _open_case(params_path: Path) -> Any:
    """Read the books as the sections will, so that their faults are told before a kernel starts."""
    from fabricreport.case import open_case

    return open_case(params_path)


def _sections(params: Params, only: str | None) -> tuple[str, ...]:
    from fabricreport.located import did_you_mean
    from fabricreport.scenario import SECTION_NAMES

    if only is None:
        return tuple(params.sections)
    if only not in SECTION_NAMES:
        raise InputError(
            Problem(
                "is not a section",
                key="--only",
                value=only[:80],
                suggestion=did_you_mean(only, SECTION_NAMES),
                remedy=f"One of: {', '.join(SECTION_NAMES)}.",
            )
        )
    return (only,)


def _copy_notebooks(folder: Path, sections: tuple[str, ...], target: Path) -> dict[str, Path]:
    """Copies of the sources: an analyst who saves a notebook meanwhile changes the next build, not this one."""
    target.mkdir()
    copies, problems = {}, []
    for section in sections:
        source, copy = folder / f"{section}.ipynb", target / f"{section}.ipynb"
        try:
            shutil.copyfile(source, copy)
        except OSError as error:
            reason = "the notebook does not exist" if isinstance(error, FileNotFoundError) else f"{error.strerror}"
            problems.append(Problem(reason, str(source), remedy="Restore it, or take its section out of `sections`."))
        copies[section] = copy
    if problems:
        raise InputError(problems)
    return copies
