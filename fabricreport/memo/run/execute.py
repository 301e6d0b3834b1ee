"""Run section notebooks by papermill, each in its own process, and say truthfully how each ended.

    parent ── forks ──> worker (own session and process group) ── forks ──> kernel (same group)
       ^                    │ one JSON line a cell, one at the end
       └────────────────────┘

The worker holds the limits a cell and a section have; the parent repeats the section's limit with some
grace, ends the whole group, waits for it, and takes a worker that left without a word for `dead`.

Where the parent is `warm` (the stack imported, the case analysed), worker and kernel are forked from it. A parent that
may not fork, for it has threads or another environment, has a `host` do so. With the engine `stock`, and on other systems
than Linux, both are interpreters of their own and the kernel is ipykernel's.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from fabricreport.memo.run.engines import OWN_ENGINE, STOCK_ENGINE
from fabricreport.memo.run.environment import ready_fonts, section_environment
from fabricreport.memo.run.host import run_in_host
from fabricreport.memo.run.pool import OUTPUT_LIMIT_BYTES, Limits, Pool
from fabricreport.memo.run.processes import forked
from fabricreport.memo.run.run_record import CELL_TIMEOUT_S, SECTION_TIMEOUT_S, Progress, ProgressCall, RunRecord
from fabricreport.memo.run.warm import is_ready_to_fork, warm_up

_SOCKET_DIR_LIMIT = 60  # characters; the path of a unix socket ends at 103 on some systems


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
    engine: str = OWN_ENGINE,
) -> RunRecord:
    """Execute each notebook with the papermill parameter `params` = path of the canonical JSON.

    `notebooks` maps a section's name to its source; sections run in the folder `cwd`, else in their notebook's.
    The executed notebook of section s is `scratch/s.ipynb`, also when s failed (as far as it got).
    `matplotlib_dir` keeps matplotlib's font list from run to run; `engine` is one of ENGINES. Never raises for a
    section's fault; a KeyboardInterrupt ends all processes and gives the status `cancelled` to what had not finished.
    """
    limits = Limits(cell_timeout_s, section_timeout_s, output_limit_bytes)
    forking = bool(notebooks) and engine != STOCK_ENGINE and sys.platform.startswith("linux")
    scratch.mkdir(parents=True, exist_ok=True)
    runtime = _runtime_folder()
    try:
        env = section_environment(os.environ, runtime)
        if notebooks:
            wanted = [matplotlib_dir] if matplotlib_dir else []
            env["MPLCONFIGDIR"] = str(ready_fonts(env, [*wanted, scratch.resolve() / "matplotlib"]).resolve())
        folder = None if cwd is None else cwd.resolve()
        params = Path(params_json).resolve()
        pool = Pool(params, scratch.resolve(), folder, runtime, limits, env, progress or _silent)
        if not forking:
            return pool.run(notebooks, max(1, jobs))
        if is_ready_to_fork():
            os.environ["MPLCONFIGDIR"] = env["MPLCONFIGDIR"]
            warm_up(params, notebooks)
            return replace(pool, start=forked).run(notebooks, max(1, jobs))
        return run_in_host(pool, notebooks, max(1, jobs))
    finally:
        shutil.rmtree(runtime, ignore_errors=True)


def _silent(_: Progress) -> None:
    return


def _runtime_folder() -> Path:
    """A short private path for sockets and job files: the output's own path may be too long for a socket."""
    base = tempfile.gettempdir()
    return Path(tempfile.mkdtemp(prefix="fbr-", dir="/tmp" if len(base) > _SOCKET_DIR_LIMIT else base))
