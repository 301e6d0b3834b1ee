"""Like with like: what the lead is worth where both sides are of one generation of equipment and one link speed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from fabricreport.chain import Chain
from fabricreport.errors import InputError
from fabricreport.models.judgement.comparison import Comparison, Verdict
from fabricreport.provenance import Traced, mean_of, plain
from fabricreport.scenario import changed_params
from fabricreport.sections.decision.inputs import judge_of
from fabricreport.sections.generations import Market
from fabricreport.sections.partner import bars

GENERATION, SPEED = "generation", "speed"
"""Keys of the pairs: only the older option replaced, and both of one link speed as well."""
MOST_OPTIONS = 20
"""Options that params can hold."""


@dataclass(frozen=True)
class Pair:
    """Two options in the place of the two compared: `choice` stands for the advised one, `rival` for its rival.

    `gap` (draws,): the rival's total cost less the choice's; `verdict`: the printed rule applied to the two alone.
    """

    key: str
    choice: str
    rival: str
    gap: Traced
    verdict: Verdict

    @property
    def lead(self) -> float:
        """Mean of the gap."""
        return mean_of(self.gap)

    @property
    def probability(self) -> float:
        """Share of draws in which the option in the choice's place costs less; a draw without a difference counts half."""
        gap = plain(self.gap)
        return float(np.mean(gap > 0) + np.mean(gap == 0) / 2)


@dataclass(frozen=True)
class Mismatch:
    """The advised option and its rival are of different generations: which is the `older`, and the pairs in their place.

    No `pairs`: nothing of the newer generation is sold on the older one's side.
    """

    older: str
    newer: str
    pairs: tuple[Pair, ...]

    @property
    def alike(self) -> Pair | None:
        """The pair that is most alike."""
        return self.pairs[-1] if self.pairs else None

    def turns(self, lead: float) -> bool:
        """Whether the side that leads by this much falls behind where both are alike."""
        return self.alike is not None and lead * self.alike.lead < 0


def mismatch_of(base: Chain, comparison: Comparison) -> Mismatch | None:
    """How far the comparison is one of generations; None where the two are of one."""
    given = base.given
    if given.team.rented:  # whose switches they are is the seller's business
        return None
    pair = [o for name in (comparison.choice, comparison.rival) for o in given.options if o.id == name]
    market = Market(
        tuple(o for o in given.all_options.values() if not bars(given, o)),
        str(given.params.cluster.vendor),
        given.as_of,
        given.central("evidence:rule-generation-years"),
    )
    older, newer = sorted(pair, key=lambda o: o.generation)
    if not market.apart(older, newer):
        return None
    stand_in = market.in_place_of(older, newer)
    if stand_in is None:
        return Mismatch(older.id, newer.id, ())
    speed = market.at_speed_of(stand_in, newer)
    places: dict[str, Mapping[str, str]] = {}
    if speed is not newer:
        places[GENERATION] = {older.id: stand_in.id, newer.id: newer.id}
    if speed is not None:
        places[SPEED] = {older.id: stand_in.id, newer.id: speed.id}
    return Mismatch(older.id, newer.id, tuple(_pairs(base, comparison, places)))


def _pairs(base: Chain, comparison: Comparison, places: Mapping[str, Mapping[str, str]]) -> Iterator[Pair]:
    """Each pair with its bills: the whole chain again on the same draws, the client's other options left as they are."""
    given = base.given
    named = dict.fromkeys([*(o for pair in places.values() for o in pair.values()), *given.params.options])
    try:
        params = changed_params(given.params, {"options": [*named][:MOST_OPTIONS]}, {}, extra_options=given.all_options)
        again = base.again(given.with_params(params))
    except InputError:  # more GPUs than such switches connect
        return
    judge = judge_of(again.given)
    for key, place in places.items():
        choice, rival = place[comparison.choice], place[comparison.rival]
        totals = {o: again.bills.totals[o] for o in (choice, rival)}
        verdict = judge.verdict(replace(again.bills, totals=totals))
        yield Pair(key, choice, rival, again.bills.gap(rival, choice), verdict)
