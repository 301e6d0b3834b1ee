"""What a memo costs, each way to make it beside the others in one run: `make bench`.

CPU seconds are those of all processes of a command, wall seconds what a person waits, the peak the largest sum of
proportional memory (PSS) of its processes, looked at four times a second. A ratio holds on other machines; a second does not.
`--write README.md` puts the table between the README's marks.
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
import sysconfig
import tempfile
import time
import venv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
NOTEBOOKS = ROOT / "notebooks"
SECTIONS = ("buy_once", "decision", "latency", "tco", "tail_risk", "diligence", "evidence")
EARLIER = "2799b9b"
"""The commit that the first edition was measured at."""
PLOOMBER = ("ploomber-engine==0.0.33", "ploomber-core==0.2.27", "posthog==3.7.4", "monotonic==1.6", "backoff==2.2.1")
MOVED_PRICE = re.compile(r"^(electricity,[^,]*),([0-9.]+)", re.MULTILINE)
_MARKS = ("<!-- bench:begin -->\n", "<!-- bench:end -->")

PAPERMILL = """
import subprocess, sys
from concurrent.futures import ThreadPoolExecutor
params, out, *sections = sys.argv[1:]
def one(section):
    made = f"{out}/{section}.ipynb"
    subprocess.run([sys.executable, "-m", "papermill", f"{section}.ipynb", made, "-p", "params", params], check=True)
    subprocess.run([sys.executable, "-m", "nbconvert", "--to", "html", made], check=True)
list(ThreadPoolExecutor(2).map(one, sections))
"""
PLOOMBER_SCRIPT = """
import subprocess, sys
from concurrent.futures import ThreadPoolExecutor
params, out, *sections = sys.argv[1:]
ONE = '''import sys
from ploomber_engine import execute_notebook
execute_notebook(sys.argv[1], sys.argv[2], parameters={"params": sys.argv[3]}, progress_bar=False)'''
def one(section):
    made = f"{out}/{section}.ipynb"
    subprocess.run([sys.executable, "-c", ONE, f"{section}.ipynb", made, params], check=True)
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


@dataclass(frozen=True)
class Cost:
    """What a command cost; `memos` is what it made."""

    cpu_s: float
    wall_s: float
    peak_mb: float
    memos: int = 1


def measured(command: Sequence[str], cwd: Path = ROOT, memos: int = 1, **env: str) -> Cost:
    """Run a command to its end; its output is shown only if it fails."""
    plain = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    before, began = _children_cpu_s(), time.monotonic()
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(
            command,
            cwd=cwd,
            env={**plain, "MPLBACKEND": "agg", **env},
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
    """The ways to make memos, in a folder of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.desk = folder / "desk"
        shutil.copytree(ROOT / "params", self.desk)
        self.example = self.desk / "example.yaml"

    def build(self, output: str, params: Sequence[Path] = (), *options: str) -> Cost:
        """Our own command, for the example or several clients."""
        paths = [str(p) for p in params or [self.example]]
        command = [sys.executable, "-m", "fabricreport", "build", *paths, "--output", str(self.folder / output / "out")]
        return measured([*command, *options], memos=len(paths))

    def clients(self, count: int) -> list[Path]:
        """Copies of the example with names and sizes of their own."""
        text = self.example.read_text(encoding="utf-8")
        made = []
        for number in range(count):
            path = self.desk / f"client-{number:02d}.yaml"
            named = re.sub(r"(?m)^client: .*$", f"client: {{name: Client {number:02d}}}", text, count=1)
            path.write_text(re.sub(r"(?m)^seed: .*$", f"seed: {1000 + number}", named), encoding="utf-8")
            made.append(path)
        return made

    def move_a_price(self) -> None:
        """One price of the desk's files, half as high again."""
        for path in sorted((self.desk / "prices").glob("*.csv")):
            text = path.read_text(encoding="utf-8")
            moved = MOVED_PRICE.sub(lambda m: f"{m[1]},{float(m[2]) * 1.1:g}", text)
            if moved != text:
                path.write_text(moved, encoding="utf-8")
                return
        raise SystemExit("no price of electricity to move")

    def script(self, text: str, name: str, **env: str) -> Cost:
        """A plain script over the six notebooks, two processes at once."""
        out = self.folder / name
        out.mkdir()
        return measured([sys.executable, "-c", text, str(self.example), str(out), *SECTIONS], NOTEBOOKS, **env)

    def ploomber(self) -> Cost | None:
        """The same with ploomber-engine, where the package index has it."""
        target = self.folder / "ploomber"
        install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(target), *PLOOMBER]
        if subprocess.run(install, check=False, capture_output=True).returncode:
            return None
        return self.script(PLOOMBER_SCRIPT, "b", PYTHONPATH=str(target), PLOOMBER_STATS_ENABLED="false")

    def earlier(self) -> Cost | None:
        """The first edition's own build, in a work tree of its commit, where git still has it.

        Its processes drop the search path, so it gets an environment whose only package of that name is its own.
        """
        tree = self.folder / EARLIER
        git = ["git", "-C", str(ROOT), "worktree", "add", "--quiet", "--detach", str(tree), EARLIER]
        if subprocess.run(git, check=False, capture_output=True).returncode:
            return None
        try:
            place = self.folder / "earlier"
            venv.create(place, symlinks=True)
            own = Path(sysconfig.get_path("purelib", vars={"base": str(place)}))
            for library in Path(sysconfig.get_path("purelib")).iterdir():
                if "fabricreport" not in library.name and not (own / library.name).exists():
                    (own / library.name).symlink_to(library)
            python = str(place / "bin" / "python")
            pip = [
                sys.executable,
                "-m",
                "pip",
                "--python",
                python,
                "install",
                "--quiet",
                "--no-deps",
                "--editable",
                str(tree),
            ]
            subprocess.run(pip, check=True)
            command = [python, "-m", "fabricreport", "build", "params/example.yaml", "--output", "output/bench"]
            return measured(command, tree)
        finally:
            subprocess.run(["git", "-C", str(ROOT), "worktree", "remove", "--force", str(tree)], check=False)

    def floor(self) -> Cost:
        """The same cells over one case in one process, and nothing else."""
        tests = [str(ROOT / "tests" / "integration"), str(ROOT / "tests")]
        return measured([sys.executable, "-c", FLOOR, str(self.example), *tests], OMP_NUM_THREADS="1")


