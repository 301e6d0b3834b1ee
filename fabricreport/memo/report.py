"""The evidence report: built once for all memos of an output folder, published as an edition is, cited by them.

output/_evidence/<edition>/   report.pdf, report.html, ledger.json, manifest.json, data/, notebooks/

An edition's name is the day of the library's newest reading and the hash of library, cards, code and the report's notebook. It
is found by the hash, so that a report which is there costs no more than reading what it was made from.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabricreport.base.errors import MemoRejected, SectionFailed
from fabricreport.base.project import RENTS
from fabricreport.base.version import VERSION
from fabricreport.memo.editions.editions import EVIDENCE, publish, verify
from fabricreport.memo.editions.locks import disk_errors, held_by_one, refused_by_disk, scratch_folder
from fabricreport.memo.editions.manifest import (
    MANIFEST,
    SCHEMA_VERSION,
    ProgressCall,
    list_outputs,
    read_sealed,
    sealed,
)
from fabricreport.memo.run.recall import REPORT_NOTEBOOK, cache_place
from fabricreport.memo.run.snapshot import canonical, package_digest, python_version, sha256, versions

if TYPE_CHECKING:
    from fabricreport.memo.document.document import Document

SECTION, REPORT = "evidence_report", "report"
KIND = "Evidence report"
TITLE = "What is known of InfiniBand and RoCEv2, and what is not"


@dataclass(frozen=True)
class Cited:
    """A report as memos cite it: its edition, and how each of its figures, tables and headings is called by anchor."""

    edition: str
    anchors: Mapping[str, str]

    def as_dict(self) -> dict[str, Any]:
        """What a memo's front matter holds of it."""
        return {"edition": self.edition, "anchors": dict(self.anchors)}

    @property
    def digest(self) -> str:
        """sha256 of all of it: a part of the content of every memo that is built beside this report."""
        return sha256(canonical(self.as_dict()))


@dataclass(frozen=True)
class ReportResult:
    """A published report. `reused`: it was there before, and nothing was run."""

    edition: str
    folder: Path
    cited: Cited
    reused: bool = False
    messages: tuple[str, ...] = field(default=())

    @property
    def pdf(self) -> Path:
        """The report for print."""
        return self.folder / f"{REPORT}.pdf"

    @property
    def html(self) -> Path:
        """The report for a browser."""
        return self.folder / f"{REPORT}.html"

    def as_dict(self) -> dict[str, Any]:
        """Plain values for `--json`."""
        return {
            "edition": self.edition,
            "folder": str(self.folder),
            "pdf": str(self.pdf),
            "html": str(self.html),
            "reused": self.reused,
            "messages": list(self.messages),
        }


def report_digest(notebook: Path = REPORT_NOTEBOOK, package: str = "") -> str:
    """The hash of what a report rests on: its notebook's cells, this package with its library, the rents replayed, and the libraries it uses.

    `package` stands in the place of the hash of the package.
    """
    cells = json.loads(notebook.read_bytes())["cells"]
    source = [[c["cell_type"], "".join(c["source"]), c["metadata"].get("tags", [])] for c in cells]
    rents = sha256(RENTS.read_bytes()) if RENTS.is_file() else ""
    return sha256(canonical([source, package or package_digest(), rents, versions(), python_version()]))


def standing_report(output: Path, notebook: Path = REPORT_NOTEBOOK) -> ReportResult | None:
    """The report of the library as it is now, if it was published below `output` and is whole."""
    digest = report_digest(notebook)
    for folder in sorted((output / EVIDENCE).glob(f"*-{digest[:8]}")):
        try:
            manifest = read_sealed(folder / MANIFEST)
        except (OSError, ValueError):
            continue
        if manifest.get("content_sha256") == digest and not verify(folder):
            return _result(folder, manifest, reused=True)
    return None


def make_report(
    output: str | Path, *, notebook: Path = REPORT_NOTEBOOK, progress: ProgressCall | None = None
) -> ReportResult:
    """The report of the library as it is now, built and published below `output` unless it is there.

    Whoever comes while another builds it waits and takes that one. Raises as a memo's build does.
    """
    root = Path(output)
    found = standing_report(root, notebook)
    if found is not None:
        return found
    with disk_errors(root), scratch_folder(root) as scratch:
        (root / EVIDENCE).mkdir(exist_ok=True)
        with held_by_one(root / EVIDENCE, ".making"):
            return standing_report(root, notebook) or _Building(root, scratch, notebook).published(progress)


