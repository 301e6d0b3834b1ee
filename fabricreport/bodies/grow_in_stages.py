"""What the body of a memo about a plan in stages finds of its own, and its own words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from fabricreport.base.vocabulary import Confidence, CourseKind, Side
from fabricreport.bodies.buy_once import PageOne, Read, page_one, page_one_words
from fabricreport.bodies.views import Agreed, Told, damages
from fabricreport.ledger.facts import Name, Named
from fabricreport.sections.sites import sites_in_use
from fabricreport.sections.stance import direction

MOST_CARES = 3
"""Remarks of page one at most."""


class Finding(StrEnum):
    """What may be true of a plan in stages beside what the sections find; those of one group exclude each other."""

    # two networks side by side
    COMPARED = "two options are compared"
    STAGED = "a network is bought in stages"
    STAGES_OF_TWO = "and two of them are side by side"
    # the stages
    AHEAD_LOST = "the first stage alone is signed for, and what it holds for later ones is lost if growth stops"
    RECABLED = "the first stage holds switches of later ones, and building as needed would lay cables twice"
    NOW_ADDS = "to order every stage now would cost more"
    STOP_WASTES = "a plan that ends after the first stage has paid for growth, on either network"
    STOP_WASTES_NOTHING = "it has not, on one of them at least"
    SITE_OPEN = "a later stage begins another site"
    SITES_BEGUN = "every site is begun with the first stage"
    # the case for the other option
    FOLLOWS_MONEY = "what the bill leaves out points away from an advice that money decided"
    # jobs within nodes
    SWITCH_WITHIN = "and what would have them joined: longer runs"
    DELIVERY_ALONE = "damages for a late delivery are agreed, and no others"
    # what would change the answer
    CHANGES = "something uncertain is worth knowing, for it reaches another option"
    FLIPS = "nothing is, and something uncertain changes the advice"
    NO_CHANGES = "nor does anything"
    # the work
    BOTH_SIDES = "an InfiniBand option is held against an Ethernet one with RDMA"
    STEP_ALIKE = "a step waits for either network the same share of its time, as printed"
    STEP_APART = "it waits longer for one of them"
    # the date
    DATE_ALIKE = "both run stably after as many weeks, as printed"
    DATE_APART = "one of them runs stably earlier"
    WEEKS_ASSUMED = "how long either takes is assumed"
    WEEKS_JUDGED = "experts judged it"
    # the acceptance test
    TEST_ONCE = "there is a network to test, at one size"
    LEVERS_HERE = "measures on the advised option save more than they cost"
    CLAUSE_OF_ONE = "damages for weeks until stable are agreed, and one option is ordered"
    CLAUSE_OF_BOTH = "the same, and either of two may be ordered"
    DELIVERY_PRICED = "and so are damages for a late delivery"
    # what to read with care: the first few that hold
    CARE_UNPRICED = "a price that nobody publishes can turn the money"
    CARE_LINKS = "links between sites are priced at an assumed length or rate"
    CARE_LATER = "later stages have no prices of their own"
    CARE_UNTRIED = "the model was tried on no mixture of experts"
    CARE_GENERATION = "which side leads depends on the generation of the equipment"
    CARE_LISTING = "the advice hangs on one listed price"


_COUNTS = {2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight", 9: "nine"}


F = Finding


def findings(case: Told) -> Iterator[Finding]:
    """Those that hold here."""
    if compared(case):
        yield F.COMPARED
    yield from _stages(case)
    yield from _other(case)
    if case.decision().in_nodes:
        if "decision.courses.single_days" in case.decision().numbers:
            yield F.SWITCH_WITHIN
    else:
        yield F.CHANGES if case.decision().changes else F.FLIPS if Read(case).flips else F.NO_CHANGES
    yield from _work(case)
    tested = case.spoken("diligence").findings
    if tested.tested_at_all and not tested.tested_again:
        yield F.TEST_ONCE
    if case.tail().worked == pair(case)[0] and Read(case).levers:
        yield F.LEVERS_HERE
    for agreed in damages(case):
        if agreed is not Agreed.DAMAGES_SHARED:
            yield Finding[agreed.name]
    if not case.decision().in_nodes:
        yield from cares(case)


def _work(case: Told) -> Iterator[Finding]:
    if not compared(case):
        return
    if Read(case).ethernet:
        yield F.BOTH_SIDES
    yield F.WEEKS_JUDGED if case.inputs.elicited else F.WEEKS_ASSUMED
    weeks = {case.figure(f"tail_risk.weeks.{o}").text for o in pair(case)}
    yield F.DATE_ALIKE if len(weeks) == 1 else F.DATE_APART
    numbers = case.latency().numbers
    waiting = {numbers[i].text for o in pair(case) if (i := f"latency.part.exposed.{o}") in numbers}
    if waiting:
        yield F.STEP_ALIKE if len(waiting) == 1 else F.STEP_APART


def pair(case: Told) -> tuple[str, str]:
    """The two options compared; twice the same where there is one."""
    return case.decision().verdict.pair


def compared(case: Told) -> bool:
    """Whether there are two, and one of them is told of beside the other."""
    choice, rival = pair(case)
    return choice != rival and not case.decision().in_nodes


@dataclass(frozen=True)
class Turns(PageOne):
    """What the argument turns on beside page one's facts."""

    asked: Literal["one", "several", "stays", "within"]
    """How the plan grows: on one network, over several sites, not at all; or whether jobs need a network."""
    reason: Literal["saves", "open", "extra", "even", "alone", "within"]
    """What the option advised costs beside its rival, as printed; `open` where neither is advised."""
    day: Literal["safe", "in_time", "late", "none"]
    """Whether jobs within nodes are in production by the client's date."""


