"""The figures of an owned fabric: its bill, growth, tiers of switches, and both bases of each percentage."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fabricreport.figures import Index
from fabricreport.marks import Part
from fabricreport.models.judgement.difference import RelativeDifference, relative_difference
from fabricreport.provenance import inputs_of, plain
from fabricreport.sections.sites import LINKS
from fabricreport.sections.tco.cost import CAUSES, FABRIC_CAUSES
from fabricreport.sections.tco.figure_context import CostFigures, EachSpec, PairSpec, Spec

SMALL_SHARE = 0.01
"""A percentage below this is printed with one digit: the second would claim too much."""

BASES = {
    "switches": "Switches alone",
    "hardware": "Switches, optics, adapters",
    "fabric": "Network, installed",
    "cluster": "Network and servers",
    "total": "Total cost",
}
"""What a percentage can be a percentage of, from narrow to wide."""

_SHAPE = (
    "param:cluster.gpus",
    "param:cluster.gpus_per_node",
    "param:cluster.links_per_gpu",
    "param:cluster.oversubscription",
    "param:cluster.topology",
)
_PIECES = ("switches", "transceivers", "nics")
_STATED = "evidence:roce-discount-s3-stated"


# ---- pieces and capital of the last stage


def _grown(at: CostFigures, *_: str) -> tuple[str, ...]:
    """What the shape of the fabric follows from, every stage's size with it."""
    return (*_SHAPE, *(f"param:cluster.trajectory[{i}].gpus" for i in range(len(at.result.common.stages) - 1)))


def _count(at: CostFigures, piece: str, option: str) -> int:
    built = at.last(option)
    found: int = getattr(built.bom if piece == "switches" else built.cables, piece)
    return found


_BUILT = (
    PairSpec(
        "tco.count[piece][owner]",
        "count",
        label=lambda at, piece, option: f"{piece.capitalize()} of {at.names[option]}",
        rule="parts list: fat-tree counting, by the rule of the reference designs at their sizes, else fewest switches",
        value=_count,
        inputs=_grown,
    ),
    PairSpec(
        "tco.bill[fabric_cause][owner]",
        "usd",
        label=lambda at, cause, option: f"{CAUSES[cause]}, to buy: {at.names[option]}",
        rule="pieces × price, at today's prices and not discounted",
        value=lambda at, cause, option: at.owned.capital[option][cause],
        inputs=lambda at, cause, _: (*_grown(at), *LINKS) if cause == "site_links" else _grown(at),
        central="mean",
    ),
    EachSpec(
        "tco.fabric_capex[owner]",
        "usd",
        label=lambda at, option: f"Capital of the network: {at.names[option]}",
        rule="switches, optics, cables, adapters, spares, installation and manager, at today's prices",
        value=lambda at, option: at.fabric(option),
        inputs=_grown,
        central="mean",
        parts=lambda at, option: (
            *map(Part, at.owned.capital[option].values()),
            *(Part(sum(stage.values())) for stage in at.owned.bought[option]),
        ),
    ),
)

_PAIR = (
    Spec(
        "tco.fabric_difference",
        "usd",
        label=lambda at: f"Capital of the network: {at.pair}",
        rule="mean difference of the network's capital on the same outcomes, at today's prices",
        value=lambda at: at.owned.capital_gap,
        inputs=_grown,
        central="mean",
        compares=lambda at: at.compared,
        when=lambda at: at.owns,
    ),
    Spec(
        "tco.server_share",
        "share",
        label=lambda at: f"Servers' share of the total cost with {at.choice}",
        rule="mean present value of the servers' price ÷ mean total cost",
        value=lambda at: (
            at.result.components[at.result.choice]["servers"] / np.mean(at.result.totals[at.result.choice])
        ),
        inputs=_grown,
        digits=2,
        central="mean",
        when=lambda at: at.owns,
    ),
)


# ---- growth


