"""`fabricreport quotes`: write what to ask sellers for, and file what they answer as prices."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fabricreport.cli_prices import default_folder
from fabricreport.cli_shared import EXIT_CODES, JSON, epilog, print_json, told
from fabricreport.errors import InputError, Problem

if TYPE_CHECKING:
    from fabricreport.books.quotes.report import QuotesReport


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
@click.argument("params", type=click.Path(path_type=Path))
@click.option("--output", type=click.Path(file_okay=False, path_type=Path), default=None,
              help="Folder of the forms.  [default: quotes/<client>]")  # fmt: skip
@JSON
@told
def ask(params: Path, output: Path | None, as_json: bool) -> int:
    """Write a form for every option of PARAMS, as CSV and XLSX: what it takes, and three quotes to fill in for each piece."""
    from fabricreport.books.quotes.form import as_csv
    from fabricreport.books.quotes.workbook import as_workbook
    from fabricreport.case import open_case
    from fabricreport.quoting import requests_of
    from fabricreport.scenario import client_slug

    case = open_case(params)
    requests = requests_of(case)
    folder = output or Path("quotes") / client_slug(case.params)
    forms = {folder / f"{r.option}.{end}": data for r in requests for end, data in
             (("csv", as_csv(r.lines)), ("xlsx", as_workbook(r.lines, case.as_of)))}  # fmt: skip
    _write(folder, forms)
    if as_json:
        lines = {r.option: [line.item for line in r.lines] for r in requests}
        print_json({"ok": True, "written": [str(path) for path in forms], "requests": lines})
        return 0
    for request in requests:
        click.echo(f"{request.name}: {len(request.lines)} pieces, {folder / request.option}.csv and .xlsx")
    click.echo(f"Then: fabricreport quotes import FILE --params {params}")
    return 0


def _write(folder: Path, forms: dict[Path, bytes]) -> None:
    """Write the forms, none over one that is there and may be filled in."""
    if there := [path for path in forms if path.exists()]:
        remedy = "Name another folder with --output, or delete the forms."
        raise InputError([Problem("is already there", str(path), remedy=remedy) for path in there])
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, data in forms.items():
            with path.open("xb") as handle:
                handle.write(data)
    except OSError as error:
        message = f"cannot be written ({error.strerror or error})"
        raise InputError(Problem(message, str(folder), remedy="Check the folder and disk.")) from error


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
    from fabricreport.books.quotes.report import import_quotes

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
    from fabricreport.books.quotes.report import Moved, import_quotes
    from fabricreport.quoting import cases_beside, moved

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
    from fabricreport.case import open_case
    from fabricreport.project import filing_folder, folder_to_file_in
    from fabricreport.quoting import requests_of
    from fabricreport.scenario import client_slug

    case = open_case(params)
    lines = [line for request in requests_of(case) for line in request.lines]
    beside = params.resolve().parent
    own = folder_to_file_in(beside, client_slug(case.params), "prices")
    return {"folder": own, "shared": filing_folder(beside, "prices"), "asked": lines, "items": {}, "as_of": case.as_of}


def _stated() -> dict[str, Any]:
    """What is known of every option without a client's params, and the price files that a build from here would read."""
    from fabricreport.books.options import read_options
    from fabricreport.books.prices.book import PriceBook
    from fabricreport.books.quotes.form import lines_of
    from fabricreport.given import if_there
    from fabricreport.project import book_folder, filing_folder

    folder = default_folder()
    book = PriceBook.read(folder)
    options = read_options(if_there(book_folder(folder.resolve().parent, "options")))
    items = {o: lines_of(option, book) for o, option in options.items()}
    return {"folder": filing_folder(Path(), "prices"), "shared": None, "asked": None, "items": items, "as_of": None}
