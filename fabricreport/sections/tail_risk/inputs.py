"""What the risk section rests on, drawn from the case: each option's cluster, planned run and fabric risk.

Every fabric has the same classes of hardware incident at the same draws. A difference between options comes from what
is theirs alone: the rates and times that the evidence states by family, the number of switches, and who tunes. Loss of
bandwidth by oversubscription is charged with latency and loss by path collisions here, so neither is counted twice.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fabricreport.books.options import Option
from fabricreport.durations import SECONDS_PER_DAY
from fabricreport.evidence import read_yaml
from fabricreport.models.fabric.topology import bill_of_materials
from fabricreport.models.risk.entries import common_incidents, fabric_risk, tail_law
from fabricreport.models.risk.goodput import BringUp, FabricRisk, Run, TopologyEffect
from fabricreport.models.risk.incidents import Cluster
from fabricreport.models.risk.steps import TailLaw
from fabricreport.scenario import Reference
from fabricreport.sections.tco.fabric import endpoints_for, shape
from fabricreport.sections.tco.inputs import currency_per_usd, drawn, money, server_row

if TYPE_CHECKING:
    from fabricreport.case import Case

FAMILY = {"infiniband": "infiniband", "rocev2": "rocev2", "ethernet-tcp": "tcp"}
"""An option's family by the name the risk entries use."""
LEVELS = ("low", "medium", "high")
_LEVEL_OF_SKILL = {"none": "low", "some": "medium", "strong": "high"}
_FLOPS_PER_PARAMETER_AND_TOKEN = 6  # forward and backward pass
PROFILE = (
    "param:cluster.gpus",
    "param:organisation.networking_maturity",
    "param:organisation.qos_expertise",
    "param:money.acquisition",
)
"""Params that choose branches here and so leave no mark in the arrays."""


@dataclass(frozen=True)
class Subject:
    """One option as this client would run it at one size: the run that is planned and the fabric's risk.

    tiers: of switches, 0 without a fabric. stall_share: the part of the tail that stops every worker at once.
    """

    option: Option
    run: Run
    risk: FabricRisk
    tiers: int
    stall_share: Any


def reader(case: Case) -> Any:
    """A function from the id of a risk entry to its draws (a scalar where it is known exactly)."""
    return lambda entry: drawn(case, f"evidence:{entry}")


def rented(case: Case) -> bool:
    """Whether the fabric is somebody else's, who tunes and mends it."""
    return bool(case.params.money.acquisition == "rent")


def one_server(case: Case, gpus: int) -> bool:
    """Whether all GPUs sit in one server, so that there is no fabric to fail."""
    return gpus <= int(case.params.cluster.gpus_per_node)


def maturity_of(case: Case, option: Option) -> str:
    """The maturity at which this option would be run.

    The provider's when rented; else the client's, and for RoCEv2 not above the client's skill with PFC, ECN and DCQCN.
    """
    if rented(case):
        return str(case.evidence["rented-fabric-maturity"].value)
    own = str(case.params.organisation.networking_maturity)
    if option.family != "rocev2":
        return own
    skill = _LEVEL_OF_SKILL[str(case.params.organisation.qos_expertise)]
    return min(own, skill, key=LEVELS.index)


def subject(
    case: Case, option: Option, gpus: int, days: float, *, maturity: str = "", communication: Any = None
) -> Subject:
    """The option at a size (GPUs) for a run of `days`, at its own maturity unless one is named.

    communication: exposed communication over the step at that size; the client's own starting size if None.
    """
    cluster, tiers = _cluster(case, option, gpus)
    exposed = case.latency().exposed_share[option.id] if communication is None else communication
    risk = _risk(case, option, gpus, maturity or maturity_of(case, option), exposed if tiers > 1 else 0.0)
    read = reader(case)
    engineer = 0.0 if rented(case) else _engineer_hour(case)
    run = Run(
        cluster,
        days,
        read("restart-hours"),
        read("checkpoint-write-seconds"),
        common_incidents(read),
        gpu_hour_usd=gpu_hour_value(case),
        engineer_hour_usd=engineer,
    )
    stalls = 0.0 if one_server(case, gpus) else read(f"shared-stall-share-{FAMILY[option.family]}")
    return Subject(option, run, risk, tiers, stalls)


