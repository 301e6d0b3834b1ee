"""What only params and books together show: a case, the answers and logs it names, and its analyses, each tried out once.

Bounds by unit refuse what no entry can be; they cannot know that a model divides by this one. So the analyses of a case
with figures, options, logs or answers of the client's own are tried before anything is built, and each of those is left out
in turn to find the one that they founder on.

It serves two refusals: an override on which no figure of the memo at hand rests, and an entry that is gone from the library.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from typing import Any, TypeVar

from fabricreport.base.errors import InputError, Problem
from fabricreport.base.locations import did_you_mean
from fabricreport.base.project import book_folder
from fabricreport.base.text import visible
from fabricreport.base.uncertain import Uncertain, exactly
from fabricreport.base.yaml_files import read_yaml
from fabricreport.books.answers import Log, read_answers
from fabricreport.books.constants import catalogue
from fabricreport.books.evidence import EvidenceBook, shipped_references
from fabricreport.books.logs.measurements import read_log
from fabricreport.books.prices.reports import unlabelled
from fabricreport.books.prices.settlement import FILE, idle
from fabricreport.books.sellers import Offer, folded, read_providers
from fabricreport.case import Case, case_of
from fabricreport.check.plausibility import cautions
from fabricreport.inputs.dossier import Given
from fabricreport.inputs.inputs import Inputs
from fabricreport.inputs.options import is_rented, links_of
from fabricreport.ledger.numbers import Number
from fabricreport.scenario import SECTION_NAMES, Params, ParamsFile, slugify, value_at
from fabricreport.sections.faults import excluded_words
from fabricreport.sections.latency.inputs import cluster_allreduce, network
from fabricreport.sections.latency.measurements import client_log, measured_option
from fabricreport.sections.rents import listed_sellers
from fabricreport.sections.requirements import prices_asked, stood_in
from fabricreport.sections.sites import GBITS_PER_TBIT, gbits_per_gpu, links_assumed, site_gbits_per_s

FOUNDERS = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, Warning)
COSTS = ("latency", "tail_risk", "tco")
"""The sections that a plan is doubted by, so that they are made at the case's own draws anyhow."""
FEW_DRAWS = 256
"""Draws that the other sections are tried on where nothing is the client's own."""
MOST_TRIED = 40
"""Own figures left out one at a time; a file with more of them is told without a culprit."""


@dataclass(frozen=True)
class Own:
    """Something the client put in: where it stands, how it reads, and the params without it."""

    key: str
    value: str
    without: Params


def own_inputs(case: Case) -> tuple[Own, ...]:
    """Everything of the client's own that reaches a model, each with the params that lack it."""
    return tuple(_own(case))


def founderings(case: Case) -> tuple[Problem, ...]:
    """One problem for each of the client's own inputs that the analyses founder on; none if they can be carried out.

    Where nothing is the client's own, what follows from the costs is tried on few draws: their mathematics is then that of
    the package on its own figures.
    """
    own = own_inputs(case)
    if own or case.inputs.draws <= FEW_DRAWS:
        why = foundering(case)
    else:
        why = foundering(case, COSTS) or foundering(_on_few_draws(case))
    if not why:
        return ()
    blamed = [one for one in own if not foundering(case.with_params(one.without))] if len(own) <= MOST_TRIED else []
    remedy = "Correct the figure, or leave it out."
    if not blamed:
        return (Problem(f"the analyses cannot be carried out with these inputs: {why}", key="as_of", remedy=remedy),)
    return tuple(
        Problem(f"the analyses cannot be carried out with this: {why}", key=one.key, value=one.value, remedy=remedy)
        for one in blamed
    )


def _on_few_draws(case: Case) -> Case:
    given = case.inputs
    books = given.folder, given.shipped, given.price_book, given.all_options
    return Case(Inputs(given.params, *books, draws=FEW_DRAWS))


