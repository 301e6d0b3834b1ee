"""Executed sections kept from build to build: small files, each whole or not there.

What a key covers is said in `reuse.py`. A hit gives the bytes that an execution would give. Several builds may read and
write at once: an entry is whole or not there, and one that is damaged or that nobody of ours wrote is a miss. The folder, `.cache/fabricreport/` beside the output folder, may be deleted at any time; it is
used only if nobody else could have written into it.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
import time
import zlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from fabricreport.memo.run.digest import canonical, sha256

MAX_BYTES = 400_000_000
MAX_ENTRIES = 20_000
"""What may lie in the folder, notes on sections counted too; the least recently used go first."""
MOST_QUESTIONS = 200
"""Lists of ids tried for one section, the last used first."""
_HEADER = b"fabricreport section cache 2 "
_ABANDONED_S = 3_600.0
"""Age from which a file that somebody began to write is nobody's."""


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
    """Stripped notebooks by key, and notes on them. A fault of the cache is a miss, never an error."""

    def __init__(self, folder: Path, *, max_bytes: int = MAX_BYTES, max_entries: int = MAX_ENTRIES) -> None:
        self.folder = folder / "sections"
        self.max_bytes, self.max_entries = max_bytes, max_entries

    def get(self, key: str) -> bytes | None:
        """The notebook's bytes, or None if there is no entry or it is damaged."""
        other = self._read(f"{key}.same")
        packed = self._read(f"{key if other is None else other.decode('ascii', 'replace')}.section")
        try:
            return None if packed is None else zlib.decompress(packed)
        except zlib.error:
            return None

    def put(self, key: str, data: bytes) -> None:
        """Keep a notebook's bytes under a key."""
        self._write(f"{key}.section", zlib.compress(data, 1))

    def same(self, key: str, other: str) -> None:
        """What is kept under the other key is what this key asks for."""
        self._write(f"{key}.same", other.encode("ascii"))

    def ask(self, source: str, ids: Collection[str]) -> None:
        """Keep what a section of this source read."""
        listed = canonical(sorted(ids))
        self._write(f"{source}.{sha256(listed)[:16]}.ids", listed)

    def questions(self, source: str) -> Iterator[list[str]]:
        """What sections of this source read, the last used first."""
        with contextlib.suppress(OSError):
            found = sorted(self.folder.glob(f"{source}.*.ids"), key=_last_used, reverse=True)
            for path in found[:MOST_QUESTIONS]:
                listed = self._read(path.name)
                if listed is not None:
                    yield json.loads(listed)

    def _read(self, name: str) -> bytes | None:
        """An entry's content; the name is part of what its first line vouches for."""
        path = self.folder / name
        try:
            with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW), "rb") as handle:
                head, _, data = handle.read().partition(b"\n")
        except OSError:
            return None
        if head != _head(name, data):
            return None
        with contextlib.suppress(OSError):
            os.utime(path)  # the least recently used go first
        return data

    def _write(self, name: str, data: bytes) -> None:
        part = self.folder / f".{os.urandom(8).hex()}.part"
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as handle:
                handle.write(_head(name, data) + b"\n" + data)
            part.replace(self.folder / name)
        except OSError:
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)

    def prune(self) -> None:
        """Bring the folder under its bounds; what another build takes away meanwhile is as well gone."""
        entries = []
        with contextlib.suppress(OSError), os.scandir(self.folder) as found:
            for entry in found:
                with contextlib.suppress(OSError):
                    facts = entry.stat(follow_symlinks=False)
                    abandoned = entry.name.endswith(".part") and time.time() - facts.st_mtime > _ABANDONED_S
                    entries.append((0 if abandoned else facts.st_mtime_ns, facts.st_size, entry.path))
        size, count = sum(entry[1] for entry in entries), len(entries)
        for used, own, path in sorted(entries):
            if used and size <= self.max_bytes and count <= self.max_entries:
                break
            with contextlib.suppress(OSError):
                Path(path).unlink()
            size, count = size - own, count - 1


def _head(name: str, data: bytes) -> bytes:
    return _HEADER + f"{name} {sha256(data)}".encode()


def _last_used(path: Path) -> int:
    with contextlib.suppress(OSError):
        return path.stat().st_mtime_ns
    return 0
