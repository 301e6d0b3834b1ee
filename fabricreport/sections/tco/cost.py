"""Total cost of one option for the client: owned, leased, colocated or rented, in a few stable causes.

One boundary: servers, fabric, power, space, licences, support, staff and training less residual (or rent), plus lost
GPU time, each lost hour charged once. `CAUSES` are the components every result has; they sum to the total.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from fabricreport.base.provenance import plain
from fabricreport.base.units import DAYS_PER_WEEK
from fabricreport.models.money.ownership import (
    OF,
    CostComponents,
    Purchase,
    Rental,
    Running,
    amortised_gpu_hour_usd,
    charge_lost_time,
    fabric_fte,
    gpu_hours,
    ownership_cost,
    rent_cost,
    slip_days,
)
from fabricreport.sections.tco import fabric
from fabricreport.sections.tco.fabric import Build
from fabricreport.sections.tco.inputs import SITE_FIBRE, SITE_GATEWAYS, SITE_LEASE, SITE_OPTICS, Common, OptionInputs

CAUSES: Mapping[str, str] = {
    "rent": "Rent of the GPUs",
    "servers": "GPU servers without adapters",
    "switches": "Switches",
    "optics_and_cables": "Optics and cables",
    "adapters": "Network adapters",
    "site_links": "Links between sites",
    "spares_and_installation": "Spares, installation, network manager",
    "power_and_cooling": "Power and cooling",
    "space": "Colocation space",
    "licences": "Licences",
    "support": "Support",
    "staff_and_training": "Network staff and training",
    "residual": "Resale value at the end",
    "lost_bring_up": "GPU time lost until stable",
    "lost_communication": "GPU time lost to network traffic",
    "lost_tail": "GPU time lost to stalls and collisions",
    "lost_interruptions": "GPU time lost to network faults",
    "delay": "Price of delay besides GPU time",
    "lost_servers": "GPU time lost on any network: slow servers",
    "lost_faults": "GPU time lost on any network: faults, checkpoints",
}
"""Causes in the order of a bill, with the words a reader sees."""

LOST_CAUSES = ("lost_bring_up", "lost_communication", "lost_tail", "lost_interruptions")
"""Causes of lost time that another network could change."""

COMMON_CAUSES = ("lost_servers", "lost_faults")
"""Causes that no network changes: alike in every bill, and so in no difference."""

TIME_CAUSES = (*LOST_CAUSES, "delay", *COMMON_CAUSES)
"""Causes that nobody is paid for: time of the client's, at what it is worth. All others are cash."""

DIFFERING = tuple(cause for cause in CAUSES if cause not in COMMON_CAUSES)

FABRIC_CAUSES = ("switches", "optics_and_cables", "adapters", "site_links", "spares_and_installation")
"""The causes that make up the fabric's capital."""

QUOTED = (
    *("switches", "optics", "copper and fibre", "adapters", "management servers", "licences", "support of switches"),
    SITE_GATEWAYS,
)
"""Pieces of a bill that sellers of the fabric quote, by the beginning of their names."""

RENT = "rent"
"""The piece of a bill that is the rent of the hours installed."""

_COMMON = ("servers", "residual", "delay", "lost: ")
"""Pieces of a bill that are no purchase and no running of a network, by the beginning of their names."""

_GROUPS: Mapping[str, tuple[str, ...]] = {
    "optics_and_cables": ("optics", "copper and fibre"),
    "site_links": (SITE_OPTICS, SITE_GATEWAYS, SITE_FIBRE, SITE_LEASE),
    "spares_and_installation": ("spares", "installation", "management servers"),
    "power_and_cooling": ("power", "cooling"),
    "space": ("colocation",),
    "staff_and_training": ("staff", "training"),
    "lost_bring_up": ("lost: bring-up",),
    "lost_communication": ("lost: exposed communication",),
    "lost_tail": ("lost: tail",),
    "lost_interruptions": ("lost: interruptions",),
    "lost_servers": ("lost: servers",),
    "lost_faults": ("lost: faults", "lost: checkpoints"),
}


