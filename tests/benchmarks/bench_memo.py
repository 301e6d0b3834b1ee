"""What a memo costs, each way to make it beside the others in one run: `make bench`.

CPU seconds are those of all processes of a command, wall seconds what a person waits, the peak the largest sum of
proportional memory (PSS) of its processes, looked at four times a second. A ratio holds on other machines; a second does not.
`--write fabricreport/memo/README.md` puts the table between that page's marks; `--rows ac` measures these rows alone, to try them.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime as dt
import os
import platform
import re
import resource
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
SECTIONS = ("buy_once", "decision", "latency", "tco", "tail_risk", "diligence", "evidence")
EARLIER = "e28fc0c"
"""The last commit that ran notebooks by an engine of its own; its notebooks are the measure of every later change."""
BATCH = 4
MOVED_PRICE = re.compile(r"^(electricity,[^,]*),([0-9.]+)", re.MULTILINE)
_MARKS = ("<!-- bench:begin -->\n", "<!-- bench:end -->")

PLAIN = """
import subprocess, sys
from concurrent.futures import ThreadPoolExecutor
params, out, *sections = sys.argv[1:]
def one(section):
    made = f"{out}/{section}.ipynb"
    subprocess.run([sys.executable, "-m", "papermill", f"{section}.ipynb", made, "-p", "params", params], check=True)
    subprocess.run([sys.executable, "-m", "nbconvert", "--to", "html", made], check=True)
