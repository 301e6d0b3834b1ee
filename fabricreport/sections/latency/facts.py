"""What the latency study found, named: which sentence of the notebook is true, and the words that its sentences use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum

from fabricreport.base.provenance import plain
from fabricreport.books.names import family_names
from fabricreport.inputs.inputs import Inputs
from fabricreport.ledger.facts import Findings, Name, Named, OptionName, Spoken
from fabricreport.ledger.numbers import FigureOf
from fabricreport.scenario import Params, is_given
from fabricreport.sections.client import gpu_type, shared_cluster
from fabricreport.sections.latency.figures import THRESHOLD
from fabricreport.sections.latency.inputs import TRAINING_KINDS
from fabricreport.sections.latency.result import LatencyResult
from fabricreport.sections.validity import Outside, beyond

TRAFFIC = {
    "data": "gradients and parameters between replicas",
    "experts": "tokens between experts",
    "pipeline": "activations between pipeline stages",
    "tensor": "activations inside layers",
    "halo": "halos between neighbours",
    "reduction": "small sums over all ranks",
    "sites": "sums between sites",
}
"""What each kind of traffic carries."""
SIMULATED = "one domain on each GPU"
_SEEN = 0.0005
"""A gap below it is none as the memo prints it."""


class LatencyFinding(StrEnum):
    """What may be true of a client's latency; those of one group exclude each other."""

    # how the section opens
    OPENS_ONE_NODE = "all GPUs share one node"
    OPENS_INSIDE = "several nodes, and no traffic between them"
    OPENS_HIDDEN = "the gap is small, and so is all that the step waits for"
    OPENS_SMALL = "the gap is small beside what the step waits for"
    OPENS_EXPERTS = "the gap may count, and traffic between experts is what the step waits for"
    OPENS_LONGER = "the gap may count, and RoCEv2 has the longer step on the median"
    OPENS_SHORTER = "the gap may count, and RoCEv2 has no longer step on the median"
    # the step
    TRAFFIC = "something travels between nodes"
    GAP_SEEN = "the median steps of the two differ, as printed, at some size drawn"
    # what runs
    PLAN_CHOSEN = "the plan is chosen by the rule"
    PLAN_GIVEN = "the client states the plan"
    SPARES = "nodes of the largest job stand by"
    BATCH_GROWS = "the batch follows from the GPUs"
    JOB_ONE = "nothing says in what sizes of job, and one takes all GPUs"
    JOBS_STATED = "the client states the sizes of the jobs"
    JOBS_PUBLISHED = "the cluster is shared, and nothing says in what sizes of job"
    SITES_JOINED = "one network joins several sites"
    SITES_APART = "each of several sites has a network of its own"
    RUNS_DIRECT = "the traffic that takes longest goes from GPU to GPU"
    # outside what the model was tried on
    BEYOND = "the model of a step was tried on no such run"
    BEYOND_MIXTURE = "a mixture of experts"
    BEYOND_FEW = "a job on fewer GPUs than any run tried"


F = LatencyFinding


class _Read:
    """A latency result with what its findings and words are made of."""

    def __init__(self, given: Inputs, result: LatencyResult, figure: FigureOf) -> None:
        self.given, self.result, self.figure = given, result, figure
        self.threshold = given.central(THRESHOLD)
        self.penalty = figure("latency.penalty")
        self.infiniband, self.rocev2 = result.pair
        self.means = {o: float(plain(v).mean()) for o, v in result.exposed_now.items()}
        self.base = self.infiniband.id if self.infiniband.id in self.means else next(iter(self.means))
        self.exposed = figure(f"latency.exposed.{self.base}").value

    @property
    def small(self) -> bool:
        """Whether the gap stays below the threshold, on the median and at its P95."""
        most = self.penalty.spread.p95 if self.penalty.spread else self.penalty.value
        return max(abs(self.penalty.value), abs(most)) < self.threshold