class _Building:
    """One build of the report, in a scratch folder."""

    def __init__(self, root: Path, scratch: Path, notebook: Path) -> None:
        from fabricreport.report.report import newest_reading

        self.root, self.scratch, self.notebook = root, scratch, notebook
        self.digest = report_digest(notebook)
        self.day = newest_reading()
        self.edition = f"{self.day}-{self.digest[:8]}"

    def published(self, progress: ProgressCall | None) -> ReportResult:
        """Run, stitch, check, write, publish."""
        from fabricreport.memo.document.checks import check_memo
        from fabricreport.memo.document.document import document_of, stitch, write_data, write_ledger
        from fabricreport.memo.document.leaks import leaks, machine_folders
        from fabricreport.memo.document.pieces import gather
        from fabricreport.memo.write.exporters import write_both

        executed, seconds = self._executed(progress)
        cited = Cited(self.edition, {})
        memo = stitch({SECTION: executed}, self._front_matter(cited))
        found = gather(memo)
        _refuse(check_memo(found))
        document = document_of(found, memo)
        _refuse(str(problem) for problem in document.problems)
        folder = self.scratch / self.edition
        folder.mkdir()
        write_both(folder, REPORT, executed, document)
        write_ledger(folder, found)
        write_data(folder, document, found, {SECTION: executed})
        own = {"the build's scratch folder": self.scratch, "the output folder": self.root}
        _refuse(leaks(folder, machine_folders(own)))
        manifest = self._manifest(folder, _anchors(document))
        (folder / MANIFEST).write_bytes(sealed(manifest))
        at = publish(self.scratch, self.root, EVIDENCE, self.edition, run={"seconds": seconds})
        return _result(at.folder, manifest, reused=at.reused, messages=at.messages)

    def _executed(self, progress: ProgressCall | None) -> tuple[Any, float]:
        """The notebook as it ran, without what differs from run to run, and how long it took."""
        from fabricreport.check.prose import refuse_unreadable
        from fabricreport.memo.run.execution import run_sections, stripped

        work = self.scratch / "work"
        work.mkdir()
        copy, nobody = work / f"{SECTION}.ipynb", work / "params.json"
        shutil.copyfile(self.notebook, copy)
        nobody.write_text("{}", encoding="utf-8")
        refuse_unreadable([copy])
        store = cache_place(self.root).folder or work / "cache"
        record = run_sections(
            {SECTION: copy},
            nobody,
            work / "executed",
            progress=progress,
            matplotlib_dir=store / "matplotlib",
            folders={SECTION: self.notebook.parent},
        )
        (run,) = record.sections
        if record.cancelled:
            raise KeyboardInterrupt
        if record.unsaved:
            raise refused_by_disk(record.unsaved.ename, self.root)
        if not run.ok:
            where = f"cell {run.cell}" if run.cell else "the notebook"
            raise SectionFailed(f"the evidence report cannot be built: {where}: {run.ename}: {run.evalue}")
        return stripped(record, work)[SECTION], run.seconds

    def _front_matter(self, cited: Cited) -> dict[str, Any]:
        from fabricreport.memo.document.document import CLIENT_COPY

        return {
            "kind": KIND,
            "title": TITLE,
            "date": self.day,
            "date_text": self.day,
            "edition": self.edition,
            "language": "en",
            "status": CLIENT_COPY,
            "sections": [{"id": REPORT, "title": TITLE}],
            "version": VERSION,
            "report": cited.as_dict(),
        }

    def _manifest(self, folder: Path, anchors: Mapping[str, str]) -> dict[str, Any]:
        return {
            "schema_version": SCHEMA_VERSION,
            "edition": self.edition,
            "client": {"name": KIND, "slug": EVIDENCE},
            "as_of": self.day,
            "status": KIND,
            "sections": [SECTION],
            "content_sha256": self.digest,
            "anchors": dict(anchors),
            "outputs": list_outputs(folder),
            "versions": versions(),
            "python": python_version(),
        }


def _refuse(faults: Any) -> None:
    if found := tuple(f"the evidence report cannot be built: {fault}" for fault in faults):
        raise MemoRejected(found)


def _anchors(document: Document) -> dict[str, str]:
    """How each figure, table and heading with an id of the report's own is called."""
    return {anchor: called for anchor, called in document.called.items() if "-report" in anchor}


def _result(folder: Path, manifest: Mapping[str, Any], *, reused: bool, messages: tuple[str, ...] = ()) -> ReportResult:
    cited = Cited(manifest["edition"], manifest["anchors"])
    return ReportResult(manifest["edition"], folder, cited, reused, messages)
