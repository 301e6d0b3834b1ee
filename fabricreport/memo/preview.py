"""A memo that follows its files: it is drawn as its next draft would be, in a folder that goes at the end, by a kernel that stays."""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial
from itertools import count, takewhile
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from fabricreport.base.errors import FabricReportError, InputError
from fabricreport.base.project import PACKAGE, book_folder
from fabricreport.base.text import visible
from fabricreport.blocks.cells import written_at
from fabricreport.check.prose import refuse_unreadable
from fabricreport.memo.build import front_matter
from fabricreport.memo.document.checks import edit_faults, prove
from fabricreport.memo.document.document import document_of, headline, stitch
from fabricreport.memo.document.pieces import gather
from fabricreport.memo.editions.manifest import CELL_TIMEOUT_S, SECTION_TIMEOUT_S, Progress, SectionRun
from fabricreport.memo.report import standing_report
from fabricreport.memo.run.environment import compile_checked, ready_fonts, section_environment
from fabricreport.memo.run.execution import OUTPUT_LIMIT_BYTES, runtime_folder
from fabricreport.memo.run.noise import source_bytes, strip_volatile
from fabricreport.memo.run.notebook import SKIPPED, Part, merge, prepared, skip, taken_out
from fabricreport.memo.run.plan import BuildPlan, make_plan, make_ready
from fabricreport.memo.run.recall import Places
from fabricreport.memo.run.session import Limits, Session, end_kernel, execute, new_kernel
from fabricreport.memo.run.snapshot import BOOKS, PART, Fingerprint
from fabricreport.memo.server import PreviewServer
from fabricreport.memo.write.exporters import FabricReportHTMLExporter

POLL_S = 0.25
_LIMITS = Limits(CELL_TIMEOUT_S, SECTION_TIMEOUT_S, OUTPUT_LIMIT_BYTES)
_FOLLOW = "__import__('fabricreport.memo.run.moments', fromlist=['follow']).follow"
_IN_CELL = re.compile(r"(\S+)\.ipynb, cell (\d+): ")
_TRACED = re.compile(r"Cell In\[\d+\], line (\d+)")
_QUOTED = re.compile(r"[{“'\"‘]([^{}“”‘’'\"]+)[}”'\"’]")


def first_new(ran: Sequence[Any], cells: Sequence[Any]) -> int | None:
    """Where a notebook has to run from: its first cell that is not what ran there; None where all of it is what ran."""
    same = len([*takewhile(lambda pair: pair[0] == pair[1], zip(ran, cells, strict=False))])
    return None if same == len(ran) == len(cells) else same


