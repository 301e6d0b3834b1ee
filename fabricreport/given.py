"""What a client gives: the params file and the books beside it, each read once, with the faults of all of them.

Neither the models nor numpy are needed to read it, and the schema only for a params file that can be read at all: a
refusal costs no more than the reading.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from fabricreport.books.evidence import EvidenceBook, read_evidence
from fabricreport.books.families import families
from fabricreport.books.options import Option, read_options
from fabricreport.books.prices.book import PriceBook
from fabricreport.errors import InputError, Problem
from fabricreport.project import PARAMS, book_folder, client_folder
from fabricreport.strict_yaml import read_tree

if TYPE_CHECKING:
    from fabricreport.scenario import ParamsFile

Found = TypeVar("Found")


@dataclass(frozen=True)
class Given:
    """The params file and the books of the folder `folder`; what is None has faults, and `problems` lists them all."""

    folder: Path
    loaded: ParamsFile | None
    library: EvidenceBook | None
    prices: PriceBook | None
    options: dict[str, Option] | None
    problems: tuple[Problem, ...]

    @property
    def fabrics(self) -> tuple[str, ...]:
        """The ids for which a seller's answers may speak: of options and of families."""
        return tuple(dict.fromkeys((*(self.options or ()), *families())))


def read_given(path: Path, as_of: date | None = None) -> Given:
    """Read a params file (YAML, or the canonical JSON of a build) and its books; `as_of` replaces the file's date.

    Nothing is raised for what is wrong in them.
    """
    faults: list[Problem] = []

    def read(reader: Callable[..., Found], *given: Any) -> Found | None:
        try:
            return reader(*given)
        except InputError as error:
            faults.extend(error.problems)
            return None

    folder = path.resolve().parent
    loaded = read(read_params, path, as_of)
    library = read(read_evidence, if_there(book_folder(folder, "evidence")))
    prices = read(read_prices, folder, loaded.slug if loaded else "")
    options = read(read_options, if_there(book_folder(folder, "options")))
    return Given(folder, loaded, library, prices, options, tuple(faults))


def read_prices(folder: Path, slug: str, shared: Path = PARAMS) -> PriceBook:
    """The price book of the client of this slug ('': of nobody in particular) whose params lie in a folder."""
    own = client_folder(folder, slug, "prices") if slug else None
    return PriceBook.read(book_folder(folder, "prices", shared), own)


def read_params(path: Path, as_of: date | None = None) -> ParamsFile:
    """`load_params_file`, as of another day if one is given; what cannot be read at all is refused without the schema."""
    read_tree(path)
    from fabricreport.scenario import dated, load_params_file

    return dated(load_params_file(path), as_of)


def if_there(book: Path) -> Path | None:
    """The folder of a book, or None; a link that leads nowhere is there, for whoever reads it to refuse."""
    return book if book.is_dir() or book.is_symlink() else None
