"""Tables of the body of a memo about a plan in stages: both networks side by side wherever they differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fabricreport.blocks import Column, Name, Row, Table
from fabricreport.blocks.tables import Cell
from fabricreport.books.names import option_names
from fabricreport.inputs import Inputs
from fabricreport.ledger import Number
from fabricreport.sections.diligence.plan.result import Plan
from fabricreport.sections.diligence.plan.tables import shown, size_text
from fabricreport.sections.diligence.result import DiligenceResult
from fabricreport.sections.tco.result import TcoResult

TESTED = ("allreduce", "alltoall")
"""Exchanges told of beside the one that the credit rests on, by their names in logs; the second where the job sends it."""


def stages(result: TcoResult) -> Table:
    """What is bought at each stage on either network: switches, and what they and their links cost.

    With two networks side by side also where the other one may no longer be chosen once the stage is bought.
    """
    owned = result.ownership
    assert owned is not None, "asked for where the plan is priced in stages"
    number, options = result.numbers, tuple(dict.fromkeys((result.choice, result.rival)))
    closed = closes_off([len(build.sites) for build in owned.builds[result.choice]]) if len(options) > 1 else ()
    rows: list[Row] = [
        Row(
            [
                number[f"tco.stage.month.{n}.{result.choice}"],
                number[f"tco.stage.gpus.{n}.{result.choice}"],
                *(number[f"tco.stage.{what}.{n}.{o}"] for o in options for what in ("bought", "price")),
                *closed[n : n + 1],
            ]
        )
        for n in range(len(owned.builds[result.choice]))
    ]
    whole: list[Cell] = ["All", ""]
    for option in options:
        whole += [number[f"tco.count.switches.{option}"], number[f"tco.fabric_capex.{option}"]]
    heads = [Column("Month"), Column("Size")]
    for word in ("{choice}", "{rival}")[: len(options)]:
        heads += [Column(f"{word} switches"), Column(f"{word} cost", decimals=1)]
    if closed:
        heads, whole = [*heads, Column("Fixes the kind at")], [*whole, ""]
    return Table(heads, [*rows, Row(whole, role="total")])


def closes_off(sites: Sequence[int]) -> list[Name]:
    """Where each stage closes off another kind of network, from the number of sites in use: one that begins has chosen."""
    several = sites[-1] > 1
    begun = [later > before for before, later in zip([-1, *sites], sites, strict=False)]
    first = ("first site" if sites[0] == 1 else "first sites") if several else "all stages"
    return [Name((first if n == 0 else "next site") if new else "–") for n, new in enumerate(begun)]


def acceptance(given: Inputs, result: DiligenceResult) -> Table:
    """Bandwidths to show on all GPUs of a network at each size; for either option where the course is open."""
    plans = [plan for plan in (result.plan, result.plan_of_rival) if plan is not None and plan.tests]
    sizes = list(dict.fromkeys(test.gpus for test in result.plan.tests))
    short = option_names(given.options)
    rows, messages = [], set()
    for plan in plans:
        for title, bars in _bandwidths(plan, result.terms.exchange.measures).items():
            messages |= {size for _, size in bars}
            shown_bars = {gpus: bar for (gpus, _), bar in bars.items()}
            named = [Name(short[plan.option].short)] if len(plans) > 1 else []
            rows.append(Row([*named, Name(title), *(shown_bars.get(gpus) for gpus in sizes)]))
    heads = [*([Column("Network")] if len(plans) > 1 else []), Column("Exchange among all GPUs")]
    columns = [*heads, *(Column(Name(f"{gpus:,} GPUs"), style="stated") for gpus in sizes)]
    return Table(columns, rows, {"message": Name(" or ".join(size_text(size) for size in sorted(messages)))})


def _bandwidths(plan: Plan, exchange: str) -> Mapping[str, Mapping[tuple[int, int], Number]]:
    """The bandwidth that each collective has to show at each stage, by its title, by GPUs and message size."""
    found: dict[str, dict[tuple[int, int], Number]] = {}
    left = {*TESTED, exchange}
    for test in plan.tests:
        if test.measures not in left and test.title not in found:
            continue
        if test.by_step is False and test.measures != TESTED[0]:
            continue
        if test.unit != "gbytes/s" or not all(size for _, size in test.bars):
            continue
        left.discard(test.measures)
        bar = shown(test)
        size = next(size for (_, size), number in test.bars.items() if number is bar)
        found.setdefault(test.title, {})[(test.gpus, size)] = bar
    return found
