"""The command line: thin commands over the library. Heavy modules are imported by the command that needs them.

Exit codes: 0 done; 1 our bug; 2 the user's input is wrong; 3 a section failed; 4 the memo failed its checks; 5 nobody could be told.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from datetime import date
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fabricreport.base.errors import InputError, Problem
from fabricreport.base.version import VERSION
from fabricreport.cli.books import elicit, evidence, prices
from fabricreport.cli.desk import accept, answers, questionnaire, quotes, trace
from fabricreport.cli.groups import Grouped
from fabricreport.cli.history import adopt, check_editions, diff, index_again, list_, sign
from fabricreport.cli.options import (
    DAY,
    EXIT_CODES,
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
    progress_of,
    told,
)
from fabricreport.cli.preview import preview
from fabricreport.cli.refresh import refresh
from fabricreport.cli.whatif import what_if
from fabricreport.cli.words import dates_words, result_words

if TYPE_CHECKING:
    from fabricreport.check.dates import Dates
    from fabricreport.memo.batch import Outcome


@click.command(epilog=epilog())
@OUTPUT
@JSON
@told
def report(output: Path, as_json: bool) -> int:
    """Build the evidence report into OUTPUT/_evidence/<edition>/: what is the same for every client.

    `build` and `refresh` make it first where it is missing or out of date.
    """
    from fabricreport.memo.report import REPORT, make_report

    path = Path(REPORT)
    with progress_of([path], quiet=as_json) as tell:
        found = make_report(output, progress=lambda step: tell(path, step))
    if as_json:
        print_json({"ok": True, **found.as_dict()})
        return 0
    for message in found.messages:
        click.echo(message, err=True)
    click.echo(
        f"Evidence report, edition {found.edition}" + (" (already there: nothing had changed)" if found.reused else "")
    )
    click.echo(f"  {found.pdf}")
    click.echo(f"  {found.html}")
    return 0


PARAMS = click.argument("params", nargs=-1, required=True, type=click.Path(path_type=Path))


@click.group(
    cls=Grouped,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=EXIT_CODES,
)
@click.version_option(VERSION, prog_name="fabricreport")
def main() -> None:
    """InfiniBand or RoCEv2 for this GPU cluster? One params file in, one client-ready memo out.

    Start with `fabricreport new --project` and `fabricreport new NAME`, then `fabricreport build params/NAME.yaml`.
    """


@main.command(epilog=epilog())
@PARAMS
@OUTPUT
@click.option("--only", metavar="SECTION", default=None, help="Build one section, as a draft, beside the editions.")
@click.option("--set", "setting", multiple=True, metavar="KEY=VALUE",
              help="Build a draft into trials/ with this value of a key (cluster.gpus=512) or an entry (price:ITEM=28000).")  # fmt: skip
@JOBS
@SCHEDULER
@click.option("--draft", is_flag=True, help="Watermark the memo; its checks warn instead of stopping.")
@click.option("--no-attachments", is_flag=True, help="Leave the ledger and the workbook out of memo.pdf.")
@click.option("--to", type=click.Choice(["docx"]), help="Make an editable copy too, for Word: page one and the body.")
@TRUST
@JSON
@told
def build(
    params: Sequence[Path],
    output: Path,
    only: str | None,
    setting: Sequence[str],
    jobs: int | None,
    scheduler: str | None,
    draft: bool,
    no_attachments: bool,
    to: str | None,
    trust_notebooks: bool,
    as_json: bool,
) -> int:
    """Build the memo of each PARAMS file into OUTPUT/<client>/<edition>/."""
    from fabricreport.memo.build import build as build_memo

    made: Any = build_memo
    if to and (only or draft):
        raise click.UsageError("--to docx copies what is proved: leave out --only and --draft.")
    if to:
        from fabricreport.memo.editable import build_and_copy as made
    if setting and (len(params) > 1 or only or to):
        raise click.UsageError("--set builds the whole memo of one params file, and no editable copy.")
    trial = {}
    if setting:
        from fabricreport.scenario import typed_changes

        trial = typed_changes(setting, "--set")
    task = partial(
        one_client, made=made, output=output, only=only, trial=trial, draft=draft, attach=not no_attachments,
        trust_notebooks=trust_notebooks,
    )  # fmt: skip
    done, failed, notes = [], [], list[str]()
    outcomes = each_client(params, task, jobs, scheduler, output, quiet=as_json)
    for outcome in outcomes:
        if outcome.result is None:
            failed.append(_failed(outcome, as_json))
            continue
        result, dates = outcome.result
        for found in dates:
            _tell_dates(outcome.params, notes, found)
        done.append(result.as_dict())
        if not as_json:
            _say_built(result)
    index_again(output)
    if as_json:
        print_json({"ok": not failed, "built": done, "failed": failed, "notes": notes})
    return int(failed[0]["exit_code"]) if failed else 0


def _failed(outcome: Outcome[Any], as_json: bool) -> dict[str, Any]:
    """What is told of a params file that could not be built; the others are built all the same."""
    assert outcome.error is not None
    if not as_json:
        click.echo(f"Nothing was built for {outcome.params}.", err=True)
        complain(outcome.error, as_json=False)
    return {"params": str(outcome.params), **error_facts(outcome.error)}


def _tell_dates(path: Path, told: list[str], dates: Dates) -> None:
    """Say on stderr, and add to `told`, what today's date makes of the memo's and the prices' dates."""
    notes = dates_words(path, dates)
    for note in notes:
        click.echo(f"note: {note}", err=True)
    told += notes


