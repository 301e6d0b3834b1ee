"""A memo that follows its files: it is drawn as its next draft would be, in a folder that goes at the end, by a kernel that stays."""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from fabricreport.base.errors import FabricReportError, InputError, Problem
from fabricreport.base.project import PACKAGE, book_folder
from fabricreport.base.text import visible
from fabricreport.check.prose import prose_faults
from fabricreport.memo.build import front_matter, run_plan
from fabricreport.memo.document.checks import edit_faults, prove
from fabricreport.memo.document.document import document_of, headline, stitch
from fabricreport.memo.document.pieces import gather
from fabricreport.memo.editions.manifest import RunRecord
from fabricreport.memo.report import standing_report
from fabricreport.memo.run.execution import Runtime, runtime_with
from fabricreport.memo.run.plan import BuildPlan, make_plan, make_ready
from fabricreport.memo.run.recall import Places
from fabricreport.memo.run.snapshot import BOOKS, PART
from fabricreport.memo.server import PreviewServer
from fabricreport.memo.write.html import render_html

POLL_S = 0.25
_IN_CELL = re.compile(r"(\S+)\.ipynb, cell (\d+): ")
_TRACED = re.compile(r"Cell In\[\d+\], line (\d+)")
_QUOTED = re.compile(r"[{“'\"‘]([^{}“”‘’'\"]+)[}”'\"’]")


class Preview:
    """A client's memo and the kernel with its case."""

    def __init__(self, params: Path, output: Path, server: PreviewServer, *, trusted: bool) -> None:
        self.params, self.output, self.server = params, output, server
        self._places = Places.of(params, trusted=trusted)
        # The last plan, with the frozen inputs of the case that is open; what kernel and case rest on; the cells as planned;
        # of each notebook that ran whole the hash of what was run, and how it came out.
        self._plan: BuildPlan | None = None
        self._rests: tuple[Any, Any] = None, None
        self._cells = dict[str, dict[tuple[str, int], Any]]()
        self._good = dict[str, tuple[str, NotebookNode]]()

    def follow(self) -> None:
        """Run and show the memo, and what is saved from then on, until an interrupt, which passes."""
        self.server.tell(doing="Starting a kernel")
        with runtime_with() as runtime:
            seen = dict[Path, Any]()
            for turn in count():
                while (now := self._stamps()) == seen:
                    time.sleep(POLL_S)
                try:
                    faults = self._turn(runtime, runtime.folder / f"turn-{turn}")
                except Exception as error:  # a bug of ours does not end it either
                    time.sleep(POLL_S)
                    if self._stamps() != now:  # an editor was at half of what it saves
                        continue
                    bug = "" if isinstance(error, FabricReportError) else f"a bug of ours, {type(error).__name__}: "
                    faults = [*map(str, error.problems)] if isinstance(error, InputError) else [f"{bug}{error}"]
                for folder in runtime.folder.glob("turn-*"):
                    if not self._plan or folder != self._plan.snapshot.folder.parent:
                        shutil.rmtree(folder, ignore_errors=True)
                seen = self._stamps() | now
                self.server.tell(doing="", faults=[visible(placed(f, self._cells.values()), 2_000) for f in faults])

    def _stamps(self) -> dict[Path, Any]:
        """When each file was changed that the memo rests on, and its size."""
        plan, places, beside = self._plan, self._places, self.params.parent
        books = [book_folder(beside, book, places.project_params) for book in BOOKS]
        tops = {*places.notebook_folders, *books, PACKAGE, *([beside / plan.slug] if plan else [])}
        walked = [(top, Path(at, name)) for top in tops for at, _, names in os.walk(top) for name in names]
        hidden, found = (".", "__py"), {self.params, *(plan.snapshot.origins.values() if plan else ())}
        found |= {path for top, path in walked if not any(p.startswith(hidden) for p in path.relative_to(top).parts)}
        stamps = dict[Path, Any]()
        for path in found:
            with suppress(OSError):
                facts = path.stat()
                stamps[path] = facts.st_mtime_ns, facts.st_ctime_ns, facts.st_size, facts.st_ino
        return stamps

    def _turn(self, runtime: Runtime, work: Path) -> list[str]:
        """Run the notebooks that are new and draw the memo; gives what is wrong with it."""
        self.server.tell(doing="Reading params, books and notebooks")
        places, loaded = self._places, make_ready(self.params, self._places).loaded
        report = standing_report(self.output, places.report) if places.report else None
        work.mkdir()
        plan = make_plan(loaded, work, draft=True, places=places, report=report.cited if report else None)
        was, self._rests = self._rests, _rests_on(plan)
        if was[0] != self._rests[0]:
            runtime.renew()
        if self._plan and was == self._rests:
            plan = replace(plan, snapshot=self._plan.snapshot)
        else:
            self._good = {}
        self._plan, self._cells, ran = plan, plan.cells, plan.fingerprint.notebooks
        own = str(self.params.parent / plan.slug / PART)
        self.server.tell(notes=[note for note in plan.notes if note.startswith(own)])
        new = {s: path for s, path in plan.notebooks.items() if s not in self._good or self._good[s][0] != ran[s]}
        asked, told = replace(plan, notebooks=new), lambda at: self.server.tell(doing=f"Running {at.section}.ipynb")
        record, notebooks = run_plan(asked, work, work, told, runtime=runtime)
        if record.cancelled:
            raise KeyboardInterrupt
        wrong = {section: prose_faults(path) for section, path in new.items()}
        self._good |= {section: (ran[section], nb) for section, nb in notebooks.items() if not wrong[section]}
        if plan.notebooks.keys() <= self._good.keys():
            self.server.tell(doing="Drawing")
            memo, stops = self._drawn(plan)
            what = f"{', '.join(plan.sources[s].name for s in notebooks)}; figures of others are as last run"
            what = f"{datetime.now():%H:%M:%S} Ran {what if len(notebooks) < len(plan.sections) else 'all notebooks'}."
            news = {"new": what} if notebooks else {}
            self.server.tell(memo, stops=[placed(stop, plan.cells.values()) for stop in stops], **news)
        return [*first_faults(record, wrong, plan)]

    def _drawn(self, plan: BuildPlan) -> tuple[bytes, tuple[str, ...]]:
        """The page of the next draft, and what would stop a client copy."""
        notebooks = {section: self._good[section][1] for section in plan.sections}
        memo = stitch(notebooks, front_matter(plan, notebooks, {}))
        found = gather(memo)
        memo.metadata["fabricreport"] = front_matter(plan, notebooks, headline(found))
        proof = prove(memo, found, draft=True)
        page = render_html(document_of(proof.printed, proof.memo))
        by_hand = edit_faults(found.edits, found.ledger, plan.params.adopted, plan.cell_ids)
        return page.encode("utf-8"), (*by_hand, *proof.faults)


