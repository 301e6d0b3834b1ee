"""Many clients in one run, each in a process forked from this one: what one does, no other feels.

The imports are shared, the memory of a client is given back when it is done, and results come in the order of the files,
whatever order they were made in. Where nothing may be forked the clients are built one after the other.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Generic, NoReturn, TypeVar, cast

from fabricreport.base.errors import FabricReportError
from fabricreport.memo.editions.manifest import Progress, ProgressCall
from fabricreport.memo.run.environment import ONE_THREAD, skip_unused_grammar

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

Result = TypeVar("Result")
Task = Callable[[Path, ProgressCall], Result]
"""Builds the memo of a params file: its path, and whom to tell of every step."""
_INTERRUPTED = 130
_PR_SET_PDEATHSIG = 1
LOOK_S, _GRACE_S = 0.5, 10.0
Steps = Callable[[Path, Progress], None]
"""Whom to tell of a client's every step; the last, `done`, has no section."""


@dataclass(frozen=True)
class Outcome(Generic[Result]):
    """What came of one params file: a result, or the error that stopped it."""

    params: Path
    result: Result | None = None
    error: FabricReportError | None = None


def each(
    paths: Sequence[Path], task: Task[Result], *, jobs: int | None = None, progress: Steps
) -> list[Outcome[Result]]:
    """Run a task for each params file, at most `jobs` at once (None: one per core); one outcome each, in order.

    Results must be fit to be pickled. A KeyboardInterrupt ends all that runs and is raised again.
    """
    at_once = cores() if jobs is None else jobs
    if min(len(paths), at_once) > 1 and import_ahead():
        return _Batch(paths, task, at_once, progress).run()
    return [_tried(path, task, progress) for path in paths]


def cores() -> int:
    """How many clients to build at once: the cores this process may use."""
    try:
        return max(1, len(os.sched_getaffinity(0)))
    except AttributeError:  # not Linux
        return max(1, os.cpu_count() or 1)


def import_ahead() -> bool:
    """Import all that a build does, to be shared by clients that are forked from here; False where none may be.

    That is where a thread runs, as one does for numpy's sums if it was imported by a process that had not asked for none.
    """
    if not _may_fork():
        return False
    for name, value in ONE_THREAD.items():
        os.environ.setdefault(name, value)
    skip_unused_grammar()
    import nbformat  # noqa: F401
    import papermill  # noqa: F401

    import fabricreport.case
    import fabricreport.memo.run.session
    import fabricreport.memo.write.exporters  # noqa: F401

    gc.collect()
    gc.freeze()  # what is shared stays shared: the collector does not write to it
    return _may_fork()


def _may_fork() -> bool:
    """True on Linux with a single thread."""
    return sys.platform.startswith("linux") and len([*Path("/proc/self/task").iterdir()]) == 1


def _tried(path: Path, task: Task[Result], progress: Steps) -> Outcome[Result]:
    try:
        return Outcome(path, task(path, lambda step: progress(path, step)))
    except FabricReportError as error:
        return Outcome(path, error=error)


@contextlib.contextmanager
def _noted_interrupt() -> Iterator[Callable[[], bool]]:
    """Note an interrupt instead of raising it anywhere: Python swallows one that comes while it forks."""
    seen: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: seen.append(number))
    try:
        yield lambda: bool(seen)
    finally:
        signal.signal(signal.SIGINT, before)


@dataclass
class _Client(Generic[Result]):
    """One running process and what it has told so far."""

    number: int
    pid: int
    told: Connection
    outcome: Outcome[Result] | None = None


class _Batch(Generic[Result]):
    def __init__(self, paths: Sequence[Path], task: Task[Result], jobs: int, progress: Steps) -> None:
        self.paths, self.task, self.progress = paths, task, progress
        self.at_once = min(jobs, len(paths))
        self.outcomes: dict[int, Outcome[Result]] = {}
        self.running: dict[Connection, _Client[Result]] = {}

    def run(self) -> list[Outcome[Result]]:
        from multiprocessing.connection import wait

        waiting = list(enumerate(self.paths))
        with _noted_interrupt() as interrupted:
            try:
                while waiting or self.running:
                    while waiting and len(self.running) < self.at_once:
                        self._start(*waiting.pop(0))
                    for told in wait(list(self.running), timeout=LOOK_S):
                        self._listen(self.running[cast("Connection", told)])
                    if interrupted():
                        raise KeyboardInterrupt
            finally:
                self._end_all()
        return [self.outcomes[number] for number in range(len(self.paths))]

    def _end_all(self) -> None:
        """Have what still runs end its sections and itself; kill what does not."""
        for client in self.running.values():
            with contextlib.suppress(ProcessLookupError):
                os.kill(client.pid, signal.SIGINT)
        until = time.monotonic() + _GRACE_S
        for client in self.running.values():
            while os.waitpid(client.pid, os.WNOHANG) == (0, 0):
                if time.monotonic() > until:
                    os.kill(client.pid, signal.SIGKILL)
                time.sleep(0.02)
            client.told.close()

    def _start(self, number: int, path: Path) -> None:
        from multiprocessing import Pipe

        told, telling = Pipe(duplex=False)
        maker = os.getpid()
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])  # until the child can be interrupted
        pid = os.fork()
        if pid == 0:
            try:
                _only_files(0, 1, 2, telling.fileno())
                live(path, self.task, telling, maker)
            finally:
                os._exit(1)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
        telling.close()
        self.running[told] = _Client(number, pid, told)

    def _listen(self, client: _Client[Result]) -> None:
        try:
            word = client.told.recv()
        except EOFError:
            self._finish(client)
            return
        if isinstance(word, Outcome):
            client.outcome = word
        else:
            self.progress(self.paths[client.number], word)

    def _finish(self, client: _Client[Result]) -> None:
        del self.running[client.told]
        client.told.close()
        code = os.waitstatus_to_exitcode(os.waitpid(client.pid, 0)[1])
        if code == _INTERRUPTED:
            raise KeyboardInterrupt
        path = self.paths[client.number]
        self.progress(path, Progress("", "done"))
        if client.outcome is None:
            told = f"building {path} came to no end: {cause_of(code)}"
            client.outcome = Outcome(path, error=FabricReportError(told))
        self.outcomes[client.number] = client.outcome


def live(path: Path, task: Task[Result], telling: Connection, maker: int) -> NoReturn:
    """What a client's process does: the task, telling every step, and the outcome last. It ends with its maker."""
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        _end_with(maker, signal.SIGINT)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
        outcome = _tried(path, task, lambda _, step: telling.send(step))
    except KeyboardInterrupt:
        os._exit(_INTERRUPTED)
    except BaseException:
        told = f"building {path} ended in a bug of ours:\n{traceback.format_exc()}"
        outcome = Outcome(path, error=FabricReportError(told))
    with contextlib.suppress(BrokenPipeError):  # whoever asked is no more
        telling.send(outcome)
    os._exit(0)


def _end_with(maker: int, sent: signal.Signals) -> None:
    """Have this process sent a signal when the one that made it ends, however that ends."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_PDEATHSIG, sent, 0, 0, 0)
    if os.getppid() != maker:  # it ended before we could ask
        os._exit(1)


def _only_files(*kept: int) -> None:
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
        return f"the build's process was ended by {name}{hint}"
    return f"the build's process left with exit code {code} without a result"
