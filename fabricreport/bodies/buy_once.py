"""The body of a memo about one purchase: what its argument turns on, page one first, and its words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any, Literal

from fabricreport.base.formats import inside
from fabricreport.base.provenance import mean_of
from fabricreport.base.vocabulary import CourseKind, Ground, Side
from fabricreport.bodies.tables import MOST_REVERSALS
from fabricreport.bodies.views import Agreed, Told, damages
from fabricreport.books.names import whole_names
from fabricreport.ledger.facts import Facts, Findings, Name, capital
from fabricreport.sections.client import side_by_side
from fabricreport.sections.decision.courses.alternatives import within_nodes
from fabricreport.sections.decision.words import DecisionFinding, ready_apart
from fabricreport.sections.stance import direction

MOST_CAUSES = 2
"""So many causes are named on each side of a difference."""
MOST_LEVERS = 3
"""So many measures that lower the risk are shown."""


class Read:
    """A case with what the findings and words of its body are made of."""

    def __init__(self, case: Told) -> None:
        self.case, self.given = case, case.inputs
        self.result, self.tco, self.tail = case.decision(), case.tco(), case.tail()
        self.verdict, self.ground = self.result.verdict, self.result.ground
        self.held: Findings = case.spoken("decision").findings
        self.alone = self.verdict.choice == self.verdict.runner_up
        self.small = self.ground == Ground.SIZE
        self.nodes = self.result.in_nodes
        self.pair = self.verdict.pair

    @cached_property
    def way(self) -> str:
        """`less`, `more` or `same`: the advised option against its rival, as printed."""
        return direction(self.case.figure("decision.difference"))

    @cached_property
    def causes(self) -> tuple[list[str], list[str]]:
        """Causes on which the choice costs less, and those on which its rival does, the largest first."""
        if self.alone or self.nodes:
            return [], []
        means = {c: float(v) for c, v in self.tco.difference.waterfall().items() if v}
        numbers = self.tco.numbers
        printed = {c: m for c, m in means.items() if direction(numbers[f"tco.part.{c}"]) != "same"}
        ours, theirs = [c for c, m in printed.items() if m > 0], [c for c, m in printed.items() if m < 0]
        return ours[:MOST_CAUSES], theirs[:MOST_CAUSES]

    @cached_property
    def ethernet(self) -> str:
        """Of an InfiniBand option and an Ethernet one with RDMA that are compared, the latter; '' of any other two."""
        side = {o.side: o.id for o in self.given.options if o.id in self.pair}
        return side[Side.ROCEV2] if {Side.INFINIBAND, Side.ROCEV2} == set(side) else ""

    @cached_property
    def levers(self) -> tuple[str, ...]:
        """Measures that save more than they cost, by what is left, the most first; they are worked out on a network."""
        net = {} if self.nodes else self._net
        return tuple(sorted((v for v in net if net[v] > 0), key=lambda v: -net[v])[:MOST_LEVERS])

    @cached_property
    def _net(self) -> dict[str, float]:
        """What each measure saves in the first year, its cost taken off."""
        return {v.id: mean_of(v.saved_usd) - mean_of(v.cost_usd) for v in self.tail.levers}

    @cached_property
    def outweighing(self) -> tuple[str, ...]:
        """Those of them that save more in the first year, their cost taken off, than the two compared lie apart."""
        if self.alone or self.small:
            return ()
        apart = abs(self.case.figure("decision.difference").value)
        return tuple(v for v in self.levers if self._net[v] > apart)

    @property
    def flips(self) -> bool:
        """Whether inputs are told of that change the advice: of two compared whose network is no matter of price alone."""
        return not (self.alone or self.small or self.nodes) and bool(self.result.flips)

    def holds(self, *findings: DecisionFinding) -> bool:
        """Whether the decision found one of these."""
        return any(finding in self.held for finding in findings)


@dataclass(frozen=True)
class PageOne(Facts):
    """What page one turns on. `within` is an advice of jobs within nodes, `none` that there is nothing to tell."""

    course: Literal["rent", "rent_late", "pilot", "within", "ahead", "none"]
    """What is advised in place of an order or before it: machines rented first, for their cost or for the date, …"""
    advice: Literal["take", "settle", "stage", "ask", "price", "small", "none"]
    """Which order: of an option, of one once something is settled, of its first stage; or of the better offer, or on price."""
    missed: Literal["both", "alone", "asking", "choice", "none"]
    """How the client's date is missed: by either network, by all there is, by asking first, by the one advised."""
    remedy: Literal["rent", "move", "none"]
    """What makes production earlier where it is."""
    money: Literal["both", "cash", "time", "level", "alone", "none"]
    """In what the two compared differ, as printed."""
    saved: Literal["both", "cash", "none"]
    """In what jobs within nodes differ from those across them, as printed."""
    sure: Literal["act", "ask", "several", "within", "wins", "alone", "none"]
    """Of what it is told how sure it is: of an order, of asking two or several, of a share won."""
    dated: Literal["dated", "undated"]
    """Whether the client has a date."""
    near: Literal["date", "stated", "none"]
    """What decides between two that money leaves close."""
    other: Literal["reversed", "nearly", "small", "alone", "within", "none"]
    """The case for the other side: of what reverses the order, or comes near; or why there is none."""
    care: Literal["compared", "alone", "cut", "stated"]
    """What is read with care first: the comparison, or why jobs stay within nodes (we cut them, or the client says so)."""


