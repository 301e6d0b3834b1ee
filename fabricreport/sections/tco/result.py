"""What the cost study finds: the bills that are compared over the same work and draws, the edge of a tier near the client's size, and what others measured, in money.

The pairs are ten MLPerf results with the same round, benchmark, GPU model and count on two fabrics. They differ in team,
servers and software too, so they check the size of the model's own charge and replace none of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fabricreport.base.errors import InputError
from fabricreport.base.provenance import Traced, mean_of, plain
from fabricreport.books.options import Option
from fabricreport.inputs.inputs import Inputs
from fabricreport.ledger.numbers import Number, Part
from fabricreport.models.fabric.topology import tier_capacity
from fabricreport.models.judgement.choice import Difference, difference
from fabricreport.models.judgement.comparison import Verdict, expected_order
from fabricreport.models.money.ownership import CostComponents
from fabricreport.scenario import Cluster
from fabricreport.sections.client import stages_of
from fabricreport.sections.latency.inputs import TRAINING_KINDS
from fabricreport.sections.stance import Stance, stance
from fabricreport.sections.tco import fabric
from fabricreport.sections.tco.cost import (
    CAUSES,
    COMMON_CAUSES,
    FABRIC_CAUSES,
    TIME_CAUSES,
    as_counted,
    by_cause,
    cash_bill,
    common_hour_value,
    full_bill,
    hours_of,
    with_delay,
)
from fabricreport.sections.tco.fabric import Build, GrowthCost
from fabricreport.sections.tco.inputs import Common, OptionInputs


@dataclass(frozen=True)
class Bills:
    """By option id: what stands (`built`, empty for a renter), what is paid before lost time, and the whole bill.

    `stated` are the inputs common to all as they were given, `common` the same with a value for a lost GPU-hour.
    `parts` are present values piece by piece, (draws,): what two options share cancels to exact zero in `gap`.
    `components` are the same by cause, for the causes that are not zero for every option, whose names are `labels`.
    """

    stated: Common
    common: Common
    own: Mapping[str, OptionInputs]
    built: Mapping[str, tuple[Build, ...]]
    paid: Mapping[str, CostComponents]
    parts: Mapping[str, Mapping[str, Traced]]
    components: Mapping[str, Mapping[str, Traced]]
    labels: Mapping[str, str]
    totals: Mapping[str, Traced]

    @property
    def order(self) -> tuple[str, ...]:
        """Option ids, the lowest mean total first."""
        return expected_order(self.totals)

    @property
    def late(self) -> Common:
        """The inputs common to all by which a time too late is priced."""
        return as_counted(self.own, self.common)

    def gap(self, a: str, b: str) -> Traced:
        """Cost of `a` less cost of `b` (draws,); what both share leaves neither money nor provenance."""
        return Traced(difference(self.parts[a], self.parts[b]).draws)

    def gap_by_cause(self, a: str, b: str) -> dict[str, Traced]:
        """The same by cause, without the common ones, which do not differ; the causes sum to it."""
        found = by_cause(difference(self.parts[a], self.parts[b]).parts)
        size = next(iter(self.totals.values())).size
        return {c: _wide(found.get(c, 0.0), size) for c in self.labels if c not in COMMON_CAUSES}

    def cash_gap(self, a: str, b: str) -> Traced:
        """What of that gap is paid (draws,)."""
        return self._gap_of(a, b, timed=False)

    def time_gap(self, a: str, b: str) -> Traced:
        """What of it is time at its value (draws,); the two sum to it."""
        return self._gap_of(a, b, timed=True)

    def gap_parts(self, a: str, b: str) -> tuple[Part, ...]:
        """What the gap is the sum of: what is paid, what is time, and every cause."""
        return parts_of(self.gap_by_cause(a, b))

    def _gap_of(self, a: str, b: str, *, timed: bool) -> Traced:
        found = (value for cause, value in self.gap_by_cause(a, b).items() if (cause in TIME_CAUSES) == timed)
        return sum(found, start=_wide(0.0, next(iter(self.totals.values())).size))


def parts_of(components: Mapping[str, Any]) -> tuple[Part, ...]:
    """What a bill by cause is the sum of as the memo prints it: what is paid, what is time, every cause of either, and the network."""
    cash, time = apart(components)
    causes = {c: Part(value) for c, value in components.items()}
    timed = tuple(part for c, part in causes.items() if c in TIME_CAUSES)
    bought = [part for c, part in causes.items() if c in FABRIC_CAUSES]
    network = (Part(sum(part.value for part in bought), tuple(bought)),) if bought else ()
    paid = tuple(part for c, part in causes.items() if c not in TIME_CAUSES)
    return Part(cash, (*paid, *network)), Part(time, timed), *causes.values(), *network


def apart(components: Mapping[str, Any]) -> tuple[Any, Any]:
    """What of a bill by cause is cash, and what is time at its value: (draws,) each."""
    sums: list[Any] = [0.0, 0.0]
    for cause, value in components.items():
        sums[cause in TIME_CAUSES] = sums[cause in TIME_CAUSES] + value
    return sums[0], sums[1]


def bills(
    given: Inputs,
    common: Common,
    own: Mapping[str, OptionInputs],
    standing: Mapping[str, tuple[Build, ...]],
    before: Bills | None = None,
) -> Bills:
    """Every option's bill; `own`: what is the option's own, `standing`: `builds_of`, both by option id.

    Of `before`, bills on other inputs, whatever rests on the very same objects is taken over as it is.
    """
    rent = given.team.rented
    unpaid = {o for o in own if not (before and _paid_as(before, o, common, own, standing))}
    paid = {
        o: cash_bill(standing.get(o, ()), i, common, rent=rent) if not before or o in unpaid else before.paid[o]
        for o, i in own.items()
    }
    valued = common_hour_value(paid, own, common)
    # where an hour is worth what it costs, it is another's cost too
    kept = {o for o in own if before and o not in unpaid and own[o] is before.own[o] and valued is common}
    parts, raw = {}, {}
    for o, i in own.items():
        if before and o in kept:
            parts[o], raw[o] = before.parts[o], before.components[o]
        else:
            parts[o] = _parts(given, full_bill(paid[o], i, valued, rent=rent), i, valued)
            raw[o] = by_cause(parts[o])
    causes = [cause for cause in CAUSES if any(np.any(plain(found.get(cause, 0.0))) for found in raw.values())]
    components = {o: {cause: given.spread(found.get(cause, 0.0)) for cause in causes} for o, found in raw.items()}
    totals = {o: _sum(given, found) for o, found in components.items()}
    return Bills(common, valued, own, standing, paid, parts, components, {c: CAUSES[c] for c in causes}, totals)


def _paid_as(
    before: Bills,
    option: str,
    common: Common,
    own: Mapping[str, OptionInputs],
    standing: Mapping[str, tuple[Build, ...]],
) -> bool:
    """Whether what is paid for an option rests on the very same objects as in the bills before."""
    same_build = standing.get(option) is before.built.get(option)
    return same_build and common is before.stated and option in before.own and own[option].pays_as(before.own[option])


def servers_per_rack(given: Inputs) -> int:
    """Servers that share a rack, which decides where copper reaches."""
    return int(given.central("evidence:servers-per-rack"))


def builds_of(given: Inputs) -> dict[str, tuple[Build, ...]]:
    """What stands of each option after each stage, by option id; empty for a renter."""
    if given.team.rented:
        return {}
    rack, stages = servers_per_rack(given), stages_of(given)
    return {o.id: fabric.builds(given.params.cluster, o, stages, rack) for o in given.options}


def _parts(given: Inputs, bill: CostComponents, option: OptionInputs, common: Common) -> dict[str, Traced]:
    """A full bill piece by piece, each (draws,)."""
    return {name: given.spread(value) for name, value in with_delay(bill, option, common).items()}


def _sum(given: Inputs, parts: Mapping[str, Traced]) -> Traced:
    total: Any = 0.0
    for value in parts.values():
        total = total + value
    return given.spread(total)


def _wide(value: Any, size: int) -> Traced:
    wide = np.broadcast_to(np.asanyarray(value, dtype=float), (size,))
    return wide if isinstance(wide, Traced) else Traced(wide)


NEAR = 0.125
"""A size is at an edge where it is at most so much smaller or larger."""


@dataclass(frozen=True)
class Edge:
    """The most GPUs that so few tiers of an option's largest switches join, and what one node more costs (draws,).

    `tiers` are those that one node more needs; `network` is the part of `cost` that is paid to buy it. `passed`: the
    client's size is beyond the edge.
    """

    option: str
    gpus: int
    tiers: int
    cost: Traced
    network: Traced
    passed: bool


def tier_steps(cluster: Cluster, option: Option) -> tuple[int, ...]:
    """Sizes in GPUs up to which one and two tiers of the option's largest switches are enough."""
    links = option.links_per_node or cluster.gpus_per_node * cluster.links_per_gpu
    radix = max(one.radix for one in option.ladder)
    one, two, _ = tier_capacity(radix, cluster.oversubscription)
    return tuple(ports // links * cluster.gpus_per_node for ports in (one, two))


def edge_of(given: Inputs, options: Sequence[str], sized: Callable[[int], Bills]) -> Edge | None:
    """The nearest edge of the first of these options that has one where a node more costs more; `sized` gives the bills of
    so many GPUs. None for a renter, for a client who grows or has several sites, and without an edge near the size.
    """
    cluster = given.params.cluster
    if given.team.rented or cluster.trajectory or cluster.sites > 1 or cluster.topology == "dragonfly":
        return None
    near = [
        (option, gpus)
        for option in options
        for gpus in tier_steps(cluster, given.all_options[option])
        if gpus > cluster.gpus_per_node and abs(cluster.gpus - gpus) <= NEAR * gpus
    ]
    return next((found for option, gpus in near if (found := _edge(cluster, option, gpus, sized))), None)


def _edge(cluster: Cluster, option: str, gpus: int, sized: Callable[[int], Bills]) -> Edge | None:
    """The edge at a size, if one node more does ask for another tier and for more money."""
    try:
        at, beyond = sized(gpus), sized(gpus + cluster.gpus_per_node)
    except InputError:  # what is planned for this size fits neither
        return None
    before, after = at.built[option][-1], beyond.built[option][-1]
    capital = [sum(fabric.capex(b, m.own[option], m.common).values()) for b, m in ((before, at), (after, beyond))]
    cost, network = Traced(beyond.totals[option] - at.totals[option]), Traced(capital[1] - capital[0])
    if after.bom.tiers <= before.bom.tiers or min(np.mean(plain(cost)), np.mean(plain(network))) <= 0:
        return None
    return Edge(option, gpus, after.bom.tiers, cost, network, cluster.gpus > gpus)


@dataclass(frozen=True)
class Ownership:
    """What only an owner has: the fabric built at each stage, its capital and growth.

    `capital` is what the last stage's fabric costs at today's prices, by cause of the fabric; `bought`
    what each stage adds to it; `capital_gap` the rival's capital less the choice's, part by part. `rent_useful_hour` is what a useful
    GPU-hour costs when the same work is rented on the choice's fabric, already stable.
    """

    builds: Mapping[str, tuple[Build, ...]]
    capital: Mapping[str, Mapping[str, Traced]]
    capital_gap: Traced
    bought: Mapping[str, tuple[Mapping[str, Traced], ...]]
    growth: Mapping[str, GrowthCost]
    rent_useful_hour: Traced
    break_even_rent: Traced


@dataclass(frozen=True)
class TcoResult:
    """Present values by option and cause (draws,), the difference that decides, and the figures by id.

    `choice` and `rival` are those of the comparison, with its `verdict`; `difference` is rival less choice: positive
    means the choice is cheaper. `infiniband` and `rocev2` are the cheaper option of each family, or None. `ownership` is None
    for a client that rents, and `edge` is where another tier of switches begins, None if that is not near. `late`: of `common`, with the price of delay as the bills
    count it of a week more.
    """

    totals: Mapping[str, Traced]
    components: Mapping[str, Mapping[str, Traced]]
    labels: Mapping[str, str]
    inputs: frozenset[str]
    order: tuple[str, ...]
    choice: str
    rival: str
    verdict: Verdict
    difference: Difference
    infiniband: str | None
    rocev2: str | None
    useful_hour: Mapping[str, Traced]
    useful_share: Mapping[str, Traced]
    worth_per_gpu_hour: Mapping[str, Traced]
    ownership: Ownership | None
    edge: Edge | None
    common: Common
    late: Common
    numbers: Mapping[str, Number]

    @property
    def stance(self) -> Stance:
        """What the money says of the advised course."""
        return stance(self.verdict, self.numbers["tco.difference"])


MEDIAN_PAIR = "evidence:mlperf-pairs-median"
"""Id of what the median pair took longer."""
_CHARGED = ("lost_communication", "lost_tail")


def compared(given: Inputs, result: TcoResult) -> bool:
    """Whether a training client compares both families on more than one node."""
    return bool(_trains(given) and result.infiniband and result.rocev2)


def _trains(given: Inputs) -> bool:
    params = given.params
    return str(params.workload.kind) in TRAINING_KINDS and params.cluster.gpus > params.cluster.gpus_per_node


def gpu_time(common: Common) -> Any:
    """Present value of all GPU time installed, at what a lost hour is worth."""
    value = common.server.rent_per_gpu_hour if common.gpu_hour_value is None else common.gpu_hour_value
    return common.discounting.present_value(hours_of(common)) * value


def charged(components: Mapping[str, Mapping[str, Any]], infiniband: str, rocev2: str) -> Any:
    """What the model charges RoCEv2 more for communication, stalls and collisions (draws,)."""
    first, second = components[rocev2], components[infiniband]
    return sum((first[c] - second[c] for c in _CHARGED if c in first), start=np.zeros(1))


def instead_of_our_charge(given: Inputs, bills: Bills, infiniband: str, rocev2: str) -> float | None:
    """What RoCEv2 would cost more than by the model, on average, if it took the time that the median pair took; None of a
    client who does not train on several nodes."""
    if not _trains(given):
        return None
    paired = mean_of(gpu_time(bills.common)) * given.central(MEDIAN_PAIR)
    return paired - mean_of(charged(bills.components, infiniband, rocev2))
