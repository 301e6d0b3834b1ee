"""The ordinary kernel, ipykernel in a process of its own, spoken to by nbclient: for every machine, and the oracle of ours.

It differs from papermill's own use of it in that the kernel speaks over unix sockets (no ports, no race for them), stays
in the worker's process group (one signal ends both), is stopped at once, and is held to a time and an output limit.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import papermill.clientwrap
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from jupyter_client.provisioning.local_provisioner import LocalProvisioner
from nbformat import NotebookNode

from fabricreport.memo.run.limits import Session


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
            self.parent.session_limits.kernels.append(partial(_ended, self.process))
        self.pid, self.pgid, self.cwd = self.process.pid, None, cwd or Path.cwd()
        return self.connection_info


def _ended(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(timeout=2)


class _KernelManager(AsyncKernelManager):
    """The interpreter of the worker as kernel, whatever kernelspecs the machine has."""

    session_limits: Session

    @property
    def kernel_spec(self) -> KernelSpec:
        argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        return KernelSpec(argv=argv, display_name="Python 3", language="python", metadata={"debugger": False})

    async def _async_pre_start_kernel(self, **kwargs: Any) -> tuple[list[str], dict[str, Any]]:
        if self.provisioner is None:
            self.kernel_id = self.kernel_id or "section"
            self.provisioner = _SameGroupProvisioner(
                kernel_id=self.kernel_id, kernel_spec=self.kernel_spec, parent=self
            )
        started: tuple[list[str], dict[str, Any]] = await super()._async_pre_start_kernel(**kwargs)
        return started


class StockClient(papermill.clientwrap.PapermillNotebookClient):  # type: ignore[misc]
    """Counts what the kernel writes, and gives the cell up when that is too much."""

    session: Session

    def process_message(self, msg: dict[str, Any], cell: NotebookNode, cell_index: int) -> Any:
        """Take a message into the cell, unless the section has written more than it may."""
        self.session.count(msg)
        if self.session.overflowed:
            # An exception raised here would be seen only after the cell's reply, which never comes.
            self.task_poll_for_reply.cancel()
            return None
        return super().process_message(msg, cell, cell_index)


def stock_client(nb_man: Any, session: Session, connection_file: Path) -> StockClient:
    """A client with a kernel yet to be started; `connection_file` must be short enough for a unix socket."""
    manager = _KernelManager(
        kernel_name="python3",
        transport="ipc",
        connection_file=str(connection_file),
        transport_encryption="disabled",
    )
    manager.session_limits = session
    client = StockClient(
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
    return client
