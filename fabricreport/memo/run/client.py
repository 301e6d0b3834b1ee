"""Papermill's own client and an ordinary ipykernel, for a merged notebook.

What differs from `papermill.execute_notebook` as it stands: a notebook's failure does not end the run, a cell that has
spent its time is interrupted first, what a notebook writes is limited, and the kernel is this interpreter's, spoken to over
unix sockets where there are any (no ports, no race for them).
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import socket
import sys
import time
from collections.abc import Iterator, Mapping
from copy import copy
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

from fabricreport.memo.run.session import Session

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
        cls, nb_man: Any, kernel_name: str, *, session: Session, start: Mapping[str, Any], connection: str, **_: Any
    ) -> Any:
        """Run all cells of a merged notebook; `start` is for the kernel's process, `connection` a short path of its own."""
        manager = _KernelManager(
            kernel_name="python3", transport=_TRANSPORT, connection_file=connection, transport_encryption="disabled"
        )
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
        client.session, client.owns_km = session, True
        session.end_kernel = lambda: _kill(manager)
        try:
            return client.execute(**start)
        finally:
            # Papermill would check and write all of it once more, to nowhere, and look for errors that are told already.
            session.nb = copy(nb_man.nb)
            nb_man.nb.cells = []


papermill_engines.register(ENGINE, MergedEngine)


def execute(nb: NotebookNode, session: Session, env: Mapping[str, str], runtime: Path) -> None:
    """Run a merged notebook by papermill; how its notebooks ended is known to the session, whatever is raised here."""
    with (runtime / "kernel.log").open("ab") as log, _cancelling(session):
        # Each notebook is begun in its own folder; ipykernel takes the one it starts in off the search path.
        start = {"env": dict(env), "cwd": str(runtime), "stdout": log, "stderr": log}
        try:
            papermill.execute_notebook(
                nb, None, engine_name=ENGINE, kernel_name="python3", language="python", progress_bar=False,
                request_save_on_cell_execute=False, autosave_cell_every=0,
                session=session, start=start, connection=str(runtime / "k.json"),
            )  # fmt: skip
            session.finish(None)
        except papermill.PapermillExecutionError:
            session.finish(None)
        except Exception as error:
            session.finish(error)
        finally:
            _close_loop()


def _kill(manager: Any) -> None:
    """End the kernel at once, and what it has started."""
    process = getattr(manager.provisioner, "process", None)
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
