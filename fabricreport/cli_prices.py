"""`fabricreport prices`: show, check and import the price book, and settle what it holds."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from fabricreport.cli_shared import DAY, EXIT_CODES, JSON, epilog, print_json, told
from fabricreport.errors import InputError
from fabricreport.project import book_folder, filing_folder

if TYPE_CHECKING:
    from fabricreport.books.prices.book import PriceBook


def default_folder() -> Path:
    """The folder that a build of a params file here would read: `prices` or `params/prices` here, else the one shipped."""
    return book_folder(Path(), "prices")


PRICES = click.option(
    "--folder", type=click.Path(file_okay=False, path_type=Path), default=default_folder,
    help="Folder of price files.  [default: prices or params/prices here, else those shipped]",
)  # fmt: skip


@click.group(epilog=EXIT_CODES)
def prices() -> None:
    """Show, check and import the price book, and settle held prices."""


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


def _settling(verdict: Literal["accept", "reject"]) -> None:
    """The command that settles a held row one way."""

    @prices.command(name=verdict, epilog=epilog())
    @click.argument("item")
    @click.option("--who", required=True, help="Who decides.")
    @click.option("--why", required=True, help="On what grounds.")
    @click.option("--params", type=click.Path(path_type=Path), default=None,
                  help="Decide for this client alone.  [default: for all who read these prices]")  # fmt: skip
    @click.option(
        "--date", "row_date", type=DAY, default=None, help="The row of this day.  [default: the newest that is held]"
    )
    @PRICES
    @JSON
    @told
    def settle_(
        item: str, who: str, why: str, params: Path | None, row_date: date | None, folder: Path, as_json: bool
    ) -> int:
        from fabricreport.books.prices.verdicts import settle

        book, beside = _own_book(params) if params else _shared_book(folder)
        found = settle(book, beside, item, verdict, who=who, why=why, on=date.today(), row_date=row_date)
        facts = {
            "ok": True,
            "item": found.decision.item,
            "verdict": verdict,
            "file": found.file,
            "left": len(found.left),
        }
        print_json(facts) if as_json else click.echo(found.text())
        return 0

    settle_.help = (
        "Use the held price of ITEM, and judge the next by it." if verdict == "accept"
        else "Never use the held price of ITEM, and ask no more."
    )  # fmt: skip


_settling("accept")
_settling("reject")


def _shared_book(folder: Path) -> tuple[PriceBook, Path]:
    """The prices that all clients share, and where what is decided of them is kept."""
    from fabricreport.books.prices.book import PriceBook

    return PriceBook.read(folder), folder


def _own_book(params: Path) -> tuple[PriceBook, Path]:
    """The prices that one client reads, and the folder of its own in which its decisions are kept."""
    from fabricreport.given import read_params, read_prices
    from fabricreport.project import folder_to_file_in

    loaded = read_params(params)
    return read_prices(loaded.folder, loaded.slug), folder_to_file_in(loaded.folder.resolve(), loaded.slug, "prices")


def _day(folder: Path, as_of: date | None) -> date:
    """The day asked for, else the newest date in the folder."""
    from fabricreport.books.prices.book import PriceBook

    return as_of or PriceBook.read(folder).newest or date.max
