"""What a published healthy run leaves of a floor: the best one that is comparable, less its publisher's tolerance."""

from __future__ import annotations

from dataclasses import dataclass

from fabricreport.as_run import links_per_gpu
from fabricreport.books.healthy_runs import HealthyRun, read_healthy_runs
from fabricreport.books.options import Option
from fabricreport.inputs import Inputs
from fabricreport.sections.diligence.plan.result import Plan


@dataclass(frozen=True)
class Healthy:
    """The least busbw that still counts as this run, and the run."""

    least_gbytes_per_s: float
    run: HealthyRun

    @property
    def inputs(self) -> tuple[str, str]:
        """The entries it rests on."""
        return self.run.busbw, self.run.tolerance


def healthy_of(given: Inputs, option: Option, collective: str, gpus: int, size_bytes: float) -> Healthy | None:
    """The best run comparable in GPU, links, fabric, number of GPUs and message; None where nobody publishes one."""
    found = (
        Healthy(given.central(run.busbw) * given.central(run.tolerance), run)
        for run in read_healthy_runs().runs
        if _comparable(given, option, run)
        and (run.collective, run.gpus, run.size_bytes) == (collective, gpus, size_bytes)
    )
    return max(found, key=lambda healthy: healthy.least_gbytes_per_s, default=None)


def rests_on_a_run(plan: Plan) -> bool:
    """Whether any floor of a plan also gives way to a healthy run."""
    runs = {run.busbw for run in read_healthy_runs().runs}
    return any(runs & set(line.floor.inputs) for test in plan.tests for line in test.lines.values())


def _comparable(given: Inputs, option: Option, run: HealthyRun) -> bool:
    cluster = given.params.cluster
    own = (
        str(cluster.gpu),
        int(cluster.gpus_per_node),
        links_per_gpu(given.params, given.practice, option),
        option.fabric,
    )
    return own == (run.gpu, run.gpus_per_node, run.links_per_gpu, run.fabric)
