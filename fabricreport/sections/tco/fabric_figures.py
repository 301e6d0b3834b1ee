"""The ledger numbers of an owned fabric: its bill, its watts, growth, list prices, and both bases of each percentage."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from fabricreport.durations import HOURS_PER_YEAR
from fabricreport.inputs import Inputs
from fabricreport.ledger import Number
from fabricreport.models.judgement.difference import relative_difference
from fabricreport.provenance import inputs_of, plain
from fabricreport.sections.tco.cost import CAUSES, FABRIC_CAUSES
from fabricreport.sections.tco.result import Ownership, TcoResult

HARDWARE = ("switches", "optics_and_cables", "adapters")
"""The causes of the fabric's hardware: what a price list shows."""

SMALL_SHARE = 0.01
"""A percentage below this is printed with one digit: the second would claim too much."""

BASES = {
    "switches": "Switches alone",
    "hardware": "Switches, optics, adapters",
    "fabric": "Fabric, installed",
    "cluster": "Fabric and servers",
    "total": "Total cost",
}
"""What a percentage can be a percentage of, from narrow to wide."""

_SHAPE = (
    "param:cluster.gpus",
    "param:cluster.gpus_per_node",
    "param:cluster.links_per_gpu",
    "param:cluster.oversubscription",
)


def fabric_numbers(given: Inputs, result: TcoResult, names: dict[str, str]) -> Iterator[Number]:
    """Every number that only an owner's memo needs."""
    owned = result.ownership
    if owned is None:
        return
    yield from _counts(given, owned, names)
    yield from _capital(given, owned, names)
    yield from _stages(given, owned, names)
    yield from _list_bills(given, owned, names)
    yield from _pair(given, result, owned, names)
    if result.infiniband and result.rocev2:
        yield from _bases(given, result, owned, names)
        yield from _power(given, result, owned)
    yield from _sweep(given, owned, names)


def _counts(given: Inputs, owned: Ownership, names: dict[str, str]) -> Iterator[Number]:
    for option, stages in owned.builds.items():
        bom, cables = stages[-1].bom, stages[-1].cables
        pieces = {
            "leaf": bom.leaf, "spine": bom.spine, "core": bom.core, "switches": bom.switches, "cables": cables.cables,
            "links": cables.links, "transceivers": cables.transceivers, "nics": cables.nics, "tiers": bom.tiers,
            "copper": cables.dac + cables.acc,
        }  # fmt: skip
        for piece, count in pieces.items():
            yield given.number(
                f"tco.count.{piece}.{option}", count, "count", label=f"{piece.capitalize()} of {names[option]}",
                rule="bill of materials: fat-tree counting with equal bundles", inputs=_SHAPE,
            )  # fmt: skip


def _capital(given: Inputs, owned: Ownership, names: dict[str, str]) -> Iterator[Number]:
    gpus = next(iter(owned.builds.values()))[-1].gpus
    for option, parts in owned.capital.items():
        total: Any = sum(parts[c] for c in FABRIC_CAUSES)
        hardware: Any = sum(parts[c] for c in HARDWARE)
        for cause in FABRIC_CAUSES:
            yield given.number(
                f"tco.bill.{cause}.{option}", parts[cause], "usd", central="mean",
                label=f"{CAUSES[cause]}, to buy: {names[option]}",
                rule="pieces × price, at today's prices and not discounted", inputs=_SHAPE,
            )  # fmt: skip
        yield given.number(
            f"tco.fabric_capex.{option}", total, "usd", central="mean",
            label=f"Capital of the fabric: {names[option]}",
            rule="switches, optics, cables, adapters, spares, installation and manager, at today's prices", inputs=_SHAPE,
        )  # fmt: skip
        yield given.number(
            f"tco.fabric_per_gpu.{option}", total / gpus, "usd", central="mean",
            label=f"Capital of the fabric per GPU: {names[option]}",
            rule="capital of the fabric ÷ GPUs of the last stage", inputs=_SHAPE,
        )  # fmt: skip
        yield given.number(
            f"tco.switch_share.{option}", parts["switches"] / np.mean(hardware), "share", digits=2,
            central="mean", inputs=_SHAPE,
            label=f"Switches' share of the fabric's hardware: {names[option]}",
            rule="mean of switches ÷ mean of (switches + optics and cables + adapters)",
        )  # fmt: skip
        yield given.number(
            f"tco.optics_share.{option}", parts["optics_and_cables"] / np.mean(hardware), "share", digits=2,
            central="mean", inputs=_SHAPE,
            label=f"Optics' and cables' share of the fabric's hardware: {names[option]}",
            rule="mean of optics and cables ÷ mean of (switches + optics and cables + adapters)",
        )  # fmt: skip
        for group, watts in owned.watts[option].items():
            yield given.number(
                f"tco.watts.{group.split()[0]}.{option}", watts / 1000, "kw", central="mean",
                label=f"Draw of {group}: {names[option]}",
                rule="pieces × watts, before cooling", inputs=_SHAPE,
            )  # fmt: skip
        yield given.number(
            f"tco.watts.total.{option}", sum(owned.watts[option].values()) / 1000, "kw", central="mean", inputs=_SHAPE,
            label=f"Draw of the fabric: {names[option]}", rule="sum over switches, optics, cables and adapters",
        )  # fmt: skip


