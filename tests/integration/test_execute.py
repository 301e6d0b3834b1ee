"""Sections that end in every way a process can end; each must be told truthfully."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import pytest

from fabricreport.memo.editions.manifest import Progress, RunRecord
from fabricreport.memo.run.execution import run_sections
from fabricreport.memo.run.noise import strip_volatile

PARAMS_CELL = 'params = "../params/example.yaml"'


def write_notebook(folder: Path, name: str, *cells: str) -> Path:
    nb = nbformat.v4.new_notebook()
    nb.cells = [nbformat.v4.new_markdown_cell(f"# {name}"), nbformat.v4.new_code_cell(PARAMS_CELL)]
    nb.cells[1].metadata["tags"] = ["parameters"]
    nb.cells += [nbformat.v4.new_code_cell(source) for source in cells]
    path = folder / f"{name}.ipynb"
    nbformat.write(nb, path)
    return path


class Bench:
    """A folder with a params file in it, and a way to run notebooks made of code strings."""

    def __init__(self, folder: Path) -> None:
        self.notebooks = folder / "note{books} ü"
        self.notebooks.mkdir()
        self.params = folder / "params {x}.json"
        self.params.write_text(json.dumps({"answer": 42}), encoding="utf-8")
        self.scratch = folder / "scratch"
        self.matplotlib = folder.parent / "mpl"

    def run(self, sections: dict[str, tuple[str, ...]], **limits: object) -> RunRecord:
        paths = {name: write_notebook(self.notebooks, name, *cells) for name, cells in sections.items()}
        options = {"cell_timeout_s": 60.0, "section_timeout_s": 120.0, **limits}
        return run_sections(paths, self.params, self.scratch, matplotlib_dir=self.matplotlib, **options)

    def printed(self, section: str) -> list[str]:
        """What the cells of an executed notebook printed."""
        cells = json.loads(self.text(section))["cells"]
        return [o["text"] for cell in cells for o in cell.get("outputs", ()) if o["output_type"] == "stream"]

    def text(self, section: str) -> str:
        return (self.scratch / f"{section}.ipynb").read_text(encoding="utf-8")


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def living(marker: str) -> list[str]:
    """Command lines of processes that carry the marker in their environment or arguments."""
    found = []
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit() or int(folder.name) == os.getpid():
            continue
        try:
            if marker.encode() in (folder / "environ").read_bytes() and "Z" not in _state(folder):
                found.append((folder / "cmdline").read_text(encoding="utf-8", errors="replace"))
        except OSError:
            continue
    return found


def _state(folder: Path) -> str:
    return (folder / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[0]


@pytest.fixture
def marker(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """Marks every process of this test, so that what it leaves behind can be found."""
    monkeypatch.setenv("FBR_TEST_MARKER", f"marker-{tmp_path.name}-{os.getpid()}")
    return os.environ["FBR_TEST_MARKER"]


def test_a_good_section_gets_the_path_and_a_clean_environment(bench: Bench, monkeypatch) -> None:
    monkeypatch.setenv("PYTHONWARNINGS", "error")
    monkeypatch.setenv("TZ", "Asia/Kathmandu")
    code = (
        "import json, os, pathlib; print(json.loads(pathlib.Path(params).read_text())['answer'])",
        "print(pathlib.Path.cwd().name, os.environ['TZ'], os.environ['MPLBACKEND'].rpartition('.')[2], 'PYTHONWARNINGS' in os.environ)",
    )
    record = bench.run({"good": code})
    assert record.ok and record.facts() == [{"section": "good", "status": "ok"}]
    assert record.sections[0].cell is None and record.sections[0].seconds > 0
    outputs = [o["text"] for c in json.loads(bench.text("good"))["cells"] for o in c.get("outputs", [])]
    assert outputs == ["42\n", "note{books} ü UTC backend_inline False\n"]


def test_the_fonts_are_listed_before_a_section_runs_where_that_folder_can_be_written(bench: Bench) -> None:
    code = (
        "import os, pathlib; here = pathlib.Path(os.environ['MPLCONFIGDIR']); print(here.parent.name, *here.iterdir())"
    )
    bench.matplotlib = bench.params / "under a file"
    assert bench.run({"fonts": (code,)}).ok
    (printed,) = [o["text"] for c in json.loads(bench.text("fonts"))["cells"] for o in c.get("outputs", [])]
    assert printed.startswith("scratch ") and "fontlist-" in printed


@pytest.mark.slow
def test_every_failure_of_a_run_of_notebooks_is_told_in_one_run_and_the_others_finish(
    bench: Bench, marker: str
) -> None:
    kernel = "import os; print(os.getpid())"
    record = bench.run(
        {
            "raises": ("x = 1", "# why\nraise ValueError('no \\x1b[31mprice\\x1b[0m')", "print('never')"),
            "good": (kernel,),
            "exits": (kernel, "import sys; sys.exit(0)", "print('never')"),
            "loops": (kernel, "while True: pass", "print('never')"),
            "quits": (kernel, "quit()"),
            "vanishes": (kernel, "os._exit(0)", "print('never')"),
            "deaf": (
                kernel,
                "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass",
                "print('never')",
            ),
            "last": (kernel, "print('still here')"),
        },
        cell_timeout_s=3.0,
    )
    runs = {run.section: run for run in record.sections}
    assert {name: run.status for name, run in runs.items()} == {
        "raises": "failed",
        "good": "ok",
        "exits": "failed",
        "loops": "timeout",
        "quits": "ok",
        "vanishes": "dead",
        "deaf": "timeout",
        "last": "ok",
    }
    raised = runs["raises"]
    assert (raised.cell, raised.ename, raised.evalue) == (4, "ValueError", "no price")
    assert raised.source_line.startswith("raise ValueError") and "\x1b" not in raised.traceback
    assert "ValueError" in raised.traceback
    assert (runs["exits"].cell, runs["exits"].ename) == (4, "SystemExit")
    assert (runs["loops"].ename, runs["loops"].source_line) == ("CellTimeout", "while True: pass")
    assert runs["vanishes"].cell == runs["deaf"].cell == 4 and "kernel" in runs["vanishes"].evalue
    printed = {name: bench.printed(name) for name in runs}
    assert not [name for name in runs if "never\n" in printed[name]] and printed["last"][-1] == "still here\n"
    kernels = [printed[name][0] for name in runs if name != "raises"]
    assert kernels[:4] == kernels[:1] * 4, "an error and an interrupt leave the kernel as it is"
    assert len({*kernels}) == 4, "only one that has gone or does not answer is replaced"
    assert all(Path(run.notebook).is_file() for run in record.sections) and living(marker) == []


LEAKS = """
import builtins, logging, os, sys, warnings
import matplotlib, matplotlib.pyplot as plt, numpy as np, pandas as pd
leak = builtins.leak = 1
matplotlib.rcParams["font.size"] = 33
pd.set_option("display.max_rows", 7)
np.set_printoptions(precision=2)
np.seterr(all="ignore")
warnings.simplefilter("ignore")
logging.getLogger().setLevel("CRITICAL")
os.environ["LEAK"] = "1"
os.environ.pop("TZ")
sys.path.append("/leak")
os.chdir("/")
plt.plot([1, 2])
get_ipython().events.register("post_run_cell", lambda result: print("leak"))
get_ipython().display_formatter.formatters["text/plain"].for_type(int, lambda *_: print("leak"))
"""
STATE = """
import logging, os, sys, warnings
warnings.warn("told", stacklevel=1)
import builtins, matplotlib, matplotlib.pyplot as plt, numpy as np, pandas as pd
print(sorted(globals()), sorted(vars(builtins)), In, sys.path, os.getcwd(), sys.argv)
print(plt.get_fignums())
plt.close(plt.figure())  # from the first figure on it is interactive
print({k: str(v) for k, v in matplotlib.rcParams.items()})
print([pd.get_option(f"display.{o}") for o in ("max_rows", "precision", "width")], np.get_printoptions(), np.geterr())
print(logging.root.level, logging.root.handlers, sorted(os.environ.items()))
"""


@pytest.mark.slow
def test_nothing_leaks_from_one_notebook_into_the_next(bench: Bench) -> None:
    same = (STATE, "3", "np.array([1.23456])", "plt.plot([1, 2]);", "%load_ext storemagic", "np.array([1.0]) / 0")
    draws = "import random; print(random.random(), np.random.random())"
    assert bench.run({"leaks": (LEAKS.strip(), "1"), "tco": (*same, draws)}).ok
    after, drawn = strip_volatile(nbformat.reads(bench.text("tco"), as_version=4)), bench.printed("tco")[-1]
    assert bench.run({"tco": (*same, draws)}).ok
    alone = strip_volatile(nbformat.reads(bench.text("tco"), as_version=4))
    assert bench.printed("tco")[-1] != drawn, "what is random stays so"
    shown = [[[dict(o) for o in c.get("outputs", ())] for c in nb.cells[:-1]] for nb in (after, alone)]
    without = [re.sub(r"/fbr-\w+", "", str(cells)) for cells in shown]  # the folder of one kernel's sockets
    assert without[0] == without[1] and "told" in without[0] and "LEAK" not in without[0]


@pytest.mark.slow
def test_a_cell_that_may_raise_is_blamed_itself_and_not_the_cell_after_it(bench: Bench) -> None:
    path = write_notebook(bench.notebooks, "tco", "1 / 0", "later = 1")
    nb = nbformat.read(path, as_version=4)
    nb.cells[2].metadata["tags"] = ["raises-exception"]
    nb.cells.append(nbformat.v4.new_markdown_cell("It is {tco.x}."))
    nbformat.write(nb, path)
    run = run_sections({"tco": path}, bench.params, bench.scratch, matplotlib_dir=bench.matplotlib).sections[0]
    assert (run.status, run.cell, run.source_line, run.ename) == ("failed", 3, "1 / 0", "ZeroDivisionError")


def test_endless_output_is_capped(bench: Bench, marker: str) -> None:
    record = bench.run(
        {"floods": ("while True: print('x' * 1000)",)}, output_limit_bytes=2_000_000, cell_timeout_s=30.0
    )
    assert (record.sections[0].status, record.sections[0].ename) == ("failed", "OutputTooLarge")
    assert Path(record.sections[0].notebook).stat().st_size < 10_000_000
    assert living(marker) == []


@pytest.mark.slow
def test_a_section_has_a_limit_of_its_own(bench: Bench) -> None:
    naps = ("import time",) + ("time.sleep(1.5)",) * 4
    run = bench.run({"slow": naps}, section_timeout_s=4.0).sections[0]
    assert (run.status, run.ename) == ("timeout", "SectionTimeout") and "4 s" in run.evalue


@pytest.mark.slow
def test_an_interrupt_cancels_what_has_not_ended_and_leaves_no_process(bench: Bench, marker: str) -> None:
    def impatient(step: Progress) -> None:
        if (step.section, step.event, step.cell) == ("one", "cell", 3):
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)  # a person who is impatient

    wait = ("import signal; signal.pause()",)  # nothing but the interrupt ends it, however slow the machine
    limits = {"cell_timeout_s": 600.0, "section_timeout_s": 600.0}
    record = bench.run({"before": ("1",), "one": wait, "later": ("pass",)}, progress=impatient, **limits)
    assert [run.status for run in record.sections] == ["ok", "cancelled", "cancelled"]
    assert record.cancelled and living(marker) == []


@pytest.mark.slow
def test_the_kernel_ends_when_the_build_itself_is_killed(bench: Bench, marker: str) -> None:
    path = write_notebook(bench.notebooks, "nap", "import time; time.sleep(60)")
    code = (
        "import sys; from pathlib import Path; from fabricreport.memo.run.execution import run_sections\n"
        "run_sections({'nap': Path(sys.argv[1])}, Path(sys.argv[2]), Path(sys.argv[3]),"
        " progress=lambda p: print(p.event, p.cell, flush=True))"
    )
    argv = [sys.executable, "-c", code, str(path), str(bench.params), str(bench.scratch)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as build:
        assert build.stdout is not None
        next(line for line in build.stdout if line.strip() == "cell 3")
        assert living(marker) != []
        build.kill()
    until = time.monotonic() + 10
    while living(marker) and time.monotonic() < until:
        time.sleep(0.1)
    assert living(marker) == []
