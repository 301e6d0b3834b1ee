"""What only params and books together show: a case, the answers and logs it names, and its analyses, each tried out once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import TypeVar

from fabricreport.as_run import links_of
from fabricreport.books.answers import Log
from fabricreport.books.logs.measurements import read_log
from fabricreport.books.prices.decisions import FILE, idle
from fabricreport.books.prices.reports import unlabelled
from fabricreport.books.provider_answers import read_answers
from fabricreport.case import Case, case_of
from fabricreport.checking.liveness import idle_overrides, lost_footing
from fabricreport.checking.plausibility import cautions
from fabricreport.checking.sellers import unknown_sellers
from fabricreport.checking.trial import founderings, own_inputs
from fabricreport.constants import catalogue
from fabricreport.errors import InputError, Problem
from fabricreport.given import Given
from fabricreport.intake import excluded_words
from fabricreport.intake.asked import prices_asked, stood_in
from fabricreport.project import book_folder
from fabricreport.scenario import ParamsFile
from fabricreport.sections.latency.inputs import cluster_allreduce, network
from fabricreport.sections.latency.measured import client_log, measured_option
from fabricreport.sections.sites import GBITS_PER_TBIT, gbits_per_gpu, links_assumed, site_gbits_per_s

BYTES_PER_MIB = 2**20
Read = TypeVar("Read")


def examined(
    given: Given, loaded: ParamsFile, malformed: tuple[Problem, ...], *, trying: Callable[[], None] | None
) -> tuple[tuple[Problem, ...], tuple[str, ...], Case | None]:
    """Problems and notes of params that were read with their books, and the case that was tried (None if refused).

    `malformed`: rows of the price files that are no prices, as problems; whoever goes on without them tells of them.
    """
    case: Case | None = None
    problems: list[Problem] = []
    try:
        case = case_of(given)
    except InputError as error:
        problems += error.problems
    lost = [*case.inputs.evidence.check_references(), *lost_footing(case.inputs)] if case else []
    sound = None if lost else case
    told = (*malformed, *lost, *_answers(loaded, sound, given.fabrics), *_logs(loaded, sound))
    problems += [problem for problem in told if problem not in problems]
    problems += [loaded.placed(problem) for problem in _stated_twice(case)] if case else []
    remarks: list[str] = []
    if case is not None:
        held = (*case.prices.questions, *(h for h in case.prices.quarantine if not h.is_fault and not h.is_question))
        remarks = [*map(str, held), *excluded_words(case.inputs), *_stand_ins(case), *_of_the_book(case)]
        book = {row.item: None for row in (*case.inputs.price_book.rows, *case.inputs.price_book.shipped)}
        remarks += [str(loaded.placed(note)) for note in _assumed_links(case)]
        remarks += [str(loaded.placed(note)) for note in unknown_sellers(case.params, case.inputs.offers, book)]
        remarks += [str(loaded.placed(note)) for note in (*_not_profiled(case), *_used_servers(case))]
        if not problems and trying:
            trying()
        if not problems and (trying or own_inputs(case)):
            problems += [loaded.placed(problem) for problem in tried_out(case)]
    return tuple(loaded.named(problem) for problem in problems), tuple(remarks), case


def _assumed_links(case: Case) -> Iterator[Problem]:
    """What is assumed of the links between an owner's sites."""
    cluster = case.params.cluster
    if not links_assumed(case.inputs):
        return
    rates = {site_gbits_per_s(cluster, gbits_per_gpu(cluster, o)) / GBITS_PER_TBIT for o in case.inputs.options}
    yield Problem(
        f"one network is taken to join the sites, {cluster.site_distance_km:g} km apart, at {max(rates):,.4g} Tbit/s each way "
        "for each site",
        key="cluster.sites",
        value=str(cluster.sites),
        remedy="Write cluster.site_distance_km and cluster.site_tbits_per_s as they are, or sites_joined: false where no job "
        "spans sites.",
    )


def tried_out(case: Case) -> tuple[Problem, ...]:
    """What the analyses founder on; if nothing, the overrides that move none of their figures."""
    with case.inputs.noting() as asked:
        problems = founderings(case)
        if problems or not (case.params.overrides or case.params.elicited):
            return problems
        cautions(case)
    return tuple(idle_overrides(case, frozenset(asked)))