def _pair(given: Inputs, result: TcoResult, owned: Ownership, names: dict[str, str]) -> Iterator[Number]:
    """Purchase price alone of the two options that the difference compares, and what the servers are of the whole."""
    pair = f"{names[result.rival]} less {names[result.choice]}"
    yield given.number(
        "tco.fabric_difference", owned.capital_gap, "usd", central="mean", label=f"Capital of the fabric: {pair}",
        rule="mean difference of the fabric's capital on the same draws, at today's prices", inputs=_SHAPE,
    )  # fmt: skip
    parts = result.components[result.choice]
    yield given.number(
        "tco.server_share", parts["servers"] / np.mean(result.totals[result.choice]), "share", digits=2, central="mean",
        inputs=_SHAPE,
        label=f"Servers' share of the total cost with {names[result.choice]}",
        rule="mean present value of the servers' price ÷ mean total cost",
    )  # fmt: skip


def _stages(given: Inputs, owned: Ownership, names: dict[str, str]) -> Iterator[Number]:
    for option, stages in owned.builds.items():
        before = 0
        for number, stage in enumerate(stages):
            key = "param:cluster.gpus" if number == 0 else f"param:cluster.trajectory[{number - 1}].gpus"
            figures = {
                "gpus": (stage.gpus, "gpus", "GPUs standing"),
                "bought": (stage.bom.switches - before, "count", "Switches bought"),
                "standing": (stage.bom.switches, "count", "Switches standing"),
                "overbuilt": (stage.bom.switches - stage.needed_switches, "count", "Switches ahead of need"),
                "month": (stage.month, "count", "Month"),
            }
            for what, (value, unit, label) in figures.items():
                yield given.number(
                    f"tco.stage.{what}.{number}.{option}", value, unit, label=f"{label} at stage {number}: {names[option]}",
                    rule="staged growth, wired from day one for the last stage", inputs=(key, *_SHAPE[1:]),
                )  # fmt: skip
            before = stage.bom.switches
    for option, growth in owned.growth.items():
        yield given.number(
            f"tco.overbuild.{option}", growth.planned - growth.as_needed, "usd", central="mean",
            label=f"Planning ahead less building as needed: {names[option]}",
            rule="present value of switches and cables bought early − of those bought late plus cables moved", inputs=_SHAPE,
        )  # fmt: skip
        yield given.number(
            f"tco.recabled.{option}", growth.recabled, "count", label=f"Cables laid twice if built as needed: {names[option]}",
            rule="cables of a stage that the next one moves", inputs=_SHAPE,
        )  # fmt: skip


def _list_bills(given: Inputs, owned: Ownership, names: dict[str, str]) -> Iterator[Number]:
    for row in owned.list_bills:
        key = f"{row.option}.{row.switch_ref.partition(':')[2]}"
        amounts = {
            "switches": row.switch_cost, "optics": row.optics_cost, "nics": row.nic_cost, "total": row.total,
            "each": row.switch_each,
        }  # fmt: skip
        for what, amount in amounts.items():
            yield given.number(
                f"tco.list.{what}.{key}", amount, "usd", digits=4, inputs=(*row.refs_of(what), *_SHAPE),
                label=f"List prices, {what}: {names[row.option]}",
                rule="pieces × central price; all optics, without fibre, licence, support, spare and labour",
            )  # fmt: skip
        yield given.number(
            f"tco.list.count.{key}", row.switches, "count", label=f"Switches of {names[row.option]}",
            rule="bill of materials without links for a manager", inputs=_SHAPE,
        )  # fmt: skip
        yield given.number(
            f"tco.list.against_first.{key}", row.total / owned.list_bills[0].total - 1, "share", digits=2,
            label=f"List bill of {names[row.option]} against that of {names[owned.list_bills[0].option]}",
            rule="total ÷ total of the first row − 1",
            inputs=(*row.refs, *owned.list_bills[0].refs, *_SHAPE) if row is not owned.list_bills[0] else _SHAPE,
        )  # fmt: skip