def planned_days(case: Case) -> float:
    """Days the run is planned to take: as stated, or from its tokens at the central efficiency of the kernels."""
    stated = case.params.workload.run_days
    return days_of_tokens(case) if stated is None else float(stated)


def days_of_tokens(case: Case) -> float:
    """Days that the run's tokens take at the central efficiency of the kernels, on the GPUs at the start."""
    workload, cluster = case.params.workload, case.params.cluster
    presets = read_yaml("training_presets")
    gpu = presets["gpus"][cluster.gpu]
    tokens = float(workload.tokens_billion or 0.0) * 1e9
    work = _FLOPS_PER_PARAMETER_AND_TOKEN * _active_parameters(case, presets["presets"]) * tokens
    rate = cluster.gpus * gpu["peak_tflops"] * 1e12 * case.central(f"evidence:{gpu['efficiency']}")
    return float(work / rate / SECONDS_PER_DAY)


def _active_parameters(case: Case, presets: Any) -> float:
    """Parameters a token passes through: all of a dense model, the share of the nearest preset for a mixture."""
    billion = float(case.params.workload.model_parameters_billion)
    if case.params.workload.kind != "pretraining-moe":
        return billion * 1e9
    mixtures = [p for p in presets.values() if p["kind"] == "moe"]
    near = min(mixtures, key=lambda p: abs(np.log(p["parameters_billion"] / billion)))
    return billion * 1e9 * float(near["active_parameters_billion"] / near["parameters_billion"])


def gpu_hour_value(case: Case) -> Any:
    """What a lost GPU-hour is worth, in the memo's currency: the client's figure, else what the market asks for one.

    `amortised` is priced at the market's rent here: the option's own cost of an hour is known only once the total
    cost is, and that in turn needs this section.
    """
    stated = case.params.money.gpu_hour_value
    if stated in ("market", "amortised"):
        return money(case, server_row(case)["rent"])
    return param_money(case, "gpu_hour_value")


def param_money(case: Case, key: str) -> Any:
    """An amount of `money:` in the params, in the memo's currency (a price it refers to is so already)."""
    stated = getattr(case.params.money, key)
    refers = isinstance(stated, Reference) and str(stated).startswith("price:")
    amount = drawn(case, f"param:money.{key}")
    return amount if refers else amount * currency_per_usd(case)


def _engineer_hour(case: Case) -> Any:
    yearly = money(case, "evidence:network-architect-pay") * drawn(case, "evidence:pay-loading")
    return yearly / drawn(case, "evidence:engineer-hours-per-year")


def _cluster(case: Case, option: Option, gpus: int) -> tuple[Cluster, int]:
    """What can break at a size, and the tiers of switches."""
    own = case.params.cluster
    if one_server(case, gpus):
        return Cluster(gpus, 0.0, 0.0, 0.0, own.gpus_per_node), 0
    bill = bill_of_materials(endpoints_for(own, option, gpus), **shape(own, option))
    return Cluster(gpus, bill.cables_node_leaf, bill.switches, own.subnets, own.gpus_per_node), bill.tiers


def _risk(case: Case, option: Option, gpus: int, maturity: str, communication: Any) -> FabricRisk:
    read, family = reader(case), FAMILY[option.family]
    if one_server(case, gpus):
        law = replace(tail_law(read, family), shared_stall_share=0.0)
        return FabricRisk(option.id, _paced(case, law), ())
    risk = fabric_risk(
        read,
        family,
        option=option.id,
        maturity=maturity,
        topology=str(case.params.cluster.topology),
        communication_share=communication,
        gpus=gpus,
    )
    bring_up = risk.bring_up
    if rented(case):
        weeks = np.asanyarray(bring_up.weeks) * read("rented-bring-up-factor")
        bring_up = BringUp(weeks, bring_up.productivity)
    topology = TopologyEffect(communication, risk.topology.contention_loss)
    return replace(risk, tail=_paced(case, risk.tail), bring_up=bring_up, topology=topology)


def _paced(case: Case, law: TailLaw) -> TailLaw:
    """The tail as it is where the slowest of all sets the pace; where it does not, workers only lose their own time."""
    if case.params.workload.latency_variance_bound:
        return law
    own = np.asanyarray(law.slow_node_share) * law.slow_node_penalty * law.slow_node_presence
    return TailLaw(0.0, shared_stall_share=np.asanyarray(law.shared_stall_share) + own)
