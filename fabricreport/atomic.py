"""Writing a file whole or not at all: readers see the old text or the new one, never a part."""

from __future__ import annotations

import contextlib
import glob
import os
import stat
import tempfile
import time
from pathlib import Path

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


def _sweep(target: Path) -> None:
    for left in target.parent.glob(f".{glob.escape(target.stem)}-*.tmp"):
        with contextlib.suppress(OSError):
            if time.time() - left.lstat().st_mtime > _LEFT_S:
                left.unlink()


def write_atomically(target: Path, text: str) -> None:
    """Write beside the target, flush to disk, rename over it; a file that is there keeps its rights. `OSError` passes."""
    rights = stat.S_IMODE(target.stat().st_mode) if target.exists() else _ORDINARY
    _sweep(target)
    handle, scratch = tempfile.mkstemp(prefix=f".{target.stem}-", suffix=".tmp", dir=target.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as out:
            out.write(text)
            out.flush()
            os.fsync(out.fileno())
        Path(scratch).chmod(rights)
        Path(scratch).replace(target)
    except BaseException:
        Path(scratch).unlink(missing_ok=True)
        raise