def foundering(case: Case, sections: Sequence[str] = SECTION_NAMES) -> str:
    """Why the analyses cannot be carried out, in one line; '' if they can."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            for section in sections:
                make_whole(case.result(section))
        except InputError as error:
            return str(replace(error.problems[0], remedy="", file="", line=None)).rstrip(".")
        except FOUNDERS as error:
            return " ".join(str(error).split())[:200] or type(error).__name__
    return ""


def make_whole(result: Any) -> None:
    """Have every part and every figure of a section made, which are else made when they are first asked for."""
    for name, part in vars(type(result)).items():
        if isinstance(part, cached_property):
            getattr(result, name)
    tuple(result.numbers.values())


def _own(case: Case) -> Iterator[Own]:
    params = case.params
    for number, override in enumerate(params.overrides):
        rest = tuple(o for o in params.overrides if o is not override)
        yield Own(f"overrides[{number}].value", override.id, params.model_copy(update={"overrides": rest}))
    for option in case.options:
        left = tuple(o for o in params.options if o != option.id)
        if not option.shipped and left:
            yield Own(case.inputs.option_key(option.id), option.id, params.model_copy(update={"options": left}))
    for number, log in enumerate(params.measurements):
        logs = tuple(m for m in params.measurements if m != log)
        yield Own(f"measurements[{number}]", str(log), params.model_copy(update={"measurements": logs}))
    for number, answers in enumerate(params.elicited):
        fewer = tuple(e for e in params.elicited if e != answers)
        yield Own(f"elicited[{number}]", str(answers), params.model_copy(update={"elicited": fewer}))
    for number, provider in enumerate(params.providers):
        if provider.answers:
            others = tuple(p for p in params.providers if p is not provider)
            yield Own(
                f"providers[{number}].answers", str(provider.answers), params.model_copy(update={"providers": others})
            )


_BILLION = 1e9
"""A large count is quoted in billions."""
_NAMED = 3
"""Figures named of those that an entry takes with it."""


@cache
def context() -> frozenset[str]:
    """Ids of the prices, entries and contested quantities of the package that are quoted, and on which no figure rests."""
    kinds = {"evidence": "context", "price": "context_prices", "contested": "context_quantities"}
    return frozenset(f"{kind}:{name}" for kind, key in kinds.items() for name in read_yaml("standing")[key])


def why_context(input_id: str) -> str:
    """Who quotes an input that no figure rests on."""
    kind, _, name = input_id.partition(":")
    if kind == "contested":
        return "no model draws it: the memo only shows what its sources say"
    if kind == "price":
        return "in the price book; no option, server or site of the package refers to it"
    cited = [
        r for r in shipped_references() if r.evidence_id == name and r.file != "names.yaml"
    ]  # a phrase quotes nothing
    places = list(dict.fromkeys(f"{r.file.removesuffix('.yaml')}: {r.cited_by}" for r in cited))
    more = f" and {len(places) - 2} more" if len(places) > 2 else ""
    return f"quoted by {'; '.join(places[:2])}{more}" if places else "listed in the library; nothing quotes it"


def is_quotation(number: Number, given: Inputs) -> bool:
    """Whether a figure prints one input as it stands, or an end of it, so that nothing but the quotation rests on it."""
    if len(number.inputs) != 1:
        return False
    stated = _stated(number.inputs[0], given)
    if stated is None:
        return False
    ends = (stated.low, stated.mode, stated.high)
    return any(number.value in (end, end / _BILLION) for end in ends)


def _stated(input_id: str, given: Inputs) -> Uncertain | None:
    kind, _, name = input_id.partition(":")
    if kind == "param":
        value = value_at(given.params, name)
        known = isinstance(value, int | float | Uncertain) and not isinstance(value, bool)
        return Uncertain.of(value) if known else None
    if kind == "claim" or (kind == "evidence" and given.evidence[name].kind == "text"):
        return None
    return given.uncertain(input_id)


def resting(case: Case, asked: frozenset[str]) -> frozenset[str]:
    """Ids of the inputs on which figures of this memo rest; `asked` are those that its studies asked for.

    A study also asks for what it only quotes, and a figure may list it: what is context does not count by that.
    """
    found = {*case.chain.reached_by, *(asked - context())}
    for section in SECTION_NAMES:
        numbers = case.result(section).numbers.values()
        found |= {i for n in numbers for i in n.inputs if i.startswith("price:") or not is_quotation(n, case.inputs)}
    return frozenset(i for i in found if not i.startswith("contested:") or i not in context())


def idle_overrides(case: Case, asked: frozenset[str]) -> Iterator[Problem]:
    """Overrides and elicited answers on which no figure of this memo rests; `asked` are the ids that its studies asked for."""
    found = resting(case, asked)
    if case.inputs.elicited and not any(f"evidence:{entry}" in found for entry in case.inputs.elicited.figures()):
        remedy = "It counts for another kind of client or option: leave the answers out."
        message = "no figure of this memo depends on what the experts judged"
        yield Problem(message, key="elicited", remedy=remedy, rule="elicited-moves-nothing")
    for number, override in enumerate(case.params.overrides):
        told = {f"contested:{q}" for q in case.inputs.quantities_of([override.id])} - context()
        if not {override.id, *told} & found:
            remedy = "It counts for another kind of client or option: leave the override out."
            if override.id in context():
                remedy = f"Leave the override out ({why_context(override.id)})."
            yield Problem(
                "no figure of this memo depends on it",
                key=f"overrides[{number}].id",
                value=override.id,
                remedy=remedy,
                rule="override-moves-nothing",
            )


def lost_footing(given: Inputs) -> Iterator[Problem]:
    """One problem for each entry that the library no longer holds, with figures that rested on it."""
    for key in ("live", "context"):
        for name in read_yaml("standing")[key]:
            if name not in given.evidence:
                figures = ", ".join(_resting_on(given, name)) if key == "live" else ""
                lost = f", and figures lose their footing: {figures}" if figures else ""
                remedy = "Put the entry back into the library."
                yield Problem(f"is missing{lost}", key=f"evidence:{name}", remedy=remedy)


def _resting_on(given: Inputs, name: str) -> list[str]:
    """The first of the figures that rest on a missing entry: those of the case with a figure in its place."""
    like = next(e for e in given.shipped.values() if e.kind != "text")
    stand_in = replace(like, id=name, value=exactly(1.0), group="", contested="", derived_from=())
    book = EvidenceBook([*given.shipped.values(), stand_in])
    try:
        case = Case(Inputs(given.params, given.folder, book, given.price_book, given.all_options, draws=given.draws))
        numbers = (n for section in SECTION_NAMES for n in case.result(section).numbers.values())
        return sorted(n.id for n in numbers if f"evidence:{name}" in n.inputs)[:_NAMED]
    except FOUNDERS:
        return []


_RIGHT = "Right if it is a seller we do not know"


def unknown_sellers(params: Params, offers: Sequence[Offer], prices: Iterable[str]) -> Iterator[Problem]:
    """One note for each seller of the params or an offer that the library does not know; `prices`: ids of its price book.

    Without a name like it only where the advice rests on what is published: a renter without offers, and a seller who has
    answered nothing.
    """
    library = [*listed_sellers(prices), *_named()]
    offered, asked = [offer.seller for offer in offers], [provider.name for provider in params.providers]
    resting = is_rented(params) and not offers
    for number, provider in enumerate(params.providers):
        place = Problem("", key=f"providers[{number}].name")
        yield from _unknown(provider.name, library, offered, place, needed=resting and not provider.answers)
    for offer in offers:
        place = Problem("", offer.file, offer.lines.get("seller"), f"{offer.key}.seller" if offer.key else "seller")
        yield from _unknown(offer.seller, library, asked, place, needed=False)


def _unknown(
    name: str, library: Sequence[str], beside: Iterable[str], place: Problem, *, needed: bool
) -> Iterator[Problem]:
    """The note of one seller; `beside` are the names that others of these params go by: one that is the same is meant."""
    if slugify(name) in map(slugify, library) or folded(name) in map(folded, beside):
        return
    close = _near(name, (*library, *beside))
    if not (close or needed):
        return
    message = f"no published price or network of '{visible(name)}' is in the library"
    remedy = f"{_RIGHT}." if close else f"{_RIGHT}: the memo has no price of theirs until an offer names one."
    yield replace(place, message=message, remedy=remedy, suggestion=close)


def _near(name: str, known: Sequence[str]) -> str:
    """A known name that is a slip away, or begins with the same word; unlike ids, names of sellers are much alike."""
    first = slugify(name.split()[0])
    return did_you_mean(name, known, slips_only=True) or next((k for k in known if slugify(k.split()[0]) == first), "")


def _named() -> Iterator[str]:
    """Names of the shipped tables, that of a price file first, so that of two spellings the seller's own is told."""
    book = read_providers()
    for seller in book.sellers:
        yield from (*seller.listed_as, *seller.name.split("/"), seller.name)
    for contract in book.contracts_only:
        yield from (contract.id, contract.name)


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
