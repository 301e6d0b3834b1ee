"""`fabricreport refresh`: new editions where somebody would be told something, and the telling."""

from __future__ import annotations

import glob
import shlex
from collections.abc import Iterator, Sequence
from datetime import date
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fabricreport.base.errors import InputError, Problem
from fabricreport.cli.books import fetch_first
from fabricreport.cli.history import index_again
from fabricreport.cli.options import (
    DAY,
    JOBS,
    JSON,
    OUTPUT,
    SCHEDULER,
    complain,
    each_client,
    epilog,
    error_facts,
    one_client,
    print_json,
    told,
)
from fabricreport.cli.words import built_facts, result_words

if TYPE_CHECKING:
    from fabricreport.check.dates import Dates
    from fabricreport.memo.batch import Outcome
    from fabricreport.memo.editions.refresh import RefreshPlan, RefreshResult
    from fabricreport.memo.editions.telling import News


@click.command(epilog=epilog())
@click.argument("params", nargs=-1, required=True)
@OUTPUT
@click.option("--as-of", type=DAY, default=None, help="Date of the new edition.  [default: the newest price's date]")
@JOBS
@SCHEDULER
@click.option("--always", is_flag=True, help="Build for any change, also where no material number moved.")
@click.option("--dry-run", is_flag=True, help="Say what would be built, and write nothing.")
@click.option("--quiet", is_flag=True, help="Say only what is worth waking somebody for, each thing once (for cron).")
@click.option(
    "--on-change",
    metavar="COMMAND",
    default="",
    help="Run COMMAND if there is news, with it as JSON on its standard input.",
)
@click.option(
    "--today", type=DAY, default=None, help="The day on which shelf lives are looked at.  [default: the clock's]"
)
@JSON
@told
def refresh(
    params: Sequence[str],
    output: Path,
    as_of: date | None,
    jobs: int | None,
    scheduler: str | None,
    always: bool,
    dry_run: bool,
    quiet: bool,
    on_change: str,
    today: date | None,
    as_json: bool,
) -> int:
    """Import the feeds, build a new edition of each of PARAMS (files, globs, folders) where advice, class, a material number or
    a mark of age moved, and say what moved."""
    from fabricreport.memo.editions.refresh import refresh as refresh_memo
    from fabricreport.memo.editions.telling import Teller, call, digest

    paths, command = params_files(params), _command(on_change)

    task = partial(one_client, made=refresh_memo, output=output, as_of=as_of, always=always, dry_run=dry_run)
    feeds = [] if dry_run else fetch_first(paths, output, quiet=quiet, as_json=as_json)
    outcomes = each_client(paths, task, jobs, scheduler, output, quiet=as_json or quiet)
    if dry_run:
        return _say_plans(outcomes, as_json)
    teller = Teller(output, today or date.today())
    news = [
        teller.of_error(o.params, o.error) if o.error else teller.of_result(o.params, o.result[0])  # type: ignore[index]
        for o in outcomes
    ]
    index_again(output)
    told_now = digest(news, feeds, teller.today)
    if as_json:
        print_json({**_run_facts(outcomes, news), "feeds": feeds, "news": told_now["clients"]})
    else:
        for outcome, one in zip(outcomes, news, strict=True):
            _say_outcome(outcome, one, teller.today, quiet)
        for line in dict.fromkeys(line for one in news for line in one.lines()):
            click.echo(line)
    if command and (told_now["clients"] or told_now["feeds"]):
        call(command, told_now)
    teller.keep()
    return _exit_code(outcomes)


def _exit_code(outcomes: Sequence[Outcome[Any]]) -> int:
    """That of the first that failed."""
    return next((o.error.exit_code for o in outcomes if o.error), 0)


def _run_facts(outcomes: Sequence[Outcome[Any]], news: Sequence[News]) -> dict[str, Any]:
    """What came of each file, for machines."""
    done = [_facts(o.params, o.result[0]) for o in outcomes if o.result]
    failed = [
        {"params": str(o.params), **error_facts(o.error), "standing": one.standing}
        for o, one in zip(outcomes, news, strict=True)
        if o.error
    ]
    return {"ok": not failed, "refreshed": done, "failed": failed}


