"""Locks that end with their holder: one for each client while publishing, one for each scratch folder.

The lock is the operating system's, so a killed holder never blocks anybody and a reused process
number or another host cannot be mistaken for the holder. The file's text only tells who it was.
"""

from __future__ import annotations

import contextlib
import errno
import importlib
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

from fabricreport.base.errors import InputError, Problem
from fabricreport.base.files import Folder, at, close_folder, open_file, open_folder

WAIT_S = 30.0
INDEX = "index.html"
_OWNER = ".owner"
_DISK_ERRORS = frozenset(
    [
        errno.ENOSPC,
        errno.EDQUOT,
        errno.EIO,
        errno.EROFS,
        errno.EACCES,
        errno.EPERM,
        errno.ELOOP,
        errno.ENOTDIR,
        errno.EFBIG,
        errno.ENAMETOOLONG,
        errno.ENOLCK,
        errno.ENOSYS,
    ]
)
_SCRATCH = ".scratch-"
_SWEEPING = ".sweeping"
_LOCKED_BYTE = 1 << 20


def _identity() -> bytes:
    import platform

    return json.dumps({"pid": os.getpid(), "host": platform.node()}, allow_nan=False).encode()


def _holder(text: bytes) -> str:
    try:
        who = json.loads(text)
        return f"process {int(who['pid'])} on {str(who['host'])[:80]}"
    except (ValueError, KeyError, TypeError):
        return "an unknown process"


def _try_lock(descriptor: int) -> bool:
    try:
        _lock(descriptor)
    except OSError as error:
        if error.errno in (errno.EAGAIN, errno.EACCES):
            return False
        raise
    return True


def _lock(descriptor: int) -> None:
    try:
        import fcntl
    except ImportError:  # Windows, which locks bytes, and lets nobody read those: one behind every text
        windows = importlib.import_module("msvcrt")
        os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
        windows.locking(descriptor, windows.LK_NBLCK, 1)
        return
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _told(descriptor: int) -> bytes:
    os.lseek(descriptor, 0, os.SEEK_SET)
    return os.read(descriptor, 4096)


def _tell(descriptor: int) -> None:
    os.lseek(descriptor, 0, os.SEEK_SET)
    os.write(descriptor, _identity())


@contextlib.contextmanager
def client_lock(folder: Folder, shown: Path, *, wait_s: float = WAIT_S) -> Iterator[list[str]]:
    """Hold the lock of the open client folder; gives messages to show (a lock taken over from a dead build).

    Waits up to `wait_s` seconds for another build that is publishing, then raises `InputError` naming it.
    """
    descriptor = open_file(".lock", os.O_RDWR | os.O_CREAT, folder=folder)
    try:
        until = time.monotonic() + wait_s
        while not _try_lock(descriptor):
            if time.monotonic() >= until:
                holder = _holder(_told(descriptor))
                raise InputError(
                    Problem(
                        f"another build is publishing for this client ({holder})",
                        file=str(shown),
                        remedy="Wait for it to end and run the command again.",
                    )
                )
            time.sleep(0.05)
        left = _told(descriptor)
        messages = [f"{_holder(left)} ended while it was publishing here; its lock was taken over"] if left else []
        os.ftruncate(descriptor, 0)
        _tell(descriptor)
        yield messages
        os.ftruncate(descriptor, 0)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def held_by_one(folder: Path, name: str) -> Iterator[None]:
    """Hold a lock of a folder, which is no link, for as long as it takes to get it."""
    within = open_folder(folder)
    try:
        descriptor = open_file(name, os.O_RDWR | os.O_CREAT, folder=within)
    finally:
        close_folder(within)
    try:
        while not _try_lock(descriptor):
            time.sleep(0.05)
        yield
    finally:
        os.close(descriptor)


def drop_index(output: Folder) -> None:
    """Take the page of all editions away. Who changes them does so before and after: it is true, or it is not there."""
    path, descriptor = at(output, INDEX)
    with contextlib.suppress(OSError):
        os.unlink(path, dir_fd=descriptor)


@contextlib.contextmanager
def scratch_folder(output: Path) -> Iterator[Path]:
    """A new private folder in `output`, on the same file system as the editions; removed on every way out.

    Folders that dead builds left behind are swept first.
    """
    import shutil

    make_output(output)
    sweep(output)
    path = output / f"{_SCRATCH}{os.getpid()}-{os.urandom(4).hex()}"
    with contextlib.ExitStack() as stack:
        with held_by_one(output, _SWEEPING):  # nobody sweeps a folder before its owner holds it
            path.mkdir(mode=0o700)
            stack.callback(shutil.rmtree, path, ignore_errors=True)
            descriptor = open_file(path / _OWNER, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
            stack.callback(os.close, descriptor)
            with contextlib.suppress(OSError):
                _try_lock(descriptor)
        _tell(descriptor)
        yield path


def make_output(output: Path) -> None:
    """Make the output folder; a link or a file in its place is refused."""
    if output.is_symlink():
        raise InputError(
            Problem("the output folder is a symbolic link", file=str(output), remedy="Give the folder's real path.")
        )
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise disk_problem(error, output) from error


def sweep(output: Path) -> list[str]:
    """Remove the scratch folders of builds that are no more; their names."""
    import shutil

    swept = []
    for path in sorted(output.glob(f"{_SCRATCH}*")):
        if path.is_symlink() or not path.is_dir() or in_use(path):
            continue
        with held_by_one(output, _SWEEPING):
            if not in_use(path):
                shutil.rmtree(path, ignore_errors=True)
                swept.append(path.name)
    return swept


def in_use(path: Path) -> bool:
    """True unless the lock of the scratch folder's owner is free; one without an owner is what is left of a removal."""
    try:
        descriptor = open_file(path / _OWNER, os.O_RDWR)
    except OSError as error:
        return error.errno != errno.ENOENT
    try:
        return not _try_lock(descriptor)
    except OSError:
        return True
    finally:
        os.close(descriptor)


def disk_problem(error: OSError, path: Path) -> InputError:
    """A failed write as a message: what, where, and that nothing published was touched."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        remedy = "Free some space there, or give another folder with --output."
    elif error.errno in (errno.ELOOP, errno.ENOTDIR):
        remedy = "Remove the link or file that stands where a folder of editions should be."
    else:
        remedy = "Check that the folder may be written to, or give another one with --output."
    what = f"the edition could not be written: {error.strerror or error}"
    return InputError(Problem(what, file=str(path), remedy=remedy + " The editions published before are untouched."))


def refused_by_disk(symbol: str, path: Path) -> InputError:
    """`disk_problem` for an error that another process met and named (`ENOSPC`)."""
    number = getattr(errno, symbol, errno.EIO)
    return disk_problem(OSError(number, os.strerror(number)), path)


@contextlib.contextmanager
def disk_errors(path: Path) -> Iterator[None]:
    """Turn what a disk refuses (full, read-only, forbidden, in the way) into an `InputError`; other errors are bugs."""
    try:
        yield
    except OSError as error:
        if error.errno not in _DISK_ERRORS:
            raise
        raise disk_problem(error, path) from error


def client_folder(output: Path, slug: str) -> Folder:
    """An existing client folder, opened, reached without following a link."""
    root = open_folder(output)
    try:
        return open_folder(slug, root)
    finally:
        close_folder(root)
