"""What the argument of a memo about one purchase turns on, below its first page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fabricreport.findings import Findings
from fabricreport.sections.client import side_by_side
from fabricreport.spine.buy_once_read import Read
from fabricreport.spine.page_one_facts import PageOne, page_one
from fabricreport.spine.passes import Agreed, damages
from fabricreport.spine.told import Told

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
    kinds = {turn.settled["kind"] for turn, _ in read.edges}
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
