"""Run section notebooks by papermill, each in its own process, and say truthfully how each ended.

    parent ── starts ──> worker (own session and process group) ── starts ──> kernel (same group)
       ^                    │ one JSON line a cell, one at the end
       └────────────────────┘

The worker holds the limits a cell and a section have; the parent repeats the section's limit with some
grace, ends the whole group, waits for it, and takes a worker that left without a word for `dead`.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from fabricreport.memo.run.environment import ready_fonts, section_environment
from fabricreport.memo.run.run_record import (
    CELL_TIMEOUT_S,
    SECTION_TIMEOUT_S,
    Progress,
    ProgressCall,
    RunRecord,
    SectionRun,
)

OUTPUT_LIMIT_BYTES = 64_000_000
_GRACE_S = 15.0
_SOCKET_DIR_LIMIT = 60  # characters; the path of a unix socket ends at 103 on some systems


@dataclass(frozen=True)
class Limits:
    """What a section may use: seconds a cell and a section, bytes of output a section."""

    cell_timeout_s: float = CELL_TIMEOUT_S
    section_timeout_s: float = SECTION_TIMEOUT_S
    output_limit_bytes: int = OUTPUT_LIMIT_BYTES


def run_sections(
    notebooks: Mapping[str, Path],
    params_json: Path,
    scratch: Path,
    *,
    jobs: int = 2,
    cell_timeout_s: float = CELL_TIMEOUT_S,
    section_timeout_s: float = SECTION_TIMEOUT_S,
    output_limit_bytes: int = OUTPUT_LIMIT_BYTES,
    progress: ProgressCall | None = None,
    matplotlib_dir: Path | None = None,
    cwd: Path | None = None,
) -> RunRecord:
    """Execute each notebook with the papermill parameter `params` = path of the canonical JSON.

    `notebooks` maps a section's name to its source; sections run in the folder `cwd`, else in their notebook's.
    The executed notebook of section s is `scratch/s.ipynb`, also when s failed (as far as it got).
    `matplotlib_dir` keeps matplotlib's font list from run to run. Never raises for a section's fault; a
    KeyboardInterrupt ends all processes and gives the status `cancelled` to what had not finished.
    """
    limits = Limits(cell_timeout_s, section_timeout_s, output_limit_bytes)
    scratch.mkdir(parents=True, exist_ok=True)
    runtime = _runtime_folder()
    try:
        env = section_environment(os.environ, runtime)
        if notebooks:
            wanted = [matplotlib_dir] if matplotlib_dir else []
            env["MPLCONFIGDIR"] = str(ready_fonts(env, [*wanted, scratch.resolve() / "matplotlib"]).resolve())
        folder = None if cwd is None else cwd.resolve()
        params = Path(params_json).resolve()
        pool = _Pool(params, scratch.resolve(), folder, runtime, limits, env, progress or _silent)
        return pool.run(notebooks, max(1, jobs))
    finally:
        shutil.rmtree(runtime, ignore_errors=True)


def _silent(_: Progress) -> None:
    return


def _runtime_folder() -> Path:
    """A short private path for sockets and job files: the output's own path may be too long for a socket."""
    base = tempfile.gettempdir()
    return Path(tempfile.mkdtemp(prefix="fbr-", dir="/tmp" if len(base) > _SOCKET_DIR_LIMIT else base))


@dataclass
class _Worker:
    """One running process and what it has told so far."""

    section: str
    notebook: Path
    output: Path
    process: subprocess.Popen[bytes]
    pipe: int
    log: Path
    started: float
    deadline: float
    buffer: bytes = b""
    cell: int | None = None
    end: dict[str, Any] | None = None


