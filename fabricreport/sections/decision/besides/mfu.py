"""Model FLOPs utilisation by size of job on the options compared, as designed and after the tail."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fabricreport.chain import Chain
from fabricreport.errors import OutOfRange
from fabricreport.evidence import read_yaml
from fabricreport.models.training.step import TrainingStep
from fabricreport.sections.client import planned_days, whole_nodes
from fabricreport.sections.latency import inputs as latency
from fabricreport.sections.tail_risk.horizon import running_shares
from fabricreport.sections.tail_risk.inputs import subject

_EVERY = 8
"""Of a size that the client does not run one draw in so many is kept: enough for a mean and a range of no decision."""
_TAIL = ("servers", "stalls", "topology")


@dataclass(frozen=True)
class Utilisation:
    """One size on one option: useful FLOPs over peak as designed, and with what the tail takes (draws, or some of them)."""

    designed: Any
    after_tail: Any


@dataclass(frozen=True)
class Utilisations:
    """By GPUs of the job and option id; `own`: the sizes of the client's jobs, the smallest first."""

    by_size: Mapping[int, Mapping[str, Utilisation]]
    own: tuple[int, ...]

    @property
    def ends(self) -> tuple[int, int]:
        """The smallest size and the largest."""
        return min(self.by_size), max(self.by_size)


def utilisations_of(base: Chain, options: Sequence[str]) -> Utilisations | None:
    """The utilisation on these options; None where the client's work is no training, or fits on one node."""
    given, cluster = base.given, base.given.params.cluster
    jobs = base.exposure.jobs
    own = tuple(n for n in sorted(jobs.shared) if n > cluster.gpus_per_node)
    if str(given.params.workload.kind) not in latency.TRAINING_KINDS or not own:
        return None
    tried = [
        n
        for n in read_yaml("besides")["mfu_sizes"]
        if cluster.gpus_per_node < n and (cluster.sites == 1 or n <= cluster.site_gpus)
    ]
    sizes = {whole_nodes(given, n) for n in tried if latency.held(given, n)} | set(own)
    found: dict[int, Mapping[str, Utilisation]] = {}
    for gpus in sorted(sizes):
        each = {o: at for o in options if (at := _at(base, o, gpus)) is not None}
        if len(each) == len(options):
            found[gpus] = each
    return Utilisations(found, own) if found else None


def _at(base: Chain, option: str, gpus: int) -> Utilisation | None:
    """One size on one option; None where its switches do not join so many."""
    given, every = base.given, 1
    one = next(o for o in given.options if o.id == option)
    step = base.exposure.timed[option].steps.get(gpus)
    if step is None:
        every = _EVERY
        factors = base.measurements.factors(given) if base.measurements else None
        wires = latency.network(given, one, every=every, measured=factors)
        step = latency.step(given, latency.suited(given, latency.job(given, gpus), one), wires, every=every)
    assert isinstance(step, TrainingStep), "asked for training only"
    try:
        at = subject(given, one, gpus, planned_days(given), np.mean(step.exposed_share))
    except OutOfRange:
        return None
    shares = running_shares(at)
    kept = given.spread(1.0 - sum(shares[cause] for cause in _TAIL))[::every]
    return Utilisation(step.mfu, step.mfu * kept)
