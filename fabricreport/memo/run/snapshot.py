"""One frozen copy of everything a build reads, and hashes of all that a memo depends on beside it.

    inputs/params.json        the canonical params
    inputs/prices/*.csv       beside the params file if it has such a folder, else of its project, else those shipped
    inputs/evidence/*.yaml    same rule
    inputs/options/*.yaml     same rule
    inputs/<slug>/prices/*.csv  the client's own prices, of the folder of that name beside the params file, and what a refresh
                              goes on with where a price cannot be read
    inputs/<slug>/notebooks/  the client's own notebooks without their outputs, and what lies beside and below them
    inputs/<path>             each provider's and expert's answers, each offer and measurement log, and the logo that the params name

Files are opened without following symbolic links, read once, capped in size, and hashed as they are copied.
"""

from __future__ import annotations

import errno
import hashlib
import importlib.metadata
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabricreport.base.errors import InputError, Problem
from fabricreport.base.files import MAX_FILE_BYTES, read_beneath
from fabricreport.base.project import PACKAGE, PARAMS, book_folder, client_folder
from fabricreport.base.text import visible
from fabricreport.base.version import VERSION

if TYPE_CHECKING:
    from fabricreport.books.prices.rules import PriceRow
    from fabricreport.scenario import Params


def sha256(data: bytes) -> str:
    """Hex digest."""
    return hashlib.sha256(data).hexdigest()


def canonical(value: object) -> bytes:
    """JSON with sorted keys and no spaces: equal values, equal bytes."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.encode("utf-8")


BOOKS: Mapping[str, tuple[str, ...]] = {
    "prices": (".csv", "price-decisions.yaml"),
    "evidence": (".yaml", ".yml"),
    "options": (".yaml", ".yml"),
}
OWN = "own"
"""The kind of a file that the client has for itself without naming it in the params."""
PART, OWN_NOTEBOOKS = "notebooks", "own-notebooks"
"""The client's folder of its own notebooks; the kind of one, and of a file that one may read."""
OWN_PARTS: Mapping[str, tuple[str, ...]] = {
    "prices": BOOKS["prices"],
    PART: (".ipynb", ".py", ".csv", ".tsv", ".json", ".yaml", ".txt", ".png", ".xlsx", ".parquet"),
}
"""What the client's own folder holds that the params do not name."""
LAST_GOOD = "last-good"
MAX_TOTAL_BYTES = 128_000_000
MAX_FILES = 2_000


@dataclass(frozen=True)
class InputFile:
    """One input as it was copied: its name below `inputs/`, kind (folder or `params`), sha256 and size."""

    name: str
    kind: str
    sha256: str
    size_bytes: int


@dataclass(frozen=True)
class Snapshot:
    """The frozen inputs of one build: `folder/params.json` and its neighbours.

    `origins` has the user's own path of each file, by its name below `folder`.
    """

    folder: Path
    files: tuple[InputFile, ...]
    origins: Mapping[str, Path] = field(default_factory=dict)

    @property
    def params_json(self) -> Path:
        """The canonical params file that every section is given."""
        return self.folder / "params.json"

    @property
    def hashes(self) -> dict[str, str]:
        """sha256 by name of all inputs but the params, in order of name."""
        return {f.name: f.sha256 for f in self.files if f.kind != "params"}

    @property
    def params_sha256(self) -> str:
        """sha256 of the canonical params."""
        return next(f.sha256 for f in self.files if f.kind == "params")


def take_snapshot(
    params: Params,
    params_path: Path,
    target: Path,
    *,
    project_params: Path | None = None,
    last_good: Sequence[PriceRow] = (),
) -> Snapshot:
    """Copy every input of `params` into the new folder `target` and hash it.

    `last_good` are prices to go on with where a row of the price files is malformed: they are put among the client's own.
    `InputError` names each symbolic link, special file, missing or too large file. All three book folders exist
    in the snapshot, even if empty, so that a section never looks elsewhere.
    """
    target.mkdir(parents=True)
    for name in BOOKS:
        (target / name).mkdir()
    copier = _Copier(target)
    copier.everything(params, params_path, project_params)
    if last_good:
        copier.restate(last_good, params, params_path)
    if copier.problems:
        raise InputError(copier.problems)
    return Snapshot(target, tuple(sorted(copier.files.values(), key=lambda f: f.name)), copier.origins)


def input_problems(params: Params, params_path: Path, *, project_params: Path | None = None) -> tuple[Problem, ...]:
    """What `take_snapshot` would refuse, without a copy."""
    copier = _Copier(None)
    copier.everything(params, params_path, project_params)
    return tuple(copier.problems)