def _say_built(result: Any) -> None:
    aside, lines = result_words(result)
    for line in aside:
        click.echo(line, err=True)
    for line in lines:
        click.echo(line)


def _say_rules(as_json: bool) -> int:
    from fabricreport.scenario import REFUSALS

    lines = [f"{rule:24} {why}" for rule, why in REFUSALS.items()]
    print_json(dict(REFUSALS)) if as_json else click.echo("\n".join(lines))
    return 0


def _say_sound(path: Path, as_json: bool) -> None:
    """Said before the analyses are tried, which takes longer than all that was read so far."""
    if not as_json:
        click.echo(f"{path}: every key, id and file is sound; trying the analyses.", err=True)


@main.command(epilog=epilog())
@click.argument("params", nargs=-1, type=click.Path(path_type=Path))
@click.option("--rules", is_flag=True, help="List the rules by which a well-formed file is refused, and why.")
@TRUST
@OUTPUT
@JSON
@told
def check(params: Sequence[Path], rules: bool, trust_notebooks: bool, output: Path, as_json: bool) -> int:
    """Validate PARAMS files, everything they name and the prose cells of their notebooks; build nothing.
    Of editions instead (a folder, <client> or <client>/<edition>): prove each whole, and say who signed it."""
    if rules:
        return _say_rules(as_json)
    if not params:
        raise click.UsageError("Missing argument 'PARAMS...'.")
    if (code := check_editions(params, output, as_json)) is not None:
        return code
    from fabricreport.memo.run.overlay import OwnNotebooks
    from fabricreport.memo.run.plan import checked
    from fabricreport.memo.run.recall import Places

    problems: list[Problem] = []
    remarks: list[str] = []
    for path in params:
        places = Places.of(path, trusted=trust_notebooks)
        found = checked(path, places, trying=partial(_say_sound, path, as_json))
        problems += (p for p in found.problems if p not in problems)  # several params files share their books
        remarks += [note if note.startswith(f"{path}:") else f"{path}: {note}" for note in found.notes]
        if found.case is not None and found.loaded is not None and not found.problems:
            from fabricreport.check.plausibility import cautions, dates_of

            own = OwnNotebooks(found.loaded, places)
            problems += (p for p in own.faults() if p not in problems)
            if outside := ", ".join(map(str, own.outside())):
                remarks.append(f"{path}: a build runs these notebooks, which are not the package's: {outside}")
            remarks += [caution.placed(found.loaded) for caution in cautions(found.case)]
            remarks += [f"{path}: {note}" for note in dates_of(found.case).notes(date.today())]
    if as_json:
        print_json({"ok": not problems, "problems": [p.as_dict() for p in problems], "notes": remarks})
        return InputError.exit_code if problems else 0
    for remark in remarks:
        click.echo(f"note: {remark}", err=True)
    if problems:
        raise InputError(problems)
    click.echo(f"{len(params)} params file{'s' if len(params) > 1 else ''} checked: nothing to mend.")
    return 0


@main.command(epilog=epilog())
@click.argument("name", required=False, default="")
@click.option(
    "--project",
    is_flag=False,
    flag_value=".",
    default=None,
    metavar="[FOLDER]",
    type=click.Path(file_okay=False, path_type=Path),
    help="Begin a project in FOLDER (here, if left out) instead: notebooks, params, prices; keeps every file that is there.",
)
@click.option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("params"),
    show_default=True,
    help="Folder to write it into.",
)
@click.option("--as-of", type=DAY, default=None, help="Date of the memo.  [default: the newest price's date]")
@click.option(
    "--section", metavar="SECTION", default="", help="Begin a notebook of the client of --params alone instead."
)
@click.option("--params", type=click.Path(path_type=Path), default=None, help="Whose notebook it is.")
@told
def new(name: str, project: Path | None, folder: Path, as_of: date | None, section: str, params: Path | None) -> int:
    """Write a commented params file for the client NAME, ready to edit; or lay out a project, or begin a client's own notebook."""
    if [bool(name), project is not None, bool(section and params)].count(True) != 1 or bool(section) != bool(params):
        raise click.UsageError("Give the NAME of a client, or --project. With --section, give --params.")
    if params is not None:
        from fabricreport.memo.run.beginnings import begin_section

        click.echo(begin_section(section, params))
        return 0
    if project is not None:
        return _new_project(project)
    from fabricreport.base.project import book_folder
    from fabricreport.books.prices.book import PriceBook
    from fabricreport.scenario import new_params, slugify

    target = folder / f"{slugify(name)}.yaml"
    if target.exists():
        raise InputError(
            Problem("is already there", file=str(target), remedy="Choose another name, or edit that file.")
        )
    book = None if as_of else PriceBook.read(book_folder(folder.resolve(), "prices"))
    day, why = _first_date(as_of, book.newest if book else None)
    for remark in book.remarks if book else ():
        click.echo(f"note: {remark}", err=True)
    text = new_params(name, day, has_schema=(folder / "params.schema.json").is_file())
    folder.mkdir(parents=True, exist_ok=True)
    with target.open("x", encoding="utf-8") as handle:
        handle.write(text)
    click.echo(f"Wrote {target}, dated {day}, {why}; today is {date.today()}.")
    click.echo(f"Edit it, then: fabricreport check {target} and fabricreport build {target}")
    return 0


