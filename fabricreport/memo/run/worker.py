"""The process that runs one section, forked by `execute` or started by it: `python -m fabricreport.memo.run.worker JOB`.

It talks to its parent over one pipe, a JSON document a line: `{"cell": i, "cells": n}` at each cell and one
`{"end": {...}}` with the outcome. It ends itself and its kernel when the parent is gone (a started worker's stdin
closes, a forked one is sent SIGTERM), so a killed build leaves no process behind. The job is a JSON file, so no user
text passes through papermill's path templates; the notebook goes in as a node for the same reason.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from fabricreport.memo.run.grammar import skip_unused_grammar

if TYPE_CHECKING:
    from fabricreport.memo.run.limits import Session

_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b[@-Z\\-_]")
_TRACEBACK_LINES = 40
_TEXT_LIMIT = 2_000
Kernels = list[Callable[[], object]]
"""What ends the kernels of a worker and waits for them."""


def plain_text(text: str) -> str:
    """Text without terminal colours and other control characters."""
    text = _ANSI.sub("", text)
    return "".join(c for c in text if c in "\n\t" or (ord(c) >= 32 and not 0x7F <= ord(c) < 0xA0))


def main(job_path: Path) -> None:
    """Run the job with the ordinary kernel and leave without the interpreter's slow farewell."""
    job = json.loads(job_path.read_text(encoding="utf-8"))
    kernels: Kernels = []
    threading.Thread(target=_end_with_parent, args=(kernels,), daemon=True).start()
    _leave(job, kernels, forked=False)


def forked(job: dict[str, Any], maker: int, log: Path) -> NoReturn:
    """The life of a worker forked by process `maker`: a session of its own, no file of its maker's but the job's pipe."""
    from fabricreport.memo.run.lineage import end_with, only_files

    os.setsid()
    kernels: Kernels = []
    signal.signal(signal.SIGTERM, lambda *_: _end_all(kernels))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with(maker, signal.SIGTERM)
    nothing = os.open(os.devnull, os.O_RDWR)
    errors = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    for number, file in enumerate((nothing, nothing, errors)):
        os.dup2(file, number)
    only_files(0, 1, 2, job["pipe"])
    sys.stdout, sys.stderr = (open(n, "w", encoding="utf-8", closefd=False) for n in (1, 2))  # noqa: SIM115
    time.tzset()
    os.chdir(job["cwd"])
    _leave(job, kernels, forked=True)


def _leave(job: dict[str, Any], kernels: Kernels, *, forked: bool) -> NoReturn:
    pipe = os.fdopen(int(job["pipe"]), "w", encoding="utf-8", buffering=1)

    def tell(message: dict[str, Any]) -> None:
        pipe.write(json.dumps(message, allow_nan=False) + "\n")

    outcome = _run(job, tell, kernels, forked=forked)
    tell({"end": outcome})
    pipe.flush()
    os._exit(0)


def _end_with_parent(kernels: Kernels) -> None:
    """The parent holds the other end of stdin: it closes when the parent wants us to end, or is gone itself."""
    while os.read(0, 4096):
        pass
    _end_all(kernels)


def _end_all(kernels: Kernels) -> None:
    """The kernel is waited for first, else it would be left to process 1, which in a container may reap nothing."""
    for end in kernels:
        end()
    os.killpg(0, signal.SIGKILL)


def _run(
    job: dict[str, Any], tell: Callable[[dict[str, Any]], None], kernels: Kernels, *, forked: bool
) -> dict[str, Any]:
    skip_unused_grammar()
    import nbformat
    import papermill
    from papermill.engines import papermill_engines

    from fabricreport.memo.run import binding
    from fabricreport.memo.run.engine import ENGINE, forked_client, section_engine
    from fabricreport.memo.run.limits import Session
    from fabricreport.memo.run.stock import stock_client

    session = Session(
        cell_timeout_s=job["cell_timeout_s"],
        section_timeout_s=job["section_timeout_s"],
        output_limit_bytes=job["output_limit_bytes"],
        on_cell=lambda number, count: tell({"cell": number, "cells": count}),
        kernels=kernels,
    )
    client = forked_client if forked else partial(stock_client, connection_file=Path(job["connection_file"]))
    papermill_engines.register(ENGINE, section_engine(session, partial(client, session=session)))
    try:
        source = nbformat.read(job["notebook"], as_version=4)  # type: ignore[no-untyped-call]
        if "language_info" not in source.metadata:
            source.metadata["language_info"] = {"name": "python"}
        session.notebook = source
        binding.ask(source)
        session.notebook = papermill.execute_notebook(
            source,
            None,
            parameters={"params": job["params"]},
            engine_name=ENGINE,
            kernel_name="python3",
            language="python",
            progress_bar=False,
        )
        outcome = _truth(session)
    except BaseException as error:
        _drop_markers(session)
        outcome = _outcome(error, session)
    if session.notebook is not None:
        binding.take(session.notebook)
    return _kept(session, Path(job["output"]), outcome)


