"""One run of a merged notebook as it goes, by papermill's own client and an ordinary ipykernel: whose cell runs, and how each ended.

What differs from `papermill.execute_notebook` as it stands: a notebook's failure does not end the run, a cell that has
spent its time is interrupted first, what a notebook writes is limited, and the kernel is this interpreter's, spoken to over
unix sockets where there are any (no ports, no race for them).
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import re
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass, replace
from pathlib import Path
from queue import Empty
from typing import Any

import papermill
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from jupyter_core.utils import ensure_async, ensure_event_loop
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbformat import NotebookNode
from papermill.clientwrap import PapermillNotebookClient
from papermill.engines import NBClientEngine, papermill_engines

from fabricreport.memo.editions.manifest import Progress, ProgressCall, SectionRun, Status
from fabricreport.memo.run.notebook import SKIPPED, Merged, Part, skip

_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b[@-Z\\-_]")
_TRACEBACK_LINES = 40
_TEXT_LIMIT = 2_000
DIED = "the kernel process ended by itself"


class Cancelled(Exception):
    """A person has stopped the run."""


@dataclass(frozen=True)
class Limits:
    """What a notebook may use: seconds a cell and in all, bytes of output in all."""

    cell_timeout_s: float
    section_timeout_s: float
    output_limit_bytes: int


class Session:
    """Told by papermill's client of every cell and message; what has not ended when a kernel is gone is `left`."""

    def __init__(self, merged: Merged, limits: Limits, progress: ProgressCall) -> None:
        self.limits, self._progress = limits, progress
        self.nb: Any = merged.notebook
        self._whose = [part for part in merged.parts for _ in part.numbers]
        self.ends: dict[str, SectionRun] = {}
        self.end_kernel: Callable[[], None] = lambda: None
        self.cancelled = False
        self._part: Part | None = None
        self._at, self._is_running, self._has_quit = 0, False, False
        self._fault: SectionRun | None = None
        self._began = time.monotonic()
        self._bytes = 0
        self.spent: tuple[Status, str, str] | None = None

    # ---- what papermill's client tells

    def cell_start(self, cell: Any, cell_index: int) -> None:
        """A cell is next, of whatever type."""
        if self.cancelled:
            raise Cancelled
        part = self._whose[cell_index]
        if part is not self._part:
            self._close()
            if self._has_quit:
                raise DeadKernelError("Kernel was quit")
            self._open(part)
        self._at = cell_index
        if cell_index > part.start:
            number = part.numbers[cell_index - part.start]
            self._progress(Progress(part.section, "cell", number, part.cells))
        if cell.cell_type != "code" or self._fault is not None:
            return
        if self._has_quit:
            self._fail("dead", "KernelDied", DIED)
            self._skip_rest(cell_index)
        elif self._remaining_s() <= 0:
            self._fail("timeout", "SectionTimeout", self._section_limit())
            self._skip_rest(cell_index)

    def cell_execute(self, **_: Any) -> None:
        """A code cell is sent to the kernel."""
        self._is_running = True

    def cell_executed(self, cell: Any, cell_index: int, execute_reply: Any) -> None:
        """The kernel has answered: the rest of a notebook that failed is not run."""
        self._is_running = False
        content, spent, self.spent = execute_reply["content"], self.spent, None
        self._has_quit = any(told.get("source") == "ask_exit" for told in content.get("payload", ()))
        if spent is not None:
            self._fail(*spent)
        elif content["status"] == "error":
            trace = "\n".join(content.get("traceback", []))
            self._fail("failed", str(content.get("ename", "")), str(content.get("evalue", "")), trace)
            if "raises-exception" in cell.metadata.get("tags", []):
                return
        else:
            return
        self._skip_rest(cell_index + 1)

    def cell_limit_s(self, _cell: Any) -> float:
        """How long the next cell may take: the cell limit, or what is left of the notebook's."""
        return max(0.1, min(self.limits.cell_timeout_s, self._remaining_s()))

    def out_of_time(self) -> None:
        """The running cell has spent its time and is interrupted."""
        if self.spent is None:
            if self._remaining_s() <= 0.1:
                self.spent = "timeout", "SectionTimeout", self._section_limit()
            else:
                limit = f"the cell's limit of {self.limits.cell_timeout_s:g} s was reached"
                self.spent = "timeout", "CellTimeout", limit

    def overflows(self, message: dict[str, Any]) -> bool:
        """Count a kernel's message; True from the one on that is too much."""
        self._bytes += _size(message.get("content"))
        if self._bytes <= self.limits.output_limit_bytes:
            return False
        if self.spent is None:
            limit = f"the section wrote more than {self.limits.output_limit_bytes / 1e6:g} MB of output"
            self.spent = "failed", "OutputTooLarge", limit
        return True

    def cancel(self) -> None:
        """Stop the run: what has not ended is cancelled."""
        self.cancelled = True
        self.end_kernel()

    # ---- how it ended

    def finish(self, error: BaseException | None) -> None:
        """Papermill has returned, or raised this: tell how the notebook ended that was running then."""
        if self.cancelled:
            self._part = None
        elif (
            error is None
            or (not self._is_running and self._at == len(self._whose) - 1 and self._part is not None)
            or self._has_quit
        ):
            self._close()
        elif self._part is None:
            for part in dict.fromkeys(self._whose):  # no kernel came up
                why = plain_text(str(error))[:_TEXT_LIMIT]
                self.ends[part.section] = SectionRun(part.section, "dead", ename="KernelDied", evalue=why)
        elif self._at > self._part.start or self._part is self._whose[0]:
            self._is_running = False
            self._fail(*self.spent) if self.spent else self._fail(*_told(error))
            self._close()
        # else: the one before had quit the kernel with its last cell, and this one had not begun

    def _open(self, part: Part) -> None:
        self._part, self._fault, self.spent = part, None, None
        self._began, self._bytes = time.monotonic(), 0
        self._progress(Progress(part.section, "started"))

    def _close(self) -> None:
        if self._part is None:
            return
        end = self._fault or self._truth(self._part)
        self.ends[end.section] = replace(end, seconds=round(time.monotonic() - self._began, 3))
        self._part = None
        self._progress(Progress(end.section, end.status))

    def _truth(self, part: Part) -> SectionRun:
        """`ok` only if each code cell ran and none shows an error."""
        for at in range(part.start, part.stop):
            cell = self.nb.cells[at]
            if cell.cell_type != "code" or SKIPPED in cell.metadata.get("tags", ()):
                continue
            for output in cell.outputs:
                if output.output_type == "error":
                    trace = "\n".join(output.get("traceback", []))
                    return self._end(at, "failed", output.ename, output.evalue, trace)
            if cell.source.strip() and cell.get("execution_count") is None:
                return self._end(at, "failed", "NotRun", "the cell was never run")
        return SectionRun(part.section, "ok")

    def _fail(self, status: Status, ename: str, evalue: str, trace: str = "") -> None:
        if self._fault is None:
            self._fault = self._end(self._at, status, ename, evalue, trace)

    def _end(self, at: int, status: Status, ename: str, evalue: str, trace: str = "") -> SectionRun:
        part = self._whose[at]
        lines = [line.strip() for line in self.nb.cells[at].source.splitlines()]
        first = next((line for line in lines if line and not line.startswith("#")), lines[0] if lines else "")
        tail = plain_text(trace).splitlines()[-_TRACEBACK_LINES:]
        return SectionRun(
            part.section,
            status,
            part.numbers[at - part.start] or None,
            plain_text(first)[:120] if at > part.start else "",
            plain_text(ename)[:_TEXT_LIMIT],
            plain_text(evalue)[:_TEXT_LIMIT],
            "\n".join(tail)[-4 * _TEXT_LIMIT :],
        )

    def _skip_rest(self, start: int) -> None:
        if self._part is not None:
            for cell in self.nb.cells[start : self._part.stop]:
                skip(cell)

    def _remaining_s(self) -> float:
        return self.limits.section_timeout_s - (time.monotonic() - self._began)

    def _section_limit(self) -> str:
        return f"the section's limit of {self.limits.section_timeout_s:g} s was reached"


