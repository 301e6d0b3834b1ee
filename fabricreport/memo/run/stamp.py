"""One hash over the content of everything that decides what a build comes to, taken without importing any of it.

    the params file and the folders of its books      the notebooks with all that lies beside them
    this package, source and data                     names and versions of every installed library, the interpreter

It covers more than the fingerprint of an edition does (saved outputs of notebooks, libraries that are not pinned), so two
equal stamps mean equal builds, and two that differ mean nothing yet. Contents are read each time; a file's times decide
nothing. Where a link or a special file stands, or something cannot be read, there is no stamp.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from fabricreport.descriptors import open_file
from fabricreport.memo.run.places import Places
from fabricreport.memo.run.snapshot import BOOKS
from fabricreport.project import PACKAGE, book_folder

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
