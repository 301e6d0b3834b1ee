"""Editions: published in one step, never changed afterwards, found again by their sequence number.

output/<slug>/<edition>/      the memo and everything it rests on
output/<slug>/<edition>.signed.json   who signed it; not a byte of the edition changes
output/<slug>/<edition>.memo.docx     a copy to edit (`--to docx`)
output/<slug>/latest          link to the newest client copy, moved last
output/<slug>/partial/<id>/   memos of a single section (`--only`); never `latest`, not listed
output/<slug>/trials/<id>/    memos of params changed for a trial (`--set`); never `latest`, listed last
output/<slug>/.failed/        notebooks of the last build that failed, for debugging
output/.scratch-*/            a build at work, or what is being pruned
output/index.html             all editions, for the operator: true, or not there
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabricreport.base.errors import FabricReportError, InputError, Problem
from fabricreport.base.files import HAS_LINKS, Folder, at, close_folder, open_file, open_folder, sync, sync_folder
from fabricreport.base.text import clean_text, visible
from fabricreport.memo.editions import locks
from fabricreport.memo.editions import manifest as records
from fabricreport.memo.editions.locks import WAIT_S, client_folder, client_lock, disk_errors, disk_problem, drop_index
from fabricreport.memo.editions.manifest import MANIFEST, RUN, SCHEMA_VERSION, read_sealed, sealed, verify, walk

if TYPE_CHECKING:
    from fabricreport.memo.run.snapshot import Fingerprint

__all__ = ["EditionInfo", "Published", "latest_edition", "list_editions", "publish", "verify"]


class Files:
    """Durable writes, renames and links. Tests replace it by one whose n-th operation fails or kills."""

    def write(self, path: Path, data: bytes) -> None:
        """Create a new file with these bytes; an existing one or a link in its place is an error."""
        with os.fdopen(open_file(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as handle:
            handle.write(data)

    def fsync(self, path: Path) -> None:
        """Bring a file's or folder's content to the disk."""
        sync(path)

    def make_folder(self, name: str, parent: Folder) -> None:
        """Make a folder below an open one, unless it is there."""
        path, descriptor = at(parent, name)
        try:
            os.mkdir(path, dir_fd=descriptor)
        except FileExistsError:
            return
        sync_folder(parent)

    def rename(self, source: str, source_parent: Folder, name: str, parent: Folder) -> None:
        """Move a folder to its new name in one step and bring that to the disk."""
        (old, before), (new, after) = at(source_parent, source), at(parent, name)
        os.rename(old, new, src_dir_fd=before, dst_dir_fd=after)

    def fsync_open(self, folder: Folder) -> None:
        """Bring an open folder's entries to the disk."""
        sync_folder(folder)

    def link(self, target: str, name: str, parent: Folder) -> None:
        """Make a symbolic link below an open folder."""
        path, descriptor = at(parent, name)
        os.symlink(target, path, dir_fd=descriptor)

    def swap(self, source: str, name: str, parent: Folder) -> None:
        """Put `source` in the place of `name` in one step."""
        (old, before), (new, after) = at(parent, source), at(parent, name)
        os.replace(old, new, src_dir_fd=before, dst_dir_fd=after)


LATEST = "latest"
PARTIAL, TRIALS = "partial", "trials"
DRAFT = "Draft"
EVIDENCE = "_evidence"
"""The folder of the evidence report's editions; no client's name begins so."""
_SLUG = re.compile(rf"{EVIDENCE}|[a-z0-9](?:[a-z0-9-]{{0,62}}[a-z0-9])?")
EDITION = re.compile(r"\d{4}-\d{2}-\d{2}-[0-9a-f]{8}(?:-[a-z0-9_-]{1,40})?")


@dataclass(frozen=True)
class Published:
    """Where an edition is. `reused`: it was there before, verified; `messages` are for the person who built it."""

    folder: Path
    reused: bool = False
    messages: tuple[str, ...] = ()


