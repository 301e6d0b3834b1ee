"""The figures of what runs: the sizes of the jobs and their shares, and the batch of a step."""

from __future__ import annotations

from fabricreport.figures import Index
from fabricreport.models.training.step import TrainingStep
from fabricreport.sections.client import SHARED_JOBS, fabric_gpus, shared_cluster
from fabricreport.sections.latency.figure_context import EachSpec, LatencyFigures, Spec
from fabricreport.sections.latency.inputs import SPARED
from fabricreport.sections.sites import GBITS_PER_TBIT, LINKS, gbits_per_gpu, site_gbits_per_s, sites_in_use

_SIZE = ("param:cluster.gpus", "param:cluster.sites", "param:workload.jobs")


def _sources(at: LatencyFigures) -> tuple[str, ...]:
    """What the sizes of the jobs rest on."""
    return (*_SIZE, *SHARED_JOBS.values()) if shared_cluster(at.given) else _SIZE


def _batch(at: LatencyFigures) -> float:
    step = at.result.steps[at.result.pair[0].id]
    return float(step.batch_tokens) if isinstance(step, TrainingStep) else 0.0


def _sites(at: LatencyFigures) -> int:
    cluster = at.given.params.cluster
    return sites_in_use(cluster, cluster.final_gpus)


def _site_rate(at: LatencyFigures) -> float:
    cluster = at.given.params.cluster
    return site_gbits_per_s(cluster, gbits_per_gpu(cluster, at.result.pair[0])) / GBITS_PER_TBIT


def _trains(at: LatencyFigures) -> bool:
    return _batch(at) > 0.0


def _nodes(at: LatencyFigures) -> int:
    return at.result.job.gpus // int(at.given.params.cluster.gpus_per_node)


def _spares(at: LatencyFigures) -> bool:
    return at.result.job.spare_nodes > 0


JOB_SPECS = (
    Spec(
        "latency.job_gpus",
        "gpus",
        label="GPUs of the largest job at the start",
        rule="as stated, or all GPUs that one network joins, or the largest size of a shared cluster that finds room",
        value=lambda at: float(at.result.job.gpus),
        inputs=_sources,
        digits=6,
    ),
    Spec(
        "latency.network_gpus",
        "gpus",
        label="GPUs of the fullest site at the start",
        rule="sites are filled one after the other",
        value=lambda at: float(fabric_gpus(at.given, int(at.given.params.cluster.gpus))),
        inputs=_SIZE[:2],
        digits=6,
    ),
    Spec(
        "latency.site_gpus",
        "gpus",
        label="GPUs that one site holds when all are full",
        rule="GPUs at the end ÷ sites, in whole servers",
        value=lambda at: float(at.given.params.cluster.site_gpus),
        inputs=("param:cluster.gpus", "param:cluster.sites", "param:cluster.trajectory"),
        digits=6,
    ),
    Spec(
        "latency.sites",
        "count",
        label="Sites that one network joins when all are full",
        rule="GPUs at the end ÷ GPUs of a site, rounded up",
        value=_sites,
        inputs=_SIZE[:2],
        when=lambda at: _sites(at) > 1,
    ),
    Spec(
        "latency.site_rate",
        "tbits/s",
        label=lambda at: f"Rate each way between a site and the others, {at.base}",
        rule="as stated, else (sites − 1) ÷ sites of what a site's GPUs send ÷ oversubscription",
        value=_site_rate,
        inputs=(LINKS[1], *_SIZE[:2], "param:cluster.oversubscription"),
        digits=3,
        when=lambda at: _sites(at) > 1,
    ),
    Spec(
        "latency.job_nodes",
        "node",
        label="Nodes of the largest job at the start",
        rule="GPUs of the job ÷ GPUs of a node",
        value=lambda at: float(_nodes(at)),
        inputs=(*_SIZE, "param:cluster.gpus_per_node"),
        digits=6,
        when=_spares,
    ),
    Spec(
        "latency.plan_nodes",
        "node",
        label="Nodes that its plan uses",
        rule="nodes of the job − hot spares",
        value=lambda at: float(_nodes(at) - at.result.job.spare_nodes),
        inputs=lambda at: (*at.profile, *SPARED),
        digits=6,
        when=_spares,
    ),
    Spec(
        "latency.spare_nodes",
        "node",
        label="Nodes of the largest job that stand by, hot spares",
        rule="what the plan with most work done leaves out: tokens a second on a tuned network × time that no fault waits for "
        "a node, of the numbers tried",
        value=lambda at: float(at.result.job.spare_nodes),
        inputs=lambda at: (*at.profile, *SPARED),
        digits=6,
        when=_spares,
    ),
    Spec(
        "latency.batch",
        "tokens",
        label="Tokens in the batch of a step",
        rule="line in logarithms through the batches of published runs, at the GPUs of the job; no less than the model's "
        "own publication names",
        value=_batch,
        inputs=("param:cluster.gpus", "param:workload.model_parameters_billion"),
        digits=2,
        when=_trains,
    ),
    EachSpec(
        "latency.job.gpus[job]",
        "gpus",
        label=lambda _, job: f"GPUs of a job, size {job}",
        rule="the size stated or published, where a network has room for it",
        value=lambda _, job: float(job),
        inputs=lambda at, _: _sources(at),
        digits=6,
    ),
    EachSpec(
        "latency.job.share[job]",
        "share",
        label=lambda _, job: f"Share of GPU time in jobs of {job} GPUs at the start",
        rule="as stated, or as published for a shared cluster; what finds no room is added to the largest that does",
        value=lambda at, job: dict(at.result.mix)[int(job)],
        inputs=lambda at, _: _sources(at),
        digits=3,
    ),
    EachSpec(
        "latency.job.exposed[job]",
        "share",
        label=lambda at, job: f"GPU time lost to network traffic in jobs of {job} GPUs: {at.base}",
        rule="as for the whole, of this size alone",
        value=lambda at, job: at.result.by_job[int(job)],
        inputs=lambda at, _: at.profile,
        digits=2,
        central="mean",
    ),
)

JOB_INDEXES = {
    "job": Index[LatencyFigures](lambda at: [str(size) for size, _ in at.result.mix]),
}
