"""The ledger numbers of the total cost: totals and causes, the difference, rent against buy.

Money is printed as the mean over the draws: means of parts add up to the mean of the whole, as the bill does.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fabricreport.inputs import Inputs
from fabricreport.ledger import Number
from fabricreport.models.judgement.comparison import probability_cheaper
from fabricreport.provenance import inputs_of, plain
from fabricreport.sections.tco.cost import LOST_CAUSES, hours_of
from fabricreport.sections.tco.fabric_figures import fabric_numbers
from fabricreport.sections.tco.result import TcoResult

_SIZE = ("param:cluster.gpus", "param:money.horizon_months")


def numbers_of(given: Inputs, result: TcoResult) -> Iterator[Number]:
    """Every number of the section."""
    names = {o.id: o.name for o in given.options}
    yield from _totals(given, result, names)
    yield from _difference(given, result, names)
    yield from _hours(given, result, names)
    if result.ownership is None:
        yield from _renting(given, result, names)
    else:
        yield from _rent_instead(given, result, names[result.choice])
        yield from fabric_numbers(given, result, names)


def _totals(given: Inputs, result: TcoResult, names: dict[str, str]) -> Iterator[Number]:
    for option, total in result.totals.items():
        yield given.number(
            f"tco.total.{option}", total, "usd", central="mean",
            label=f"Total cost of {names[option]} over the horizon",
            rule="mean over the draws of the sum of all causes, present value: servers or rent, fabric, power, space, support, staff, less resale, plus lost GPU time",
            inputs=_SIZE,
        )  # fmt: skip
        for cause, words in result.labels.items():
            yield given.number(
                f"tco.{cause}.{option}", result.components[option][cause], "usd", central="mean",
                label=f"{words}: {names[option]}", rule="mean over the draws of the present value over the horizon",
                inputs=_SIZE,
            )  # fmt: skip
        lost = sum(result.components[option][c] for c in LOST_CAUSES if c in result.labels)
        yield given.number(
            f"tco.lost.{option}", lost, "usd", central="mean",
            label=f"Lost GPU time: {names[option]}",
            rule="mean of lost GPU-hours of the four causes × value of a GPU-hour, each hour charged once", inputs=_SIZE,
        )  # fmt: skip
        yield given.number(
            f"tco.useful.{option}", result.useful_share[option], "share",
            label=f"Share of GPU time that does work: {names[option]}",
            rule="median over the draws of the product of what bring-up, exposed communication, tail and interruptions leave", inputs=_SIZE,
        )  # fmt: skip
        gap = result.gap(option, result.choice)
        yield given.number(
            f"tco.difference_to_choice.{option}", gap, "usd", central="mean",
            label=f"Total cost: {names[option]} less {names[result.choice]}",
            rule="mean over the shared draws of the difference of total costs", inputs=_SIZE,
        )  # fmt: skip
        yield given.number(
            f"tco.probability_dearer.{option}", float((plain(gap) > 0).mean()), "share", digits=2,
            label=f"Share of draws in which {names[option]} costs more than {names[result.choice]}",
            rule="count of draws with a higher total cost ÷ all draws", inputs=(*_SIZE, *inputs_of(gap)),
        )  # fmt: skip


def _difference(given: Inputs, result: TcoResult, names: dict[str, str]) -> Iterator[Number]:
    gap = result.difference
    pair = f"{names[result.rival]} less {names[result.choice]}"
    everything = inputs_of(gap.draws) | set(_SIZE)
    yield given.number(
        "tco.difference", gap.draws, "usd", central="mean", label=f"Total cost: {pair}", inputs=everything,
        rule="mean over the shared draws of the difference of total costs, present value; its causes add up to it",
    )  # fmt: skip
    yield given.number(
        "tco.probability", probability_cheaper(gap.draws), "share", digits=2, inputs=everything,
        label=f"Share of draws in which {names[result.choice]} costs less than {names[result.rival]}",
        rule="count of draws with a lower total cost ÷ all draws",
    )  # fmt: skip
    for cause, part in gap.parts.items():
        yield given.number(
            f"tco.part.{cause}", part, "usd", central="mean", label=f"{result.labels[cause]}: {pair}",
            rule="mean over the shared draws of the difference in this cause", inputs=_SIZE,
        )  # fmt: skip


def _hours(given: Inputs, result: TcoResult, names: dict[str, str]) -> Iterator[Number]:
    installed = float(plain(hours_of(result.common)).sum())
    stages = tuple(f"param:cluster.trajectory[{i}].gpus" for i in range(len(result.common.stages) - 1))
    yield given.number(
        "tco.gpu_hours", installed, "gpu-hour", label="GPU-hours installed over the horizon",
        rule="sum over the months of installed GPUs × hours of a month", inputs=(*_SIZE, *stages),
    )  # fmt: skip
    value = result.common.gpu_hour_value
    if value is not None:
        yield given.number(
            "tco.gpu_hour_value", value, "usd/gpu-hour", central="mean", label="Value of a lost GPU-hour",
            rule={
                "amortised": "cost of a useful GPU-hour with the option for which it is lowest, the same for all options",
                "market": "the market's rent",
                "stated": "as the params state it",
            }[result.common.value_basis],
        )  # fmt: skip
    for option, hour in result.useful_hour.items():
        yield given.number(
            f"tco.usd_per_useful_gpu_hour.{option}", hour, "usd/gpu-hour", central="mean",
            label=f"Cost of a useful GPU-hour: {names[option]}",
            rule="mean over the draws of the cost without the charge for lost time ÷ useful GPU-hours, both discounted", inputs=_SIZE,
        )  # fmt: skip
        if result.delay_days[option].any():
            yield given.number(
                f"tco.delay_days.{option}", result.delay_days[option], "day", digits=2,
                label=f"Days the first result comes later: {names[option]}",
                rule="median of the weeks to stable beyond the weeks allowed, plus the slip of the first run",
                inputs=("param:organisation.time_to_production_weeks",),
            )  # fmt: skip


def _renting(given: Inputs, result: TcoResult, names: dict[str, str]) -> Iterator[Number]:
    market = result.common.server.rent_per_gpu_hour
    yield given.number(
        "tco.rent",
        market,
        "usd/gpu-hour",
        central="mean",
        label="Market price of a GPU-hour",
        rule="mean of the draws from the price book",
    )
    for option, worth in result.worth_per_gpu_hour.items():
        yield given.number(
            f"tco.worth.{option}", worth, "usd/gpu-hour", central="mean",
            label=f"Price at which an hour on {names[option]} does the same work for the same money",
            rule=f"market price × useful share of this fabric ÷ useful share of {names[result.choice]}",
        )  # fmt: skip
        yield given.number(
            f"tco.worth_less.{option}", result.worth_per_gpu_hour[result.choice] - worth, "usd/gpu-hour", central="mean",
            label=f"How much cheaper an hour on {names[option]} must be than on {names[result.choice]}",
            rule="market price × (1 − ratio of useful shares)", inputs=inputs_of(worth),
        )  # fmt: skip
    for offer in result.offers:
        record = given.prices[offer.item]
        key = offer.item.removeprefix("gpu-hour-")
        price = given.draw(record.id)
        yield given.number(
            f"tco.offer.{key}", price, "usd/gpu-hour", central="mean", label=f"Price found for {offer.provider}",
            rule=f"newest {offer.kind} of the price book", inputs=(record.id,),
        )  # fmt: skip
        for option, useful in result.useful_share.items():
            yield given.number(
                f"tco.offer_useful.{key}.{option}", price / useful, "usd/gpu-hour", central="mean",
                label=f"A useful GPU-hour at {offer.provider} if the fabric is {names[option]}",
                rule="price ÷ useful share on that fabric", inputs=(record.id,),
            )  # fmt: skip


def _rent_instead(given: Inputs, result: TcoResult, name: str) -> Iterator[Number]:
    owned = result.ownership
    if owned is None:
        return
    mine = result.useful_hour[result.choice]
    yield given.number(
        "tco.rent_per_useful_gpu_hour", owned.rent_useful_hour, "usd/gpu-hour", central="mean",
        label="Cost of a useful GPU-hour when renting the same work",
        rule=f"mean of market price ÷ useful share on the fabric of {name}, already stable",
    )  # fmt: skip
    yield given.number(
        "tco.break_even_rent", owned.break_even_rent, "usd/gpu-hour", central="mean",
        label="Rental price at which renting costs as much as owning",
        rule="mean of the cost of a useful GPU-hour when owning × useful share of a rented, stable fabric",
    )  # fmt: skip
    yield given.number(
        "tco.break_even_utilisation", mine / np.mean(owned.rent_useful_hour), "share", digits=2, central="mean",
        label="Share of the owned hours that must be used for owning to cost no more than renting",
        rule="mean cost of a useful GPU-hour when owning ÷ mean cost when renting",
    )  # fmt: skip
    yield given.number(
        "tco.probability_owning_cheaper", float((plain(mine) < plain(owned.rent_useful_hour)).mean()), "share", digits=2,
        label="Share of draws in which a useful GPU-hour costs less owned than rented",
        rule="count of draws with a lower cost ÷ all draws", inputs=inputs_of(mine, owned.rent_useful_hour),
    )  # fmt: skip
