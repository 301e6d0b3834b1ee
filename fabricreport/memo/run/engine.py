"""The papermill engine `fabricreport`: cells run by `kernel`, forked where this process is ready for it, else started.

`papermill --engine fabricreport in.ipynb out.ipynb` uses it too, by entry point. Another kernel than our own
interpreter's, and another system than Linux, gets papermill's own engine.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import nbformat
import papermill.clientwrap
from ipykernel.ipkernel import IPythonKernel
from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel
from jupyter_client.session import json_packer, json_unpacker
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbformat import NotebookNode
from papermill.engines import NBClientEngine

from fabricreport.memo.run.binding import is_asking
from fabricreport.memo.run.kernel import LENGTH, Running, fork_kernel
from fabricreport.memo.run.limits import Session, source_number
from fabricreport.memo.run.printed import Printed
from fabricreport.memo.run.volatile import joined_streams

ENGINE = "fabricreport"
_POLL_S = 0.5
_PINNED = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "MPLBACKEND": "module://matplotlib_inline.backend_inline",
}


class TooMuchOutput(Exception):
    """The section wrote more than it may."""


class CellClient(papermill.clientwrap.PapermillNotebookClient):  # type: ignore[misc]
    """nbclient's book-keeping of outputs, fed by a kernel of ours instead of one behind sockets."""

    def __init__(self, nb_man: Any, start: Callable[[], Running], session: Session | None = None, **given: Any) -> None:
        super().__init__(nb_man, record_timing=False, **given)
        self._start, self._limits = start, session
        self._number = 0
        self._buffer = bytearray()

    def execute(self, **_: Any) -> NotebookNode:
        """Run all cells in a kernel of their own, which is gone when this returns."""
        self.reset_execution_trackers()
        self.running = self._start()
        self._printed = {name: Printed(self.running.secret) for name in ("stdout", "stderr")}
        if self._limits is not None:
            self._limits.kernels.append(partial(_end, self.running))
        try:
            with selectors.DefaultSelector() as self._selector:
                for pipe, name in _named_pipes(self.running):
                    os.set_blocking(pipe, False)
                    self._selector.register(pipe, selectors.EVENT_READ, name)
                self.papermill_execute_cells()
            self.nb.metadata["language_info"] = dict(IPythonKernel.language_info)
        finally:
            _end(self.running)
        done: NotebookNode = self.nb
        return done

    def execute_cell(self, cell: NotebookNode, cell_index: int, **_: Any) -> NotebookNode:
        """Run one cell; raises what nbclient raises for an error, a spent limit and a dead kernel."""
        if cell.cell_type != "code" or not cell.source.strip() or self._is_skipped(cell):
            return cell
        self._number += 1
        self.code_cells_executed += 1
        limit_s = self._get_timeout(cell)
        until = None if limit_s is None else time.monotonic() + limit_s
        cell.outputs = []
        self.clear_before_next_output = False
        self._ask(cell.source)
        reply = self._heard(cell, cell_index, until, limit_s)
        if self.coalesce_streams:
            cell.outputs = nbformat.from_dict(joined_streams(cell.outputs))  # type: ignore[no-untyped-call]
        if reply["content"]["status"] == "error":
            asyncio.run(self._check_raise_for_error(cell, cell_index, reply))
        self.nb["cells"][cell_index] = cell
        return cell

    def _is_skipped(self, cell: NotebookNode) -> bool:
        return self.skip_cells_with_tag in cell.metadata.get("tags", [])

    def _ask(self, source: str) -> None:
        """Send a cell; its outputs are read meanwhile, for a late print of an earlier cell may fill their pipe."""
        data = json_packer({"cell": self._number, "source": source})
        try:
            view = memoryview(LENGTH.pack(len(data)) + data)
            while view:
                view = view[os.write(self.running.requests, view) :]
        except BrokenPipeError:
            raise DeadKernelError("Kernel died") from None

    def _heard(self, cell: NotebookNode, index: int, until: float | None, limit_s: float | None) -> dict[str, Any]:
        """Take into the cell what the kernel prints and says, until it replies."""
        while True:
            wait_s = _POLL_S if until is None else min(_POLL_S, until - time.monotonic())
            if wait_s <= 0:
                self._take_printed(cell, index, Printed.rest)
                raise CellTimeoutError.error_from_timeout_and_cell("Cell execution timed out", int(limit_s or 0), cell)
            for message in self._messages(cell, index, wait_s):
                self._take_printed(cell, index, partial(Printed.before, number=message["number"]))
                if message["parent_header"].get("msg_id") != self._number:
                    continue  # a late word of an earlier cell
                if message["msg_type"] == "execute_reply":
                    reply: dict[str, Any] = message
                    return reply
                self._take(message, cell, index)

    def _messages(self, cell: NotebookNode, index: int, wait_s: float) -> list[Any]:
        """The messages that have come meanwhile."""
        ready = {key.data for key, _ in self._selector.select(wait_s)}
        data = _read(self.running.messages) if "" in ready else None
        if data == b"" or (not ready and self._is_dead()):
            self._take_printed(cell, index, Printed.rest)
            raise DeadKernelError("Kernel died")
        self._buffer += data or b""
        found = list(self._frames())
        if not found:
            self._take_printed(cell, index, Printed.so_far)
        return found

    def _frames(self) -> Iterator[Any]:
        while len(self._buffer) >= LENGTH.size:
            end = LENGTH.size + LENGTH.unpack(self._buffer[: LENGTH.size])[0]
            if len(self._buffer) < end:
                return
            frame = bytes(self._buffer[LENGTH.size : end])
            del self._buffer[:end]
            yield json_unpacker(frame)

    def _is_dead(self) -> bool:
        """True for a kernel that died; it may have left a child which holds its pipes open."""
        return os.waitid(os.P_PID, self.running.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def _take_printed(self, cell: NotebookNode, index: int, part: Callable[[Printed], str]) -> None:
        """Read what lies in the pipes of printed text, and take a part of it into the cell."""
        for pipe, name in _named_pipes(self.running)[1:]:
            while data := _read(pipe):
                self._printed[name].feed(data)
            if data == b"":
                with contextlib.suppress(KeyError):
                    self._selector.unregister(pipe)
            if text := part(self._printed[name]):
                parent, header = {"msg_id": self._number}, {"msg_type": "stream"}
                content = {"name": name, "text": text}
                message = {"msg_type": "stream", "header": header, "content": content, "parent_header": parent}
                self._take(message, cell, index)

    def _take(self, message: dict[str, Any], cell: NotebookNode, index: int) -> None:
        if self._limits is not None:
            self._limits.count(message)
            if self._limits.overflowed:
                raise TooMuchOutput
        self.process_message(message, cell, index)


def _named_pipes(kernel: Running) -> tuple[tuple[int, str], ...]:
    return ((kernel.messages, ""), (kernel.stdout, "stdout"), (kernel.stderr, "stderr"))


def _end(kernel: Running) -> None:
    """End the kernel, and what it started if it has a process group of its own."""
    with contextlib.suppress(ProcessLookupError):
        if os.getpgid(kernel.pid) == kernel.pid:
            os.killpg(kernel.pid, signal.SIGKILL)
        os.kill(kernel.pid, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):  # ended before
        os.waitpid(kernel.pid, 0)
    kernel.close()


def _read(pipe: int) -> bytes | None:
    """What lies in a pipe, None if nothing does, b'' at its end."""
    try:
        return os.read(pipe, 1 << 20)
    except BlockingIOError:
        return None


def start_kernel() -> Running:
    """A kernel in a new interpreter and a process group of its own, for a papermill that may have threads."""
    (ask_out, ask_in), (say_out, say_in), (out_out, out_in), (err_out, err_in) = (os.pipe() for _ in range(4))
    secret = secrets.token_hex(8)
    command = [
        sys.executable,
        "-m",
        "fabricreport.memo.run.kernel",
        str(os.getpid()),
        str(ask_out),
        str(say_in),
        secret,
    ]
    environment = {**_PINNED, **os.environ, "PYTHONPATH": os.pathsep.join(filter(None, _search_path()))}
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=out_in,
            stderr=err_in,
            pass_fds=(ask_out, say_in),
            env=environment,
            start_new_session=True,
        )
    finally:
        for pipe in (ask_out, say_in, out_in, err_in):
            os.close(pipe)
    process.returncode = 0  # waited for by `_end`; Popen is not to do it again
    return Running(process.pid, ask_in, say_out, out_out, err_out, secret)


