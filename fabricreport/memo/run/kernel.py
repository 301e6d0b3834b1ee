"""The process that runs the cells of one notebook: an IPython shell, without a network, a heartbeat or a thread of its own.

    engine ── one cell ──> kernel        requests: a length and JSON, over one pipe
    engine <── outputs ─── kernel        messages: the same, over another; all that is printed, by C code and child
                                         processes too, through two pipes in place of the files 1 and 2

Before each message a mark goes into the pipes of printed text, so that the engine knows what was printed before it.

The shell is ipykernel's, with its magics, display hooks and tracebacks, so a notebook reads the same as under the
ordinary kernel. It is forked from a process that has the data stack imported (`fork_kernel`), or started afresh
(`python -m fabricreport.memo.run.kernel`) by a papermill that has not.
"""

from __future__ import annotations

import asyncio
import builtins
import contextlib
import getpass
import logging
import os
import random
import secrets
import signal
import struct
import sys
import threading
from dataclasses import dataclass
from functools import partial
from typing import Any

from ipykernel.compiler import XCachingCompiler
from ipykernel.displayhook import ZMQShellDisplayHook
from ipykernel.kernelbase import Kernel
from ipykernel.zmqshell import ZMQInteractiveShell
from jupyter_client.session import Session, json_packer, json_unpacker

from fabricreport.memo.run.grammar import allow_grammar
from fabricreport.memo.run.lineage import end_with, only_files
from fabricreport.memo.run.printed import mark

LENGTH = struct.Struct("!Q")
"""A frame is its length and so many bytes of JSON."""


@dataclass(frozen=True)
class Running:
    """A running kernel as its engine sees it: the process, and the four pipes between them."""

    pid: int
    requests: int
    messages: int
    stdout: int
    stderr: int
    secret: str

    def close(self) -> None:
        """Close the engine's ends."""
        for pipe in (self.requests, self.messages, self.stdout, self.stderr):
            with contextlib.suppress(OSError):
                os.close(pipe)


def fork_kernel() -> Running:
    """A kernel forked from this process, which must not have started a thread.

    It stays in the process group of its maker and ends with it.
    """
    pairs = [os.pipe() for _ in range(4)]
    secret = secrets.token_hex(8)
    maker = os.getpid()
    pid = os.fork()
    (ask_out, ask_in), (say_out, say_in), (out_out, out_in), (err_out, err_in) = pairs
    if pid:
        for pipe in (ask_out, say_in, out_in, err_in):
            os.close(pipe)
        return Running(pid, ask_in, say_out, out_out, err_out, secret)
    try:
        os.dup2(out_in, 1)
        os.dup2(err_in, 2)
        only_files(0, 1, 2, ask_out, say_in)
        end_with(maker)
        serve(ask_out, say_in, secret)
    finally:
        os._exit(1)


def serve(requests: int, messages: int, secret: str) -> None:
    """Run cells until the engine closes `requests` or a cell asks to quit; never returns."""
    _fresh()
    kernel = _CellKernel(messages, secret)
    asyncio.run(kernel.serve(requests))
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def _fresh() -> None:
    """Give a forked process what a new interpreter would have: seeds, signals, log handlers, an empty input."""
    allow_grammar()
    random.seed()
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN if number == signal.SIGPIPE else signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    logging.root.handlers.clear()
    logging.root.setLevel(logging.WARNING)
    sys.argv = ["ipykernel_launcher.py"]
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - open as long as the process


class _Wire(Session):
    """What the shell takes for its session: every message is a frame on one pipe."""

    def __init__(self, pipe: int, secret: str) -> None:
        super().__init__()
        self._pipe, self._secret = pipe, secret
        self._number = 0
        self._unlock()
        os.register_at_fork(after_in_child=self._unlock)

    def _unlock(self) -> None:
        self._lock = threading.Lock()

    def msg(self, msg_type: str, content: Any = None, parent: Any = None, *_: Any, **__: Any) -> dict[str, Any]:
        header = {"msg_type": msg_type}
        return {"msg_type": msg_type, "header": header, "content": content or {}, "parent_header": dict(parent or {})}

    def send(self, stream: Any, msg_or_type: Any, content: Any = None, parent: Any = None, *_: Any, **__: Any) -> Any:
        message = self.msg(msg_or_type, content, parent) if isinstance(msg_or_type, str) else msg_or_type
        with self._lock:
            self._number += 1
            data = json_packer({**message, "number": self._number})
            self._mark()
            view = memoryview(LENGTH.pack(len(data)) + data)
            while view:
                view = view[os.write(self._pipe, view) :]
        return message

    def _mark(self) -> None:
        for printed, descriptor in ((sys.stdout, 1), (sys.stderr, 2)):
            with contextlib.suppress(OSError, ValueError):  # a cell may have closed or replaced it
                printed.flush()
                os.write(descriptor, mark(self._secret, self._number))


