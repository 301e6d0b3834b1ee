"""Our engine against the ordinary kernel, which is the oracle: the same notebooks, run by both, read the same."""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
import pytest

from fabricreport.memo.run.execute import OWN_ENGINE, STOCK_ENGINE, run_sections
from fabricreport.memo.run.run_record import RunRecord
from fabricreport.memo.run.volatile import strip_volatile

MAY_RAISE = "# may raise\n"
FIGURES = "import matplotlib.pyplot as plt\n"
GOOD: dict[str, tuple[str, ...]] = {
    "value": ("1 + 1", "'text'", "None", "_ , __", "x = 5;", "x"),
    "prints": ("print('a')", "import sys\nprint('b', file=sys.stderr)\nprint('c')", "print('no newline', end='')", "_"),
    "rich": (
        "from IPython.display import HTML, JSON, Image, Markdown, SVG, Latex, display",
        "display(HTML('<b>x</b>'))\nprint('between')\ndisplay(Markdown('*x*'), Latex('$x$'))",
        "JSON({'a': [1, None]})",
        "display(SVG('<svg xmlns=\"http://www.w3.org/2000/svg\"/>'))\nImage(b'\\x89PNG\\r\\n\\x1a\\n', format='png')",
        "display({'text/plain': 'p', 'application/x-own+json': {'k': 1}}, raw=True, metadata={'m': 1})",
        "import pandas as pd\npd.DataFrame({'a': [1, 2]})",
    ),
    "updated": (
        "from IPython.display import HTML, display\nhandle = display(HTML('one'), display_id='x')",
        "handle.update(HTML('two'))\nprint('after')",
        "display('again', display_id='x')",
    ),
    "cleared": (
        "from IPython.display import clear_output, display\nprint('gone')\nclear_output()\nprint('left')",
        "display('gone')\nclear_output(wait=True)\ndisplay('left')",
        "print('stays')\nclear_output(wait=True)",
    ),
    "figures": (
        FIGURES + "plt.plot([1, 2]);",
        "plt.figure(); plt.figure();\nprint('two open')",
        "fig, ax = plt.subplots(); plt.close(fig)",
        "%config InlineBackend.figure_formats = ['svg']\nplt.gcf().get_size_inches().tolist(), len(plt.get_fignums())",
        "plt.show()",
        "import matplotlib\nsorted((k, str(v)) for k, v in matplotlib.rcParams.items())",
    ),
    "warnings": (
        "import warnings\nwarnings.warn('look')",
        "def old():\n    warnings.warn('old', DeprecationWarning, stacklevel=2)\nold(); old()",
        "import logging\nlogging.warning('logged'); logging.info('not')\nlogging.getLogger('x').error('too')",
        "import numpy as np\nnp.array([1.0]) / 0",
    ),
    "printed-by-c": (
        "import ctypes, sys\nlibc = ctypes.CDLL(None)\nlibc.puts(b'from C'); libc.fflush(None)\nimport time; time.sleep(1)",
        "import os\nos.write(1, b'raw\\n'); os.write(2, b'raw error\\n'); time.sleep(0.5)",
        "import subprocess\nsubprocess.run(['sh', '-c', 'echo child; echo mistake >&2'], check=True); time.sleep(0.5)",
        "os.system('echo system'); time.sleep(0.5)",
        "!echo magic",
        "%%bash\necho bash",
        "%%sh --out kept\necho kept",
        "kept",
    ),
    "magics": (
        "%env FBR_ABSENT=1",
        "%pwd; 1",
        "%%capture said\nprint('captured')",
        "said.stdout",
        "%precision 3\n3.14159",
        "%who_ls",
        "%%timeit -n1 -r1 -q\npass",
        "%alias hello echo hello",
        "%hello",
        "%%writefile /dev/null\nx",
        "%matplotlib inline",
        "%store",
        "%history -n 1-2",
    ),
    "no-such-magic": ("%nosuchmagic 1", "%%nosuchmagic\n1"),
    "input": (
        MAY_RAISE + "input('?')",
        MAY_RAISE + "import getpass\ngetpass.getpass()",
        "import sys\nsys.stdin.read()",
    ),
    "awaited": (
        "import asyncio\nawait asyncio.sleep(0.01)\nprint('waited')",
        "async def five():\n    return 5\nawait five()",
        MAY_RAISE + "waiting = five()\ntry:\n    asyncio.run(waiting)\nfinally:\n    waiting.close()",
        "task = asyncio.create_task(five())",
        "await task",
        MAY_RAISE + "await nothing",
        FIGURES + "await five()\nplt.plot([1]);",
    ),
    "threads": (
        "import threading\ndef say():\n    print('from a thread')\nt = threading.Thread(target=say); t.start(); t.join()",
        "from concurrent.futures import ThreadPoolExecutor\nlist(ThreadPoolExecutor(2).map(lambda x: x * 2, [1, 2]))",
        "threading.active_count() > 0, threading.current_thread() is threading.main_thread()",
    ),
    "processes": (
        "import multiprocessing as mp\ncontext = mp.get_context('fork')\ndef square(x):\n    return x * x",
        "with context.Pool(1) as pool:\n    print(pool.map(square, [2, 3]))",
        "child = context.Process(target=print, args=('from a child',)); child.start(); child.join(); child.exitcode",
        "import os\nif os.fork() == 0:\n    os._exit(3)\nos.waitstatus_to_exitcode(os.wait()[1])",
    ),
    "events": (
        "ip = get_ipython()\nip.events.register('post_execute', lambda: print('post_execute'))",
        "ip.events.register('post_run_cell', lambda r: print('post_run_cell', r.success, r.result))",
        "7",
        MAY_RAISE + "1 / 0",
        "import asyncio\nawait asyncio.sleep(0)",
    ),
    "counts": ("In[-1], Out", "get_ipython().execution_count", "", "# a comment", "get_ipython().execution_count"),
    "raised": (
        MAY_RAISE + "1 / 0",
        MAY_RAISE + "def f():\n    raise ValueError('mine')\nf()",
        MAY_RAISE + "raise KeyError('a') from ValueError('b')",
        MAY_RAISE + "1 +",
        MAY_RAISE + "raise KeyboardInterrupt",
        MAY_RAISE + "import sys\nsys.exit(3)",
        MAY_RAISE + "raise SystemExit",
        MAY_RAISE + "class Odd:\n    def __repr__(self):\n        raise ValueError('no repr')\nOdd()",
        "'went on'",
    ),
    "lines": ("for i in range(200_000):\n    print(i)", "print('x' * 20_000_000)"),
    "names": (
        "__name__, __doc__",
        "import sys, __main__\nparams == __main__.params",
        "import pickle\nclass P: pass\ntype(pickle.loads(pickle.dumps(P()))) is P",
    ),
    "skipped": ("# %% not run", "1"),
}
BAD: dict[str, tuple[str, ...]] = {
    "error": ("print('before')", "1 / 0", "print('never')"),
    "syntax": ("print('before')", "1 +", "print('never')"),
    "exit": ("print('before')", "import sys\nsys.exit(3)", "print('never')"),
    "quit": ("print('before')", "quit", "import time\ntime.sleep(1)", "import time\ntime.sleep(1)", "print('never')"),
    "quit-last": ("print('before')", "quit()"),
    "endless": ("print('before')", "print('in', flush=True)\nwhile True: pass"),
    "sleeps-in-c": ("print('before')", "import ctypes, time\nprint('in', flush=True)\ntime.sleep(1)\nctypes.PyDLL(None).sleep(60)"),
    "left": ("print('before')", "import os, sys\nprint('in'); sys.stdout.flush()\nos.write(1, b'')\nimport time; time.sleep(0.5)\nos._exit(7)"),
    "segfault": ("print('before')", "import ctypes, time\ntime.sleep(0.5); ctypes.string_at(0)"),
    "killed": ("import os, signal, time\ntime.sleep(0.5)\nos.kill(os.getpid(), signal.SIGKILL)",),
    "kept-child": ("import subprocess\nsubprocess.Popen(['sleep', '600'])\nprint('child')", "import os, time\ntime.sleep(0.5); os._exit(1)"),
}  # fmt: skip
CASES = {**GOOD, **BAD}
QUIT_AT = 3
"""Cells up to the one that quits, the parameters counted."""