def spoken(given: Inputs, result: LatencyResult, figure: FigureOf) -> Spoken:
    """Findings and words of the latency section; `figure` answers with the ledger's numbers."""
    read = _Read(given, result, figure)
    groups = (_opening, _step, _jobs, _sites, _running, _beyond)
    return Spoken(Findings(LatencyFinding, (f for group in groups for f in group(read))), _words(read))


def _opening(read: _Read) -> Iterator[LatencyFinding]:
    if read.result.one_node:
        yield F.OPENS_ONE_NODE
    elif not read.result.traffic:
        yield F.OPENS_INSIDE
    elif read.small:
        yield F.OPENS_HIDDEN if read.exposed < read.threshold else F.OPENS_SMALL
    elif read.result.experts:
        yield F.OPENS_EXPERTS
    else:
        yield F.OPENS_LONGER if read.penalty.value > 0 else F.OPENS_SHORTER


def _step(read: _Read) -> Iterator[LatencyFinding]:
    if read.result.traffic:
        yield F.TRAFFIC
    if abs(read.figure("latency.widest").value) >= _SEEN:
        yield F.GAP_SEEN


def _jobs(read: _Read) -> Iterator[LatencyFinding]:
    params = read.given.params
    if not read.result.traffic:
        return
    if params.workload.jobs:
        yield F.JOBS_STATED
    elif shared_cluster(read.given):
        yield F.JOBS_PUBLISHED
    elif params.workload.parallelism == "choose" and not str(params.workload.kind).startswith("inference"):
        yield F.JOB_ONE
    if read.result.job.kind in TRAINING_KINDS:
        yield F.BATCH_GROWS


def _sites(read: _Read) -> Iterator[LatencyFinding]:
    cluster = read.given.params.cluster
    if len(cluster.halls(cluster.final_gpus)) > 1:
        yield F.SITES_JOINED if cluster.sites_joined else F.SITES_APART


def _running(read: _Read) -> Iterator[LatencyFinding]:
    if not read.result.traffic:
        return
    params = read.given.params
    stated = read.result.job.kind in TRAINING_KINDS and params.workload.parallelism != "choose"
    yield F.PLAN_GIVEN if stated else F.PLAN_CHOSEN
    if read.result.job.spare_nodes:
        yield F.SPARES
    if read.result.traffic[0].algorithm == "direct":
        yield F.RUNS_DIRECT


def _beyond(read: _Read) -> Iterator[LatencyFinding]:
    found = beyond(read.given)
    if found:
        yield F.BEYOND
    named = {Outside.MIXTURE: F.BEYOND_MIXTURE, Outside.FEW: F.BEYOND_FEW}
    yield from (named[one] for one in found if one in named)


# ---- words


def _paced(params: Params) -> bool:
    """Whether the client states that the slowest of all sets the pace."""
    return params.workload.latency_variance_bound and is_given(params, "workload.latency_variance_bound")


def _words(read: _Read) -> Mapping[str, object]:
    """Every word of the section's prose; None where there is none here."""
    result, options = read.result, (*read.given.options, *read.result.pair)
    name = {o.id: OptionName(o.name, o.id, family=Name(family_names(o.family).phrase)) for o in options}
    plan, traffic = result.jobs.own[read.infiniband.id][result.mix[-1][0]].plan, result.traffic
    return {
        "ib": name[read.infiniband.id],
        "roce": name[read.rocev2.id],
        "longer_at_widest": name[(read.rocev2 if read.figure("latency.widest").value > 0 else read.infiniband).id],
        "gpu": Name(gpu_type(read.given).name),
        "plan": Name(plan.text() if plan else SIMULATED),
        "most_in": Named(f"jobs of {result.mix[-1][0]:,} GPUs", str(result.mix[-1][0])),
        "carried": TRAFFIC[traffic[0].kind] if traffic else None,
        "paced": Name("stated") if traffic and _paced(read.given.params) else None,
    }
