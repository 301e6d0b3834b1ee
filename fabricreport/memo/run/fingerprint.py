"""Hashes of everything a memo depends on beside its inputs: notebooks, this package, libraries, interpreter."""

from __future__ import annotations

import importlib.metadata
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import fabricreport
from fabricreport.errors import InputError, Problem
from fabricreport.memo.run.digest import canonical, sha256
from fabricreport.project import PACKAGE

_SKIPPED_FOLDERS = frozenset({"__pycache__", "node_modules"})


@dataclass(frozen=True)
class Fingerprint:
    """What a build rests on, as sha256 hex digests; two equal fingerprints give the same memo.

    `params` is the hash of the canonical params, `inputs` and `notebooks` map relative names to hashes,
    `versions` maps library names to versions, `report` is the hash of the evidence report as the memo cites it.
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

    @property
    def digest(self) -> str:
        """One sha256 over all of it: the content hash of the edition."""
        return sha256(canonical(asdict(self)))


def tree_digest(folder: Path, *, without: Iterable[str] = (), skipping: str = "") -> str:
    """sha256 over relative names and contents of all files below; hidden ones, caches, a README, `without` suffixes and the folder `skipping` left out."""
    skipped = tuple(without)
    entries = []
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        if any(p.startswith(".") or p in _SKIPPED_FOLDERS for p in parts) or parts[0] == skipping or not path.is_file():
            continue
        if path.suffix in (".pyc", *skipped) or path.name == "README.md":
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
    import nbformat

    from fabricreport.memo.run.volatile import source_bytes

    try:
        nb = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    except FileNotFoundError:
        raise InputError(
            Problem(
                "the notebook does not exist", str(path), remedy="Restore it, or take its section out of `sections`."
            )
        ) from None
    except (OSError, ValueError, nbformat.ValidationError) as error:
        raise InputError(
            Problem(
                f"is not a notebook: {str(error).splitlines()[0]}", str(path), remedy="Open and save it in JupyterLab."
            )
        ) from None
    return sha256(source_bytes(nb))


def versions() -> dict[str, str]:
    """Versions of this package and of the libraries it pins."""
    found = {"fabricreport": fabricreport.__version__}
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