class _Copier:
    """Copies files into one folder (None: reads them only) and collects what is wrong with them."""

    def __init__(self, target: Path | None) -> None:
        self.target = target
        self.files: dict[str, InputFile] = {}
        self.origins: dict[str, Path] = {}
        self.problems: list[Problem] = []
        self.total_bytes = 0

    def everything(self, params: Params, params_path: Path, project_params: Path | None) -> None:
        """The params, the three books, and each file the params name."""
        from fabricreport.scenario import OfferFile, canonical_json, client_slug

        self.put("params.json", "params", canonical_json(params).encode("utf-8"), params_path)
        shared = project_params or PARAMS
        for name, suffixes in BOOKS.items():
            self.book(book_folder(params_path.parent, name, shared), name, suffixes)
        for own in self.listed(own_names, params_path.parent, client_slug(params)):
            kind = OWN_NOTEBOOKS if own.split("/")[1] == PART else OWN
            self.copy(params_path.parent, own, own, kind)
        for provider in params.providers:
            if provider.answers:
                self.named(params_path.parent, provider.answers, "providers")
        for log in params.measurements:
            self.named(params_path.parent, log, "logs")
        for expert in params.elicited:
            self.named(params_path.parent, expert, "elicited")
        for offer in params.offers:
            if isinstance(offer, OfferFile):
                self.named(params_path.parent, offer.file, "offers")
        if params.brand and params.brand.logo:
            self.named(params_path.parent, params.brand.logo, "brand")

    def restate(self, rows: Sequence[PriceRow], params: Params, params_path: Path) -> None:
        """A price file of the client's own that holds these rows."""
        from fabricreport.books.prices.files import table_text
        from fabricreport.scenario import client_slug

        name = LAST_GOOD
        while (path := f"{client_slug(params)}/prices/{name}.csv") in self.files:
            name = f"{name}-"
        self.put(path, OWN, table_text(rows).encode(), params_path)

    def put(self, name: str, kind: str, data: bytes, origin: Path) -> None:
        self.total_bytes += len(data)
        if self.target is not None:
            path = self.target / name
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("xb") as handle:
                handle.write(data)
        self.origins[name] = origin
        self.files[name] = InputFile(name, kind, sha256(data), len(data))

    def book(self, folder: Path, name: str, suffixes: tuple[str, ...]) -> None:
        """All files of a book folder; a missing folder is an empty book."""
        for entry in self.listed(names_in, folder, suffixes):
            self.copy(folder, entry, f"{name}/{entry}", name)

    def listed(self, names: Callable[..., list[str]], folder: Path, *more: Any) -> list[str]:
        """The names that `names` finds, none where a folder cannot be had."""
        try:
            return names(folder, *more)
        except OSError as error:
            link = error.errno == errno.ELOOP
            message = "is a symbolic link" if link else f"cannot be read: {error.strerror}"
            remedy = "Put the folder itself there." if link else "Check the folder and its rights."
            self.refuse(Path(error.filename), message, remedy)
            return []

    def named(self, folder: Path, name: str, kind: str) -> None:
        """One file the params name, below the folder of the params file."""
        parts = name.split("/")
        if name.startswith("/") or "\0" in name or ".." in parts:
            self.refuse(folder / name, "lies outside the params file's folder", "Copy it there and name it so.")
            return
        clean = "/".join(p for p in parts if p not in ("", "."))
        if clean not in self.files:
            self.copy(folder, clean, clean, kind)

    def copy(self, folder: Path, relative: str, name: str, kind: str) -> None:
        shown = folder / relative
        if len(self.files) >= MAX_FILES:
            if len(self.files) == MAX_FILES:
                self.refuse(shown, f"is one file too many: a build reads at most {MAX_FILES:,}", "Remove some.")
            return
        try:
            data = source_alone(name, read_beneath(folder, relative))
        except OSError as error:
            self.refuse(shown, *_reason(error))
            return
        if self.total_bytes + len(data) > MAX_TOTAL_BYTES:
            self.refuse(shown, f"brings the inputs over {MAX_TOTAL_BYTES / 1e6:g} MB", "Shorten the logs.")
            return
        self.put(name, kind, data, shown)

    def refuse(self, path: Path, message: str, remedy: str) -> None:
        self.problems.append(Problem(message, file=str(path), remedy=remedy))


def names_in(folder: Path, suffixes: tuple[str, ...], *, deep: bool = False) -> list[str]:
    """The names of a folder's files with these endings, none if it is not there; `OSError`, ELOOP for a link in its place.
    If `deep`, those of the folders in it too."""
    if folder.is_symlink():
        raise OSError(errno.ELOOP, "is a symbolic link", str(folder))
    try:
        entries = {e.name: e for e in os.scandir(folder) if not e.name.startswith(".")}
    except FileNotFoundError:
        return []
    folders = {n for n, e in entries.items() if deep and e.is_dir() and n not in _SKIPPED_FOLDERS}
    inside = [f"{name}/{n}" for name in folders for n in names_in(folder / name, suffixes, deep=True)]
    return sorted([name for name in entries.keys() - folders if name.endswith(suffixes)] + inside)


def own_names(folder: Path, slug: str) -> list[str]:
    """The price files and notebooks that only the client of this slug reads, by their names below the folder of its params.

    `OSError`, with ELOOP for a link in place of the client's folder or of one of its parts.
    """
    names_in(folder / slug, ())
    parts = ((client_folder(folder, slug, part), suffixes) for part, suffixes in OWN_PARTS.items())
    return [f"{slug}/{at.name}/{name}" for at, ends in parts for name in names_in(at, ends, deep=at.name == PART)]


