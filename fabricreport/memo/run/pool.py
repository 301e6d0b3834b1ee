"""Workers at their work: so many at once, each held to its limits, and the truth of how each ended."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from fabricreport.memo.run.lineage import cause_of
from fabricreport.memo.run.processes import Process, end_group, started
from fabricreport.memo.run.run_record import Progress, ProgressCall, RunRecord, SectionRun
from fabricreport.memo.run.worker import plain_text

OUTPUT_LIMIT_BYTES = 64_000_000
_GRACE_S = 15.0


@dataclass(frozen=True)
class Limits:
    """What a section may use: seconds a cell and a section, bytes of output a section."""

    cell_timeout_s: float
    section_timeout_s: float
    output_limit_bytes: int


@dataclass
class _Worker:
    """One running process and what it has told so far."""

    section: str
    output: Path
    process: Process
    pipe: int
    log: Path
    started: float
    deadline: float
    buffer: bytes = b""
    cell: int | None = None
    end: dict[str, Any] | None = None


@dataclass
class Pool:
    """Runs workers, so many at a time; `start` makes one, and `cancelled` is a file whose end cancels all."""

    params: Path
    scratch: Path
    cwd: Path | None
    runtime: Path
    limits: Limits
    env: dict[str, str]
    progress: ProgressCall
    start: Callable[[dict[str, Any], Mapping[str, str], Path], Process] = field(default=started)
    cancelled: int | None = None
    running: dict[int, _Worker] = field(default_factory=dict)
    done: dict[str, SectionRun] = field(default_factory=dict)

    def run(self, notebooks: Mapping[str, Path], jobs: int) -> RunRecord:
        """Execute the notebooks, at most `jobs` at once."""
        waiting = list(notebooks.items())
        with selectors.DefaultSelector() as selector:
            if self.cancelled is not None:
                selector.register(self.cancelled, selectors.EVENT_READ, None)
            try:
                while waiting or self.running:
                    while waiting and len(self.running) < jobs:
                        self._start(*waiting.pop(0), selector)
                    self._listen(selector)
            except KeyboardInterrupt:
                pass
            finally:
                with _not_interrupted():
                    for one in list(self.running.values()):
                        self._finish(one, selector, "cancelled")
        for section in notebooks:
            self.done.setdefault(section, SectionRun(section, "cancelled"))
        return RunRecord(tuple(self.done[section] for section in notebooks))

    def _start(self, section: str, notebook: Path, selector: selectors.BaseSelector) -> None:
        number = len(self.done) + len(self.running)
        output, log = self.scratch / f"{section}.ipynb", self.runtime / f"{number}.log"
        reader, writer = os.pipe()
        job = {
            "notebook": str(Path(notebook).resolve()),
            "params": str(self.params),
            "output": str(output),
            "cwd": str(self.cwd or Path(notebook).resolve().parent),
            "connection_file": str(self.runtime / f"{number}.k.json"),
            **asdict(self.limits),
            "pipe": writer,
        }
        try:
            process = self.start(job, self.env, log)
        except BaseException:
            os.close(reader)
            raise
        finally:
            os.close(writer)
        now = time.monotonic()
        deadline = now + self.limits.section_timeout_s + _GRACE_S
        os.set_blocking(reader, False)
        one = _Worker(section, output, process, reader, log, now, deadline)
        self.running[reader] = one
        selector.register(reader, selectors.EVENT_READ, one)
        self.progress(Progress(section, "started"))

    def _listen(self, selector: selectors.BaseSelector) -> None:
        """Wait for the next word of any worker, or for the first limit to pass."""
        now = time.monotonic()
        first = min(one.deadline for one in self.running.values())
        for key, _ in selector.select(timeout=max(0.0, min(first - now, 1.0))):
            one = key.data
            if one is None:
                raise KeyboardInterrupt
            data = os.read(one.pipe, 65536)
            if not data:
                self._finish(one, selector)
                continue
            *lines, one.buffer = (one.buffer + data).split(b"\n")
            for line in lines:
                self._hear(one, json.loads(line))
        for one in list(self.running.values()):
            if time.monotonic() >= one.deadline:
                self._finish(one, selector, "timeout")

    def _hear(self, one: _Worker, message: dict[str, Any]) -> None:
        if "end" in message:
            one.end = message["end"]
        else:
            one.cell = message["cell"]
            self.progress(Progress(one.section, "cell", message["cell"], message["cells"]))

    def _finish(self, one: _Worker, selector: selectors.BaseSelector, stopped: str = "") -> None:
        """End the group, wait for it and write down how the section ended."""
        code = end_group(one.process, ask=bool(stopped))
        selector.unregister(one.pipe)
        os.close(one.pipe)
        del self.running[one.pipe]
        seconds = round(time.monotonic() - one.started, 3)
        kept = str(one.output) if one.output.exists() else ""
        if one.end is not None and not stopped:
            end = one.end
        elif stopped == "timeout":
            limit = f"the section's limit of {self.limits.section_timeout_s:g} s was reached"
            end = {"status": "timeout", "ename": "SectionTimeout", "evalue": limit}
        elif stopped:
            end = {"status": "cancelled"}
        else:
            end = {"status": "dead", "ename": "WorkerDied", "evalue": cause_of(code), "traceback": tail_of(one.log)}
        run = SectionRun(**{"section": one.section, "cell": one.cell, **end})
        run = replace(run, cell=None if run.ok else run.cell, seconds=seconds, notebook=kept)
        self.done[one.section] = run
        self.progress(Progress(one.section, run.status, seconds=seconds))


@contextlib.contextmanager
def _not_interrupted() -> Iterator[None]:
    """Let an impatient second Ctrl-C not stop the clearing up after the first."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def tail_of(log: Path, limit: int = 4_000) -> str:
    """The last of what a process wrote to its log."""
    with contextlib.suppress(OSError), log.open("rb") as handle:
        handle.seek(max(0, log.stat().st_size - limit))
        return plain_text(handle.read().decode("utf-8", "replace"))
    return ""
