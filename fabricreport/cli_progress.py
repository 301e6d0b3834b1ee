"""How far a build is: a line a step for one client, a bar for each of several and one for all, one line in a log."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from fabricreport.memo.run.run_record import Progress

Tell = Callable[[Path, "Progress"], None]


@contextlib.contextmanager
def progress_of(params: Sequence[Path], *, quiet: bool) -> Iterator[Tell]:
    """Whom to tell of every step of these clients."""
    if quiet:
        yield lambda path, step: None
    elif not sys.stderr.isatty():
        yield _one_line_each()
    elif len(params) == 1:
        yield lambda path, step: click.echo(f"{path.stem}: {step.section} {step.status}", err=True)
    else:
        with contextlib.ExitStack() as stack:
            yield _Bars(params, stack).tell


def _one_line_each() -> Tell:
    """Say once of each client that its sections run, so that a log shows a build at work and not a hang."""
    said: set[Path] = set()

    def tell(path: Path, step: Progress) -> None:
        if step.event == "started" and path not in said:
            said.add(path)
            click.echo(f"{path}: running its notebooks; this takes a while", err=True)

    return tell


class _Bars:
    """A bar for each client at work, in cells run, and one for all, in clients."""

    def __init__(self, params: Sequence[Path], stack: contextlib.ExitStack) -> None:
        from tqdm import tqdm

        tqdm.monitor_interval = 0  # its thread would keep this process from forking
        self._bar: Callable[..., Any] = tqdm
        self._stack = stack
        self._all = stack.enter_context(tqdm(total=len(params), desc="clients", unit="memo", file=sys.stderr))
        self._clients: dict[Path, Any] = {}
        self._cells: dict[tuple[Path, str], tuple[int, int]] = {}

    def tell(self, path: Path, step: Progress) -> None:
        """Move the bar of a client; a step without a section tells that it is done."""
        if not step.section:
            if path in self._clients:
                self._clients[path].close()
            self._all.update()
            return
        if path not in self._clients:
            made = self._bar(desc=path.stem, unit="cell", leave=False, file=sys.stderr)
            self._clients[path] = self._stack.enter_context(made)
        bar = self._clients[path]
        if step.event == "cell":
            self._cells[path, step.section] = (step.cell, step.cells)
            mine = [cells for (client, _), cells in self._cells.items() if client == path]
            bar.total, bar.n = sum(total for _, total in mine), sum(at for at, _ in mine)
        bar.set_postfix_str(f"{step.section} {step.status}")
