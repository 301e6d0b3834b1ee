"""Risk models filled from the evidence: which entry feeds which input, for each fabric and maturity.

`read` turns an evidence id into a value: one array over draws, or a scalar where the entry is known exactly. Nothing
here knows a figure.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from fabricreport.base.errors import InputError, Problem
from fabricreport.base.units import SECONDS_PER_HOUR
from fabricreport.models.behaviour import Behaviour
from fabricreport.models.risk.goodput import BringUp, FabricRisk, MaturityEffect, TopologyEffect, luck_of, matured
from fabricreport.models.risk.incidents import IncidentLaw, NodeLoss
from fabricreport.models.risk.tail import TailLaw

Read = Callable[[str], Any]

MATURITIES = ("low", "medium", "high")


@dataclass(frozen=True)
class Effort:
    """Multipliers of who builds and runs a fabric: on weeks to stable, misconfigurations, staff, and tuning.

    `tuning` multiplies what is lost to settings: the gap to tuned bandwidth, contention, and stalls. 1 everywhere is a
    turnkey fabric, run by a team with some skill in it and no estate of its kind. Scalars or arrays over draws.
    """

    bring_up: Any = 1.0
    faults: Any = 1.0
    staff: Any = 1.0
    tuning: Any = 1.0

    def tuned(self, share: Any) -> Any:
        """A share of tuned bandwidth that is reached, with the gap to 1 multiplied."""
        return 1.0 - np.minimum((1.0 - np.asanyarray(share)) * self.tuning, 0.99)


def effort(read: Read, *, operating_model: str = "turnkey", skill: str = "some", estate: str = "none") -> Effort:
    """The effort that a fabric takes: its operating model, the team's skill in what it needs, its estate of the kind.

    operating_model: turnkey, branded or whitebox. skill: none, some or strong. estate: none, some or large. The same
    entries for every family; what a family does not need is passed as `some` or `none`. Skill and estate are one team's
    practice: where both lessen the effort, the one that lessens it more counts alone.
    """
    _known("operating_model", operating_model, ("turnkey", "branded", "whitebox"))
    _known("skill", skill, ("none", "some", "strong"))
    _known("estate", estate, ("none", "some", "large"))
    skilled = 1.0 if skill == "some" else np.asanyarray(read(f"skill-{skill}-effort"))
    settled = 1.0 if estate == "none" else np.asanyarray(read(f"estate-{estate}-effort"))
    team: Any = np.minimum(skilled, settled) * np.maximum(np.maximum(skilled, settled), 1.0)
    if operating_model == "turnkey":
        return Effort(team, team, team, team)
    parts = ("bring-up", "faults", "staff", "tuning")
    return Effort(*(team * np.asanyarray(read(f"operating-model-{operating_model}-{part}")) for part in parts))


def fabric_risk(
    read: Read,
    behaviour: Behaviour,
    *,
    option: str = "",
    operators: MaturityEffect | None = None,
    topology: str = "fat-tree",
    communication_share: Any = 0.0,
    oversubscription: Any = 1.0,
    gpus: int | None = None,
    burden: Any = 1.0,
    takes: Effort | None = None,
    neighbours: bool = False,
) -> FabricRisk:
    """The risk of a fabric that behaves so, run by `operators` of one networking maturity, medium if left out.

    topology: fat-tree, rail-optimised or dragonfly. communication_share: exposed communication over step time.
    gpus: cluster size; weeks to stable and misconfigurations are stated at a reference size (used when None) and
    grow with a power of the size, and with the `burden` of its switches beside those of the reference design. takes: the effort it takes to build and run, 1 everywhere if left out. neighbours:
    whether other jobs share the fabric.
    """
    _known("topology", topology, ("fat-tree", "rail-optimised", "dragonfly"))
    contention = "dragonfly-contention" if topology == "dragonfly" and behaviour.contention else behaviour.contention
    size = (1.0 if gpus is None else complexity(read, gpus)) * burden
    takes = takes or Effort()
    loss = np.minimum(np.asanyarray(read(contention)) * takes.tuning, 0.99) if contention else 0.0
    weeks = read(behaviour.weeks)
    luck = luck_of(weeks, read("weeks-to-stable-luck-share"))
    risk = FabricRisk(
        option=option,
        tail=tail_law(read, behaviour, takes, neighbours=neighbours),
        incidents=(*_hardware(read, behaviour), *_configuration(read, behaviour, size * takes.faults)),
        bring_up=BringUp(weeks * size * takes.bring_up, read("bring-up-productivity"), luck),
        topology=TopologyEffect(communication_share, loss, oversubscription, read("cross-leaf-traffic-share")),
    )
    return matured(risk, operators or MaturityEffect())


def complexity(read: Read, gpus: int) -> Any:
    """Multiplier on weeks to stable and on misconfigurations for a cluster of `gpus`: (gpus / reference)**exponent."""
    size = gpus / np.asanyarray(read("fabric-complexity-reference-gpus"))
    return size ** np.asanyarray(read("fabric-complexity-exponent"))


def tail_law(read: Read, behaviour: Behaviour, takes: Effort | None = None, *, neighbours: bool = False) -> TailLaw:
    """Step-time tail: jitter and slow nodes are common to all fabrics, shared stalls are the fabric's and its tuning's.

    Beside `neighbours` a step takes longer for the share of time in which one of them floods the fabric: a stall of all.

    The kernels' efficiency is set from published step times, which hold the jitter of the runs that were timed, so only
    what a larger cluster adds to it is charged. Slow nodes are charged in full: the operator who says how its times were
    taken had removed them first (MegaScale, section 6.3). Shared stalls are a fabric's own and charged in full too.
    """
    stalls = np.asanyarray(read(behaviour.stalls)) * (takes or Effort()).tuning if behaviour.stalls else 0.0
    if neighbours and behaviour.stalls:  # where nothing stalls all, neighbours have no path in common
        longer = np.asanyarray(read(behaviour.neighbours)) * np.asanyarray(read("noisy-neighbour-time-share"))
        stalls = 1.0 - (1.0 - np.minimum(stalls, 0.99)) / (1.0 + longer)
    return TailLaw(
        jitter_share=read("step-jitter-share"),
        correlation=read("step-jitter-correlation"),
        slow_node_share=read("slow-node-share"),
        slow_node_penalty=read("slow-node-penalty"),
        slow_node_presence=read("slow-node-presence"),
        shared_stall_share=np.minimum(stalls, 0.99),
        timed_workers=read("kernel-efficiency-timed-gpus"),
    )


def maturity_effect(read: Read, maturity: str) -> MaturityEffect:
    """Multipliers of a networking maturity; medium is 1 by definition.

    Nothing published is worse than what medium already spans of interruptions from other causes, so low has no more.
    """
    _known("maturity", maturity, MATURITIES)
    if maturity == "medium":
        return MaturityEffect()
    return MaturityEffect(
        config_faults=read(f"maturity-{maturity}-config-faults"),
        hardware_faults=read(f"maturity-{maturity}-hardware-faults"),
        detection=read(f"maturity-{maturity}-detection"),
        bring_up=read(f"maturity-{maturity}-bring-up"),
        common_faults=read("maturity-high-common-faults") if maturity == "high" else 1.0,
        restart=read(f"maturity-{maturity}-detection"),
        checkpoint_write=read(f"maturity-{maturity}-checkpoint-write"),
    )


def node_loss(read: Read, nodes: int, spares: int, effect: MaturityEffect) -> NodeLoss:
    """What a fault that takes one of a job's nodes out costs with `spares` for its place, by operators of a maturity."""
    hours = (np.asanyarray(read(f"node-{part}-hours")) * effect.restart for part in ("repair", "wait"))
    return NodeLoss(nodes, spares, read("node-fault-share"), *hours)


