"""One acceptance, from the params and the logs to the memo: frozen copies, judged, run, checked, written, published.

    OUTPUT/<client>/acceptance/<edition>/    acceptance.pdf acceptance.html acceptance.json manifest.json
    OUTPUT/<client>/acceptance/latest        link to the newest, moved last
    OUTPUT/<client>/acceptance/acceptance.*  links into it

Nothing is published unless every step succeeded, so the last good one stays readable.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path
from typing import Any

from fabricreport.base.errors import InputError, MemoRejected, Problem, SectionFailed
from fabricreport.base.files import HAS_LINKS
from fabricreport.base.locations import did_you_mean, read_bytes_strict
from fabricreport.base.project import project_of
from fabricreport.base.text import clean_text, visible
from fabricreport.blocks.nodes import Heading, Node, Num, rebuilt
from fabricreport.case import open_case
from fabricreport.delivery.facts import SECTION, Delivery, facts_of
from fabricreport.delivery.study import accept, folder_of, handed_beside, plan_of, read_logs
from fabricreport.memo.build import front_matter, manifest_of, run_plan
from fabricreport.memo.document.checks import check_memo
from fabricreport.memo.document.document import Document, document_of, stitch
from fabricreport.memo.document.leaks import leaks, machine_folders
from fabricreport.memo.document.pieces import first_heading, gather
from fabricreport.memo.editions.editions import latest_edition, publish
from fabricreport.memo.editions.locks import disk_errors, scratch_folder
from fabricreport.memo.editions.manifest import (
    MANIFEST,
    SECTION_TIMEOUT_S,
    RunRecord,
    list_outputs,
    sealed,
    section_title,
)
from fabricreport.memo.editions.remains import clear_failed, keep_failed
from fabricreport.memo.run import snapshot as prints
from fabricreport.memo.run.overlay import OwnNotebooks
from fabricreport.memo.run.plan import BuildPlan, Ready, make_ready
from fabricreport.memo.run.recall import Places, cache_place
from fabricreport.memo.run.snapshot import Fingerprint, sha256, take_snapshot

FILES = ("acceptance.pdf", "acceptance.html", "acceptance.json")
IN_FULL = "sec-acceptance-annex"
"""Where the part begins that holds every threshold: it stands in the HTML, for it is as long as the plan."""
_MOST_BYTES = 32_000_000
_LONGEST_NAME = 120


@dataclass(frozen=True)
class Accepted:
    """A published acceptance: its folder, and what its data say."""

    folder: Path
    facts: Mapping[str, Any]
    messages: tuple[str, ...] = ()


def deliver(
    params_path: Path,
    logs: Sequence[Path],
    *,
    output: Path,
    option: str = "",
    places: Places | None = None,
    trusted: bool = True,
) -> Accepted:
    """Judge the logs (files, and folders of files) against the plan of these params and publish the memo below `output`.

    `option`: the one that was delivered, where two are as good; else the advised one.
    Raises `InputError` with every fault of params and logs before anything runs, the notebook being another project's and not
    `trusted` among them, `SectionFailed` and `MemoRejected` as a
    build does; what was published before stays as it is.
    """
    places = places or Places.of(params_path)
    logs = _files(logs)
    ready = make_ready(params_path, places)
    own = OwnNotebooks(ready.loaded, replace(places, trusted=trusted))
    if problems := [*own.untrusted([places.notebook(SECTION)])]:
        raise InputError(problems)
    with disk_errors(output), scratch_folder(output) as scratch:
        work = scratch / "work"
        work.mkdir()
        snapshot = take_snapshot(
            ready.loaded.params, ready.loaded.path, work / "inputs", project_params=places.project_params
        )
        hashes = _freeze(logs, snapshot.folder / folder_of(_known(option, ready)))
        plan = _plan(ready, snapshot, hashes, work, places)
        del ready
        delivery = _judged(snapshot.params_json, logs)
        notebook = _run(plan, work, output, params_path)
        facts = facts_of(delivery.found)
        folder = scratch / plan.edition
        _write(folder, plan, notebook, facts)
        project = project_of(params_path.parent)
        machine = machine_folders(
            {"the scratch folder": scratch, "the output folder": output, "the project's folder": project}
        )
        if found := tuple(leaks(folder, machine)):
            raise MemoRejected(found)
        (folder / MANIFEST).write_bytes(sealed(_manifest(plan, facts, hashes, folder)))
        return _published(scratch, output, plan, facts)


def _files(named: Iterable[Path]) -> list[Path]:
    """The files named and those in the folders named, hidden ones left out, in one order whatever theirs is."""
    found = [file for path in named for file in (path.iterdir() if path.is_dir() else [path])]
    return sorted((f for f in found if not f.name.startswith(".")), key=lambda path: (path.name, str(path)))


def _known(option: str, ready: Ready) -> str:
    """The option that is named, if the client compares it: nothing is made under a name that nobody knows."""
    known = [o.id for o in (ready.case.options if ready.case else ())]
    if option and known and option not in known:
        near, shown = did_you_mean(option, known), visible(option)[:_LONGEST_NAME]
        raise InputError(Problem("is no option of this client", key="--option", value=shown, suggestion=near))
    return option


def _freeze(logs: Sequence[Path], folder: Path) -> dict[str, str]:
    """Copy every file into a folder of its own, in their order; the hash of each by its name, which says of what test it is.

    `InputError` names what cannot be read.
    """
    hashes: dict[str, str] = {}
    problems: list[Problem] = []
    folder.mkdir()
    for number, path in enumerate(logs):
        try:
            data = read_bytes_strict(path, max_bytes=_MOST_BYTES)
            name = clean_text(path.name, file=str(path), max_chars=_LONGEST_NAME, one_line=True)
        except InputError as error:
            problems += error.problems
            continue
        place = folder / f"{number:06d}" / name
        place.parent.mkdir(parents=True)
        place.write_bytes(data)
        hashes[f"{folder.name}/{number:06d}/{name}"] = sha256(data)
    if problems:
        raise InputError(problems)
    return hashes


def _judged(params_json: Path, logs: Sequence[Path]) -> Delivery:
    """The delivery, judged on the copies; faults name the user's own files."""
    case = open_case(params_json)
    option, files = handed_beside(params_json)
    plan = plan_of(case, option)
    own = {str(file.path): str(path) for file, path in zip(files, logs, strict=True)}
    try:
        read = read_logs(case, plan, files)
    except InputError as error:
        raise InputError(_renamed(problem, own) for problem in error.problems) from None
    return Delivery(accept(case, plan, read))


