"""One build, from the params file to the published edition.

    plan (check, freeze) -> run sections -> stitch -> check -> render -> write -> publish

Nothing is published unless every step succeeded; the folder of the last edition is not touched by a failure. What was
built before from the same inputs is answered first: modules that only a build at work needs are imported by it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabricreport.base.errors import InputError, MemoRejected, SectionFailed
from fabricreport.base.project import PACKAGE, project_of
from fabricreport.base.text import Shown, visible
from fabricreport.base.version import VERSION
from fabricreport.memo.editions.editions import edition_before, publish
from fabricreport.memo.editions.locks import disk_errors, refused_by_disk, scratch_folder
from fabricreport.memo.editions.manifest import (
    CELL_TIMEOUT_S,
    MANIFEST,
    SCHEMA_VERSION,
    SECTION_TIMEOUT_S,
    ProgressCall,
    RunRecord,
    SectionRun,
    headline_facts,
    list_outputs,
    read_sealed,
    sealed,
)
from fabricreport.memo.report import Cited, make_report, standing_report
from fabricreport.memo.run.recall import Places, Planned, Question, cache_place, recall, remember

if TYPE_CHECKING:
    from nbformat import NotebookNode

    from fabricreport.books.prices.rules import PriceRow
    from fabricreport.check.dates import Dates
    from fabricreport.memo.document.checks import Proof
    from fabricreport.memo.document.document import Document
    from fabricreport.memo.run.execution import Runtime
    from fabricreport.memo.run.plan import BuildPlan
    from fabricreport.memo.run.recall import Stamp

# Spelt here because strftime follows the locale of whoever builds.
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


@dataclass(frozen=True, repr=False)
class BuildResult(Shown):
    """A published edition and what its memo says.

    `headline` is what the decision section declared (recommendation, confidence, ...; empty without it), with
    `numbers` as a list of {id, label, text, value, unit}. `faults` are a draft's unmended checks. `reused`: the
    same inputs had been built before, so nothing was run. `remarks`: what an editor would mend. `docx`: the editable copy, if asked for.
    """

    client: str
    slug: str
    edition: str
    folder: Path
    status: str
    headline: Mapping[str, Any]
    record: RunRecord
    faults: tuple[str, ...] = ()
    messages: tuple[str, ...] = ()
    reused: bool = False
    remarks: tuple[str, ...] = ()
    docx: Path | None = None

    @property
    def memo_html(self) -> Path:
        """The memo for a browser."""
        return self.folder / "memo.html"

    @property
    def memo_pdf(self) -> Path:
        """The memo for print."""
        return self.folder / "memo.pdf"

    @property
    def manifest(self) -> dict[str, Any]:
        """The edition's manifest."""
        return read_sealed(self.folder / MANIFEST)

    @property
    def facts(self) -> Mapping[str, Any]:
        """What it shows of itself."""
        told = {"Edition": f"{self.slug}/{self.edition}", "Status": self.status, **headline_facts(self.headline)}
        return told | {"Memo": self.memo_pdf} | ({"Faults": "; ".join(self.faults)} if self.faults else {})

    def as_dict(self) -> dict[str, Any]:
        """What machines are told: all but how the sections ran."""
        own = {key: value for key, value in vars(self).items() if key != "record"}
        return own | {"pdf": self.memo_pdf, "html": self.memo_html}