def purchases(builds: Sequence[Build], option: OptionInputs, common: Common) -> tuple[Purchase, ...]:
    """What is bought at each stage: the difference between what stands after it and what stood before."""
    bought = []
    before: dict[str, Any] = {}
    watts_before: dict[str, Any] = {"servers": 0.0, "fabric": 0.0}
    licences_before, nodes_before = 0.0, 0
    for build in builds:
        standing = fabric.capex(build, option, common)
        watts = {
            "servers": build.nodes * common.server.watts,
            "fabric": sum(fabric.watts(build, option, common).values()),
        }
        licences = fabric.licences_per_year(build, option)
        parts = {name: value - before.get(name, 0.0) for name, value in standing.items()}
        parts["servers"] = (build.nodes - nodes_before) * common.server.price
        bought.append(
            Purchase(build.month, parts, {g: w - watts_before[g] for g, w in watts.items()}, licences - licences_before)
        )
        before, watts_before, licences_before, nodes_before = standing, watts, licences, build.nodes
    return tuple(bought)


def staff_per_year(common: Common, option: OptionInputs) -> list[tuple[int, Any]]:
    """(month, yearly cost of the fabric's staff from that month on) at each stage."""
    return [(month, fabric_fte(gpus, option.staff) * common.pay_per_year) for month, gpus in common.stages]


def running(option: OptionInputs, common: Common) -> Running:
    """Running costs of what is owned; the staff, which grows by stage, is added by `own_cost`.

    Adapters sit in the servers and are supported with them, used servers at what support of new ones costs; optics and cables have spares instead of support.
    """
    fabric_keeps = common.retention_fabric
    linked = common.site_links is not None
    return Running(
        usd_per_kwh=common.per_kwh,
        pue=common.pue,
        support_per_year={
            "switches": option.support,
            "servers": common.server_support / common.server.kept,
            "adapters": common.server_support,
            **({SITE_GATEWAYS: option.support} if linked else {}),
        },
        retention_per_year={
            "servers": common.retention_servers,
            "switches": fabric_keeps,
            "optics": fabric_keeps,
            "adapters": fabric_keeps,
            **({SITE_OPTICS: fabric_keeps, SITE_GATEWAYS: fabric_keeps} if linked else {}),
        },
        training_usd=option.training,
        colocation_usd_per_kw_month=common.space_per_kw_month,
    )


def own_cost(builds: Sequence[Build], option: OptionInputs, common: Common) -> CostComponents:
    """Present value of owning (or leasing) and running one option, before lost time."""
    costs = ownership_cost(
        purchases(builds, option, common),
        running(option, common),
        months=common.months,
        discounting=common.discounting,
        lease=common.lease,
    )
    staff: Any = 0.0
    paid: Any = 0.0
    for month, per_year in staff_per_year(common, option):
        staff = staff + common.discounting.level((per_year - paid) / 12, common.months, after=month)
        paid = per_year
    return CostComponents({**costs, "staff": staff, **_site_lease(builds, common)})


def _site_lease(builds: Sequence[Build], common: Common) -> dict[str, Any]:
    """Present value of the fibre or the waves leased between sites, from the stage on that joins them."""
    if common.site_links is None:
        return {}
    value: Any = 0.0
    before = 0
    for build in builds:
        more = common.site_links.lease_usd_per_month(build.site_ports - before)
        value, before = value + common.discounting.level(more, common.months, after=build.month), build.site_ports
    return {SITE_LEASE: value}


def hours_of(common: Common) -> Any:
    """Installed GPU-hours of each month."""
    return gpu_hours(common.stages, common.months)


def cash_bill(builds: Sequence[Build], option: OptionInputs, common: Common, *, rent: bool) -> CostComponents:
    """What is paid for one option, before any lost time: owning it, or the rent of the hours installed.

    Rent is that of a contract for the term, whoever asks it, and does not move with prices in general.
    """
    if not rent:
        return own_cost(builds, option, common)
    return CostComponents({"rent": rented_hours(common) * common.server.rent_per_gpu_hour})


def rented_hours(common: Common) -> Any:
    """Present worth of the GPU-hours installed, each paid at the price of a contract."""
    return common.discounting.present_value(hours_of(common), terms="fixed")


