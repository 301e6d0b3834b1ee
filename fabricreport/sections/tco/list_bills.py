"""Bills at single list prices, which can be redone by hand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from fabricreport.books.options import Option
from fabricreport.books.prices.currency import Rate
from fabricreport.inputs import Inputs
from fabricreport.models.fabric.cabling import CablePlan, optics_and_cables
from fabricreport.models.fabric.topology import bill_of_materials
from fabricreport.sections.tco.fabric import Build

_ADDED = ("switches", "switch_cost", "optics_cost", "nic_cost")


@dataclass(frozen=True)
class ListBill:
    """One bill at list prices, all optics: no fibre, licence, support, spare or labour. Amounts in the memo's currency.

    `switch_ref` is the price of the switch; a row for each alternative switch of an option follows the option's own.
    `refs` are all the prices used.
    """

    option: str
    switch_ref: str
    switches: int
    switch_each: float
    switch_cost: float
    optics_cost: float
    nic_cost: float
    refs: tuple[str, ...]

    def refs_of(self, what: str) -> tuple[str, ...]:
        """The prices (and exchange rates) that one amount of the row rests on."""
        kinds = {"optics": "price:optic", "nics": "price:nic"}
        if what == "total":
            return self.refs
        if what in kinds:
            return tuple(r for r in self.refs if r.startswith(kinds[what]))
        return tuple(r for r in self.refs if r == self.switch_ref or r.startswith("price:fx-"))

    @property
    def total(self) -> float:
        """Switches, optics and adapters."""
        return self.switch_cost + self.optics_cost + self.nic_cost


def list_bills(given: Inputs, built: Mapping[str, tuple[Build, ...]]) -> tuple[ListBill, ...]:
    """A bill for each option and each alternative switch, at the last stage's size."""
    return tuple(bill for option in given.options for bill in _bills(given, option, built[option.id][-1]))


def _bills(given: Inputs, option: Option, build: Build) -> Iterator[ListBill]:
    """One bill for each switch, sites added up."""
    each = [_of_network(given, option, site) for site in build.sites or (build,)]
    for bills in zip(*each, strict=True):
        totals = {what: sum(getattr(bill, what) for bill in bills) for what in _ADDED}
        yield replace(bills[0], **totals)


def _of_network(given: Inputs, option: Option, build: Build) -> Iterator[ListBill]:
    bom = bill_of_materials(
        build.bom.nodes,
        gpus_per_node=1,
        links_per_gpu=build.bom.links_per_node,
        radix=option.radix,
        planes=build.bom.planes,
        oversubscription=build.bom.oversubscription,
        topology=build.bom.topology,
    )
    cables = optics_and_cables(bom, CablePlan(links_per_cage=option.links_per_cage))
    node, switch_side, nic = (option.pieces[kind].price for kind in ("node_optic", "switch_optic", "nic"))
    optics = cables.node_optics * list_price(given, node) + cables.switch_optics * list_price(given, switch_side)
    for ref in (option.pieces["switch"].price, *option.alternatives.get("switch", ())):
        each = list_price(given, ref)
        yield ListBill(
            option.id,
            ref,
            bom.switches,
            each,
            bom.switches * each,
            optics,
            cables.nics * list_price(given, nic),
            (ref, node, switch_side, nic, *_rate(given, ref).inputs),
        )


def _rate(given: Inputs, ref: str) -> Rate:
    own = given.prices[ref[6:]].currency if ref.startswith("price:") else "USD"
    return given.prices.rate(own, str(given.params.money.currency))


def list_price(given: Inputs, ref: str) -> float:
    """The central price of a piece in the memo's currency, at the central rate of the day."""
    return given.central(ref) * _rate(given, ref).rate
