"""`fabricreport refresh`: new editions where somebody would be told something, and the telling."""

from __future__ import annotations

import glob
import shlex
from collections.abc import Sequence
from contextlib import nullcontext
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
    TRUST,
    complain,
    each_client,
    epilog,
    error_facts,
    one_client,
    print_json,
    told,
)
from fabricreport.cli.words import result_words

if TYPE_CHECKING:
    from fabricreport.memo.batch import Outcome
    from fabricreport.memo.editions.telling import News


@click.command(epilog=epilog())
@click.argument("params", nargs=-1, required=True)
@OUTPUT
@click.option("--as-of", type=DAY, default=None, help="Date of the new edition.  [default: the newest price's date]")
@JOBS
@SCHEDULER
@click.option("--always", is_flag=True, help="Build for any change, also where no material number moved.")
@click.option(
    "--dry-run",
    is_flag=True,
    help="Say what would be built of the prices that are there; fetch no feed, write nothing.",
)
@TRUST
@click.option("--quiet", is_flag=True, help="Say only what is worth waking somebody for, each thing once (for cron).")
@click.option("--on-change", type=shlex.split, metavar="COMMAND", default="",
              help="Run COMMAND if there is news, with it as JSON on its standard input.")  # fmt: skip
@click.option("--today", type=DAY, default=None,
              help="The day on which shelf lives are looked at.  [default: the clock's]")  # fmt: skip
@JSON
@told
def refresh(
    params: Sequence[str], output: Path, on_change: Sequence[str], today: date | None, quiet: bool, as_json: bool,
    jobs: int | None, scheduler: str | None, dry_run: bool, **how: Any,
) -> int:  # fmt: skip
    """Import the feeds, build a new edition of each of PARAMS (files, globs, folders) where advice, class, a material number or
    a mark of age moved, and say what moved."""
    from fabricreport.memo.editions.refresh import known_slug
    from fabricreport.memo.editions.refresh import refresh as refresh_memo
    from fabricreport.memo.editions.telling import News, Teller, call, digest

    paths, day = params_files(params), today or date.today()
    task = partial(one_client, made=refresh_memo, output=output, dry_run=dry_run, **how)
    feeds = [] if dry_run else fetch_first(paths, output, quiet=quiet, as_json=as_json)
    teller, unheard = Teller(output, day), None
    if not dry_run:
        teller.begin(paths, partial(known_slug, output=output, **how))
    outcomes = each_client(paths, task, jobs, scheduler, output, quiet=as_json or quiet)
    if not dry_run:
        index_again(output)
    with nullcontext() if dry_run else teller.alone():
        if dry_run:
            news = [News(str(o.params), failed=str(o.error or "")) for o in outcomes]
        else:
            news = [teller.of(o.params, o.error or o.result[0]) for o in outcomes]  # type: ignore[index]
        told_now = digest(news, feeds, day)
        told_now["feeds"] += [] if dry_run else teller.unheard()
        if on_change and not dry_run and (told_now["clients"] or told_now["feeds"]):
            unheard = call(on_change, told_now)
        if as_json:
            facts = {**_facts(outcomes, news), "feeds": feeds, "news": told_now["clients"]}
            print_json({**facts, **({"ok": False, **error_facts(unheard)} if unheard else {})})
        for outcome, one in () if as_json else zip(outcomes, news, strict=True):
            _say(outcome, one, day, quiet)
        if unheard and not as_json:
            complain(unheard, as_json=False)
        if not dry_run:
            teller.keep(told_now["feeds"] if unheard else None)
    return next((error.exit_code for error in (unheard, *(o.error for o in outcomes)) if error), 0)


def _facts(outcomes: Sequence[Outcome[Any]], news: Sequence[News]) -> dict[str, Any]:
    """What came of each file, for machines."""
    done = [{"params": str(o.params), **o.result[0].as_dict()} for o in outcomes if o.result]
    failed = [
        {"params": one.params, **error_facts(o.error), "standing": one.standing}
        for o, one in zip(outcomes, news, strict=True)
        if o.error
    ]
    return {"ok": not failed, "refreshed": done, "failed": failed}


def _say(outcome: Outcome[Any], news: News, day: date, quiet: bool) -> None:
    """What came of a file, for a person; with `quiet` only what is news."""
    if outcome.error and (news.failed or not quiet):
        click.echo(f"Nothing was built for {outcome.params}. {news.standing}".rstrip(), err=True)
        complain(outcome.error, as_json=False)
    if outcome.result and not quiet:
        result, dates = outcome.result
        notes = [f"note: {outcome.params}: {note}" for found in dates for note in found.notes(day)]
        aside, built = result_words(result.built) if result.built else ([], [])
        for line in (*result.plan.messages, *notes, *aside):
            click.echo(line, err=True)
        for line in (f"{outcome.params}: {result.text()}", *built):
            click.echo(line)
    for line in news.lines():
        click.echo(line)


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
