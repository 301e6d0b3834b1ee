"""What a build came to last time, kept under one hash over all that decides it, so that an unchanged one is answered at once.

    the params file and the folders of its books      the notebooks with all that lies beside them
    this package, source and data                     names and versions of every installed library, the interpreter

It covers more than the fingerprint of an edition does (saved outputs of notebooks, libraries that are not pinned), so two
equal stamps mean equal builds, and two that differ mean nothing yet. Contents are read each time; a file's times decide
nothing. Where a link or a special file stands, or something cannot be read, there is no stamp.

A record holds the stamp of all that a build rests on, the hashes of the client's own prices and of the answers, logs and
logo that the params name, and the edition that follows. It is kept in a cache folder, one for each question: `.cache/fabricreport/` beside the
output folder, which may be deleted at any time and is used only if nobody else could have written into it. It says nothing on whether that edition was
published or is whole: whoever asks finds that out. A damaged or missing record is no answer, never an error.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabricreport.base.files import open_file, read_beneath, write_atomically
from fabricreport.base.project import PACKAGE, PARAMS, SHIPPED, book_folder, project_of
from fabricreport.check.dates import Dates, dates_from
from fabricreport.memo.editions.manifest import read_sealed, sealed
from fabricreport.memo.run.snapshot import BOOKS, OWN, OWN_NOTEBOOKS, canonical, own_names, sha256, source_alone

if TYPE_CHECKING:
    from fabricreport.check.check import Checked
    from fabricreport.memo.run.snapshot import Snapshot


REPORT_NOTEBOOK = SHIPPED / "notebooks" / "evidence_report.ipynb"
"""The notebook of the evidence report, the same for every project."""
Check = Callable[[Path, date | None], "Checked"]


@dataclass(frozen=True)
class Places:
    """The folders of a build; tests put their own here.

    A notebook of `own_notebooks`, which need not exist, goes before the one of that name in `notebooks`.
    `report` is the notebook of the evidence report that memos cite; without one they name it in words.
    `check` is called with the user's params file and the date of the memo (None: the params' own).
    Unless they are `trusted`, notebooks of another project than the current folder's are not run.
    """

    notebooks: Path = SHIPPED / "notebooks"
    project_params: Path = PARAMS
    check: Check | None = None
    own_notebooks: Path | None = None
    report: Path | None = None
    trusted: bool = True

    @classmethod
    def of(cls, params_path: Path, *, trusted: bool = True) -> Places:
        """Those of a params file: its project's own notebooks, and what is shipped."""
        own = project_of(params_path.parent) / "notebooks"
        return cls(own_notebooks=own, report=REPORT_NOTEBOOK, trusted=trusted)

    @property
    def notebook_folders(self) -> tuple[Path, ...]:
        """The folders in which a notebook is looked for, in this order."""
        return (self.notebooks,) if self.own_notebooks is None else (self.own_notebooks, self.notebooks)

    def notebook(self, name: str) -> Path:
        """The notebook that a section is run from; where there is none, the place at which it would be found first."""
        found = [folder / f"{name}.ipynb" for folder in self.notebook_folders]
        return next((path for path in found if path.exists() or path.is_symlink()), found[0])


_INSTALLED = (".dist-info", ".egg-info")
TICK_NS = 20_000_000
"""More than file systems' clocks take for a step."""


@dataclass(frozen=True)
class Stamp:
    """`sha256` (hex) of all contents, and when the newest of the client's files and the notebooks was changed, in
    nanoseconds by the file system; None if that was just now, so that another change might bear the same time.

    Between two equal stamps with a time nothing was changed and changed back.
    """

    sha256: str
    changed_ns: int | None


def stamp_of(params_path: Path, places: Places) -> Stamp | None:
    """The stamp of a build of this params file, but for the files it names and the client's own, which the record of a
    build holds; None where there can be none."""
    reader, asked_ns = _Reader(), time.time_ns()
    try:
        reader.say(sys.version)
        reader.params(params_path)
        for parent in dict.fromkeys((params_path.parent, params_path.resolve().parent)):
            for book in BOOKS:
                reader.tree(book_folder(parent, book, places.project_params))
        for folder in places.notebook_folders:
            reader.tree(folder)
        timed = reader.changed_ns
        reader.tree(PACKAGE)
        for found in sys.path:
            reader.libraries(found)
    except (OSError, _Unsure):
        return None
    return Stamp(reader.hash.hexdigest(), timed if timed < asked_ns - TICK_NS else None)