@dataclass(frozen=True)
class EditionInfo:
    """One line of `fabricreport list`. `sequence` counts a client's editions from 1; 0 if the record is damaged."""

    client: str
    edition: str
    folder: Path
    sequence: int
    as_of: str
    status: str
    latest: bool
    faults: tuple[str, ...] = ()
    signed: tuple[Mapping[str, str], ...] = field(default=(), compare=False)
    headline: Mapping[str, Any] = field(default_factory=dict, compare=False)
    prices: Sequence[Mapping[str, Any]] = field(default=(), compare=False)
    since: str = field(default="", compare=False)
    changes: Mapping[str, Sequence[str]] = field(default_factory=dict, compare=False)
    trial: str = field(default="", compare=False)

    def why_since(self, edition: str) -> Mapping[str, Sequence[str]]:
        """The causes of what moved, by its id; known only since the edition that the memo tells of."""
        return self.changes if self.since == edition else {}

    @property
    def damaged(self) -> bool:
        """True if manifest or run record cannot be read, a signature does not fit, or `verified` found a file changed."""
        return self.sequence == 0 or bool(self.faults)

    @property
    def standing(self) -> str:
        """What to tell beside its name: damaged or latest, what was set for a trial, and who signed."""
        names = ", ".join(visible(one["name"]) for one in self.signed)
        mark = "damaged" if self.damaged else "latest" if self.latest else ""
        trial = self.trial and f"trial: {visible(self.trial, 300)}"
        return ", ".join(filter(None, (mark, trial, names and f"signed by {names}")))

    def verified(self) -> EditionInfo:
        """The same with every file of the edition compared with its manifest: `faults` says what is wrong."""
        return replace(self, faults=(*verify(self.folder), *self.faults))


def publish(
    scratch: Path,
    target_root: Path,
    slug: str,
    edition: str,
    *,
    run: Mapping[str, Any] | None = None,
    draft: bool = False,
    aside: str = "",
    files: Files | None = None,
    wait_s: float = WAIT_S,
) -> Published:
    """Move the finished folder `scratch/edition` to `target_root/slug/edition` in one step; then move `latest`.

    The folder must hold its `manifest.json`; `run` (timings) becomes `run.json` with the next sequence number.
    A draft, or an edition that goes `aside` into a folder of its own, does not move `latest`. The same edition already there and whole: nothing is
    written but `latest`. `InputError` if another build holds the client, a link stands in the way, the edition
    there is damaged or of other bytes, or the disk refuses; then the old editions and `latest` are as they were.
    """
    if not _SLUG.fullmatch(slug) or not EDITION.fullmatch(edition):
        raise FabricReportError(f"not the name of a client and an edition: {slug!r}, {edition!r}")
    target = target_root / slug / aside
    try:
        publisher = _Publisher(scratch, target_root, target, slug, edition, files or Files())
        return publisher.publish(run or {}, move_latest=not draft and not aside, aside=aside, wait_s=wait_s)
    except OSError as error:
        raise disk_problem(error, target) from error


class _Publisher:
    """One publication; the order of its steps is what makes it atomic."""

    def __init__(self, scratch: Path, root: Path, target: Path, slug: str, edition: str, files: Files) -> None:
        self.scratch, self.root, self.target = scratch, root, target
        self.slug, self.edition, self.files = slug, edition, files

    def publish(self, run: Mapping[str, Any], *, move_latest: bool, aside: str, wait_s: float) -> Published:
        with contextlib.ExitStack() as stack:
            root = stack.enter_context(_opened(self.root))
            self.files.make_folder(self.slug, root)
            client = stack.enter_context(_opened(self.slug, root))
            home = client
            if aside:
                self.files.make_folder(aside, client)
                home = stack.enter_context(_opened(aside, client))
            messages = stack.enter_context(client_lock(client, self.target, wait_s=wait_s))
            _sweep_links(client)
            place = self.target / self.edition
            reused = _exists(self.edition, home)
            move_latest = move_latest and HAS_LINKS and _points_to(client) != self.edition
            if move_latest or not (reused or aside or self.slug == EVIDENCE):
                drop_index(root)
                stack.callback(drop_index, root)
            if reused:
                self._check_existing(place)
            else:
                self._write_run(run)
                self._move(home)
            if move_latest:
                self._move_latest(client)
            return Published(place, reused, tuple(messages))

    def _check_existing(self, place: Path) -> None:
        faults = verify(place)
        if faults:
            what = f"this edition is there already and was changed since: {'; '.join(faults[:5])}"
            remedy = "Editions are never overwritten: move that folder away and build again."
            raise InputError(Problem(what, str(place), remedy=remedy))
        ours = read_sealed(self.scratch / self.edition / MANIFEST) if (self.scratch / self.edition).is_dir() else None
        if ours is not None and ours["outputs"] != read_sealed(place / MANIFEST)["outputs"]:
            what = "the same inputs gave other bytes than before; the edition published first was kept"
            remedy = "What differs is no input that we know of: move that folder away and run the command again."
            raise InputError(Problem(what, str(place), remedy=remedy))

    def _write_run(self, run: Mapping[str, Any]) -> None:
        number = next_sequence(self.target)
        record = {**run, "schema_version": SCHEMA_VERSION, "edition": self.edition, "sequence": number}
        self.files.write(self.scratch / self.edition / RUN, sealed(record))

    def _move(self, home: Folder) -> None:
        folder = self.scratch / self.edition
        for _, path in walk(folder):
            self.files.fsync(path)
        for below, _, _ in os.walk(folder, topdown=False):
            self.files.fsync(Path(below))
        with _opened(self.scratch) as scratch:
            self.files.rename(self.edition, scratch, self.edition, home)
        self.files.fsync_open(home)

    def _move_latest(self, client: Folder) -> None:
        spare = f".latest-{os.urandom(4).hex()}"
        try:
            self.files.link(self.edition, spare, client)
            self.files.swap(spare, LATEST, client)
            self.files.fsync_open(client)
        except OSError:
            with contextlib.suppress(OSError):
                _unlink(spare, client)
            raise


