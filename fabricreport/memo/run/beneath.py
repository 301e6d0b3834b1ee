"""How a build opens a client's files: the folders it looks into, and no link followed on the way."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

BOOKS: Mapping[str, tuple[str, ...]] = {
    "prices": (".csv",),
    "evidence": (".yaml", ".yml"),
    "options": (".yaml", ".yml"),
}
MAX_FILE_BYTES = 32_000_000


def read_beneath(folder: Path, relative: str, *, limit_bytes: int = MAX_FILE_BYTES) -> bytes:
    """The bytes of a regular file below `folder`, no component of `relative` being a symbolic link.

    Each component is opened from the one before, so a link put there meanwhile is not followed either.
    `OSError` with ELOOP for a link, EINVAL for a special file, EFBIG for a file over the limit.
    """
    *folders, last = relative.split("/")
    opened = [os.open(folder, os.O_RDONLY | os.O_DIRECTORY)]
    try:
        for part in folders:
            opened.append(os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=opened[-1]))
        opened.append(os.open(last, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=opened[-1]))
        if not stat.S_ISREG(os.fstat(opened[-1]).st_mode):
            raise OSError(errno.EINVAL, "not a regular file")
        return b"".join(_chunks(opened[-1], limit_bytes))
    finally:
        for descriptor in opened:
            os.close(descriptor)


def _chunks(descriptor: int, limit_bytes: int) -> Iterator[bytes]:
    read = 0
    while data := os.read(descriptor, 1 << 20):
        read += len(data)
        if read > limit_bytes:
            raise OSError(errno.EFBIG, "too large")
        yield data
