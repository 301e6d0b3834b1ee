"""The figures of the latency section: what each option exposes, its step, its bandwidth, the gap, the jobs, the logs.

What each is called and rests on stands in `figures.yaml`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from fabricreport.base.provenance import inputs_of
from fabricreport.books.names import whole_names
from fabricreport.ledger.facts import OptionName
from fabricreport.ledger.figures import Declaration, Footing, Index, figure
from fabricreport.models.training.step import TrainingStep
from fabricreport.sections.client import SHARED_JOBS, OptionNames, fabric_gpus, shared_cluster
from fabricreport.sections.latency import inputs
from fabricreport.sections.latency.measurements import ClientLog
from fabricreport.sections.latency.result import LatencyResult, widest
from fabricreport.sections.sites import GBITS_PER_TBIT, gbits_per_gpu, site_gbits_per_s, sites_in_use

THRESHOLD = "evidence:latency-worth-a-thought"
"""The extra time from which a difference between fabrics matters."""
PARTS = {
    "compute": "compute_s",
    "inside_nodes": "in_node_s",
    "exposed": "exposed_communication_s",
    "bubble": "bubble_s",
    "other": "other_s",
}
"""Parts of a step: the end of the figure's id, and the name in the step."""
_STAGES = ("param:cluster.trajectory", "param:money.horizon_months")
_SIZE = ("param:cluster.gpus", "param:cluster.sites", "param:workload.jobs")


