"""The editable copy of a client copy, beside the edition and made of what that holds; one that was edited is never written over."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from fabricreport.base.files import write_atomically
from fabricreport.inputs.dossier import read_params
from fabricreport.memo.build import BuildResult, build, cited_report, front_matter
from fabricreport.memo.document.document import Document, document_of, headline, in_memo, stitch
from fabricreport.memo.document.pieces import gather
from fabricreport.memo.editions.locks import disk_errors
from fabricreport.memo.editions.manifest import read_regular
from fabricreport.memo.editions.remains import INPUTS
from fabricreport.memo.report import Cited
from fabricreport.memo.run.noise import notebook_from_bytes
from fabricreport.memo.run.plan import BuildPlan
from fabricreport.memo.run.recall import Places
from fabricreport.memo.run.snapshot import Fingerprint, Snapshot
from fabricreport.memo.write.docx import DocxWriter


def build_and_copy(path: Path, *, output: Path, **options: Any) -> BuildResult:
    """`build`, with its options, and the copy of what it comes to."""
    made = build(path, output=output, **options)
    document = document_in(made, cited_report(output, options.get("places") or Places.of(path)))
    data, messages = DocxWriter(document).written(), made.messages
    copy = made.folder.with_name(f"{made.edition}.memo.docx")
    with disk_errors(copy):
        if not copy.exists():
            write_atomically(copy, data)
        elif read_regular(copy) != data:
            messages += (f"{copy} was edited and is kept: move it away for a new copy",)
    return replace(made, docx=copy, messages=messages)


def document_in(made: BuildResult, report: Cited | None) -> Document:
    """The document that an edition was written from, read back from it."""
    manifest, inputs, folder = made.manifest, made.folder / INPUTS, made.folder / "notebooks"
    order = [*manifest["sections"], *sorted(file.stem for file in folder.glob("*.ipynb"))]  # the changes come last
    notebooks = {section: notebook_from_bytes((folder / f"{section}.ipynb").read_bytes()) for section in order}
    plan = BuildPlan(
        read_params(inputs / "params.json").params, made.slug, manifest["as_of"], tuple(order), {}, {},
        Snapshot(inputs, ()), Fingerprint(**manifest["fingerprint"]), made.edition, draft=False, only="", report=report,
    )  # fmt: skip
    memo = in_memo(stitch(notebooks, {}))
    memo.metadata["fabricreport"] = front_matter(plan, notebooks, headline(gather(memo)))
    return document_of(gather(memo), memo)
