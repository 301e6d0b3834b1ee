"""Clients over the workers of a scheduler: the same outcomes in the same order, and no worker that would build otherwise."""

from __future__ import annotations

import socket
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
from click.testing import CliRunner
from client_tasks import tried
from distributed import LocalCluster
from distributed.client import FutureCancelledError
from distributed.scheduler import KilledWorker

from fabricreport.base.errors import InputError
from fabricreport.cli.main import main
from fabricreport.memo import cluster
from fabricreport.memo.editions.locks import scratch_folder
from fabricreport.memo.editions.manifest import Progress

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, protocol="tcp", host="127.0.0.1", dashboard_address=None
    ) as made:
        yield made.scheduler_address


@pytest.fixture
def output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An output folder beside the params, from whose folder the command is run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    return Path("output")


def test_outcomes_stand_in_the_order_of_the_files_and_one_fault_stops_no_other(address: str, output: Path) -> None:
    names = ["a", "wrong", "rejected", "bug", "killed", "b", "a"]
    paths, steps = [Path(f"{name}.yaml") for name in names], list[tuple[str, str]]()
    done = cluster.each_there(
        address, paths, partial(tried, output=output), output=output,
        progress=lambda path, step: steps.append((path.stem, step.event)),
    )  # fmt: skip
    assert [outcome.params for outcome in done] == paths
    folder = str(output.resolve())
    assert [outcome.result for outcome in done] == [("a", folder), *[None] * 4, ("b", folder), ("a", folder)]
    told = {o.params.stem: (type(o.error).__name__, o.error.exit_code, str(o.error)) for o in done if o.error}
    assert told["wrong"] == ("InputError", 2, "wrong.yaml:3: is wrong.\ntoo.")
    assert told["rejected"] == ("MemoRejected", 4, "a fault\nanother")
    assert told["bug"][:2] == ("FabricReportError", 1) and "ZeroDivisionError: mine" in told["bug"][2]
    assert told["killed"][:2] == ("FabricReportError", 1) and "SIGKILL" in told["killed"][2]
    assert {("a", "started"), ("killed", "started")} <= set(steps) and [e for _, e in steps].count("done") == len(paths)
    assert [path.name for path in output.iterdir()] == [".sweeping"]


def test_an_interrupt_ends_what_runs_on_the_workers(address: str, output: Path) -> None:
    asleep = output / "asleep"

    def interrupt(path: Path, step: Progress) -> None:
        if step.event == "done":
            until(lambda: asleep.exists() and asleep.read_text())
            raise KeyboardInterrupt

    paths = [Path("asleep.yaml"), Path("a.yaml")]
    with pytest.raises(KeyboardInterrupt):
        cluster.each_there(address, paths, partial(tried, output=output), output=output, progress=interrupt)
    until(lambda: not Path(f"/proc/{asleep.read_text()}").exists())


def until(true: Callable[[], object]) -> None:
    limit = time.monotonic() + 60
    while not true():
        assert time.monotonic() < limit
        time.sleep(0.05)


def test_whether_the_workers_or_the_scheduler_were_lost_is_told() -> None:
    def told(status: str, error: Exception) -> tuple[int, str]:
        future = SimpleNamespace(status=status, result=Mock(side_effect=error))
        fault = cluster._outcome(future, Path("a.yaml"), "tcp://h:1").error
        assert fault is not None
        return fault.exit_code, str(fault)

    code, message = told("error", KilledWorker("a", SimpleNamespace(address="tcp://h:2"), 3))  # type: ignore[arg-type]
    assert code == 1 and "building a.yaml came to no end" in message and "4 different workers" in message
    code, message = told("cancelled", FutureCancelledError("a", "scheduler-connection-lost"))
    assert code == 2 and "--scheduler: the scheduler was lost" in message


def test_a_worker_that_would_build_otherwise_is_refused_before_anything_is_built(
    address: str, output: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = {**cluster.made_by(), "numpy": "1.0", "package": "older"}
    monkeypatch.setattr(cluster, "made_by", lambda: mine)
    with pytest.raises(InputError, match=r"numpy: 1.0 here, \d.*; package: older here") as caught:
        cluster.each_there(address, [Path("a.yaml")], partial(tried, output=output), output=output, progress=print)
    assert len(caught.value.problems) == 1, "told once, not once a worker"


def test_a_process_that_sees_other_folders_or_no_lock_of_ours_is_refused(output: Path) -> None:
    with scratch_folder(output) as held:
        here: dict[str, Any] = {"folder": str(Path.cwd()), "held": str(held.absolute()), "made by": cluster.made_by()}
        assert cluster.fault_here(here) is None
        for elsewhere in ({"folder": "/nowhere"}, {"held": f"{held.absolute()}0"}):
            fault = cluster.fault_here({**here, **elsewhere})
            assert fault is not None and "does not see" in fault.message
        alone = output / ".scratch-1-00000000"
        alone.mkdir()
        (alone / ".owner").touch()  # locked, but not for us: as on a share mounted with nolock
        fault = cluster.fault_here({**here, "held": str(alone.absolute())})
        assert fault is not None and "lock" in fault.message and "nolock" in fault.remedy


def test_without_dask_or_a_scheduler_there_is_one_message_and_exit_code_two(
    output: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "CONNECT_S", 0.2)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
        for command in ("build", "refresh"):
            told = CliRunner().invoke(main, [command, "a.yaml", "--scheduler", address])
            assert told.exit_code == 2 and "--scheduler: no Dask scheduler with a worker answers" in told.stderr
            assert f"(found {address})" in told.stderr
    assert CliRunner().invoke(main, ["build", "a.yaml", "--scheduler", "nonsense"]).exit_code == 2
    told = CliRunner().invoke(main, ["build", "a.yaml", "--scheduler", address, "--jobs", "2"])
    assert told.exit_code == 2 and "--jobs" in told.stderr
    monkeypatch.setitem(sys.modules, "distributed", None)
    told = CliRunner().invoke(main, ["build", "a.yaml", "--scheduler", address])
    assert told.exit_code == 2 and 'pip install "fabricreport[cluster]"' in told.stderr