def _when(number: str) -> str:
    """When a stage is bought, in words: the first is the start."""
    return f"at stage {number}" if int(number) else "at the start"


def _staged(what: str, unit: str, words: str, value: Any) -> PairSpec:
    """A figure of what stands after a stage: `value` of the context, the stage's number and the option."""
    return PairSpec(
        f"tco.stage.{what}[stage][owner]",
        unit,
        label=lambda at, number, option: f"{words}, {at.names[option]}: {_when(number)}",
        rule="staged growth, wired from day one for the last stage",
        value=value,
        inputs=lambda _, number, __: (
            "param:cluster.gpus" if number == "0" else f"param:cluster.trajectory[{int(number) - 1}].gpus",
            *_SHAPE[1:],
        ),
        when=lambda at, number, option: at.stage(number, option) is not None,
    )


def _switches(at: CostFigures, number: str, option: str) -> int:
    return at.owned.builds[option][int(number)].bom.switches


def _bought(at: CostFigures, number: str, option: str) -> int:
    before = _switches(at, str(int(number) - 1), option) if int(number) else 0
    return _switches(at, number, option) - before


def _overbuilt(at: CostFigures, number: str, option: str) -> int:
    return _switches(at, number, option) - at.owned.builds[option][int(number)].needed_switches


_GROWTH = (
    _staged("gpus", "gpus", "GPUs standing", lambda at, n, option: at.owned.builds[option][int(n)].gpus),
    _staged("bought", "count", "Switches bought", _bought),
    _staged("overbuilt", "count", "Switches ahead of need", _overbuilt),
    _staged("month", "count", "Month", lambda at, n, option: at.owned.builds[option][int(n)].month),
    PairSpec(
        "tco.stage.price[stage][owner]",
        "usd",
        label=lambda at, number, option: f"Network bought, {at.names[option]}: {_when(number)}",
        rule="pieces bought at the stage × price, on the mean, at today's prices and not discounted",
        value=lambda at, number, option: sum(at.owned.bought[option][int(number)].values()),
        inputs=_grown,
        central="mean",
        when=lambda at, number, option: at.stage(number, option) is not None,
    ),
    EachSpec(
        "tco.overbuild[grown]",
        "usd",
        label=lambda at, option: f"Planning ahead less building as needed: {at.names[option]}",
        rule="present value of switches and cables bought early − of those bought late plus cables moved",
        value=lambda at, option: at.owned.growth[option].planned - at.owned.growth[option].as_needed,
        inputs=_grown,
        central="mean",
    ),
    EachSpec(
        "tco.recabled[grown]",
        "count",
        label=lambda at, option: f"Cables laid twice if built as needed: {at.names[option]}",
        rule="cables of a stage that the next one moves",
        value=lambda at, option: at.owned.growth[option].recabled,
        inputs=_grown,
    ),
)


# ---- RoCEv2 against InfiniBand on each base, as a discount and as a premium


def _amount(at: CostFigures, base: str, option: str) -> Any:
    amounts: Mapping[str, Any] = {
        "switches": at.owned.capital[option]["switches"],
        "hardware": at.hardware(option),
        "fabric": at.fabric(option),
        "cluster": at.fabric(option) + at.last(option).nodes * at.result.common.server.price,
        "total": at.result.totals[option],
    }
    return amounts[base]


def _gap(at: CostFigures, base: str, option: str) -> RelativeDifference:
    return relative_difference(_amount(at, base, at.infiniband), _amount(at, base, option))


def _against_infiniband(sort: str, side: str, words: str, whole: str) -> PairSpec:
    """One of the two percentages; `side` is the field of the relative difference."""
    return PairSpec(
        f"tco.{sort}[base][roce]",
        "share",
        label=lambda at, base, option: (
            f"{words}, base {BASES[base].lower()}: {at.names[option]} against {at.names[at.infiniband]}"
        ),
        rule=f"mean of (InfiniBand − the other) ÷ mean of {whole}, on the same outcomes",
        value=lambda at, base, option: getattr(_gap(at, base, option), side),
        inputs=lambda at, base, option: {
            *inputs_of(_amount(at, base, at.infiniband), _amount(at, base, option)),
            *_SHAPE,
        },
        digits=lambda at, base, option: (
            1 if abs(float(np.mean(plain(_gap(at, base, option).b_less_than_a)))) < SMALL_SHARE else 2
        ),
        central="mean",
    )