@contextlib.contextmanager
def _opened(name: str | Path, parent: Folder | None = None) -> Iterator[Folder]:
    folder = open_folder(name, parent)
    try:
        yield folder
    finally:
        close_folder(folder)


def _exists(name: str, parent: Folder) -> bool:
    try:
        path, descriptor = at(parent, name)
        os.lstat(path, dir_fd=descriptor)
    except FileNotFoundError:
        return False
    return True


def _sweep_links(client: Folder) -> None:
    with os.scandir(client) as entries:
        left = [entry.name for entry in entries if entry.name.startswith(".latest-")]
    for name in left:
        with contextlib.suppress(OSError):
            _unlink(name, client)


def _unlink(name: str, folder: Folder) -> None:
    path, descriptor = at(folder, name)
    os.unlink(path, dir_fd=descriptor)


def _points_to(client: Folder) -> str:
    """What `latest` points to, '' if it is no link."""
    path, descriptor = at(client, LATEST)
    try:
        return os.readlink(path, dir_fd=descriptor)
    except OSError:
        return ""


def sequence_of(edition: Path) -> int:
    """The sequence number of an edition, 0 if its record cannot be read."""
    try:
        return int(read_sealed(edition / RUN)["sequence"])
    except (OSError, ValueError, KeyError, TypeError):
        return 0


def next_sequence(folder: Path) -> int:
    """One more than any edition in a client's folder has, and than there are editions."""
    editions = _edition_folders(folder)
    return 1 + max([len(editions), *(sequence_of(e) for e in editions)])


