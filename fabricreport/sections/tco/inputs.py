"""What the total cost rests on, drawn from the case: one set common to all options, one for each option.

Every amount is in the memo's currency. An input that is known exactly is kept as a scalar, which is what makes the
scale sweep cheap; its provenance stays with it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from fabricreport.books.options import Option
from fabricreport.errors import InputError, Problem
from fabricreport.evidence import read_yaml
from fabricreport.models.fabric.cost import PerPiece
from fabricreport.models.money.cashflow import Discounting
from fabricreport.models.money.ownership import Lease, LostTime
from fabricreport.models.money.staffing import StaffRule
from fabricreport.models.sampling import Distribution
from fabricreport.provenance import Traced, plain
from fabricreport.scenario import Reference

if TYPE_CHECKING:
    from fabricreport.case import Case

_HOURS_PER_MINUTE = 1 / 60
Inputs = TypeVar("Inputs")


@dataclass(frozen=True)
class Server:
    """One GPU server of the client's size without its fabric adapters, and what a GPU of it rents for an hour."""

    price: Any
    watts: Any
    rent_per_gpu_hour: Any


@dataclass(frozen=True)
class Common:
    """Inputs that every option shares. Rates are shares a year; money is in the memo's currency.

    `value_basis` says what a lost GPU-hour is worth: `amortised` (what an hour costs this client; `gpu_hour_value` is
    None then), `market` (its rent) or `stated` (the params' figure).
    """

    months: int
    stages: tuple[tuple[int, int], ...]
    gpus_per_node: int
    discounting: Discounting
    server: Server
    server_support: Any
    retention_servers: Any
    retention_fabric: Any
    spares_share: Any
    labour_per_cable: Any
    per_kwh: Any
    pue: Any
    space_per_kw_month: Any
    pay_per_year: Any
    lease: Lease | None
    value_basis: str
    gpu_hour_value: Any
    delay_per_day: Any
    weeks_allowed: float
    run_days: float | None


@dataclass(frozen=True)
class OptionInputs:
    """Inputs of one option: unit prices and watts, terms, people, and the shares of GPU time it loses."""

    prices: PerPiece
    watts: PerPiece
    support: Any
    licence_per_endpoint_year: Any
    system_per_switch_year: Any
    management_servers: Any
    staff: StaffRule
    training: Any
    lost: LostTime
    bring_up_weeks: Any


def stages_of(case: Case) -> tuple[tuple[int, int], ...]:
    """(month, GPUs) of every size within the horizon; a stage at or after its end is not bought any more."""
    cluster, months = case.params.cluster, int(case.params.money.horizon_months)
    return ((0, cluster.gpus), *((s.month, s.gpus) for s in cluster.trajectory if s.month < months))


def drawn(case: Case, input_id: str) -> Traced:
    """Draws of an input; a scalar that still knows where it comes from when every draw is the same."""
    draws = case.sample(input_id)
    values = plain(draws)
    exact: Traced = Traced(values[0], draws.inputs) if values.min() == values.max() else draws
    return exact


def money(case: Case, input_id: str) -> Any:
    """Draws of an amount in the memo's currency; evidence and params are stated in US dollars."""
    amount = drawn(case, input_id)
    return amount if input_id.startswith("price:") else amount * currency_per_usd(case)


def currency_per_usd(case: Case) -> Any:
    """Units of the memo's currency for a dollar, on the same draws that convert the prices."""
    rate = case.prices.rate("USD", str(case.params.money.currency))
    if not rate.inputs:
        return 1.0
    uncertain = Distribution("pert", rate.low, rate.rate, rate.high)
    return Traced(uncertain.quantile(case.sampler.uniforms("+".join(rate.inputs))), set(rate.inputs))


def discounting_of(case: Case) -> Discounting:
    """The params' rate, its kind, and the inflation between the two kinds."""
    return Discounting(
        drawn(case, "param:money.discount_rate_per_year"),
        str(case.params.money.discounting),
        drawn(case, "param:money.inflation_per_year"),
    )


def server_of(case: Case) -> Server:
    """The client's server: the book's price and watts, scaled to its GPUs, less the adapters counted in the fabric."""
    cluster = case.params.cluster
    row = server_row(case)
    share = cluster.gpus_per_node / int(row["gpus"])
    nics = int(row["nics"])
    rent = money(case, row["rent"])
    if rent.ndim == 0 and row["rent"].startswith("price:"):
        rent = rent * drawn(case, "evidence:rent-spread")
    return Server(
        (money(case, row["price"]) - nics * money(case, row["nic_price"])) * share,
        (drawn(case, row["watts"]) - nics * drawn(case, row["nic_watts"])) * share,
        rent,
    )


def server_row(case: Case) -> dict[str, Any]:
    """The references of the client's GPU type in `evidence/servers.yaml`; `InputError` for a type that has no row."""
    rows: dict[str, dict[str, Any]] = {row["gpu"]: row for row in read_yaml("servers")}
    gpu = str(case.params.cluster.gpu)
    if gpu not in rows:
        remedy = f"Take one of {', '.join(rows)}, or add a row for it to fabricreport/evidence/servers.yaml."
        raise InputError(Problem("has no server in the shipped table", key="cluster.gpu", value=gpu, remedy=remedy))
    return rows[gpu]