@dataclass(frozen=True)
class Ran:
    """What one engine made of all cases."""

    record: RunRecord
    folder: Path

    def notebook(self, case: str) -> Any:
        """The executed notebook without what differs from run to run; the parameters cell is its first."""
        made = nbformat.read(self.folder / f"{case}.ipynb", as_version=4)
        return strip_volatile(made, folders=[str(self.folder.parent)])


def written(folder: Path, case: str) -> Path:
    """The case as a notebook."""
    nb = nbformat.v4.new_notebook()
    nb.cells = [nbformat.v4.new_code_cell("params = 'none'", metadata={"tags": ["parameters"]})]
    for source in CASES[case]:
        tags = ["raises-exception"] if source.startswith(MAY_RAISE) else []
        nb.cells.append(nbformat.v4.new_code_cell(source.removeprefix(MAY_RAISE), metadata={"tags": tags}))
    path = folder / f"{case}.ipynb"
    nbformat.write(nb, path)
    return path


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Ran]:
    """All cases, run by both engines."""
    found = {}
    for engine in (OWN_ENGINE, STOCK_ENGINE):
        root = tmp_path_factory.mktemp("conformance")
        (root / "params.json").write_text(json.dumps({}), encoding="utf-8")
        (root / "in").mkdir()
        runs = [
            run_sections(
                {case: written(root / "in", case) for case in cases},
                root / "params.json",
                root / "out",
                cell_timeout_s=limit_s,
                matplotlib_dir=tmp_path_factory.getbasetemp() / "mpl",
                engine=engine,
            ).sections
            for cases, limit_s in ((GOOD, 60.0), (BAD, 8.0))
        ]
        found[engine] = Ran(RunRecord(tuple(itertools.chain(*runs))), root / "out")
    return found


