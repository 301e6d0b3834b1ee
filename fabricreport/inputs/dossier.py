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

from fabricreport.base.errors import InputError, Problem
from fabricreport.base.project import PARAMS, book_folder, client_folder
from fabricreport.base.yaml_files import inspect_yaml, read_tree
from fabricreport.books.equipment import families
from fabricreport.books.evidence import EvidenceBook, read_evidence
from fabricreport.books.options import Option, read_options
from fabricreport.books.prices.book import PriceBook

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


def read_given(path: Path, as_of: date | None = None, shared: Path = PARAMS) -> Given:
    """Read a params file (YAML, or the canonical JSON of a build) and its books; `as_of` replaces the file's date.

    A book that is not beside the file, or in its project, is that of `shared`.

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
    faults += _of_two_clients(loaded, folder) if loaded else []
    library = read(read_evidence, if_there(book_folder(folder, "evidence", shared)))
    prices = read(read_prices, folder, loaded.slug if loaded else "", shared)
    options = read(read_options, if_there(book_folder(folder, "options", shared)))
    return Given(folder, loaded, library, prices, options, tuple(faults))


def _of_two_clients(loaded: ParamsFile, folder: Path) -> list[Problem]:
    """A fault where the client's own folder is there, and a client of another name beside these params would read it too."""
    from fabricreport.scenario import slugify

    slug, name = loaded.slug, loaded.params.client.name
    key = ("client", "slug" if loaded.params.client.slug else "name")
    beside = sorted(folder.glob("*.yaml")) if (folder / slug).is_dir() else []
    for path in beside:
        tree = inspect_yaml(path)[0] if path.is_file() and path.name != loaded.path.resolve().name else None
        client = tree.data.get("client") if tree is not None and isinstance(tree.data, dict) else None
        other = client.get("name") if isinstance(client, dict) else None
        if not isinstance(client, dict) or not isinstance(other, str) or other.strip() == name:
            continue
        if (client.get("slug") or slugify(other)) == slug:
            message = f"would share the folder {slug}/, its quotes and its editions with another client, of {path.name}"
            remedy = f"Give one of the two a slug of its own: `slug: {slug}-2` under `client`."
            return [loaded.located.problem(key, message, value=slug, remedy=remedy)]
    return []


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
