"""Many clients over the workers of a Dask scheduler: a client is a task, and a task a fresh process on the worker.

Params and output lie in a folder that all workers share at one path. Each process looks first whether it sees that folder,
whether locks taken here hold there, and whether package, libraries and processor are those of whoever asked: an edition must
not depend on who built it. A client whose worker is lost runs again on another, and its process ends with the worker.
"""

from __future__ import annotations

import contextlib
import importlib
import logging
import os
import platform
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple
from functools import partial
from pathlib import Path
from typing import Any

from fabricreport.base.errors import FabricReportError, InputError, Problem
from fabricreport.base.project import PACKAGE, PARAMS, SHIPPED
from fabricreport.memo.batch import LOOK_S, Outcome, Result, Steps, Task, cause_of, live
from fabricreport.memo.editions.locks import disk_errors, in_use, scratch_folder
from fabricreport.memo.editions.manifest import Progress
from fabricreport.memo.run import snapshot
from fabricreport.memo.run.environment import ONE_THREAD, collect_seldom, skip_unused_grammar

CONNECT_S = 10.0
"""How long a scheduler may take to answer, and then to have a worker."""
_KEY = "--scheduler"


def each_there(
    address: str, paths: Sequence[Path], task: Task[Result], *, output: Path, progress: Steps
) -> list[Outcome[Result]]:
    """`batch.each` over the workers of a scheduler; task and results must be fit to be pickled.

    `InputError` if there is no scheduler or no worker, or a worker that would build otherwise.
    """
    with _connected(address) as (distributed, client), disk_errors(output), scratch_folder(output) as held:
        here = {"folder": str(Path.cwd()), "held": str(held.absolute()), "made by": made_by()}
        _refuse_others(client, here)
        client.subscribe_topic(here["held"], lambda event: progress(paths[event[1][0]], Progress(*event[1][1])))
        futures = client.map(partial(run_there, here, task=task), range(len(paths)), paths, pure=False)
        path_of, outcomes = {f.key: path for f, path in zip(futures, paths, strict=True)}, dict[str, Outcome[Result]]()
        for future in distributed.as_completed(futures, loop=client.loop):
            outcomes[future.key] = _outcome(future, path_of[future.key], address)
            future.release()  # what has been fetched is not made again if its worker is lost
            progress(path_of[future.key], Progress("", "done"))
        return [outcomes[future.key] for future in futures]


@contextlib.contextmanager
def _connected(address: str) -> Iterator[tuple[Any, Any]]:
    """Dask, and a client of the scheduler, which has a worker; what still runs for it when it is closed is given up."""
    with contextlib.ExitStack() as stack:
        try:
            distributed = importlib.import_module("distributed")
            logging.getLogger("distributed.client").setLevel(logging.CRITICAL)  # what goes wrong is told by us
            client = stack.enter_context(distributed.Client(address, timeout=CONNECT_S, set_as_default=False))
            client.wait_for_workers(1, timeout=CONNECT_S)
        except ImportError as error:
            remedy = 'Install it: pip install "fabricreport[cluster]".'
            raise InputError(Problem("Dask distributed is not installed", key=_KEY, remedy=remedy)) from error
        except Exception as error:  # of many kinds, by what answers
            remedy = "Start `dask scheduler`, then `dask worker ADDRESS` on every host, and give tcp://HOST:8786."
            message = f"no Dask scheduler with a worker answers: {error}"
            raise InputError(Problem(message, key=_KEY, value=address, remedy=remedy)) from error
        yield distributed, client


def _refuse_others(client: Any, here: Mapping[str, Any]) -> None:
    """Refuse workers that would build otherwise, before anything is built."""
    problems: dict[Problem, None] = {}
    for worker, found in client.run(run_there, here, on_error="return").items():
        fault = getattr(found, "error", found)  # an outcome's, or why there is none
        if fault is not None:
            other = Problem(f"the worker {worker} cannot build: {fault}")
            problems |= dict.fromkeys(fault.problems if isinstance(fault, InputError) else [other])
    if problems:
        raise InputError(problems)