def page_one(read: Read) -> dict[str, Any]:
    """The facts of a case, by name."""
    decision = read.held
    return {
        "course": _arm(
            decision, rent="rent_first", rent_late="rent_first_late", pilot="pilot_first", within="single_nodes",
            ahead="order_ahead",
        ),
        "advice": _arm(
            decision, take="take", settle="settle_first", stage=("sign_stage_one", "settle_stage_one"),
            ask=("ask_both", "offers_first"), price="on_price", small="take_small",
        ),
        "missed": _arm(decision, both="too_late", alone="too_late_alone", asking="late_by_asking", choice="late_choice"),
        "remedy": _arm(decision, rent="late_rent", move="late_move"),
        "money": _money(read),
        "saved": _saved(read),
        "sure": _sure(read),
        "dated": "dated" if read.given.params.dated else "undated",
        "near": _arm(decision, date="near_by_date", stated="near_by_stated"),
        "other": _other(read),
        "care": _care(read),
    }  # fmt: skip


def page_one_words(read: Read) -> dict[str, Name | None]:
    """Words that choose within a sentence of page one: each there where it holds."""
    held = {"settled_first": "settle_stage_one", "asked_first": "offers_first", "rent_dear": "date_dear"}
    return {
        **{word: Name(word) if getattr(read.held, finding) else None for word, finding in held.items()},
        "ethernet": whole_names(read.given.options)[read.ethernet] if read.ethernet else None,
        "apart": Name("apart") if not read.alone and read.way != "same" else None,
        "Reversing": _reversing(read),
        "counted": Name("counted") if _counted(read) else None,
    }


def _counted(read: Read) -> bool:
    """Whether a table has shares of outcomes with an error."""
    return not ready_apart(read.given, read.result) and any(read.result.cheapest.errors.values())


def _reversing(read: Read) -> Name | None:
    """How many of the changes shown reverse the order of the two compared."""
    found = read.result.reversals
    if found is None or not found.tried:
        return None
    tried, reversing = (min(len(rows), MOST_REVERSALS) for rows in (found.tried, found.reversing))
    if reversing in (0, tried):
        return Name(f"{'Every' if reversing else 'No'} change tried reverses")
    return Name(
        f"{capital(_NUMBERS[reversing])} of {_NUMBERS[tried]} changes {'reverses' if reversing == 1 else 'reverse'}"
    )


_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight")


def _arm(held: Findings, **arms: str | tuple[str, ...]) -> str:
    """The arm of the one finding among these that holds."""
    each = ((arm, (found,) if isinstance(found, str) else found) for arm, found in arms.items())
    return next((arm for arm, found in each if any(getattr(held, finding) for finding in found)), "none")


def _money(read: Read) -> str:
    if read.nodes or read.alone:
        return "none" if read.nodes else "alone"
    cash, time = (not read.case.figure(f"decision.{part}").is_level for part in ("cash", "time"))
    return "both" if cash and time else "cash" if cash else "time" if time else "level"


def _sure(read: Read) -> str:
    if read.alone or read.result.offers:
        return "alone" if read.alone and not read.nodes else "none"
    kind = read.result.courses.advised.kind
    if read.result.sure is None or kind == CourseKind.SINGLE_NODE:
        return "wins" if read.result.sure is None else "within"
    if kind not in (CourseKind.EITHER, CourseKind.OFFERS, CourseKind.PILOT):
        return "act"
    return "several" if {*read.verdict.tied} - {*read.pair} else "ask"


def _saved(read: Read) -> str:
    if not read.nodes:
        return "none"
    return "cash" if direction(read.case.figure("decision.courses.single_lost")) == "same" else "both"


