"""What a process owes to the one that made it: to end with it, and to hold none of its files open."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
from pathlib import Path

_PR_SET_PDEATHSIG = 1


def end_with(maker: int, sent: signal.Signals = signal.SIGKILL) -> None:
    """Have this process sent a signal when the one that made it ends, however that ends."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_PDEATHSIG, sent, 0, 0, 0)
    if os.getppid() != maker:  # it ended before we could ask
        os._exit(1)


def only_files(*kept: int) -> None:
    """Close what a forked process inherited open: a pipe that it holds would never be seen to end."""
    for number in [int(entry.name) for entry in Path("/proc/self/fd").iterdir()]:
        if number not in kept:
            with contextlib.suppress(OSError):
                os.close(number)


def cause_of(code: int) -> str:
    """How a process ended that left no word, from its exit code."""
    if code < 0:
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"signal {-code}"
        hint = "; the system may have run out of memory" if code == -signal.SIGKILL else ""
        return f"the section's process was ended by {name}{hint}"
    return f"the section's process left with exit code {code} without a result"
