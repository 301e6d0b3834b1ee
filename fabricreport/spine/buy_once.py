"""What the body of a memo about one purchase finds of its own, and its own words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cached_property

from fabricreport.findings import Findings, Name, Named, Phrase
from fabricreport.formats import inside
from fabricreport.provenance import inputs_of, mean_of
from fabricreport.scenario import is_given
from fabricreport.sections.decision.finding import DecisionFinding
from fabricreport.sections.decision.result import WORTH_A_WORD
from fabricreport.sections.decision.turning import Edge, Turn, key_of
from fabricreport.sections.partner import barred
from fabricreport.sections.said import said_of
from fabricreport.sections.stance import direction
from fabricreport.spine.told import Told
from fabricreport.vocabulary import Confidence, Ground, Side

MOST_CAUSES = 2
"""So many causes are named on each side of a difference."""
MOST_LEVERS = 3
"""So many measures that lower the risk are shown."""
MOST_CARE = 2
"""So many remarks stand beside the one on assumptions."""
_PRICE, _STANDS = "price:", "reproduces"
_QUOTE, _TERM, _WEEKS = "quote", "contract", "weeks"


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
    # the day to sign
    SIGN_BY = "a date was stated, and a day by which to sign is early enough"
    NO_DAY = "a date was stated, and no day to sign is early enough"
    # the tile of money
    TILE_SAVES = "the advised option costs less"
    TILE_COSTS = "the advised option costs more"
    TILE_LEVEL = "two are compared, and the difference prints as nothing"
    TILE_APART = "no option is advised, and the two cost different amounts"
    TILE_TOTAL = "one option alone"
    # the tile of odds
    ODDS_OF_ONE = "an option is advised over another"
    ODDS_OF_BOTH = "no option is advised over another"
    # the tile of the date
    COMPARED = "two options are compared"
    DATE_OF_TWO = "two options are compared, and the network shows at this size"
    DATE_OF_ONE = "one option alone, and the network shows at this size"
    # the tile of what would switch it
    SWITCH_DRAWN = "the likeliest place where the advice changes is a value that nobody knows yet"
    SWITCH_CHOSEN = "it is a value that the client sets"
    SWITCH_NONE = "there is none"
    SWITCHES = "there is one"
    # why
    WHY_ALONE = "nothing is compared"
    WHY_SMALL = "so few GPUs that the network does not show"
    WHY_SAVES_TWO = "the choice costs less for two causes at least"
    WHY_SAVES_ONE = "it costs less for one cause"
    WHY_SAVES_NONE = "it costs less for none"
    GIVES_TWO = "its rival costs less for two causes at least"
    GIVES_ONE = "its rival costs less for one cause"
    GIVES_NONE = "its rival costs less for none"
    BOTH_SIDES = "an InfiniBand option is held against an Ethernet one with RDMA"
    CLOSE_BY_RULE = "the difference of the two is called close"
    SPEED_LONGER = "a step takes longer on RoCEv2 of the two compared, by less than matters"
    SPEED_SHORTER = "a step takes longer on InfiniBand of the two compared, by less than matters"
    SPEED_LEVEL = "a step takes as long on both compared"
    SPEED_COUNTS_LONGER = "a step takes longer on RoCEv2 of the two compared, by enough to matter"
    SPEED_COUNTS_SHORTER = "a step takes longer on InfiniBand of the two compared, by enough to matter"
    THIRD = "a third option is a true alternative, and costs more"
    # the case for the other side
    CASE_DEARER = "one of two is advised: the case for the other, which costs more"
    CASE_CHEAPER = "the same, and it costs less"
    CASE_LEVEL = "the same, and it costs as much"
    CHOICE_CHEAPER_TO_BUY = "none is advised, and the network of the first costs less to buy"
    RIVAL_CHEAPER_TO_BUY = "the network of the other costs less to buy"
    CASE_COMMIT = "none is advised: the case for taking one now"
    CASE_SMALL = "the network does not show: the case for paying for one"
    CASE_ALONE = "nothing is compared: the case for comparing"
    RIVAL_EVER = "the other is the cheapest of all in some outcomes"
    ALIKE_CHECK = "what was said of one generation is no offer, for the servers' links are slower"
    LEANS_TO_RIVAL = "the framework leans away from the advised option"
    AUDIT_NONE = "and the audit found that no claim behind its reasons reproduces"
    AUDIT_SOME = "and the audit found that some claim behind its reasons reproduces"
    BEYOND_MONEY = "scores beyond money put another option than the advised one first"
    STANDS_CLEAR = "money decides, clearly"
    STANDS_NARROWLY = "money decides, on the mean"
    STANDS_BY_DATE = "the date decides"
    STANDS_BY_WEIGHTS = "the client's weights decide"
    STANDS_OPEN = "the two are too close to commit to one"
    # what to read with care, the most important first
    CARE_JUDGES = "experts were asked, and all missed the known answers"
    CARE_LISTING = "without an option whose switch has one listed price, another course is advised"
    CARE_UNPRICED = "a price that nobody publishes can turn the money"
    CARE_WEEKS = "nobody has published how long a network takes to run stably"
    CARE_STALE = "prices are out of date"
    CARE_GPU = "the GPUs are of an older generation"
    CARE_BEYOND = "the model of lost time was tried on no such run"
    CARE_HELD = "a newer price was held back"
    CARE_STOOD_IN = "a price of the package stands in for the client's own"
    # the headings of the body
    HEAD_ALONE = "one option: what it costs"
    HEAD_SMALL = "the networks cost about the same at this size"
    HEAD_SAVES = "an option is advised, and costs less"
    HEAD_COSTS = "an option is advised, and costs no less"
    HEAD_CLOSE = "no option is advised"
    # the date
    DATES_TOLD = "the network shows at this size"
    NO_DATE = "the client gave no date"
    WEEKS_ASSUMED = "the weeks until stable are assumed"
    WEEKS_JUDGED = "experts judged them"
    LONGER_HERE = "under the same failures a run takes longer on one of the two compared"
    BOTH_IN_TIME = "each of the two compared is counted on to be in time"
    ONE_IN_TIME = "one of the two compared is"
    NONE_IN_TIME = "none of them is"
    ALONE_IN_TIME = "the only option is"
    ALONE_LATE = "the only option is not"
    MONEY_TURNS = "an input may well lie where the other of the two compared costs less on average"
    LEVER_BESIDE = "the best measure can be held against the difference of two compared"
    LEVERS_PAY = "measures that lower the risk save more than they cost"
    TEST_OF_ONE = "there is a network to test, and one option is advised or compared"
    TEST_OF_BOTH = "there is a network to test, and no option is advised over the other"
    CLAUSE_OF_ONE = "damages on the weeks until stable are worth something, and one option is ordered"
    CLAUSE_OF_BOTH = "the same, and either of two may be ordered"
    LIMIT_WEEKS = "they are not, and a week beyond the limit costs something"


F, D = Finding, DecisionFinding


class Read:
    """A case with what the findings and words of its body are made of."""

    def __init__(self, case: Told) -> None:
        self.case, self.given = case, case.inputs
        self.result, self.tco, self.tail = case.decision(), case.tco(), case.tail()
        self.verdict, self.ground = self.result.verdict, self.result.ground
        self.held: Findings = case.spoken("decision").findings
        self.alone = self.verdict.choice == self.verdict.runner_up
        self.dated = is_given(self.given.params, "organisation.time_to_production_weeks")
        self.small = self.ground == Ground.SIZE

    @cached_property
    def way(self) -> str:
        """`less`, `more` or `same`: the advised option against its rival, as printed."""
        return direction(self.case.figure("decision.difference"))

    @cached_property
    def cheaper_to_buy(self) -> str:
        """The one of the two compared whose network costs less to buy, as printed; '' if none does."""
        found = self.tco.numbers.get("tco.fabric_difference")
        by = {"less": self.verdict.choice, "more": self.verdict.runner_up}
        return by.get(direction(found), "") if found is not None else ""

    @cached_property
    def edges(self) -> tuple[tuple[Turn, Edge], ...]:
        """Where the advice changes, as page one tells it."""
        return () if self.alone or self.small else self.result.edges()

    @cached_property
    def level(self) -> Turn | None:
        """The input that most likely lies where the money has turned; None where none may well do so."""
        if self.alone or self.small or self.way == "same":
            return None
        likely = [t for t in self.result.turns.drawn if t.flips and (t.beyond or 0.0) >= WORTH_A_WORD]
        return max(likely, key=lambda t: t.beyond or 0.0, default=None)

    @cached_property
    def causes(self) -> tuple[list[str], list[str]]:
        """Causes on which the choice costs less, and those on which its rival does, the largest first."""
        if self.alone:
            return [], []
        means = {c: float(v) for c, v in self.tco.difference.waterfall().items() if v}
        numbers = self.tco.numbers
        printed = {c: m for c, m in means.items() if direction(numbers[f"tco.part.{c}"]) != "same"}
        ours = [c for c, m in printed.items() if m > 0]
        return ours[:MOST_CAUSES], [c for c, m in printed.items() if m < 0][:MOST_CAUSES]

    @cached_property
    def ethernet(self) -> str:
        """Of an InfiniBand option and an Ethernet one with RDMA that are compared, the latter; '' of any other two."""
        side = {o.side: o.id for o in self.given.options if o.id in (self.verdict.choice, self.verdict.runner_up)}
        return side[Side.ROCEV2] if {Side.INFINIBAND, Side.ROCEV2} == set(side) else ""

    @cached_property
    def third(self) -> str:
        """The cheapest option beside the two compared and their kin that is a true alternative; '' if there is none."""
        left_out = {self.verdict.choice, self.verdict.runner_up, self.result.kin, *barred(self.given)}
        gaps = {o: self.case.figure(f"decision.gap.{o}") for o in self.result.totals if o not in left_out}
        most = self.given.central("evidence:rule-clear-gap-share") * mean_of(self.result.totals[self.verdict.choice])
        real = [o for o, gap in gaps.items() if direction(gap) == "less" and gap.value < most]
        return min(real, key=lambda o: gaps[o].value, default="")

    @cached_property
    def levers(self) -> tuple[str, ...]:
        """Measures that save more than they cost, by what is left, the most first."""
        net = {v.id: mean_of(v.saved_usd) - mean_of(v.cost_usd) for v in self.tail.levers}
        return tuple(sorted((v for v in net if net[v] > 0), key=lambda v: -net[v])[:MOST_LEVERS])

    def holds(self, *findings: DecisionFinding) -> bool:
        """Whether the decision found one of these."""
        return any(finding in self.held for finding in findings)


def findings(case: Told) -> Iterator[Finding]:
    """Those that hold here."""
    read = Read(case)
    for group in (_asked, _conditions, _tiles, _why, _speed, _other_side, _care, _body, _dates):
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
    if read.dated and not read.small and not read.holds(D.SINGLE_NODES, D.ASK_ANNOUNCED):
        last = read.case.monday().last
        if last.early_enough:
            yield F.SIGN_BY
        elif not read.holds(D.TOO_LATE, D.TOO_LATE_ALONE):
            yield F.NO_DAY


def _tiles(read: Read) -> Iterator[Finding]:
    if read.alone:
        yield F.TILE_TOTAL
    else:
        yield F.COMPARED
        ways = {"less": F.TILE_SAVES, "more": F.TILE_COSTS, "same": F.TILE_LEVEL}
        apart = F.TILE_LEVEL if read.way == "same" else F.TILE_APART
        yield apart if read.verdict.open else ways[read.way]
        yield F.ODDS_OF_BOTH if read.verdict.open else F.ODDS_OF_ONE
    if not read.small:
        yield F.DATE_OF_ONE if read.alone else F.DATE_OF_TWO
    if read.edges:
        yield F.SWITCHES
        yield F.SWITCH_DRAWN if read.edges[0][1].chance is not None else F.SWITCH_CHOSEN
    else:
        yield F.SWITCH_NONE


def _why(read: Read) -> Iterator[Finding]:
    if read.alone:
        yield F.WHY_ALONE
        return
    if read.small:
        yield F.WHY_SMALL
        return
    ours, theirs = read.causes
    yield (F.WHY_SAVES_NONE, F.WHY_SAVES_ONE, F.WHY_SAVES_TWO)[len(ours)]
    yield (F.GIVES_NONE, F.GIVES_ONE, F.GIVES_TWO)[len(theirs)]
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
    if read.alone or read.small or not latency.traffic or pair != {read.verdict.choice, read.verdict.runner_up}:
        return
    penalty = read.case.figure("latency.penalty")
    way = direction(penalty)
    if abs(penalty.value) < read.given.central("evidence:latency-worth-a-thought"):
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
    if read.result.joint.shares.get(rival, 0.0) > 0:
        yield F.RIVAL_EVER
    if read.holds(D.ALIKE_FASTER) and read.holds(D.ALIKE_TURNS, D.ALIKE_SHRINKS, D.ALIKE_LEVEL):
        yield F.ALIKE_CHECK
    if read.result.parting is not None:
        yield F.LEANS_TO_RIVAL
        stands = any(reason.verdict.startswith(_STANDS) for reason in read.result.parting.other)
        yield F.AUDIT_SOME if stands else F.AUDIT_NONE
    if read.holds(D.BESIDES_LEADS_OTHER):
        yield F.BEYOND_MONEY
    if read.verdict.open:
        yield F.STANDS_OPEN
        return
    by_ground: Mapping[str, Finding] = {
        Confidence.CLEAR: F.STANDS_CLEAR,
        Confidence.LEANING: F.STANDS_NARROWLY,
        Ground.DEADLINE: F.STANDS_BY_DATE,
        Ground.WEIGHTS: F.STANDS_BY_WEIGHTS,
    }
    if read.ground in by_ground:
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
        (F.CARE_STALE, D.STALE in held),
        (F.CARE_GPU, D.OLDER_GPU in held),
        (F.CARE_HELD, D.HELD in held),
        (F.CARE_STOOD_IN, D.STOOD_IN in held),
    )
    yield from [finding for finding, true in every if true][:MOST_CARE]


def _body(read: Read) -> Iterator[Finding]:
    if read.alone:
        yield F.HEAD_ALONE
    elif read.small:
        yield F.HEAD_SMALL
    elif read.verdict.open:
        yield F.HEAD_CLOSE
    else:
        yield F.HEAD_SAVES if read.way == "less" else F.HEAD_COSTS
    if read.level is not None:
        yield F.MONEY_TURNS
    if read.levers:
        yield F.LEVERS_PAY
        if not read.alone and not read.small:
            yield F.LEVER_BESIDE
    if read.case.diligence().promises:
        yield F.TEST_OF_BOTH if read.verdict.open and not read.alone else F.TEST_OF_ONE
    clauses = read.result.courses.clauses
    if read.verdict.open and len(clauses) > 1:
        yield F.CLAUSE_OF_BOTH
    elif read.result.courses.base in clauses:
        yield F.CLAUSE_OF_ONE
    elif any(p.id == _WEEKS and p.price and p.price.value > 0 for p in read.case.diligence().promises):
        yield F.LIMIT_WEEKS


def _dates(read: Read) -> Iterator[Finding]:
    if read.small:
        return
    yield F.DATES_TOLD
    if not read.dated:
        yield F.NO_DATE
    yield F.WEEKS_JUDGED if read.holds(D.ELICITED) else F.WEEKS_ASSUMED
    risk = read.case.spoken("tail_risk").findings
    if risk.run_longer and set(read.tail.pair or ()) == {read.verdict.choice, read.verdict.runner_up}:
        yield F.LONGER_HERE
    ready = read.result.in_time
    if read.alone:
        yield F.ALONE_IN_TIME if ready else F.ALONE_LATE
    else:
        yield (F.NONE_IN_TIME, F.ONE_IN_TIME, F.BOTH_IN_TIME)[len(ready)]


# ---- words


def words(case: Told) -> Mapping[str, object]:
    """Words of this body's own."""
    read = Read(case)
    names = {o.id: o.name for o in read.given.options}
    ours, theirs = ([_cause(read, c) for c in causes] for causes in read.causes)
    ready = read.result.in_time
    late = [o for o in (read.verdict.choice, read.verdict.runner_up) if o not in ready]
    return {
        "our_first": _at(ours, 0),
        "our_second": _at(ours, 1),
        "their_first": _at(theirs, 0),
        "their_second": _at(theirs, 1),
        "third": Named(names[read.third], read.third) if read.third else None,
        "in_time_one": Named(names[ready[0]], ready[0]) if ready else None,
        "late_one": Named(names[late[0]], late[0]) if late else None,
        "ethernet": Named(names[read.ethernet], read.ethernet) if read.ethernet else None,
        "taken": Named(names[read.result.courses.base], read.result.courses.base),
        "level": _level(read),
        "best_lever": Named(read.levers[0], read.levers[0]) if read.levers else None,
        "unsure_of": case.spoken("latency").words["cause"],
        "disputed_most": case.spoken("evidence").words["widest"],
        "lost_most": case.spoken("tail_risk").words["worst"],
        **_price_dates(read),
    }


def _at(found: Sequence[Named], place: int) -> Named | None:
    return found[place] if place < len(found) else None


def _cause(read: Read, cause: str) -> Named:
    """A cause as it stands within a sentence."""
    return Named(inside(read.tco.labels[cause]), cause)


def _level(read: Read) -> Phrase | None:
    """The input that most likely lies where the money has turned, and on which side that is."""
    turn = read.level
    if turn is None:
        return None
    return Phrase(said_of(read.given, turn.input_id), key_of(turn.input_id), side=Name(turn.told(turn.side)))


def _price_dates(read: Read) -> Mapping[str, object]:
    """The months of the oldest and the newest price behind the bills compared."""
    pair = (read.verdict.choice, read.verdict.runner_up)
    behind = {i for o in pair for i in inputs_of(read.result.totals[o]) if i.startswith(_PRICE)}
    days = sorted(read.given.prices.by_id(i).date for i in behind)
    return {
        "oldest_price": Name(f"{days[0]:%B %Y}") if days else None,
        "newest_price": Name(f"{days[-1]:%B %Y}") if days else None,
    }
