"""What the body of a memo about one purchase finds of its own, and its own words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum

from fabricreport.books.names import whole_names
from fabricreport.findings import Name, Named
from fabricreport.formats import inside
from fabricreport.sections.client import side_by_side
from fabricreport.sections.decision.courses.single_node import within_nodes
from fabricreport.sections.decision.finding import DecisionFinding
from fabricreport.sections.stance import direction
from fabricreport.sections.tail_risk.findings import interval_rule
from fabricreport.spine.buy_once_read import Read
from fabricreport.spine.passes import damages
from fabricreport.spine.told import Told

MOST_CARE = 2
"""So many remarks stand beside the one on assumptions."""
_PRICE, _QUOTE, _TERM = "price:", "quote", "contract"
_COUNTS = {2: "Two", 3: "Three"}


class Finding(StrEnum):
    """What may be true of one purchase beside what the sections find."""

    # what is asked
    ASKS_WHICH = "several options: which one"
    ASKS_ALONE = "one option: what it costs and risks"
    ASKS_NODES = "jobs within single nodes are advised: whether a network is needed"
    # the conditions of an advice that holds once something is settled
    SETTLE_BOTH = "quotes and terms of the contract settle what would change it"
    SETTLE_QUOTES = "quotes settle some of it, and no term does"
    SETTLE_TERMS = "terms of the contract settle some of it, and no quote does"
    SETTLE_TESTS = "neither does"
    # the tile of money
    TILE_LEVEL = "two are compared, and differ neither in cash nor in time, as printed"
    TILE_TOTAL = "one option alone"
    TILE_NETWORK = "a network is bought"
    TITLE_APART = "the causes are drawn, and both cash and time differ"
    TITLE_ONE = "they are drawn, and one of the two differs"
    TILE_WITHIN = "jobs within nodes are advised, and differ from those across them in GPU time too, as printed"
    TILE_WITHIN_CASH = "and they do not: in cash alone"
    SWITCH_WITHIN = "and what would have them joined: longer runs"
    COMPARED = "two options are compared"
    # what would change the advice
    CARE_ALONE = "one is, and nothing is compared"
    CARE_STATED = "jobs within nodes are advised, and the client states that none needs more"
    CARE_CUT = "they are, and we cut the work into them"
    CHANGES = "something uncertain is worth knowing, for it reaches another option"
    NO_CHANGES = "nothing is"
    # why
    WHY_ALONE = "nothing is compared"
    WHY_SMALL = "so few GPUs that the network does not show"
    WHY_BOTH = "each of the two costs less for some cause"
    WHY_OURS = "the choice alone does"
    WHY_THEIRS = "its rival alone does"
    WHY_NONE = "neither of the two costs less for any"
    BOTH_SIDES = "an InfiniBand option is held against an Ethernet one with RDMA"
    CLOSE_BY_RULE = "the difference of the two is called close"
    SPEED_LONGER = "a step takes longer on RoCEv2 of the two compared, by less than matters"
    SPEED_SHORTER = "a step takes longer on InfiniBand of the two compared, by less than matters"
    SPEED_LEVEL = "a step takes as long on both compared"
    SPEED_COUNTS_LONGER = "a step takes longer on RoCEv2 of the two compared, by enough to matter"
    SPEED_COUNTS_SHORTER = "a step takes longer on InfiniBand of the two compared, by enough to matter"
    THIRD = "a third option is a true alternative, and costs more"
    # the case for the other side
    CASE_SMALL = "the network does not show: the case for paying for one"
    CASE_ALONE = "nothing is compared: the case for comparing"
    LEANS_TO_RIVAL = "the framework leans away from the advised option"
    # what to read with care, the most important first
    CARE_JUDGES = "experts were asked, and all missed the known answers"
    CARE_LISTING = "without an option whose switch has one listed price, another course is advised"
    CARE_UNPRICED = "a price that nobody publishes can turn the money"
    CARE_WEEKS = "nobody has published how long a network takes to run stably"
    CARE_GPU = "the GPUs are of an older generation"
    CARE_BEYOND = "the model of lost time was tried on no such run"
    CARE_STOOD_IN = "a price of the package stands in for the client's own"
    # prices out of date
    STALE_NODES = "prices are out of date, and no two networks are compared by them"
    STALE_SPARES = "prices are out of date, and may not have moved the difference of the two"
    STALE_MOVES = "prices are out of date, and may have moved it"
    STALE_ALONE = "prices are out of date, and nothing is compared"
    # the headings of the body
    HEAD_ALONE = "one option: what it costs"
    HEAD_SMALL = "the networks cost about the same at this size"
    HEAD_SAVES = "an option is advised, and costs less"
    HEAD_COSTS = "an option is advised, and costs no less"
    HEAD_CLOSE = "no option is advised"
    # the date
    NODES_SAFE = "jobs within nodes are advised, and no date is stated"
    NODES_IN_TIME = "they are, and are counted on to be in time"
    NODES_LATE = "they are, and are not"
    DATES_TOLD = "the network shows at this size"
    HEAD_SAFE = "the client gave no date"
    WEEKS_ASSUMED = "the weeks until stable are assumed"
    WEEKS_JUDGED = "experts judged them"
    BOTH_IN_TIME = "each of the two compared is counted on to be in time"
    ONE_IN_TIME = "one of the two compared is"
    NONE_IN_TIME = "none of them is"
    ALONE_IN_TIME = "the only option is"
    ALONE_LATE = "the only option is not"
    LEVER_OUTWEIGHS = "the best measure saves more in a year, its cost taken off, than the two compared lie apart"
    ONE_LEVER_OUTWEIGHS = "of the measures shown it alone does"
    LEVERS_OUTWEIGH = "so do several of the measures shown"
    LEVERS_MODEST = "measures pay, and none is known to save more than that"
    LEVERS_NONE = "no measure on a network pays"
    OPTIONS_DATED = "the options are told side by side, and a date binds"
    OPTIONS_UNDATED = "they are, and none does"
    LEVERS_PAY = "measures that lower the risk save more than they cost"
    TEST_OF_ONE = "there is a network to test, and one option is advised or compared"
    TEST_OF_BOTH = "there is a network to test, and no option is advised over the other"
    CLAUSE_OF_ONE = "damages for weeks until stable are agreed, and one option is ordered"
    CLAUSE_OF_BOTH = "the same, and either of two may be ordered"
    DAMAGES_SHARED = "and they are the share of the loss: nothing caps them"
    DELIVERY_PRICED = "and so are damages for a late delivery"
    DELIVERY_ALONE = "they alone are: no network between nodes is bought"
    CONTRACT_ASKS = "there is nothing to test"
    NEIGHBOURS_TOLD = "tenants share the network, and what their traffic costs differs on the two compared"
    NEIGHBOURS_ALIKE = "tenants share it, and their traffic costs as much on both"
    OWNING_TOLD = "owning costs less than renting, and the client rents nothing out"


F, D = Finding, DecisionFinding


def findings(case: Told) -> Iterator[Finding]:
    """Those that hold here."""
    read = Read(case)
    for group in (_asked, _conditions, _tiles, _why, _speed, _other_side, _care, _body, _dates, _shared):
        yield from group(read)


def _asked(read: Read) -> Iterator[Finding]:
    if read.holds(D.SINGLE_NODES):
        yield F.ASKS_NODES
    else:
        yield F.ASKS_ALONE if read.alone else F.ASKS_WHICH


def _conditions(read: Read) -> Iterator[Finding]:
    if read.holds(D.SETTLE_FIRST):
        kinds = {turn.settled["kind"] for turn, _ in read.edges}
        told = {(True, True): F.SETTLE_BOTH, (True, False): F.SETTLE_QUOTES, (False, True): F.SETTLE_TERMS}
        yield told.get((_QUOTE in kinds, _TERM in kinds), F.SETTLE_TESTS)


def _tiles(read: Read) -> Iterator[Finding]:
    if read.nodes:
        way = direction(read.case.figure("decision.courses.single_lost"))
        yield F.TILE_WITHIN_CASH if way == "same" else F.TILE_WITHIN
        if "decision.courses.single_days" in read.result.numbers:
            yield F.SWITCH_WITHIN
        return
    if read.alone:
        yield F.TILE_TOTAL
    else:
        yield F.COMPARED
        if not read.holds(D.CASH_AND_TIME, D.CASH_ALONE, D.TIME_ALONE):
            yield F.TILE_LEVEL
    yield F.CHANGES if read.edges else F.NO_CHANGES
    yield F.OPTIONS_DATED if read.given.params.dated else F.OPTIONS_UNDATED
    if f"tco.fabric_capex.{read.verdict.choice}" in read.tco.numbers:
        yield F.TILE_NETWORK
    if read.case.spoken("tco").findings.causes_at_once:
        yield F.TITLE_APART if read.holds(D.CASH_AND_TIME) else F.TITLE_ONE


def _why(read: Read) -> Iterator[Finding]:
    if read.nodes:
        return
    if read.alone:
        yield F.WHY_ALONE
        return
    if read.small:
        yield F.WHY_SMALL
        return
    ours, theirs = read.causes
    by_side = {(True, True): F.WHY_BOTH, (True, False): F.WHY_OURS, (False, True): F.WHY_THEIRS}
    yield by_side.get((bool(ours), bool(theirs)), F.WHY_NONE)
    if read.ethernet:
        yield F.BOTH_SIDES
    if read.verdict.confidence.close:
        yield F.CLOSE_BY_RULE
    if read.third:
        yield F.THIRD


def _speed(read: Read) -> Iterator[Finding]:
    """What a step takes more on one of the two compared; nothing where the model's pair is another, or nothing travels."""
    latency = read.case.latency()
    pair = {o.id for o in latency.pair}
    if (
        read.alone
        or read.small
        or read.nodes
        or not latency.traffic
        or pair != {read.verdict.choice, read.verdict.runner_up}
    ):
        return
    penalty = read.case.figure("latency.penalty")
    way = direction(penalty)
    if abs(penalty.value) < read.given.central("evidence:latency-worth-a-thought"):
        if not read.stalls_told:
            yield {"less": F.SPEED_LONGER, "more": F.SPEED_SHORTER, "same": F.SPEED_LEVEL}[way]
    else:
        yield F.SPEED_COUNTS_LONGER if way == "less" else F.SPEED_COUNTS_SHORTER


