"""Executed sections kept from build to build: small files, each whole or not there.

A key covers the section's source, the frozen inputs, this package's source, the versions of the libraries
and the seed (`Fingerprint.section_key`), so a changed helper module is a miss. A hit gives the bytes that an
execution would give. The folder, `.cache/fabricreport/` beside the output folder, may be deleted at any time; it is
used only if nobody else could have written into it.
"""

from __future__ import annotations

import contextlib
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from fabricreport.memo.run.digest import sha256

MAX_ENTRIES = 400
_HEADER = b"fabricreport section cache 1 "


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
    if facts.st_uid != os.geteuid() and (ours_alone or facts.st_uid != 0):
        return "belongs to another user"
    sticky = stat.S_IWOTH if not facts.st_mode & stat.S_ISVTX else 0
    if facts.st_mode & (stat.S_IWGRP | stat.S_IWOTH if ours_alone else sticky):
        return "may be written by other users"
    return ""


class SectionCache:
    """Stripped notebooks by key. A fault of the cache is a miss, never an error."""

    def __init__(self, folder: Path, *, max_entries: int = MAX_ENTRIES) -> None:
        self.folder = folder / "sections"
        self.max_entries = max_entries

    def get(self, key: str) -> bytes | None:
        """The notebook's bytes, or None if there is no entry or it is damaged."""
        path = self._path(key)
        try:
            with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW), "rb") as handle:
                head, _, data = handle.read().partition(b"\n")
        except OSError:
            return None
        if head != _HEADER + f"{key} {sha256(data)}".encode():
            return None
        with contextlib.suppress(OSError):
            os.utime(path)  # the least recently used go first
        return data

    def put(self, key: str, data: bytes) -> None:
        """Keep a notebook's bytes under a key."""
        part = self.folder / f".{key[:16]}-{os.urandom(4).hex()}.part"
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as handle:
                handle.write(_HEADER + f"{key} {sha256(data)}\n".encode() + data)
            part.replace(self._path(key))
            self._prune()
        except OSError:
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}.section"

    def _prune(self) -> None:
        entries = list(self.folder.glob("*.section"))
        if len(entries) <= self.max_entries:
            return
        for path in sorted(entries, key=lambda p: p.stat().st_mtime_ns)[: len(entries) - self.max_entries]:
            path.unlink(missing_ok=True)
