"""The figures of an owned fabric: its bill, its watts, growth, list prices, and both bases of each percentage."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fabricreport.durations import HOURS_PER_YEAR
from fabricreport.figures import Index
from fabricreport.models.fabric.cost import GROUPS
from fabricreport.models.judgement.difference import RelativeDifference, relative_difference
from fabricreport.provenance import inputs_of, plain
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
_PIECES = ("leaf", "spine", "core", "switches", "cables", "links", "transceivers", "nics", "tiers", "copper")
_WATTS = {group.split()[0]: group for group in GROUPS}
_STATED, _VENDOR = "evidence:roce-discount-s3-stated", "evidence:roce-discount-acg"


# ---- pieces, capital and watts of the last stage


def _grown(at: CostFigures, *_: str) -> tuple[str, ...]:
    """What the shape of the fabric follows from, every stage's size with it."""
    return (*_SHAPE, *(f"param:cluster.trajectory[{i}].gpus" for i in range(len(at.result.common.stages) - 1)))


def _count(at: CostFigures, piece: str, option: str) -> int:
    bom, cables = at.last(option).bom, at.last(option).cables
    if piece == "copper":
        return cables.dac + cables.acc
    found: int = getattr(bom if piece in ("leaf", "spine", "core", "switches", "tiers") else cables, piece)
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
        inputs=_grown,
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
    ),
    EachSpec(
        "tco.fabric_per_gpu[owner]",
        "usd",
        label=lambda at, option: f"Capital of the network per GPU: {at.names[option]}",
        rule="capital of the network ÷ GPUs of the last stage",
        value=lambda at, option: at.fabric(option) / at.last_size,
        inputs=_grown,
        central="mean",
    ),
    EachSpec(
        "tco.switch_share[owner]",
        "share",
        label=lambda at, option: f"Switches' share of the network's hardware: {at.names[option]}",
        rule="mean of switches ÷ mean of (switches + optics and cables + adapters)",
        value=lambda at, option: at.owned.capital[option]["switches"] / np.mean(at.hardware(option)),
        inputs=_grown,
        digits=2,
        central="mean",
    ),
    PairSpec(
        "tco.watts[group][owner]",
        "kw",
        label=lambda at, group, option: f"Draw of {_WATTS[group]}: {at.names[option]}",
        rule="pieces × watts, before cooling",
        value=lambda at, group, option: at.owned.watts[option][_WATTS[group]] / 1000,
        inputs=_grown,
        central="mean",
    ),
    EachSpec(
        "tco.watts.total[owner]",
        "kw",
        label=lambda at, option: f"Power drawn by the network: {at.names[option]}",
        rule="sum over switches, optics, cables and adapters",
        value=lambda at, option: sum(at.owned.watts[option].values()) / 1000,
        inputs=_grown,
        central="mean",
    ),
    EachSpec(
        "tco.bundled[bundled]",
        "count",
        label=lambda at, option: f"Switches by the other rule of bundles: {at.names[option]}",
        rule="parts list: the fewest with equal bundles where uneven ones are built, the fewest at all otherwise",
        value=lambda at, option: at.by_other_rule(option),
        inputs=_SHAPE,
    ),
    EachSpec(
        "tco.manager[unmanaged]",
        "usd",
        label=lambda at, option: f"Fabric manager that the size does not need: {at.names[option]}",
        rule="present value of its licences and servers, left out of the bill",
        value=lambda at, option: at.owned.managers[option],
        inputs=_SHAPE,
        central="mean",
    ),
    Spec(
        "tco.difference_managed",
        "usd",
        label=lambda at: f"Total cost with InfiniBand's fabric manager alone bought: {at.pair}",
        rule="mean difference over the same outcomes, the manager that the size does not need added on InfiniBand alone",
        value=lambda at: at.managed_gap,
        inputs=_SHAPE,
        central="mean",
        compares=lambda at: at.compared,
        when=lambda at: at.owns and bool(at.owned.managers) and at.result.choice != at.result.rival,
    ),
    Spec(
        "tco.manager_links",
        "count",
        label="Links of the fabric manager",
        rule="as the option's data states",
        counted=True,
        value=lambda at: float(at.full[0].management.links),
        when=lambda at: bool(at.full),
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
        label=lambda at, number, option: f"{words} {_when(number)}: {at.names[option]}",
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
        label=lambda at, number, option: f"Network bought {_when(number)}: {at.names[option]}",
        rule="pieces bought at the stage × price, on the mean, at today's prices and not discounted",
        value=lambda at, number, option: sum(at.owned.bought[option][int(number)].values()),
        inputs=lambda at, _, option: {*_grown(at), *inputs_of(at.fabric(option))},
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


# ---- list prices


def _listed(what: str, field: str) -> EachSpec:
    """One amount of a bill at list prices, a field of `ListBill`."""
    return EachSpec(
        f"tco.list.{what}[row]",
        "usd",
        label=lambda at, row: f"List prices, {what}: {at.names[at.list_rows[row].option]}",
        rule="pieces × central price; all optics, without fibre, licence, support, spare and labour",
        value=lambda at, row: getattr(at.list_rows[row], field),
        inputs=lambda at, row: (*at.list_rows[row].refs_of(what), *_SHAPE),
        digits=4,
    )


def _against_first(at: CostFigures, row: str) -> tuple[str, ...]:
    first = at.owned.list_bills[0]
    this = at.list_rows[row]
    return _SHAPE if this is first else (*this.refs, *first.refs, *_SHAPE)


_LIST = (
    _listed("switches", "switch_cost"),
    _listed("optics", "optics_cost"),
    _listed("total", "total"),
    _listed("each", "switch_each"),
    EachSpec(
        "tco.list.count[row]",
        "count",
        label=lambda at, row: f"Switches of {at.names[at.list_rows[row].option]}",
        rule="parts list without links for a manager",
        value=lambda at, row: at.list_rows[row].switches,
        inputs=_grown,
    ),
    EachSpec(
        "tco.list.against_first[row]",
        "share",
        label=lambda at, row: (
            f"List bill of {at.names[at.list_rows[row].option]} against that of {at.names[at.owned.list_bills[0].option]}"
        ),
        rule="total ÷ total of the first row − 1",
        value=lambda at, row: at.list_rows[row].total / at.owned.list_bills[0].total - 1,
        inputs=_against_first,
        digits=2,
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


def _more_watts(at: CostFigures) -> Any:
    """What the fabric of InfiniBand draws more than that of RoCEv2."""
    rocev2 = at.result.rocev2 or ""
    return sum(at.owned.watts[at.infiniband].values()) - sum(at.owned.watts[rocev2].values())


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
    Spec(
        "tco.claim.vendor",
        "share",
        label="RoCEv2's saving as a vendor-paid study states it",
        rule="as stated by the source",
        value=lambda at: at.given.central(_VENDOR),
        inputs=(_VENDOR,),
        digits=2,
        when=lambda at: at.both_families,
    ),
    _claimed("low"),
    _claimed("high"),
    Spec(
        "tco.power_penalty",
        "kw",
        label=lambda at: f"{at.names[at.infiniband]} draws more than {at.names[at.result.rocev2 or '']} by",
        rule="watts of all pieces, the first − the second, before cooling",
        value=lambda at: _more_watts(at) / 1000,
        inputs=lambda at: {*inputs_of(at.owned.watts[at.infiniband]), *_grown(at)},
        central="mean",
        when=lambda at: at.both_families,
    ),
    Spec(
        "tco.power_penalty_per_year",
        "usd",
        label="What that draw costs a year, cooling included",
        rule="kW × hours of a year × price of a kWh × PUE",
        value=lambda at: _more_watts(at) / 1000 * HOURS_PER_YEAR * at.result.common.per_kwh * at.result.common.pue,
        inputs=lambda at: {*inputs_of(at.owned.watts[at.infiniband]), *_grown(at)},
        central="mean",
        when=lambda at: at.both_families,
    ),
)


# ---- other sizes


def _per_gpu(at: CostFigures, gpus: str, option: str) -> Any:
    sweep = at.owned.sweep
    return sweep.fabric_per_gpu[option][sweep.gpus.index(int(gpus))]


def _tiers(at: CostFigures) -> tuple[str, ...]:
    most = max((len(steps) for steps in at.owned.sweep.steps.values()), default=0) if at.owns else 0
    return tuple(str(tiers) for tiers in range(1, most + 1))


def _sizes(at: CostFigures) -> tuple[str, ...]:
    return tuple(map(str, at.owned.sweep.shown)) if at.owns else ()


_SWEEP = (
    PairSpec(
        "tco.step[tiers][owner]",
        "gpus",
        label=lambda at, tiers, option: (
            f"Largest size with {tiers} tier{'s' if int(tiers) > 1 else ''} of switches: {at.names[option]}"
        ),
        rule="capacity of a fat tree at the option's radix",
        value=lambda at, tiers, option: at.owned.sweep.steps[option][int(tiers) - 1],
        inputs=_SHAPE[1:],
        when=lambda at, tiers, option: int(tiers) <= len(at.owned.sweep.steps[option]),
    ),
    PairSpec(
        "tco.sweep.fabric[size][owner]",
        "usd",
        label=lambda at, gpus, option: f"Network capital per GPU at another size, {gpus} GPUs: {at.names[option]}",
        rule="parts list at that size × the case's prices ÷ GPUs",
        value=_per_gpu,
        inputs=_SHAPE[1:],
        central="mean",
        when=lambda at, gpus, option: bool(np.all(np.isfinite(plain(_per_gpu(at, gpus, option))))),
    ),
    EachSpec(
        "tco.sweep.size[size]",
        "gpus",
        label="Size in the sweep",
        rule="a size of the sweep",
        value=lambda _, gpus: int(gpus),
        inputs=_SHAPE[1:],
    ),
)

FABRIC_SPECS = (*_BUILT, *_PAIR, *_GROWTH, *_LIST, *_FAMILIES, *_SWEEP)
"""Every figure that only an owner's memo needs."""
FABRIC_INDEXES: Mapping[str, Index[CostFigures]] = {
    "owner": Index(lambda at: at.owners),
    "unmanaged": Index(lambda at: at.owned.managers if at.owns else ()),
    "bundled": Index(lambda at: (*at.bundled_unevenly, *at.bundled_equally)),
    "piece": Index(lambda _: _PIECES, _PIECES),
    "fabric_cause": Index(lambda _: FABRIC_CAUSES, FABRIC_CAUSES),
    "group": Index(lambda _: _WATTS, tuple(_WATTS)),
    "stage": Index(
        lambda at: (
            [str(n) for n in range(max((len(s) for s in at.owned.builds.values()), default=0))] if at.owns else ()
        )
    ),
    "grown": Index(lambda at: at.owned.growth if at.owns else ()),
    "row": Index(lambda at: at.list_rows),
    "base": Index(lambda _: BASES, tuple(BASES)),
    "roce": Index(lambda at: at.roces),
    "tiers": Index(_tiers),
    "size": Index(_sizes),
}
"""The indexes of their patterns."""