def _other_side(read: Read) -> Iterator[Finding]:
    if read.nodes:
        return
    if read.alone or read.small:
        yield F.CASE_ALONE if read.alone else F.CASE_SMALL
    elif read.result.parts:
        yield F.LEANS_TO_RIVAL


def _care(read: Read) -> Iterator[Finding]:
    """The first few of what this client should know before it reads on."""
    held = read.held
    if read.nodes:
        yield F.CARE_STATED if within_nodes(read.given) else F.CARE_CUT
    elif read.alone:
        yield F.CARE_ALONE
    beyond = any(read.case.spoken(section).findings.beyond for section in ("latency", "tail_risk"))
    every = (
        (F.CARE_JUDGES, D.JUDGES_MISSED in held),
        (F.CARE_LISTING, bool(read.result.turned_without) and not read.nodes),
        (F.CARE_UNPRICED, D.QUOTE_TURNS in held),
        (F.CARE_BEYOND, beyond),
        (F.CARE_WEEKS, D.ELICITED not in held and not (read.small or read.nodes)),
        (F.CARE_GPU, D.OLDER_GPU in held),
        (F.CARE_STOOD_IN, D.STOOD_IN in held),
    )
    yield from [finding for finding, true in every if true][:MOST_CARE]
    if D.STALE in held and read.nodes:
        yield F.STALE_NODES
    elif D.STALE in held:
        moved = F.STALE_MOVES if not read.alone and read.case.figure("decision.difference").stale else F.STALE_SPARES
        yield F.STALE_ALONE if read.alone else moved