def _drop_markers(session: Session) -> None:
    """Take out the two cells papermill adds to a failed notebook: they shift every index."""
    if session.notebook is not None:
        cells = session.notebook.cells
        session.notebook.cells = [c for c in cells if "papermill-error-cell-tag" not in c.metadata.get("tags", [])]


def _truth(session: Session) -> dict[str, Any]:
    """`ok` only if each code cell ran and none shows an error: papermill takes `sys.exit(0)` for a success."""
    for index, cell in enumerate(session.notebook.cells if session.notebook else []):
        if cell.cell_type != "code" or "raises-exception" in cell.metadata.get("tags", []):
            continue
        for output in cell.outputs:
            if output.output_type == "error":
                trace = "\n".join(output.get("traceback", []))
                return _failure("failed", session, index, output.ename, output.evalue, trace)
        if cell.source.strip() and cell.get("execution_count") is None:
            return _failure("failed", session, index, "NotRun", "the cell was never run", "")
    return {"status": "ok"}


def _outcome(error: BaseException, session: Session) -> dict[str, Any]:
    """Which of the statuses an exception means; three unrelated families of them reach us."""
    from nbclient.exceptions import CellTimeoutError, DeadKernelError
    from papermill.exceptions import PapermillExecutionError

    from fabricreport.memo.run.limits import SectionOutOfTime

    at = session.cell
    if session.overflowed:
        limit = f"the section wrote more than {session.output_limit_bytes / 1e6:g} MB of output"
        return _failure("failed", session, at, "OutputTooLarge", limit, "")
    if isinstance(error, PapermillExecutionError):
        trace = "\n".join(error.traceback or [])
        at = _erring(session, error.ename, error.evalue, otherwise=at)
        return _failure("failed", session, at, str(error.ename), str(error.evalue), trace)
    if isinstance(error, SectionOutOfTime):
        return _failure("timeout", session, at, "SectionTimeout", str(error), "")
    if isinstance(error, CellTimeoutError):
        return _failure("timeout", session, at, *_which_limit(session), "")
    if isinstance(error, DeadKernelError) or "kernel died" in str(error).lower():
        return _failure("dead", session, at, "KernelDied", "the kernel process ended by itself", "")
    return _failure("failed", session, at, type(error).__name__, str(error), "")


def _erring(session: Session, ename: Any, evalue: Any, *, otherwise: int | None) -> int | None:
    """The cell that shows this error: not the one run last if a tag let the notebook go on."""
    for index, cell in enumerate(session.notebook.cells if session.notebook else []):
        for output in cell.get("outputs", ()):
            if output.output_type == "error" and (output.ename, output.evalue) == (ename, evalue):
                return index
    return otherwise


def _which_limit(session: Session) -> tuple[str, str]:
    if session.remaining_s() <= 0.1:
        return "SectionTimeout", f"the section's limit of {session.section_timeout_s:g} s was reached"
    return "CellTimeout", f"the cell's limit of {session.cell_timeout_s:g} s was reached"


def _failure(status: str, session: Session, index: int | None, ename: str, evalue: str, trace: str) -> dict[str, Any]:
    number, line = _place(session, index)
    tail = plain_text(trace).splitlines()[-_TRACEBACK_LINES:]
    return {
        "status": status,
        "cell": number,
        "source_line": line,
        "ename": plain_text(ename)[:_TEXT_LIMIT],
        "evalue": plain_text(evalue)[:_TEXT_LIMIT],
        "traceback": "\n".join(tail)[-4 * _TEXT_LIMIT :],
    }


def _place(session: Session, index: int | None) -> tuple[int | None, str]:
    """The cell's number in the source notebook and its first line of code."""
    from fabricreport.memo.run.limits import source_number

    if session.notebook is None or index is None or index >= len(session.notebook.cells):
        return None, ""
    cells = session.notebook.cells
    lines = [line.strip() for line in cells[index].source.splitlines()]
    first = next((line for line in lines if line and not line.startswith("#")), lines[0] if lines else "")
    return source_number(cells, index), plain_text(first)[:120]


def _kept(session: Session, path: Path, outcome: dict[str, Any]) -> dict[str, Any]:
    """Write the notebook as far as it got, the memo's source or the debugger's; a success without it is none."""
    if session.notebook is None:
        return outcome
    text = json.dumps(session.notebook, ensure_ascii=False, allow_nan=False)
    part = path.with_suffix(".part")
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
        if outcome["status"] == "ok":
            name = errno.errorcode.get(error.errno or errno.EIO, "EIO")
            return _failure("unsaved", session, None, name, error.strerror or str(error), "")
    return outcome


if __name__ == "__main__":
    main(Path(sys.argv[1]))