list(ThreadPoolExecutor(2).map(one, sections))
"""
FLOOR = """
import sys
from pathlib import Path
sys.path[:0] = sys.argv[2:]
from one_process import whole
whole(Path(sys.argv[1]))
"""
OPENED = "import sys; from fabricreport.case import open_case; case = open_case(sys.argv[1])"
COMPARED = f"{OPENED}; case.comparison"
DECIDED = f"{OPENED}; [number.as_dict() for number in case.decision().numbers.values()]"


@dataclass(frozen=True)
class Cost:
    """What a command cost; `memos` is what it made."""

    cpu_s: float
    wall_s: float
    peak_mb: float
    memos: int = 1


def measured(command: Sequence[object], tree: Path = ROOT, memos: int = 1, cwd: Path | None = None, **env: str) -> Cost:
    """Run a command to its end with the package of that tree; its output is shown only if it fails."""
    plain = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    before, began = _children_cpu_s(), time.monotonic()
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(
            [sys.executable, *map(str, command)],
            cwd=cwd or tree,
            env={**plain, "PYTHONPATH": str(tree), "MPLBACKEND": "agg", **env},
            stdout=said,
            stderr=said,
            start_new_session=True,
        )
        peak = 0.0
        while process.returncode is None:
            peak = max(peak, _pss_mb(process.pid))
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(0.25)
        wall = time.monotonic() - began
        if process.returncode:
            said.seek(0)
            raise SystemExit(f"{' '.join(map(str, command))}\n{said.read().decode(errors='replace')[-4000:]}")
    return Cost(_children_cpu_s() - before, wall, peak, memos)


def _children_cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _pss_mb(root: int) -> float:
    """Proportional memory of a process and all below it."""
    parents: dict[int, int] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
    family, grown = {root}, True
    while grown:
        more = {pid for pid, parent in parents.items() if parent in family} - family
        family |= more
        grown = bool(more)
    kilobytes = 0
    for pid in family:
        with contextlib.suppress(OSError):
            found = re.search(r"^Pss:\s+(\d+)", Path(f"/proc/{pid}/smaps_rollup").read_text(), re.MULTILINE)
            kilobytes += int(found[1]) if found else 0
    return kilobytes / 1024


class Bench:
    """The ways to make a memo, in a folder of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.desk = folder / "desk"
        shutil.copytree(ROOT / "params", self.desk)
        self.example = self.desk / "example.yaml"
        _warmed_up(ROOT, self.example, folder)

    @cached_property
    def earlier(self) -> Path | None:
        """The earlier commit's files, where git still has it."""
        packed, tree = self.folder / "earlier.tar", self.folder / "earlier"
        git = ["git", "-C", str(ROOT), "archive", "--format=tar", f"--output={packed}", EARLIER]
        if subprocess.run(git, check=False, capture_output=True).returncode:
            return None
        with tarfile.open(packed) as files:
            files.extractall(tree, filter="data")
        _warmed_up(tree, self.earlier_example(tree), self.folder)
        return tree

    def earlier_example(self, tree: Path) -> Path:
        """The earlier commit's own example client."""
        return tree / "params" / "example.yaml"

    def plain(self) -> Cost | None:
        """A plain script over the earlier commit's notebooks, two processes at once."""
        if (tree := self.earlier) is None:
            return None
        out = self.folder / "plain"
        out.mkdir()
        return measured(["-c", PLAIN, self.earlier_example(tree), out, *SECTIONS], tree, cwd=tree / "notebooks")

    def own_engine(self) -> Cost | None:
        """The earlier commit's own build."""
        return None if (tree := self.earlier) is None else _built(tree, [self.earlier_example(tree)], self.folder / "b")

    def build(self) -> Cost:
        """The example's memo; what was built before is kept from row to row."""
        return _built(ROOT, [self.example], self.folder / "own")

    @cached_property
    def cold(self) -> Cost:
        """The first of them."""
        return self.build()

    def again(self) -> Cost:
        """With nothing changed since the last."""
        assert self.cold
        return self.build()

    def moved(self) -> Cost:
        """With the price of electricity a tenth higher."""
        assert self.cold
        for path in sorted((self.desk / "prices").glob("*.csv")):
            text = path.read_text(encoding="utf-8")
            moved = MOVED_PRICE.sub(lambda m: f"{m[1]},{float(m[2]) * 1.1:g}", text)
            if moved != text:
                path.write_text(moved, encoding="utf-8")
                return self.build()
        raise SystemExit("no price of electricity to move")

    def asked(self, script: str) -> Cost:
        """A question to the analyses, no notebook."""
        return measured(["-c", script, self.example], OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")

    def floor(self) -> Cost:
        """The same cells over one case in one process, and nothing else."""
        tests = ROOT / "tests"
        return measured(["-c", FLOOR, self.example, tests / "integration", tests], OMP_NUM_THREADS="1")

    def batch(self) -> Cost:
        """Copies of the example with names and samples of their own."""
        text = self.example.read_text(encoding="utf-8")
        clients = []
        for number in range(BATCH):
            named = re.sub(r"(?m)^client: .*$", f"client: {{name: Client {number}}}", text, count=1)
            clients.append(self.desk / f"client-{number}.yaml")
            clients[-1].write_text(re.sub(r"(?m)^seed: .*$", f"seed: {1000 + number}", named), encoding="utf-8")
        return _built(ROOT, clients, self.folder / "batch")


def _built(tree: Path, params: Sequence[Path], output: Path, *options: str) -> Cost:
    return measured(["-m", "fabricreport", "build", *params, "--output", output, *options], tree, len(params))


def _warmed_up(tree: Path, params: Path, folder: Path) -> None:
    """Bytecode of the package and the list of fonts, neither of which a measured row makes."""
    _built(tree, [params], folder / f"warm-up-{tree.name}", "--only", "latency")


class Row(NamedTuple):
    """One way, and what it is called in the table."""

    name: str
    measure: Callable[[Bench], Cost | None]


ROWS = {
    "a": Row(f"papermill and nbconvert on the notebooks of commit {EARLIER}, two processes, no memo", Bench.plain),
    "b": Row(f"complete memo, cold, by the engine of commit {EARLIER}", Bench.own_engine),
    "c": Row("complete memo, cold", lambda bench: bench.cold),
    "d": Row("nothing changed", Bench.again),
    "e": Row("one price changed", Bench.moved),
    "f": Row("`check`", lambda bench: measured(["-m", "fabricreport", "check", bench.example])),
    "g": Row("the case opened, nothing asked of it", lambda bench: bench.asked(OPENED)),
    "h": Row("its comparison, no notebook", lambda bench: bench.asked(COMPARED)),
    "i": Row("its whole decision, no notebook", lambda bench: bench.asked(DECIDED)),
    "j": Row("the floor: the same cells in one process, no kernel, no memo", Bench.floor),
    "k": Row(f"batch of {BATCH}, each memo", Bench.batch),
}


def table(found: dict[str, Cost | None], machine: str) -> str:
    """The figures as Markdown, each against (a)."""
    base = found.get("a")
    lines = [machine, "", "| | CPU s | of (a) | wall s | peak MB |", "|---|---:|---:|---:|---:|"]
    for letter, cost in found.items():
        name = f"({letter}) {ROWS[letter].name}"
        if cost is None:
            lines.append(f"| {name} | not to be had here | | | |")
            continue
        cpu, wall = cost.cpu_s / cost.memos, cost.wall_s / cost.memos
        share = f"{cpu / base.cpu_s:.2f}" if base else ""
        lines.append(f"| {name} | {cpu:.3g} | {share} | {wall:.3g} | {cost.peak_mb:.0f} |")
    return "\n".join(lines) + "\n"


def machine() -> str:
    """What was measured on, and when."""
    with open("/proc/cpuinfo", encoding="utf-8") as handle:  # noqa: PTH123 - one line of one file
        model = next((line.partition(":")[2].strip() for line in handle if line.startswith("model name")), "unknown")
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    cores = len(os.sched_getaffinity(0))
    return (
        f"Measured on {dt.date.today()}: {model}, {cores} cores, {memory:.0f} GiB, "
        f"{platform.system()}, Python {platform.python_version()}; the example client."
    )


def main() -> None:
    """Measure, print the table, and put it into a file if one is named."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--rows", default="".join(ROWS), help="letters of the rows to measure")
    asked.add_argument("--write", type=Path, help="a file with the marks of the table")
    given = asked.parse_args()
    found: dict[str, Cost | None] = {}
    with tempfile.TemporaryDirectory(prefix="fbr-bench-") as folder:
        bench = Bench(Path(folder))
        for letter in given.rows:
            found[letter] = ROWS[letter].measure(bench)
            print(letter, ROWS[letter].name, found[letter], file=sys.stderr, flush=True)
    text = table(found, machine())
    print(text)
    if given.write:
        page = given.write.read_text(encoding="utf-8")
        start, end = (page.index(mark) for mark in _MARKS)
        given.write.write_text(page[: start + len(_MARKS[0])] + text + page[end:], encoding="utf-8")


if __name__ == "__main__":
    main()
