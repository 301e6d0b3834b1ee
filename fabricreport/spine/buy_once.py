"""What the body of a memo about one purchase finds of its own, and its own words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum

from fabricreport.books.names import whole_names
from fabricreport.findings import Name
from fabricreport.formats import inside
from fabricreport.sections.decision.finding import DecisionFinding
from fabricreport.spine.buy_once_read import Read
from fabricreport.spine.page_one_facts import page_one_words
from fabricreport.spine.passes import damages
from fabricreport.spine.told import Told

MOST_CARE = 2
"""So many remarks stand beside the one on assumptions."""
_PRICE, _QUOTE, _TERM = "price:", "quote", "contract"
_COUNTS = {2: "Two", 3: "Three"}


class Finding(StrEnum):
    """What may be true of one purchase beside what the sections find."""

    # what is asked
    # the conditions of an advice that holds once something is settled
    # the tile of money
    TILE_NETWORK = "a network is bought"
    SWITCH_WITHIN = "and what would have them joined: longer runs"
    COMPARED = "two options are compared"
    # what would change the advice
    CHANGES = "something uncertain is worth knowing, for it reaches another option"
    NO_CHANGES = "nothing is"
    # why
    BOTH_SIDES = "an InfiniBand option is held against an Ethernet one with RDMA"
    CLOSE_BY_RULE = "the difference of the two is called close"
    # the case for the other side
    LEANS_TO_RIVAL = "the framework leans away from the advised option"
    # what to read with care, the most important first
    CARE_JUDGES = "experts were asked, and all missed the known answers"
    CARE_LISTING = "without an option whose switch has one listed price, another course is advised"
    CARE_UNPRICED = "a price that nobody publishes can turn the money"
    CARE_GPU = "the GPUs are of an older generation"
    CARE_STOOD_IN = "a price of the package stands in for the client's own"
    DAMAGES_SHARED = "and they are the share of the loss: nothing caps them"
    DELIVERY_PRICED = "and so are damages for a late delivery"
    DELIVERY_ALONE = "they alone are: no network between nodes is bought"


F, D = Finding, DecisionFinding


def findings(case: Told) -> Iterator[Finding]:
    """Those that hold here."""
    read = Read(case)
    for group in (_tiles, _why, _care, _body):
        yield from group(read)


def _tiles(read: Read) -> Iterator[Finding]:
    if read.nodes:
        if "decision.courses.single_days" in read.result.numbers:
            yield F.SWITCH_WITHIN
        return
    if not read.alone:
        yield F.COMPARED
    yield F.CHANGES if read.edges else F.NO_CHANGES
    if f"tco.fabric_capex.{read.verdict.choice}" in read.tco.numbers:
        yield F.TILE_NETWORK


def _why(read: Read) -> Iterator[Finding]:
    if read.nodes or read.alone or read.small:
        return
    if read.ethernet:
        yield F.BOTH_SIDES
    if read.verdict.confidence.close:
        yield F.CLOSE_BY_RULE
    if read.result.parts:
        yield F.LEANS_TO_RIVAL


def _care(read: Read) -> Iterator[Finding]:
    """The first few of what this client should know before it reads on."""
    held = read.held
    every = (
        (F.CARE_JUDGES, D.JUDGES_MISSED in held),
        (F.CARE_LISTING, bool(read.result.turned_without) and not read.nodes),
        (F.CARE_UNPRICED, D.QUOTE_TURNS in held),
        (F.CARE_GPU, D.OLDER_GPU in held),
        (F.CARE_STOOD_IN, D.STOOD_IN in held),
    )
    yield from [finding for finding, true in every if true][:MOST_CARE]


def _body(read: Read) -> Iterator[Finding]:
    yield from (F[agreed.name] for agreed in damages(read.case) if agreed.name in F.__members__)


# ---- words


def words(case: Told) -> Mapping[str, object]:
    """Words of this body's own."""
    read = Read(case)
    names = whole_names(read.given.options)
    ours, theirs = ([inside(read.tco.labels[c]) for c in causes] for causes in read.causes)
    ready = read.result.in_time
    kept = read.result.schedule.advised.in_time if read.nodes else bool(ready)
    return {
        "our_causes": Name(" and ".join(ours)) if ours else None,
        "their_causes": Name(" and ".join(theirs)) if theirs else None,
        "in_time_one": names[ready[0]] if ready else None,
        "date_kept": Name("in time") if kept else None,
        **_by_step(read),
        "ethernet": names[read.ethernet] if read.ethernet else None,
        "taken": names[read.result.courses.base],
        "charged_way": _charged_way(read),
        "outweighing": Name(_COUNTS[len(read.outweighing)]) if len(read.outweighing) in _COUNTS else None,
        **page_one_words(read),
    }


def _by_step(read: Read) -> Mapping[str, object]:
    """Of the two that the model of a step compares, that on which one takes longer, and the other."""
    latency = read.case.spoken("latency")
    pair = ("roce", "ib") if latency.findings.opens_longer else ("ib", "roce")
    return {word: latency.words[option] for word, option in zip(("slower", "quicker"), pair, strict=True)}


def _charged_way(read: Read) -> Name | None:
    """Whether our model of time makes RoCEv2 cost more than InfiniBand, or less; None where no pair is told."""
    charged = read.case.tco().numbers.get("tco.pairs.charged")
    return Name("less" if charged.value < 0 else "more") if charged is not None else None