def _renamed(problem: Problem, own: Mapping[str, str]) -> Problem:
    """A fault of a copy as one of the user's file: the copy is told by its folder's number and its name."""
    tail = "/".join(Path(problem.file).parts[-2:])
    return replace(problem, file=next((path for copy, path in own.items() if copy.endswith(tail)), problem.file))


def _plan(ready: Any, snapshot: Any, hashes: Mapping[str, str], work: Path, places: Places) -> BuildPlan:
    """What is run and from what, as a build says it of its sections."""
    source, copy = places.notebook(SECTION), work / "sources" / f"{SECTION}.ipynb"
    copy.parent.mkdir()
    shutil.copyfile(source, copy)
    params = ready.loaded.params
    found = Fingerprint(
        params=snapshot.params_sha256,
        inputs={**snapshot.hashes, **hashes},
        notebooks={SECTION: prints.notebook_digest(copy)},
        notebook_helpers=prints.helpers_digest([source]),
        package=prints.package_digest(),
        versions=prints.versions(),
        python=prints.python_version(),
        seed=int(params.seed),
        variant=SECTION,
    )
    day = params.as_of.isoformat()
    edition = f"{day}-{found.digest[:8]}-{SECTION}"
    slug, sources, copies = ready.loaded.slug, {SECTION: source}, {SECTION: copy}
    return BuildPlan(params, slug, day, (SECTION,), sources, copies, snapshot, found, edition, False, "")