def _other(read: Read) -> str:
    if read.nodes:
        return "within"
    if read.alone or read.small:
        return "alone" if read.alone else "small"
    found = read.result.reversals
    return "none" if found is None or not found.tried else "reversed" if found.reversing else "nearly"


def _care(read: Read) -> str:
    if read.nodes:
        return "stated" if within_nodes(read.given) else "cut"
    return "alone" if read.alone else "compared"


Heading = Literal["within", "alone", "small", "close", "saves", "costs"]
Date = Literal["within", "safe", "alone", "both", "one", "neither", "none"]
Opening = Literal["one_node", "inside", "hidden", "small", "experts", "apart", "none"]
Tenants = Literal["alike", "apart", "none"]
Levers = Literal["several", "one", "modest", "none", "untold"]


@dataclass(frozen=True)
class Turns(PageOne):
    """What the body's argument turns on. `within` is an advice of jobs within nodes, `none` that there is nothing to tell."""

    conditions: Literal["both", "quotes", "terms", "tests", "none"]
    """What settles an advice that hangs on it: quotes, terms of the contract, both, or the test alone."""
    heading: Heading
    """What the money says: nothing is compared, the networks do not show, none is advised, or one that saves or does not."""
    purchase: Literal["apart", "same", "none"]
    """Whether their networks cost the same to buy."""
    renting: Literal["owning", "renting", "none"]
    """Which costs less, for who owns and, where it is owning, rents nothing out."""
    courses: Literal["plain", "involved", "none"]
    """Whether another course takes the place of the plain order."""
    date: Date
    """Who can be counted on to be in time: the servers, one option alone, or of two both, one or neither; `safe` without a date."""
    calendar: Literal["within", "told", "none"]
    """Whose days are told."""
    opening: Opening
    """What the network is to the client's jobs."""
    sites: Literal["joined", "apart", "none"]
    """Whether one network joins several."""
    jobs: Literal["one", "published", "none"]
    """In what sizes the cluster runs them, where the client does not say so."""
    tenants: Tenants
    """Whether their traffic costs them as much on both of two."""
    levers: Levers
    """How many measures against lost time pay better than the choice of network; `modest` where some pay."""
    contract: Literal["tested", "asks"]
    """Whether there is a network to test."""
    trial: Literal["whole", "flatters", "none"]
    """What a test of two nodes is: of the whole cluster, or better than all nodes."""
    passes: Literal["both", "one", "none"]
    """Whose promises are listed."""
    credit: Literal["priced", "untimed", "none"]
    """Whether lost bandwidth costs something, or no test times what a step sends."""
    clause: Literal["one", "either", "none"]
    """Who owes damages for weeks until stable."""
    footing: Literal["assumed", "sourced"]
    """What most figures behind the advice are."""


def turns(case: Told) -> Turns:
    """Those of a case."""
    read = Read(case)
    latency, tco, diligence, decision = (case.spoken(s).findings for s in ("latency", "tco", "diligence", "decision"))
    agreed = [*damages(case)]
    owning = tco.owning_cheaper and not side_by_side(read.given)
    return Turns(
        **page_one(read),
        conditions=_conditions(read),
        heading=_heading(read),
        purchase="apart" if tco.purchase_apart else "same" if tco.purchase_same else "none",
        renting="owning" if owning else "renting" if tco.renting_cheaper else "none",
        courses="plain" if decision.courses_plain else "involved" if decision.courses_involved else "none",
        date=_date(read),
        calendar="within" if read.nodes else "none" if read.small else "told",
        opening=_opening(latency),
        sites="joined" if latency.sites_joined else "apart" if latency.sites_apart else "none",
        jobs="one" if latency.job_one else "published" if latency.jobs_published else "none",
        tenants=_tenants(read),
        levers=_levers(read),
        contract="tested" if diligence.tested_at_all else "asks",
        trial="whole" if diligence.two_nodes else "flatters" if diligence.flatters else "none",
        passes="none" if not case.diligence().promises else "both" if read.verdict.open and not read.alone else "one",
        credit="priced" if diligence.plan_credit else "untimed" if diligence.plan_untimed else "none",
        clause="one" if Agreed.CLAUSE_OF_ONE in agreed else "either" if Agreed.CLAUSE_OF_BOTH in agreed else "none",
        footing="assumed" if case.spoken("evidence").findings.mostly_assumed else "sourced",
    )


def _conditions(read: Read) -> Literal["both", "quotes", "terms", "tests", "none"]:
    if not read.held.settle_first:
        return "none"
    kinds = {change.turn.settled["kind"] for change in read.result.changes}
    if "quote" in kinds:
        return "both" if "contract" in kinds else "quotes"
    return "terms" if "contract" in kinds else "tests"


