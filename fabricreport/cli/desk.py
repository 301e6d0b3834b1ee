"""Commands at the desk: `questionnaire`, `answers`, `quotes`, `trace`, and `accept`, which judges a delivery."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fabricreport.base.errors import InputError, Problem
from fabricreport.base.files import writing
from fabricreport.cli.books import default_folder
from fabricreport.cli.options import CLIENT, EXIT_CODES, JSON, OUTPUT, TRUST, epilog, print_json, told

if TYPE_CHECKING:
    from fabricreport.desk.filing import QuotesReport


_KINDS = (".xlsx", ".yaml", ".yml")


@click.command(epilog=epilog())
@CLIENT
@click.option("--provider", metavar="NAME", required=True, help="The seller to ask, by any name up to 80 characters.")
@click.option("--output", type=click.Path(dir_okay=False, path_type=Path), default=None, metavar="FILE",
              help="File to write, .xlsx or .yaml.  [default: questionnaires/<client>/<provider>.xlsx]")  # fmt: skip
@JSON
@told
def questionnaire(params: Path, provider: str, output: Path | None, as_json: bool) -> int:
    """Write the questions that the client of PARAMS puts to a seller, as a form to fill in: a workbook, or YAML."""
    if output is not None and output.suffix.lower() not in _KINDS:
        raise InputError(Problem("is no kind of form", str(output), remedy=f"End it in {' or '.join(_KINDS)}."))
    from fabricreport.case import open_case
    from fabricreport.desk.questionnaire import as_yaml, provider_name
    from fabricreport.desk.quotes import questionnaire_of
    from fabricreport.desk.workbooks import as_workbook
    from fabricreport.scenario import client_slug, slugify

    name = provider_name(provider)
    case = open_case(params)
    form = questionnaire_of(case, name)
    target = output or Path("questionnaires") / client_slug(case.params) / f"{slugify(name, 'provider')}.xlsx"
    data = as_workbook(form, case.as_of) if target.suffix.lower() == _KINDS[0] else as_yaml(form)
    _write({target: data}, "Name another file with --output.")
    if as_json:
        ids = [question.id for question in form.questions]
        print_json({"ok": True, "written": str(target), "provider": name, "questions": ids})
        return 0
    click.echo(f"Wrote {target}: {len(form.questions)} questions for {name}")
    click.echo(f"Then: fabricreport answers {target} --params {params}")
    return 0


def _write(forms: Mapping[Path, bytes], remedy: str) -> None:
    """Write forms, none over one that is there and may be filled in; `remedy`: what to do then."""
    if there := [path for path in forms if path.exists()]:
        raise InputError([Problem("is already there", str(path), remedy=remedy) for path in there])
    for path, data in forms.items():
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("xb") as handle:
                handle.write(data)


@click.command(epilog=epilog())
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--params", type=click.Path(path_type=Path), required=True,
              help="Params file of the client that asked; it is made to name the answers.")  # fmt: skip
@JSON
@told
def answers(file: Path, params: Path, as_json: bool) -> int:
    """Check a filled questionnaire FILE (XLSX or YAML) and file it as <client>/providers/<name>.yaml beside the params.

    The entry of that provider in the params gets `answers:`, and nothing else of them changes. Where anything is wrong
    nothing is written; the same answers twice change nothing.
    """
    from fabricreport.desk.answers import file_answers

    filed = file_answers(file, params)
    if as_json:
        print_json(filed.as_dict())
        return 0
    for note in filed.notes:
        click.echo(f"note: {note}", err=True)
    if not filed.named:
        click.echo(f"note: {params} could not be edited safely; write into it, {filed.line}", err=True)
    count = len(filed.questions)
    for path in filed.changed:
        click.echo(f"wrote {path}")
    click.echo(
        f"{count} answer{'s' if count > 1 else ''} of {filed.provider} in {filed.file}"
        + ("" if filed.changed else ", as before")
    )
    return 0


class _Quotes(click.Group):
    """A group whose first command needs no name: `quotes PARAMS` is `quotes ask PARAMS`."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in self.commands:
            return "ask", self.commands["ask"], args
        return super().resolve_command(ctx, args)