def common_incidents(read: Read, nodes: NodeLoss | None = None) -> tuple[IncidentLaw, ...]:
    """Interruptions the fabric does not cause (GPU, memory, host, software): the same for every option."""
    return (
        IncidentLaw(
            "common",
            "GPU, host and software faults",
            "gpu",
            "common",
            read("common-interruptions-per-gpu-year"),
            detection_h=read("detection-hours"),
            stop_cv=read("incident-detection-cv"),
            clustering=read("incident-clustering"),
            nodes=nodes,
        ),
    )


def _hardware(read: Read, behaviour: Behaviour) -> tuple[IncidentLaw, ...]:
    """Links and switches that fail: some failures end the job, the others stop it until traffic flows another way."""
    rows = (
        ("link-flap", "Link flaps", "link", "link-flaps-per-link-year", behaviour.link_flap),
        ("optics", "Link and optics failures", "link", "link-failures-per-link-year", behaviour.link_failure),
        ("switch", "Switch failures", "switch", "switch-failures-per-switch-year", "switch-failure-interrupts-share"),
    )
    reroute_h = np.asanyarray(read(behaviour.reroute)) / SECONDS_PER_HOUR
    return tuple(
        IncidentLaw(
            kind,
            label,
            unit,
            "hardware",
            read(rate),
            interrupts_share=read(share),
            detection_h=read("detection-hours"),
            slow_share=1.0,
            slow_h=(1.0 - np.asanyarray(read(share))) * reroute_h,
            engineering_h=read("engineering-hours-per-hardware-incident"),
            stop_cv=read("incident-detection-cv"),
            clustering=read("incident-clustering"),
        )
        for kind, label, unit, rate, share in rows
    )


def _configuration(read: Read, behaviour: Behaviour, times: Any) -> tuple[IncidentLaw, ...]:
    if not behaviour.config_faults:
        return ()
    shared = {
        "detection_h": read("detection-hours"),
        "engineering_h": read("engineering-hours-per-config-fault"),
        "stop_cv": read("incident-detection-cv"),
        "clustering": read("incident-clustering"),
    }
    fault = IncidentLaw(
        "configuration",
        behaviour.config_label,
        "cluster",
        "configuration",
        read(behaviour.config_faults) * times,
        interrupts_share=read("config-fault-interrupts-share"),
        slow_share=read("config-fault-slowdown"),
        slow_h=read("config-fault-hours-to-find"),
        **shared,
    )
    if not behaviour.manager:
        return (fault,)
    manager = IncidentLaw(
        "subnet-manager",
        "Subnet-manager faults",
        "subnet",
        "configuration",
        read(f"{behaviour.manager}-faults-per-year"),
        slow_share=read(f"{behaviour.manager}-slowdown"),
        slow_h=read(f"{behaviour.manager}-slow-hours"),
        **shared,
    )
    return (fault, manager)


def _known(key: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise InputError(Problem("unknown", key=key, value=value, remedy=f"Use one of {', '.join(allowed)}."))
