"""Many clients in one run, each in a process forked from this one: what one does, no other feels.

The imports are shared, the memory of a client is given back when it is done, and results come in the order of the files,
whatever order they were made in. Where nothing may be forked the clients are built one after the other.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import pickle
import selectors
import signal
import traceback
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Generic, NoReturn, TypeVar

from fabricreport.errors import FabricReportError
from fabricreport.memo.run.run_record import Progress, ProgressCall

Result = TypeVar("Result")
Task = Callable[[Path, ProgressCall, int], Result]
"""Builds the memo of a params file: its path, whom to tell of every step, and how many sections to run at once."""
Steps = Callable[[Path, Progress], None]
"""Whom to tell of a client's every step; the last, `done`, has no section."""


@dataclass(frozen=True)
class Outcome(Generic[Result]):
    """What came of one params file: a result, or the error that stopped it."""

    params: Path
    result: Result | None = None
    error: FabricReportError | None = None


def each(paths: Sequence[Path], task: Task[Result], *, jobs: int, progress: Steps) -> list[Outcome[Result]]:
    """Run a task for each params file, at most `jobs` processes of sections at once; one outcome each, in order.

    Results must be fit to be pickled. A KeyboardInterrupt ends all that runs and is raised again.
    """
    if len(paths) > 1 and _ready():
        return _Batch(paths, task, jobs, progress).run()
    return [_tried(path, task, jobs, progress) for path in paths]


def _ready() -> bool:
    from fabricreport.memo.run.environment import has_forking_environment

    if not has_forking_environment(os.environ):
        return False
    from fabricreport.memo.run.warm import import_stack, is_ready_to_fork

    import_stack()
    gc.collect()
    gc.freeze()
    return is_ready_to_fork()


def _tried(path: Path, task: Task[Result], jobs: int, progress: Steps) -> Outcome[Result]:
    try:
        return Outcome(path, task(path, lambda step: progress(path, step), jobs))
    except FabricReportError as error:
        return Outcome(path, error=error)


@dataclass
class _Client:
    """One running process and what it has sent so far."""

    number: int
    pid: int
    pipe: int
    buffer: bytes = b""
    outcome: bytes = b""


class _Batch(Generic[Result]):
    def __init__(self, paths: Sequence[Path], task: Task[Result], jobs: int, progress: Steps) -> None:
        self.paths, self.task, self.progress = paths, task, progress
        self.at_once = min(jobs, len(paths))
        self.jobs = max(1, jobs // self.at_once)
        self.outcomes: dict[int, Outcome[Result]] = {}
        self.running: dict[int, _Client] = {}

    def run(self) -> list[Outcome[Result]]:
        waiting = list(enumerate(self.paths))
        with selectors.DefaultSelector() as selector:
            try:
                while waiting or self.running:
                    while waiting and len(self.running) < self.at_once:
                        self._start(*waiting.pop(0), selector)
                    for key, _ in selector.select():
                        self._listen(key.data, selector)
            except BaseException:
                for client in self.running.values():
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(client.pid, signal.SIGINT)  # it ends its sections, then itself
                for client in self.running.values():
                    os.waitpid(client.pid, 0)
                    os.close(client.pipe)
                raise
        return [self.outcomes[number] for number in range(len(self.paths))]

    def _start(self, number: int, path: Path, selector: selectors.BaseSelector) -> None:
        reader, writer = os.pipe()
        maker = os.getpid()
        pid = os.fork()
        if pid == 0:
            try:
                from fabricreport.memo.run.processes import end_with, only_files

                only_files(0, 1, 2, writer)
                end_with(maker, signal.SIGINT)
                self._live(path, writer)
            finally:
                os._exit(1)
        os.close(writer)
        os.set_blocking(reader, False)
        self.running[number] = _Client(number, pid, reader)
        selector.register(reader, selectors.EVENT_READ, self.running[number])

    def _live(self, path: Path, pipe: int) -> NoReturn:
        """What a client's process does: the task, telling every step as a line and the outcome as the last."""
        with os.fdopen(pipe, "wb", buffering=0) as words:

            def tell(_: Path, step: Progress) -> None:
                words.write(json.dumps({"step": asdict(step)}).encode() + b"\n")

            try:
                outcome = _tried(path, self.task, self.jobs, tell)
            except KeyboardInterrupt:
                os._exit(130)
            except BaseException:
                told = f"building {path} ended in a bug of ours:\n{traceback.format_exc()}"
                outcome = Outcome(path, error=FabricReportError(told))
            data = pickle.dumps(outcome)
            words.write(json.dumps({"outcome": len(data)}).encode() + b"\n")
            view = memoryview(data)
            while view:
                view = view[words.write(view) :]
        os._exit(0)

    def _listen(self, client: _Client, selector: selectors.BaseSelector) -> None:
        data = os.read(client.pipe, 1 << 16)
        client.buffer += data
        while b"\n" in client.buffer and not client.outcome:
            line, _, rest = client.buffer.partition(b"\n")
            word: dict[str, Any] = json.loads(line)
            if "outcome" in word:
                client.outcome = b"due"
            else:
                self.progress(self.paths[client.number], Progress(**word["step"]))
            client.buffer = rest
        if not data:
            self._finish(client, selector)

    def _finish(self, client: _Client, selector: selectors.BaseSelector) -> None:
        selector.unregister(client.pipe)
        os.close(client.pipe)
        del self.running[client.number]
        code = os.waitstatus_to_exitcode(os.waitpid(client.pid, 0)[1])
        if code == 130:
            raise KeyboardInterrupt
        path = self.paths[client.number]
        self.progress(path, Progress("", "done"))
        if client.outcome and code == 0:
            self.outcomes[client.number] = pickle.loads(client.buffer)
            return
        from fabricreport.memo.run.pool import cause_of

        told = f"building {path} came to no end: {cause_of(code).replace('section', 'build')}"
        self.outcomes[client.number] = Outcome(path, error=FabricReportError(told))
