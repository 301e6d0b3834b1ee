"""`fabricreport check`: everything a memo will read is read once, and every fault of it is told with its place.

A build and a refresh ask the same function first, so a section has nothing left to find in the user's files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import date
from functools import partial
from pathlib import Path
from typing import TypeVar

from fabricreport.books.answers import Log
from fabricreport.books.logs.measurements import read_log
from fabricreport.books.prices.book import PriceBook
from fabricreport.books.provider_answers import read_answers
from fabricreport.case import Case, open_case
from fabricreport.checking.liveness import idle_overrides, lost_footing
from fabricreport.checking.plausibility import cautions
from fabricreport.checking.trial import founderings, own_inputs
from fabricreport.constants import catalogue
from fabricreport.errors import InputError, Problem
from fabricreport.intake.asked import stood_in
from fabricreport.project import book_folder
from fabricreport.scenario import ParamsFile, dated, load_params_file
from fabricreport.sections.client import links_of
from fabricreport.sections.latency.inputs import cluster_allreduce, network
from fabricreport.sections.latency.measured import client_log, measured_option

BYTES_PER_MIB = 2**20
Read = TypeVar("Read")


@dataclass(frozen=True)
class Checked:
    """What a check found: `problems` stop a build; `notes` are allowed and worth a sentence."""

    problems: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()
    case: Case | None = field(default=None, compare=False, repr=False)


def check(path: Path, *, as_of: date | None = None, thorough: bool = False) -> Checked:
    """Read a params file, its books, the answers and the logs it names, and try the analyses on what is the client's own.

    `as_of` replaces the date of the params; `thorough` tries the analyses in any case. Nothing is raised for what is
    wrong in the files. The case that comes back is the one that was tried.
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
    lost = [*case.inputs.evidence.check_references(), *lost_footing(case.inputs)] if case else []
    problems += lost
    if loaded is not None:
        sound = None if lost else case
        problems += [*_answers(loaded, sound), *_logs(loaded, sound)]
    remarks: list[str] = []
    if case is not None:
        remarks = [*(str(held) for held in case.prices.quarantine), *_stand_ins(case)]
    if case is not None and loaded is not None and not problems and (thorough or own_inputs(case)):
        problems += [loaded.placed(problem) for problem in tried_out(case)]
    return Checked(tuple(problems), tuple(remarks), case)


def tried_out(case: Case) -> tuple[Problem, ...]:
    """What the analyses founder on; if nothing, the overrides that move none of their figures."""
    with case.inputs.noting() as asked:
        problems = founderings(case)
        if problems or not case.params.overrides:
            return problems
        cautions(case)
    return tuple(idle_overrides(case, frozenset(asked)))


@dataclass(frozen=True)
class BookDay:
    """The day a price book tells of (None: of none), and what to tell of dates that were not followed."""

    day: date | None = None
    notes: tuple[str, ...] = ()


def book_day(folder: Path) -> BookDay:
    """The day that the price files of a folder set; a link, or no folder, sets none, for no build reads it."""
    if folder.is_symlink() or not folder.is_dir():
        return BookDay()
    book = PriceBook.read(folder)
    return BookDay(book.newest, book.remarks)


def _answers(loaded: ParamsFile, case: Case | None) -> Iterator[Problem]:
    """Faults of each provider's answers, and logs they quote of clusters that the model does not know."""
    links = links_of(loaded.params, catalogue())
    for provider in loaded.params.providers:
        if not provider.answers:
            continue
        at = loaded.path.parent / str(provider.answers)
        found, faults = _tried(
            partial(read_answers, at, provider=provider.name, as_of=loaded.params.as_of, links=links)
        )
        yield from faults
        for answer in found.answers.values() if found and case else ():
            if answer.measured and case:
                _, faults = _tried(partial(_modelled, case, answer.measured))
                yield from (
                    replace(p, file=str(at), line=answer.line, key=f"{answer.question}.{p.key}") for p in faults
                )


def _modelled(case: Case, log: Log) -> object:
    """The model's AllReduce of a log, on few draws: only to learn whether there is one."""
    return cluster_allreduce(
        case.inputs, network(case.inputs, case.options[0], every=64), log.gpus, [log.size_mib * BYTES_PER_MIB]
    )


def _logs(loaded: ParamsFile, case: Case | None) -> Iterator[Problem]:
    """Faults of each log of the client's own, and of the model's fit to it."""
    for log in loaded.params.measurements:
        at = loaded.path.parent / str(log)
        _, faults = _tried(partial(read_log, at, gpus_per_node=int(loaded.params.cluster.gpus_per_node)))
        if case and not faults:
            _, faults = _tried(partial(client_log, case.inputs, measured_option(case.inputs), str(log)))
            faults = tuple(replace(p, file=str(at)) for p in faults)
        yield from faults


def _tried(read: Callable[[], Read]) -> tuple[Read | None, tuple[Problem, ...]]:
    try:
        return read(), ()
    except InputError as error:
        return None, error.problems


def _stand_ins(case: Case) -> Iterator[str]:
    found = stood_in(case.inputs)
    if found:
        listed = "; ".join(f"{input_id.removeprefix('price:')}, {price}" for input_id, price in found.items())
        yield (
            f"{book_folder(case.inputs.folder, 'prices')} has no usable row on {case.as_of} of prices this case needs, so those "
            f"shipped with the package are used: {listed}"
        )
