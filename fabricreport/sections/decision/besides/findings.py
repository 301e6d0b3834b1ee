"""What was found beyond money, named."""

from __future__ import annotations

from collections.abc import Iterator

from fabricreport.evidence import read_yaml
from fabricreport.inputs import Inputs
from fabricreport.ledger import FigureOf
from fabricreport.sections.client import rented, side_by_side
from fabricreport.sections.decision.finding import DecisionFinding
from fabricreport.sections.decision.result import DecisionResult
from fabricreport.sections.stance import direction
from fabricreport.vocabulary import NEITHER

F = DecisionFinding


def besides_findings(given: Inputs, result: DecisionResult, figure: FigureOf) -> Iterator[DecisionFinding]:
    """What holds of the reasons beyond money."""
    yield from _weighing(given, result)
    yield from _money(given, result, figure)
    yield from _tenants(given, result)
    yield from _topology(given, result)
    yield from _utilisation(result, figure)


def _weighing(given: Inputs, result: DecisionResult) -> Iterator[DecisionFinding]:
    weighed, verdict = result.besides.weighed, result.verdict
    if len(weighed.options) < len(result.totals):
        yield F.BESIDES_DROPPED
    if len(weighed.options) < 2:
        yield F.BESIDES_ALONE
        return
    if weighed.found is None:
        yield F.BESIDES_ALIKE
        return
    yield F.BESIDES_WEIGHED
    if given.params.organisation.beyond_money:
        yield F.BESIDES_ORDERED
    if len(weighed.telling) == 1:
        yield F.BESIDES_ONE_OPEN if _unsettled(result) else F.BESIDES_ONE_LEADS
    elif not weighed.stands_out:
        yield F.BESIDES_NOBODY
    elif _unsettled(result):
        yield F.BESIDES_LEADS_OPEN
        if weighed.leader not in (verdict.choice, verdict.runner_up):
            yield F.BESIDES_LEADS_THIRD
    elif verdict.open or verdict.announced:
        yield F.BESIDES_LEADS_ANNOUNCED
    else:
        yield F.BESIDES_LEADS_CHOICE if weighed.leader == verdict.choice else F.BESIDES_LEADS_OTHER
    yield from _beside_framework(given, result)
    if len(weighed.telling) > 1:
        yield F.BESIDES_CENTRAL
        if weighed.flip is None:
            yield F.BESIDES_STAYS
            if weighed.runner_up:
                yield F.BESIDES_OTHER_DRAWS
        elif weighed.flip > 0:
            yield F.BESIDES_FLIPS


def _unsettled(result: DecisionResult) -> bool:
    """Whether money leaves the two compared open, and both are weighed: then what is beyond money settles nothing."""
    verdict = result.verdict
    return verdict.open and {verdict.choice, verdict.runner_up} <= set(result.besides.weighed.options)


def _beside_framework(given: Inputs, result: DecisionResult) -> Iterator[DecisionFinding]:
    """Whether the framework leans to the side of the option that is first beyond money."""
    weighed, leans_to = result.besides.weighed, result.framework.leans_to
    if not weighed.stands_out:
        if leans_to != NEITHER:
            yield F.FRAMEWORK_ALONE_LEANS
    elif leans_to == NEITHER:
        yield F.BESIDES_UNSETTLED if _unsettled(result) else F.BESIDES_ALONE_LEANS
    else:
        sides = {o.id: o.side for o in given.options}
        yield F.BESIDES_AS_FRAMEWORK if sides[weighed.leader] == leans_to else F.BESIDES_NOT_AS_FRAMEWORK


def _money(given: Inputs, result: DecisionResult, figure: FigureOf) -> Iterator[DecisionFinding]:
    priced = result.besides.priced
    if rented(given):
        yield F.LOCK_IN_RENTED
    else:
        yield F.LOCK_IN_PRICED if priced.replaced else F.LOCK_IN_UNPRICED
    if priced.later:
        yield F.LOCK_IN_LATER
    if priced.replaced or priced.resale:
        yield F.BESIDES_PRICED
    yield F.EXIT_PRICED if priced.resale else F.EXIT_UNPRICED
    if given.params.cluster.subnets < 2:
        yield F.ONE_SUBNET
    else:
        some = any(direction(figure(f"decision.besides.subnets.{o}")) != "same" for o in priced.subnets)
        yield F.SUBNETS_PRICED if some else F.SUBNETS_UNPRICED
    if given.params.cluster.sites > 1:
        yield F.SITES_APART


def _tenants(given: Inputs, result: DecisionResult) -> Iterator[DecisionFinding]:
    if not side_by_side(given):
        yield F.ONE_TENANT
    else:
        yield F.TENANTS
        if result.besides.priced.neighbours:
            yield F.TENANTS_PRICED


def _topology(given: Inputs, result: DecisionResult) -> Iterator[DecisionFinding]:
    topology = result.besides.topology
    if topology is None:
        yield F.TOPOLOGY_RENTED if rented(given) else F.TOPOLOGY_UNCOUNTED
    elif topology.same:
        yield F.TOPOLOGY_SAME
    else:
        yield F.TOPOLOGY_PRICED


def _utilisation(result: DecisionResult, figure: FigureOf) -> Iterator[DecisionFinding]:
    found, compared = result.besides.utilisations, result.besides.compared
    if found is None:
        yield F.MFU_NONE
        return
    yield F.MFU
    if len(found.by_size) < 2 or len(compared) < 2:
        return
    falls = min(figure(f"decision.besides.mfu_fall.{o}").value for o in compared)
    apart = figure("decision.besides.mfu_apart").value
    yield F.MFU_FALLS if falls > read_yaml("besides")["mfu_falls_from"] * apart else F.MFU_PARTS
