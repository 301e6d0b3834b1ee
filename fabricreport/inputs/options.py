"""An option as this client would have it: of which switch it is built, who runs it, what that takes, and on which wires."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fabricreport.base.errors import InputError, OutOfRange
from fabricreport.base.units import HOURS_PER_MONTH
from fabricreport.base.vocabulary import Acquisition, Charge, Side, Sold
from fabricreport.books.answers import Links
from fabricreport.books.equipment import families
from fabricreport.books.options import Option
from fabricreport.books.prices.book import PriceView
from fabricreport.inputs.replacements import InForce
from fabricreport.models.collectives.parameters import Catalogue
from fabricreport.models.collectives.timing import Calibration
from fabricreport.models.fabric.bill import (
    CablePlan,
    Extras,
    PerPiece,
    fabric_capex_usd,
    fabric_watts,
    optics_and_cables,
)
from fabricreport.models.fabric.topology import BillOfMaterials, bill_of_materials
from fabricreport.models.risk.entries import Effort, effort
from fabricreport.models.training.parallel import Practice
from fabricreport.models.training.step import Network
from fabricreport.scenario import Cluster, Params

Value = Callable[[str], Any]


@dataclass(frozen=True)
class Terms:
    """At what a network is weighed against another of the same option: central values, money in the memo's currency.

    They are read off the books and noted by nobody, for they only choose.
    """

    params: Params
    prices_of_day: PriceView
    in_force: Callable[[str], InForce]

    def value(self, input_id: str) -> float:
        """The central value of a price or an entry, in its own unit and currency."""
        return self.in_force(input_id).figure.central

    def amount(self, input_id: str) -> float:
        """The same as money in the memo's currency."""
        found = self.in_force(input_id)
        own, currency = found.currency or "USD", str(self.params.money.currency)
        return self.prices_of_day.convert(found.figure.central, own, currency)

    @property
    def watt_month(self) -> float:
        """What a watt costs in a month, cooling with it."""
        return self.amount("price:electricity") * self.value("evidence:pue") * HOURS_PER_MONTH / 1000

    @property
    def extras(self) -> Extras:
        """Spares, and the labour on a cable."""
        labour = self.value("evidence:cabling-minutes-per-cable") / 60 * self.amount("evidence:cabling-usd-per-hour")
        return Extras(self.value("evidence:spares-share"), labour)

    def prices(self, option: Option) -> PerPiece:
        """What each kind of piece costs."""
        genuine = self.value("evidence:optic-genuine-factor") if self.params.cluster.optics == "genuine" else 1.0
        factor = {"node_optic": genuine, "switch_optic": genuine}
        return PerPiece(**{kind: self.amount(p.price) * factor.get(kind, 1.0) for kind, p in option.pieces.items()})

    def watts(self, option: Option) -> PerPiece:
        """What each kind of piece draws."""
        return PerPiece(**{kind: self.value(piece.watts) for kind, piece in option.pieces.items() if piece.watts})


def shape(cluster: Cluster, option: Option) -> dict[str, Any]:
    """Keyword arguments of `bill_of_materials` for this option in the client's topology, sizes apart."""
    own_links = option.links_per_node
    return {
        "gpus_per_node": cluster.gpus_per_node if own_links is None else 1,
        "links_per_gpu": cluster.links_per_gpu if own_links is None else own_links,
        "radix": option.radix,
        "planes": option.planes,
        "oversubscription": cluster.oversubscription,
        "topology": cluster.topology,
    }