def utilities(case: Case) -> tuple[str, str]:
    """The ids of what energy costs and of what space costs where the cluster stands."""
    hosted = case.params.money.acquisition == "colocate"
    return "price:electricity", "price:colocation" if hosted else "evidence:site-space-usd-per-kw-month"


def common_inputs(case: Case) -> Common:
    """Everything the options share."""
    terms, organisation = case.params.money, case.params.organisation
    server = server_of(case)
    minutes = drawn(case, "evidence:cabling-minutes-per-cable")
    energy, at_site = utilities(case)
    lease = Lease(drawn(case, "evidence:lease-rate-per-year"), drawn(case, "evidence:lease-residual-share"))
    return Common(
        months=int(terms.horizon_months),
        stages=stages_of(case),
        gpus_per_node=case.params.cluster.gpus_per_node,
        discounting=discounting_of(case),
        server=server,
        server_support=drawn(case, "evidence:support-rate-servers"),
        retention_servers=drawn(case, "evidence:retention-per-year-servers"),
        retention_fabric=drawn(case, "evidence:retention-per-year-fabric"),
        spares_share=drawn(case, "evidence:spares-share"),
        labour_per_cable=minutes * _HOURS_PER_MINUTE * money(case, "evidence:cabling-usd-per-hour"),
        per_kwh=money(case, energy),
        pue=drawn(case, "evidence:pue"),
        space_per_kw_month=money(case, at_site),
        pay_per_year=money(case, "evidence:network-architect-pay") * drawn(case, "evidence:pay-loading"),
        lease=lease if terms.acquisition == "lease" else None,
        value_basis=stated if (stated := str(terms.gpu_hour_value)) in ("amortised", "market") else "stated",
        gpu_hour_value=_gpu_hour_value(case, server),
        delay_per_day=_param_money(case, "price_of_delay_usd_per_day"),
        weeks_allowed=float(organisation.time_to_production_weeks),
        run_days=case.params.workload.run_days,
    )


def _gpu_hour_value(case: Case, server: Server) -> Any:
    """What a lost GPU-hour is worth, or None for the option's own all-in cost of one."""
    stated = case.params.money.gpu_hour_value
    if stated == "market":
        return server.rent_per_gpu_hour
    return None if stated == "amortised" else _param_money(case, "gpu_hour_value")


def _param_money(case: Case, key: str) -> Any:
    """An amount of `money:` in the params; a price it refers to is in the memo's currency already."""
    stated = getattr(case.params.money, key)
    refers = isinstance(stated, Reference) and str(stated).startswith("price:")
    amount = drawn(case, f"param:money.{key}")
    return amount if refers else amount * currency_per_usd(case)


def option_inputs(case: Case, option: Option) -> OptionInputs:
    """Everything that is the option's own."""
    licence, management = option.licence, option.management
    nodes = drawn(case, management.nodes) if isinstance(management.nodes, str) else management.nodes
    tail, name = case.tail(), option.id
    return OptionInputs(
        prices=PerPiece(**{kind: money(case, piece.price) for kind, piece in option.pieces.items()}),
        watts=PerPiece(**{kind: drawn(case, p.watts) for kind, p in option.pieces.items() if p.watts}),
        support=drawn(case, option.support),
        licence_per_endpoint_year=money(case, licence.per_endpoint_year) if licence else 0.0,
        system_per_switch_year=money(case, option.operating_system) if option.operating_system else 0.0,
        management_servers=nodes * money(case, management.node_price) if management.node_price else 0.0,
        staff=_staff_rule(case, option),
        training=_training(case, option),
        lost=LostTime(
            bring_up=tail.bring_up_share[name],
            exposed_communication=case.latency().exposed_share[name],
            tail=tail.tail_share[name],
            interruptions=tail.incident_share[name],
        ),
        bring_up_weeks=tail.bring_up_weeks[name],
    )


def _staff_rule(case: Case, option: Option) -> StaffRule:
    maturity = case.params.organisation.networking_maturity
    return StaffRule(
        drawn(case, "evidence:fabric-fte-small"),
        drawn(case, "evidence:fabric-fte-mid"),
        drawn(case, "evidence:fabric-fte-large"),
        drawn(case, "evidence:fabric-fte-per-1024-gpus-more"),
        drawn(case, f"evidence:fabric-fte-factor-{option.family}-{maturity}"),
    )


def _training(case: Case, option: Option) -> Any:
    """Training of the client's network engineers, unless the team runs this kind of fabric already."""
    organisation = case.params.organisation
    known = {
        "infiniband": organisation.existing_infiniband != "none",
        "rocev2": organisation.qos_expertise == "strong",
    }
    if not option.training or known.get(option.family, False):
        return 0.0
    return money(case, option.training) * drawn(case, "param:organisation.network_engineers")


def thinned(inputs: Inputs, step: int) -> Inputs:
    """The same inputs on every `step`-th draw and without provenance; scalars, counts and names stay."""
    found: Inputs = _mapped(inputs, lambda draws: plain(draws)[::step] if draws.ndim else plain(draws))
    return found


def _mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(value, np.ndarray):
        return change(value)
    if isinstance(value, Mapping):
        return {key: _mapped(item, change) for key, item in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{f.name: _mapped(getattr(value, f.name), change) for f in fields(value)})
    return value