def rows(bench: Bench, batch: int, many: int) -> Iterator[tuple[str, Cost | None]]:
    """Every way, dearest first, each named."""
    bench.build("warm-up")  # bytecode and the list of fonts
    yield f"commit {EARLIER}, complete memo", bench.earlier()
    yield "(a) papermill and nbconvert, a script, two processes (six HTML pages, no memo)", bench.script(PAPERMILL, "a")
    yield "(b) ploomber-engine and nbconvert, the same", bench.ploomber()
    yield "(c) complete memo, `--engine stock`", bench.build("stock", (), "--engine", "stock")
    yield "(d) complete memo, cold", bench.build("own")
    shutil.rmtree(bench.folder / "own" / "out")
    yield "(d) complete memo, every section kept from before", bench.build("own")
    yield "nothing changed", bench.build("own")
    bench.move_a_price()
    yield "one price changed", bench.build("own")
    yield "the floor: the same cells in one process, no notebook, no memo", bench.floor()
    yield f"batch of {batch}, each memo", bench.build("batch", bench.clients(batch))
    clients = bench.clients(many)
    if many != batch:
        bench.build("many", clients)
    bench.move_a_price()
    yield f"{many} clients, one price moved, each memo", bench.build("batch" if many == batch else "many", clients)


def table(found: Sequence[tuple[str, Cost | None]], machine: str) -> str:
    """The figures as Markdown, each against (a)."""
    base = next(cost for name, cost in found if name.startswith("(a)"))
    assert base is not None
    lines = [machine, "", "| | CPU s | of (a) | wall s | peak MB |", "|---|---:|---:|---:|---:|"]
    for name, cost in found:
        if cost is None:
            lines.append(f"| {name} | not to be had here | | | |")
            continue
        cpu, wall = cost.cpu_s / cost.memos, cost.wall_s / cost.memos
        share = f"{cpu / base.cpu_s:.2f}" if cpu / base.cpu_s >= 0.005 else "0.00"
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
    asked.add_argument("--batch", type=int, default=20, help="clients of the batch")
    asked.add_argument("--many", type=int, default=50, help="clients of which one price is moved")
    asked.add_argument("--write", type=Path, help="a file with the marks of the table")
    given = asked.parse_args()
    with tempfile.TemporaryDirectory(prefix="fbr-bench-") as folder:
        found = []
        for name, cost in rows(Bench(Path(folder)), given.batch, given.many):
            print(name, cost, file=sys.stderr, flush=True)
            found.append((name, cost))
    text = table(found, machine())
    print(text)
    if given.write:
        page = given.write.read_text(encoding="utf-8")
        start, end = (page.index(mark) for mark in _MARKS)
        given.write.write_text(page[: start + len(_MARKS[0])] + text + page[end:], encoding="utf-8")


if __name__ == "__main__":
    main()
