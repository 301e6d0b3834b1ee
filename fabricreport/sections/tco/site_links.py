"""What links between sites cost: modules and gateways by port, fibre by kilometre, or a wave by month.

One rule for every fabric. As far as modules of two kilometres reach, a switch speaks to a switch over the owner's own
fibre, a pair to a link. Beyond, light is coherent and a gateway buffers what is on its way (InfiniBand's credits and
Ethernet's pauses both end at a switch's own buffer): over leased fibre, many waves to a pair, then over leased waves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fabricreport.inputs import Inputs

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