def shown(notebook: Any) -> list[Any]:
    """Counts and outputs of each cell, one line of text each: the first difference is easy to see."""
    return [[cell.execution_count, *map(dict, cell.outputs)] for cell in notebook.cells if cell.cell_type == "code"]


@pytest.mark.slow
@pytest.mark.parametrize("case", GOOD)
def test_a_notebook_reads_as_under_the_ordinary_kernel(case: str, ran: dict[str, Ran]) -> None:
    own, stock = (ran[e] for e in (OWN_ENGINE, STOCK_ENGINE))
    assert how(own, case) == how(stock, case)
    if case == "printed-by-c":
        compare_lossy(own.notebook(case), stock.notebook(case))
        return
    assert shown(own.notebook(case)) == shown(stock.notebook(case))
    assert own.notebook(case) == stock.notebook(case)


def compare_lossy(own: Any, stock: Any) -> None:
    """What C code prints reaches the ordinary kernel through a thread: what is late there is lost, here nothing is."""
    text = ["".join(o.get("text", "") for o in c.outputs) for c in own.cells]
    assert text == ["", "from C\n", "raw\nraw error\n", "child\nmistake\n", "system\n", "magic\r\n", "bash\n", "", ""]
    for ours, theirs in zip(shown(own), shown(stock), strict=True):
        assert theirs in (ours, ours[:1])


@pytest.mark.slow
@pytest.mark.parametrize("case", BAD)
def test_a_bad_end_is_told_and_its_output_kept_as_under_the_ordinary_kernel(case: str, ran: dict[str, Ran]) -> None:
    own, stock = (ran[e] for e in (OWN_ENGINE, STOCK_ENGINE))
    assert how(own, case) == how(stock, case)
    kept = QUIT_AT if case == "quit" else None  # ipykernel leaves a tenth of a second later: chance what is still done
    assert shown(own.notebook(case))[:kept] == shown(stock.notebook(case))[:kept]


def how(ran: Ran, case: str) -> dict[str, Any]:
    """How the case ended, without the time it took."""
    facts = next(run for run in ran.record.sections if run.section == case).as_dict()
    late = ("cell", "source_line") if case == "quit" else ()
    return {k: v for k, v in facts.items() if k not in ("seconds", *late)}