def _outcome(future: Any, path: Path, address: str) -> Outcome[Any]:
    try:
        return future.result()  # type: ignore[no-any-return]
    except Exception as error:
        if future.status == "error":
            return Outcome(path, error=FabricReportError(f"building {path} came to no end: {error}"))
    message = "the scheduler was lost before this client's memo came"
    return Outcome(path, error=InputError(Problem(message, key=_KEY, value=address, remedy="Run the command again.")))


def run_there(here: Mapping[str, Any], number: int = 0, path: Path = Path(), task: Any = None) -> Outcome[Any]:
    """What a worker does for a client, in a process of its own; without a task only look whether it would be refused."""
    from multiprocessing import Pipe

    worker: Any = importlib.import_module("distributed").get_worker() if task else None
    key, known = (worker.get_current_task(), worker.state.tasks) if task else ("", {})
    told, telling = Pipe()
    with telling:
        words = [sys.executable, "-P", "-m", "fabricreport.memo.cluster", str(telling.fileno()), str(os.getpid())]
        found = os.pathsep.join(filter(None, (str(PACKAGE.parent), os.environ.get("PYTHONPATH"))))
        env = {**os.environ, **ONE_THREAD, "PYTHONPATH": found}
        process = subprocess.Popen(words, env=env, pass_fds=[telling.fileno()], stdin=subprocess.DEVNULL)
    logging.getLogger("distributed.worker").info("process %s for %s", process.pid, path)
    with told, contextlib.suppress(EOFError, OSError):  # it has ended: how, its exit code tells
        told.send((here, path, task))
        while task is None or (key in known and known[key].state != "cancelled"):  # nobody has given it up
            if told.poll(LOOK_S):
                word = told.recv()
                if isinstance(word, Outcome):
                    process.wait()
                    return word
                worker.log_event(here["held"], [number, astuple(word)])
        process.send_signal(signal.SIGINT)
    return Outcome(path, error=FabricReportError(f"building {path} came to no end: {cause_of(process.wait())}"))


def made_by() -> dict[str, str]:
    """What editions are made by, besides what a client states: package, libraries, processor."""
    from numpy.lib.introspect import opt_func_info

    used = {how["current"] for kinds in opt_func_info().values() for how in kinds.values()}
    shipped = [snapshot.tree_digest(SHIPPED / "notebooks"), *(snapshot.tree_digest(PARAMS / b) for b in snapshot.BOOKS)]
    return {
        **snapshot.versions(),
        "python": snapshot.python_version(),
        "processor": " ".join([platform.machine(), *sorted(used)]),
        "package": snapshot.package_digest()[:12],
        "shipped notebooks and prices": snapshot.sha256(snapshot.canonical(shipped))[:12],
    }


def fault_here(here: Mapping[str, Any]) -> Problem | None:
    """Why this process, which goes into the folder of whoever asked, would not build the same; None if it would."""
    held, host = Path(here["held"]), platform.node()
    with contextlib.suppress(OSError):
        os.chdir(here["folder"])
    if str(Path.cwd()) != here["folder"] or not held.is_dir():
        message, folder = f"{host} does not see the folders of this run", f"{here['folder']}, {held.parent}"
        remedy = "Run it as one user in a folder that all workers share at one path, params and output in it."
        return Problem(message, file=folder, remedy=remedy)
    if not in_use(held):
        remedy = "Mount it so that flock reaches every host: NFS without nolock or local_lock, Lustre with flock."
        return Problem(f"a lock held here does not hold on {host}", file=str(held.parent), remedy=remedy)
    asked, own = here["made by"], made_by()
    names = [name for name in sorted({*asked, *own}) if asked.get(name) != own.get(name)]
    told = "; ".join(f"{name}: {asked.get(name, 'none')} here, {own.get(name, 'none')} there" for name in names[:5])
    remedy = "Install the same everywhere, with -c constraints.txt, on processors of one kind."
    return Problem(f"{host} would build other editions: {told}", remedy=remedy) if names else None


def _live(descriptor: int, maker: int) -> None:
    """What the process of a client does."""
    from multiprocessing.connection import Connection

    skip_unused_grammar()
    collect_seldom()
    telling = Connection(descriptor)
    here, path, task = telling.recv()
    fault = fault_here(here)
    if fault is None and task is not None:
        live(path, task, telling, maker)
    telling.send(Outcome(path, error=InputError(fault) if fault else None))


if __name__ == "__main__":
    _live(int(sys.argv[1]), int(sys.argv[2]))
