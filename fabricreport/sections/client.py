"""Facts of this client that several sections ask for: sizes, who runs the fabric, what its server and its hours are."""

from __future__ import annotations

from typing import Any

import numpy as np

from fabricreport.books.answer_limits import Links
from fabricreport.books.options import Option
from fabricreport.durations import SECONDS_PER_DAY
from fabricreport.errors import InputError, Problem
from fabricreport.evidence import read_yaml
from fabricreport.inputs import Inputs
from fabricreport.models.collectives.catalogue import Catalogue
from fabricreport.models.money.cashflow import Discounting
from fabricreport.models.training.practice import BILLION
from fabricreport.scenario import Cluster, Params
from fabricreport.vocabulary import Acquisition, Family, Maturity

LEVELS: tuple[str, ...] = tuple(Maturity)
_LEVEL_OF_SKILL = {"none": Maturity.LOW, "some": Maturity.MEDIUM, "strong": Maturity.HIGH}
_FLOPS_PER_PARAMETER_AND_TOKEN = 6  # forward and backward pass


def rented(given: Inputs) -> bool:
    """Whether the fabric is somebody else's, who tunes and mends it."""
    return str(given.params.money.acquisition) == Acquisition.RENT


def one_node(given: Inputs, gpus: int) -> bool:
    """Whether all GPUs share one node, so that no traffic meets a fabric."""
    return gpus <= int(given.params.cluster.gpus_per_node)


def whole_nodes(given: Inputs, gpus: int) -> int:
    """The size in whole nodes; a part of a single node stays what it is."""
    per_node = int(given.params.cluster.gpus_per_node)
    return gpus if gpus <= per_node else per_node * -(-gpus // per_node)


def stages_of(given: Inputs) -> tuple[tuple[int, int], ...]:
    """(month, GPUs) of every size within the horizon; a stage at or after its end is not bought any more."""
    cluster, months = given.params.cluster, int(given.params.money.horizon_months)
    return ((0, cluster.gpus), *((s.month, s.gpus) for s in cluster.trajectory if s.month < months))


def maturity_of(given: Inputs, option: Option) -> str:
    """The maturity at which this option would be run.

    The provider's when rented; else the client's, and for RoCEv2 not above the client's skill with PFC, ECN and DCQCN.
    """
    own = team_maturity(given)
    if rented(given) or option.family != Family.ROCEV2:
        return own
    skill = _LEVEL_OF_SKILL[str(given.params.organisation.qos_expertise)]
    return min(Maturity(own), skill, key=lambda m: m.rank)


def team_maturity(given: Inputs) -> str:
    """The maturity of those who run the cluster, whatever its fabric: the provider's when rented, else the client's."""
    if rented(given):
        return given.words("rented-fabric-maturity")
    return str(given.params.organisation.networking_maturity)


def server_row(given: Inputs) -> dict[str, Any]:
    """The references of the client's GPU type in `evidence/servers.yaml`; `InputError` if it has no row there."""
    rows: dict[str, dict[str, Any]] = {row["gpu"]: row for row in read_yaml("servers")}
    gpu = str(given.params.cluster.gpu)
    if gpu not in rows:
        remedy = f"Take one of {', '.join(rows)}, or add a row for it to fabricreport/evidence/servers.yaml."
        raise InputError(Problem("has no server in the shipped table", key="cluster.gpu", value=gpu, remedy=remedy))
    return rows[gpu]


def discounting_of(given: Inputs) -> Discounting:
    """The params' rate, its kind, and the inflation between the two kinds."""
    return Discounting(
        given.value("param:money.discount_rate_per_year"),
        str(given.params.money.discounting),
        given.value("param:money.inflation_per_year"),
    )


def market_rent(given: Inputs) -> Any:
    """Market rent of one GPU-hour of the client's type, in the memo's currency: draws or a scalar."""
    return given.money(server_row(given)["rent"])


def planned_days(given: Inputs) -> float:
    """Days the run is planned to take: as stated, or from its tokens at the central efficiency of the kernels."""
    stated = given.params.workload.run_days
    return days_of_tokens(given) if stated is None else float(stated)


def days_of_tokens(given: Inputs) -> float:
    """Days that the run's tokens take at the central efficiency of the kernels, on the GPUs at the start."""
    workload, cluster = given.params.workload, given.params.cluster
    gpu = given.practice.gpu(str(cluster.gpu))
    tokens = float(workload.tokens_billion or 0.0) * 1e9
    work = _FLOPS_PER_PARAMETER_AND_TOKEN * _active_parameters(given) * tokens
    rate = cluster.gpus * gpu.peak_flops * given.central(f"evidence:{gpu.efficiency}")
    return float(work / rate / SECONDS_PER_DAY)


def _active_parameters(given: Inputs) -> float:
    """Parameters a token passes through: all of a dense model, the share of the nearest preset for a mixture."""
    parameters = float(given.params.workload.model_parameters_billion) * BILLION
    if given.params.workload.kind != "pretraining-moe":
        return parameters
    mixtures = [m for m in given.practice.presets.values() if m.kind == "moe"]
    near = min(mixtures, key=lambda m: abs(np.log(m.parameters / parameters)))
    return parameters * near.active / near.parameters


def shape(cluster: Cluster, option: Option) -> dict[str, Any]:
    """Keyword arguments of `bill_of_materials` for this option in the client's topology, sizes apart."""
    own_links = option.links_per_node
    return {
        "gpus_per_node": cluster.gpus_per_node if own_links is None else 1,
        "links_per_gpu": cluster.links_per_gpu if own_links is None else own_links,
        "radix": option.radix,
        "oversubscription": cluster.oversubscription,
        "topology": cluster.topology,
    }


def endpoints_for(cluster: Cluster, option: Option, gpus: int) -> int:
    """The size in the unit that `shape` counts in: GPUs, or servers for an option with links of its own."""
    return gpus if option.links_per_node is None else -(-gpus // cluster.gpus_per_node)


def links_of(params: Params, known: Catalogue) -> Links:
    """The links of the client's cluster, by which a seller's bandwidths are judged possible."""
    cluster = params.cluster
    rack = known.gpu(str(cluster.gpu)).domain_gpus
    return Links(float(cluster.link_gbits_per_s), cluster.links_per_gpu, max(cluster.gpus_per_node, rack))
