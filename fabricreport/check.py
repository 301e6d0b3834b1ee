"""`fabricreport check`: everything a memo will read is read once, and every fault of it is told with its place.

A build and a refresh ask the same function first, so a section has nothing left to find in the user's files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

from fabricreport.analysis.asked import stood_in
from fabricreport.analysis.footing import lost_footing
from fabricreport.books.measurements import read_log
from fabricreport.books.provider_answers import read_answers
from fabricreport.case import Case, book_folder, open_case
from fabricreport.errors import InputError, Problem
from fabricreport.scenario import ParamsFile, dated, load_params_file, notes


@dataclass(frozen=True)
class Checked:
    """What a check found: `problems` stop a build; `notes` are allowed and worth a sentence."""

    problems: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()


def check(path: Path, *, as_of: date | None = None) -> Checked:
    """Read a params file, its books, the answers and the logs it names; no analysis is run unless a source is missing.

    `as_of` replaces the date of the params. Nothing is raised for what is wrong in the files.
    """
    problems: list[Problem] = []
    loaded: ParamsFile | None = None
    case: Case | None = None
    try:
        case = open_case(path, as_of=as_of)
    except InputError as error:
        problems += error.problems
    try:
        loaded = dated(load_params_file(path), as_of)
    except InputError as error:
        problems += () if problems else error.problems
    if loaded is not None:
        problems += [*_answers(loaded), *_logs(loaded)]
    remarks: list[str] = []
    if case is not None:
        problems += [*case.evidence.check_references(), *lost_footing(case)]
        remarks = [*notes(case.params), *(str(held) for held in case.prices.quarantine), *_stand_ins(case)]
    return Checked(tuple(problems), tuple(remarks))


def _answers(loaded: ParamsFile) -> Iterator[Problem]:
    """Faults of each provider's answers."""
    for provider in loaded.params.providers:
        if provider.answers:
            at = loaded.path.parent / str(provider.answers)
            yield from _faults(partial(read_answers, at, provider=provider.name, as_of=loaded.params.as_of))


def _logs(loaded: ParamsFile) -> Iterator[Problem]:
    """Faults of each log of the client's own."""
    for log in loaded.params.measurements:
        at = loaded.path.parent / str(log)
        yield from _faults(partial(read_log, at, gpus_per_node=int(loaded.params.cluster.gpus_per_node)))


def _faults(read: Callable[[], Any]) -> tuple[Problem, ...]:
    try:
        read()
    except InputError as error:
        return error.problems
    return ()


def _stand_ins(case: Case) -> Iterator[str]:
    found = stood_in(case)
    if found:
        listed = "; ".join(f"{input_id.removeprefix('price:')}, {price}" for input_id, price in found.items())
        yield (
            f"{book_folder(case.folder, 'prices')} has no usable row on {case.as_of} of prices this case needs, so those "
            f"shipped with the package are used: {listed}"
        )
