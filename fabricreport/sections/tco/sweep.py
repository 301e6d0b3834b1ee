"""The same client at other sizes: cost of the fabric per GPU, and of a useful GPU-hour, from 16 to 32,768 GPUs.

Prices, terms and people are the case's own draws (every fourth of them). The shares of GPU time lost are held at the
case's own size, so the sweep shows how the bill scales, not how the network behaves; the memo says so.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fabricreport.books.options import Option
from fabricreport.errors import OutOfRange
from fabricreport.models.fabric.topology import tier_capacity
from fabricreport.provenance import Traced, inputs_of, plain
from fabricreport.scenario import Cluster
from fabricreport.sections.tco import fabric
from fabricreport.sections.tco.cost import cash_bill, useful_hour_usd
from fabricreport.sections.tco.inputs import Common, OptionInputs, thinned

SMALLEST_GPUS, LARGEST_GPUS = 16, 32_768
UNIT_LEAVES = 8
"""Leaves of a scalable unit, each of half its ports, in the tables of reference designs."""
NEAR = 0.25
"""A size is near another that differs from it by at most this share of it."""
STEP = 8
"""Every STEP-th draw is used: enough for a P5 and a P95."""


@dataclass(frozen=True)
class Sweep:
    """`fabric_per_gpu` and `useful_hour` by option are (sizes, draws), NaN where the option cannot be built.

    `steps` are, by option, the sizes (GPUs) above which another tier of switches is needed; `shown` the few sizes that
    a table shows. `even` is, by option, the size nearest to the client's that fills whole units of its switches, 0 without one.
    """

    gpus: tuple[int, ...]
    shown: tuple[int, ...]
    fabric_per_gpu: Mapping[str, Traced]
    useful_hour: Mapping[str, Traced]
    steps: Mapping[str, tuple[int, ...]]
    even: Mapping[str, int]

    def crossovers(self, a: str, b: str, *, per_useful_hour: bool = True) -> tuple[tuple[int, int], ...]:
        """Pairs of neighbouring sizes between which the cheaper of two options changes, by the mean."""
        source = self.useful_hour if per_useful_hour else self.fabric_per_gpu
        gap = (plain(source[a]) - plain(source[b])).mean(axis=1)
        turns = np.flatnonzero(gap[:-1] * gap[1:] < 0)
        return tuple((self.gpus[i], self.gpus[i + 1]) for i in turns)


def run_sweep(
    cluster: Cluster,
    options: Sequence[Option],
    inputs: Mapping[str, OptionInputs],
    common: Common,
    servers_per_rack: int,
    behind_hour: Mapping[str, frozenset[str]],
) -> Sweep:
    """Price every option at every size of the sweep.

    It runs on bare numbers, which is several times faster than on traced ones, and puts the provenance back:
    `behind_hour` are the inputs behind each option's useful hour at the case's own size.
    """
    steps = {o.id: tier_steps(cluster, o) for o in options}
    even = {o.id: even_size(cluster, o) for o in options}
    uneven = [size for size in even.values() if size not in (0, cluster.final_gpus)]
    compared = {cluster.final_gpus, *uneven} if cluster.final_gpus in even.values() else set()
    sizes = tuple(sorted({*sweep_sizes(cluster, steps), *(n for n in compared if n <= LARGEST_GPUS)}))
    few = thinned(common, STEP)
    capital: dict[str, Traced] = {}
    hour: dict[str, Traced] = {}
    for option in options:
        own = inputs[option.id]
        rows = [_at(cluster, option, thinned(own, STEP), few, gpus, servers_per_rack) for gpus in sizes]
        draws = max(np.size(value) for row in rows for value in row)
        table = [np.stack([np.broadcast_to(plain(row[i]), (draws,)) for row in rows]) for i in (0, 1)]
        bought = inputs_of(
            *vars(own.prices).values(), own.management_servers, common.spares_share, common.labour_per_cable
        )
        capital[option.id] = Traced(table[0], bought)
        hour[option.id] = Traced(table[1], bought | behind_hour[option.id])
    shown = tuple(n for n in sizes if n in compared or n in {_whole(4**power, cluster) for power in range(2, 8)})
    return Sweep(sizes, shown, capital, hour, steps, even)


def even_size(cluster: Cluster, option: Option) -> int:
    """The size nearest to the client's last that fills whole scalable units of the option's switches with whole servers;
    0 where none is near."""
    links = option.links_per_node or cluster.gpus_per_node * cluster.links_per_gpu
    unit = math.lcm(UNIT_LEAVES * (option.radix // 2), links) // links * cluster.gpus_per_node
    near = max(unit, round(cluster.final_gpus / unit) * unit)
    return near if abs(near - cluster.final_gpus) <= NEAR * cluster.final_gpus else 0


def tier_steps(cluster: Cluster, option: Option) -> tuple[int, ...]:
    """Sizes in GPUs up to which one and two tiers of the option's switches are enough."""
    links = option.links_per_node or cluster.gpus_per_node * cluster.links_per_gpu
    one, two, _ = tier_capacity(option.radix, cluster.oversubscription)
    return tuple(ports // links * cluster.gpus_per_node for ports in (one, two))


def sweep_sizes(cluster: Cluster, steps: Mapping[str, tuple[int, ...]]) -> tuple[int, ...]:
    """Powers of two, both sides of every step, and the client's own sizes, in whole servers within the range."""
    per_node = cluster.gpus_per_node
    sizes = {2**power for power in range(4, 16)} | {cluster.gpus, cluster.final_gpus}
    sizes |= {size for option in steps.values() for edge in option for size in (edge, edge + per_node)}
    whole = {_whole(size, cluster) for size in sizes}
    return tuple(sorted(size for size in whole if SMALLEST_GPUS <= size <= LARGEST_GPUS))


def _whole(gpus: int, cluster: Cluster) -> int:
    """A size rounded up to whole servers."""
    return -(-gpus // cluster.gpus_per_node) * cluster.gpus_per_node


def _at(
    cluster: Cluster, option: Option, own: OptionInputs, common: Common, gpus: int, servers_per_rack: int
) -> tuple[Any, Any]:
    """Fabric capital per GPU and cost per useful GPU-hour at one size; NaN beyond the option's capacity."""
    at_size = replace(common, stages=((0, gpus),))
    try:
        built = fabric.builds(cluster, option, at_size.stages, servers_per_rack)
    except OutOfRange:
        return np.nan, np.nan
    paid = cash_bill(built, own, at_size, rent=False)
    capital: Any = 0.0
    for value in fabric.capex(built[-1], own, at_size).values():
        capital = capital + value
    return capital / gpus, useful_hour_usd(paid, own, at_size)
