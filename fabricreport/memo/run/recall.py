"""What a build came to last time, kept so that an unchanged one is answered without reading or checking anything anew.

A record holds the stamp of all that a build rests on, the hashes of the client's own prices and of the answers and logs
that the params name, and the edition that follows. It is kept in a cache folder, one for each question: `.cache/fabricreport/` beside the
output folder, which may be deleted at any time and is used only if nobody else could have written into it. It says nothing on whether that edition was
published or is whole: whoever asks finds that out. A damaged or missing record is no answer, never an error.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabricreport.checking.dates import Dates, dates_from
from fabricreport.memo.editions.manifest import read_sealed, sealed
from fabricreport.memo.run.digest import canonical, sha256
from fabricreport.memo.run.places import Places
from fabricreport.memo.run.snapshot import OWN, own_names, read_beneath
from fabricreport.memo.run.stamp import Stamp, stamp_of

if TYPE_CHECKING:
    from fabricreport.memo.run.snapshot import Snapshot

MAX_RECORDS = 1_000
_FORMAT = 1
_NAMED = (OWN, "providers", "logs", "elicited", "offers")


@dataclass(frozen=True)
class Planned:
    """What a build of certain inputs comes to: its edition (with the sha256 of its content), and what is told of it."""

    slug: str
    as_of: str
    edition: str
    digest: str
    draft: bool = False
    only: str = ""
    notes: tuple[str, ...] = ()
    dates: Dates | None = None


@dataclass(frozen=True)
class Question:
    """What is asked of a params file: a memo of one day (`day`: '' for its own, or words for how it is found), whole or one section, final or a draft."""

    params_path: Path
    places: Places
    day: str = ""
    only: str = ""
    draft: bool = False

    @property
    def key(self) -> str:
        """The name of the record; a path counts as it was written too, for messages quote it."""
        folders = [*map(str, self.places.notebook_folders), str(self.places.project_params)]
        words = [str(self.params_path), str(self.params_path.absolute()), *folders, self.day, self.only, self.draft]
        return sha256(canonical([_FORMAT, *words]))

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
        return Planned(**{**planned, "notes": tuple(planned["notes"]), "dates": dates})
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
    """sha256 of each answer and log that the params name, and of each price file of the client's own, by its name."""
    return {f.name: f.sha256 for f in inputs.files if f.kind in _NAMED}


def _same(named: Mapping[str, Any], folder: Path, slug: str) -> bool:
    """Whether every one of these files is what it was, no link being followed to it, and the client has no more prices."""
    mine = set(own_names(folder, slug))
    return mine <= named.keys() and all(sha256(read_beneath(folder, name)) == kept for name, kept in named.items())


def _write(path: Path, data: bytes) -> None:
    """Put a record in place whole, or not at all; the oldest give way."""
    part = path.with_name(f".{path.stem[:16]}-{os.urandom(4).hex()}.part")
    try:
        path.parent.mkdir(exist_ok=True, mode=0o700)
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as handle:
            handle.write(data)
        part.replace(path)
        records = sorted(path.parent.glob("*.json"), key=lambda p: p.stat().st_mtime_ns)
        for old in records[:-MAX_RECORDS]:
            old.unlink(missing_ok=True)
    except OSError:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)


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