def _body(read: Read) -> Iterator[Finding]:
    if read.nodes:
        yield from _contract(read)
        return
    if read.alone:
        yield F.HEAD_ALONE
    elif read.small:
        yield F.HEAD_SMALL
    elif read.verdict.open:
        yield F.HEAD_CLOSE
    else:
        yield F.HEAD_SAVES if read.way == "less" else F.HEAD_COSTS
    if read.case.spoken("tco").findings.owning_cheaper and not side_by_side(read.given):
        yield F.OWNING_TOLD
    yield from _levers(read)
    yield from _contract(read)


def _levers(read: Read) -> Iterator[Finding]:
    if not read.levers:
        yield F.LEVERS_NONE
        return
    yield F.LEVERS_PAY
    if not read.outweighing:
        yield F.LEVERS_MODEST
        return
    yield F.LEVER_OUTWEIGHS
    yield F.LEVERS_OUTWEIGH if len(read.outweighing) > 1 else F.ONE_LEVER_OUTWEIGHS


def _contract(read: Read) -> Iterator[Finding]:
    if read.case.diligence().promises:
        yield F.TEST_OF_BOTH if read.verdict.open and not read.alone else F.TEST_OF_ONE
    yield from (Finding[agreed.name] for agreed in damages(read.case))
    if not read.case.spoken("diligence").findings.tested_at_all:
        yield F.CONTRACT_ASKS