def build(
    params_path: str | Path,
    *,
    output: str | Path,
    only: str | None = None,
    trial: Mapping[str, Any] | None = None,
    draft: bool = False,
    attach: bool = True,
    as_of: str | date | None = None,
    progress: ProgressCall | None = None,
    dates: Callable[[Dates], None] | None = None,
    places: Places | None = None,
    cell_timeout_s: float = CELL_TIMEOUT_S,
    section_timeout_s: float = SECTION_TIMEOUT_S,
    last_good: Sequence[PriceRow] | None = None,
    trust_notebooks: bool = False,
) -> BuildResult:
    """Build one memo and publish it below `output`.

    `only` builds one section as a draft into `output/<slug>/partial/` and leaves `latest` alone; a `trial` does so into `trials/`, with
    other values of keys (`cluster.gpus`) and entries (`price:ITEM`), which page one names; `draft` warns where a client copy would be
    refused; without `attach` nothing goes into memo.pdf. `dates` is handed the dates that today's may be held against, before a section
    runs. A row of a price file that is no price ends the build; with `last_good` it goes on with these prices, and with the good ones.
    Notebooks of another project than the current folder's are run if `trust_notebooks`. Raises `InputError` (2), `SectionFailed` (3),
    `MemoRejected` (4) and lets a KeyboardInterrupt through after ending all processes.
    >>> build("params/example.yaml", output=output).reused
    True
    """
    root, tell_dates = Path(output), dates or (lambda _: None)
    places = places or Places.of(Path(params_path), trusted=trust_notebooks)
    question = Question(Path(params_path), places, str(as_of or ""), only or "", draft, attach, trial or {})
    found, before = _again(root, question, tell_dates)
    if found is not None:
        return found
    from fabricreport.memo.run.plan import make_plan, make_ready, tried

    ready = make_ready(Path(params_path), places, as_of, going_on=last_good is not None)
    ready = tried(ready, trial, as_of) if trial else ready
    report = cited_report(root, places, progress)
    with disk_errors(root), scratch_folder(root) as scratch:
        work = scratch / "work"
        work.mkdir()
        plan = make_plan(
            ready.loaded, work, only=only, trial=trial or {}, draft=draft, attach=attach, as_of=as_of, places=places, last_good=last_good or (),
            report=report, before=partial(edition_before, root),
        )  # fmt: skip
        planned = plan.planned(ready.dates)
        remember(root, question, before if last_good is None else None, planned, plan.snapshot)
        if ready.dates:
            tell_dates(ready.dates)
        del ready
        cache = cache_place(root)
        plan = replace(plan, notes=(*plan.notes, *filter(None, [cache.message])))
        if found := _published_before(replace(planned, notes=plan.notes), root, scratch):
            return found
        limits = cell_timeout_s, section_timeout_s
        record, notebooks = run_plan(plan, cache.folder or work / "cache", work, progress or (lambda _: None), limits)
        if not record.ok:
            raise _error_of(record, root, plan, question)
        return _finish(plan, root, scratch, record, notebooks, _not_to_be_named(plan, root, scratch))


def built_before(
    params_path: str | Path, *, output: str | Path, dates: Callable[[Dates], None] | None = None
) -> BuildResult | None:
    """What `build` would answer without building anything; None if there is something to build, or to refuse."""
    question = Question(Path(params_path), Places.of(Path(params_path)))
    return _again(Path(output), question, dates or (lambda _: None))[0]


def cites_well(root: Path, places: Places) -> bool:
    """Whether the evidence report that memos in an output folder cite is there as it would be built now."""
    return places.report is None or standing_report(root, places.report) is not None


def cited_report(root: Path, places: Places, progress: ProgressCall | None = None) -> Cited | None:
    """The evidence report that memos in an output folder cite, built first where it is missing or out of date."""
    return None if places.report is None else make_report(root, notebook=places.report, progress=progress).cited


def _again(
    root: Path, question: Question, tell_dates: Callable[[Dates], None]
) -> tuple[BuildResult | None, Stamp | None]:
    """The edition that was built of the same inputs, if it and the report that it cites are there; and the stamp of what a
    build rests on."""
    stamp = question.stamp()
    known = recall(root, question, stamp)
    found = None if known is None or not cites_well(root, question.places) else _answered(known, root, tell_dates)
    return found, stamp


def _error_of(record: RunRecord, root: Path, plan: BuildPlan, question: Question) -> BaseException:
    """Why nothing came of a run; the notebooks of sections that failed are kept, and named."""
    from fabricreport.memo.editions.remains import keep_failed

    if record.cancelled:
        return KeyboardInterrupt()
    if record.unsaved:
        return refused_by_disk(record.unsaved.ename, root)
    return SectionFailed(keep_failed(record, root, plan, question.params_path))