def _bases(given: Inputs, result: TcoResult, owned: Ownership, names: dict[str, str]) -> Iterator[Number]:
    """RoCEv2 against InfiniBand on each base, as a discount and as a premium, for every RoCEv2 option."""
    infiniband = result.infiniband or ""
    families = {o.id: o.family for o in given.options}
    for option in (o for o in result.order if families[o] == "rocev2"):
        a, b = (_base_amounts(result, owned, o) for o in (infiniband, option))
        pair = f"{names[option]} against {names[infiniband]}"
        for base, words in BASES.items():
            gap = relative_difference(a[base], b[base])
            tagged = inputs_of(a[base], b[base]) | set(_SHAPE)
            digits = 1 if abs(float(np.mean(plain(gap.b_less_than_a)))) < SMALL_SHARE else 2
            yield given.number(
                f"tco.discount.{base}.{option}", gap.b_less_than_a, "share", digits=digits, central="mean", inputs=tagged,
                label=f"Discount on InfiniBand's price, base {words.lower()}: {pair}",
                rule="mean of (InfiniBand − RoCEv2) ÷ mean of InfiniBand, on the same draws",
            )  # fmt: skip
            yield given.number(
                f"tco.premium.{base}.{option}", gap.a_more_than_b, "share", digits=digits, central="mean", inputs=tagged,
                label=f"Premium of InfiniBand on RoCEv2's price, base {words.lower()}: {pair}",
                rule="mean of (InfiniBand − RoCEv2) ÷ mean of RoCEv2, on the same draws",
            )  # fmt: skip
    yield from _claims(given)


def _base_amounts(result: TcoResult, owned: Ownership, option: str) -> dict[str, Any]:
    parts = owned.capital[option]
    hardware: Any = sum(parts[c] for c in HARDWARE)
    fabric: Any = sum(parts[c] for c in FABRIC_CAUSES)
    nodes = owned.builds[option][-1].nodes
    return {
        "switches": parts["switches"],
        "hardware": hardware,
        "fabric": fabric,
        "cluster": fabric + nodes * result.common.server.price,
        "total": result.totals[option],
    }


def _claims(given: Inputs) -> Iterator[Number]:
    """The ends of the discounts that the trade articles state, each with its own base."""
    vendor = "evidence:roce-discount-acg"
    yield given.number(
        "tco.claim.vendor", given.central(vendor), "share", digits=2, label="RoCEv2's saving as a vendor-paid study states it",
        rule="as stated by the source", inputs=(vendor,),
    )  # fmt: skip
    stated = given.uncertain("evidence:roce-discount-s3-stated")
    for end, value in (("low", stated.low), ("high", stated.high)):
        yield given.number(
            f"tco.claim.{end}", value, "share", digits=2, label=f"RoCEv2's discount as an article states it, {end} end",
            rule="as stated by the source", inputs=("evidence:roce-discount-s3-stated",),
        )  # fmt: skip


def _power(given: Inputs, result: TcoResult, owned: Ownership) -> Iterator[Number]:
    infiniband, rocev2 = result.infiniband or "", result.rocev2 or ""
    more: Any = sum(owned.watts[infiniband].values()) - sum(owned.watts[rocev2].values())
    yield given.number(
        "tco.power_penalty", more / 1000, "kw", central="mean", label="InfiniBand's fabric draws more than RoCEv2's by",
        rule="watts of all pieces, InfiniBand − RoCEv2, before cooling", inputs=inputs_of(owned.watts[infiniband]) | set(_SHAPE),
    )  # fmt: skip
    yearly = more / 1000 * HOURS_PER_YEAR * result.common.per_kwh * result.common.pue
    yield given.number(
        "tco.power_penalty_per_year", yearly, "usd", central="mean", label="What that draw costs a year, cooling included",
        rule="kW × hours of a year × price of a kWh × PUE", inputs=inputs_of(owned.watts[infiniband]) | set(_SHAPE),
    )  # fmt: skip


def _sweep(given: Inputs, owned: Ownership, names: dict[str, str]) -> Iterator[Number]:
    sweep = owned.sweep
    for option, steps in sweep.steps.items():
        for tiers, size in enumerate(steps, start=1):
            yield given.number(
                f"tco.step.{tiers}.{option}", size, "gpus",
                label=f"Largest size with {tiers} tier{'s' if tiers > 1 else ''} of switches: {names[option]}",
                rule="capacity of a fat tree at the option's radix", inputs=_SHAPE[1:],
            )  # fmt: skip
        for i, gpus in enumerate(sweep.gpus):
            per_gpu = sweep.fabric_per_gpu[option][i]
            if gpus in sweep.shown and np.all(np.isfinite(plain(per_gpu))):
                yield given.number(
                    f"tco.sweep.fabric.{gpus}.{option}", per_gpu, "usd", central="mean",
                    label=f"Fabric capital per GPU at another size, {gpus} GPUs: {names[option]}",
                    rule="bill of materials at that size × the case's prices ÷ GPUs", inputs=_SHAPE[1:],
                )  # fmt: skip
    last = next(iter(owned.builds.values()))[-1].gpus
    for gpus in sorted({*sweep.shown, last}):
        yield given.number(
            f"tco.sweep.size.{gpus}", gpus, "gpus", label="Size in the sweep", rule="a size of the sweep",
            inputs=_SHAPE[1:],
        )  # fmt: skip