@dataclass(frozen=True)
class LatencyFigures(OptionNames):
    """What the figures of the latency section are made from, and how each is made."""

    result: LatencyResult

    # ---- names

    @cached_property
    def names(self) -> Mapping[str, OptionName]:
        """Names of the options, the pair's among them, by id."""
        return whole_names((*self.given.options, *self.result.pair))

    @property
    def base(self) -> str:
        """The name of the pair's InfiniBand option."""
        return self.result.pair[0].name

    @property
    def ours(self) -> str:
        """The name of the pair's RoCEv2 option."""
        return self.result.pair[1].name

    # ---- what this client has

    @property
    def recalibrated(self) -> bool:
        """Whether the client's logs recalibrate the model."""
        return bool(self.result.measurements and self.result.measurements.factors(self.given))

    @cached_property
    def logs(self) -> Mapping[str, ClientLog]:
        """The client's logs that the model was fitted to, by their number."""
        used = self.result.measurements.used if self.result.measurements else ()
        return {str(i): log for i, log in enumerate(used)}

    @property
    def final_sites(self) -> int:
        """Sites in use at the end."""
        cluster = self.given.params.cluster
        return sites_in_use(cluster, cluster.final_gpus)

    @property
    def joins_sites(self) -> bool:
        """Whether one network joins several sites at the end."""
        return self.final_sites > 1

    @property
    def nodes(self) -> int:
        """Nodes of the largest job at the start."""
        return self.result.job.gpus // int(self.given.params.cluster.gpus_per_node)

    @property
    def spares(self) -> bool:
        """Whether some of them stand by."""
        return self.result.job.spare_nodes > 0

    @property
    def batch_tokens(self) -> float:
        """Tokens in the batch of a step; none where nothing is trained."""
        step = self.result.steps[self.result.pair[0].id]
        return float(step.batch_tokens) if isinstance(step, TrainingStep) else 0.0

    @property
    def trains(self) -> bool:
        """Whether a step has a batch."""
        return self.batch_tokens > 0.0

    # ---- what they rest on

    @property
    def stated_profile(self) -> Footing:
        """Params behind the gap between the fabrics."""
        return inputs.PROFILE

    @cached_property
    def profile(self) -> tuple[str, ...]:
        """Params behind every other figure, the client's logs among them where they recalibrate the model."""
        return (*inputs.PROFILE, *(("param:measurements",) if self.recalibrated else ()))

    @property
    def whole_profile(self) -> Footing:
        """The same, and what weighs the sizes of the horizon."""
        return (*self.profile, *_STAGES)

    @property
    def behind_sizes(self) -> Footing:
        """What the sizes of the jobs rest on."""
        return (*_SIZE, *SHARED_JOBS.values()) if shared_cluster(self.given) else _SIZE

    @property
    def behind_spares(self) -> Footing:
        """What the number of hot spares rests on."""
        return (*self.profile, *inputs.SPARED)

    @property
    def behind_widest(self) -> Footing:
        """What the size of the widest gap rests on."""
        return {*inputs_of(self.result.gap.step_by_size.gap), *inputs.PROFILE[:3]}

    # ---- what an option loses to exposed communication over the horizon, or at one size

    @figure("latency.exposed[option]")
    def exposed(self, option: str) -> Any:
        return self.result.exposed_share[option]

    @figure("latency.exposed_now[option]")
    def exposed_now(self, option: str) -> Any:
        return self.result.exposed_now[option]

    @figure("latency.exposed_final[option]")
    def exposed_final(self, option: str) -> Any:
        return self.result.exposed_final[option]

    # ---- a step

    @figure("latency.step[stepped]")
    def step(self, option: str) -> Any:
        return self.given.spread(self.result.steps[option].step_time_s)

    @figure("latency.part[part][stepped]")
    def part(self, part: str, option: str) -> Any:
        step = self.result.steps[option]
        return self.given.spread(getattr(step, PARTS[part]) / step.step_time_s)

    # ---- what runs

    @figure("latency.job_gpus")
    def largest_job(self) -> int:
        return self.result.job.gpus

    @figure("latency.network_gpus")
    def network_gpus(self) -> int:
        return fabric_gpus(self.given, int(self.given.params.cluster.gpus))

    @figure("latency.site_gpus")
    def site_gpus(self) -> int:
        return self.given.params.cluster.site_gpus

    @figure("latency.sites")
    def sites(self) -> int:
        return self.final_sites

    @figure("latency.site_rate")
    def site_rate(self) -> float:
        cluster = self.given.params.cluster
        return site_gbits_per_s(cluster, gbits_per_gpu(cluster, self.result.pair[0])) / GBITS_PER_TBIT

    @figure("latency.job_nodes")
    def job_nodes(self) -> int:
        return self.nodes

    @figure("latency.plan_nodes")
    def plan_nodes(self) -> int:
        return self.nodes - self.result.job.spare_nodes

    @figure("latency.spare_nodes")
    def spare_nodes(self) -> int:
        return self.result.job.spare_nodes

    @figure("latency.batch")
    def batch(self) -> float:
        return self.batch_tokens

    @figure("latency.job.gpus[job]")
    def job_gpus(self, job: str) -> float:
        return float(job)

    @figure("latency.job.share[job]")
    def job_share(self, job: str) -> float:
        return dict(self.result.mix)[int(job)]

    @figure("latency.job.exposed[job]")
    def job_exposed(self, job: str) -> Any:
        return self.result.by_job[int(job)]

    # ---- the gap between the fabrics: what it costs, and at which size of job it is widest

    @figure("latency.penalty")
    def penalty(self) -> Any:
        return self.result.penalty

    @figure("latency.widest_at")
    def widest_at(self) -> float:
        return widest(self.result.gap.step_by_size)[0]

    @figure("latency.widest")
    def widest_gap(self) -> Any:
        return widest(self.result.gap.step_by_size)[1]

    # ---- what each of the client's logs shows

    @figure("latency.measured.before[log]")
    def error_before(self, log: str) -> float:
        return self.logs[log].error_before

    @figure("latency.measured.after[log]")
    def error_after(self, log: str) -> float:
        return self.logs[log].error_after

    @figure("latency.measured.rows[log]")
    def rows(self, log: str) -> int:
        return len(self.logs[log].size_bytes)

    @figure("latency.measured.left_out[log]")
    def left_out(self, log: str) -> int:
        return self.logs[log].left_out

    @figure("latency.measured.gpus[log]")
    def log_gpus(self, log: str) -> int:
        return self.logs[log].gpus

    @figure("latency.measured.bandwidth_factor[log]")
    def bandwidth_factor(self, log: str) -> float:
        factors = self.logs[log].factors
        return factors.bandwidth_factor if factors else 1.0


FIGURES: Declaration[LatencyFigures] = Declaration(
    "latency",
    LatencyFigures,
    {
        "option": Index(lambda at: at.result.exposed_share, called=LatencyFigures.name),
        "stepped": Index(lambda at: at.result.steps, called=LatencyFigures.name),
        "part": Index(lambda _: PARTS, tuple(PARTS), lambda _, part: part.replace("_", " ")),
        "job": Index(lambda at: [str(size) for size, _ in at.result.mix]),
        "log": Index(lambda at: at.logs),
    },
)
"""Every figure of the section."""
