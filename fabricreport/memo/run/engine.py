"""The papermill engine of a worker: who talks to the kernel, and with which limits.

Registered in the worker process only. It differs from papermill's own in that the kernel speaks over unix
sockets (no ports, no race for them), stays in the worker's process group (one signal ends both), is stopped
at once, and is held to a time and an output limit.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import papermill.clientwrap
import papermill.engines
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from jupyter_client.provisioning.local_provisioner import LocalProvisioner
from nbclient.exceptions import CellControlSignal
from nbformat import NotebookNode

from fabricreport.memo.run.binding import is_asking

ENGINE = "fabricreport"
_WATCH = "__import__('fabricreport.witness').witness.WITNESS.begin()"
"""Run in the kernel before any cell."""


class SectionOutOfTime(CellControlSignal):
    """The section's own limit was spent before the next cell could start."""


@dataclass
class Session:
    """The limits of one section, what was reached, and the notebook as it stands."""

    cell_timeout_s: float
    section_timeout_s: float
    output_limit_bytes: int
    on_cell: Callable[[int, int], None]
    kernels: list[subprocess.Popen[bytes]] = field(default_factory=list)
    started: float = field(default_factory=time.monotonic)
    notebook: NotebookNode | None = None
    cell: int | None = None
    output_bytes: int = 0

    def remaining_s(self) -> float:
        """Seconds until the section's limit."""
        return self.section_timeout_s - (time.monotonic() - self.started)

    def cell_limit_s(self, _cell: NotebookNode) -> float:
        """How long the next cell may take: the cell limit, or what is left of the section's."""
        remaining = self.remaining_s()
        if remaining <= 0:
            raise SectionOutOfTime(f"the section's limit of {self.section_timeout_s:g} s was reached")
        return min(self.cell_timeout_s, remaining)

    @property
    def overflowed(self) -> bool:
        """True once the section wrote more than it may."""
        return self.output_bytes > self.output_limit_bytes

    def count(self, msg: dict[str, Any]) -> None:
        """Add a kernel message to the output so far."""
        self.output_bytes += _size(msg.get("content"))


def source_number(cells: list[Any], index: int) -> int:
    """Number in the source notebook (from 1) of the executed notebook's cell at `index`; papermill inserted one.

    The inserted cell itself counts as the parameters cell before it.
    """
    injected = [i for i, c in enumerate(cells) if "injected-parameters" in c.metadata.get("tags", [])]
    return 1 + index - sum(1 for i in injected if i <= index)


def _size(value: Any) -> int:
    if isinstance(value, str | bytes):
        return len(value) + 16
    if isinstance(value, dict):
        return 16 + sum(_size(v) for v in value.values())
    if isinstance(value, list | tuple):
        return 16 + sum(_size(v) for v in value)
    return 8


class _SameGroupProvisioner(LocalProvisioner):
    """Starts the kernel in the worker's own process group instead of a new session.

    Then ending the group ends the kernel and its children too, even if it hangs in C code.
    """

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> Any:
        # The kernel also looks now and then whether its worker lives, should both be killed at once.
        env = {**(kwargs.get("env") or os.environ), "JPY_PARENT_PID": str(os.getpid())}
        cwd = kwargs.get("cwd")
        self.process = subprocess.Popen(cmd, stdin=subprocess.DEVNULL, env=env, cwd=cwd)
        if isinstance(self.parent, _KernelManager):
            self.parent.session_limits.kernels.append(self.process)
        self.pid, self.pgid, self.cwd = self.process.pid, None, cwd or Path.cwd()
        return self.connection_info


class _KernelManager(AsyncKernelManager):
    """The interpreter of the worker as kernel, whatever kernelspecs the machine has."""

    session_limits: Session

    @property
    def kernel_spec(self) -> KernelSpec:
        watched = f"--IPKernelApp.exec_lines={_WATCH}"
        argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}", watched]
        return KernelSpec(argv=argv, display_name="Python 3", language="python", metadata={"debugger": False})

    async def _async_pre_start_kernel(self, **kwargs: Any) -> tuple[list[str], dict[str, Any]]:
        if self.provisioner is None:
            self.kernel_id = self.kernel_id or "section"
            self.provisioner = _SameGroupProvisioner(
                kernel_id=self.kernel_id, kernel_spec=self.kernel_spec, parent=self
            )
        started: tuple[list[str], dict[str, Any]] = await super()._async_pre_start_kernel(**kwargs)
        return started


class _Client(papermill.clientwrap.PapermillNotebookClient):  # type: ignore[misc]
    """Counts what the kernel writes, and gives the cell up when that is too much."""

    session: Session

    def process_message(self, msg: dict[str, Any], cell: NotebookNode, cell_index: int) -> Any:
        self.session.count(msg)
        if self.session.overflowed:
            # An exception raised here would be seen only after the cell's reply, which never comes.
            self.task_poll_for_reply.cancel()
            return None
        return super().process_message(msg, cell, cell_index)


def make_engine(session: Session, connection_file: Path) -> type:
    """A papermill engine bound to one session; `connection_file` must be short enough for a unix socket."""

    class SectionEngine(papermill.engines.NBClientEngine):  # type: ignore[misc]
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
            manager = _KernelManager(
                kernel_name=kernel_name,
                transport="ipc",
                connection_file=str(connection_file),
                transport_encryption="disabled",
            )
            manager.session_limits = session
            client = _Client(
                nb_man,
                km=manager,
                timeout_func=session.cell_limit_s,
                startup_timeout=60,
                iopub_timeout=30,
                shutdown_kernel="immediate",
                coalesce_streams=False,  # `strip_volatile` does it, in time that grows with the text and not its square
            )
            client.session = session
            client.owns_km = True
            return client.execute()

    return SectionEngine