def _edition_folders(folder: Path) -> list[Path]:
    try:
        entries = list(os.scandir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return []
    return [Path(e.path) for e in entries if EDITION.fullmatch(e.name) and e.is_dir(follow_symlinks=False)]


def edition_before(output: Path, slug: str, found: Fingerprint) -> str:
    """The edition that a memo of this fingerprint comes after: where it was published, the one it came after then, else
    the newest published; '' where there is none. So the same inputs come to the same edition, however often they are built."""
    for folder in _edition_folders(output / slug):
        try:
            kept = read_sealed(folder / MANIFEST)["fingerprint"]
            if {**kept, "since": ""} == asdict(found):
                return str(kept.get("since", ""))
        except (OSError, ValueError, LookupError, TypeError):
            continue
    last = latest_edition(output, slug)
    return last.edition if last else ""


def clients_of(output: Path) -> list[str]:
    """The names of the folders of clients below `output`, the evidence report's among them."""
    found = os.scandir(output) if output.is_dir() else ()
    return sorted(e.name for e in found if _SLUG.fullmatch(e.name) and e.is_dir(follow_symlinks=False))


def list_editions(output: Path, client: str = "", aside: str = "") -> tuple[EditionInfo, ...]:
    """All editions of all clients below `output`, or of one, by client, newest last, or those `aside`; order is the sequence,
    never a clock."""
    found = list[EditionInfo]()
    for slug in [client] if client else clients_of(output):
        infos = [replace(edition_info(path), client=slug) for path in _edition_folders(output / slug / aside)]
        found += sorted(infos, key=lambda info: (info.sequence, info.edition))
    return tuple(found)


def edition_info(folder: Path) -> EditionInfo:
    """What the records of one edition say."""
    latest = folder.parent / LATEST
    is_latest = latest.is_symlink() and str(latest.readlink()) == folder.name
    try:
        manifest = read_sealed(folder / MANIFEST)
        as_of, status, sequence = str(manifest["as_of"]), str(manifest["status"]), sequence_of(folder)
    except (OSError, ValueError, KeyError):
        as_of, status, sequence, manifest = folder.name[:10], "damaged", 0, {}
    signed, faults = records.signatures_of(folder)
    since = str(manifest.get("fingerprint", {}).get("since", ""))
    told = (
        signed,
        manifest.get("headline") or {},
        manifest.get("prices", ()),
        since,
        manifest.get("changes", {}),
        str(manifest.get("trial", "")),
    )
    return EditionInfo(folder.parent.name, folder.name, folder, sequence, as_of, status, is_latest, faults, *told)


def latest_edition(output: Path, slug: str) -> EditionInfo | None:
    """The edition `latest` points to; without the link, the client copy with the highest sequence number."""
    try:
        client = client_folder(output, slug)
    except OSError:
        return None
    name = _points_to(client)
    close_folder(client)
    folder = output / slug
    if EDITION.fullmatch(name) and (folder / name).is_dir() and not (folder / name).is_symlink():
        return edition_info(folder / name)
    copies = [i for i in map(edition_info, _edition_folders(folder)) if not i.damaged and i.status != DRAFT]
    return max(copies, key=lambda info: info.sequence, default=None)


def sign(edition: Path, name: str, day: date) -> None:
    """Add a name to those who signed an edition, or leave it with its day; `InputError` for a draft, a trial, what is damaged."""
    edition = edition.absolute()
    name = clean_text(name, key="--by", max_chars=80, one_line=True).strip()
    with disk_errors(edition), _opened(edition.parent) as client, client_lock(client, edition.parent):
        found = edition_info(edition).verified()
        problems = [Problem(fault, str(edition), remedy="Move it away and build again.") for fault in found.faults]
        if not problems and (found.status == DRAFT or read_sealed(edition / MANIFEST).get("only")):
            problems = [Problem("is a draft or a trial", str(edition), remedy="Sign a whole client copy.")]
        if problems or not name:
            raise InputError(problems or Problem("is empty", key="--by", remedy="Give the name of who signs."))
        if name not in [one["name"] for one in found.signed]:
            drop_index(edition.parents[1])
            records.write_signatures(edition, [*found.signed, {"name": name, "date": day.isoformat()}])
            drop_index(edition.parents[1])


def prune(output: Path, newest: int, client: str = "", files: Files | None = None) -> dict[str, str]:
    """Remove all but the newest editions of each client, or of one, and what is signed, `latest`, accepted or damaged; what
    became of each older one, by `client/edition`. It is renamed into a scratch folder and deleted there: whole or gone."""
    done, files = dict[str, str](), files or Files()
    with disk_errors(output), locks.scratch_folder(output) as scratch, _opened(scratch) as aside:
        for slug in [client] if client else [name for name in clients_of(output) if name != EVIDENCE]:
            with _opened(output / slug) as home, client_lock(home, output / slug):
                editions = list_editions(output, slug)
                why = _kept(output, slug, editions)
                drop_index(output)
                copies = [info for info in editions if info.status != DRAFT][-newest:]
                first = copies[0].sequence if copies else 0
                for name in [
                    i.edition for i in editions if i not in copies and (i.status != DRAFT or i.sequence < first)
                ]:
                    if name not in why:
                        files.rename(name, home, f"{slug}-{name}", aside)
                    done[f"{slug}/{name}"] = f"kept: {why[name]}" if name in why else "removed"
                files.fsync_open(home)
                drop_index(output)
    return done


def _kept(output: Path, slug: str, editions: Sequence[EditionInfo]) -> dict[str, str]:
    """Why an edition is never pruned, by its name. Accepted is what a delivery was judged by: made from the same params and
    inputs as its plan, or `latest` then; and all of a client's where that cannot be read."""
    latest = latest_edition(output, slug)
    why = {info.edition: "damaged" for info in editions if info.damaged}
    try:
        for folder in _edition_folders(output / slug / "acceptance"):
            plan, judged = _made_from(folder), str(read_sealed(folder / RUN).get("memo"))
            same = [e.edition for e in editions if not e.damaged and _made_from(e.folder) == plan]
            why |= dict.fromkeys([judged, *same], "accepted")
    except (OSError, ValueError, KeyError):
        why |= {info.edition: "accepted" for info in editions}
    why |= {info.edition: "signed" for info in editions if info.signed}
    return why | ({latest.edition: "latest"} if latest else {})


def _made_from(folder: Path) -> tuple[str, dict[str, Any]]:
    """Hashes of the params and of the inputs but for logs of a delivery."""
    manifest = read_sealed(folder / MANIFEST)
    prints, logs = manifest["fingerprint"], manifest.get("logs", {})
    return prints["params"], {name: value for name, value in prints["inputs"].items() if name not in logs}
