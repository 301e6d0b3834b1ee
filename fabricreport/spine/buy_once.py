"""What the body of a memo about one purchase finds of its own, and its own words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum

from fabricreport.books.names import whole_names
from fabricreport.findings import Name, Named
from fabricreport.formats import inside
from fabricreport.provenance import inputs_of
from fabricreport.sections.client import side_by_side
from fabricreport.sections.decision.finding import DecisionFinding
from fabricreport.sections.decision.turning import Edge, Turn
from fabricreport.sections.stance import direction
from fabricreport.sections.tail_risk.findings import interval_rule
from fabricreport.spine.buy_once_read import MOST_CHANGES, Read, of_weeks
from fabricreport.spine.courses import course_of
from fabricreport.spine.passes import damages
from fabricreport.spine.told import Told
from fabricreport.vocabulary import STATED, Confidence, Ground

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
    TILE_SAVES = "the advised option costs less"
    TILE_COSTS = "the advised option costs more"
    TILE_LEVEL = "two are compared, and the difference prints as nothing"
    TILE_APART = "no option is advised, and the two cost different amounts"
    TILE_TOTAL = "one option alone"
    # the tile of odds
    ODDS_CLEAR = "the cheaper of two is clear"
    ODDS_LEANING = "it is leaning, for it is the cheaper in too few outcomes"
    ODDS_CAPPED = "it is leaning for another doubt, though it is the cheaper in enough of them"
    TILE_WITHIN = "what jobs within nodes save"
    SWITCH_WITHIN = "and what would have them joined: longer runs"
    ODDS_ACROSS = "and how sure the order of the networks would be for jobs across them"
    ODDS_CLOSE = "the two are close"
    COMPARED = "two options are compared"
    # the tile of what would switch it
    SWITCH_DRAWN = "the likeliest place where the advice changes is a value that nobody knows yet"
    SWITCH_WEEKS = "it is such a value, and the weeks until a network runs stably"
    SWITCH_CHOSEN = "it is a value that the client sets"
    SWITCH_NONE = "there is none"
    SWITCHES_WEEKS = "there is one, and weeks until a network runs stably are among those told"
    SWITCHES_OTHER = "there is one, and such weeks are not among them"
    # why
    WHY_ALONE = "nothing is compared"
    WHY_SMALL = "so few GPUs that the network does not show"
    WHY_SAVES_THREE = "the choice costs less, and three causes are told, for their sum or the weight of the third"
    WHY_SAVES_TWO = "the choice costs less for two causes at least"
    WHY_SAVES_ONE = "it costs less for one cause"
    WHY_SAVES_NONE = "it costs less for none"
    GIVES_THREE = "its rival costs less, and three causes are told, for their sum or the weight of the third"
    GIVES_TWO = "its rival costs less for two causes at least"
    GIVES_ONE = "its rival costs less for one cause"
    GIVES_NONE = "its rival costs less for none"
    BOTH_SIDES = "an InfiniBand option is held against an Ethernet one with RDMA"
    CLOSE_BY_RULE = "the difference of the two is called close"
    CAUSES_LEAVE = "it is not, and has a sign"
    SPEED_LONGER = "a step takes longer on RoCEv2 of the two compared, by less than matters"
    SPEED_SHORTER = "a step takes longer on InfiniBand of the two compared, by less than matters"
    SPEED_LEVEL = "a step takes as long on both compared"
    SPEED_COUNTS_LONGER = "a step takes longer on RoCEv2 of the two compared, by enough to matter"
    SPEED_COUNTS_SHORTER = "a step takes longer on InfiniBand of the two compared, by enough to matter"
    THIRD = "a third option is a true alternative, and costs more"
    THIRD_CLOSE = "so it does, by no more than what makes the two compared close"
    # the case for the other side
    CASE_DEARER = "one of two is advised: the case for the other, which costs more"
    CASE_CHEAPER = "the same, and it costs less"
    CASE_LEVEL = "the same, and it costs as much"
    CHOICE_CHEAPER_TO_BUY = "none is advised, and the network of the first costs less to buy"
    RIVAL_CHEAPER_TO_BUY = "the network of the other costs less to buy"
    CASE_COMMIT = "none is advised: the case for taking one now"
    ASKING_COSTS = "and to ask for both offers costs more on average"
    CASE_SMALL = "the network does not show: the case for paying for one"
    CASE_ALONE = "nothing is compared: the case for comparing"
    RIVAL_EVER = "one of two is advised, and the other is the cheapest of all in some outcomes"
    ALIKE_CHECK = "what was said of one generation is no offer, for the servers' links are slower"
    LEANS_TO_RIVAL = "the framework leans away from the advised option"
    STANDS_CLEAR = "money decides, clearly"
    STANDS_NARROWLY = "money decides, on the mean"
    STANDS_BY_DATE = "the date decides"
    STANDS_BY_STATED = "something else that the client stated decides"
    STANDS_OPEN = "the two are too close to commit to one"
    STANDS_ASKING = "so they are, and what asking costs is small and keeps the date"
    # what to read with care, the most important first
    CARE_JUDGES = "experts were asked, and all missed the known answers"
    CARE_LISTING = "without an option whose switch has one listed price, another course is advised"
    CARE_UNPRICED = "a price that nobody publishes can turn the money"
    CARE_WEEKS = "nobody has published how long a network takes to run stably"
    CARE_GPU = "the GPUs are of an older generation"
    CARE_BEYOND = "the model of lost time was tried on no such run"
    CARE_STOOD_IN = "a price of the package stands in for the client's own"
    # prices out of date
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
    LEVERS_PAY = "measures that lower the risk save more than they cost"
    TEST_OF_ONE = "there is a network to test, and one option is advised or compared"
    TEST_OF_BOTH = "there is a network to test, and no option is advised over the other"
    CLAUSE_OF_ONE = "damages for weeks until stable are agreed, and one option is ordered"
    CLAUSE_OF_BOTH = "the same, and either of two may be ordered"
    DAMAGES_SHARED = "and they are the share of the loss: nothing caps them"
    DELIVERY_PRICED = "and so are damages for a late delivery"
    CONTRACT_ASKS = "there is nothing to test"
    NEIGHBOURS_TOLD = "tenants share the network, and what their traffic costs differs on the two compared"
    NEIGHBOURS_ALIKE = "tenants share it, and their traffic costs as much on both"
    PAIRS_REVERSE = "the cheaper option would cost more if published pairs of results replaced our model of time"
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
    if read.alone:
        yield F.TILE_TOTAL
    else:
        yield F.COMPARED
        ways = {"less": F.TILE_SAVES, "more": F.TILE_COSTS, "same": F.TILE_LEVEL}
        apart = F.TILE_LEVEL if read.way == "same" else F.TILE_APART
        within = read.holds(D.SINGLE_NODES)
        yield F.TILE_WITHIN if within else apart if read.verdict.open else ways[read.way]
        yield F.ODDS_ACROSS if within else _odds(read)
    if read.holds(D.SINGLE_NODES) and "decision.courses.single_days" in read.result.numbers:
        yield F.SWITCH_WITHIN
    elif read.edges:
        yield (
            F.SWITCHES_WEEKS if any(of_weeks(turn) for turn, _ in read.result.edges(MOST_CHANGES)) else F.SWITCHES_OTHER
        )
        yield _switch(*read.edges[0])
    else:
        yield F.SWITCH_NONE


def _switch(turn: Turn, edge: Edge) -> Finding:
    """Of what kind the value is that most likely changes the advice."""
    if edge.chance is None:
        return F.SWITCH_CHOSEN
    return F.SWITCH_WEEKS if of_weeks(turn) else F.SWITCH_DRAWN


def _odds(read: Read) -> Finding:
    """How sure the cheaper of two is, by the printed rule."""
    confidence = read.verdict.confidence
    if confidence.close:
        return F.ODDS_CLOSE
    if confidence == Confidence.CLEAR:
        return F.ODDS_CLEAR
    return F.ODDS_CAPPED if read.verdict.capped else F.ODDS_LEANING


def _why(read: Read) -> Iterator[Finding]:
    if read.alone:
        yield F.WHY_ALONE
        return
    if read.small:
        yield F.WHY_SMALL
        return
    ours, theirs = read.causes
    yield (F.WHY_SAVES_NONE, F.WHY_SAVES_ONE, F.WHY_SAVES_TWO, F.WHY_SAVES_THREE)[len(ours)]
    yield (F.GIVES_NONE, F.GIVES_ONE, F.GIVES_TWO, F.GIVES_THREE)[len(theirs)]
    if read.ethernet:
        yield F.BOTH_SIDES
    if read.verdict.confidence.close:
        yield F.CLOSE_BY_RULE
    elif read.way != "same":
        yield F.CAUSES_LEAVE
    if read.third:
        yield F.THIRD_CLOSE if read.third_close else F.THIRD


def _speed(read: Read) -> Iterator[Finding]:
    """What a step takes more on one of the two compared; nothing where the model's pair is another, or nothing travels."""
    latency = read.case.latency()
    pair = {o.id for o in latency.pair}
    if read.alone or read.small or not latency.traffic or pair != {read.verdict.choice, read.verdict.runner_up}:
        return
    penalty = read.case.figure("latency.penalty")
    way = direction(penalty)
    if abs(penalty.value) < read.given.central("evidence:latency-worth-a-thought"):
        if not read.stalls_told:
            yield {"less": F.SPEED_LONGER, "more": F.SPEED_SHORTER, "same": F.SPEED_LEVEL}[way]
    else:
        yield F.SPEED_COUNTS_LONGER if way == "less" else F.SPEED_COUNTS_SHORTER


