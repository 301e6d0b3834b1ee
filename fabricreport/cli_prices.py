"""`fabricreport prices`: show, check and import the price book."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import click

from fabricreport.cli_shared import DAY, EXIT_CODES, JSON, epilog, print_json, told
from fabricreport.errors import InputError
from fabricreport.project import book_folder, filing_folder


def default_folder() -> Path:
    """The folder that a build of a params file here would read: `prices` or `params/prices` here, else the one shipped."""
    return book_folder(Path(), "prices")


PRICES = click.option(
    "--folder", type=click.Path(file_okay=False, path_type=Path), default=default_folder,
    help="Folder of price files.  [default: prices or params/prices here, else those shipped]",
)  # fmt: skip


@click.group(epilog=EXIT_CODES)
def prices() -> None:
    """Show, check and import the price book."""


@prices.command(name="show", epilog=epilog())
@click.argument("item", required=False)
@PRICES
@click.option("--as-of", type=DAY, default=None, help="Day to show.  [default: the newest price's date]")
@JSON
@told
def show(item: str | None, folder: Path, as_of: date | None, as_json: bool) -> int:
    """Show the prices in use on a day, or one ITEM with its history."""
    from fabricreport.books.prices.reports import show_prices

    listing = show_prices(folder, _day(folder, as_of), item)
    print_json(listing.as_dict()) if as_json else click.echo(listing.text())
    return 0


@prices.command(name="check", epilog=epilog())
@PRICES
@click.option("--as-of", type=DAY, default=None, help="Day to check for.  [default: the newest price's date]")
@JSON
@told
def check_(folder: Path, as_of: date | None, as_json: bool) -> int:
    """Check every price file: malformed rows, held prices, stale ones."""
    from fabricreport.books.prices.reports import check_prices

    report = check_prices(folder, _day(folder, as_of))
    print_json(report.as_dict()) if as_json else click.echo(report.text())
    return report.exit_code


@prices.command(name="import", epilog=epilog())
@click.argument("source")
@click.option(
    "--kind",
    type=click.Choice(["auto", "csv", "gpu-hour-history", "skypilot"]),
    default="auto",
    show_default=True,
    help="Format of the source.",
)
@click.option("--name", default=None, help="File to write, without .csv.  [default: the source's name]")
@click.option("--provider", default=None, help="Provider of a SkyPilot catalog.  [default: the file's name]")
@click.option("--as-of", type=DAY, default=None, help="Date of a feed that has none of its own.")
@click.option(
    "--folder", type=click.Path(file_okay=False, path_type=Path), default=lambda: filing_folder(Path(), "prices"),
    help="Folder of price files.  [default: prices or params/prices here]",
)  # fmt: skip
@JSON
@told
def import_(
    source: str, kind: str, name: str | None, provider: str | None, as_of: date | None, folder: Path, as_json: bool
) -> int:
    """Import prices from a path or an http(s) address SOURCE; history is kept, odd prices are held."""
    from fabricreport.books.prices.feeds import import_prices

    report = import_prices(source, kind, folder=folder, name=name, as_of=as_of, provider=provider)
    print_json(report.as_dict()) if as_json else click.echo(report.text())
    return 0 if report.ok else InputError.exit_code


def _day(folder: Path, as_of: date | None) -> date:
    """The day asked for, else the newest date in the folder."""
    from fabricreport.books.prices.book import PriceBook

    return as_of or PriceBook.read(folder).newest or date.max
