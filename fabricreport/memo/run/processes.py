"""The processes that workers run in: forked from this one, or started in an interpreter of their own."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from fabricreport.memo.run import worker


class Process(Protocol):
    """A worker's process, whose group it leads."""

    pid: int

    def ask(self) -> None:
        """Ask it to end its kernel and itself."""

    def wait(self) -> int:
        """Its exit code, negative for a signal, once it has ended."""


class _Started:
    """A worker in an interpreter of its own; it ends when its input does."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.pid, self._process = process.pid, process

    def ask(self) -> None:
        if self._process.stdin is not None:
            self._process.stdin.close()

    def wait(self) -> int:
        code = self._process.wait()
        self.ask()
        return code


class _Forked:
    """A worker forked from this process."""

    def __init__(self, pid: int) -> None:
        self.pid = pid

    def ask(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGTERM)

    def wait(self) -> int:
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def started(job: dict[str, Any], env: Mapping[str, str], log: Path) -> Process:
    """A worker in a new interpreter, which takes the ordinary kernel."""
    path = log.with_suffix(".json")
    path.write_text(json.dumps(job, allow_nan=False), encoding="utf-8")
    with log.open("wb") as stderr:
        process = subprocess.Popen(
            [sys.executable, "-m", "fabricreport.memo.run.worker", str(path)],
            cwd=job["cwd"],
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=stderr,
            pass_fds=(job["pipe"],),
            start_new_session=True,
        )
    return _Started(process)


def forked(job: dict[str, Any], env: Mapping[str, str], log: Path) -> Process:
    """A worker forked from this process, which is `warm.is_ready_to_fork`."""
    maker = os.getpid()
    pid = os.fork()
    if pid == 0:
        try:
            os.environ.clear()
            os.environ.update(env)
            worker.forked(job, maker, log)
        finally:
            os._exit(1)
    return _Forked(pid)


def end_group(process: Process, *, ask: bool) -> int:
    """Kill what is left of a worker's process group and wait for the worker; its exit code.

    A living worker is asked to end its kernel and itself. The group is killed before the worker is waited for: until
    then its id cannot belong to anyone else.
    """
    if ask:
        process.ask()
    _await_exit(process.pid, seconds=3.0)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    return process.wait()


def _await_exit(pid: int, *, seconds: float) -> None:
    """Wait for the end of a child without reaping it, at most so long."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
            return
        time.sleep(0.01)
