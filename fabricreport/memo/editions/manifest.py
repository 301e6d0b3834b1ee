"""What an edition says of itself: `manifest.json`, `run.json` and its headlines, and the check that nothing in it has changed since.

A saved notebook says `completed` for every cell even when the kernel died or a cell timed out, so the
status here is made from the exception, from the worker's exit and from the parent's own clock of the limits.

`manifest.json` depends on the build's inputs only: hashes and sizes of all inputs and outputs, versions, seed,
statuses, headline numbers. `run.json` holds what varies from run to run: the edition's sequence number and the
seconds each section took. Both are spelt one way and carry a seal, a hash of themselves, so damage to them shows.
The seal finds accidents, not forgers.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from fabricreport.base.files import open_file, write_atomically
from fabricreport.memo.run.snapshot import canonical, sha256

_HEADING = re.compile(r"^#{1,2}\s+(.+?)\s*#*$", re.M)


@dataclass(frozen=True)
class HeadlineChange:
    """One headline figure or word that moved: its ledger id (or key), what it is, old and new as printed.

    `old_value` and `new_value` are the figures in the ledger's unit, None for words and for what is new or gone; `why`: the
    causes, each with its amount.
    """

    id: str
    label: str
    old: str
    new: str
    old_value: float | None = None
    new_value: float | None = None
    why: Sequence[str] = ()

    def __str__(self) -> str:
        name = f"{self.label} ({self.id})" if self.label else self.id
        of_seller = self.id.startswith("decision.offers.total.")
        where = "among the sellers named first" if of_seller else "in the headline"
        same = self.old == self.new and self.old_value is not None and self.new_value is not None
        by = f" ({self.new_value - self.old_value:+,.0f})" if same else ""  # type: ignore[operator]
        return f"{name}: {self.old or f'not {where}'} -> {self.new or f'no longer {where}'}{by}"


def headline_facts(head: Mapping[str, Any]) -> dict[str, str]:
    """What a headline says, as a result shows it."""
    told = {"Advice": head.get("recommendation", ""), "Class": head.get("confidence", "")}
    return told | {number["label"]: number["text"] for number in head.get("numbers", ())}


def headline_of(declared: Mapping[str, Any], ledger: Mapping[str, Any]) -> dict[str, Any]:
    """The declared headline with each number as {id, label, text, value, unit}, and `compares` of one that tells two options
    apart, looked up in the ledger."""
    entries = {entry["id"]: entry for entry in ledger.get("numbers", ())}
    numbers = []
    for node in declared.get("numbers", ()):
        found = node if isinstance(node, Mapping) else {"id": str(node)}
        entry = {**entries.get(found["id"], {}), **{k: v for k, v in found.items() if k != "t"}}
        weighed = {"compares": entry["compares"]} if entry.get("compares") else {}
        numbers.append({**{k: entry.get(k, "") for k in ("id", "label", "text", "value", "unit")}, **weighed})
    words = {k: v for k, v in declared.items() if k != "numbers"}
    return {**words, "numbers": numbers} if words or numbers else {}


def key_prices(head: Mapping[str, Any], ledger: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The prices that the headline's numbers rest on as {id, label, value, unit}, those first that could turn the advice."""
    numbers = {n["id"]: n for n in ledger["numbers"]}
    prices = {i["id"]: i for i in ledger["inputs"] if i["id"].startswith("price:") and value_of(i) is not None}
    headed = (numbers.get(n["id"], {}) for n in head.get("numbers", ()))
    found = dict.fromkeys(i for n in headed for i in n.get("inputs", ()) if i in prices)
    ranked = sorted(found, key=lambda i: f"decision.in_use.{i.replace(':', '.')}" not in numbers)
    return [{k: prices[i][k] for k in ("id", "label", "value", "unit")} for i in ranked]


def value_of(entry: Mapping[str, Any]) -> float | None:
    """A record's figure in its unit; None for one in words."""
    value = entry.get("value")
    return float(value) if isinstance(value, int | float) else None


def section_title(notebook: Any, section: str) -> str:
    """A section's title: its notebook's metadata, else its first heading, else its name."""
    from fabricreport.blocks import MIME
    from fabricreport.blocks.forms import MalformedNode, top_from_json
    from fabricreport.blocks.nodes import Heading, plain_text

    own = notebook.metadata.get("fabricreport", {})
    if isinstance(own, Mapping) and own.get("title"):
        return str(own["title"])
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and (match := _HEADING.search(cell.source)):
            return match.group(1)
        for output in cell.get("outputs", ()):
            for node in output.get("data", {}).get(MIME, {}).get("nodes", ()):
                with suppress(MalformedNode):
                    heading = top_from_json(node)
                    if isinstance(heading, Heading):
                        return plain_text(heading.children)
    return section.replace("_", " ").capitalize()


