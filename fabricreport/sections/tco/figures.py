"""The figures of the total cost: totals and causes, the difference, rent against buy.

Money is printed as the mean over the draws: means of parts add up to the mean of the whole, as the bill does.
"""

from __future__ import annotations

import numpy as np

from fabricreport.figures import Declaration, Index
from fabricreport.provenance import inputs_of
from fabricreport.sections.sites import LINKS
from fabricreport.sections.tco.bills import apart, parts_of
from fabricreport.sections.tco.cost import CAUSES, DIFFERING
from fabricreport.sections.tco.cross_check import PAIR_SPECS
from fabricreport.sections.tco.fabric_figures import FABRIC_INDEXES, FABRIC_SPECS
from fabricreport.sections.tco.figure_context import CostFigures, EachSpec, PairSpec, Spec

_SIZE = ("param:cluster.gpus", "param:money.horizon_months")

_TOTALS = (
    EachSpec(
        "tco.total[option]",
        "usd",
        label=lambda at, option: f"Total cost of {at.names[option]} over the horizon",
        rule="mean over the outcomes of the sum of all causes, present value: servers or rent, network, power, space, support, staff, less resale, plus lost GPU time",
        value=lambda at, option: at.result.totals[option],
        inputs=_SIZE,
        central="mean",
        parts=lambda at, option: parts_of(at.result.components[option]),
    ),
    EachSpec(
        "tco.cash[option]",
        "usd",
        label=lambda at, option: f"Cash paid for {at.names[option]} over the horizon",
        rule="mean over the outcomes of the sum of all causes that somebody is paid for, present value; with the time below it makes the total",
        value=lambda at, option: at.given.spread(apart(at.result.components[option])[0]),
        inputs=_SIZE,
        central="mean",
        parts=lambda at, option: parts_of(at.result.components[option])[0].parts,
    ),
    EachSpec(
        "tco.time[option]",
        "usd",
        label=lambda at, option: f"GPU time lost on {at.names[option]} over the horizon, at its value",
        rule="mean over the outcomes of GPU time lost to any cause × value of a GPU-hour, and the price of delay if one is stated, present value",
        value=lambda at, option: at.given.spread(apart(at.result.components[option])[1]),
        inputs=_SIZE,
        central="mean",
        parts=lambda at, option: parts_of(at.result.components[option])[1].parts,
    ),
    PairSpec(
        "tco[cause][option]",
        "usd",
        label=lambda at, cause, option: f"{at.result.labels[cause]}: {at.names[option]}",
        rule="mean over the outcomes of the present value over the horizon",
        value=lambda at, cause, option: at.result.components[option][cause],
        inputs=lambda _, cause, __: (*_SIZE, *LINKS) if cause == "site_links" else _SIZE,
        central="mean",
    ),
    EachSpec(
        "tco.useful[option]",
        "share",
        label=lambda at, option: f"Share of GPU time that does work: {at.names[option]}",
        rule="mean over the outcomes of the product of what slow servers, faults of GPUs and hosts, checkpoints, start-up, network traffic, stalls and network faults leave",
        value=lambda at, option: at.result.useful_share[option],
        inputs=_SIZE,
        central="mean",
    ),
)


def _everything(at: CostFigures) -> frozenset[str]:
    return inputs_of(at.result.difference.draws) | set(_SIZE)


_DIFFERENCE = (
    Spec(
        "tco.difference",
        "usd",
        label=lambda at: f"Total cost of {at.names[at.result.rival]} less that of {at.choice}",
        rule="mean over the same outcomes of the difference of total costs, present value; its causes add up to it",
        value=lambda at: at.result.difference.draws,
        inputs=_everything,
        central="mean",
        parts=lambda at: parts_of(at.result.difference.parts),
        compares=lambda at: at.compared,
    ),
    EachSpec(
        "tco.part[differing]",
        "usd",
        label=lambda at, cause: f"{at.result.labels[cause]}: {at.pair}",
        rule="mean over the same outcomes of the difference in this cause",
        value=lambda at, cause: at.result.difference.parts[cause],
        inputs=_SIZE,
        central="mean",
    ),
)

_VALUED = {
    "amortised": "cost of a useful GPU-hour with the option for which it is lowest, the same for all options",
    "market": "the rent: of the offer advised, or the market's where there is none",
    "stated": "as the params state it",
}
_HOURS = (
    Spec(
        "tco.gpu_hour_value",
        "usd/gpu-hour",
        label="Value of a lost GPU-hour",
        rule=lambda at: _VALUED[at.result.common.value_basis],
        value=lambda at: at.result.common.gpu_hour_value,
        central="mean",
        when=lambda at: at.result.common.gpu_hour_value is not None,
    ),
    EachSpec(
        "tco.usd_per_useful_gpu_hour[option]",
        "usd/gpu-hour",
        label=lambda at, option: f"Cost of a useful GPU-hour: {at.names[option]}",
        rule="mean over the outcomes of the cost without the charge for lost time ÷ useful GPU-hours, both discounted",
        value=lambda at, option: at.result.useful_hour[option],
        inputs=_SIZE,
        central="mean",
    ),
)


_RENTING = (
    EachSpec(
        "tco.worth_less[hired]",
        "usd/gpu-hour",
        label=lambda at, option: f"How much cheaper an hour on {at.names[option]} must be than on {at.choice}",
        rule="rent × (1 − ratio of useful shares)",
        value=lambda at, option: at.result.worth_per_gpu_hour[at.result.choice] - at.result.worth_per_gpu_hour[option],
        inputs=lambda at, option: inputs_of(at.result.worth_per_gpu_hour[option]),
        central="mean",
    ),
)

_RENT_INSTEAD = (
    Spec(
        "tco.rent_per_useful_gpu_hour",
        "usd/gpu-hour",
        label="Cost of a useful GPU-hour when renting the same work",
        rule=lambda at: f"mean of market price ÷ useful share on the network of {at.choice}, already stable",
        value=lambda at: at.owned.rent_useful_hour,
        central="mean",
        when=lambda at: at.owns,
    ),
    Spec(
        "tco.break_even_rent",
        "usd/gpu-hour",
        label="Rental price at which renting costs as much as owning",
        rule="mean of the cost of a useful GPU-hour when owning × useful share of a rented, stable network",
        value=lambda at: at.owned.break_even_rent,
        central="mean",
        when=lambda at: at.owns,
    ),
    Spec(
        "tco.break_even_utilisation",
        "share",
        label="Share of the owned hours that must be used for owning to cost no more than renting",
        rule="mean cost of a useful GPU-hour when owning ÷ mean cost when renting",
        value=lambda at: at.result.useful_hour[at.result.choice] / np.mean(at.owned.rent_useful_hour),
        digits=2,
        central="mean",
        when=lambda at: at.owns,
    ),
)

FIGURES = Declaration(
    "tco",
    (*_TOTALS, *_DIFFERENCE, *_HOURS, *_RENTING, *_RENT_INSTEAD, *PAIR_SPECS, *FABRIC_SPECS),
    {
        "option": Index(lambda at: at.result.totals),
        "cause": Index(lambda at: at.result.labels, tuple(CAUSES)),
        "differing": Index(lambda at: at.result.difference.parts, DIFFERING),
        "hired": Index(lambda at: at.result.totals if at.rents else ()),
        **FABRIC_INDEXES,
    },
)
"""Every figure of the section."""