def endpoints_for(cluster: Cluster, option: Option, gpus: int) -> int:
    """The size in the unit that `shape` counts in: GPUs, or servers for an option with links of its own."""
    return gpus if option.links_per_node is None else -(-gpus // cluster.gpus_per_node)


def cable_plan(option: Option, bom: BillOfMaterials, nodes: int, servers_per_rack: int) -> CablePlan:
    """Fibre throughout; passive copper when the servers and the one switch share a rack and the option prices it."""
    one_rack = bom.tiers == 1 and nodes <= servers_per_rack and "dac" in option.pieces
    return CablePlan(node_leaf="dac" if one_rack else "fibre", links_per_cage=option.links_per_cage)


def chosen(option: Option, terms: Terms) -> Option:
    """The option with the switch that is bought for a client; its own for one who rents, or whose GPUs share one node."""
    params = terms.params
    cluster, months = params.cluster, int(params.money.horizon_months)
    stages = [stage.gpus for stage in cluster.trajectory if stage.month < months]
    if is_rented(params) or cluster.final_gpus <= cluster.gpus_per_node:
        return option.ladder[0]
    last, planned = (cluster.networks(gpus)[0] for gpus in ([cluster.gpus, *stages][-1], cluster.final_gpus))
    try:
        found = cheapest(option, last, planned, terms)
    except (LookupError, InputError):  # what no book holds, and what cannot be built, is told of by `sections.faults`
        return option.ladder[0]
    return found[0] if found else max(option.ladder, key=lambda one: one.radix)


def cheapest(option: Option, gpus: int, planned: int, terms: Terms) -> tuple[Option, float] | None:
    """The option built of that switch of its ladder with which the network costs least to buy, power and license, and
    what it costs over the horizon, not discounted; None where no switch holds it.

    `gpus` are those of one network at the last stage that is bought, `planned` those it has to hold. One switch is bought
    for all stages. The taper is what the client allows and tiers are as few as will do: less taper or more tiers never
    cost less. It is chosen at central values, so it does not change with the draw.
    """
    cluster, found = terms.params.cluster, []
    for one in option.ladder:
        if _bill(cluster, one, planned) and (bill := _bill(cluster, one, gpus)):
            found.append((replace(one, tiers=bill.tiers), _cost(one, bill, terms)))
    return min(found, key=lambda pair: pair[1], default=None)


def burden(params: Params, option: Option, gpus: int, value: Value) -> Any:
    """How much harder the network of so many GPUs is to start and keep than the reference design of that size.

    Switches beyond the first (of each plane) times tiers above the first, over those of the reference design, to a power.
    One switch alone has figures of its own, and a rented network is of its owner's size: neither is scaled. `value` gives
    an entry of the evidence, by its id without `evidence:`.
    """
    unscaled = option.one_switch or is_rented(params)
    bill = None if unscaled else _bill(params.cluster, option, gpus)
    if bill is None:
        return 1.0
    more = max(1, (bill.switches - bill.planes) * (bill.tiers - 1))
    of_reference = value("fabric-complexity-reference-switches") * gpus / value("fabric-complexity-reference-gpus")
    return (more / of_reference) ** value("fabric-complexity-exponent")


def _bill(cluster: Cluster, option: Option, gpus: int) -> BillOfMaterials | None:
    """The parts of one network, None beyond what its switches hold."""
    try:
        return bill_of_materials(endpoints_for(cluster, option, gpus), **shape(cluster, option))
    except OutOfRange:
        return None


def _system_price(params: Params, option: Option) -> str:
    """The price of a year of its switches' system where that is in the client's bill, else ''."""
    licence, charge = option.operating_system, Charge(params.money.switch_system_licence)
    if licence is None or charge is Charge.LEFT_OUT or (charge is Charge.AS_SOLD and licence.sold == Sold.INCLUDED):
        return ""
    return licence.per_year


def _cost(option: Option, bill: BillOfMaterials, terms: Terms) -> float:
    """What one network costs to buy and run over the horizon, not discounted."""
    nodes = -(-bill.gpus // terms.params.cluster.gpus_per_node) if option.links_per_node is None else bill.nodes
    cables = optics_and_cables(bill, cable_plan(option, bill, nodes, int(terms.value("evidence:servers-per-rack"))))
    bought = sum(float(part) for part in fabric_capex_usd(bill, cables, terms.prices(option), terms.extras).values())
    watts = sum(float(group) for group in fabric_watts(bill, cables, terms.watts(option)).values())
    price = _system_price(terms.params, option)
    system = terms.amount(price) / 12 if price else 0.0
    monthly = watts * terms.watt_month + bill.switches * system
    return bought + int(terms.params.money.horizon_months) * monthly


RENTED_MATURITY = "rented-fabric-maturity"
"""The entry, in words, for the maturity at which others are taken to run a fabric."""
SHARE = "contested:roce-bandwidth-share"
_CROSSING = "evidence:cross-leaf-traffic-share"


@dataclass(frozen=True)
class Team:
    """Who runs the client's network and its jobs, resolved once.

    `maturity`: of the team that runs a fabric of any kind, that of others who run it, else the client's. `jobs_maturity`: of
    those who run servers and jobs, whose faults no fabric causes: the provider's where the network is rented. `skill`: the
    client's with PFC, ECN and DCQCN. `estates`: how much it runs of networks of InfiniBand's kind, and of any other.
    """

    rented: bool
    bought_in: bool
    maturity: str
    jobs_maturity: str
    skill: str
    estates: tuple[str, str]

    @classmethod
    def of(cls, params: Params, words: Callable[[str], str]) -> Team:
        """The team of a client; `words` gives a fact of the evidence."""
        own, rents = params.organisation, is_rented(params)
        bought_in = own.operations == "bought-in"
        ours = str(own.networking_maturity)
        others = words(RENTED_MATURITY) if rents or bought_in else ours
        estates = str(own.existing_infiniband), str(own.existing_ethernet)
        return cls(rents, bought_in, others, others if rents else ours, str(own.qos_expertise), estates)

    @property
    def others(self) -> bool:
        """Whether a team of others tunes and mends the fabric: it is rented, or its operations are bought in."""
        return self.rented or self.bought_in

    def estate(self, option: Option) -> str:
        """How much the client runs of networks of an option's kind, and runs itself."""
        return "none" if self.others else self.estates[option.side != Side.INFINIBAND]

    def effort(self, option: Option, value: Callable[[str], Any]) -> Effort:
        """What an option takes to build and run: its operating model, and unless others run it the client's skill and estate.

        Skill with PFC, ECN and DCQCN counts where the fabric takes it; an estate counts for the fabrics of its own side.
        Where one switch joins all of a client's own network there is nothing to join, to hash or to balance, and no effort
        differs; each tier of switches above the second is one more choice of path for what settings lose.
        `value` gives an entry of the evidence, by its id without `evidence:`.
        """
        if option.one_switch:
            return Effort()
        skill = "some" if self.others or not option.behaviour.skill else self.skill
        found = effort(value, operating_model=option.operating_model, skill=skill, estate=self.estate(option))
        if option.tiers <= 2:
            return found
        paths = (option.tiers - 1) ** np.asanyarray(value("fabric-complexity-exponent"))
        return replace(found, tuning=found.tuning * paths)


def is_rented(params: Params) -> bool:
    """Whether the fabric is somebody else's, who tunes and mends it."""
    return str(params.money.acquisition) == Acquisition.RENT


def links_per_gpu(params: Params, practice: Practice, option: Option) -> float:
    """Links of the option's fabric class per GPU that give this client's bandwidth."""
    cluster = params.cluster
    links = cluster.links_per_gpu if option.links_per_node is None else option.links_per_node / cluster.gpus_per_node
    rate = option.link_gbits_per_s
    if option.links_per_node is None:
        rate = min(rate, float(cluster.link_gbits_per_s))
    known = practice.collectives.fabric(option.fabric, str(cluster.gpu))
    return float(links * rate / known.link_gbits_per_s)


def wired_as_family(params: Params, practice: Practice, option: Option) -> bool:
    """Whether its time per step and its share of bandwidth are its family's; else its class of fabric says."""
    kind = practice.collectives.fabric(option.fabric, str(params.cluster.gpu)).kind
    return kind == families()[option.family].kinds[0]


def wired(
    params: Params,
    practice: Practice,
    option: Option,
    draw: Callable[[str], Any],
    *,
    tuned: Any = 1.0,
    calibration: Calibration | None = None,
) -> Network:
    """The option's network with every input as `draw` gives it, at a share `tuned` of what it reaches when tuned."""
    behaviour = option.behaviour
    step: Any = None
    share: Any = None
    if wired_as_family(params, practice, option) and not behaviour.step:
        # Where sources say that RoCEv2 carries more, the pair is scaled so that neither exceeds its links.
        step, share = 0.0, tuned * np.minimum(1.0 / draw(SHARE), 1.0)
    elif wired_as_family(params, practice, option):
        step, share = draw(behaviour.step), tuned * np.minimum(draw(behaviour.share), 1.0)
    return Network(
        practice,
        gpu=str(params.cluster.gpu),
        gpus_per_node=int(params.cluster.gpus_per_node),
        fabric=option.fabric,
        links_per_gpu=links_per_gpu(params, practice, option),
        extra_step_us=step,
        bandwidth_share=share,
        calibration=calibration,
        slowdown=_oversubscription(params, draw),
        reduction=draw(f"evidence:{behaviour.reduction}") if behaviour.reduction else 1.0,
    )


def _oversubscription(params: Params, draw: Callable[[str], Any]) -> Any:
    """Factor on the time of traffic between nodes: what crosses the oversubscribed tier takes its ratio longer."""
    ratio = float(params.cluster.oversubscription)
    if ratio <= 1.0:
        return 1.0
    return 1.0 + draw(_CROSSING) * (ratio - 1.0)


def links_of(params: Params, known: Catalogue) -> Links:
    """The links of the client's cluster, by which a seller's bandwidths are judged possible."""
    cluster = params.cluster
    rack = known.gpu(str(cluster.gpu)).domain_gpus
    return Links(float(cluster.link_gbits_per_s), cluster.links_per_gpu, max(cluster.gpus_per_node, rack))
