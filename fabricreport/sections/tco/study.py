"""What each option costs over the horizon, why they differ, and what would turn the difference.

Joins the case (prices, evidence, params, the shares of GPU time that the latency and the tail analysis find lost) to
the models of topology, cash flows and difference. One boundary, the same work, the same draws for every option.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fabricreport.ledger import Number
from fabricreport.models.judgement.decision import Swing, expected_order, swings
from fabricreport.models.judgement.difference import Difference, difference
from fabricreport.models.money.ownership import CostComponents
from fabricreport.provenance import Traced, inputs_of, plain
from fabricreport.sections.tco import fabric
from fabricreport.sections.tco.cost import (
    CAUSES,
    FABRIC_CAUSES,
    by_cause,
    cash_bill,
    common_hour_value,
    delay_days,
    full_bill,
    monthly_cash,
    spread_over_draws,
    useful_hour_usd,
    with_delay,
)
from fabricreport.sections.tco.fabric import Build, GrowthCost
from fabricreport.sections.tco.inputs import Common, OptionInputs, common_inputs, drawn, option_inputs
from fabricreport.sections.tco.list_bills import ListBill, Offer, list_bills, offers
from fabricreport.sections.tco.sweep import Sweep, run_sweep

if TYPE_CHECKING:
    from fabricreport.case import Case


@dataclass(frozen=True)
class Ownership:
    """What only an owner has: the fabric built at each stage, its capital and watts, growth and the sweep of sizes.

    `capital` is what the last stage's fabric costs at today's prices, by cause of the fabric; `bought` the mean of
    what each stage adds to it; `cash` the mean paid in each month (today's money); `watts` the last stage's draw by
    group; `capital_gap` the rival's capital less the choice's, part by part. `rent_useful_hour` is what a useful GPU-hour costs when the same work is rented on the cheapest option's
    fabric, already stable.
    """

    builds: Mapping[str, tuple[Build, ...]]
    capital: Mapping[str, Mapping[str, Traced]]
    capital_gap: Traced
    bought: Mapping[str, tuple[Mapping[str, float], ...]]
    cash: Mapping[str, NDArray[np.float64]]
    watts: Mapping[str, Mapping[str, Traced]]
    growth: Mapping[str, GrowthCost]
    sweep: Sweep
    list_bills: tuple[ListBill, ...]
    rent_useful_hour: Traced
    break_even_rent: Traced


@dataclass(frozen=True)
class TcoResult:
    """Present values by option and cause (draws,), the difference that decides, and the figures by id.

    `choice` has the lowest mean total; `rival` is the best option of another family (the next best if there is only
    one family). `difference` is rival less choice: positive means the choice is cheaper. `infiniband` and `rocev2`
    are the cheaper option of each family, or None. `parts` are the same bills piece by piece, so that what two options
    share cancels to exact zero in `gap`. `ownership` is None for a client that rents.
    """

    totals: Mapping[str, Traced]
    parts: Mapping[str, Mapping[str, Traced]]
    components: Mapping[str, Mapping[str, Traced]]
    labels: Mapping[str, str]
    inputs: frozenset[str]
    order: tuple[str, ...]
    choice: str
    rival: str
    difference: Difference
    swings: tuple[Swing, ...]
    infiniband: str | None
    rocev2: str | None
    useful_hour: Mapping[str, Traced]
    useful_share: Mapping[str, Traced]
    delay_days: Mapping[str, Traced]
    worth_per_gpu_hour: Mapping[str, Traced]
    offers: tuple[Offer, ...]
    ownership: Ownership | None
    common: Common
    numbers: Mapping[str, Number]

    def gap(self, a: str, b: str) -> Traced:
        """Cost of `a` less cost of `b` (draws,); what both share leaves neither money nor provenance."""
        return Traced(difference(self.parts[a], self.parts[b]).draws)

    @property
    def probability(self) -> float:
        """Share of draws in which the choice costs less than the rival."""
        return 1.0 - float(self.difference.probability_a_cheaper)


def run(case: Case) -> TcoResult:
    """Price every option of a case."""
    from fabricreport.sections.tco.figures import numbers_of

    common = common_inputs(case)
    own = {o.id: option_inputs(case, o) for o in case.options}
    rents = case.params.money.acquisition == "rent"
    rack = int(case.central("evidence:servers-per-rack"))
    built = {} if rents else _built(case, common, rack)
    paid = {o.id: cash_bill(built.get(o.id, ()), own[o.id], common, rent=rents) for o in case.options}
    common = common_hour_value(paid, own, common)
    draws = int(case.sampler.size)
    parts = {o: _parts(full_bill(bill, own[o], common, rent=rents), own[o], common, draws) for o, bill in paid.items()}
    raw = {o: by_cause(fine) for o, fine in parts.items()}
    causes = [cause for cause in CAUSES if any(np.any(plain(own_raw.get(cause, 0.0))) for own_raw in raw.values())]
    components = {
        o: {cause: spread_over_draws(own_raw.get(cause, 0.0), draws) for cause in causes} for o, own_raw in raw.items()
    }
    totals = {o: _sum(parts) for o, parts in components.items()}
    order = expected_order(totals)
    families = {o.id: o.family for o in case.options}
    choice, rival = order[0], _rival(order, families)
    fine = difference(parts[rival], parts[choice])
    gap = Difference(
        fine.draws, {c: spread_over_draws(v, draws) for c, v in by_cause(fine.parts).items() if c in causes}
    )
    useful = {o: spread_over_draws(i.lost.useful, draws) for o, i in own.items()}
    hour = {o: spread_over_draws(useful_hour_usd(bill, own[o], common), draws) for o, bill in paid.items()}
    ownership = None if rents else _ownership(case, common, own, built, hour, (choice, rival), rack)
    market = common.server.rent_per_gpu_hour
    result = TcoResult(
        totals=totals,
        parts=parts,
        components=components,
        labels={cause: CAUSES[cause] for cause in causes},
        inputs=inputs_of(totals),
        order=order,
        choice=choice,
        rival=rival,
        difference=gap,
        swings=swings(gap.draws, {i: case.sample(i) for i in sorted(_uncertain(case, gap.draws))}),
        infiniband=_best("infiniband", order, families),
        rocev2=_best("rocev2", order, families),
        useful_hour=hour,
        useful_share=useful,
        delay_days={o: spread_over_draws(delay_days(i, common), draws) for o, i in own.items()},
        worth_per_gpu_hour={o: spread_over_draws(market * u / useful[choice], draws) for o, u in useful.items()},
        offers=offers(case) if rents else (),
        ownership=ownership,
        common=common,
        numbers={},
    )
    return replace(result, numbers={n.id: n for n in numbers_of(case, result)})


def _built(case: Case, common: Common, rack: int) -> dict[str, tuple[Build, ...]]:
    return {o.id: fabric.builds(case.params.cluster, o, common.stages, rack) for o in case.options}


def _ownership(
    case: Case,
    common: Common,
    own: Mapping[str, OptionInputs],
    built: Mapping[str, tuple[Build, ...]],
    hour: Mapping[str, Traced],
    pair: tuple[str, str],
    rack: int,
) -> Ownership:
    """Everything that only an owner's memo shows."""
    cluster, draws, (choice, rival) = case.params.cluster, int(case.sampler.size), pair
    ends = [
        {n: spread_over_draws(v, draws) for n, v in fabric.capex(built[o][-1], own[o], common).items()}
        for o in (rival, choice)
    ]
    standing = {o: [_by_cause(fabric.capex(stage, own[o], common)) for stage in stages] for o, stages in built.items()}
    capital = {o: {c: spread_over_draws(v, draws) for c, v in rows[-1].items()} for o, rows in standing.items()}
    watts = {
        o: {group: spread_over_draws(v, draws) for group, v in fabric.watts(stages[-1], own[o]).items()}
        for o, stages in built.items()
    }
    growth = {o.id: fabric.growth_cost(cluster, o, own[o.id], common) for o in case.options}
    stable = replace(own[choice].lost, bring_up=0.0).useful
    return Ownership(
        builds=built,
        capital=capital,
        capital_gap=Traced(difference(ends[0], ends[1]).draws),
        bought={o: _added(rows) for o, rows in standing.items()},
        cash={o: plain(monthly_cash(stages, own[o], common)) for o, stages in built.items()},
        watts=watts,
        growth={o: g for o, g in growth.items() if g is not None},
        sweep=run_sweep(cluster, case.options, own, common, rack, {o: inputs_of(h) for o, h in hour.items()}),
        list_bills=list_bills(case, built),
        rent_useful_hour=spread_over_draws(common.server.rent_per_gpu_hour / stable, draws),
        break_even_rent=spread_over_draws(hour[choice] * stable, draws),
    )


def _parts(bill: CostComponents, option: OptionInputs, common: Common, draws: int) -> dict[str, Traced]:
    """A full bill piece by piece, each (draws,)."""
    return {name: spread_over_draws(v, draws) for name, v in with_delay(bill, option, common).items()}


def _by_cause(parts: Mapping[str, Any]) -> dict[str, Any]:
    """The fabric's capital in the four causes of the bill."""
    return {cause: value for cause, value in by_cause(parts).items() if cause in FABRIC_CAUSES}


def _added(standing: list[dict[str, Any]]) -> tuple[dict[str, float], ...]:
    """Mean capital that each stage adds, by cause."""
    means = [{cause: float(np.mean(plain(value))) for cause, value in row.items()} for row in standing]
    before = [dict.fromkeys(means[0], 0.0), *means[:-1]]
    return tuple({c: row[c] - old[c] for c in row} for row, old in zip(means, before, strict=True))


def _sum(parts: Mapping[str, Traced]) -> Traced:
    total: Any = 0.0
    for value in parts.values():
        total = total + value
    return spread_over_draws(total, next(iter(parts.values())).size)


def _rival(order: tuple[str, ...], families: Mapping[str, str]) -> str:
    """The best option of another family than the cheapest; the runner-up if all are of one family."""
    others = [o for o in order if families[o] != families[order[0]]]
    return others[0] if others else order[min(1, len(order) - 1)]


def _best(family: str, order: tuple[str, ...], families: Mapping[str, str]) -> str | None:
    return next((o for o in order if families[o] == family), None)


def _uncertain(case: Case, values: Any) -> set[str]:
    """The inputs of an array whose draws vary."""
    ids = {i for i in inputs_of(values) if not i.startswith("claim:")}
    return {i for i in ids if np.ptp(plain(drawn(case, i))) > 0}
