"""Risk models filled from the evidence: which entry feeds which input, for each fabric family and maturity.

`read` turns an evidence id into a value: one array over draws, or a scalar where the entry is known exactly. Nothing
here knows a figure.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fabricreport.errors import InputError, Problem
from fabricreport.models.risk.goodput import BringUp, FabricRisk, MaturityEffect, TopologyEffect, matured
from fabricreport.models.risk.incidents import IncidentLaw
from fabricreport.models.risk.steps import TailLaw

Read = Callable[[str], Any]

FAMILIES = ("infiniband", "rocev2", "tcp")
MATURITIES = ("low", "medium", "high")


def fabric_risk(
    read: Read,
    family: str,
    *,
    option: str = "",
    maturity: str = "medium",
    topology: str = "fat-tree",
    communication_share: Any = 0.0,
    oversubscription: Any = 1.0,
    gpus: int | None = None,
) -> FabricRisk:
    """The risk of one fabric family (infiniband, rocev2, tcp) at one networking maturity (low, medium, high).

    topology: fat-tree, rail-optimised or dragonfly. communication_share: exposed communication over step time.
    gpus: cluster size; weeks to stable and misconfigurations are stated at a reference size (used when None) and
    grow with a power of the size.
    """
    _known("family", family, FAMILIES)
    _known("topology", topology, ("fat-tree", "rail-optimised", "dragonfly"))
    contention = "dragonfly-contention" if topology == "dragonfly" else f"fat-tree-contention-{family}"
    size = 1.0 if gpus is None else complexity(read, gpus)
    risk = FabricRisk(
        option=option or family,
        tail=tail_law(read, family),
        incidents=(*_hardware(read), *_configuration(read, family, size)),
        bring_up=BringUp(read(f"weeks-to-stable-{family}") * size, read("bring-up-productivity")),
        topology=TopologyEffect(
            communication_share, read(contention), oversubscription, read("cross-leaf-traffic-share")
        ),
    )
    return matured(risk, maturity_effect(read, maturity))


def complexity(read: Read, gpus: int) -> Any:
    """Multiplier on weeks to stable and on misconfigurations for a cluster of `gpus`: (gpus / reference)**exponent."""
    size = gpus / np.asanyarray(read("fabric-complexity-reference-gpus"))
    return size ** np.asanyarray(read("fabric-complexity-exponent"))


def tail_law(read: Read, family: str) -> TailLaw:
    """Step-time tail: jitter and slow nodes are common to all fabrics, shared stalls are the family's.

    The kernels' efficiency is set from published step times, which hold the jitter of the runs that were timed, so only
    what a larger cluster adds to it is charged. Slow nodes are charged in full: the operator who says how its times were
    taken had removed them first (MegaScale, section 6.3). Shared stalls are a fabric's own and charged in full too.
    """
    return TailLaw(
        jitter_share=read("step-jitter-share"),
        correlation=read("step-jitter-correlation"),
        slow_node_share=read("slow-node-share"),
        slow_node_penalty=read("slow-node-penalty"),
        slow_node_presence=read("slow-node-presence"),
        shared_stall_share=read(f"shared-stall-share-{family}"),
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


def common_incidents(read: Read) -> tuple[IncidentLaw, ...]:
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
        ),
    )


def _hardware(read: Read) -> tuple[IncidentLaw, ...]:
    rows = (
        ("link-flap", "Link flaps", "link", "link-flaps-per-link-year", "link-flap-interrupts-share"),
        ("optics", "Link and optics failures", "link", "link-failures-per-link-year", "link-failure-interrupts-share"),
        ("switch", "Switch failures", "switch", "switch-failures-per-switch-year", "switch-failure-interrupts-share"),
    )
    return tuple(
        IncidentLaw(
            kind,
            label,
            unit,
            "hardware",
            read(rate),
            interrupts_share=read(share),
            detection_h=read("detection-hours"),
            engineering_h=read("engineering-hours-per-hardware-incident"),
            stop_cv=read("incident-detection-cv"),
            clustering=read("incident-clustering"),
        )
        for kind, label, unit, rate, share in rows
    )


def _configuration(read: Read, family: str, size: Any) -> tuple[IncidentLaw, ...]:
    labels = {
        "rocev2": "PFC storms and PFC, ECN or DCQCN misconfiguration",
        "infiniband": "Routing, service-level or firmware misconfiguration",
        "tcp": "Misconfiguration",
    }
    shared = {
        "detection_h": read("detection-hours"),
        "engineering_h": read("engineering-hours-per-config-fault"),
        "stop_cv": read("incident-detection-cv"),
        "clustering": read("incident-clustering"),
    }
    fault = IncidentLaw(
        "configuration",
        labels[family],
        "cluster",
        "configuration",
        read(f"config-faults-{family}-per-year") * size,
        interrupts_share=read("config-fault-interrupts-share"),
        slow_share=read("config-fault-slowdown"),
        slow_h=read("config-fault-hours-to-find"),
        **shared,
    )
    if family != "infiniband":
        return (fault,)
    manager = IncidentLaw(
        "subnet-manager",
        "Subnet-manager faults",
        "subnet",
        "configuration",
        read("subnet-manager-faults-per-year"),
        slow_share=read("subnet-manager-slowdown"),
        slow_h=read("subnet-manager-slow-hours"),
        **shared,
    )
    return (fault, manager)


def _known(key: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise InputError(Problem("unknown", key=key, value=value, remedy=f"Use one of {', '.join(allowed)}."))
