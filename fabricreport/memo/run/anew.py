"""A command that finds work to do begins again as an interpreter that sections may be forked from.

What makes a section's process the same everywhere (the order of sets, one thread for sums, the search path) is read by an
interpreter when it starts. A command that was started otherwise gives its place to one that is, and loses nothing: it has
loaded little, and told nothing yet.
"""

from __future__ import annotations

import os
import sys

_leave: list[bool] = []


def may_begin_anew() -> None:
    """Leave for this process, which is a command and nothing else, to be replaced."""
    _leave.append(True)


def begin_anew() -> None:
    """Replace this process by one that is ready to fork, if it may be and is not; else do nothing."""
    if not _leave or not sys.platform.startswith("linux"):
        return
    from fabricreport.memo.run.bytecode import compile_checked
    from fabricreport.memo.run.environment import forking_environment, has_forking_environment
    from fabricreport.project import PACKAGE

    if has_forking_environment(os.environ):
        return
    compile_checked(PACKAGE)
    sys.stdout.flush()
    sys.stderr.flush()
    command = [sys.executable, "-m", "fabricreport", *sys.argv[1:]]
    os.execve(sys.executable, command, forking_environment(os.environ))