def useful_hour_usd(cash: CostComponents, option: OptionInputs, common: Common) -> Any:
    """Cost of one useful GPU-hour: what is paid over the useful hours, both discounted; of a rent in the contract's money.

    The lost time is in the denominator, so the figure does not depend on the value given to a lost hour.
    """
    terms = "fixed" if "rent" in cash else "today"
    return amortised_gpu_hour_usd(cash, option.lost, hours_of(common), common.discounting, terms)


def common_hour_value(
    bills: Mapping[str, CostComponents], inputs: Mapping[str, OptionInputs], common: Common
) -> Common:
    """The same inputs with a value for a lost GPU-hour where it is the client's own cost (`amortised`).

    One value for all options, the cheapest one's cost of a useful hour: an hour lost is the same hour whichever fabric
    loses it, so equal losses cancel and no option is charged twice for being dear.
    """
    if common.gpu_hour_value is not None:
        return common
    hours = {o: useful_hour_usd(bill, inputs[o], common) for o, bill in bills.items()}
    return replace(common, gpu_hour_value=hours[min(hours, key=lambda o: float(np.mean(plain(hours[o]))))])


def full_bill(cash: CostComponents, option: OptionInputs, common: Common, *, rent: bool) -> CostComponents:
    """The bill with lost GPU time charged once: at the client's value of an hour, or by the hours rented beyond.

    A renter pays for the hours the work takes. Where the client values an hour at a figure of its own instead, the
    lost hours are charged at that.
    """
    hours = hours_of(common)
    if rent and common.value_basis != "stated":
        offer = Rental(common.server.rent_per_gpu_hour)
        return rent_cost(offer, option.lost, hours, common.discounting)
    return charge_lost_time(cash, option.lost, hours, common.gpu_hour_value, common.discounting)


def delay_days(option: OptionInputs, common: Common) -> Any:
    """Days by which the first result is later: production after the client's date, and what the network adds to the first run."""
    late = np.maximum(np.asanyarray(option.production_weeks) - common.weeks_allowed, 0.0) * DAYS_PER_WEEK
    lost = option.lost
    if common.run_days is None:
        return late
    on_any = common.run_days / lost.useful_on_any
    return late + slip_days(1 - lost.running.useful_of_network, on_any)


def as_counted(own: Mapping[str, OptionInputs], common: Common) -> Common:
    """The same inputs with the price of a day of delay as the bills have it of one week more: nothing of a week before the date."""
    if not np.any(np.asarray(common.delay_per_day) > 0):
        return common
    beyond = [np.clip(1.0 + np.asanyarray(o.production_weeks) - common.weeks_allowed, 0.0, 1.0) for o in own.values()]
    share: Any = sum(np.mean(weeks) for weeks in beyond) / len(beyond)
    return replace(common, delay_per_day=common.delay_per_day * share)


def with_delay(bill: CostComponents, option: OptionInputs, common: Common) -> CostComponents:
    """A full bill with the price of delay, if there is one."""
    if not np.any(np.asarray(common.delay_per_day) > 0):
        return bill
    return bill.plus({"delay": delay_days(option, common) * common.delay_per_day})


def network_pieces(parts: Mapping[str, Any]) -> dict[str, Any]:
    """The pieces of a bill that buy and run the network itself: no server, nothing lost, nothing sold again.

    A renter's rent buys both, the network in it.
    """
    return {n: v for n, v in parts.items() if not n.startswith(_COMMON) and not n.endswith(f"{OF}servers")}


def by_cause(parts: Mapping[str, Any]) -> dict[str, Any]:
    """Parts of a bill (or of a difference of two) in the causes that a reader sees."""
    grouped = CostComponents(parts).grouped(_GROUPS)
    return {cause: grouped[cause] for cause in CAUSES if cause in grouped}


def cause_of(name: str) -> str:
    """The cause that a piece of a bill goes to; a piece that no bill of options has keeps its name."""
    return next(iter(CostComponents({name: np.zeros(())}).grouped(_GROUPS)))