class _Unsure(Exception):
    """Something other than a plain file or folder was met."""


class _Reader:
    """Takes names and contents into one hash."""

    def __init__(self) -> None:
        self.hash = hashlib.sha256()
        self.changed_ns = 0

    def say(self, text: str) -> None:
        data = os.fsencode(text)
        self.hash.update(b"%d " % len(data) + data)

    def params(self, path: Path) -> None:
        """A params file may be a link: what counts is where it leads and what is there."""
        real = str(path.resolve())
        self.say(real)
        self.file(real, "")

    def tree(self, folder: Path) -> None:
        """Everything below a folder; a folder that is not there is as good as any."""
        self.say(str(folder))
        if folder.is_symlink():
            raise _Unsure
        try:
            self._below(folder, "")
        except FileNotFoundError:
            self.say("no folder")

    def _below(self, folder: Path, prefix: str) -> None:
        self.changed_ns = max(self.changed_ns, folder.lstat().st_ctime_ns)
        with os.scandir(folder) as entries:
            found = sorted(entries, key=lambda e: e.name)
        for entry in found:
            if entry.is_dir(follow_symlinks=False):
                if entry.name != "__pycache__":
                    self._below(Path(entry.path), f"{prefix}{entry.name}/")
            else:
                self.file(entry.path, prefix + entry.name)

    def file(self, path: str, name: str) -> None:
        """Name, size and content of a plain file."""
        descriptor = open_file(path)
        try:
            facts = os.fstat(descriptor)
            if not stat.S_ISREG(facts.st_mode):
                raise _Unsure
            data = os.read(descriptor, facts.st_size + 1)
            if len(data) != facts.st_size:  # somebody is writing to it, or it is larger than one read may be
                raise _Unsure
        finally:
            os.close(descriptor)
        self.changed_ns = max(self.changed_ns, facts.st_ctime_ns)
        self.say(f"{name} {len(data)}")
        self.hash.update(data)

    def libraries(self, folder: str) -> None:
        """The libraries installed in a folder of the import path: the names of their records, which hold the versions.

        Our own record is left out: our modules are in the stamp, and how a command finds them is no matter.
        """
        with contextlib.suppress(FileNotFoundError, NotADirectoryError), os.scandir(folder or ".") as entries:
            names = (e.name for e in entries if e.name.endswith(_INSTALLED))
            for name in sorted(name for name in names if not name.startswith((f"{PACKAGE.name}-", f"{PACKAGE.name}."))):
                self.say(name)


MAX_RECORDS = 1_000
_FORMAT = 1
_NAMED = (OWN, OWN_NOTEBOOKS, "providers", "logs", "elicited", "offers", "brand")


@dataclass(frozen=True)
class Planned:
    """What a build of certain inputs comes to: its edition (with the sha256 of its content), and what is told of it."""

    slug: str
    as_of: str
    edition: str
    digest: str
    draft: bool = False
    aside: str = ""
    notes: tuple[str, ...] = ()
    dates: Dates | None = None
    held: tuple[str, ...] = ()


@dataclass(frozen=True)
class Question:
    """What is asked of a params file: a memo of one day (`day`: '' for its own, or words for how it is found), whole or one section, final or a draft, with or without attachments, with values set for a `trial`."""

    params_path: Path
    places: Places
    day: str = ""
    only: str = ""
    draft: bool = False
    attach: bool = True
    trial: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """The name of the record; a path counts as it was written too, for messages quote it."""
        folders = [*map(str, self.places.notebook_folders), str(self.places.project_params)]
        words = [str(self.params_path), str(self.params_path.absolute()), *folders, self.day, self.only]
        return sha256(canonical([_FORMAT, *words, self.draft, self.attach, *self.trial.items()]))

    def stamp(self) -> Stamp | None:
        """The stamp of what the answer rests on; None where the check is not our own, or something is in the way."""
        return None if self.places.check else stamp_of(self.params_path, self.places)