def _say_outcome(outcome: Outcome[Any], news: News, day: date, quiet: bool) -> None:
    """What came of a file, for a person; with `quiet` only a failure, when it is new."""
    if outcome.error:
        if news.failed or not quiet:
            click.echo(f"Nothing was built for {outcome.params}. {news.standing}".rstrip(), err=True)
            complain(outcome.error, as_json=False)
    elif not quiet and outcome.result:
        result, dates = outcome.result
        _say_result(outcome.params, result, dates, day)


def params_files(asked: Sequence[str]) -> list[Path]:
    """The params files that words of the command line name: a file, a glob, or a folder's `*.yaml`; each once, in order."""
    found: dict[Path, Path] = {}
    for word in asked:
        path = Path(word)
        if path.is_dir():
            files = sorted(path.glob("*.yaml"))
        elif glob.has_magic(word) and not path.exists():
            files = sorted(Path(name) for name in glob.glob(word))  # noqa: PTH207 (a pattern may be absolute)
        else:
            files = [path]
        if not files:
            remedy = "Name a params file, or a folder that holds one."
            raise InputError(Problem("no params file is there", file=word, remedy=remedy))
        for file in files:
            found.setdefault(file.resolve(), file)
    return [*found.values()]


def _command(words: str) -> list[str]:
    try:
        return shlex.split(words)
    except ValueError as error:
        remedy = "Quote it as a shell would have it; no shell is asked."
        raise InputError(Problem(f"cannot be split into words: {error}", key="--on-change", remedy=remedy)) from error


def _say_plans(outcomes: Sequence[Outcome[Any]], as_json: bool) -> int:
    """What a dry run found of each file."""
    plans = [(o.params, o.result[0].plan) for o in outcomes if o.result]
    failed = [{"params": str(o.params), **error_facts(o.error)} for o in outcomes if o.error]
    if as_json:
        print_json({"ok": not failed, "planned": [_plan_facts(p, plan) for p, plan in plans], "failed": failed})
    else:
        for path, plan in plans:
            click.echo(f"{path}: {'would be built' if plan.changed else 'nothing would be built'}: {_why(plan)}")
            for line in _moved(plan):
                click.echo(f"  {line}")
        for outcome in outcomes:
            if outcome.error:
                click.echo(f"{outcome.params} could not be looked at.", err=True)
                complain(outcome.error, as_json=False)
    return _exit_code(outcomes)


def _moved(plan: RefreshPlan) -> Iterator[str]:
    if plan.probe is not None:
        yield from (f"would move: {one}" for one in plan.probe.moved)
        yield from (f"mark of age: {one}" for one in plan.probe.aged)


def _why(plan: RefreshPlan) -> str:
    """What changed since the last edition, and where nobody would be told anything, that."""
    if plan.last is None or plan.changed:
        return "; ".join(plan.reasons)
    since = f"since edition {plan.last.edition}"
    if plan.reasons:
        return f"{'; '.join(plan.reasons)}, but no material number moved {since}"
    return f"nothing that moves a number has changed {since}"


def _plan_facts(path: Path, plan: RefreshPlan) -> dict[str, Any]:
    probe = plan.probe
    return {
        "params": str(path),
        "changed": plan.changed,
        "reasons": list(plan.reasons),
        "would_move": [vars(one) for one in probe.moved] if probe else None,
        "marks_of_age": list(probe.aged) if probe else None,
        "messages": list(plan.messages),
    }


def _facts(path: Path, result: RefreshResult) -> dict[str, Any]:
    built = built_facts(result.built) if result.built else None
    return {**_plan_facts(path, result.plan), "built": built, "changes": [vars(c) for c in result.changes]}


def _say_result(path: Path, result: RefreshResult, dates: Sequence[Dates], day: date) -> None:
    for message in result.plan.messages:
        click.echo(message, err=True)
    for found in dates:
        for note in found.notes(day):
            click.echo(f"note: {path}: {note}", err=True)
    click.echo(f"{path}: {_why(result.plan)}")
    if result.built is not None:
        aside, lines = result_words(result.built)
        for line in aside:
            click.echo(line, err=True)
        for line in lines:
            click.echo(line)
        if not result.changes and result.plan.last:
            click.echo("  no material number of the headline moved")
