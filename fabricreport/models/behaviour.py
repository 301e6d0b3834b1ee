"""How a fabric behaves: for each thing the models ask of it, the id of the entry that answers.

A family states them once (`data/families.yaml`), an option those in which it differs (`data/options.yaml`). Ids of
the evidence library stand without their `evidence:`; `step` and `share` are whole input ids, for they may be contested.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Behaviour:
    """Entries by what they answer.

    weeks: until collectives run stably. stalls: share of steps at which all workers stall at once. contention: bandwidth
    lost to collisions of flows. neighbours: how much longer a step takes beside a job that floods the fabric.
    config_faults: misconfigurations a year, told as `config_label`. link_failure, link_flap: share of
    failures and of flaps of a link that end a job. reroute: seconds until traffic flows again after one that does not. reduction: factor on AllReduce between nodes where
    switches add up ('' where they do not). step: microseconds that a NIC-to-NIC step takes above the reference, share:
    part of the reference's bandwidth ('' for both: the fabric is the reference, or its class says). tuning and staff:
    entries less their `-{maturity}` ('' where nothing is tuned). manager: prefix of the entries of a subnet manager's
    faults ('' where there is none). skill: whether it takes skill with PFC, ECN and DCQCN.
    """

    weeks: str
    stalls: str
    contention: str
    neighbours: str
    config_faults: str
    config_label: str
    link_failure: str
    link_flap: str
    reroute: str
    reduction: str
    step: str
    share: str
    tuning: str
    staff: str
    manager: str
    skill: bool

    def changed(self, roles: Mapping[str, str]) -> Behaviour:
        """The same with other entries for some roles."""
        return replace(self, **roles)  # type: ignore[arg-type]

    def on_one_switch(self, planes: int) -> Behaviour:
        """The same where one switch of each plane joins all links, on any fabric with RDMA.

        No path between switches can be congested, hashed badly or wait for credits, no router can be set wrongly, and a
        single link has no other way: what is left are the servers, the links and the adapters.
        """
        none = dict.fromkeys(("stalls", "contention", "config_faults", "tuning", "staff", "manager"), "")
        rerouted = {} if planes > 1 else {"reroute": "flap-stall-seconds"}
        return self.changed({"weeks": "weeks-to-stable-one-switch", **none, **rerouted})
