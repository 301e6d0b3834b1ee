"""What articles say of sizes, tried on this client: the model run again at a size of each tier, and around 16 GPUs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from fabricreport.chain import Chain
from fabricreport.errors import InputError
from fabricreport.inputs import Inputs
from fabricreport.provenance import mean_of
from fabricreport.scenario import Params, changed_params
from fabricreport.sections.client import one_node, stages_of
from fabricreport.sections.decision.inputs import Judge, judge_of, material
from fabricreport.sections.tco.bills import Bills
from fabricreport.vocabulary import Maturity, Side

CLOSE, BY_TEAM = "close", "team"
"""What a rule of size may expect besides a side: a close call, or that the team decides."""
PLANNED = ""
"""The team as the client states it."""
TEAMS: Mapping[str, Mapping[str, Any]] = {
    PLANNED: {},
    "strong": {"organisation__networking_maturity": Maturity.HIGH, "organisation__qos_expertise": "strong"},
    "none": {"organisation__networking_maturity": Maturity.LOW, "organisation__qos_expertise": "none"},
}
"""The keys that make a team of the greatest skill, and one without any."""


class Outcome(StrEnum):
    """What becomes of a rule of size for a client."""

    HOLDS = "holds"
    ONE_NODE_HOLDS = "holds: no traffic leaves the server"
    ONE_NODE = "fails: no traffic leaves the server"
    TOWARDS = "fails: towards"
    CLOSE = "undecided: too close to tell"
    CLEARER = "fails: clearer at a larger size"
    CANNOT = "undecided: cannot be planned at this size"

    @property
    def held(self) -> bool:
        """Whether the rule holds."""
        return self in (Outcome.HOLDS, Outcome.ONE_NODE_HOLDS)


@dataclass(frozen=True)
class SizeRun:
    """The model at one size and with one team.

    `options`: the cheapest that may be advised, by side. `gap`: mean cost of the cheapest of InfiniBand less that of RDMA
    Ethernet, and `share` the same in the cost of the cheaper; `close`: the money under which that is a close call.
    `plain_gap`: mean cost of the cheapest without RDMA less that of the cheapest with it, None where none is compared.
    `beside_plain`: whether the rule holds it against that one, too.
    """

    key: str
    gpus: int
    team: str
    options: Mapping[str, str]
    gap: float
    share: float
    close: float
    plain_gap: float | None
    beside_plain: bool = False

    @property
    def plain_first(self) -> bool:
        """Whether the rule is about going without RDMA, and that costs least of all."""
        return self.beside_plain and self.plain_gap is not None and self.plain_gap < 0

    @property
    def first(self) -> str:
        """The option that costs least of those that the rule is about; '' where two cost the same."""
        if self.plain_first:
            return self.options[Side.PLAIN]
        return self.options[Side.INFINIBAND if self.gap < 0 else Side.ROCEV2] if self.gap else ""

    @property
    def lead(self) -> float:
        """What it costs less than the next."""
        return abs(self.plain_gap) if self.plain_first and self.plain_gap is not None else abs(self.gap)

    @property
    def leads(self) -> str:
        """The side that costs less by more than a close call; '' where none does."""
        if self.lead < self.close or self.lead == 0:
            return ""
        if self.plain_first:
            return Side.PLAIN
        return Side.ROCEV2 if self.gap > 0 else Side.INFINIBAND


@dataclass(frozen=True)
class SizeRule:
    """One rule of size: what it expects, the runs it was tried on (none where the plan allows no such size), and what
    became of it. `towards`: the side that costs less where it fails to one; `words` as in the rules of articles."""

    id: str
    article: str
    claim: str
    words: str
    expects: str
    runs: tuple[SizeRun, ...]
    outcome: Outcome
    towards: str = ""


def sizes_of(base: Chain, rules: list[Mapping[str, Any]]) -> tuple[SizeRule, ...]:
    """Each rule tried; nothing where one of the two sides is not compared. `base` is the chain without provenance."""
    sides = {o.side for o in base.given.options}
    if not {Side.INFINIBAND, Side.ROCEV2} <= sides:
        return ()
    tried = tuple(_tried(base, rule) for rule in rules)
    return tuple(clearest(one, tried) if rule.get("clearest") else one for one, rule in zip(tried, rules, strict=True))


def clearest(rule: SizeRule, tried: Sequence[SizeRule]) -> SizeRule:
    """The rule, failed where it holds and the same side's advantage is a larger share of the cost at a larger size."""
    if not rule.outcome.held:
        return rule
    here, sign = rule.runs[0], 1 if rule.expects == Side.ROCEV2 else -1
    larger = [run for other in tried for run in other.runs if run.team == PLANNED and run.gpus > here.gpus]
    beaten = any(run.share * sign > here.share * sign for run in larger)
    return replace(rule, outcome=Outcome.CLEARER) if beaten else rule