class Preview:
    """A client's memo and the kernel with its case."""

    def __init__(self, params: Path, output: Path, server: PreviewServer, *, trusted: bool) -> None:
        self.params, self.output, self.server = params, output, server
        self._places = Places.of(params, trusted=trusted)
        self._slug, self._named = "", tuple[Path, ...]()
        self._case = Path()
        self._last: Fingerprint | None = None
        # Of each notebook: its cells that ended well, with their sources; it as it last ran whole; how it ended otherwise.
        self._ran: dict[str, tuple[Sequence[bytes], Sequence[Any]]] = {}
        self._good: dict[str, NotebookNode] = {}
        self._ends: dict[str, SectionRun] = {}

    def follow(self) -> None:
        """Run and show the memo, and what is saved from then on, until an interrupt, which passes."""
        self._folder = runtime_folder()
        self._kernel, seen = new_kernel(self._folder), dict[Path, Any]()
        try:
            self.server.tell(doing="Starting a kernel")
            self._env = section_environment(os.environ, self._folder)
            self._env["MPLCONFIGDIR"] = str(ready_fonts(self._env, [self._folder / "matplotlib"]))
            for turn in count():
                while (now := self._stamps()) == seen:
                    time.sleep(POLL_S)
                work = self._folder / str(turn)
                try:
                    faults = self._turn(work)
                except Exception as error:  # a bug of ours does not end it either
                    time.sleep(POLL_S)
                    if self._stamps() != now:  # an editor was at half of what it saves
                        continue
                    bug = "" if isinstance(error, FabricReportError) else f"a bug of ours, {type(error).__name__}: "
                    faults = [*map(str, error.problems)] if isinstance(error, InputError) else [f"{bug}{error}"]
                if work != self._case.parent.parent:
                    shutil.rmtree(work, ignore_errors=True)
                seen = {path: now.get(path, stamp) for path, stamp in self._stamps().items()}
                self.server.tell(doing="", faults=[visible(fault, 2_000) for fault in faults])
        finally:
            end_kernel(self._kernel)
            shutil.rmtree(self._folder, ignore_errors=True)

    def _stamps(self) -> dict[Path, Any]:
        """When each file was changed that the memo rests on, and its size."""
        places, beside = self._places, self.params.parent
        books = [book_folder(beside, book, places.project_params) for book in BOOKS]
        tops = {*places.notebook_folders, *books, PACKAGE, *([beside / self._slug] if self._slug else [])}
        walked = [(top, Path(at, name)) for top in tops for at, _, names in os.walk(top) for name in names]
        hidden = (".", "__py")
        found = {path for top, path in walked if not any(p.startswith(hidden) for p in path.relative_to(top).parts)}
        return {path: _stamp(path) for path in {*found, self.params, *self._named}}

    def _turn(self, work: Path) -> list[str]:
        """Run what is new and draw the memo; gives what is wrong with it."""
        self.server.tell(doing="Reading params, books and notebooks")
        places, loaded = self._places, make_ready(self.params, self._places).loaded
        found = standing_report(self.output, places.report) if places.report else None
        work.mkdir()
        plan = make_plan(loaded, work, draft=True, places=places, report=found.cited if found else None)
        self._slug, self._named = plan.slug, tuple(plan.snapshot.origins.values())
        new, last = plan.fingerprint, self._last
        before = last.notebooks if last else {}
        cells = {s: nbformat.read(copy, as_version=4).cells for s, copy in plan.notebooks.items()}  # type: ignore[no-untyped-call]
        try:
            refuse_unreadable(copy for name, copy in plan.notebooks.items() if new.notebooks[name] != before.get(name))
        except InputError as error:
            return [placed(str(problem), cells) for problem in error.problems]
        if not last or (last.notebook_helpers, last.package) != (new.notebook_helpers, new.package) or self._has_died():
            end_kernel(self._kernel)
            self._kernel, self._ran = new_kernel(self._folder), {}
            compile_checked(PACKAGE, *(source.parent for source in plan.sources.values()))
        if not last or (last.params, _case_of(last, plan.slug)) != (new.params, _case_of(new, plan.slug)):
            self._case, self._ran, self._good = plan.snapshot.params_json, {}, {}
        self._last = new
        self._ends = {section: end for section, end in self._ends.items() if section in plan.notebooks}
        starts = self._run(plan)
        if plan.notebooks.keys() <= self._good.keys():
            self.server.tell(doing="Drawing")
            memo, stops = self._drawn(plan)
            well = [f"{plan.sources[s].name} from cell {n} on" for s, n in starts.items() if s not in self._ends]
            named = f"{', '.join(well)}; figures of others are as last run"
            what = named if len(well) < len(plan.sections) else "all notebooks"
            told = f"{datetime.now():%H:%M:%S} Ran {what}." if well else self.server.shown["new"]
            self.server.tell(memo, new=told, stops=[placed(stop, cells) for stop in stops])
        return [_ended(end, cells) for end in self._ends.values()]

    def _run(self, plan: BuildPlan) -> dict[str, int]:
        """Run the notebooks from their first new cells on: its number in each."""
        ready = {section: prepared(path, self._case) for section, path in plan.notebooks.items()}
        sources = {section: [_source(cell) for cell in nb.cells] for section, nb in ready.items()}
        found = {section: first_new(self._ran.get(section, ((), ()))[0], new) for section, new in sources.items()}
        starts = {section: start for section, start in found.items() if start is not None}
        if not starts:
            return {}
        folders = {section: plan.sources[section].parent.resolve() for section in starts}
        merged = merge({section: ready[section] for section in starts}, folders, self._case)
        for part in merged.parts:
            self._begin(merged.notebook.cells, part, starts[part.section], folders[part.section])
        session = Session(merged, _LIMITS, partial(self._tell_step, plan))
        execute(merged.notebook, session, self._env, self._folder, self._kernel)
        if session.cancelled:
            raise KeyboardInterrupt
        for part in merged.parts:
            start, ran = starts[part.section], self._ran.get(part.section, ((), ()))[1]
            for cell, before in zip(session.nb.cells[part.start + 1 : part.stop][:start], ran, strict=False):
                if cell.cell_type == "code":  # papermill has cleared what is not run
                    cell.outputs, cell.execution_count = before.outputs, before.execution_count
            self._take(session, part, sources[part.section], plan)
        return {p.section: p.numbers[min(starts[p.section] + 1, len(p.numbers) - 1)] for p in merged.parts}

    def _begin(self, cells: list[Any], part: Part, start: int, folder: Path) -> None:
        """Have a notebook begin anew, or go on behind its cells that ran."""
        first, own = cells[part.start], cells[part.start + 1 : part.stop][:start]
        code = [cell for cell in own if cell.cell_type == "code"]
        ran = [cell for cell in code if cell.source.strip() and SKIPPED not in cell.metadata.get("tags", ())]
        if part.section not in self._ran:
            first.source += f"\n{_FOLLOW}({part.section!r})"
        else:
            first.source = f"{_FOLLOW}({part.section!r}, {len(ran)}, {str(folder)!r})"
        for cell in code:
            skip(cell)

    def _take(self, session: Session, part: Part, sources: Sequence[bytes], plan: BuildPlan) -> None:
        """Keep what came of a notebook, as far as it got."""
        section, end, cells = part.section, session.ends.get(part.section), session.nb.cells[part.start + 1 : part.stop]
        self._ends.pop(section, None)
        if end is not None and end.ok:
            self._ran[section] = sources, cells
            inputs = {f for folder in (plan.snapshot.folder, self._case.parent) for f in (folder, folder.resolve())}
            folders = {str(folder) for each in inputs for folder in (each, each.parent)}
            self._good[section] = strip_volatile(taken_out(session.nb, part), folders=folders)
            return
        self._ran.pop(section, None)
        if end is not None:
            self._ends[section] = end
            if not end.source_line:  # our own first cell, as where the kernel's folder is gone
                self._last = None
            elif end.cell is not None:
                well = next(n for n, number in enumerate(part.numbers[1:]) if number >= end.cell)
                self._ran[section] = sources[:well], cells

    def _drawn(self, plan: BuildPlan) -> tuple[bytes, tuple[str, ...]]:
        """The page of the next draft, and what would stop a client copy."""
        notebooks = {section: self._good[section] for section in plan.sections}
        memo = stitch(notebooks, front_matter(plan, notebooks, {}))
        found = gather(memo)
        memo.metadata["fabricreport"] = front_matter(plan, notebooks, headline(found))
        proof = prove(memo, found, draft=True)
        page, _ = FabricReportHTMLExporter(document_of(proof.printed, proof.memo)).from_notebook_node(proof.memo)
        by_hand = edit_faults(found.edits, found.ledger, plan.params.adopted, plan.cell_ids)
        return page.encode("utf-8"), (*by_hand, *proof.faults)

    def _tell_step(self, plan: BuildPlan, at: Progress) -> None:
        if at.event == "started":
            self.server.tell(doing=f"Running {plan.sources[at.section].name}")

    def _has_died(self) -> bool:
        process = getattr(self._kernel.provisioner, "process", None)
        return process is not None and process.poll() is not None


