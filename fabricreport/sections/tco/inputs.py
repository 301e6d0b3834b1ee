"""What the total cost rests on, drawn from the case: one set common to all options, one for each option, with licences and links between sites.

One rule for every fabric. As far as modules of two kilometres reach, a switch speaks to a switch over the owner's own
fibre, a pair to a link. Beyond, light is coherent and a gateway buffers what is on its way (InfiniBand's credits and
Ethernet's pauses both end at a switch's own buffer): over leased fibre, many waves to a pair, then over leased waves.

Every amount is in the memo's currency. An input that is known exactly is kept as a scalar, which is what makes the
scale sweep cheap; its provenance stays with it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, TypeVar

import numpy as np

from fabricreport.base.provenance import plain
from fabricreport.base.units import MONTHS_PER_YEAR
from fabricreport.base.vocabulary import Charge, Side, Sold
from fabricreport.books.options import Licence, Option
from fabricreport.inputs.inputs import Inputs
from fabricreport.inputs.options import burden
from fabricreport.models.fabric.bill import PerPiece
from fabricreport.models.money.cashflow import Discounting
from fabricreport.models.money.ownership import COMMON, Lease, LostTime, StaffRule
from fabricreport.sections.arrivals import Arrival, arrival_of
from fabricreport.sections.client import discounting_of, gpu_type, stages_of
from fabricreport.sections.rents import ASSUMED
from fabricreport.sections.tail_risk.inputs import Losses


@dataclass(frozen=True)
class Charged:
    """What a licence costs a year for one endpoint or switch, and the GPUs above which it is in the bill; inf: at no size."""

    per_year: Any
    above_gpus: Any

    def at(self, gpus: int) -> Any:
        """Whether it is in the bill of a fabric of so many GPUs."""
        return np.asanyarray(self.above_gpus) < gpus

    def counted(self, gpus: int) -> bool:
        """Whether it is so in any draw."""
        return bool(np.any(self.at(gpus)))

    def usd_per_year(self, pieces: int, gpus: int) -> Any:
        """What so many endpoints or switches cost a year."""
        return pieces * self.at(gpus) * np.asanyarray(self.per_year)


NEVER = Charged(0.0, math.inf)
"""A licence that no bill holds."""


def manager_of(given: Inputs, option: Option) -> Charged:
    """The licence of an option's manager as the client has it charged."""
    return charged(given, option.licence, given.params.money.manager_licence)


def system_of(given: Inputs, option: Option) -> Charged:
    """The licence of its switches' system, likewise."""
    return charged(given, option.operating_system, given.params.money.switch_system_licence)


def charged(given: Inputs, licence: Licence | None, charge: str) -> Charged:
    """A licence by the one rule; what nobody sells costs nothing."""
    above = above_gpus(given, licence, charge)
    if licence is None or above is NEVER.above_gpus:
        return NEVER
    return Charged(given.money(licence.per_year) if licence.per_year else 0.0, above)


def above_gpus(given: Inputs, licence: Licence | None, charge: str) -> Any:
    """The GPUs above which a licence is in the bill: what is charged is so at any size, and what is left out at none. As
    sold, it is where makers list it apart."""
    if licence is None or charge == Charge.LEFT_OUT:
        return NEVER.above_gpus
    if charge == Charge.CHARGED:
        return 0.0
    if licence.sold == Sold.INCLUDED:
        return NEVER.above_gpus
    return given.value(licence.above_gpus) if licence.above_gpus else 0.0


SITE_OPTICS, SITE_GATEWAYS = "optics between sites", "gateways between sites"
SITE_FIBRE, SITE_LEASE = "fibre between sites", "leases between sites"
CAMPUS_KM, METRO_KM = "evidence:site-campus-km", "evidence:site-metro-km"