def _search_path() -> tuple[str, str]:
    return str(Path(__file__).parents[3]), os.environ.get("PYTHONPATH", "")


def is_own_kernel(name: str | None) -> bool:
    """True where the kernel of that name is this interpreter's own ipykernel."""
    try:
        argv = KernelSpecManager().get_kernel_spec(name or "python3").argv
    except NoSuchKernel:
        return False
    return argv[1:3] == ["-m", "ipykernel_launcher"] and Path(argv[0]).resolve() == Path(sys.executable).resolve()


class FabricReportEngine(NBClientEngine):  # type: ignore[misc]
    """The engine that papermill finds by its entry point."""

    @classmethod
    def execute_managed_notebook(
        cls, nb_man: Any, kernel_name: str, execution_timeout: float | None = None, **given: Any
    ) -> Any:
        """Run the notebook's cells; papermill's own engine does where ours cannot."""
        if not sys.platform.startswith("linux") or not is_own_kernel(kernel_name):
            return super().execute_managed_notebook(nb_man, kernel_name, execution_timeout=execution_timeout, **given)
        logged = {key: given[key] for key in ("log_output", "stdout_file", "stderr_file") if key in given}
        return CellClient(nb_man, start_kernel, timeout=execution_timeout, **logged).execute()


def section_engine(session: Session, client: Callable[[Any], Any]) -> type:
    """A papermill engine bound to one section's session; `client` makes what runs the cells of a managed notebook."""

    class SectionEngine(NBClientEngine):  # type: ignore[misc]
        """Runs the notebook of one section."""

        @classmethod
        def execute_managed_notebook(cls, nb_man: Any, kernel_name: str, **_: Any) -> Any:
            session.notebook = nb_man.nb
            papermill_start = nb_man.cell_start

            def cell_start(cell: NotebookNode, cell_index: int | None = None, **kwargs: Any) -> None:
                papermill_start(cell, cell_index, **kwargs)
                session.cell = cell_index
                own = [c for c in nb_man.nb.cells if not is_asking(c)]
                session.on_cell(min(source_number(nb_man.nb.cells, cell_index or 0), len(own) - 1), len(own) - 1)

            nb_man.cell_start = cell_start
            return client(nb_man).execute()

    return SectionEngine


def forked_client(nb_man: Any, session: Session) -> CellClient:
    """A client whose kernel is forked from this process."""
    return CellClient(nb_man, fork_kernel, session, timeout_func=session.cell_limit_s, coalesce_streams=False)
