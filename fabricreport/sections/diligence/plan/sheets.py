"""The sheets that the seller fills in: which fabrics they are for, and the least headroom of a lossless port."""

from __future__ import annotations

from collections.abc import Mapping

from fabricreport.as_run import links_per_gpu
from fabricreport.books.options import Option
from fabricreport.inputs import Inputs
from fabricreport.sections.client import one_node

BITS_PER_BYTE = 8.0


def ethernets(given: Inputs) -> Mapping[str, Option]:
    """The options compared whose fabric takes skill with PFC, ECN and DCQCN, by id; none where nothing meets a fabric."""
    if one_node(given, int(given.params.cluster.gpus)):
        return {}
    return {o.id: o for o in given.options if o.behaviour.skill}


def managed(given: Inputs) -> Mapping[str, Option]:
    """The options compared that a subnet manager runs, by id."""
    return {o.id: o for o in given.options if o.behaviour.manager}


def port_gbits_per_s(given: Inputs, option: Option) -> float:
    """Line rate of one port: a GPU's links of the option, over its planes."""
    per_link = given.catalogue.fabric(option.fabric, str(given.params.cluster.gpu)).link_gbits_per_s
    links = max(1.0, links_per_gpu(given.params, given.practice, option))
    return links_per_gpu(given.params, given.practice, option) * per_link / links / option.planes


def headroom_bytes(given: Inputs, option: Option) -> float:
    """Bytes on their way after a port has asked for a pause: on the cable there and back, and a packet begun at either end.

    What the switch itself takes to react comes on top, and nobody publishes it.
    """
    metres, delay_ns = (given.central(f"evidence:{i}") for i in ("acceptance-cable-metres", "fibre-delay-ns-per-metre"))
    on_the_cable = 2.0 * metres * delay_ns * port_gbits_per_s(given, option) / BITS_PER_BYTE
    return on_the_cable + 2.0 * given.central("evidence:lossless-packet-bytes")
