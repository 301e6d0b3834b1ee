"""Where the package and what ships beside it lie, which folder is a client's project, and where a book is read from.

What ships is at the top of the repository in a checkout, and inside the package where that is installed. A project's own
files go before it, file by file.
"""

from __future__ import annotations

from pathlib import Path

from fabricreport.base.errors import InputError, Problem

PACKAGE = Path(__file__).resolve().parents[1]
FONTS = PACKAGE / "fonts"
_CARRIED = PACKAGE / "shipped"
IS_INSTALLED = _CARRIED.is_dir()
"""Whether this is a package as installed, into which nobody writes, and no checkout."""
SHIPPED = _CARRIED if IS_INSTALLED else PACKAGE.parent
PARAMS = SHIPPED / "params"
"""The shipped params, with the books that a client without its own reads."""
RENTS = PARAMS / "prices" / "gpu_hours.csv"
"""The shipped history of rents, by which the guard of prices is tried."""


def project_of(folder: Path) -> Path:
    """The project of a folder, of params files or of notebooks: the one above where it is called so, else itself."""
    folder = folder.absolute()
    return folder.parent if folder.name in ("params", "notebooks") else folder


def book_folder(params_folder: Path, name: str, shared: Path = PARAMS) -> Path:
    """Where a book is read from: the folder beside the params file, else that in its project's `params/`, else that of
    `shared`; it need not exist.

    A link counts as the client's own even if it leads nowhere, so that whoever reads it can refuse it.
    """
    for own in (params_folder / name, project_of(params_folder) / "params" / name):
        if own.is_dir() or own.is_symlink():
            return own
    return shared / name


def filing_folder(params_folder: Path, name: str) -> Path:
    """Where a command files what it adds to a book: where the book is read from, but never into the package as installed."""
    found = book_folder(params_folder, name)
    return project_of(params_folder) / "params" / name if IS_INSTALLED and found.is_relative_to(PACKAGE) else found


def shipped_files() -> tuple[str, ...]:
    """What a project begins with: the files below `SHIPPED` that the package carries as installed, by their relative names."""
    if IS_INSTALLED:
        return tuple(sorted(path.relative_to(SHIPPED).as_posix() for path in SHIPPED.rglob("*") if path.is_file()))
    import tomllib

    settings = tomllib.loads((SHIPPED / "pyproject.toml").read_text(encoding="utf-8"))
    named = [str(name).removeprefix("/") for name in settings["tool"]["hatch"]["build"]["include"]]
    return tuple(name for name in named if name != PACKAGE.name)


def lay_out(folder: Path) -> tuple[list[str], list[str]]:
    """Begin a project in a folder, which is made: the shipped files by name that were written, and those kept as they were.

    Nothing that is there is replaced, links included. `OSError` passes.
    """
    written, kept = list[str](), list[str]()
    for name in shipped_files():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.exists() or target.is_symlink():
            kept.append(name)
            continue
        with target.open("xb") as handle:
            handle.write((SHIPPED / name).read_bytes())
        written.append(name)
    return written, kept


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