def _not_profiled(case: Case) -> Iterator[Problem]:
    """What is asked of a simulation that nobody profiled: its waiting rests on ranges of ours."""
    workload = case.params.workload
    if workload.kind == "hpc-simulation" and workload.calls_per_step is None and workload.mpi_share is None:
        calls, work = (
            case.inputs.uncertain(f"evidence:hpc-{name}") for name in ("small-allreduces", "step-compute-ms")
        )
        yield Problem(
            f"a step is taken to make {calls.low:g} to {calls.high:g} small AllReduce calls and to compute {work.low:g} to "
            f"{work.high:g} ms, which nobody measured",
            key="workload.kind",
            value=workload.kind,
            remedy="State workload.calls_per_step, or workload.mpi_share, from a profile of the code.",
        )


def _used_servers(case: Case) -> Iterator[Problem]:
    """What nobody knows of used servers."""
    age = case.params.cluster.server_age_months
    if age is not None:
        yield Problem(
            "used servers are taken to fail as often as new ones and to be supported at what support of new ones costs: we "
            "found no rate of faults by age",
            key="cluster.server_age_months",
            value=f"{age:g}",
            remedy="Ask the seller what warranty goes over to you, and the maker whether he supports them.",
        )


def _stated_twice(case: Case) -> Iterator[Problem]:
    """Overrides of an entry that experts judged as well: in a what-if they hold, in a file one of the two is a mistake."""
    judged = case.inputs.elicited.figures()
    for number, override in enumerate(case.params.overrides):
        if override.id.partition(":")[2] in judged and override.id.startswith("evidence:"):
            yield Problem(
                "is judged by experts as well",
                key=f"overrides[{number}].id",
                value=override.id,
                remedy="Leave out the override, or the answer in the files of `elicited`.",
                rule="elicited-and-overridden",
            )


def _answers(loaded: ParamsFile, case: Case | None, fabrics: tuple[str, ...]) -> Iterator[Problem]:
    """Faults of each provider's answers, and logs they quote of clusters that the model does not know."""
    links = links_of(loaded.params, catalogue())
    for provider in loaded.params.providers:
        if not provider.answers:
            continue
        at = loaded.path.parent / str(provider.answers)
        found, faults = _tried(
            partial(read_answers, at, provider=provider.name, as_of=loaded.params.as_of, links=links, fabrics=fabrics)
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


def _of_the_book(case: Case) -> Iterator[str]:
    """What the price book tells of the rows of this case: let through by the market, waiting, without a label."""
    book = case.inputs.price_book
    known = book.known(case.as_of)
    used = {i.removeprefix("price:") for i in prices_asked(case.inputs)}
    if case.inputs.team.rented:
        used |= {r.item for r in book.given.rows if r.item.startswith(f"gpu-hour-{case.params.cluster.gpu}-")}
    yield from (f"the market moved: {note}" for note in known.notes if note.partition(":")[0] in used)
    for row in book.waiting(case.as_of):
        if row.item in used:
            why = f"dated {row.date}" if row.date > case.as_of else f"read on {row.read}"
            yield f"{row.file}:{row.line}: {row.item} waits: it is {why}, after the memo's date {case.as_of}"
    now = known.in_use(case.as_of).values()
    yield from unlabelled([row for row in now if row.item in used and row.expires >= case.as_of])
    later = [entry for entry in case.inputs.evidence.values() if entry.read > case.as_of.isoformat()]
    if later:
        last = max(later, key=lambda entry: entry.read)
        yield (
            f"{len(later)} entries of the evidence were read after the memo's date {case.as_of}, such as {last.id} on {last.read}: "
            "the memo uses them all the same, for there are no older ones; date it later"
        )
    gone = idle(book.decisions, (*book.given.rows, *book.given.own))
    yield from (
        f"{FILE}: {one.item}: the row of {one.date} that {one.who} decided on is gone or was changed" for one in gone
    )


def _stand_ins(case: Case) -> Iterator[str]:
    found = stood_in(case.inputs)
    if found:
        listed = "; ".join(f"{input_id.removeprefix('price:')}, {price}" for input_id, price in found.items())
        yield (
            f"{book_folder(case.inputs.folder, 'prices')} has no usable row on {case.as_of} of prices this case needs, so those "
            f"shipped with the package are used: {listed}"
        )