@click.group(cls=_Quotes, epilog=EXIT_CODES, context_settings={"ignore_unknown_options": True})
def quotes() -> None:
    """Write the forms on which sellers quote for a client's bill of materials, and file their answers as prices.

    `fabricreport quotes PARAMS` is short for `fabricreport quotes ask PARAMS`.
    """


@quotes.command(name="ask", epilog=epilog())
@CLIENT
@click.option("--output", type=click.Path(file_okay=False, path_type=Path), default=None,
              help="Folder of the forms.  [default: quotes/<client>]")  # fmt: skip
@JSON
@told
def ask(params: Path, output: Path | None, as_json: bool) -> int:
    """Write a form for every option of PARAMS, as CSV and XLSX: what it takes, and three quotes to fill in for each piece."""
    from fabricreport.books.quotes import as_csv
    from fabricreport.case import open_case
    from fabricreport.desk.quotes import as_workbook, requests_of
    from fabricreport.scenario import client_slug

    case = open_case(params)
    requests = requests_of(case)
    folder = output or Path("quotes") / client_slug(case.params)
    forms = {folder / f"{r.option}.{end}": data for r in requests for end, data in
             (("csv", as_csv(r.lines)), ("xlsx", as_workbook(r.lines, case.as_of)))}  # fmt: skip
    _write(forms, "Name another folder with --output, or delete the forms.")
    if as_json:
        lines = {r.option: [line.item for line in r.lines] for r in requests}
        print_json({"ok": True, "written": [str(path) for path in forms], "requests": lines})
        return 0
    for request in requests:
        click.echo(f"{request.name}: {len(request.lines)} pieces, {folder / request.option}.csv and .xlsx")
    click.echo(f"Then: fabricreport quotes import FILE --params {params}")
    return 0


@quotes.command(name="import", epilog=epilog())
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--params", type=click.Path(path_type=Path), default=None,
              help="Params file whose bill was asked for: quantities and terms are checked, and only this client's memos"
              " use the prices.")  # fmt: skip
@click.option("--shared", is_flag=True, help="File them among the prices that all clients share: those beside PARAMS, else"
              " prices or params/prices here.")  # fmt: skip
@JSON
@told
def import_(file: Path, params: Path | None, shared: bool, as_json: bool) -> int:
    """File the quotes of a filled form FILE (CSV or XLSX) as prices of grade quote; the same form twice is filed once."""
    from fabricreport.desk.filing import import_quotes

    if params is None and not shared:
        message = "a quote is made to one client, and no client is named"
        remedy = "Name the client's params with --params, or share the prices among all clients with --shared."
        raise InputError(Problem(message, str(file), remedy=remedy))
    asked = _asked(params) if params else _stated()
    report = _shared(file, asked) if shared else import_quotes(file, **asked)
    print_json(report.as_dict()) if as_json else click.echo(report.text())
    return 0 if report.ok else InputError.exit_code


def _shared(file: Path, asked: dict[str, Any]) -> QuotesReport:
    """File quotes among the prices that all clients share, and tell whose memos they move."""
    from fabricreport.desk.filing import Moved, import_quotes
    from fabricreport.desk.quotes import cases_beside, moved

    folder = asked["shared"] or asked["folder"]
    cases = cases_beside(folder)
    report = import_quotes(file, **asked | {"folder": folder, "shared": None})
    found = [Moved(name, str(c.params.client.name), moved(c, report.items)) for name, c in cases.items() if c]
    notes = [
        f"{name}, beside these prices, cannot be read: see `fabricreport check`" for name, c in cases.items() if not c
    ]
    return replace(report, notes=(*report.notes, *notes), moves=tuple(m for m in found if m.items))


def _asked(params: Path) -> dict[str, Any]:
    """What the params of a client ask for, and where their prices are read: its own and those that all clients share."""
    from fabricreport.base.project import filing_folder, folder_to_file_in
    from fabricreport.case import open_case
    from fabricreport.desk.quotes import requests_of
    from fabricreport.scenario import client_slug

    case = open_case(params)
    lines = [line for request in requests_of(case) for line in request.lines]
    beside = params.resolve().parent
    own = folder_to_file_in(beside, client_slug(case.params), "prices")
    return {"folder": own, "shared": filing_folder(beside, "prices"), "asked": lines, "items": {}, "as_of": case.as_of}


