"""What one build will do, worked out before any kernel starts: params checked, inputs frozen, edition named."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabricreport.base.errors import InputError, Problem
from fabricreport.base.text import visible
from fabricreport.inputs.dossier import read_params
from fabricreport.memo.editions.editions import PARTIAL, TRIALS
from fabricreport.memo.run import snapshot as prints
from fabricreport.memo.run.overlay import OwnNotebooks, lay
from fabricreport.memo.run.recall import Places, Planned
from fabricreport.memo.run.snapshot import PART, Fingerprint, Snapshot, input_problems, take_snapshot

if TYPE_CHECKING:
    from fabricreport.books.prices.rules import PriceRow
    from fabricreport.case import Case
    from fabricreport.check.check import Checked
    from fabricreport.check.dates import Dates
    from fabricreport.memo.report import Cited
    from fabricreport.scenario import Params, ParamsFile

CLIENT_COPY = "Client copy"
DRAFT = "Draft"
NO_ATTACHMENTS = "no-attachments"


@dataclass(frozen=True)
class BuildPlan:
    """One build: its params, frozen inputs, notebooks by section (`sources`, and the copies that are run) and the edition's name."""

    params: Params
    slug: str
    as_of: str
    sections: tuple[str, ...]
    sources: dict[str, Path]
    notebooks: dict[str, Path]
    snapshot: Snapshot
    fingerprint: Fingerprint
    edition: str
    draft: bool
    only: str
    notes: tuple[str, ...] = ()
    report: Cited | None = None
    trial: str = ""
    aside: str = ""

    @property
    def folders(self) -> dict[str, Path]:
        """Where each notebook runs: one of the client's own among the frozen inputs."""
        own = self.snapshot.folder / self.slug / PART
        return {s: own if s in self.params.extras else path.parent for s, path in self.sources.items()}

    @property
    def attach(self) -> bool:
        """Whether the ledger and the workbook go into memo.pdf."""
        return NO_ATTACHMENTS not in self.fingerprint.variant

    @cached_property
    def cells(self) -> dict[str, dict[tuple[str, int], Any]]:
        """The cells of each notebook in their order, by the notebook and the number in it at which each was written."""
        from fabricreport.blocks.cells import written_at

        read = {section: json.loads(path.read_bytes())["cells"] for section, path in self.notebooks.items()}
        return {s: {written_at(c, f"{s}.ipynb", n): c for n, c in enumerate(cs, 1)} for s, cs in read.items()}

    def written(self, section: str, number: int | None) -> tuple[str, int | None]:
        """The notebook and the number in it at which a cell that ran was written."""
        places = [*self.cells[section]]
        return places[number - 1] if number and number <= len(places) else (f"{section}.ipynb", number)

    @property
    def cell_ids(self) -> dict[str, dict[str, str]]:
        """The ids of the cells of each section that have one, by where they were written."""
        told = (
            (s, ((f"{name}, cell {n}", c.get("id")) for (name, n), c in own.items())) for s, own in self.cells.items()
        )
        return {section: {where: visible(i) for where, i in ids if i} for section, ids in told}

    @property
    def status(self) -> str:
        """What the memo's head says."""
        return DRAFT if self.draft else CLIENT_COPY

    def planned(self, dates: Dates | None = None) -> Planned:
        """The plan in short, with the dates that today's is held against."""
        digest = self.fingerprint.digest
        return Planned(self.slug, self.as_of, self.edition, digest, self.draft, self.aside, self.notes, dates)