def _heading(read: Read) -> Heading:
    if read.nodes:
        return "within"
    if read.alone or read.small:
        return "alone" if read.alone else "small"
    return "close" if read.verdict.open else "saves" if read.way == "less" else "costs"


def _date(read: Read) -> Date:
    if read.small and not read.nodes:
        return "none"
    if not read.given.params.dated:
        return "safe"
    if read.nodes or read.alone:
        return "within" if read.nodes else "alone"
    ready: tuple[Date, ...] = ("neither", "one", "both")
    return ready[len(read.result.in_time)]


def _opening(latency: Findings) -> Opening:
    every: dict[Opening, bool] = {
        "one_node": latency.opens_one_node,
        "inside": latency.opens_inside,
        "hidden": latency.opens_hidden,
        "small": latency.opens_small,
        "experts": latency.opens_experts,
        "apart": latency.opens_longer or latency.opens_shorter,
    }
    return next((opening for opening, holds in every.items() if holds), "none")


def _tenants(read: Read) -> Tenants:
    if read.alone or read.nodes or not {*read.pair} <= set(read.result.neighbours):
        return "none"
    lost = {read.case.figure(f"decision.besides.neighbours.{option}").text for option in read.pair}
    return "alike" if len(lost) == 1 else "apart"


def _levers(read: Read) -> Levers:
    if read.nodes or not read.levers:
        return "untold" if read.nodes else "none"
    outweighing: tuple[Levers, ...] = ("modest", "one", "several")
    return outweighing[min(len(read.outweighing), 2)]


MOST_CARE = 2
"""So many remarks stand beside the one on assumptions."""
_COUNTS = {2: "Two", 3: "Three"}


class Finding(StrEnum):
    """What may be true of one purchase beside what the sections find."""

    # the tile of money
    TILE_NETWORK = "a network is bought"
    SWITCH_WITHIN = "and what would have them joined: longer runs"
    COMPARED = "two options are compared"
    # what would change the advice
    CHANGES = "something uncertain is worth knowing, for it reaches another option"
    FLIPS = "nothing is, and something uncertain changes the advice"
    NO_CHANGES = "nor does anything"
    # why
    BOTH_SIDES = "an InfiniBand option is held against an Ethernet one with RDMA"
    CLOSE_BY_RULE = "the difference of the two is called close"
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
    for group in (_tiles, _why, _cares, _body):
        yield from group(read)


def _tiles(read: Read) -> Iterator[Finding]:
    if read.nodes:
        if "decision.courses.single_days" in read.result.numbers:
            yield F.SWITCH_WITHIN
        return
    if not read.alone:
        yield F.COMPARED
    yield F.CHANGES if read.result.changes else F.FLIPS if read.flips else F.NO_CHANGES
    if f"tco.fabric_capex.{read.verdict.choice}" in read.tco.numbers:
        yield F.TILE_NETWORK


def _why(read: Read) -> Iterator[Finding]:
    if read.nodes or read.alone or read.small:
        return
    if read.ethernet:
        yield F.BOTH_SIDES
    if read.verdict.confidence.close:
        yield F.CLOSE_BY_RULE


def _cares(read: Read) -> Iterator[Finding]:
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
        "our_causes": _causes(ours),
        "their_causes": _causes(theirs),
        "in_time_one": names[ready[0]] if ready else None,
        "date_kept": Name("in time") if kept else None,
        **_by_step(read),
        "taken": names[read.result.courses.base],
        "charged_way": _charged_way(read),
        "outweighing": Name(_COUNTS[len(read.outweighing)]) if len(read.outweighing) in _COUNTS else None,
        **page_one_words(read),
    }


def _causes(said: list[str]) -> Name | None:
    """Causes as a sentence joins them; None where there are none."""
    between = ", and on " if any(" and " in one for one in said) else " and "
    return Name(between.join(said)) if said else None


def _by_step(read: Read) -> Mapping[str, object]:
    """Of the two that the model of a step compares, that on which one takes longer, and the other."""
    latency = read.case.spoken("latency")
    pair = ("roce", "ib") if latency.findings.opens_longer else ("ib", "roce")
    return {word: latency.words[option] for word, option in zip(("slower", "quicker"), pair, strict=True)}


def _charged_way(read: Read) -> Name | None:
    """Whether our model of time makes RoCEv2 cost more than InfiniBand, or less; None where no pair is told."""
    charged = read.case.tco().numbers.get("tco.pairs.charged")
    return Name("less" if charged.value < 0 else "more") if charged is not None else None
