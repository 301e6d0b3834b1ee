"""`manifest.json` and `run.json` of an edition, and the check that nothing in an edition has changed since.

`manifest.json` depends on the build's inputs only: hashes and sizes of all inputs and outputs, versions, seed,
statuses, headline numbers. `run.json` holds what varies from run to run: the edition's sequence number and the
seconds each section took. Both are spelt one way and carry a seal, a hash of themselves, so damage to them shows.
The seal finds accidents, not forgers.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from fabricreport.descriptors import open_file
from fabricreport.memo.run.digest import canonical, sha256

SCHEMA_VERSION = 1
MANIFEST = "manifest.json"
RUN = "run.json"
_OWN = frozenset({MANIFEST, RUN})
_MAX_BYTES = 64_000_000
_PART_BYTES = 1 << 18


def spell(value: Mapping[str, Any]) -> bytes:
    """The one spelling of a manifest: sorted keys, one space of indent, UTF-8, a line feed at the end."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, indent=1, allow_nan=False)
    return (text + "\n").encode("utf-8")


def sealed(value: Mapping[str, Any]) -> bytes:
    """The bytes of a document with its seal."""
    bare = {k: v for k, v in value.items() if k != "seal"}
    return spell({**bare, "seal": sha256(canonical(bare))})


def read_sealed(path: Path) -> dict[str, Any]:
    """A sealed document; `ValueError` says what is wrong with it, `OSError` if it cannot be read."""
    data = read_regular(path)
    try:
        value = json.loads(data)
    except ValueError:
        raise ValueError("is not JSON any more") from None
    if not isinstance(value, dict) or "seal" not in value:
        raise ValueError("has lost its seal")
    try:
        same = sealed(value) == data
    except ValueError:
        same = False
    if not same:
        raise ValueError("was changed: its seal does not fit")
    return value


def read_regular(path: Path, limit_bytes: int = _MAX_BYTES) -> bytes:
    """The bytes of a regular file, not of what a link points to."""
    descriptor = open_file(path)
    with os.fdopen(descriptor, "rb") as handle:
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode):
            raise ValueError("is not a regular file")
        data = handle.read(min(facts.st_size, limit_bytes) + 1)  # asking for the limit would set aside as much memory
        if len(data) > facts.st_size:
            data += handle.read(limit_bytes)
    if len(data) > limit_bytes:
        raise ValueError("is too large")
    return data


def digest_regular(path: Path) -> tuple[str, int]:
    """sha256 (hex) and size in bytes of a regular file, not of what a link points to."""
    descriptor = open_file(path)
    hashed, size, part = hashlib.sha256(), 0, memoryview(bytearray(_PART_BYTES))
    with os.fdopen(descriptor, "rb", buffering=0) as handle:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise ValueError("is not a regular file")
        while read := handle.readinto(part):
            hashed.update(part[:read])
            size += read
            if size > _MAX_BYTES:
                raise ValueError("is too large")
    return hashed.hexdigest(), size


def list_outputs(folder: Path) -> list[dict[str, Any]]:
    """Name, sha256 and size of every file of an edition but the manifest and the run record, sorted by name."""
    found = []
    for name, path in walk(folder):
        if name not in _OWN:
            digest, size = digest_regular(path)
            found.append({"name": name, "sha256": digest, "size_bytes": size})
    return sorted(found, key=lambda entry: str(entry["name"]))


def walk(folder: Path, prefix: str = "") -> Iterator[tuple[str, Path]]:
    """Relative name and path of everything below that is not a folder, links and special files included."""
    for entry in sorted(os.scandir(folder), key=lambda e: e.name):
        name = prefix + entry.name
        if entry.is_dir(follow_symlinks=False):
            yield from walk(Path(entry.path), name + "/")
        else:
            yield name, Path(entry.path)


def empty_folders(folder: Path) -> list[str]:
    """Folders below that hold nothing: no build leaves one."""
    return [os.path.relpath(at, folder) for at, folders, files in os.walk(folder) if not folders and not files]


def verify(edition: Path) -> list[str]:
    """Every file of an edition that was changed, added, lost or swapped since it was published; empty if none."""
    if edition.is_symlink() or not edition.is_dir():
        return [f"{edition.name}: is not a folder"]
    try:
        manifest = read_sealed(edition / MANIFEST)
    except FileNotFoundError:
        return [f"{MANIFEST}: is missing"]
    except (OSError, ValueError) as error:
        return [f"{MANIFEST}: {_said(error)}"]
    faults = []
    if manifest.get("edition") != edition.name:
        faults.append(f"{MANIFEST}: belongs to edition {manifest.get('edition')}")
    faults += _run_faults(edition)
    return faults + _output_faults(edition, manifest)


def read_output(edition: Path, name: str) -> bytes:
    """One file of an edition as it was published; `ValueError` says that it, or the manifest, is damaged."""
    try:
        manifest = read_sealed(edition / MANIFEST)
    except (OSError, ValueError) as error:
        raise ValueError(f"{MANIFEST}: {_said(error)}") from None
    entry = next((e for e in manifest.get("outputs", []) if e["name"] == name), None)
    if entry is None:
        raise ValueError(f"{name}: is not part of this edition")
    try:
        data = read_regular(edition / name)
    except (OSError, ValueError) as error:
        raise ValueError(f"{name}: {_said(error)}") from None
    if sha256(data) != entry["sha256"]:
        raise ValueError(f"{name}: {_changed(len(data), entry)}")
    return data


def _run_faults(edition: Path) -> list[str]:
    try:
        run = read_sealed(edition / RUN)
    except FileNotFoundError:
        return [f"{RUN}: is missing"]
    except (OSError, ValueError) as error:
        return [f"{RUN}: {_said(error)}"]
    return [] if run.get("edition") == edition.name else [f"{RUN}: belongs to edition {run.get('edition')}"]


def _output_faults(edition: Path, manifest: Mapping[str, Any]) -> list[str]:
    expected = {entry["name"]: entry for entry in manifest.get("outputs", [])}
    faults = [f"{name}/: was added" for name in empty_folders(edition)]
    for name, path in walk(edition):
        if name in _OWN:
            continue
        entry = expected.pop(name, None)
        if entry is None:
            faults.append(f"{name}: was added")
            continue
        try:
            digest, size = digest_regular(path)
        except (OSError, ValueError) as error:
            faults.append(f"{name}: {_said(error)}")
            continue
        if digest != entry["sha256"]:
            faults.append(f"{name}: {_changed(size, entry)}")
    return faults + [f"{name}: is missing" for name in expected]


def _changed(size_bytes: int, entry: Mapping[str, Any]) -> str:
    more = size_bytes - entry["size_bytes"]
    return "was changed" + (f" ({more:+,} bytes)" if more else "")


def _said(error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        return "is missing"
    if isinstance(error, OSError):
        return f"cannot be read: {error.strerror or error}"
    return str(error)