def checked(
    params_path: Path,
    places: Places,
    as_of: str | date | None = None,
    *,
    trying: Callable[[], None] | None = None,
    going_on: bool = False,
) -> Checked:
    """All that is wrong with, and worth a note about, what a build of these params would read.

    With `trying` the analyses are tried too, also where nothing but the params is the client's own; it is called before.
    A file that the build would refuse to copy (a link, a device, one too large) is a fault like any other; a row of a price
    file that is no price is none where a refresh is `going_on`.
    """

    day = None if as_of is None else parse_date(as_of)
    refused, unread, notes = tuple[Problem, ...](), tuple[Problem, ...](), tuple[str, ...]()
    try:
        loaded = read_params(params_path)
        refused = tuple(input_problems(loaded.params, params_path, project_params=places.project_params))
        wrong, notes = OwnNotebooks(loaded, places).examined()
        refused += wrong
    except InputError as error:
        unread = error.problems
    if places.check is not None:
        found = places.check(params_path, day)
    else:
        found = _check(params_path, day, None if refused or unread else trying, going_on)
    named = {p.file for p in found.problems}
    more = (unread if not found.problems else ()) or tuple(p for p in refused if p.file not in named)
    return replace(found, problems=(*found.problems, *more), notes=(*found.notes, *notes))


@dataclass(frozen=True)
class Ready:
    """A params file with everything it names tried out, the check's notes in it; the case, and its dates, if one was opened."""

    loaded: ParamsFile
    case: Case | None = None
    dates: Dates | None = None


def make_ready(params_path: Path, places: Places, as_of: str | date | None = None, *, going_on: bool = False) -> Ready:
    """Check a params file and read it; `InputError` lists every fault."""
    found = checked(params_path, places, as_of, going_on=going_on)
    if found.problems:
        raise InputError(found.problems)
    loaded = replace(read_params(params_path), remarks=found.notes)
    if found.case is None:
        return Ready(loaded)
    from fabricreport.check.plausibility import dates_of

    return Ready(loaded, found.case, dates_of(found.case))


def tried(ready: Ready, trial: Mapping[str, Any], as_of: str | date | None) -> Ready:
    """The same params with values set for a trial; `InputError` where that cannot be, or no figure rests on an entry set."""
    from fabricreport.case import open_case
    from fabricreport.check.examination import tried_out

    case = ready.case or open_case(ready.loaded.path, as_of=None if as_of is None else parse_date(as_of))
    changed = case.tried(trial)
    loaded = replace(ready.loaded, params=changed.params)
    if loaded.slug != ready.loaded.slug:
        remedy = "Give another client a params file of its own."
        raise InputError(Problem("would put the trial among another client's", key="--set client", remedy=remedy))
    if problems := tried_out(changed):
        raise InputError(replace(p, key=str(p.value) if p.value in trial else p.key) for p in problems)
    return replace(ready, loaded=loaded)


def load_checked(
    params_path: Path, places: Places, as_of: str | date | None = None, *, going_on: bool = False
) -> ParamsFile:
    """The params file that `make_ready` reads, alone."""
    return make_ready(params_path, places, as_of, going_on=going_on).loaded