def _other_side(read: Read) -> Iterator[Finding]:
    if read.alone or read.small:
        yield F.CASE_ALONE if read.alone else F.CASE_SMALL
        return
    rival = read.verdict.runner_up
    ways = {"less": F.CASE_DEARER, "more": F.CASE_CHEAPER, "same": F.CASE_LEVEL}
    yield F.CASE_COMMIT if read.verdict.open else ways[read.way]
    if read.cheaper_to_buy == (rival if not read.verdict.open else read.verdict.choice):
        yield F.CHOICE_CHEAPER_TO_BUY if read.verdict.open else F.RIVAL_CHEAPER_TO_BUY
    if read.asking_costs:
        yield F.ASKING_COSTS
    if not read.verdict.open and read.result.cheapest.shares.get(rival, 0.0) > 0:
        yield F.RIVAL_EVER
    if read.holds(D.ALIKE_FASTER) and read.holds(D.ALIKE_TURNS, D.ALIKE_SHRINKS, D.ALIKE_LEVEL):
        yield F.ALIKE_CHECK
    if read.result.parts:
        yield F.LEANS_TO_RIVAL
    if read.verdict.open:
        yield F.STANDS_ASKING if read.asking_small else F.STANDS_OPEN
        return
    by_ground: Mapping[str, Finding] = {
        Confidence.CLEAR: F.STANDS_CLEAR,
        Confidence.LEANING: F.STANDS_NARROWLY,
        Ground.DEADLINE: F.STANDS_BY_DATE,
        **dict.fromkeys(STATED, F.STANDS_BY_STATED),
    }
    if read.ground in by_ground and not read.holds(D.SINGLE_NODES):
        yield by_ground[read.ground]


