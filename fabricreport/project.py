"""Where the package and the project's own books lie, and which folder a client's case reads instead."""

from __future__ import annotations

from pathlib import Path

from fabricreport.errors import InputError, Problem

PACKAGE = Path(__file__).resolve().parent
PROJECT = PACKAGE.parent
PARAMS = PROJECT / "params"
"""The shipped params, with the books that a client without its own reads."""


def book_folder(params_folder: Path, name: str, shared: Path = PARAMS) -> Path:
    """Where a book is read from: the folder beside the params file, else that of `shared`; it need not exist.

    A link counts as the client's own even if it leads nowhere, so that whoever reads it can refuse it.
    """
    own = params_folder / name
    return own if own.is_dir() or own.is_symlink() else shared / name


FOLDERS = frozenset({
    "acceptance", "as-delivered", "elicited", "evidence", "fabricreport", "logs", "notebooks", "offers", "options", "output",
    "params", "prices", "providers", "questionnaires", "quotes", "tests",
})  # fmt: skip
"""Folders that mean something beside a params file, or where one may stand: no client's own may have their names."""


def has_a_meaning(name: str) -> bool:
    """Whether a folder of this name beside a params file is something else than a client's own."""
    return name in FOLDERS or name.startswith("as-delivered-")


def client_folder(params_folder: Path, slug: str, part: str) -> Path:
    """The folder beside the params file that only the client of this slug uses, and in it that of its prices, its
    providers' answers, its experts' (`prices`, `providers`, `elicited`); it need not exist."""
    return params_folder / slug / part


def folder_to_file_in(params_folder: Path, slug: str, part: str) -> Path:
    """The same folder to put files into; `InputError` where a link stands in place of it."""
    found = client_folder(params_folder, slug, part)
    for folder in (found.parent, found):
        if folder.is_symlink():
            raise InputError(Problem("is a symbolic link", str(folder), remedy="Put a folder in its place."))
    return found
