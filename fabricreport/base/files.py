"""Files and folders: opened without following a symbolic link that stands in their place, and written whole or not at all.

Where the system can, a file is opened from the folder opened before it, so that a link put there meanwhile is not followed
either. Where it cannot (Windows opens no folder), a path is looked at right before it is opened.
"""

from __future__ import annotations

import contextlib
import errno
import glob
import os
import stat
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from fabricreport.base.errors import InputError, Problem

_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_BY_DESCRIPTOR = bool(_NO_LINK) and hasattr(os, "O_DIRECTORY") and os.open in os.supports_dir_fd
HAS_LINKS = bool(_NO_LINK)
"""Whether anybody may make a symbolic link, as on the systems that can refuse to follow one."""
PLAIN = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
"""How a file is opened to be read, without waiting for one that is a pipe."""

Folder = int | Path
"""An open folder: its descriptor, or its path where the system opens none."""


def at(folder: Folder | None, name: str | Path) -> tuple[str | Path, int | None]:
    """A name in an open folder as functions of `os` take it: a path, and the descriptor it counts from."""
    return (folder / name, None) if isinstance(folder, Path) else (name, folder)


def open_file(name: str | Path, flags: int = PLAIN, mode: int = 0o666, folder: Folder | None = None) -> int:
    """Descriptor of a file, ELOOP for a link; whether it is an ordinary one is for the caller to find out."""
    path, parent = at(folder, name)
    if not _NO_LINK:
        _refuse_link(path)
    return os.open(path, flags | _NO_LINK | getattr(os, "O_BINARY", 0), mode, dir_fd=parent)


def open_folder(name: str | Path, parent: Folder | None = None) -> Folder:
    """A folder, opened to be closed by `close_folder`; a link and a file are refused by ELOOP and ENOTDIR."""
    path, descriptor = at(parent, name)
    if _BY_DESCRIPTOR:
        return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=descriptor)
    _refuse_link(path)
    os.scandir(path).close()
    return Path(path)


def close_folder(folder: Folder) -> None:
    """Close an open folder."""
    if isinstance(folder, int):
        os.close(folder)


def sync(path: Path) -> None:
    """Bring a file's content to the disk, and a folder's where the system opens one."""
    if not _BY_DESCRIPTOR and path.is_dir():
        return
    descriptor = open_file(path, os.O_RDONLY if _BY_DESCRIPTOR else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_folder(folder: Folder) -> None:
    """Bring an open folder's entries to the disk, where the system can."""
    if isinstance(folder, int):
        os.fsync(folder)


MAX_FILE_BYTES = 32_000_000


def read_beneath(folder: Path, relative: str, *, limit_bytes: int = MAX_FILE_BYTES) -> bytes:
    """The bytes of a regular file below `folder`, no component of `relative` being a symbolic link.

    Each component is opened from the one before, so a link put there meanwhile is not followed either.
    `OSError` with ELOOP for a link, EINVAL for a special file, EFBIG for a file over the limit.
    """
    *folders, last = relative.split("/")
    with contextlib.ExitStack() as stack:
        within = open_folder(folder.resolve())
        stack.callback(close_folder, within)
        for part in folders:
            within = open_folder(part, within)
            stack.callback(close_folder, within)
        descriptor = open_file(last, folder=within)
        stack.callback(os.close, descriptor)
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "not a regular file")
        return b"".join(_chunks(descriptor, limit_bytes))


def _chunks(descriptor: int, limit_bytes: int) -> Iterator[bytes]:
    read = 0
    while data := os.read(descriptor, 1 << 20):
        read += len(data)
        if read > limit_bytes:
            raise OSError(errno.EFBIG, "too large")
        yield data


def _refuse_link(path: str | Path) -> None:
    if Path(path).is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))


_ORDINARY = 0o644
_LEFT_S = 3600.0
"""Nobody writes a small file for so long: what is older was left by a run that was killed."""


def write_if_new(target: Path, text: str) -> bool:
    """Make a file, and its folder, hold this text; whether that changed it. `OSError` passes."""
    if target.exists() and target.read_bytes() == text.encode("utf-8"):
        return False
    target.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(target, text)
    return True


@contextlib.contextmanager
def writing(target: str | Path) -> Iterator[None]:
    """Tell what a disk refuses meanwhile as an `InputError`."""
    try:
        yield
    except OSError as error:
        message = f"cannot be written ({error.strerror or error})"
        raise InputError(Problem(message, str(target), remedy="Check the folder and disk.")) from error


def _sweep(target: Path) -> None:
    for left in target.parent.glob(f".{glob.escape(target.stem)}-*.tmp"):
        with contextlib.suppress(OSError):
            if time.time() - left.lstat().st_mtime > _LEFT_S:
                left.unlink()


def write_atomically(target: Path, content: str | bytes) -> None:
    """Write beside the target, flush to disk, rename over it; a file that is there keeps its rights. `OSError` passes."""
    rights = stat.S_IMODE(target.stat().st_mode) if target.exists() else _ORDINARY
    _sweep(target)
    handle, scratch = tempfile.mkstemp(prefix=f".{target.stem}-", suffix=".tmp", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(content.encode("utf-8") if isinstance(content, str) else content)
            out.flush()
            os.fsync(out.fileno())
        Path(scratch).chmod(rights)
        Path(scratch).replace(target)
    except BaseException:
        Path(scratch).unlink(missing_ok=True)
        raise