@dataclass(frozen=True)
class SiteLinkPrices:
    """Prices in the memo's currency: of a module and a gateway's port at each end, of the fibre of a link, and of what is
    leased for it by the month. `watts` of each end."""

    optic: Any
    gateway: Any
    fibre: Any
    lease_per_month: Any
    watts: Any

    def capex_usd(self, ports: int) -> dict[str, Any]:
        """What the links with so many ports at their ends cost to buy, by piece."""
        return {
            SITE_OPTICS: ports * self.optic,
            SITE_GATEWAYS: ports * self.gateway,
            SITE_FIBRE: ports / 2 * self.fibre,
        }

    def lease_usd_per_month(self, ports: int) -> Any:
        """What is leased for them, a month."""
        return ports / 2 * self.lease_per_month


def site_link_prices(given: Inputs) -> SiteLinkPrices | None:
    """Prices at the client's distance; None for one site, for sites that are not joined, and for who rents."""
    cluster = given.params.cluster
    if len(cluster.halls(cluster.final_gpus)) == 1 or not cluster.sites_joined or given.team.rented:
        return None
    km, near = given.value("param:cluster.site_distance_km"), given.value("evidence:site-optic-campus-watts")
    if cluster.site_distance_km <= given.central(CAMPUS_KM):
        own = km * given.money("evidence:site-own-fibre-pair-km")
        return SiteLinkPrices(given.money("evidence:site-optic-campus"), 0.0, own, 0.0, near)
    optic, gateway = given.money("evidence:site-optic-metro"), given.money("evidence:site-gateway-port")
    watts = given.value("evidence:site-metro-port-watts")
    if cluster.site_distance_km > given.central(METRO_KM):
        return SiteLinkPrices(optic, gateway, 0.0, given.money("evidence:site-wave-month"), watts)
    pair = given.money("evidence:site-leased-fibre-pair-km-month") / given.value("evidence:site-waves-per-pair")
    return SiteLinkPrices(optic, gateway, 0.0, km * pair, watts)


_HOURS_PER_MINUTE = 1 / 60
Held = TypeVar("Held")


@dataclass(frozen=True)
class Hired:
    """What a GPU-hour costs with an offer: the `hour` as it follows from the inputs."""

    hour: Callable[[Inputs], Any]


@dataclass(frozen=True)
class Server:
    """One GPU server of the client's size without its fabric adapters, and what a GPU of it rents for an hour.

    `hired`: the offer whose price that is; None: the market's. `rents_spread`: how far rents on the market lie apart, over
    their mean. `kept`: the share of a new one's price that it is sold for.
    """

    price: Any
    watts: Any
    rent_per_gpu_hour: Any
    hired: Hired | None = None
    rents_spread: float = 0.0
    kept: Any = 1.0


@dataclass(frozen=True)
class Common:
    """Inputs that every option shares. Rates are shares a year; money is in the memo's currency.

    `value_basis` says what a lost GPU-hour is worth: `amortised` (what an hour costs this client; `gpu_hour_value` is
    None then), `market` (its rent) or `stated` (the params' figure).
    """

    months: int
    stages: tuple[tuple[int, int], ...]
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
    site_links: SiteLinkPrices | None = None


@dataclass(frozen=True)
class OptionInputs:
    """Inputs of one option: unit prices and watts, terms, people, and the shares of GPU time it loses.

    `manager` and `system` are the licences of the fabric's manager and of the switches' system. What is paid does not
    depend on what is lost.
    """

    prices: PerPiece
    watts: PerPiece
    support: Any
    manager: Charged
    system: Charged
    management_servers: Any
    staff: StaffRule
    training: Any
    lost: LostTime
    bring_up_weeks: Any
    arrival: Arrival

    @property
    def production_weeks(self) -> Any:
        """Weeks from the memo's date until it is in production, ordered at once."""
        return self.arrival.production(self.bring_up_weeks)

    def pays_as(self, other: OptionInputs) -> bool:
        """Whether all that is paid for the option rests on the very same objects as in another's inputs."""
        apart = ("lost", "bring_up_weeks", "arrival")
        return all(getattr(self, f.name) is getattr(other, f.name) for f in fields(self) if f.name not in apart)