def _told(error: BaseException) -> tuple[Status, str, str]:
    """Which status an exception means that ended papermill's run with a cell at work."""
    if isinstance(error, DeadKernelError) or "kernel died" in str(error).lower():
        return "dead", "KernelDied", DIED
    if isinstance(error, CellTimeoutError):
        return "timeout", "CellTimeout", "the kernel did not tell the end of the cell"
    return "failed", type(error).__name__, str(error)


def plain_text(text: str) -> str:
    """Text without terminal colours and other control characters."""
    text = _ANSI.sub("", text)
    return "".join(c for c in text if c in "\n\t" or (ord(c) >= 32 and not 0x7F <= ord(c) < 0xA0))


def _size(value: Any) -> int:
    if isinstance(value, str | bytes):
        return len(value) + 16
    if isinstance(value, dict):
        return 16 + sum(_size(v) for v in value.values())
    if isinstance(value, list | tuple):
        return 16 + sum(_size(v) for v in value)
    return 8


ENGINE = "fabricreport-merged"
_START_S, _ANSWER_S, _OUTPUT_S = 60, 5.0, 30
_TRANSPORT = "ipc" if hasattr(socket, "AF_UNIX") else "tcp"
_QUIET = logging.getLogger("fabricreport.run")
_QUIET.addHandler(logging.NullHandler())
_QUIET.propagate = False


class _KernelManager(AsyncKernelManager):
    """This interpreter as kernel, whatever kernelspecs the machine has."""

    @property
    def kernel_spec(self) -> KernelSpec:
        argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}", "--HistoryManager.enabled=False"]
        return KernelSpec(argv=argv, display_name="Python 3", language="python", metadata={"debugger": False})


