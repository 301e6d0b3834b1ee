"""What a notebook's process read: the cases it opened, each with what was read of it, and files that somebody else opened.

A section may be kept under what it read only if all of that is known. So the process is watched from before the first
cell (`begin`), by an audit hook that sees every file opened, every folder listed and every program started. What was
opened by `open_case`, or is a file that a case noted, is accounted for; any other look into the folder of the params, or
into the project's own params, is not, nor is a program started or a library that reads files behind Python's back.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fabricreport.project import PARAMS

READS_MIME = "application/vnd.fabricreport.reads+json"
_OPENED = frozenset({"open", "os.listdir", "os.scandir", "sqlite3.connect"})
_STARTED = frozenset({"subprocess.Popen", "os.system", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn"})
_SOURCE = (".py", ".pyc", ".so")
_OWN_READERS = frozenset({"pyarrow", "polars", "duckdb", "h5py", "netCDF4", "fastparquet"})
"""Libraries that open files in C, where no hook sees it."""
_ours: ContextVar[bool] = ContextVar("ours", default=False)


@dataclass
class Witness:
    """What was seen of this process since `begin`."""

    watching: bool = False
    started: bool = False
    paths: set[str] = field(default_factory=set)
    cases: list[tuple[str, Callable[[], frozenset[str]]]] = field(default_factory=list)
    _hooked: bool = False

    def begin(self) -> None:
        """Watch this process from now on; what it did before belongs to nobody."""
        if not self._hooked:
            sys.addaudithook(self._seen)
        self._hooked = self.watching = True
        self.started = False
        self.paths.clear()
        self.cases.clear()

    def _seen(self, event: str, given: tuple[Any, ...]) -> None:
        if event in _STARTED:
            self.started = True
        elif event in _OPENED and given and not _ours.get():
            named = "." if given[0] is None else given[0]
            if isinstance(named, str | bytes) and not (path := os.fsdecode(named)).endswith(_SOURCE):
                with suppress(OSError):  # whatever is raised here stops what was to be done
                    self.paths.add(path if path.startswith("/") else str(Path.cwd() / path))

    @contextmanager
    def reading(self) -> Iterator[None]:
        """What is opened inside the block is accounted for by whoever opened it."""
        token = _ours.set(True)
        try:
            yield
        finally:
            _ours.reset(token)

    def opened(self, params: Path | None, reads: Callable[[], frozenset[str]]) -> None:
        """A case was opened from this params file (None: from no file); `reads` tells what was read of it."""
        if self.watching:
            self.cases.append(("" if params is None else os.path.realpath(params), reads))

    def account(self, params: object) -> frozenset[str] | None:
        """Ids of everything read, of a notebook that was given these params; None if something else was read, or may have been."""
        if not self.watching or self.started or not isinstance(params, str | Path):
            return None
        if _OWN_READERS & set(sys.modules):
            return None
        own = os.path.realpath(params)
        if any(path != own for path, _ in self.cases):
            return None
        ids = frozenset[str]().union(*(reads() for _, reads in self.cases))
        folder = Path(own).parent
        noted = {os.path.realpath(folder / i.removeprefix("file:")) for i in ids if i.startswith("file:")}
        looked = [Path(path) for path in {os.path.realpath(path) for path in self.paths} - noted]
        return None if any(path.is_relative_to(watched) for path in looked for watched in (folder, PARAMS)) else ids


WITNESS = Witness()
"""The one of this process: a hook cannot be taken off again."""


def show_reads(params: object) -> None:
    """Display what the notebook read, for the build to collect."""
    from IPython.display import display

    try:
        ids = WITNESS.account(params)
    except (KeyError, OSError, TypeError, ValueError):
        ids = None  # a notebook that took a case apart is not kept by what it read
    display({READS_MIME: None if ids is None else sorted(ids)}, raw=True)  # type: ignore[no-untyped-call]
