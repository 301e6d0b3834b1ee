"""What could be found out before a client commits: groups of inputs and tests, and what knowing them is worth to the choice.

Costs are those of what can be ordered, given the inputs alone: options, or of a renter the offers (published prices in
their place), each with a price of its own and all with the same draws of what their networks lose. The luck of a run is
averaged out of the bills; that of bringing up is in them where the client prices a day of delay, and is taken out here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from fabricreport.base.provenance import Traced, inputs_of, plain
from fabricreport.base.uncertain import Uncertain
from fabricreport.base.units import DAYS_PER_WEEK, HOURS_PER_WEEK
from fabricreport.base.yaml_files import read_yaml
from fabricreport.books.options import Option
from fabricreport.inputs.inputs import Inputs
from fabricreport.models.information import FOLDS, Estimate, evppi, evsi, foreseen, observed
from fabricreport.models.money.cashflow import trial_cost
from fabricreport.models.risk.goodput import luck_of
from fabricreport.sections.arrivals import Arrival
from fabricreport.sections.client import gpu_type
from fabricreport.sections.decision.inputs import Judge
from fabricreport.sections.decision.offers.judgements import MOVE, SPREAD
from fabricreport.sections.decision.offers.study import OffersResult, committing, offers_of
from fabricreport.sections.decision.turning import varies
from fabricreport.sections.rents import ASSUMED
from fabricreport.sections.tail_risk.inputs import engineer_hour
from fabricreport.sections.tco.result import Bills


@dataclass(frozen=True)
class Group:
    """Inputs that are found out together: patterns of their ids."""

    id: str
    name: str
    patterns: tuple[str, ...]


@dataclass(frozen=True)
class Reading:
    """What a test reads: patterns of ids, and the entry of its noise, a share of the mean of what is read."""

    patterns: tuple[str, ...]
    noise: str


@dataclass(frozen=True)
class Probe:
    """Something to do before signing. `to`: `cloud`, `builder` or both.

    `work`, `time`, `nodes`: names of entries: the engineer's hours it takes; how long it holds GPUs of each fabric ('' for
    none), on how many nodes ('' for the whole cluster).
    """

    id: str
    name: str
    to: tuple[str, ...]
    sees: tuple[Reading, ...]
    work: str
    time: str
    nodes: str

    @property
    def entries(self) -> tuple[str, ...]:
        """Ids of the entries that it rests on."""
        names = (self.work, self.time, self.nodes, *(reading.noise for reading in self.sees))
        return tuple(f"evidence:{name}" for name in names if name)


@lru_cache(maxsize=1)
def read_groups() -> tuple[Group, ...]:
    """Every group, in the order of the file."""
    return tuple(Group(g["id"], g["name"], tuple(g["ids"])) for g in read_yaml("information")["groups"])


@lru_cache(maxsize=1)
def read_probes() -> tuple[Probe, ...]:
    """Every test, in the order of the file."""
    return tuple(
        Probe(
            t["id"],
            t["name"],
            tuple(t["to"]),
            tuple(Reading(tuple(r["ids"]), r["noise"]) for r in t["sees"]),
            t["work"],
            t.get("time", ""),
            t.get("nodes", ""),
        )
        for t in read_yaml("information")["tests"]
    )


def among(ids: Iterable[str], patterns: Sequence[str]) -> tuple[str, ...]:
    """The ids that fit one of the patterns."""
    return tuple(i for i in ids if any(fnmatchcase(i, p) for p in patterns))


Draws = NDArray[np.float64]
_LUCK = "evidence:weeks-to-stable-luck-share"
OFFER = "offer:"
"""What the id of an input begins with that is the price of one offer, uncertain until its seller is bound."""


class Knowledge:
    """What it is worth to know inputs of one case, each set of them worked out at most once however many sections ask.

    `offers`: of a renter, judged; None where there are none. `costs` (draws, what can be ordered); `rests_on`: ids of every
    input behind them; `inputs`: those of them that are drawn and could be found out, the price of each offer by its own id.
    """

    def __init__(
        self, given: Inputs, bills: Bills, judge: Judge, again: Callable[[Mapping[str, Uncertain]], Bills]
    ) -> None:
        self.given = given
        self.offers = offers_of(given, bills, judge, again)
        totals = committing(judge, bills, self.offers)
        self.options = tuple(totals)
        met = [_less_luck_of(given, bills, self.offers, o) for o in totals]
        self.costs = np.column_stack(met) if met else np.empty((0, 0))
        self.rests_on = inputs_of(*totals.values())
        self._prices = prices_of(self.offers, self.options)
        self.inputs = tuple(sorted({*self.behind(self.rests_on), *self._prices}))
        self._worths: dict[tuple[str, ...], Estimate] = {}

    @property
    def choice(self) -> bool:
        """Whether there is anything to choose between."""
        return len(self.options) > 1

    def worth(self, ids: Collection[str]) -> Estimate:
        """What knowing these inputs and nothing else is worth; nothing, if no cost rests on them.

        Who learns what the rent may be learns it of each seller: it stands for the price of each offer.
        """
        known = tuple(self._known(ids))
        if not known or not self.choice:
            return Estimate(0.0, 0.0)
        if known not in self._worths:
            self._worths[known] = evppi(self.costs, np.column_stack([self.draw(i) for i in known]), seed=self._seed)
        return self._worths[known]

    def _known(self, ids: Collection[str]) -> list[str]:
        rent = {SPREAD, ASSUMED, gpu_type(self.given).server.rent}
        asked = {*ids, *(self._prices if rent & {*ids} else ())}
        return [i for i in self.inputs if i in asked]

    def behind(self, ids: Collection[str]) -> frozenset[str]:
        """Of these ids, those of inputs that are drawn and could be found out, prices of offers aside."""
        found = frozenset(_learnable(self.given, ids))
        return found - fixed_in(self.offers) if self.offers else found

    def draw(self, input_id: str) -> Draws:
        """Draws of an input, or of the price of an offer over its mean."""
        return self._prices[input_id] if input_id in self._prices else plain(self.given.draw(input_id))

    def shown(self, noises: Mapping[str, float]) -> Estimate:
        """What a test is worth that shows inputs (by id) with a noise each, a share of the mean of what is read."""
        signals = self._signals(noises)
        return Estimate(0.0, 0.0) if signals is None else evsi(self.costs, signals, seed=self._seed)

    def led_to(self, noises: Mapping[str, float], among: Sequence[str]) -> NDArray[np.intp]:
        """The place among these (options or offers) of the one that is taken in each draw, by what such a test shows there.

        Each draw is foreseen from the others. Without a signal it is the one that costs least on average.
        """
        costs = self.costs[:, [self.options.index(o) for o in among]]
        least, signals = int(costs.mean(axis=0).argmin()), self._signals(noises)
        if signals is None:
            return np.full(len(costs), least)
        told = foreseen(signals, costs - costs[:, [least]], seed=self._seed, folds=FOLDS)
        return np.asarray(told.argmin(axis=1))

    def _signals(self, noises: Mapping[str, float]) -> Draws | None:
        """What a test shows in every draw (draws, inputs shown); None where it shows nothing, or nothing is left to choose."""
        seen = [i for i in self.inputs if i in noises]
        return np.column_stack([self._signal(i, noises[i]) for i in seen]) if seen and self.choice else None

    def _signal(self, input_id: str, noise: float) -> Draws:
        draws = self.draw(input_id)
        stream = crc32(input_id.encode())  # each input is misread on its own
        return observed(draws, noise * abs(float(draws.mean())), seed=self._seed ^ stream)

    @property
    def _seed(self) -> int:
        return int(self.given.params.seed)


def prices_of(offers: OffersResult | None, ids: Collection[str]) -> dict[str, Draws]:
    """Draws of the price of each of these offers over its mean, by the id of an input; none of a price that is bound."""
    factors = {o: plain(f) for o, f in offers.price_factors.items()} if offers else {}
    return {f"{OFFER}{o}": factors[o] for o in ids if o in factors and np.ptp(factors[o]) > 0}


def fixed_in(offers: OffersResult) -> frozenset[str]:
    """Ids whose own draws stand in no offer: each has its own draws of the spread, around the price that was found."""
    terms = {entry for term in offers.terms.values() for entry in term.behind}
    return frozenset({SPREAD, MOVE, *terms, *(price for j in offers.judged.values() for price in j.offer.prices)})


def _less_luck_of(given: Inputs, bills: Bills, offers: OffersResult | None, key: str) -> Draws:
    """Total cost (draws,) of an option or an offer given the inputs alone."""
    options = {o.id: o for o in given.options}
    if offers is None:
        return less_luck(given, bills, options[key], bills.totals[key])
    judged = offers.judged[key]
    return less_luck(given, bills, options[judged.option], judged.total, judged.arrival)


def less_luck(given: Inputs, bills: Bills, option: Option, met: Any, stands: Arrival | None = None) -> Draws:
    """A total cost (draws,) that is met with an option's weeks, given the inputs alone; `stands`: when, where that is not as
    of the option ordered at once.

    Only the price of a day of delay is met by the weeks as they come, luck included; in its place stands its mean over
    that luck. Weeks are then what is known of them times a lognormal factor with mean one, so that the mean of the weeks
    beyond those allowed is the price of a call on them (Black and Scholes 1973).
    """
    total, common, own = plain(met), bills.common, bills.own[option.id]
    per_week = plain(common.delay_per_day) * DAYS_PER_WEEK
    share, stated = given.value(_LUCK), plain(given.value(f"evidence:{option.behaviour.weeks}"))
    if not np.any(per_week > 0) or stated.ndim == 0 or np.isinf(common.weeks_allowed):
        return total
    weeks = plain(own.bring_up_weeks)
    allowed = np.broadcast_to(plain(common.weeks_allowed - (stands or own.arrival).production(0.0)), weeks.shape)
    known = weeks / plain(luck_of(stated, share))
    spread = np.sqrt(plain(share)) * float(np.std(np.log(np.maximum(stated, 1e-9))))
    late = np.maximum(weeks - allowed, 0.0)
    return np.asarray(total + per_week * (beyond(known, spread, allowed) - late))


def beyond(known: Draws, spread: Any, allowed: Any) -> Draws:
    """Mean of max(known × luck − allowed, 0) over a lognormal luck with mean one and this spread of its logarithm."""
    v = np.maximum(plain(spread), 1e-9)
    d = np.log(np.maximum(known, 1e-12) / np.maximum(allowed, 1e-12)) / v + v / 2
    return np.asarray(np.where(np.asarray(allowed) <= 0, known - allowed, known * ndtr(d) - allowed * ndtr(d - v)))


def _learnable(given: Inputs, behind: Collection[str]) -> set[str]:
    """Of the inputs behind the costs, those that are drawn and could be found out; contested quantities by their own name."""
    contested = {q: {f"evidence:{e.id}" for e in given.contested(q).admissible} for q in given.quantities_of(behind)}
    disputed = {q: members for q, members in contested.items() if members & set(behind)}
    single = {i for i in behind if i.startswith(("price:", "evidence:"))} - set().union(*disputed.values())
    found = {i for i in single if varies(given, i)}
    return found | {i for i in (f"contested:{q}" for q in disputed) if np.ptp(plain(given.draw(i))) > 0}


_FABRICS = 2
"""A test is run on each of the two that are compared."""


@dataclass(frozen=True)
class Worth:
    """What knowing a group of inputs is worth. `ids`: those of this case."""

    group: Group
    ids: tuple[str, ...]
    estimate: Estimate


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
    return Worth(group, ids, knowledge.worth(ids))


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