def turns(case: Told) -> Turns:
    """Those of a case."""
    return Turns(**page_one(Read(case)), asked=_asked(case), reason=_reason(case), day=_day(case))


def _asked(case: Told) -> Literal["one", "several", "stays", "within"]:
    cluster = case.inputs.params.cluster
    if case.decision().in_nodes:
        return "within"
    if cluster.final_gpus <= cluster.gpus:
        return "stays"
    return "several" if len(cluster.networks(cluster.final_gpus)) > 1 else "one"


def _reason(case: Told) -> Literal["saves", "open", "extra", "even", "alone", "within"]:
    if not compared(case):
        return "within" if case.decision().in_nodes else "alone"
    way = direction(case.figure("decision.difference"))
    if way == "less":
        return "open" if case.decision().verdict.open else "saves"
    return "extra" if way == "more" else "even"


def _day(case: Told) -> Literal["safe", "in_time", "late", "none"]:
    if not case.decision().in_nodes:
        return "none"
    if not case.inputs.params.dated:
        return "safe"
    return "in_time" if case.decision().schedule.advised.in_time else "late"


def _stages(case: Told) -> Iterator[Finding]:
    cluster = case.inputs.params.cluster
    if case.decision().in_nodes or case.tco().ownership is None or cluster.final_gpus <= cluster.gpus:
        return
    yield F.STAGED
    yield from _ahead(case)
    if compared(case):
        yield F.STAGES_OF_TWO


def _ahead(case: Told) -> Iterator[Finding]:
    """What stands ahead of need after the first stage, what ordering all would add, and what stopping there has cost."""
    found, (choice, rival) = case.decision().courses, pair(case)
    if case.figure(f"tco.stage.overbuilt.0.{choice}").sign:
        told = case.spoken("decision").findings
        if (told.sign_stage_one or told.settle_stage_one) and _wasted(case, choice):
            yield F.AHEAD_LOST
        if case.figure(f"tco.recabled.{choice}").sign:
            yield F.RECABLED
    ahead = found.row(CourseKind.AHEAD)
    if ahead is not None and case.figure(f"decision.courses.against.{ahead.key}").sign > 0:
        yield F.NOW_ADDS
    if found.growing is not None:
        begun, final = _sites(case)
        yield F.SITE_OPEN if final > begun else F.SITES_BEGUN
        yield F.STOP_WASTES if all(_wasted(case, o) for o in (choice, rival)) else F.STOP_WASTES_NOTHING


def _wasted(case: Told, option: str) -> bool:
    """Whether a plan that ends after the first stage has paid for growth on an option."""
    growing = case.decision().courses.growing
    return growing is not None and case.figure(f"decision.courses.wasted.0.{option}").sign > 0


def _other(case: Told) -> Iterator[Finding]:
    by_money = case.decision().ground in (Confidence.CLEAR, Confidence.LEANING)
    if compared(case) and by_money and case.spoken("decision").findings.money_and_framework_part:
        yield F.FOLLOWS_MONEY


def cares(case: Told) -> tuple[Finding, ...]:
    """What this client should read with care: the first few of what applies."""
    decision = case.spoken("decision").findings
    latency = case.spoken("latency").findings
    every = (
        (F.CARE_UNPRICED, decision.quote_turns),
        (F.CARE_LINKS, decision.halls_assumed),
        (F.CARE_LATER, decision.later),
        (F.CARE_UNTRIED, latency.beyond_mixture),
        (F.CARE_GENERATION, decision.generation_turns),
        (F.CARE_LISTING, decision.listing_turns),
    )
    return tuple(finding for finding, holds in every if holds)[:MOST_CARES]


def words(case: Told) -> Mapping[str, object]:
    """Words of this body's own."""
    cluster = case.inputs.params.cluster
    halls, grows = cluster.sites, _asked(case) != "stays"
    return {
        "Lay_out": _lay_out(case),
        "full_size": Name(_full_size(case)),
        "leave_later": Name(
            "leave the maker of every later stage open" if _of_several_makers(case) else "commit to no later stage"
        ),
        "in_first": Name(" on the first order" if grows else ""),
        "joined_sites": Name("joined") if sites_in_use(cluster, int(cluster.final_gpus)) > 1 else None,
        "sites": Name(f"{_COUNTS.get(halls, halls)} sites"),
        **page_one_words(Read(case)),
        "our_causes": () if case.decision().in_nodes else case.spoken("tco").words["saved"],
    }


def _sites(case: Told) -> tuple[int, int]:
    """How many networks are begun with the first stage, and how many there are in the end: one where sites are joined."""
    cluster = case.inputs.params.cluster
    return len(cluster.networks(cluster.gpus)), len(cluster.networks(cluster.final_gpus))


def _lay_out(case: Told) -> Named:
    """What the cables are laid out for: the whole cluster on one network, else the site or the sites that are begun."""
    begun, final = _sites(case)
    if final == 1:
        return Named("Lay the cables out for", "whole", gpus=case.figure("decision.final_gpus"))
    site = "the first site" if begun == 1 else "each site"
    return Named(f"Lay the cables of {site} out for its", "site", gpus=case.figure("latency.site_gpus"))


def _full_size(case: Told) -> str:
    """The size that the cables of the first stage are laid out for."""
    begun, final = _sites(case)
    return "full size" if final == 1 else f"the full size of {'the first' if begun == 1 else 'each'} site"


def _of_several_makers(case: Told) -> bool:
    """Whether a later stage of the advised option may come from another maker: InfiniBand has one."""
    choice = pair(case)[0]
    return all(option.side != Side.INFINIBAND for option in case.inputs.options if option.id == choice)