Status = Literal["ok", "failed", "timeout", "dead", "cancelled", "unsaved"]
CELL_TIMEOUT_S = 300.0
SECTION_TIMEOUT_S = 900.0
"""Seconds that a cell and a section may take unless a build says otherwise."""


@dataclass(frozen=True)
class SectionRun:
    """How one section's notebook ended.

    `cell` is the cell's number in the source notebook (from 1, all cell types counted) and `None` if no cell
    had started. `source_line` is that cell's first line. With `unsaved` every cell ran, but the disk refused the
    executed notebook, and `ename` is the error's symbol (`ENOSPC`). `notebook` is the path of the executed
    notebook as far as it got (empty if nothing was kept). `seconds` is wall time.
    """

    section: str
    status: Status
    cell: int | None = None
    source_line: str = ""
    ename: str = ""
    evalue: str = ""
    traceback: str = ""
    seconds: float = 0.0
    notebook: str = ""

    @property
    def ok(self) -> bool:
        """True if every code cell ran to its end without an error."""
        return self.status == "ok"

    def explain(self) -> str:
        """One sentence for a person: which section, which cell, what happened."""
        where = "" if self.cell is None else f" in cell {self.cell}"
        code = f" ({self.source_line})" if self.source_line else ""
        what = ": ".join(p for p in (self.ename, self.evalue) if p)
        return f"section {self.section} {_VERBS[self.status]}{where}{code}{': ' + what if what else ''}"

    def facts(self) -> dict[str, Any]:
        """The part that does not vary from run to run: for `manifest.json`."""
        return {"section": self.section, "status": self.status}

    def as_dict(self) -> dict[str, Any]:
        """Everything, timings included: for `run.json`. The notebook's path stays out: it names a user's folder."""
        return {k: v for k, v in asdict(self).items() if k != "notebook"}


_VERBS: dict[str, str] = {
    "ok": "finished",
    "failed": "failed",
    "timeout": "ran out of time",
    "dead": "died",
    "cancelled": "was cancelled",
    "unsaved": "could not be saved",
}


@dataclass(frozen=True)
class RunRecord:
    """All sections of one run, in the order they were asked for."""

    sections: tuple[SectionRun, ...]

    @property
    def ok(self) -> bool:
        """True if every section finished."""
        return all(run.ok for run in self.sections)

    @property
    def cancelled(self) -> bool:
        """True if a person stopped the run."""
        return any(run.status == "cancelled" for run in self.sections)

    @property
    def unsaved(self) -> SectionRun | None:
        """A section that ran well and that the disk refused, if there is one."""
        return next((run for run in self.sections if run.status == "unsaved"), None)

    @property
    def faults(self) -> tuple[SectionRun, ...]:
        """The sections that did not finish."""
        return tuple(run for run in self.sections if not run.ok)

    def facts(self) -> list[dict[str, Any]]:
        """Statuses only, the same for two runs of the same inputs."""
        return [run.facts() for run in self.sections]


@dataclass(frozen=True)
class Progress:
    """One step to show on a terminal: a section `started`, reached a `cell` of `cells`, or ended with a status."""

    section: str
    event: str
    cell: int = 0
    cells: int = 0

    @property
    def status(self) -> str:
        """The step in words: `started`, `cell 3 of 9`, or how the section ended."""
        return f"cell {self.cell} of {self.cells}" if self.event == "cell" else self.event


ProgressCall = Callable[[Progress], None]


SCHEMA_VERSION = 1
MANIFEST = "manifest.json"
RUN = "run.json"
SIGNED = "{}.signed.json"
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


def signatures_of(edition: Path) -> tuple[tuple[Mapping[str, str], ...], tuple[str, ...]]:
    """Who signed, first to last, as {name, date}; and that the file is damaged, or not of the manifest as it is."""
    name = SIGNED.format(edition.name)
    try:
        record = read_sealed(edition.with_name(name))
        signed = tuple({key: str(one[key]) for key in ("name", "date")} for one in record["signatures"])
        fits = record["manifest_sha256"] == digest_regular(edition / MANIFEST)[0]
    except FileNotFoundError:  # not signed, or without a manifest, which is told already
        return (), ()
    except (OSError, ValueError, KeyError, TypeError) as error:
        return (), (f"{name}: {_said(error)}",)
    return signed, () if fits else (f"{name}: {MANIFEST} is not the one that was signed",)


def write_signatures(edition: Path, signed: Sequence[Mapping[str, str]]) -> None:
    """Put who signed beside an edition, with the hash of its manifest."""
    text = sealed({"manifest_sha256": digest_regular(edition / MANIFEST)[0], "signatures": signed}).decode("utf-8")
    write_atomically(edition.with_name(SIGNED.format(edition.name)), text)


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