def _run(plan: BuildPlan, work: Path, output: Path, params_path: Path) -> Any:
    """The executed notebook, stripped of what varies from run to run."""
    limits = SECTION_TIMEOUT_S, SECTION_TIMEOUT_S  # one cell reads every log
    record, notebooks = run_plan(plan, cache_place(output).folder or work, work, limits=limits)
    if record.cancelled:
        raise KeyboardInterrupt
    if not record.ok:
        raise SectionFailed(keep_failed(record, output, plan, params_path))
    return notebooks[SECTION]


def _write(folder: Path, plan: BuildPlan, notebook: Any, facts: Mapping[str, Any]) -> None:
    """`acceptance.pdf`, `.html` and `.json`; `MemoRejected` lists what a client may not see."""
    from fabricreport.memo.write.exporters import write_both

    title = {"title": section_title(notebook, SECTION)}
    document, faults = documented(notebook, front_matter(plan, {SECTION: notebook}, title))
    if faults:
        raise MemoRejected(faults)
    folder.mkdir()
    write_both(folder, SECTION, notebook, document, paper=two_pages(document))
    text = json.dumps(facts, ensure_ascii=False, indent=1, allow_nan=False)
    (folder / FILES[2]).write_text(text + "\n", encoding="utf-8")


def documented(notebook: Any, front: Mapping[str, Any]) -> tuple[Document, list[str]]:
    """The executed notebook as a document, and what its checks find. Its first heading is its title, and said once."""
    memo = stitch({SECTION: notebook}, front)
    found = gather(memo)
    faults = check_memo(found)
    title = first_heading(found.pieces)
    found.pieces = [replace(p, nodes=tuple(n for n in p.nodes if n is not title)) for p in found.pieces]
    return document_of(found, memo), faults


def two_pages(document: Document) -> Document:
    """The document as it is printed: what goes to the meeting. Every threshold, sources and derivations stand in the HTML."""

    def bare(node: Node) -> Node:
        return replace(node, footing="") if isinstance(node, Num) else node

    body = takewhile(lambda node: not (isinstance(node, Heading) and node.id == IN_FULL), document.body)
    return replace(
        document,
        glance=document.glance and rebuilt(document.glance, of_node=bare),
        body=tuple(rebuilt(node, of_node=bare) for node in body),
        first=(),
        annexes=(),
        contents=(),
        sources=(),
        derivations=(),
        inputs=(),
        input_sets=(),
        sources_heading=None,
        derivations_heading=None,
    )


def _manifest(plan: BuildPlan, facts: Mapping[str, Any], hashes: Mapping[str, str], folder: Path) -> dict[str, Any]:
    head = {"verdict": facts["verdict"], "option": facts["option"]}
    told = {"faults": [], "only": SECTION, "logs": dict(hashes)}
    return manifest_of(plan, RunRecord(()), head, told, list_outputs(folder))


def _published(scratch: Path, output: Path, plan: BuildPlan, facts: Mapping[str, Any]) -> Accepted:
    """Move the folder to its place, then the links: whoever reads meanwhile has the old or the new, never a mixture."""
    home = output / plan.slug
    if home.is_symlink():
        raise InputError(Problem("is a symbolic link", str(home), remedy="Remove the link."))
    home.mkdir(exist_ok=True)
    (home / SECTION).mkdir(exist_ok=True)
    link_newest(home / SECTION)  # they lead nowhere before the first is published, and never to half of one
    standing = latest_edition(output, plan.slug)
    at = publish(scratch, home, SECTION, plan.edition, run={"memo": standing.edition if standing else ""})
    clear_failed(output, plan.slug)
    return Accepted(home / SECTION if HAS_LINKS else at.folder, facts, at.messages)


def link_newest(home: Path) -> None:
    """Have the three files of a folder of acceptances lead to the newest; nothing that stands in their place is replaced."""
    for name in FILES if HAS_LINKS else ():
        link, newest = home / name, Path("latest", name)
        if link.is_symlink() and link.readlink() == newest:
            continue
        if link.exists() or link.is_symlink():
            remedy = "Move it away and run the command again."
            raise InputError(Problem("stands where a link to the newest acceptance belongs", str(link), remedy=remedy))
        try:
            link.symlink_to(newest)
        except FileExistsError:  # a first acceptance beside this one made it
            if not link.is_symlink() or link.readlink() != newest:
                raise
