"""Executed sections kept from build to build: small files, each whole or not there.

A key covers the section's source, the frozen inputs, this package's source, the versions of the libraries
and the seed (`Fingerprint.section_key`), so a changed helper module is a miss. A hit gives the bytes that an
execution would give. The folder, `.cache/fabricreport/` beside the output folder, may be deleted at any time.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path

from fabricreport.memo.fingerprint import sha256
from fabricreport.memo.volatile import notebook_bytes, notebook_from_bytes, strip_volatile

__all__ = ["SectionCache", "cache_folder", "notebook_bytes", "notebook_from_bytes", "strip_volatile"]

MAX_ENTRIES = 400
_HEADER = b"fabricreport section cache 1 "


def cache_folder(output: Path) -> Path:
    """Where the cache of an output folder lives: beside it, never inside."""
    return output.absolute().parent / ".cache" / "fabricreport"


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
        part = self.folder / f".{key[:16]}-{secrets.token_hex(4)}.part"
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