def _answered(known: Planned, root: Path, tell_dates: Callable[[Dates], None]) -> BuildResult | None:
    """The edition that these inputs are known to come to, if it is there and whole."""
    if root.is_symlink():  # refused by whoever makes the scratch folder
        return None
    with disk_errors(root):
        found = _published_before(known, root, root)  # nothing is moved, so there is no scratch folder
    if found is not None and known.dates:
        tell_dates(known.dates)
    return found


def _not_to_be_named(plan: BuildPlan, root: Path, scratch: Path) -> Mapping[str, str]:
    """The folders of this machine that nothing published may name, each with what it is."""
    from fabricreport.memo.document.leaks import machine_folders, not_said_by

    project = project_of(plan.snapshot.origins["params.json"].parent)
    own = machine_folders(
        {"the build's scratch folder": scratch, "the output folder": root, "the project's folder": project}
    )
    return not_said_by(plan.snapshot.folder, own)


def _published_before(planned: Planned, root: Path, scratch: Path) -> BuildResult | None:
    """The same edition, if it is there and whole: building it again would give the same bytes."""
    home = root / planned.slug / planned.aside
    if not (home / planned.edition / MANIFEST).exists():
        return None
    at = publish(scratch, root, planned.slug, planned.edition, draft=planned.draft, aside=planned.aside)
    manifest = read_sealed(at.folder / MANIFEST)
    runs = tuple(SectionRun(**facts) for facts in manifest["run"])
    return _result(at.folder, manifest, RunRecord(runs), (*planned.notes, *at.messages), reused=True)


def run_plan(
    plan: BuildPlan,
    store: Path,
    work: Path,
    progress: ProgressCall = lambda _: None,
    limits: tuple[float, float] = (CELL_TIMEOUT_S, SECTION_TIMEOUT_S),
    runtime: Runtime | None = None,
) -> tuple[RunRecord, dict[str, NotebookNode]]:
    """Executed and stripped notebooks by section; `store` keeps matplotlib's list of fonts, where no `runtime` has it. Whoever
    has one looks at prose cells that cannot be read for itself."""
    from fabricreport.check.prose import refuse_unreadable
    from fabricreport.memo.run.environment import compile_checked
    from fabricreport.memo.run.execution import run_sections, stripped

    if runtime is None:
        refuse_unreadable(plan.notebooks.values())
    compile_checked(PACKAGE, *plan.folders.values())
    record = run_sections(
        plan.notebooks,
        plan.snapshot.params_json,
        work / "executed",
        cell_timeout_s=limits[0],
        section_timeout_s=limits[1],
        progress=progress,
        matplotlib_dir=store / "matplotlib",
        folders=plan.folders,
        watched=plan.params.extras,
        runtime=runtime,
    )
    return record, stripped(record, plan.snapshot.folder.parent)


