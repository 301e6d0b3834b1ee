"""What each option costs over the horizon, why they differ, and what would turn the difference.

Joins the case (prices, evidence, params, the shares of GPU time that the latency and the tail analysis find lost) to
the models of topology, cash flows and difference. One boundary, the same work, the same draws for every option.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from fabricreport.base.provenance import Traced, inputs_of
from fabricreport.base.vocabulary import Side
from fabricreport.inputs.inputs import Inputs
from fabricreport.ledger.figures import DeclaredFigures
from fabricreport.models.judgement.choice import Difference, difference
from fabricreport.models.judgement.comparison import Comparison
from fabricreport.sections.tco import fabric
from fabricreport.sections.tco.cost import FABRIC_CAUSES, by_cause, useful_hour_usd
from fabricreport.sections.tco.figures import FIGURES, CostFigures
from fabricreport.sections.tco.result import Bills, Ownership, TcoResult, edge_of


def run(given: Inputs, found: Bills, comparison: Comparison, sized: Callable[[int], Bills]) -> TcoResult:
    """The cost study, from every option's bill and the comparison made on them; `sized`: the bills of so many GPUs."""
    common, own = found.common, found.own
    choice, rival = comparison.choice, comparison.rival
    gap = Difference(comparison.lead, found.gap_by_cause(rival, choice))
    useful = {o: given.spread(i.lost.useful) for o, i in own.items()}
    hour = {o: given.spread(useful_hour_usd(bill, own[o], common)) for o, bill in found.paid.items()}
    sides = {o.id: o.side for o in given.options}
    rent = common.server.rent_per_gpu_hour
    result = TcoResult(
        totals=found.totals,
        components=found.components,
        labels=found.labels,
        inputs=inputs_of(found.totals),
        order=found.order,
        choice=choice,
        rival=rival,
        verdict=comparison.verdict,
        difference=gap,
        infiniband=_best(Side.INFINIBAND, found.order, sides),
        rocev2=_best(Side.ROCEV2, found.order, sides),
        useful_hour=hour,
        useful_share=useful,
        worth_per_gpu_hour={o: given.spread(rent * u / useful[choice]) for o, u in useful.items()},
        ownership=None if given.team.rented else _ownership(given, found, hour, choice, rival),
        edge=edge_of(given, (choice, rival), sized),
        common=common,
        late=found.late,
        numbers={},
    )
    return replace(result, numbers=DeclaredFigures(FIGURES, CostFigures(given, result), given))


def _ownership(given: Inputs, found: Bills, hour: Mapping[str, Traced], choice: str, rival: str) -> Ownership:
    """Everything that only an owner's memo shows."""
    common, own, built = found.common, found.own, found.built
    ends = [
        {n: given.spread(v) for n, v in fabric.capex(built[o][-1], own[o], common).items()} for o in (rival, choice)
    ]
    standing = {o: [_by_cause(fabric.capex(stage, own[o], common)) for stage in stages] for o, stages in built.items()}
    growth = {o.id: fabric.growth_cost(given.params.cluster, o, own[o.id], common) for o in given.options}
    stable = own[choice].lost.running.useful
    return Ownership(
        builds=built,
        capital={o: {c: given.spread(v) for c, v in rows[-1].items()} for o, rows in standing.items()},
        capital_gap=Traced(difference(ends[0], ends[1]).draws),
        bought={o: _added(given, rows) for o, rows in standing.items()},
        growth={o: g for o, g in growth.items() if g is not None},
        rent_useful_hour=given.spread(common.server.rent_per_gpu_hour / stable),
        break_even_rent=given.spread(hour[choice] * stable),
    )


def _by_cause(parts: Mapping[str, Any]) -> dict[str, Any]:
    """The fabric's capital in the four causes of the bill."""
    return {cause: value for cause, value in by_cause(parts).items() if cause in FABRIC_CAUSES}


def _added(given: Inputs, standing: list[dict[str, Any]]) -> tuple[dict[str, Traced], ...]:
    """Capital that each stage adds (draws,), by cause."""
    before = [dict.fromkeys(standing[0], 0.0), *standing[:-1]]
    return tuple({c: given.spread(row[c] - old[c]) for c in row} for row, old in zip(standing, before, strict=True))


def _best(side: Side, order: tuple[str, ...], sides: Mapping[str, Side]) -> str | None:
    return next((o for o in order if sides[o] == side), None)
