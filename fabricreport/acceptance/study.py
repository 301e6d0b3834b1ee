"""From a case and the files handed over to the delivery judged: logs read, tests judged, credit, the decision again."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fabricreport.acceptance.credit import credits_due
from fabricreport.acceptance.judging import judge_plan, judge_points
from fabricreport.acceptance.order import FILE, Order, read_order
from fabricreport.acceptance.redecide import decide_again, evidence_of
from fabricreport.acceptance.result import Acceptance
from fabricreport.acceptance.runs import Logs, Run, runs_of, runs_of_records
from fabricreport.books.delivery_records import SUFFIXES, read_records
from fabricreport.books.logs.measurements import read_log, read_perftest
from fabricreport.case import Case
from fabricreport.errors import InputError, Problem
from fabricreport.evidence import read_yaml
from fabricreport.located import did_you_mean, shown_path
from fabricreport.sections.diligence.plan.result import Plan, Tool
from fabricreport.sections.diligence.plan.rule import gpu_gbytes_per_s

if TYPE_CHECKING:  # heavy, and only who has logs needs it
    import pandas as pd

_NAMED = re.compile(r"T-[A-Z]+(?:-[A-Z]+)*(?=\.)")  # ends at the first dot, so that it takes no longer than the name
FOLDER = "as-delivered"
"""Folder beside a params file whose files are what was handed over."""


@dataclass(frozen=True)
class Handed:
    """One file that was handed over: where it is, and its name for people."""

    name: str
    path: Path


def accept(case: Case, plan: Plan, logs: Logs) -> Acceptance:
    """The delivery that these logs show, judged against a plan of one of the case's options."""
    judged = judge_plan(plan, logs.runs)
    seen = evidence_of(case, plan, logs.runs, judged)
    decided = decide_again(case, plan.option, seen)
    options = {option.id: option for option in case.options}
    pair = options[plan.option], options[decided.rival]
    return Acceptance(case, *pair, judged, credits_due(judged), seen, decided, logs, judge_points(plan, logs.runs))


def plan_of(case: Case, option: str = "") -> Plan:
    """The acceptance plan of a case's advised option, or of `option` where two are as good and it is one of them.

    `InputError` for a client without a fabric to accept, and for an option that the case has no plan for.
    """
    diligence = case.diligence()
    plans = {plan.option: plan for plan in (diligence.plan, diligence.plan_of_rival) if plan is not None and plan.tests}
    if not plans:
        message = (
            "all GPUs sit in one node: there is no fabric to accept"
            if case.decision().joins_nodes
            else "jobs stay within nodes: there is no network between them to accept"
        )
        raise InputError(Problem(message, key="cluster.gpus", remedy="Accept the servers by their maker's own test."))
    if option and option not in plans:
        known = f"There is one for: {', '.join(plans)}."
        raise InputError(
            Problem(
                "has no acceptance plan",
                key="--option",
                value=option,
                remedy=known,
                suggestion=did_you_mean(option, plans),
            )
        )
    return plans[option] if option else next(iter(plans.values()))


def folder_of(option: str) -> str:
    """Name of the folder of what was handed over: of the advised option, or of the one that is named."""
    return f"{FOLDER}-{option}" if option else FOLDER


def handed_beside(params: Path) -> tuple[str, tuple[Handed, ...]]:
    """The option that is named, '' for the advised one, and everything that lies in the folder of what was handed over."""
    beside = params.resolve().parent
    folders = sorted(path for path in beside.glob(f"{FOLDER}*") if path.is_dir())
    if len(folders) > 1:
        named = ", ".join(folder.name for folder in folders)
        raise InputError(
            Problem(f"holds several deliveries: {named}", str(beside), remedy="Keep the one to be judged.")
        )
    if not folders:
        return "", ()
    files = (path for path in sorted(folders[0].rglob("*")) if path.is_file())
    return folders[0].name.removeprefix(FOLDER).removeprefix("-"), tuple(Handed(path.name, path) for path in files)


def read_logs(case: Case, plan: Plan, files: Sequence[Handed]) -> Logs:
    """Every log and every record; one `InputError` lists the faults of all of them.

    Files of the same bytes are one: a run counts once, however often it is handed over.
    """
    units = {test.id: test.unit for test in plan.tests if test.tool is Tool.RECORD}
    measures = {test.id: test.measures for test in plan.tests}
    option = next(o for o in case.options if o.id == plan.option)
    rules = int(case.params.cluster.gpus_per_node), gpu_gbytes_per_s(case.inputs, option)
    order = _order(plan, files)
    runs: list[Run] = []
    problems: list[Problem] = []
    beside: list[str] = []
    for name, path in _once(files):
        if name.partition(".")[0] in (FILE, *read_yaml("delivery")["beside"]):
            beside.append(name)
            continue
        try:
            if path.suffix.lower() in SUFFIXES:
                runs += runs_of_records(read_records(path, units), name)
            else:
                test = _test_of(plan, name, path)
                runs += runs_of(_frame(path, *rules), name, test, measures.get(test, ""), order)
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(problems)
    return Logs(tuple(runs), tuple(file.name for file in files), tuple(beside), order.settings)


def _order(plan: Plan, files: Sequence[Handed]) -> Order:
    """The settings of the order: those of the file that names them, else the plan's own."""
    path = next((file.path for file in files if file.name.partition(".")[0] == FILE), None)
    return Order(plan.settings) if path is None else read_order(path)


def _frame(path: Path, gpus_per_node: int, line_gbytes_per_s: float) -> pd.DataFrame:
    """A log; one between two adapters is held against their line rate. A collective may show more: switches that add up
    what passes through them save half of the traffic.
    """
    frame = read_log(path, gpus_per_node=gpus_per_node)
    if frame.attrs["kind"] != "perftest":
        return frame
    return read_perftest(path, nic_gbytes_per_s=line_gbytes_per_s)


def _test_of(plan: Plan, name: str, path: Path) -> str:
    """The test that a log's name begins with, '' if it begins with none; `InputError` for one that the plan does not have."""
    known, named = dict.fromkeys(test.id for test in plan.tests), _NAMED.match(name)
    if named is None or named[0] in known:
        return named[0] if named else ""
    raise InputError(
        Problem(
            "is named after a test that the plan does not have",
            shown_path(path),
            value=named[0],
            suggestion=did_you_mean(named[0], known),
            remedy=f"Known: {', '.join(known)}.",
        )
    )


def _once(files: Sequence[Handed]) -> Iterator[tuple[str, Path]]:
    """The files with names that tell them apart, those of the same bytes once; what cannot be read is left to its reader."""
    known: set[str] = set()
    told: dict[str, int] = {}
    for file in files:
        digest = _digest(file.path)
        if digest in known:
            continue
        known.add(digest or str(file.path))
        told[file.name] = told.get(file.name, 0) + 1
        yield (file.name if told[file.name] == 1 else f"{file.name} ({told[file.name]})"), file.path


def _digest(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
    except OSError:
        return ""