def _finish(
    plan: BuildPlan,
    root: Path,
    scratch: Path,
    record: RunRecord,
    notebooks: dict[str, NotebookNode],
    machine: Mapping[str, str],
) -> BuildResult:
    """Stitch, check, render, write and publish; `machine` names the folders that nothing published may name."""
    from fabricreport.memo.document.checks import edit_faults, page_one_remarks, prove
    from fabricreport.memo.document.document import document_of, headline, merged_ledger, stitch
    from fabricreport.memo.document.leaks import leaks, text_leaks
    from fabricreport.memo.document.pieces import gather
    from fabricreport.memo.editions.manifest import headline_of, key_prices
    from fabricreport.memo.editions.remains import clear_failed, keep_inputs
    from fabricreport.memo.run.notebook import CHANGED

    memo = stitch(notebooks, _citing(plan))
    found, changes = gather(memo), dict[str, list[str]]()
    by_hand = [*edit_faults(found.edits, found.ledger, plan.params.adopted, plan.cell_ids)]
    if plan.fingerprint.since:
        head = headline_of(headline(found), merged_ledger(found))
        notebooks, notes, changes = _with_changes(plan, root, scratch, notebooks, head)
        plan = replace(plan, notes=(*plan.notes, *notes))
        memo = stitch(notebooks, _citing(plan))
        found = gather(memo)
    memo.metadata["fabricreport"] = front_matter(plan, notebooks, headline(found))
    proof = prove(memo, found, draft=plan.draft)
    faults = _accepted((*by_hand, *proof.faults), plan)
    folder = scratch / plan.edition
    document = document_of(proof.printed, proof.memo)
    badly_set = _write_outputs(folder, proof, document, notebooks, attach=plan.attach)
    _write_own_files(folder, proof.files)
    keep_inputs(folder, plan.snapshot)
    ledger = merged_ledger(proof.found)
    head = headline_of(headline(proof.found, document.glance), ledger)
    faults += _accepted(leaks(folder, machine), plan)
    changed = ((s, nb.metadata[CHANGED]) for s, nb in notebooks.items() if CHANGED in nb.metadata)
    undone = [f"{section}.ipynb changed {', '.join(what)}, which was put back" for section, what in changed]
    told = {"faults": list(faults), "remarks": [*page_one_remarks(document), *badly_set, *proof.remarks, *undone]}
    facts = {**told, "prices": key_prices(head, ledger), "changes": changes}
    manifest = manifest_of(plan, record, head, facts, list_outputs(folder))
    _accepted(text_leaks(MANIFEST, json.dumps(manifest, ensure_ascii=False, allow_nan=False), machine), plan)
    (folder / MANIFEST).write_bytes(sealed(manifest))
    run = {"sections": [r.as_dict() for r in record.sections]}
    at = publish(scratch, root, plan.slug, plan.edition, run=run, draft=plan.draft, aside=plan.aside)
    clear_failed(root, plan.slug)
    return _result(at.folder, manifest, record, (*plan.notes, *at.messages), reused=at.reused)


def _with_changes(
    plan: BuildPlan, root: Path, scratch: Path, notebooks: dict[str, NotebookNode], head: Mapping[str, Any]
) -> tuple[dict[str, NotebookNode], tuple[str, ...], dict[str, list[str]]]:
    """The notebooks with what changed since the edition before, and its causes for the news; without it where that cannot be
    worked out again, or is a bug of ours, and why: nobody is left without a memo for what it says of another."""
    from fabricreport.memo.editions.annex import behind_summary, with_changes
    from fabricreport.memo.editions.redline import redline
    from fabricreport.memo.editions.remains import keep_inputs

    spine = plan.params.asked.spine
    if spine not in notebooks or not behind_summary(notebooks[spine]) or not head.get("numbers"):
        return notebooks, (), {}
    now, before = scratch / "kept" / plan.edition, root / plan.slug / plan.fingerprint.since
    keep_inputs(now, plan.snapshot)
    (now / MANIFEST).write_bytes(sealed({"headline": head, "outputs": list_outputs(now)}))
    day = date.fromisoformat(plan.fingerprint.since[:10])
    try:
        found = redline(before, now)
        return with_changes(notebooks, spine, found, (day.isoformat(), _in_words(day))), (), found.why()
    except Exception as error:
        bug = "" if isinstance(error, InputError) else f"a bug of ours, {type(error).__name__}: "
        note = f"the memo does not tell what changed since {before.name}: {bug}{visible(error, 1000)}"
        return notebooks, (note,), {}


def _in_words(day: date) -> str:
    return f"{day.day} {_MONTHS[day.month - 1]} {day.year}"


def _accepted(faults: Iterable[str], plan: BuildPlan) -> tuple[str, ...]:
    """The faults of a draft; a client copy must have none."""
    found = tuple(faults)
    if found and not plan.draft:
        raise MemoRejected(found)
    return found