def _rests_on(plan: BuildPlan) -> tuple[Any, Any]:
    """What a kernel has imported; what its case is made of: the params and all inputs but the client's own notebooks."""
    own, found = f"{plan.slug}/{PART}/", plan.fingerprint
    inputs = {n: h for n, h in found.inputs.items() if not (n.startswith(own) and n.endswith(".ipynb"))}
    return (found.package, found.notebook_helpers), (found.params, inputs)


def first_faults(record: RunRecord, wrong: Mapping[str, list[Problem]], plan: BuildPlan) -> Iterator[str]:
    """How each notebook ended that did not end well: file, cell, line and error. What is `wrong` with its prose cells is told
    where it ended at one of these, or well: else it may come of what the cell that failed would have made."""
    ends = {end.section: end for end in record.faults}
    for section, problems in wrong.items():
        end = ends.get(section)
        name, number = plan.written(section, end.cell if end else None)
        if end is None or f"{name}, cell {number}" in {problem.file for problem in problems}:
            yield from map(str, problems)
        else:
            line = "".join(f", line {n}" for n in _TRACED.findall(end.traceback)[-1:])
            yield f"{name}, cell {number}{line}: {': '.join(filter(None, (end.ename, end.evalue)))}"


def placed(fault: str, cells: Iterable[Mapping[tuple[str, int], Any]]) -> str:
    """A fault of a cell with its line: the first that holds what the fault quotes, the longest before the others."""
    found = _IN_CELL.match(fault)
    at = (f"{found[1]}.ipynb", int(found[2])) if found else ("", 0)
    source = next(("".join(own[at]["source"]) for own in cells if at in own), "")
    quoted = sorted(_QUOTED.findall(fault), key=len, reverse=True)
    line = next((n for word in quoted for n, text in enumerate(source.splitlines(), 1) if word in text), None)
    return f"{fault[: found.end() - 2]}, line {line}: {fault[found.end() :]}" if found and line else fault
