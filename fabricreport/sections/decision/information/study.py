"""What to find out before committing: the worth of each group of inputs, and of each test less what it costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fabricreport.durations import HOURS_PER_WEEK
from fabricreport.inputs import Inputs
from fabricreport.models.information import Estimate
from fabricreport.models.money.courses import trial_cost
from fabricreport.provenance import Traced, inputs_of
from fabricreport.sections.decision.information.groups import Group, Probe, among, read_groups, read_probes
from fabricreport.sections.decision.information.knowledge import OFFER, Knowledge
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
    """What a test is worth (`estimate`), what it costs (draws,), and the inputs that it shows, each with its noise."""

    probe: Probe
    shows: Mapping[str, float]
    estimate: Estimate
    cost: Traced


@dataclass(frozen=True)
class Information:
    """What could be found out: each group, most worth first, and each test.

    `options`: ids of what can be ordered, of a renter the offers; `rests_on`: ids of every input behind their costs.
    """

    options: tuple[str, ...]
    rests_on: frozenset[str]
    groups: tuple[Worth, ...]
    tests: tuple[Tried, ...]

    @property
    def telling(self) -> tuple[Worth, ...]:
        """Groups whose worth stands out of its noise, most first."""
        return tuple(g for g in self.groups if not g.estimate.below_noise)

    def tried(self, test: str) -> Tried | None:
        """The test of this id, if it shows anything here."""
        return next((t for t in self.tests if t.probe.id == test), None)


def information_of(given: Inputs, bills: Bills, knowledge: Knowledge, pair: Sequence[str]) -> Information | None:
    """What could be found out in a case; None where fewer than two options can be ordered.

    A test is made on the two compared, and rents are asked of the sellers to ask first: it shows what stands behind these
    alone. The choice after it is among all that can be ordered.
    """
    if not knowledge.choice:
        return None
    found = [_worth(knowledge, group) for group in read_groups()]
    kind = "cloud" if given.team.rented else "builder"
    open_to = tested(bills, knowledge, pair)
    tried = [_tried(given, bills, knowledge, test, open_to) for test in read_probes() if kind in test.to]
    return Information(
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


def tested(bills: Bills, knowledge: Knowledge, pair: Sequence[str]) -> frozenset[str]:
    """Ids of what a test may show: the inputs behind the two compared, and the prices of the sellers to ask first."""
    offers = knowledge.offers
    able = [o for o in pair if offers or o in knowledge.options]
    prices = {f"{OFFER}{o}" for o in (offers.asked if offers else ())}
    return knowledge.behind(inputs_of(*(bills.totals[o] for o in able))) | prices


def _tried(given: Inputs, bills: Bills, knowledge: Knowledge, test: Probe, open_to: frozenset[str]) -> Tried:
    able = [i for i in knowledge.inputs if i in open_to]
    noises = {
        i: given.central(f"evidence:{reading.noise}") for reading in test.sees for i in among(able, reading.patterns)
    }
    return Tried(test, noises, knowledge.shown(noises), given.spread(_cost(given, bills, test)))


def _cost(given: Inputs, bills: Bills, test: Probe) -> Traced:
    """What a test costs: the engineer's hours, and the rent of GPU-hours on each of the two fabrics."""
    found = given.value(f"evidence:{test.work}") * engineer_hour(given)
    if not test.time:
        return Traced(found)
    cluster = given.params.cluster
    held = given.value(f"evidence:{test.time}")
    hours = held * HOURS_PER_WEEK if given.record(f"evidence:{test.time}")["unit"] == "week" else held
    gpus: Any = float(cluster.gpus)
    if test.nodes:
        gpus = np.minimum(given.value(f"evidence:{test.nodes}") * cluster.gpus_per_node, gpus)
    return Traced(trial_cost(gpus, hours, _FABRICS, bills.common.server.rent_per_gpu_hour, found))
