"""What to find out before committing: the worth of each group of inputs, and of each test less what it costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from fabricreport.durations import HOURS_PER_WEEK
from fabricreport.inputs import Inputs
from fabricreport.models.information import Estimate
from fabricreport.provenance import Traced
from fabricreport.sections.client import rented
from fabricreport.sections.decision.information.groups import Group, Probe, among, read_groups, read_probes
from fabricreport.sections.decision.information.knowledge import Knowledge
from fabricreport.sections.decision.turning import settling
from fabricreport.sections.tail_risk.inputs import engineer_hour
from fabricreport.sections.tco.bills import Bills

_FABRICS = 2
"""A test is run on each of the two that are compared."""


@dataclass(frozen=True)
class Worth:
    """What knowing a group of inputs is worth. `ids`: those of this case; `settled`: what settles them, by when."""

    group: Group
    ids: tuple[str, ...]
    estimate: Estimate
    settled: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class Tried:
    """What a test is worth (`estimate`), what it costs (draws,), and the ids of the inputs that it shows."""

    probe: Probe
    shows: tuple[str, ...]
    estimate: Estimate
    cost: Traced

    @property
    def net(self) -> float:
        """What it is worth less what it costs on average."""
        return self.estimate.value - float(np.mean(self.cost))


@dataclass(frozen=True)
class Information:
    """What could be found out: everything (`evpi`), each group, most worth first, and each test.

    `options`: ids of those that can be ordered; `rests_on`: ids of every input behind their costs.
    """

    evpi: float
    options: tuple[str, ...]
    rests_on: frozenset[str]
    groups: tuple[Worth, ...]
    tests: tuple[Tried, ...]

    @property
    def telling(self) -> tuple[Worth, ...]:
        """Groups whose worth stands out of its noise, most first."""
        return tuple(g for g in self.groups if not g.estimate.below_noise)

    @property
    def paying(self) -> tuple[Tried, ...]:
        """Tests that are worth more than they cost, by more than the noise."""
        return tuple(t for t in self.tests if not t.estimate.below_noise and t.net > 0)


def information_of(given: Inputs, bills: Bills, knowledge: Knowledge) -> Information | None:
    """What could be found out in a case; None where fewer than two options can be ordered."""
    if not knowledge.choice:
        return None
    found = [_worth(knowledge, group) for group in read_groups()]
    kind = "cloud" if rented(given) else "builder"
    tried = [_tried(given, bills, knowledge, test) for test in read_probes() if kind in test.to]
    return Information(
        evpi=knowledge.of_everything,
        options=knowledge.options,
        rests_on=knowledge.rests_on,
        groups=tuple(sorted((w for w in found if w.ids), key=_standing, reverse=True)),
        tests=tuple(t for t in tried if t.shows),
    )


def _standing(worth: Worth) -> float:
    return 0.0 if worth.estimate.below_noise else worth.estimate.value


def _worth(knowledge: Knowledge, group: Group) -> Worth:
    ids = among(knowledge.inputs, group.patterns)
    settled: dict[str, list[str]] = {}
    for found in (settling(i) for i in ids):
        settled.setdefault(found["when"], []).append(found["what"])
    told = {when: tuple(dict.fromkeys(whats)) for when, whats in settled.items()}
    return Worth(group, ids, knowledge.worth(ids), told)


def _tried(given: Inputs, bills: Bills, knowledge: Knowledge, test: Probe) -> Tried:
    noises = {
        i: given.central(f"evidence:{reading.noise}")
        for reading in test.sees
        for i in among(knowledge.inputs, reading.patterns)
    }
    return Tried(test, tuple(noises), knowledge.shown(noises), given.spread(_cost(given, bills, test)))


def _cost(given: Inputs, bills: Bills, test: Probe) -> Traced:
    """What a test costs: the engineer's hours, and GPU-hours on each fabric at what an hour is worth to the client."""
    found = given.value(f"evidence:{test.work}") * engineer_hour(given)
    if not test.time:
        return Traced(found)
    cluster = given.params.cluster
    held = given.value(f"evidence:{test.time}")
    hours = held * HOURS_PER_WEEK if given.record(f"evidence:{test.time}")["unit"] == "week" else held
    gpus = float(cluster.gpus)
    if test.nodes:
        gpus = np.minimum(given.value(f"evidence:{test.nodes}") * cluster.gpus_per_node, gpus)
    return Traced(found + _FABRICS * hours * gpus * bills.common.gpu_hour_value)
