"""What every command shares: its options, one way from our errors to a message and an exit code, and how far a build is."""

from __future__ import annotations

import contextlib
import functools
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fabricreport.base.errors import FabricReportError, InputError

if TYPE_CHECKING:
    from fabricreport.check.dates import Dates
    from fabricreport.memo.batch import Outcome, Result, Task
    from fabricreport.memo.editions.manifest import Progress, ProgressCall


EXIT_CODES = "Exit codes: 0 done, 2 the input is wrong, 3 a section failed, 4 the memo failed its checks, 5 nobody was told, 1 a bug of ours."


def epilog(text: str = "") -> str:
    """What stands under a command's help: `text` and the exit codes."""
    return f"{text} {EXIT_CODES}".strip()


class _Day(click.ParamType[date]):
    """A date as YYYY-MM-DD."""

    name = "date"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> date:
        if isinstance(value, date):
            return value
        try:
            return date.fromisoformat(str(value))
        except ValueError:
            self.fail(f"{value!r} is no date: write it as 2026-11-20", param, ctx)


DAY = _Day()
JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON for machines.")
JOBS = click.option(
    "--jobs",
    type=click.IntRange(1, 64),
    default=None,
    help="Clients built at once.  [default: one per core]",
)
SCHEDULER = click.option(
    "--scheduler",
    metavar="ADDRESS",
    default=None,
    help="Build on the workers of this Dask scheduler (tcp://HOST:8786), who share the folder of params and output.",
)
TRUST = click.option(
    "--trust-notebooks", is_flag=True, help="Run what is code of a project other than the current folder's."
)
CLIENT = click.argument("params", type=click.Path(path_type=Path))
OUTPUT = click.option(
    "--output", type=click.Path(file_okay=False, path_type=Path), default=Path("output"), show_default=True,
    help="Folder that holds all editions.",
)  # fmt: skip


def told(command: Callable[..., int | None]) -> Callable[..., None]:
    """Turn our errors into one clear message and the documented exit code; anything else is a bug and says so."""

    @functools.wraps(command)
    def run(*args: Any, **kwargs: Any) -> None:
        as_json = bool(kwargs.get("as_json"))
        try:
            code = command(*args, **kwargs) or 0
        except FabricReportError as error:
            complain(error, as_json)
            code = error.exit_code
        except (KeyboardInterrupt, click.exceptions.Abort):
            click.echo("Stopped. What was published before stays, each edition whole.", err=True)
            code = 130
        except BrokenPipeError:
            sys.stderr.close()
            code = 0
        sys.exit(code)

    return run


def complain(error: FabricReportError, as_json: bool) -> None:
    """Print an error: every problem and the hint, as text on stderr or as JSON on stdout."""
    if as_json:
        print_json({"ok": False, **error_facts(error)})
        return
    click.echo(str(error), err=True)
    click.echo(error.hint, err=True)


def error_facts(error: FabricReportError) -> dict[str, Any]:
    """An error for machines: the exit code it means, every problem, the hint."""
    problems = [p.as_dict() for p in error.problems] if isinstance(error, InputError) else [str(error)]
    return {"exit_code": error.exit_code, "problems": problems, "hint": error.hint}


def print_json(data: Any) -> None:
    """Print plain values as JSON."""
    click.echo(json.dumps(data, ensure_ascii=False, indent=1, sort_keys=True, default=str, allow_nan=False))


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


def each_client(
    params: Sequence[Path], task: Task[Result], jobs: int | None, scheduler: str | None, output: Path, *, quiet: bool
) -> list[Outcome[Result]]:
    """Run a task for each params file, over processes here or over the workers of a scheduler, and show how far it is."""
    from fabricreport.memo.batch import each
    from fabricreport.memo.cluster import each_there

    if scheduler is not None and jobs is not None:
        raise click.UsageError("--jobs counts processes here, and --scheduler builds on its workers: give one of them.")
    with progress_of(params, quiet=quiet) as tell:
        if scheduler is not None:
            return each_there(scheduler, params, task, output=output, progress=tell)
        return each(params, task, jobs=jobs, progress=tell)


def one_client(
    path: Path, progress: ProgressCall, *, made: Callable[..., Result], **options: Any
) -> tuple[Result, list[Dates]]:
    """What is made of a params file, and the dates that today's is held against."""
    dates: list[Dates] = []
    return made(path, progress=progress, dates=dates.append, **options), dates


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
