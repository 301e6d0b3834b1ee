"""Several clients in one run: what one does, no other feels, and results stand in the order of the files."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fabricreport.base.errors import FabricReportError, InputError, Problem
from fabricreport.memo.batch import each
from fabricreport.memo.editions.manifest import Progress

pytestmark = pytest.mark.slow

SCRIPT = """
import os, sys, time
from pathlib import Path
from client_tasks import ended_as
from fabricreport.memo.batch import each
from fabricreport.memo.editions.manifest import Progress

def task(path, progress):
    progress(Progress(path.stem, "started"))
    time.sleep(0.4 if path.stem == "slow" else 0)
    name = ended_as(path)
    if name == "left":
        os._exit(4)
    if name == "asleep":
        Path(sys.argv[1]).write_text("x")
        time.sleep(60)
    return name, os.getpid() != PARENT, list(range(100_000 if name == "large" else 1))

PARENT = os.getpid()
steps = []
paths = [Path(n + ".yaml") for n in sys.argv[2:]]
try:
    for outcome in each(paths, task, jobs=4, progress=lambda p, s: steps.append((p.stem, s.event))):
        made = outcome.result and (*outcome.result[:2], len(outcome.result[2]))
        error = outcome.error and (type(outcome.error).__name__, outcome.error.exit_code, str(outcome.error)[:400])
        print(outcome.params.stem, made, error, sep="|")
    print(sorted(steps))
except KeyboardInterrupt:
    print("interrupted")
"""


TASKS = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])}


def command(tmp_path: Path, *names: str) -> list[str]:
    script = tmp_path / "batch.py"
    script.write_text(SCRIPT, encoding="utf-8")
    return [sys.executable, str(script), str(tmp_path / "asleep.txt"), *names]


def ran(tmp_path: Path, *names: str) -> list[str]:
    done = subprocess.run(command(tmp_path, *names), capture_output=True, text=True, check=True, env=TASKS)
    assert done.stderr == ""
    return done.stdout.splitlines()


def test_results_stand_in_the_order_of_the_files_whatever_order_they_were_made_in(tmp_path: Path) -> None:
    *made, steps = ran(tmp_path, "slow", "a", "large", "b", "c")
    assert made == [
        "slow|('slow', True, 1)|None",
        "a|('a', True, 1)|None",
        "large|('large', True, 100000)|None",
        "b|('b', True, 1)|None",
        "c|('c', True, 1)|None",
    ]
    assert steps.count("'started'") == steps.count("'done'") == 5


def test_a_client_that_fails_in_any_way_is_told_and_the_others_are_built(tmp_path: Path) -> None:
    *made, _ = ran(tmp_path, "wrong", "rejected", "bug", "killed", "left", "good")
    told = dict(line.split("|", 1) for line in "\n".join(made).replace("\\n", " ").splitlines())
    assert told["wrong"] == "None|('InputError', 2, 'wrong.yaml:3: is wrong. too.')"
    assert told["rejected"] == "None|('MemoRejected', 4, 'a fault another')"
    assert "'FabricReportError', 1" in told["bug"] and "Traceback" in told["bug"]
    assert "SIGKILL" in told["killed"] and "exit code 4" in told["left"]
    assert told["good"] == "('good', True, 1)|None"


def test_one_client_stays_in_the_process_that_was_started(tmp_path: Path) -> None:
    assert ran(tmp_path, "a")[0] == "a|('a', False, 1)|None"


def test_an_interrupt_ends_every_client(tmp_path: Path) -> None:
    env = {**TASKS, "FBR_TEST_MARKER": str(tmp_path)}
    process = subprocess.Popen(command(tmp_path, "asleep", "a"), env=env, stdout=subprocess.PIPE, text=True)
    until = time.monotonic() + 60
    while not (tmp_path / "asleep.txt").exists():
        assert time.monotonic() < until
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=30)
    assert said == "interrupted\n"
    assert not [p for p in Path("/proc").glob("[0-9]*/environ") if str(tmp_path).encode() in environ(p)]


def environ(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def test_where_nothing_may_be_forked_clients_are_built_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fabricreport.memo.batch.import_ahead", lambda: False)
    told: list[tuple[str, str]] = []

    def task(path: Path, progress: object) -> str:
        if path.stem == "wrong":
            raise InputError(Problem("is wrong"))
        progress(Progress("tco", "started"))  # type: ignore[operator]
        return path.stem

    paths = [Path("a.yaml"), Path("wrong.yaml"), Path("b.yaml")]
    done = each(paths, task, jobs=3, progress=lambda path, step: told.append((path.stem, step.event)))
    assert [d.params for d in done] == paths and [d.result for d in done] == ["a", None, "b"]
    assert isinstance(done[1].error, FabricReportError)
    assert told == [("a", "started"), ("b", "started")]
