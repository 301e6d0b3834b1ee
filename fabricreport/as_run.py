"""An option as this client would have it: the team that runs it, what that takes, and on which wires."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fabricreport.books.answer_limits import Links
from fabricreport.books.families import families
from fabricreport.books.options import Option
from fabricreport.models.collectives.catalogue import Catalogue
from fabricreport.models.collectives.timing import Calibration
from fabricreport.models.risk.entries import Effort, effort
from fabricreport.models.training.practice import Practice
from fabricreport.models.training.step import Network
from fabricreport.scenario import Params
from fabricreport.vocabulary import Acquisition, Side

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