class _Shell(ZMQInteractiveShell):
    """ipykernel's shell; no window can be opened here, so no event loop of a toolkit is started."""

    displayhook_class = ZMQShellDisplayHook

    def enable_gui(self, gui: Any = None) -> None:
        if gui not in (None, "inline"):
            from IPython.core.error import UsageError

            raise UsageError(f"no window can be opened here: {gui}")


class _CellKernel:
    """The shell, and the loop that runs what the engine sends."""

    eventloop = None
    _allow_stdin = False

    def __init__(self, messages: int, secret: str) -> None:
        self.wire = _Wire(messages, secret)
        sys.stdout, sys.stderr = (
            open(number, "w", buffering=1, encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
            for number in (1, 2)
        )
        shell: Any = _Shell.instance(kernel=self, compiler_class=XCachingCompiler)
        for hook in (shell.displayhook, shell.display_pub):
            hook.session, hook.pub_socket = self.wire, self
        shell.displayhook.topic = b"execute_result"
        shell.history_manager.enabled = False
        shell.extension_manager.load_extension("storemagic")
        self.shell = shell
        builtins.input = partial(Kernel.raw_input, self)  # type: ignore[arg-type]
        getpass.getpass = partial(Kernel.getpass, self)  # type: ignore[arg-type]
        if "matplotlib" in sys.modules:
            self._show_figures()

    def _show_figures(self) -> None:
        """Tell this shell of matplotlib if its backend was loaded before there was a shell."""
        if "matplotlib_inline.backend_inline" in sys.modules:
            sys.modules["matplotlib_inline.backend_inline"]._enable_matplotlib_integration()

    async def serve(self, requests: int) -> None:
        """Run one cell after another; background tasks of earlier cells go on while the next is waited for."""
        async for request in _frames(requests):
            await self._run(request)
            if self.shell.exit_now:
                return

    async def _run(self, request: dict[str, Any]) -> None:
        number = request["cell"]
        header = {"msg_id": number}
        self.shell.set_parent({"header": header})
        self.wire.send(None, "execute_input", {"execution_count": self.shell.execution_count}, header)
        content = await self._executed(request["source"])
        self.wire.send(None, "execute_reply", content, header)

    async def _executed(self, source: str) -> dict[str, Any]:
        """Run a cell as ipykernel does: in the running loop if it awaits at top level; the content of the reply."""
        shell = self.shell
        shell._last_traceback, shell._last_traceback_during_displayhook = None, False
        fault = None
        try:
            cell = shell.transform_cell(source)
        except Exception:
            cell, fault = source, sys.exc_info()
        if shell.should_run_async(source, transformed_cell=cell, preprocessing_exc_tuple=fault):
            result = None
            try:
                result = await asyncio.ensure_future(
                    shell.run_cell_async(
                        source, store_history=True, transformed_cell=cell, preprocessing_exc_tuple=fault
                    )
                )
            finally:
                shell.events.trigger("post_execute")
                shell.events.trigger("post_run_cell", result)
        else:
            result = shell.run_cell(source, store_history=True)
        shell.payload_manager.clear_payload()
        error = result.error_before_exec or result.error_in_exec
        if result.success and not shell._last_traceback_during_displayhook:
            return {"status": "ok"}
        trace: list[str] = [str(line) for line in shell._last_traceback or []]
        return {"status": "error", "ename": type(error).__name__, "evalue": str(error), "traceback": trace}


async def _frames(pipe: int) -> Any:
    """Requests as they come in, until the other end is closed."""
    loop = asyncio.get_running_loop()
    stream = asyncio.StreamReader(limit=1 << 32, loop=loop)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(stream), os.fdopen(pipe, "rb", 0))
    while True:
        try:
            (length,) = LENGTH.unpack(await stream.readexactly(LENGTH.size))
            yield json_unpacker(await stream.readexactly(length))
        except asyncio.IncompleteReadError:
            return


if __name__ == "__main__":
    end_with(int(sys.argv[1]))
    serve(int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