def _claimed(end: str) -> Spec:
    """An end of the discount that trade articles state, without naming its base."""
    return Spec(
        f"tco.claim.{end}",
        "share",
        label=f"RoCEv2's discount as an article states it, {end} end",
        rule="as stated by the source",
        value=lambda at: getattr(at.given.uncertain(_STATED), end),
        inputs=(_STATED,),
        digits=2,
        when=lambda at: at.both_families,
    )


_FAMILIES = (
    _against_infiniband("discount", "b_less_than_a", "Discount on InfiniBand's price", "InfiniBand"),
    _against_infiniband("premium", "a_more_than_b", "Premium of InfiniBand on the other's price", "the other"),
    _claimed("low"),
    _claimed("high"),
)


# ---- tiers of switches


def _tiers(at: CostFigures) -> tuple[str, ...]:
    most = max((len(steps) for steps in at.steps.values()), default=0)
    return tuple(str(tiers) for tiers in range(1, most + 1))


_STEPS = (
    PairSpec(
        "tco.step[tiers][owner]",
        "gpus",
        label=lambda at, tiers, option: (
            f"Largest size with {tiers} tier{'s' if int(tiers) > 1 else ''} of switches: {at.names[option]}"
        ),
        rule="capacity of a fat tree of the option's largest switches",
        value=lambda at, tiers, option: at.steps[option][int(tiers) - 1],
        inputs=_SHAPE[1:],
        when=lambda at, tiers, option: int(tiers) <= len(at.steps[option]),
    ),
)


def _edge(what: str, unit: str, words: str, rule: str, value: Any, **more: Any) -> Spec:
    """A figure of the edge of a tier near the client's size."""
    return Spec(
        f"tco.edge.{what}",
        unit,
        label=lambda at: f"{words}: {at.names[at.edge.option]}",
        rule=rule,
        value=value,
        inputs=_SHAPE,
        when=lambda at: at.result.edge is not None,
        **more,
    )


_AGAIN = "mean difference between the model run at one node more than the edge and at the edge"
_EDGE = (
    _edge(
        "gpus",
        "gpus",
        "Largest size before another tier of switches",
        "capacity of a fat tree of the option's largest switches",
        lambda at: at.edge.gpus,
    ),
    _edge("cost", "usd", "Total cost of one node beyond the edge", _AGAIN, lambda at: at.edge.cost, central="mean"),
    _edge(
        "network",
        "usd",
        "Network to buy for one node beyond the edge",
        f"{_AGAIN}, at today's prices and not discounted",
        lambda at: at.edge.network,
        central="mean",
    ),
)

FABRIC_SPECS = (*_BUILT, *_PAIR, *_GROWTH, *_FAMILIES, *_STEPS, *_EDGE)
"""Every figure that only an owner's memo needs."""
FABRIC_INDEXES: Mapping[str, Index[CostFigures]] = {
    "owner": Index(lambda at: at.owners),
    "piece": Index(lambda _: _PIECES, _PIECES),
    "fabric_cause": Index(lambda at: at.fabric_causes, FABRIC_CAUSES),
    "stage": Index(
        lambda at: (
            [str(n) for n in range(max((len(s) for s in at.owned.builds.values()), default=0))] if at.owns else ()
        )
    ),
    "grown": Index(lambda at: at.owned.growth if at.owns else ()),
    "base": Index(lambda _: BASES, tuple(BASES)),
    "roce": Index(lambda at: at.roces),
    "tiers": Index(_tiers),
}
"""The indexes of their patterns."""