def recall(output: Path, question: Question, stamp: Stamp | None) -> Planned | None:
    """What the same inputs came to before, with a stamp that was taken just now; None if that is not known."""
    folder = cache_folder(output)
    if stamp is None or not folder.is_dir() or cache_place(output).folder is None:
        return None
    try:
        kept = read_sealed(_record(folder, question))
        planned = kept["planned"]
        if kept["stamp"] != stamp.sha256 or not _same(kept["named"], question.params_path.parent, planned["slug"]):
            return None
        dates = planned["dates"] and dates_from(planned["dates"])
        return Planned(**{**planned, "notes": tuple(planned["notes"]), "dates": dates, "held": tuple(planned["held"])})
    except (OSError, ValueError, LookupError, TypeError):
        return None


def remember(output: Path, question: Question, stamp: Stamp | None, planned: Planned, inputs: Snapshot) -> None:
    """Keep what inputs came to that had this stamp before they were read, if what was frozen is what was there then and is
    there now: nothing in between can have read anything else."""
    if stamp is None or stamp.changed_ns is None or stamp != question.stamp():
        return
    folder, named = cache_place(output).folder, _named(inputs)
    try:
        if folder is None or not _same(named, question.params_path.parent, planned.slug):
            return
    except OSError:
        return
    dates = planned.dates and planned.dates.as_dict()
    record = {"stamp": stamp.sha256, "named": named, "planned": {**asdict(planned), "dates": dates}}
    _write(_record(folder, question), sealed(record))


def _record(cache: Path, question: Question) -> Path:
    return cache / "builds" / f"{question.key}.json"


def _named(inputs: Snapshot) -> dict[str, str]:
    """sha256 of each answer, log and logo that the params name, and of each price file and notebook of the client's own, by its name."""
    return {f.name: f.sha256 for f in inputs.files if f.kind in _NAMED}


def _same(named: Mapping[str, Any], folder: Path, slug: str) -> bool:
    """Whether every one of these files is what it was, no link being followed to it, and the client has no more of its own."""
    mine = set(own_names(folder, slug))
    now = ((source_alone(name, read_beneath(folder, name)), kept) for name, kept in named.items())
    return mine <= named.keys() and all(sha256(data) == kept for data, kept in now)


def _write(path: Path, data: bytes) -> None:
    """Put a record in place whole, or not at all; the oldest give way."""
    with contextlib.suppress(OSError):
        path.parent.mkdir(exist_ok=True, mode=0o700)
        write_atomically(path, data.decode("utf-8"))
        records = sorted(path.parent.glob("*.json"), key=lambda p: p.stat().st_mtime_ns)
        for old in records[:-MAX_RECORDS]:
            old.unlink(missing_ok=True)


def cache_folder(output: Path) -> Path:
    """Where the cache of an output folder lives: beside it, never inside."""
    return output.absolute().parent / ".cache" / "fabricreport"


@dataclass(frozen=True)
class CachePlace:
    """The cache folder of an output folder, or None with the reason for the person who builds."""

    folder: Path | None
    message: str = ""


def cache_place(output: Path) -> CachePlace:
    """The cache folder, made or found to be ours alone; another user's, or one that others may write to, is left.

    What lies in it goes into a memo, and matplotlib takes its settings from there: it must be as private as we are.
    """
    folder = cache_folder(output)
    try:
        fault = _made(folder.parent, ours_alone=False) or _made(folder, ours_alone=True)
        if not fault:
            folder.chmod(0o700)
            return CachePlace(folder)
    except OSError as error:
        fault = f"cannot be used: {error.strerror or error}"
    return CachePlace(None, f"{folder}: {fault}; nothing was kept there for the next build")


def _made(folder: Path, *, ours_alone: bool) -> str:
    """Make a folder unless something is there; why it is not to be trusted, or ''.

    The cache's parent may belong to root, be writable for a group, or be sticky as /tmp is.
    """
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    facts = folder.lstat()
    if not stat.S_ISDIR(facts.st_mode):
        return "is a link or a file where the cache's folder should be"
    if not hasattr(os, "geteuid"):  # Windows keeps a user's folders from others, and tells of neither here
        return ""
    if facts.st_uid != os.geteuid() and (ours_alone or facts.st_uid != 0):
        return "belongs to another user"
    sticky = stat.S_IWOTH if not facts.st_mode & stat.S_ISVTX else 0
    if facts.st_mode & (stat.S_IWGRP | stat.S_IWOTH if ours_alone else sticky):
        return "may be written by other users"
    return ""