def _tried(base: Chain, rule: Mapping[str, Any]) -> SizeRule:
    gpus = _size(base.given, rule)
    others = [team for team in TEAMS if team != PLANNED and not _own_team(base.given.params, team)]
    teams = (PLANNED, *others) if rule["expects"] == BY_TEAM else (PLANNED,)
    runs = tuple(
        replace(run, beside_plain=bool(rule.get("beside_plain")))
        for team in teams
        for run in _run(base, rule["id"], gpus, team)
    )
    outcome, towards = judged(rule["expects"], runs, alone=one_node(base.given, gpus))
    told = rule["article"], rule["claim"], rule.get("words", "")
    return SizeRule(rule["id"], *told, rule["expects"], runs, outcome, towards)


def _own_team(params: Params, team: str) -> bool:
    """Whether the client's own team is that one."""
    own = params.organisation.networking_maturity, params.organisation.qos_expertise
    return own == tuple(TEAMS[team].values())


def _size(given: Inputs, rule: Mapping[str, Any]) -> int:
    """The client's own size within the rule's bounds, the last of a plan that grows; else the rule's."""
    own = [gpus for _, gpus in stages_of(given) if rule["from"] <= gpus <= rule["to"]]
    return int(own[-1] if own else rule["gpus"])


def judged(expects: str, runs: tuple[SizeRun, ...], *, alone: bool) -> tuple[Outcome, str]:
    """What becomes of a rule on its runs, and the side it fails towards; `alone`: all GPUs share one server."""
    if not runs:
        return Outcome.CANNOT, ""
    first, leads = runs[0], {run.leads for run in runs}
    if expects not in (Side.INFINIBAND, Side.ROCEV2, CLOSE, BY_TEAM):
        if alone:
            return Outcome.ONE_NODE_HOLDS, ""
        if first.plain_gap is None:
            return Outcome.CLOSE if not first.leads else Outcome.TOWARDS, first.leads
        cheaper = Side.ROCEV2 if first.gap > 0 else Side.INFINIBAND
        return (Outcome.HOLDS, "") if first.plain_gap <= first.close else (Outcome.TOWARDS, cheaper)
    if alone:
        return Outcome.ONE_NODE, ""
    if expects == BY_TEAM and len(leads) > 1:
        return Outcome.HOLDS, ""
    if expects == (first.leads or CLOSE):
        return Outcome.HOLDS, ""
    return (Outcome.TOWARDS, first.leads) if first.leads else (Outcome.CLOSE, "")


def _run(base: Chain, key: str, gpus: int, team: str) -> Iterator[SizeRun]:
    """The run, if the client's plan allows such a size; the client's own is not run again."""
    params = base.given.params
    own = gpus == params.cluster.gpus and not params.cluster.trajectory and team == PLANNED
    try:
        given = base.given if own else base.given.with_params(_changed(base.given, gpus, team))
        found = base.bills if own else base.again(given).bills
    except InputError:
        return
    judge = judge_of(given)
    best, mean = cheapest(judge, found)
    if not {Side.INFINIBAND, Side.ROCEV2} <= set(best):
        return
    pair = best[Side.INFINIBAND], best[Side.ROCEV2]
    without = mean[best[Side.PLAIN]] - min(mean[o] for o in pair) if Side.PLAIN in best else None
    close = material(found, *pair, judge.rule, judge.materiality)
    name = f"{key}-{team}" if team else key
    gap = mean[pair[0]] - mean[pair[1]]
    yield SizeRun(name, gpus, team, best, gap, gap / min(mean[o] for o in pair), close, without)


def cheapest(judge: Judge, bills: Bills) -> tuple[dict[str, str], dict[str, float]]:
    """By side the option of the lowest mean cost that may be advised, and the mean cost of each option."""
    mean = {o: mean_of(total) for o, total in judge.advisable(bills).items()}
    return {str(judge.sides[o]): o for o in sorted(mean, key=lambda o: -mean[o])}, mean


def _changed(given: Inputs, gpus: int, team: str) -> Params:
    params = given.params
    cluster, jobs = params.cluster, params.workload.jobs
    keys: dict[str, Any] = {"cluster__gpus": gpus, "cluster__trajectory": []}
    nodes = max(1, gpus // cluster.gpus_per_node)
    if cluster.sites > nodes:
        keys["cluster__sites"] = nodes
    if cluster.subnets > nodes:
        keys["cluster__subnets"] = nodes
    if any(job.gpus > gpus for job in jobs):
        keys["workload__jobs"] = []
    return changed_params(params, keys | dict(TEAMS[team]), {}, extra_options=given.all_options)
