"""`fabricreport check`: everything a memo will read is read once, and every fault of it is told with its place.

A build and a refresh ask the same function first, so a section has nothing left to find in the user's files. Params that
are refused as they stand are refused here, before the analyses are loaded.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from fabricreport.base.errors import Problem
from fabricreport.base.project import book_folder
from fabricreport.inputs.dossier import read_given, read_prices

if TYPE_CHECKING:
    from fabricreport.case import Case
    from fabricreport.scenario import ParamsFile


@dataclass(frozen=True)
class Checked:
    """What a check found: `problems` stop a build; `notes` are allowed and worth a sentence.

    `case` is the one that was tried, of the params file `loaded`.
    """

    problems: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()
    case: Case | None = field(default=None, compare=False, repr=False)
    loaded: ParamsFile | None = field(default=None, compare=False, repr=False)


def check(
    path: Path, *, as_of: date | None = None, trying: Callable[[], None] | None = None, going_on: bool = False
) -> Checked:
    """Read a params file, its books, the answers and the logs it names, and try the analyses on what is the client's own.

    `as_of` replaces the date of the params. `trying` is called once the files are known to be sound, before the analyses
    are tried; where it is given they are tried in any case. `going_on`: a row of a price file that is no price is held, and
    no fault, as a refresh has it. Nothing is raised for what is wrong in the files.
    """
    given = read_given(path, as_of)
    malformed = given.prices.problems if given.prices and not going_on else ()
    if given.loaded is None:
        return Checked((*given.problems, *malformed))
    from fabricreport.check.examination import examined

    return Checked(*examined(given, given.loaded, malformed, trying=trying), given.loaded)


@dataclass(frozen=True)
class BookDay:
    """The day a price book tells of (None: of none), and what to tell of dates that were not followed."""

    day: date | None = None
    notes: tuple[str, ...] = ()


def book_day(folder: Path, slug: str, shared: Path) -> BookDay:
    """The day that the prices of a client set whose params lie in `folder`; a link, or no folder of prices, sets none,
    for no build reads it."""
    prices = book_folder(folder, "prices", shared)
    if prices.is_symlink() or not prices.is_dir():
        return BookDay()
    book = read_prices(folder, slug, shared)
    return BookDay(book.newest, book.remarks)
