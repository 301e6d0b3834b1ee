"""What a kernel finds: the user's environment with everything that could change a figure pinned, compiled modules, fonts."""

from __future__ import annotations

import contextlib
import gc
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from fabricreport.base.project import IS_INSTALLED, PACKAGE

ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
"""Sums in one order, and a process that may be forked once numpy is imported."""
FIXED = {
    "PYTHONHASHSEED": "0",  # order of sets
    "PYTHONSAFEPATH": "1",  # a numpy.py beside a notebook must not shadow the library
    "PYTHONUTF8": "1",
    "PYTHONDONTWRITEBYTECODE": "1",  # `compile_checked` does, by hash
    "MPLBACKEND": "module://matplotlib_inline.backend_inline",  # figures shown or left open become outputs
    **ONE_THREAD,
    "SOURCE_DATE_EPOCH": "315532800",  # 1980-01-01: the clock is in no output
    "TZ": "UTC",
    "LC_ALL": "C.UTF-8",
    "LANG": "C.UTF-8",
    "PYDEVD_DISABLE_FILE_VALIDATION": "1",
}
"""What the kernel has in its environment."""
CHANGED_MIME = "application/vnd.fabricreport.changed+json"
"""Of the output in which a watched notebook tells what it has changed."""
_COLLECTED = (200_000, 50, 50)
_CHECKED_HASH = (0b11).to_bytes(4, "little")
_FONTS_TIMEOUT_S = 120.0
_DROPPED = ("MATPLOTLIBRC", "LANGUAGE", "IPYTHON_STARTUP")


def collect_seldom() -> None:
    """Have Python look for circular garbage less often: next to nothing of what is analysed and written is ever let go."""
    gc.set_threshold(*_COLLECTED)


def skip_unused_grammar() -> None:
    """Keep this process from compiling a grammar of addresses, 2 s of every start, that jsonschema imports and nothing here uses."""
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]


def section_environment(base: Mapping[str, str], runtime: Path) -> dict[str, str]:
    """Environment variables for a kernel.

    All `PYTHON*` variables of the caller are dropped (start-up files, warnings filters, other paths); the path
    of this package is set, so kernel and build run the same source. The rest is passed on, secrets too:
    notebooks are trusted code, and proxies, home and library paths are needed to run at all. What must not
    happen, a variable's value in an edition, is the business of the memo's checks.
    """
    env = {k: v for k, v in base.items() if not k.startswith("PYTHON") and k not in _DROPPED}
    env.update(FIXED)
    env["PYTHONPATH"] = str(PACKAGE.parent)
    env["IPYTHONDIR"] = str(runtime / "ipython")  # a user's start-up files stay out
    return env


def ready_fonts(env: Mapping[str, str], folders: Sequence[Path]) -> Path:
    """The first of the folders that can be written (else the last), with matplotlib's list of this machine's fonts in it.

    A kernel that has to make the list first logs a line about it, which would be taken for a warning of its section.
    """
    import subprocess

    folder = next((f for f in folders if _writable(f)), folders[-1])
    if not any(folder.glob("fontlist-*.json")):
        quiet = subprocess.DEVNULL
        with contextlib.suppress(OSError, subprocess.SubprocessError):
            subprocess.run(
                [sys.executable, "-c", "import matplotlib.font_manager"],
                env={**env, "MPLCONFIGDIR": str(folder)},
                stdin=quiet,
                stdout=quiet,
                stderr=quiet,
                timeout=_FONTS_TIMEOUT_S,
                check=False,
            )
    return folder


def _writable(folder: Path) -> bool:
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return os.access(folder, os.W_OK | os.X_OK)


def compile_checked(*folders: Path) -> int:
    """Give every module below the folders a hash-checked `.pyc`; how many were written. A read-only folder is left as is, and
    the package where it is installed: nobody edits it there, and nothing writes there.

    Python's usual one is trusted if the source's second and size are unchanged, so an edit within one second that keeps
    the length (a price of 1 made 2) may run the old code.
    """
    import importlib.util
    import py_compile

    written, edited = 0, [f for f in dict.fromkeys(folders) if not (IS_INSTALLED and f.is_relative_to(PACKAGE))]
    for source in sorted(path for folder in edited for path in folder.rglob("*.py")):
        target = Path(importlib.util.cache_from_source(str(source)))
        try:
            data = source.read_bytes()
            wanted = importlib.util.MAGIC_NUMBER + _CHECKED_HASH + importlib.util.source_hash(data)
            if target.exists():
                with target.open("rb") as handle:
                    if handle.read(16) == wanted:
                        continue
            mode = py_compile.PycInvalidationMode.CHECKED_HASH
            py_compile.compile(str(source), cfile=str(target), doraise=True, invalidation_mode=mode)
            written += 1
        except (OSError, py_compile.PyCompileError):
            continue  # the section that imports it will say what is wrong
    return written