def server_of(given: Inputs, hired: Hired | None = None) -> Server:
    """The client's server: the book's price and watts, scaled to its GPUs, less the adapters counted in the fabric.

    A used one costs what a new one would have kept of its value by then. Who rents pays the price of the offer advised
    (`hired`), and where there is none the market's.
    """
    cluster = given.params.cluster
    kind = gpu_type(given)
    sold = kind.server
    share = cluster.gpus_per_node / kind.gpus_per_node
    market = market_rent(given)
    taken = hired if given.team.rented else None
    age = cluster.server_age_months
    kept = 1.0 if age is None else given.value("evidence:retention-per-year-servers") ** (age / MONTHS_PER_YEAR)
    return Server(
        (given.money(sold.price) - sold.adapters * given.money(sold.adapter_price)) * share * kept,
        (given.value(sold.watts) - sold.adapters * given.value(sold.adapter_watts)) * share,
        taken.hour(given) if taken else market,
        taken,
        float(np.std(plain(market)) / np.mean(plain(market))),
        kept,
    )


def market_rent(given: Inputs) -> Any:
    """What a GPU-hour is rented for on the market. Who rents asks for a term, so that the rent on demand is less its discount."""
    rented_at = gpu_type(given).server.rent
    rent = given.money(rented_at)
    if rent.ndim == 0 and rented_at.startswith("price:"):
        rent = rent * given.value("evidence:rent-spread")
    return rent * (1.0 - given.value(ASSUMED)) if given.team.rented else rent


def utilities(given: Inputs) -> tuple[str, ...]:
    """The ids of what energy costs where the cluster stands, and of what space costs; own premises are taken as paid for."""
    hosted = given.params.money.acquisition == "colocate"
    return ("price:electricity", "price:colocation") if hosted else ("price:electricity",)


def common_inputs(given: Inputs, hired: Hired | None = None) -> Common:
    """Everything the options share; `hired`: the offer that a renter is advised to take."""
    terms, server = given.params.money, server_of(given, hired)
    minutes = given.value("evidence:cabling-minutes-per-cable")
    energy, *space = utilities(given)
    lease = Lease(given.value("evidence:lease-rate-per-year"), given.value("evidence:lease-residual-share"))
    return Common(
        months=int(terms.horizon_months),
        stages=stages_of(given),
        discounting=discounting_of(given),
        server=server,
        server_support=given.value("evidence:support-rate-servers"),
        retention_servers=given.value("evidence:retention-per-year-servers"),
        retention_fabric=given.value("evidence:retention-per-year-fabric"),
        spares_share=given.value("evidence:spares-share"),
        labour_per_cable=minutes * _HOURS_PER_MINUTE * given.money("evidence:cabling-usd-per-hour"),
        per_kwh=given.money(energy),
        pue=given.value("evidence:pue"),
        space_per_kw_month=given.money(space[0]) if space else 0.0,
        pay_per_year=given.money("evidence:network-architect-pay") * given.value("evidence:pay-loading"),
        lease=lease if terms.acquisition == "lease" else None,
        value_basis=stated if (stated := str(terms.gpu_hour_value)) in ("amortised", "market") else "stated",
        gpu_hour_value=_gpu_hour_value(given, server),
        delay_per_day=given.money("param:money.price_of_delay_usd_per_day"),
        weeks_allowed=given.params.weeks_allowed,
        run_days=given.params.workload.run_days,
        site_links=site_link_prices(given),
    )


def _gpu_hour_value(given: Inputs, server: Server) -> Any:
    """What a lost GPU-hour is worth, or None for the option's own all-in cost of one."""
    stated = given.params.money.gpu_hour_value
    if stated == "market":
        return server.rent_per_gpu_hour
    return None if stated == "amortised" else given.money("param:money.gpu_hour_value")