def _shared(read: Read) -> Iterator[Finding]:
    """What tenants lose to each other's traffic."""
    if not read.alone and read.holds(D.TENANTS_PRICED) and {*read.pair} <= set(read.result.neighbours):
        lost = {read.case.figure(f"decision.besides.neighbours.{o}").text for o in read.pair}
        yield F.NEIGHBOURS_ALIKE if len(lost) == 1 else F.NEIGHBOURS_TOLD


def _dates(read: Read) -> Iterator[Finding]:
    if read.nodes:
        in_time = F.NODES_IN_TIME if read.result.schedule.advised.in_time else F.NODES_LATE
        yield in_time if read.given.params.dated else F.NODES_SAFE
        return
    if read.small:
        return
    yield F.DATES_TOLD
    yield F.WEEKS_JUDGED if read.holds(D.ELICITED) else F.WEEKS_ASSUMED
    ready = read.result.in_time
    if not read.given.params.dated:
        yield F.HEAD_SAFE
    elif read.alone:
        yield F.ALONE_IN_TIME if ready else F.ALONE_LATE
    else:
        yield (F.NONE_IN_TIME, F.ONE_IN_TIME, F.BOTH_IN_TIME)[len(ready)]


# ---- words


def words(case: Told) -> Mapping[str, object]:
    """Words of this body's own."""
    read = Read(case)
    names = whole_names(read.given.options)
    ours, theirs = ([inside(read.tco.labels[c]) for c in causes] for causes in read.causes)
    ready = read.result.in_time
    return {
        "our_causes": Name(" and ".join(ours)),
        "their_causes": Name(" and ".join(theirs)),
        "third": names[read.third] if read.third else None,
        "in_time_one": names[ready[0]] if ready else None,
        "ethernet": names[read.ethernet] if read.ethernet else None,
        "taken": names[read.result.courses.base],
        "best_lever": _best_lever(read),
        "interval_rule": interval_rule(read.given),
        "charged_way": _charged_way(read),
        "outweighing": Name(_COUNTS[len(read.outweighing)]) if len(read.outweighing) in _COUNTS else None,
    }


def _best_lever(read: Read) -> Named | None:
    """The measure that saves most after its cost."""
    labels = {lever.id: lever.label for lever in read.tail.levers}
    return Named(labels[read.levers[0]], read.levers[0]) if read.levers else None


def _charged_way(read: Read) -> Name | None:
    """Whether our model of time makes RoCEv2 cost more than InfiniBand, or less; None where no pair is told."""
    charged = read.case.tco().numbers.get("tco.pairs.charged")
    return Name("less" if charged.value < 0 else "more") if charged is not None else None