def source_alone(name: str, data: bytes) -> bytes:
    """An input as it counts: of a notebook what was written, not what running it left; all else as it is."""
    if not name.endswith(".ipynb"):
        return data
    from fabricreport.memo.run.noise import LEFT_BY_RUNS

    try:
        nb = json.loads(data)
        for cell in nb["cells"]:
            kept = {k: v for k, v in cell["metadata"].items() if k not in LEFT_BY_RUNS}
            cell |= {"metadata": kept, **({"outputs": [], "execution_count": None} if "outputs" in cell else {})}
        nb["metadata"] = {k: v for k, v in nb["metadata"].items() if k not in ("widgets", "language_info", "papermill")}
        return canonical(nb)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return data  # whoever runs it says that it is no notebook


def _reason(error: OSError) -> tuple[str, str]:
    if error.errno == errno.ENOENT:
        return "does not exist", "Mend the path in the params file, or put the file there."
    if error.errno in (errno.ELOOP, errno.ENOTDIR):
        return "is, or lies behind, a symbolic link", "Copy the file itself there."
    if error.errno in (errno.EINVAL, errno.ENXIO):
        return "is not a regular file", "Put an ordinary file there."
    if error.errno == errno.EFBIG:
        return f"is larger than {MAX_FILE_BYTES / 1e6:g} MB", "Shorten it."
    return f"cannot be read: {error.strerror}", "Check the file and its rights."


_SKIPPED_FOLDERS = frozenset({"__pycache__", "node_modules"})


@dataclass(frozen=True)
class Fingerprint:
    """What a build rests on, as sha256 hex digests; two equal fingerprints give the same memo.

    `params` is the hash of the canonical params, `inputs` and `notebooks` map relative names to hashes,
    `versions` maps library names to versions, `report` is the hash of the evidence report as the memo cites it, `since` the
    edition before, from which the memo tells what changed.
    """

    params: str
    inputs: Mapping[str, str]
    notebooks: Mapping[str, str]
    notebook_helpers: str
    package: str
    versions: Mapping[str, str]
    python: str
    seed: int
    variant: str = ""
    report: str = ""
    since: str = ""

    @property
    def digest(self) -> str:
        """One sha256 over all of it: the content hash of the edition."""
        return sha256(canonical(asdict(self)))


def tree_digest(folder: Path, *, without: Iterable[str] = (), skipping: str = "") -> str:
    """sha256 over relative names and contents of all files below; hidden ones, caches, README and its picture, `without` suffixes and the folder `skipping` left out."""
    skipped = tuple(without)
    entries = []
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        if any(p.startswith(".") or p in _SKIPPED_FOLDERS for p in parts) or parts[0] == skipping or not path.is_file():
            continue
        if path.suffix in (".pyc", *skipped) or path.name in ("README.md", "page-one.png"):
            continue
        entries.append(["/".join(parts), sha256(path.read_bytes())])
    return sha256(canonical(sorted(entries)))


def helpers_digest(notebooks: Iterable[Path]) -> str:
    """sha256 of all that lies beside notebooks and is none."""
    folders = dict.fromkeys(path.parent for path in notebooks)
    return sha256(canonical([tree_digest(folder, without=(".ipynb",)) for folder in folders]))


def package_digest() -> str:
    """sha256 of this package's own source and data files; what it carries as installed counts where it is read."""
    return tree_digest(PACKAGE, skipping="shipped")


def notebook_digest(path: Path) -> str:
    """sha256 of a notebook's source; saved outputs, counts and ids do not matter."""
    from fabricreport.memo.run.noise import source_bytes

    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise InputError(
            Problem(
                "the notebook does not exist", str(path), remedy="Restore it, or take its section out of `sections`."
            )
        ) from None
    return sha256(source_bytes(read_notebook(data, path)))


def read_notebook(data: bytes, shown: Path) -> Any:
    """A notebook's node from its bytes; `InputError`, with the path that is `shown`, where they are none."""
    import nbformat

    try:
        nb = nbformat.reads(data.decode("utf-8"), as_version=4)  # type: ignore[no-untyped-call]
        nbformat.validate(nb)
        return nb
    except (ValueError, LookupError, AttributeError, TypeError, RecursionError, nbformat.ValidationError) as error:
        why = visible(str(error).partition("\n")[0] or type(error).__name__, 200)
        remedy = "Open and save it in JupyterLab."
        raise InputError(Problem(f"is not a notebook: {why}", str(shown), remedy=remedy)) from None


def versions() -> dict[str, str]:
    """Versions of this package and of the libraries it pins."""
    found = {"fabricreport": VERSION}
    for line in importlib.metadata.requires("fabricreport") or ():
        if "extra ==" in line:
            continue
        match = re.match(r"[A-Za-z0-9._-]+", line)
        if match:
            found[match.group().lower().replace("_", "-")] = importlib.metadata.version(match.group())
    return dict(sorted(found.items()))


def python_version() -> str:
    """Implementation and minor version: patch releases do not change figures."""
    return f"{sys.implementation.name}-{sys.version_info.major}.{sys.version_info.minor}"