def front_matter(plan: BuildPlan, notebooks: Mapping[str, Any], declared: Mapping[str, Any]) -> dict[str, Any]:
    """What a memo's title block says; `declared` may hold its title and its subject."""
    from fabricreport.memo.editions.manifest import section_title
    from fabricreport.scenario import brand_of

    params = plan.params
    subject = params.memo.subject or str(declared.get("subject") or "")
    return {
        "title": str(declared.get("title") or subject),
        "client": params.client.name,
        "to": params.memo.to,
        "from": params.memo.from_,
        "date": plan.as_of,
        "date_text": _in_words(params.as_of),
        "edition": plan.edition,
        "subject": subject,
        "language": params.memo.language,
        "status": plan.status,
        "seed": plan.fingerprint.seed,
        "trial": plan.trial,
        "since": plan.fingerprint.since,
        "sections": [{"id": s, "title": section_title(nb, s)} for s, nb in notebooks.items()],
        "version": VERSION,
        "brand": brand_of(params, plan.snapshot.folder),
        **_citing(plan),
    }


def _citing(plan: BuildPlan) -> dict[str, Any]:
    """What the front matter says of the evidence report, for references into it, and of the client's own sections."""
    extras = {"extras": list(plan.params.extras)} if plan.params.extras else {}
    return {**({"report": plan.report.as_dict()} if plan.report else {}), **extras}


def _write_outputs(
    folder: Path, proof: Proof, document: Document, notebooks: Mapping[str, Any], *, attach: bool
) -> tuple[str, ...]:
    """`memo.html`, `memo.pdf`, `memo.xlsx`, `ledger.json`, `data/*.csv` and `notebooks/*.ipynb`; a fault of any is raised.

    Gives what stands badly on the printed pages.
    """
    from concurrent.futures import ThreadPoolExecutor

    from fabricreport.memo.document.document import write_data, write_ledger
    from fabricreport.memo.write.exporters import attached, write_both
    from fabricreport.memo.write.workbook import workbook

    folder.mkdir()
    write_ledger(folder, proof.found)
    (folder / "memo.xlsx").write_bytes(workbook(document, proof.found.accounts))
    attachments = attached(folder) if attach else None
    # Typst works outside Python's lock: the rest is written meanwhile.
    with ThreadPoolExecutor(1) as beside:
        written = beside.submit(write_both, folder, "memo", proof.memo, document, attachments=attachments)
        write_data(folder, document, proof.found, notebooks)
        return written.result()


def _write_own_files(folder: Path, files: Mapping[str, Any]) -> None:
    """`<name>.pdf` and `<name>.html` of the cells that are tagged `file:<name>`."""
    from fabricreport.memo.document.document import document_from_notebook
    from fabricreport.memo.write.exporters import write_both

    for name, part in files.items():
        write_both(folder, name, part, document_from_notebook(part))


def manifest_of(
    plan: BuildPlan,
    record: RunRecord,
    head: Mapping[str, Any],
    told: Mapping[str, Any],
    outputs: list[dict[str, Any]],
) -> dict[str, Any]:
    """What an edition says of itself: from what it was made and how that went; `told` goes before what the plan says."""
    return {
        "schema_version": SCHEMA_VERSION,
        "edition": plan.edition,
        "client": {"name": plan.params.client.name, "slug": plan.slug},
        "as_of": plan.as_of,
        "status": plan.status,
        "only": plan.only,
        **({"trial": plan.trial} if plan.trial else {}),
        "sections": list(plan.sections),
        "content_sha256": plan.fingerprint.digest,
        "fingerprint": asdict(plan.fingerprint),
        "inputs": [asdict(f) for f in plan.snapshot.files],
        "outputs": outputs,
        "versions": dict(plan.fingerprint.versions),
        "python": plan.fingerprint.python,
        "seed": plan.fingerprint.seed,
        "run": record.facts(),
        "headline": dict(head),
        **told,
    }


def _result(
    folder: Path, manifest: Mapping[str, Any], record: RunRecord, messages: tuple[str, ...], *, reused: bool
) -> BuildResult:
    record = RunRecord(tuple(replace(run, notebook="") for run in record.sections))  # the scratch folder is gone
    return BuildResult(
        manifest["client"]["name"],
        manifest["client"]["slug"],
        manifest["edition"],
        folder,
        manifest["status"],
        manifest["headline"],
        record,
        tuple(manifest["faults"]),
        messages,
        reused,
        tuple(manifest.get("remarks", ())),
    )
