"""Which planted faults the tests catch: each of `faults.yaml` in a copy of the tree, against the tests of its module.

    python tests/mutants/run.py [--json FILE] [--faults id,id] [--tree FOLDER]

First the expected catcher runs, then the other test files that import the module themselves, until one fails: at most
60 seconds of work a fault, two faults at a time. A test that fails without the fault as well catches nothing, and no
more does a file that cannot be collected.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
FAULTS = Path(__file__).with_name("faults.yaml")
LIMIT_S = 60.0
PATIENCE = 4.0
"""How much longer than its seconds of work a run may take on a busy machine."""
LEFT_OUT = shutil.ignore_patterns(".git", ".venv", ".cache", "output", "__pycache__", "*.egg-info", ".hypothesis")
PYTEST = (
    "-x",
    "-q",
    "-n",
    "0",
    "-p",
    "no:cacheprovider",
    "-m",
    "not trust and not soak and not outside",
    "--no-header",
    "--tb=no",
)
_FAILED = re.compile(r"^FAILED (\S+)", re.MULTILINE)


@dataclass(frozen=True)
class Fault:
    """A text of the package that is replaced, and the test file that is to fail then."""

    id: str
    file: str
    breaks: str
    old: str
    new: str
    catcher: str | None = None
    blind: bool = False
    audit: str = ""

    def planted(self, text: str) -> str:
        """The module with the fault; `ValueError` where its text does not stand there exactly once."""
        if text.count(self.old) != 1:
            raise ValueError(f"{self.id}: its text stands {text.count(self.old)} times in {self.file}")
        return text.replace(self.old, self.new)


@dataclass
class Found:
    """What came of a fault: the test that failed, seconds of work, and what was run."""

    id: str
    file: str
    caught: bool = False
    by: str = ""
    test: str = ""
    seconds: float = 0.0
    tried: list[str] = field(default_factory=list)
    note: str = ""


@dataclass(frozen=True)
class Ran:
    """One run of pytest: its exit code, the first test that failed, and its seconds of work."""

    code: int
    failed: str
    seconds: float


class Copy:
    """A copy of a tree in which faults are planted, one at a time."""

    def __init__(self, tree: Path, folder: Path) -> None:
        self.folder = folder
        shutil.copytree(tree, folder, ignore=LEFT_OUT, symlinks=True)

    def write(self, file: str, text: str) -> None:
        """Put a module in place; what Python compiled of the one before is forgotten."""
        path = self.folder / file
        path.write_text(text, encoding="utf-8")
        for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
            compiled.unlink()

    def run(self, tests: Sequence[str], limit_s: float) -> Ran:
        """Run tests; one that works longer than the limit is ended, with a code below 0."""
        env = {**os.environ, "PYTHONPATH": str(self.folder), "PYTHONDONTWRITEBYTECODE": ""}
        seconds = max(1, round(limit_s))

        def limited() -> None:
            os.setsid()
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))

        with tempfile.TemporaryFile("w+") as output:
            running = subprocess.Popen(
                [sys.executable, "-m", "pytest", *PYTEST, *tests],
                cwd=self.folder, env=env, stdout=output, stderr=subprocess.STDOUT, preexec_fn=limited,
            )  # fmt: skip
            timer = threading.Timer(limit_s * PATIENCE, os.killpg, (running.pid, signal.SIGKILL))
            timer.start()
            _, status, used = os.wait4(running.pid, 0)
            timer.cancel()
            running.returncode = os.waitstatus_to_exitcode(status)
            output.seek(0)
            failed = _FAILED.search(output.read())
        return Ran(running.returncode, failed[1] if failed else "", used.ru_utime + used.ru_stime)


def read_faults(file: Path = FAULTS) -> list[Fault]:
    """The faults of a file, in its order."""
    return [Fault(**entry) for entry in yaml.safe_load(file.read_text(encoding="utf-8"))]


def importers(tree: Path) -> Mapping[str, list[str]]:
    """Test files by the module that they import themselves, those that are likely to take least first."""
    found: dict[str, list[str]] = {}
    files = [
        p
        for room in ("unit", "golden", "fuzz", "integration")
        for p in sorted((tree / "tests" / room).glob("test_*.py"))
    ]
    for path in sorted(files, key=lambda p: (p.parent.name != "unit", p.stat().st_size)):
        for module in set(_imported(path)):
            found.setdefault(module, []).append(str(path.relative_to(tree)))
    for shop in (tree / "fabricreport").rglob("__init__.py"):  # a room may offer its modules' names as its own
        room = ".".join(shop.parent.relative_to(tree).parts)
        for module in {m for m in _imported(shop) if m.rpartition(".")[0] == room}:
            found[module] = list(dict.fromkeys([*found.get(module, []), *found.get(room, [])]))
    return found


def _imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{name.name}" for name in node.names)


class Trial:
    """Every fault tried in one of a few copies of a tree."""

    def __init__(self, tree: Path, at_once: int, limit_s: float, scratch: Path) -> None:
        self.tree, self.limit_s = tree, limit_s
        self.importers = importers(tree)
        self.sound: dict[str, bool] = {}
        self.copies: SimpleQueue[Copy] = SimpleQueue()
        for number in range(at_once):
            self.copies.put(Copy(tree, scratch / str(number)))

    def of(self, fault: Fault) -> Found:
        """What comes of one fault."""
        copy, found = self.copies.get(), Found(fault.id, fault.file)
        path = self.tree / fault.file
        before = path.read_text(encoding="utf-8") if path.is_file() else ""
        try:
            copy.write(fault.file, fault.planted(before))
            self._try(copy, fault, before, found)
        except ValueError as error:
            found.note = str(error)
        finally:
            if before:
                copy.write(fault.file, before)
            self.copies.put(copy)
        print(row(found), flush=True)
        return found

    def _try(self, copy: Copy, fault: Fault, before: str, found: Found) -> None:
        module = fault.file.removesuffix(".py").replace("/", ".")
        tests = dict.fromkeys([*([fault.catcher] if fault.catcher else []), *self.importers.get(module, [])])
        for test in tests:
            left = self.limit_s - found.seconds
            if left <= 1 or not (copy.folder / test).is_file():
                found.note += "" if left <= 1 else f"{test} is gone; "
                continue
            ran = copy.run([test], left)
            found.seconds += ran.seconds
            found.tried.append(test)
            if ran.code == 1 and ran.failed and self._passes(copy, fault, before, ran.failed):
                found.caught, found.by, found.test = True, test, ran.failed.partition("::")[2]
                return
            if ran.code not in (0, 1, 5):
                found.note += f"{test} ended with {ran.code}; "

    def _passes(self, copy: Copy, fault: Fault, before: str, test: str) -> bool:
        """Whether a test passes without the fault."""
        if test not in self.sound:
            copy.write(fault.file, before)
            self.sound[test] = copy.run([test], self.limit_s).code == 0
            copy.write(fault.file, fault.planted(before))
        return self.sound[test]


def row(found: Found) -> str:
    """One line of the table."""
    by = f"{found.by.removeprefix('tests/')}::{found.test}" if found.caught else f"NOT CAUGHT {found.note}"
    return f"{found.id:38} {found.seconds:5.1f} s  {by}"


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--json", type=Path, help="keep what was found")
    parser.add_argument("--faults", default="", help="their ids, with commas")
    parser.add_argument("--file", type=Path, default=FAULTS, help="another list of faults")
    parser.add_argument("--tree", type=Path, default=ROOT, help="the tree whose package and tests are tried")
    parser.add_argument("--at-once", type=int, default=2)
    parser.add_argument("--limit", type=float, default=LIMIT_S, help="seconds of work a fault")
    given: Any = parser.parse_args()
    asked = set(filter(None, given.faults.split(",")))
    faults = [fault for fault in read_faults(given.file) if not asked or fault.id in asked]
    with tempfile.TemporaryDirectory(prefix="mutants-") as scratch, ThreadPoolExecutor(given.at_once) as pool:
        trial = Trial(given.tree.resolve(), given.at_once, given.limit, Path(scratch))
        found = list(pool.map(trial.of, faults))
    if given.json:
        given.json.write_text(json.dumps([asdict(f) for f in found], indent=1) + "\n", encoding="utf-8")
    caught, seconds = sum(f.caught for f in found), sum(f.seconds for f in found)
    print(f"{caught} of {len(found)} caught, {seconds:.0f} s of work; not caught: ", end="")
    print(", ".join(f.id for f in found if not f.caught) or "none")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