def _care(read: Read) -> Iterator[Finding]:
    """The first few of what this client should know before it reads on."""
    held = read.held
    beyond = any(read.case.spoken(section).findings.beyond for section in ("latency", "tail_risk"))
    every = (
        (F.CARE_JUDGES, D.JUDGES_MISSED in held),
        (F.CARE_LISTING, bool(read.result.turned_without)),
        (F.CARE_UNPRICED, D.QUOTE_TURNS in held),
        (F.CARE_BEYOND, beyond),
        (F.CARE_WEEKS, D.ELICITED not in held and not read.small),
        (F.CARE_GPU, D.OLDER_GPU in held),
        (F.CARE_STOOD_IN, D.STOOD_IN in held),
    )
    yield from [finding for finding, true in every if true][:MOST_CARE]
    if D.STALE in held:
        moved = F.STALE_MOVES if not read.alone and read.case.figure("decision.difference").stale else F.STALE_SPARES
        yield F.STALE_ALONE if read.alone else moved


def _body(read: Read) -> Iterator[Finding]:
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
    if read.pairs_reverse:
        yield F.PAIRS_REVERSE
    yield from _levers(read)
    yield from _contract(read)


def _levers(read: Read) -> Iterator[Finding]:
    if not read.levers:
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
    ours, theirs = ([_cause(read, c) for c in causes] for causes in read.causes)
    ready = read.result.in_time
    return {
        "our_first": _at(ours, 0),
        "our_second": _at(ours, 1),
        "our_third": _at(ours, 2),
        "their_first": _at(theirs, 0),
        "their_second": _at(theirs, 1),
        "their_third": _at(theirs, 2),
        "third": names[read.third] if read.third else None,
        "in_time_one": names[ready[0]] if ready else None,
        "ethernet": names[read.ethernet] if read.ethernet else None,
        "taken": names[read.result.courses.base],
        "best_lever": _best_lever(read),
        "interval_rule": interval_rule(read.given),
        "charged_way": _charged_way(read),
        "outweighing": Name(_COUNTS[len(read.outweighing)]) if len(read.outweighing) in _COUNTS else None,
        "switch_to": course_of(read.given, read.edges[0][1].course, read.pair) if read.edges else None,
        **_price_dates(read),
    }


def _at(found: Sequence[Named], place: int) -> Named | None:
    return found[place] if place < len(found) else None


def _cause(read: Read, cause: str) -> Named:
    """A cause as it stands within a sentence."""
    return Named(inside(read.tco.labels[cause]), cause)


def _best_lever(read: Read) -> Named | None:
    """The measure that saves most after its cost."""
    labels = {lever.id: lever.label for lever in read.tail.levers}
    return Named(labels[read.levers[0]], read.levers[0]) if read.levers else None


def _charged_way(read: Read) -> Name | None:
    """Whether our model of time makes RoCEv2 cost more than InfiniBand, or less; None where no pair is told."""
    charged = read.case.tco().numbers.get("tco.pairs.charged")
    return Name("less" if charged.value < 0 else "more") if charged is not None else None


def _price_dates(read: Read) -> Mapping[str, object]:
    """The months of the oldest and the newest price behind the bills compared."""
    behind = {i for o in read.pair for i in inputs_of(read.result.totals[o]) if i.startswith(_PRICE)}
    days = sorted(read.given.prices.by_id(i).date for i in behind)
    return {
        "oldest_price": Name(f"{days[0]:%B %Y}") if days else None,
        "newest_price": Name(f"{days[-1]:%B %Y}") if days else None,
    }
