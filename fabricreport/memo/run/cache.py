"""The folder in which a build leaves what the next one need not do again: records of builds, matplotlib's list of fonts.

`.cache/fabricreport/` beside the output folder; it may be deleted at any time, and is used only if nobody else could have
written into it.
"""

from __future__ import annotations

import contextlib
import os
import stat
from dataclasses import dataclass
from pathlib import Path


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
