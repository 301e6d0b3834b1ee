"""Two workers of a real scheduler build what is built here, byte for byte, and one of them dies in the middle of a client."""

from __future__ import annotations

import datetime as dt
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import nbformat
import pytest
from test_build import MADE_OF

from fabricreport.base.project import PACKAGE
from fabricreport.scenario import new_params

pytestmark = [pytest.mark.slow, pytest.mark.trust]

CLIENTS = ("acme", "birch", "cedar")
MIDDLE = """
import os, pathlib, time
if "FBR_TEST_MIDDLE" in os.environ:
    pathlib.Path(os.environ["FBR_TEST_MIDDLE"]).touch()
    time.sleep(300)
"""
"""A cell that says where the test can see that it runs, and does not end; in an environment without the place it does nothing."""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project of three clients whose notebooks are next to nothing."""
    for name in ("params", "notebooks"):
        (tmp_path / name).mkdir()
    for client in CLIENTS:
        text = new_params(client.capitalize(), dt.date(2026, 11, 20))
        (tmp_path / "params" / f"{client}.yaml").write_text(text, encoding="utf-8")
    for section in MADE_OF:
        nb = nbformat.v4.new_notebook()
        parameters = nbformat.v4.new_code_cell('params = ""', metadata={"tags": ["parameters"]})
        hidden = nbformat.v4.new_code_cell(MIDDLE, metadata={"tags": ["remove-cell"]})
        nb.cells = [nbformat.v4.new_markdown_cell(f"# About {section}\n\nWords only."), parameters, hidden]
        nbformat.write(nb, tmp_path / "notebooks" / f"{section}.ipynb")
    return tmp_path


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(PACKAGE.parent), **more}


def command(*words: str) -> list[str]:
    params = [f"params/{client}.yaml" for client in CLIENTS]
    return [sys.executable, "-m", "fabricreport", *words[:1], *params, "--json", *words[1:]]


@contextmanager
def running(log: Path, *words: str, **env: str) -> Iterator[subprocess.Popen[bytes]]:
    """A process of Dask's that is killed in the end."""
    with log.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", *words], env=environment(**env), cwd=log.parent, stdout=out, stderr=out
        )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def until(true: Callable[[], object], what: str) -> None:
    limit = time.monotonic() + 240
    while not true():
        assert time.monotonic() < limit, what
        time.sleep(0.1)


def tree(output: Path) -> dict[str, bytes]:
    """Every byte that was published, but for the record of when."""
    files = [p for p in output.rglob("*") if p.is_file() and p.name != "run.json"]
    return {str(p.relative_to(output)): p.read_bytes() for p in files}


def processes_with(text: str) -> list[Path]:
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            found += [path] if text.encode() in path.read_bytes() else []
    return found


def test_the_client_of_a_killed_worker_runs_again_on_the_other_and_bytes_are_those_of_a_local_run(
    project: Path,
) -> None:
    subprocess.run(command("build", "--output", "here"), env=environment(), cwd=project, check=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
    middle, logs = project / "middle", [project / f"{name}.log" for name in ("scheduler", "first", "second")]
    words = ("distributed.cli.dask_worker", address, "--no-nanny", "--no-dashboard", "--nthreads", "1")
    with ExitStack() as stack:
        port = ("--host", "127.0.0.1", "--port", address.rpartition(":")[2], "--no-dashboard")
        stack.enter_context(running(logs[0], "distributed.cli.dask_scheduler", *port))
        first = stack.enter_context(running(logs[1], *words, "--name", "first", FBR_TEST_MIDDLE=str(middle)))
        stack.enter_context(running(logs[2], *words, "--name", "second"))
        until(lambda: all("Registered to" in log.read_text() for log in logs[1:]), "both workers are there")
        asked = command("build", "--output", "there", "--scheduler", address)
        run = stack.enter_context(subprocess.Popen(asked, env=environment(), cwd=project, stdout=subprocess.PIPE))
        until(middle.exists, "the first worker is in the middle of a client")
        first.send_signal(signal.SIGKILL)
        told = json.loads(run.communicate(timeout=300)[0])
        assert run.returncode == 0 and told["ok"]
        assert [made["client"].lower() for made in told["built"]] == list(CLIENTS), "in the order of the files"
        until(lambda: not processes_with(str(middle)), "what the killed worker had begun has ended with it")
        assert tree(project / "there") == tree(project / "here")
        for where in (("here", "--jobs", "2"), ("there", "--scheduler", address)):
            asked = command("refresh", "--as-of", "2026-11-20", "--output", *where)
            again = subprocess.run(asked, env=environment(), cwd=project, stdout=subprocess.PIPE, check=True)
            assert [one["changed"] for one in json.loads(again.stdout)["refreshed"]] == [False] * len(CLIENTS)
    begun, built = ({*re.findall(r"for params/(\w+)\.yaml", log.read_text())} for log in logs[1:])
    assert begun and begun < built == set(CLIENTS), "every client of the first was built by the second"