class MergedClient(PapermillNotebookClient):  # type: ignore[misc]
    """Interrupts a cell that has spent its time or written too much, and replaces the kernel only if it does not answer."""

    session: Session

    async def _async_handle_timeout(self, timeout: int, cell: NotebookNode | None = None) -> Any:
        if cell is None:
            raise DeadKernelError("Kernel did not answer")
        self.session.out_of_time()
        await ensure_async(self.km.interrupt_kernel())
        until = time.monotonic() + _ANSWER_S
        try:
            while True:
                left = max(0.0, until - time.monotonic())
                message = await ensure_async(self.kc.shell_channel.get_msg(timeout=left))
                if message["msg_type"] == "execute_reply":  # not a late answer to who it is
                    return message
        except Empty:
            raise CellTimeoutError.error_from_timeout_and_cell("Cell execution timed out", timeout, cell) from None

    def process_message(self, msg: dict[str, Any], cell: NotebookNode, cell_index: int) -> Any:
        """Take a message into the cell, unless its notebook has written more than it may."""
        was_too_much = self.session.spent is not None
        if self.session.overflows(msg) and msg["msg_type"] != "status":
            if not was_too_much:
                self._interrupting = asyncio.ensure_future(self.km.interrupt_kernel())
            return None
        return super().process_message(msg, cell, cell_index)


class MergedEngine(NBClientEngine):  # type: ignore[misc]
    """The engine that runs a session's notebook."""

    @classmethod
    def execute_managed_notebook(
        cls,
        nb_man: Any,
        kernel_name: str,
        *,
        session: Session,
        start: Mapping[str, Any],
        manager: Any,
        stays: bool,
        **_: Any,
    ) -> Any:
        """Run all cells of a merged notebook; `start` is for the kernel's process, which `stays` or ends with the run."""
        session.nb = nb_man.nb
        client = MergedClient(
            nb_man,
            km=manager,
            log=_QUIET,
            timeout=_START_S,
            timeout_func=session.cell_limit_s,
            startup_timeout=_START_S,
            iopub_timeout=_OUTPUT_S,
            shutdown_kernel="immediate",
            record_timing=False,
            coalesce_streams=False,  # `strip_volatile` does it, in time that grows with the text and not its square
            allow_errors=True,
            on_cell_start=session.cell_start,
            on_cell_execute=session.cell_execute,
            on_cell_executed=session.cell_executed,
        )
        client.session, client.owns_km = session, not stays
        session.end_kernel = lambda: end_kernel(manager)
        try:
            return client.execute(**start)
        finally:
            if stays and client.kc is not None:
                client.kc.stop_channels()
            # Papermill would check and write all of it once more, to nowhere, and look for errors that are told already.
            session.nb = copy(nb_man.nb)
            nb_man.nb.cells = []


papermill_engines.register(ENGINE, MergedEngine)


def new_kernel(runtime: Path) -> Any:
    """A kernel that is not started yet, spoken to within a folder with a short path."""
    return _KernelManager(
        kernel_name="python3", transport=_TRANSPORT, connection_file=str(runtime / "k.json"), transport_encryption="disabled"
    )  # fmt: skip


def execute(
    nb: NotebookNode, session: Session, env: Mapping[str, str], runtime: Path, kernel: Any | None = None
) -> None:
    """Run a merged notebook by papermill, in a `kernel` that stays if one is given; how its notebooks ended the session knows."""
    with (runtime / "kernel.log").open("ab") as log, _cancelling(session):
        # Each notebook is begun in its own folder; ipykernel takes the one it starts in off the search path.
        start = {"env": dict(env), "cwd": str(runtime), "stdout": log, "stderr": log}
        try:
            papermill.execute_notebook(
                nb, None, engine_name=ENGINE, kernel_name="python3", language="python", progress_bar=False,
                request_save_on_cell_execute=False, autosave_cell_every=0,
                session=session, start=start, manager=kernel or new_kernel(runtime), stays=kernel is not None,
            )  # fmt: skip
            session.finish(None)
        except papermill.PapermillExecutionError:
            session.finish(None)
        except Exception as error:
            session.finish(error)
        finally:
            _close_loop()


def end_kernel(manager: Any) -> None:
    """End the kernel at once, if there is one, and what it has started."""
    process = getattr(getattr(manager, "provisioner", None), "process", None)
    if process is not None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL) if hasattr(os, "killpg") else process.kill()


@contextlib.contextmanager
def _cancelling(session: Session) -> Iterator[None]:
    """Have an interrupt end the kernel instead of tearing at the client's book-keeping."""
    try:
        before = signal.signal(signal.SIGINT, lambda *_: session.cancel())
    except ValueError:  # another thread than the main one is not interrupted
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _close_loop() -> None:
    """Close the loop that the client made for this thread, unless somebody else's runs."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        ensure_event_loop().close()
        asyncio.set_event_loop(None)
