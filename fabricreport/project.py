"""Where the package and the project's own books lie, and which folder a client's case reads instead."""

from __future__ import annotations

from pathlib import Path

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
