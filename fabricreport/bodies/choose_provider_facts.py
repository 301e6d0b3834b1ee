"""What the argument of a memo about a choice among providers turns on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from fabricreport.base.vocabulary import STATED, Ground
from fabricreport.bodies.choose_provider import Read
from fabricreport.bodies.views import Told
from fabricreport.ledger.facts import Facts
from fabricreport.models.money.offers import Standing
from fabricreport.sections.decision.actions import PAGE_ONE
from fabricreport.sections.decision.courses.result import OneNode
from fabricreport.sections.decision.offers.judgements import Open

Answer = Literal["listed", "unpriced", "take", "take_if", "within", "renew", "either", "refused"]
Between = Literal["premium", "preferred", "stated", "offers", "none"]
Otherwise = Literal["clear", "asked", "nobody", "none"]
Date = Literal["offer", "risky", "missed", "open", "weeks", "days"]
Sure = Literal["ranked", "open", "pair", "refused", "one", "none"]
Network = Literal["apart", "level", "one_node", "within", "divisible", "alone"]
Against = Literal["cut", "next", "refused", "alone", "nobody"]
Next = Literal["network", "date", "drawing", "nothing", "none"]
Cut = Literal["priced", "no_room", "one_run", "no_model", "none"]
Tested = Literal["two", "many", "needless", "none"]
Steps = Literal["few", "more", "none"]
Papers = Literal["some", "nobody", "none"]

_ANSWERS: Mapping[Standing, Answer] = {
    Standing.LISTED: "listed",
    Standing.TAKE: "take",
    Standing.TAKE_IF: "take_if",
    Standing.TAKE_WITHIN: "within",
    Standing.RENEW: "renew",
    Standing.EITHER: "either",
    Standing.NONE: "refused",
}
_CUTS: Mapping[OneNode, Cut] = {
    OneNode.NO_ROOM: "no_room",
    OneNode.ONE_RUN: "one_run",
    OneNode.NO_MODEL: "no_model",
}


@dataclass(frozen=True)
class Turns(Facts):
    """What the argument turns on. `none` is that there is nothing to tell."""

    answer: Answer
    """Whom to sign with, or to ask: published prices stand in, nobody has one, an offer's standing, or each refuses."""
    between: Between
    """Which network to ask for while nobody is bound; `offers` where nothing else decides."""
    otherwise: Otherwise
    """Who stands behind an offer that is taken on a condition."""
    date: Date
    """Whether the client's date is met: by the offer to take, missed by who asks first, or open; or what a delay costs without one."""
    prices: Literal["several", "one", "none"]
    """How many prices are judged."""
    sure: Sure
    """Of what it is told how sure it is: the order of prices, or of the two networks; or why of nothing."""
    network: Network
    """What a network is to the client: two are worth apart or the same, none is needed, jobs could do without, or one is named."""
    weighed: Literal["idle", "counts", "none"]
    """Whether it matters which of two it is."""
    against: Against
    """The strongest case against the advice: no network at all, the next offer, or that there is no other."""
    next: Next
    """What the next offer has on paper that the first has not."""
    in_rent: Literal["open", "held"]
    """Whether every price holds the network that is needed."""
    cut: Cut
    """Whether jobs within single nodes are another course, or why not."""
    tested: Tested
    """What is tested before anything is paid."""
    steps: Steps
    """Whether there is more to do than page one has room for."""
    papers: Papers
    """Whether sellers document their network."""


def turns(case: Told) -> Turns:
    """Those of a case."""
    read = Read(case)
    against = _against(read)
    return Turns(
        answer="unpriced" if read.found is None else _ANSWERS[read.found.pick.standing],
        between=_between(read),
        otherwise=_otherwise(read),
        date=_date(read),
        prices="none" if read.found is None else "several" if read.several else "one",
        sure=_sure(read),
        network=_network(read),
        weighed="none" if not read.pair else "idle" if read.idle else "counts",
        against=against,
        next=_next(read) if against == "next" else "none",
        in_rent="open" if read.unsure or read.beside else "held",
        cut=_cut(read),
        tested=_tested(read),
        steps=_steps(read),
        papers=_papers(read),
    )


def _between(read: Read) -> Between:
    if not read.asking or not read.pair:
        return "none"
    if read.idle:
        return "none" if read.worth == "same" else "premium"
    if read.ground in (Ground.DEADLINE, *STATED):
        return "stated"
    return "preferred" if read.preferred else "offers"


def _otherwise(read: Read) -> Otherwise:
    if not read.conditional or read.found is None:
        return "none"
    other = read.found.next
    return "nobody" if other is None else "asked" if other.open else "clear"


def _date(read: Read) -> Date:
    if not read.dated:
        return "weeks" if "diligence.price.weeks" in read.case.diligence().numbers else "days"
    if read.found and read.best and not read.asking:
        return "risky" if read.found.likely_late(read.found.pick.first) else "offer"
    return "missed" if read.asking and read.date_missed else "open"


def _sure(read: Read) -> Sure:
    found = read.found
    if found and found.unranked:
        return "open"
    if read.refused:
        return "refused"
    if found and read.several and (found.pick.first == found.order[0] or not read.pair):
        return "ranked"
    if read.pair:
        return "pair"
    return "one" if found else "none"


def _network(read: Read) -> Network:
    if not read.networked:
        return "within" if read.within else "one_node"
    if read.pair:
        return "level" if read.worth == "same" else "apart"
    return "alone" if read.single is None else "divisible"


def _against(read: Read) -> Against:
    if read.refused:
        return "refused"
    if read.single is not None and (read.asking or _next(read) == "nothing"):
        return "cut"
    if read.found is None:
        return "nobody"
    return "alone" if read.found.next is None else "next"


def _next(read: Read) -> Next:
    first, other = (read.found.best, read.found.next) if read.found else (None, None)
    if first is None or other is None:
        return "nothing"
    mine, theirs = {*first.open}, {*other.open}

    def only(*what: Open) -> bool:
        return bool({*what} & mine) and not {*what} & theirs

    if read.networked and only(Open.EXTRA, Open.NETWORK):
        return "network"
    if only(Open.OLD):
        return "date"
    return "drawing" if read.networked and only(Open.TOPOLOGY) else "nothing"


def _cut(read: Read) -> Cut:
    if read.single is not None:
        return "priced"
    return _CUTS.get(read.result.courses.single.standing, "none") if read.networked else "none"


def _tested(read: Read) -> Tested:
    if not read.networked:
        return "needless"
    if not read.case.diligence().plan.tests:
        return "none"
    return "two" if read.two else "many"


def _steps(read: Read) -> Steps:
    steps = len(read.case.monday().todos)
    return "none" if not steps else "more" if steps > PAGE_ONE else "few"


def _papers(read: Read) -> Papers:
    tests = read.case.diligence()
    if not read.networked or len(tests.shortlist) <= 1:
        return "none"
    return "some" if tests.fitting else "nobody"
