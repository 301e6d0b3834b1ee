"""What workers are asked to do in tests; a process on a worker finds it by this module's name."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

from fabricreport.base.errors import InputError, MemoRejected, Problem
from fabricreport.memo.editions.manifest import Progress


def ended_as(path: Path) -> str:
    """The name of a file, or the fault that it is named after."""
    name = path.stem
    if name == "wrong":
        raise InputError([Problem("is wrong", file=str(path), line=3), Problem("too")])
    if name == "rejected":
        raise MemoRejected(["a fault", "another"])
    if name == "bug":
        raise ZeroDivisionError("mine")
    if name == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    return name


def tried(path: Path, progress: Any, *, output: Path) -> tuple[str, str]:
    """The name of the file, the folder it is run in; or the fault that it is named after."""
    progress(Progress("tco", "started"))
    name = ended_as(path)
    if name == "asleep":
        (output / "asleep").write_text(str(os.getpid()))
        time.sleep(600)
    return name, str(output.resolve())