def _stated() -> dict[str, Any]:
    """What is known of every option without a client's params, and the price files that a build from here would read."""
    from fabricreport.base.project import book_folder, filing_folder
    from fabricreport.books.options import read_options
    from fabricreport.books.prices.book import PriceBook
    from fabricreport.books.quotes import lines_of
    from fabricreport.inputs.dossier import if_there

    folder = default_folder()
    book = PriceBook.read(folder)
    options = read_options(if_there(book_folder(folder.resolve().parent, "options")))
    items = {o: lines_of(option, book) for o, option in options.items()}
    return {"folder": filing_folder(Path(), "prices"), "shared": None, "asked": None, "items": items, "as_of": None}


@click.command(epilog=epilog("An id that no question has ends with 2 and the nearest."))
@click.argument("question", metavar="QUESTION")
@CLIENT
@click.option("--output", type=click.Path(file_okay=False, path_type=Path), default=Path("output"), show_default=True,
              help="Folder that holds all editions, and what tests found.")  # fmt: skip
@JSON
@told
def trace(question: str, params: Path, output: Path, as_json: bool) -> None:
    """Follow QUESTION (Q-NET-07, or its former name) for the client of PARAMS.

    What is asked, what each seller answered, on what evidence, which inputs and numbers that moves, the clause as it stands,
    the tests that hold a seller to it, and their result.
    """
    from fabricreport.case import open_case
    from fabricreport.desk.trace import question_of
    from fabricreport.desk.trace import trace as follow

    question_of(question)  # an id that is wrong is told before the models run
    found = follow(open_case(params), question, output)
    print_json(found.as_dict()) if as_json else click.echo(found.as_text())


_JUDGED = "A delivery that is judged ends with 0 whatever the verdict, which --json tells."


@click.command(epilog=epilog(_JUDGED))
@CLIENT
@click.option("--logs", "first", required=True, multiple=True, type=click.Path(path_type=Path), metavar="LOG...",
              help="Logs of nccl-tests and perftest, YAML files of what no benchmark prints, or folders of them.")  # fmt: skip
@click.argument("more", nargs=-1, type=click.Path(path_type=Path), metavar="")
@click.option("--option", default="", metavar="ID",
              help="The option that was delivered, where the advice is open between two.  [default: the advised one]")  # fmt: skip
@TRUST
@OUTPUT
@JSON
@told
def accept(
    params: Path,
    first: Sequence[Path],
    more: Sequence[Path],
    option: str,
    trust_notebooks: bool,
    output: Path,
    as_json: bool,
) -> int:
    """Judge LOG... against the acceptance plan of PARAMS: pass, fail or not proven per test, the credit, the decision again.

    Writes acceptance.pdf, acceptance.html and acceptance.json into OUTPUT/<client>/acceptance/.
    """
    from fabricreport.delivery.delivery import deliver

    done = deliver(params, [*first, *more], output=output, option=option, trusted=trust_notebooks)
    if as_json:
        print_json({"ok": True, "folder": str(done.folder), "messages": list(done.messages), **done.facts})
        return 0
    for message in done.messages:
        click.echo(message, err=True)
    for line in _lines(done.facts):
        click.echo(line)
    click.echo(f"Wrote {done.folder / 'acceptance.pdf'}, .html and .json")
    return 0


def _lines(facts: Mapping[str, Any]) -> list[str]:
    """The verdict, the tests that do not pass, the credit and the decision, for a terminal."""
    counts = ", ".join(f"{count} {verdict}" for verdict, count in facts["counts"].items())
    lines = [f"{facts['client']}, {facts['option']}: {facts['verdict']} ({counts})"]
    for test in facts["tests"]:
        if test["verdict"] != "pass":
            lines.append(f"  {test['id']:16} {test['gpus']:>7,} GPUs  {test['verdict']:10}  {test['reason']}")
    before, after = facts["before"], facts["after"]
    lines.append(f"Credit due: {facts['credit']:,.0f} {facts['currency']}")
    lines.append(
        f"Lead over {before['rival']}: {before['lead']:,.0f} before, {after['lead']:,.0f} after, {facts['currency']};"
        f" {'still' if after['advised'] else 'not'} advised"
    )
    return lines