def make_plan(
    loaded: ParamsFile,
    work: Path,
    *,
    only: str | None = None,
    trial: Mapping[str, Any] | None = None,
    draft: bool = False,
    attach: bool = True,
    as_of: str | date | None = None,
    places: Places | None = None,
    last_good: Sequence[PriceRow] = (),
    report: Cited | None = None,
    before: Callable[[str, Fingerprint], str] = lambda slug, found: "",
) -> BuildPlan:
    """Freeze all inputs and notebook sources into the existing folder `work` and name the edition.

    `only` takes one section and makes a draft of it; a `trial` tells what was set in the params; without `attach` nothing goes into memo.pdf. `as_of` replaces the date of the params. `last_good` are prices to go
    on with, `report` the evidence report that the memo cites; `before` tells the edition that a whole memo of a client comes after. `InputError` names each file that cannot be had; nothing has been started then.
    """
    from fabricreport.scenario import dated

    places = places or Places.of(loaded.path)
    if as_of is not None:
        loaded = dated(loaded, parse_date(as_of))
    params = loaded.params
    sections = _sections(params, only)
    snapshot = take_snapshot(
        params, loaded.path, work / "inputs", project_params=places.project_params, last_good=last_good
    )
    own, shown = (folder / loaded.slug / PART for folder in (snapshot.folder, loaded.path.parent))
    ours = {section: places.notebook(section) for section in sections if section not in params.extras}
    sources = {**ours, **{s: shown / f"{s}.ipynb" for s in sections if s in params.extras}}
    notebooks = _copy_notebooks(sources, work / "sources", own, shown)
    values = {visible(k): json.dumps(v, ensure_ascii=False, allow_nan=False) for k, v in (trial or {}).items()}
    told = "; ".join(f"{key} = {visible(value, 200)}" for key, value in values.items())
    aside = f"only:{only}" if only else f"trial:{told}" if told else "draft" if draft else ""
    found = Fingerprint(
        params=snapshot.params_sha256,
        inputs=snapshot.hashes,
        notebooks={s: prints.notebook_digest(p) for s, p in notebooks.items()},
        notebook_helpers=prints.helpers_digest(ours.values()),
        package=prints.package_digest(),
        versions=prints.versions(),
        python=prints.python_version(),
        seed=int(params.seed),
        variant=" ".join(filter(None, (aside, "" if attach else NO_ATTACHMENTS))),
        report=report.digest if report else "",
    )
    if not aside:
        found = replace(found, since=before(loaded.slug, found))
    day = params.as_of.isoformat()
    edition = f"{day}-{found.digest[:8]}" + (f"-{only}" if only else "")
    return BuildPlan(
        params, loaded.slug, day, sections, sources, notebooks, snapshot, found, edition, draft or bool(only or told), only or "",
        loaded.notes, report, told, PARTIAL if only else TRIALS if told else "",
    )  # fmt: skip


def parse_date(value: str | date) -> date:
    """A date written YYYY-MM-DD."""
    try:
        return value if isinstance(value, date) else date.fromisoformat(value)
    except ValueError:
        raise InputError(
            Problem("is not a date", key="--as-of", value=str(value)[:40], remedy="Write it as 2026-11-20.")
        ) from None


def _check(params_path: Path, as_of: date | None, trying: Callable[[], None] | None, going_on: bool) -> Checked:
    """Imported where it is used: the command line's help needs none of the analyses."""
    from fabricreport.check.check import check

    return check(params_path, as_of=as_of, trying=trying, going_on=going_on)


def _sections(params: Params, only: str | None) -> tuple[str, ...]:
    from fabricreport.base.locations import did_you_mean
    from fabricreport.scenario import SECTION_NAMES

    if only is None:
        return params.notebooks
    known = (*SECTION_NAMES, params.asked.spine, *params.extras)
    if only not in known:
        raise InputError(
            Problem(
                "is not a section",
                key="--only",
                value=only[:80],
                suggestion=did_you_mean(only, known),
                remedy=f"One of: {', '.join(known)}.",
            )
        )
    return (only,)


def _copy_notebooks(sources: Mapping[str, Path], target: Path, own: Path, shown: Path) -> dict[str, Path]:
    """Copies of the sources, which nobody saves to, and over them the client's own: frozen in `own`, known as those of `shown`."""
    from fabricreport.memo.document.outputs import attach_pictures

    target.mkdir()
    copies, problems = {}, []
    for section, source in sources.items():
        copy, mine = target / f"{section}.ipynb", own / f"{section}.ipynb"
        original = mine if source.parent == shown else source
        try:
            shutil.copyfile(original, copy)
            attach_pictures(copy, original.parent)
            if original == source and mine.is_file():
                over = shutil.copyfile(mine, copy.with_suffix(".own"))
                attach_pictures(over, own)
                laid, _ = lay(copy, over.read_bytes(), shown / copy.name)
                over.unlink()
                copy.write_text(json.dumps(laid, ensure_ascii=False, allow_nan=False), encoding="utf-8")
        except OSError as error:
            reason = "the notebook does not exist" if isinstance(error, FileNotFoundError) else f"{error.strerror}"
            problems.append(Problem(reason, str(source), remedy="Restore it, or take its section out of `sections`."))
        copies[section] = copy
    if problems:
        raise InputError(problems)
    return copies