def option_inputs(given: Inputs, option: Option, exposed: Any, losses: Losses) -> OptionInputs:
    """Everything that is the option's own; `exposed`: its exposed communication as a share of GPU time."""
    management = option.management
    nodes = given.value(management.nodes) if isinstance(management.nodes, str) else management.nodes
    name = option.id
    prices = {kind: given.money(piece.price) for kind, piece in option.pieces.items()}
    if (
        given.params.cluster.optics == "genuine"
    ):  # the switch's own maker's cost a multiple of compatible ones, on any fabric
        genuine = given.value("evidence:optic-genuine-factor")
        prices |= {kind: prices[kind] * genuine for kind in ("node_optic", "switch_optic")}
    return OptionInputs(
        prices=PerPiece(**prices),
        watts=PerPiece(**{kind: given.value(p.watts) for kind, p in option.pieces.items() if p.watts}),
        support=given.value(option.support),
        manager=manager_of(given, option),
        system=system_of(given, option),
        management_servers=nodes * given.money(management.node_price) if management.node_price else 0.0,
        staff=_staff_rule(given, option),
        training=_training(given, option),
        lost=_lost_time(name, exposed, losses),
        bring_up_weeks=losses.weeks[name],
        arrival=arrival_of(given, option),
    )


def with_losses(own: OptionInputs, option: str, exposed: Any, losses: Losses) -> OptionInputs:
    """The same inputs of an option (its id) with other losses; `exposed` as for `option_inputs`."""
    return replace(own, lost=_lost_time(option, exposed, losses), bring_up_weeks=losses.weeks[option])


def _lost_time(option: str, exposed: Any, losses: Losses) -> LostTime:
    return LostTime(
        **{cause: losses.lost[option][cause] for cause in COMMON},
        bring_up=losses.bring_up[option],
        exposed_communication=exposed,
        tail=losses.tail[option],
        interruptions=losses.incidents[option],
    )


def _staff_rule(given: Inputs, option: Option) -> StaffRule:
    """Who looks after the option: the client's team, or a service that is paid for the posts it takes."""
    bought = given.team.bought_in
    network = given.params.cluster.networks(stages_of(given)[-1][1])[0]
    of_switches = burden(given.params, option, network, lambda entry: given.value(f"evidence:{entry}"))
    own = option.behaviour.staff
    factor = given.value(f"evidence:{own}-{given.team.maturity}") if own else 1.0
    return StaffRule(
        given.value("evidence:fabric-fte-small"),
        given.value("evidence:fabric-fte-mid"),
        given.value("evidence:fabric-fte-large"),
        given.value("evidence:fabric-fte-per-1024-gpus-more"),
        factor * of_switches,
        given.effort(option).staff,
        given.value("evidence:fabric-fte-most-apart"),
        given.value("evidence:bought-operations-markup") if bought else 1.0,
        given.value("evidence:bought-operations-own-fte") if bought else 0.0,
    )


def _training(given: Inputs, option: Option) -> Any:
    """Training of the client's network engineers, unless the team runs this kind of fabric already or others run it."""
    organisation = given.params.organisation
    known = {
        Side.INFINIBAND: organisation.existing_infiniband != "none",
        Side.ROCEV2: organisation.qos_expertise == "strong",
    }
    if not option.training or known.get(option.side, False) or given.team.bought_in:
        return 0.0
    return given.money(option.training) * given.value("param:organisation.network_engineers")


def bared(inputs: Held) -> Held:
    """The same without provenance, the draws as they are."""
    found: Held = _mapped(inputs, plain)
    return found


def _mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(value, np.ndarray):
        return change(value)
    if is_dataclass(value) and not isinstance(value, type):  # before mappings: a bill is both
        return replace(value, **{f.name: _mapped(getattr(value, f.name), change) for f in fields(value)})
    if isinstance(value, Mapping):
        return {key: _mapped(item, change) for key, item in value.items()}
    return value