@dataclass
class _Pool:
    params: Path
    scratch: Path
    cwd: Path | None
    runtime: Path
    limits: Limits
    env: dict[str, str]
    progress: ProgressCall
    running: dict[int, _Worker] = field(default_factory=dict)
    done: dict[str, SectionRun] = field(default_factory=dict)

    def run(self, notebooks: Mapping[str, Path], jobs: int) -> RunRecord:
        waiting = list(notebooks.items())
        with selectors.DefaultSelector() as selector:
            try:
                while waiting or self.running:
                    while waiting and len(self.running) < jobs:
                        self._start(*waiting.pop(0), selector)
                    self._listen(selector)
            except KeyboardInterrupt:
                pass
            finally:
                with _not_interrupted():
                    for worker in list(self.running.values()):
                        self._finish(worker, selector, "cancelled")
        for section in notebooks:
            self.done.setdefault(section, SectionRun(section, "cancelled"))
        return RunRecord(tuple(self.done[section] for section in notebooks))

    def _start(self, section: str, notebook: Path, selector: selectors.BaseSelector) -> None:
        number = len(self.done) + len(self.running)
        output, log = self.scratch / f"{section}.ipynb", self.runtime / f"{number}.log"
        reader, writer = os.pipe()
        job = self.runtime / f"{number}.json"
        job.write_text(
            json.dumps(
                {
                    "notebook": str(Path(notebook).resolve()),
                    "params": str(self.params),
                    "output": str(output),
                    "connection_file": str(self.runtime / f"{number}.k.json"),
                    "cell_timeout_s": self.limits.cell_timeout_s,
                    "section_timeout_s": self.limits.section_timeout_s,
                    "output_limit_bytes": self.limits.output_limit_bytes,
                    "pipe": writer,
                },
                allow_nan=False,
            ),
            encoding="utf-8",
        )
        try:
            with log.open("wb") as stderr:
                process = subprocess.Popen(
                    [sys.executable, "-m", "fabricreport.memo.run.worker", str(job)],
                    cwd=self.cwd or Path(notebook).resolve().parent,
                    env=self.env,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.DEVNULL,
                    stderr=stderr,
                    pass_fds=(writer,),
                    start_new_session=True,
                )
        except BaseException:
            os.close(reader)
            raise
        finally:
            os.close(writer)
        now = time.monotonic()
        deadline = now + self.limits.section_timeout_s + _GRACE_S
        os.set_blocking(reader, False)
        worker = _Worker(section, Path(notebook), output, process, reader, log, now, deadline)
        self.running[reader] = worker
        selector.register(reader, selectors.EVENT_READ, worker)
        self.progress(Progress(section, "started"))

    def _listen(self, selector: selectors.BaseSelector) -> None:
        """Wait for the next word of any worker, or for the first limit to pass."""
        now = time.monotonic()
        first = min(worker.deadline for worker in self.running.values())
        for key, _ in selector.select(timeout=max(0.0, min(first - now, 1.0))):
            worker = key.data
            data = os.read(worker.pipe, 65536)
            if not data:
                self._finish(worker, selector)
                continue
            *lines, worker.buffer = (worker.buffer + data).split(b"\n")
            for line in lines:
                self._hear(worker, json.loads(line))
        for worker in list(self.running.values()):
            if time.monotonic() >= worker.deadline:
                self._finish(worker, selector, "timeout")

    def _hear(self, worker: _Worker, message: dict[str, Any]) -> None:
        if "end" in message:
            worker.end = message["end"]
        else:
            worker.cell = message["cell"]
            self.progress(Progress(worker.section, "cell", message["cell"], message["cells"]))

    def _finish(self, worker: _Worker, selector: selectors.BaseSelector, stopped: str = "") -> None:
        """End the group, wait for it and write down how the section ended."""
        code = _end_group(worker.process, ask=bool(stopped))
        selector.unregister(worker.pipe)
        os.close(worker.pipe)
        del self.running[worker.pipe]
        seconds = round(time.monotonic() - worker.started, 3)
        kept = str(worker.output) if worker.output.exists() else ""
        if worker.end is not None and not stopped:
            end = worker.end
        elif stopped == "timeout":
            limit = f"the section's limit of {self.limits.section_timeout_s:g} s was reached"
            end = {"status": "timeout", "ename": "SectionTimeout", "evalue": limit}
        elif stopped:
            end = {"status": "cancelled"}
        else:
            end = {"status": "dead", "ename": "WorkerDied", "evalue": _cause(code), "traceback": _tail(worker.log)}
        run = SectionRun(**{"section": worker.section, "cell": worker.cell, **end})
        run = replace(run, cell=None if run.ok else run.cell, seconds=seconds, notebook=kept)
        self.done[worker.section] = run
        self.progress(Progress(worker.section, run.status, seconds=seconds))


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


def _end_group(process: subprocess.Popen[bytes], *, ask: bool) -> int:
    """Kill what is left of a worker's process group and wait for the worker; its exit code.

    Closing stdin asks a living worker to end its kernel and itself. The group is killed before the worker is
    waited for: until then its id cannot belong to anyone else.
    """
    if process.stdin is not None and ask:
        process.stdin.close()
    _await_exit(process.pid, seconds=3.0)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    code = process.wait()
    if process.stdin is not None:
        process.stdin.close()
    return code


def _await_exit(pid: int, *, seconds: float) -> None:
    """Wait for the end of a child without reaping it, at most so long."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
            return
        time.sleep(0.01)


def _cause(code: int) -> str:
    if code < 0:
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"signal {-code}"
        hint = "; the system may have run out of memory" if code == -signal.SIGKILL else ""
        return f"the section's process was ended by {name}{hint}"
    return f"the section's process left with exit code {code} without a result"


def _tail(log: Path, limit: int = 4_000) -> str:
    from fabricreport.memo.run.worker import plain_text

    with contextlib.suppress(OSError), log.open("rb") as handle:
        handle.seek(max(0, log.stat().st_size - limit))
        return plain_text(handle.read().decode("utf-8", "replace"))
    return ""