def _new_project(folder: Path) -> int:
    from fabricreport.base.project import lay_out

    try:
        written, kept = lay_out(folder)
    except OSError as error:
        message = f"cannot be written ({error.strerror or error})"
        problem = Problem(
            message, str(error.filename or folder), remedy="Name another folder, or move away what is there."
        )
        raise InputError(problem) from error
    click.echo(f"Wrote {len(written)} files into {folder / 'notebooks'}, {folder / 'params'} and {folder / 'output'}.")
    if kept:
        click.echo(f"Kept as they were: {', '.join(kept)}.")
    if folder.resolve() != Path.cwd():
        click.echo(f"Next: cd {shlex.quote(str(folder))}")
    click.echo('Then: fabricreport new "Acme Robotics", or fabricreport build params/example.yaml')
    return 0


def _first_date(asked: date | None, newest: date | None) -> tuple[date, str]:
    """The date of a new file and why that one: as asked, else the newest price's, else today's."""
    if asked is not None:
        return asked, "as you asked"
    return (newest, "the newest price's date") if newest is not None else (date.today(), "for there is no price yet")


@main.command(epilog=epilog())
@click.argument("entry_id", metavar="ID")
@click.option(
    "--edition",
    default="",
    help="An edition's folder, <client> or <client>/<edition>.  [default: the only client's newest]",
)
@click.option(
    "--params",
    type=click.Path(path_type=Path),
    default=None,
    help="Where to work out a figure that the edition does not print.  [default: the client's, beside the output]",
)
@OUTPUT
@JSON
@told
def explain(entry_id: str, edition: str, params: Path | None, output: Path, as_json: bool) -> int:
    """Print the chain from the number ID (or an input's id) to its sources; one that is not printed is worked out."""
    from fabricreport.memo.editions.explanation import explain as explain_entry
    from fabricreport.memo.editions.explanation import find_edition, read_ledger

    found = explain_entry(read_ledger(find_edition(output, edition)), entry_id, params, output)
    print_json(found.as_dict()) if as_json else click.echo(found.as_text())
    return 0


@main.command(epilog=epilog())
@click.argument("logs", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="LOG...")
@click.option("--ranks", type=click.IntRange(1), default=None, help="Ranks the run claims.  [default: as the log says]")
@click.option("--nic-gbytes-per-s", type=float, default=None, help="NIC rate per GPU, for the check against the cap.")
@click.option("--gpus-per-node", type=click.IntRange(1), default=None, help="GPUs in a node, for the same check.")
@JSON
@told
def measure(
    logs: Sequence[Path], ranks: int | None, nic_gbytes_per_s: float | None, gpus_per_node: int | None, as_json: bool
) -> int:
    """Read benchmark logs (nccl-tests, perftest, all_reduce_bench), print curves and findings.

    A finding marked error, where a log contradicts itself or what is claimed of it, ends with exit code 2.
    """
    from fabricreport.books.logs.measurements import measure_report

    report = measure_report(logs, ranks=ranks, nic_gbytes_per_s=nic_gbytes_per_s, gpus_per_node=gpus_per_node)
    print_json(report.as_dict()) if as_json else click.echo(report.text())
    return 0 if report.ok else InputError.exit_code


@main.command(epilog=epilog())
@click.argument("models", nargs=-1, metavar="[MODEL]...")
@JSON
@told
def validate(models: Sequence[str], as_json: bool) -> int:
    """Recompute the models' validation cards: published figure beside ours. `purchases`: purchases of others, in hindsight.
    `price-guard`: which prices of the past are held, and which wrong ones are not."""
    from fabricreport.report import hindsight
    from fabricreport.validation import price_guard
    from fabricreport.validation.cards import card_dict, card_text, cards

    forms = {
        hindsight.NAME: (hindsight.purchases_dict, hindsight.purchases_text),
        price_guard.NAME: (price_guard.guard_dict, price_guard.guard_text),
    }
    chosen, beside = cards(models), [form for name, form in forms.items() if not models or name in models]
    if as_json:
        print_json([*(card_dict(c) for c in chosen), *(plain() for plain, _ in beside)])
    else:
        click.echo("\n\n".join([*(card_text(c) for c in chosen), *(text() for _, text in beside)]))
    return 0


_HISTORY, _BOOKS = (refresh, accept, list_, sign, adopt, diff), (prices, report, elicit, evidence)
for command in (preview, what_if, *_HISTORY, *_BOOKS, quotes, trace, questionnaire, answers):
    main.add_command(command)