def _case_of(fingerprint: Fingerprint, slug: str) -> dict[str, str]:
    """The inputs that a case is made of: all but the client's own notebooks."""
    own = f"{slug}/{PART}/"
    return {name: h for name, h in fingerprint.inputs.items() if not (name.startswith(own) and name.endswith(".ipynb"))}


def _stamp(path: Path) -> tuple[int, ...]:
    try:
        facts = path.stat()
    except OSError:
        return ()
    return facts.st_mtime_ns, facts.st_ctime_ns, facts.st_size, facts.st_ino


def _source(cell: Any) -> bytes:
    return source_bytes(NotebookNode(cells=[cell], metadata={}))  # type: ignore[no-untyped-call]


def _ended(end: SectionRun, cells: Mapping[str, Sequence[Any]]) -> str:
    """How a notebook ended that did not end well: file, cell, line and error."""
    said, name, number = ": ".join(filter(None, (end.ename, end.evalue))), f"{end.section}.ipynb", end.cell
    lines, own = _TRACED.findall(end.traceback), cells.get(end.section, ())
    if number and number <= len(own):
        name, number = written_at(own[number - 1], name, number)
    at = f"{name}, cell {number}"
    return f"{at}, line {lines[-1]}: {said}" if lines else placed(f"{at}: {said}", cells)


def placed(fault: str, cells: Mapping[str, Sequence[Any]]) -> str:
    """A fault of a cell with its line: the first that holds what the fault quotes, the longest before the others."""
    found = _IN_CELL.match(fault)
    if not found:
        return fault
    written = {written_at(c, f"{s}.ipynb", n): c.source for s, own in cells.items() for n, c in enumerate(own, start=1)}
    lines = written.get((f"{found[1]}.ipynb", int(found[2])), "").splitlines()
    quoted: Iterable[str] = sorted(_QUOTED.findall(fault), key=len, reverse=True)
    line = next((n for word in quoted for n, text in enumerate(lines, 1) if word in text), None)
    return fault if line is None else f"{fault[: found.end() - 2]}, line {line}: {fault[found.end() :]}"
