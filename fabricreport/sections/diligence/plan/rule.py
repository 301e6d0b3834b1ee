"""The one rule by which every threshold is made: the client's limits of error, what a sound fabric shows by the models, and healthy runs.

A sound fabric is one as good as the total cost assumes: the middle of the collective model for the option, this size, this
team. A worse one costs more than was compared, so the credit begins there. The model errs, though,
so nothing is refused for it: the floor is what a network at the model's own low end holds, or a published healthy run less its
tolerance, whichever is lower. Where the lead is gone is found once, as the share of bandwidth left at which the money of the lead is used up, and holds
at every size and for every collective.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fabricreport.base.provenance import inputs_of, plain
from fabricreport.base.yaml_files import read_yaml
from fabricreport.books.acceptance import HealthyRun, read_healthy_runs
from fabricreport.books.options import Option
from fabricreport.inputs.inputs import Inputs
from fabricreport.inputs.options import links_per_gpu
from fabricreport.ledger.figures import worded
from fabricreport.ledger.numbers import Number
from fabricreport.models.audit.acceptance import Reach, Rule, Threshold, Values, pass_chances, threshold
from fabricreport.models.collectives import timing
from fabricreport.models.collectives.timing import CollectiveTime
from fabricreport.models.training.parallel import over_draws
from fabricreport.models.training.step import Network
from fabricreport.sections.client import one_node, whole_nodes
from fabricreport.sections.diligence.inputs import Ground
from fabricreport.sections.diligence.plan.result import Line, Plan
from fabricreport.sections.latency import inputs
from fabricreport.sections.latency.inputs import cluster_allreduce


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


BITS_PER_BYTE = 8.0
LIMITS = (
    "evidence:acceptance-counted-run",
    "evidence:acceptance-least-runs",
    "evidence:acceptance-most-runs",
    "evidence:acceptance-false-fail",
    "evidence:acceptance-false-pass",
    "evidence:acceptance-margin",
)
"""What every rule is made of, its noise apart."""
_END = "evidence:acceptance-model-end"
"""The entry for the end of the modelled values that no floor lies above, nor a ceiling, mirrored, below."""
_RINGS: Mapping[str, Callable[..., CollectiveTime]] = {
    "allgather": timing.allgather,
    "reduce_scatter": timing.reduce_scatter,
    "alltoall": timing.alltoall,
}


def noise_id(kind: str) -> str:
    """The entry for the spread between runs: of bandwidth or of latency."""
    return f"evidence:acceptance-noise-{kind}"


def rule_of(given: Inputs, kind: str, together: int) -> Rule:
    """The rule for tests of bandwidth, or of latency, of which a stage has so many `together`.

    A sound fabric may fail any of them by chance; the chance allowed is that of failing one at all, and is shared out evenly,
    which holds whether or not runs move together.
    """
    counted, least, most, false_fail, false_pass, margin = (given.central(i) for i in LIMITS)
    noise = given.central(noise_id(kind))
    return Rule(noise, round(counted), round(least), round(most), false_fail / together, false_pass, margin)


@dataclass(frozen=True)
class Timed:
    """A collective at some sizes on so many GPUs, (draws, sizes)."""

    busbw_gbytes_per_s: Any
    time_us: Any


def timed(given: Inputs, wires: Network, collective: str, gpus: int, sizes: Sequence[float]) -> Timed:
    """A collective by its name in logs, over `gpus` (whole nodes) at sizes in bytes, slowed as the option's wires are."""
    if collective not in _RINGS:
        found = cluster_allreduce(given, wires, gpus, sizes)
        return Timed(found.busbw_gbytes_per_s, found.time_us)
    where = wires.job(whole_nodes(given, gpus))
    found = _RINGS[collective](sizes, where, calibration=wires.calibration_by_draw)
    slower = 1.0 if one_node(given, gpus) else over_draws(np.asanyarray(wires.slowdown))
    return Timed(found.busbw_gbytes_per_s / slower, found.time_us * slower)


def gpu_gbytes_per_s(given: Inputs, option: Option) -> float:
    """Line rate of one GPU's links into the fabric."""
    per_link = given.catalogue.fabric(option.fabric, str(given.params.cluster.gpu)).link_gbits_per_s
    return links_per_gpu(given.params, given.practice, option) * per_link / BITS_PER_BYTE


def bar_name(kind: str, **fields: object) -> str:
    """What a threshold is called."""
    return str(read_yaml("agreed")["bars"][kind]).format(**fields)


@dataclass(frozen=True)
class Bar:
    """What a threshold is called and how it is made: of `bandwidth` or of `latency`, a floor or a ceiling.

    `together`: thresholds of its stage. `used`: inputs that chose the size. `runs`: how many there are to be; 0 for the
    fewest that suffice. `healthy`: the published run that it gives way to.
    """

    id: str
    unit: str
    label: str
    noise: str
    together: int
    at_least: bool = True
    used: tuple[str, ...] = ()
    runs: int = 0
    healthy: Healthy | None = None


@dataclass(frozen=True)
class Made:
    """A threshold with its numbers of the ledger; `passes`: the chance, of each network that the model holds possible, to pass."""

    threshold: Threshold
    line: Line
    passes: Values

    def no_tighter(self, other: Made, *, at_least: bool) -> Made:
        """This one, or the other where that asks less: what stands idle is never asked less of than under load."""
        mine, its = self.line.floor.value, other.line.floor.value
        tighter = mine > its if at_least else mine < its
        return replace(other, passes=self.passes) if tighter else self


def bar_of(on: Ground, bar: Bar, draws: Any, *, gone: float | None = None, footing: Iterable[str] = ()) -> Made:
    """The threshold for a quantity that a sound fabric shows in the middle of `draws`.

    `gone`: share of it at which the lead is gone; `footing`: inputs behind that share.
    """
    given, values = on.given, plain(draws)
    sound = float(np.median(values))
    healthy, end = bar.healthy, given.central(_END)
    reach = Reach(
        float(np.quantile(values, end if bar.at_least else 1.0 - end)),
        None if healthy is None else healthy.least_gbytes_per_s,
    )
    rule = rule_of(given, bar.noise, bar.together)
    lost = None if gone is None else sound * gone
    made = threshold(sound, lost, rule, at_least=bar.at_least, runs=bar.runs, reach=reach)
    used = inputs_of(draws) | {*inputs.PROFILE, *LIMITS, noise_id(bar.noise), *bar.used}

    def number(part: str, value: float, kind: str, *more: str) -> Number:
        words = worded("agreed", kind, bar=bar.label)
        return on.number(bar.id + part, value, bar.unit, **words, inputs=used | set(more))

    floor = number("", made.floor, "threshold", _END, *(() if healthy is None else healthy.inputs))
    credit = number(".credit", made.credit, "begins")
    saving = None if made.saving is None else number(".saving", made.saving, "gone", *footing)
    passes = pass_chances(values, made.floor, rule.noise, made.runs, rule.counted, at_least=bar.at_least)
    return Made(made, Line(floor, credit, saving), passes)
