"""Compiled modules that cannot be out of date: checked by the hash of their source, not by its time.

Python's usual `.pyc` is trusted if the source's second and size are unchanged, so an edit within one second
that keeps the length (a price of 1 made 2) may run the old code. Sections write no bytecode themselves;
this makes what they load exact, and saves each of them from compiling the package anew.
"""

from __future__ import annotations

import importlib.util
import py_compile
from pathlib import Path

_CHECKED_HASH = (0b11).to_bytes(4, "little")


def compile_checked(folder: Path) -> int:
    """Give every module below `folder` a hash-checked `.pyc`; how many were written. A read-only folder is left as is."""
    written = 0
    for source in sorted(folder.rglob("*.py")):
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
