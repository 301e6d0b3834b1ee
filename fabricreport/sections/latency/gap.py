"""When the gap matters: by algorithm and cluster size, and how much hangs on the sources.

The gap is the extra time of the pair's second option over InfiniBand's on the same draws, as a share of InfiniBand's time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from fabricreport.books.options import Option
from fabricreport.evidence import read_yaml
from fabricreport.inputs import Inputs
from fabricreport.models.collectives.parameters import MOST_GPUS, Job, job
from fabricreport.models.collectives.timing import allreduce
from fabricreport.provenance import plain
from fabricreport.sections.client import largest_job
from fabricreport.sections.latency import inputs
from fabricreport.sections.latency.inputs import Measured

APART = 1.5
"""The last size doubled lies so far below the largest, so that both can be labelled."""


@dataclass(frozen=True)
class Sweep:
    """A gap along one axis: `at` of shape (points,), `gap` of shape (draws, points), a share."""

    at: tuple[float, ...]
    gap: Any


@dataclass(frozen=True)
class Gap:
    """What item by item answers "when does it matter".

    `tree` and `ring`: gap of a large AllReduce against GPUs, draws kept; `step_by_size`: of the client's own step.
    """

    sizes: tuple[int, ...]
    tree: Sweep
    ring: Sweep
    step_by_size: Sweep


def display() -> Mapping[str, Any]:
    """The sizes and sweeps the section shows."""
    found: Mapping[str, Any] = read_yaml("training_presets")["display"]
    return found


def latency_alone(
    given: Inputs, *, gpus: int, size_bytes: float, extra_step_us: Any, algorithm: str = "auto", protocol: str = "auto"
) -> Any:
    """Gap of one AllReduce from the time per step alone, both fabrics at equal bandwidth; shape of `extra_step_us`."""
    step = np.asanyarray(extra_step_us)[..., np.newaxis]
    slow, fast = (
        allreduce([size_bytes], _on(given, gpus, extra_step_us=us), algorithm=algorithm, protocol=protocol).time_us
        for us in (step, 0.0)
    )
    return slow[..., 0] / fast[0] - 1.0


def _on(given: Inputs, gpus: int, **fabric: Any) -> Job:
    """The client's GPUs on a tuned InfiniBand, or on a fabric that differs from it as said."""
    cluster = given.params.cluster
    named = {"fabric": inputs.reference_class(), **fabric}
    per_node = int(cluster.gpus_per_node)
    return job(given.catalogue, gpus=gpus, gpus_per_node=per_node, gpu=str(cluster.gpu), **named)


def flat_ring(given: Inputs, gpus: int) -> Mapping[str, str]:
    """Arguments that force a flat ring; one domain has no other protocol worth forcing."""
    return {"algorithm": "ring", "protocol": str(display()["headline_ring_protocol"])}


def sweep_sizes(given: Inputs) -> tuple[int, ...]:
    """Sizes of one job from two nodes upwards, doubling, to the largest that the client plans, within what the model covers."""
    cluster = given.params.cluster
    least = 2 * int(cluster.gpus_per_node)
    largest = max(least, min(MOST_GPUS, max(largest_job(given, gpus) for gpus, _ in inputs.stages(given))))
    doubled = (least << step for step in range(MOST_GPUS.bit_length()))
    return (*(gpus for gpus in doubled if APART * gpus <= largest), largest)


def study(given: Inputs, options: tuple[Option, Option], measured: Measured | None) -> Gap:
    """All of it for this case."""
    shown, sizes = display(), sweep_sizes(given)
    step_us = given.draw(inputs.step_id(options[1]))
    large = float(shown["headline_bytes"])
    tree = [latency_alone(given, gpus=n, size_bytes=large, extra_step_us=step_us) for n in sizes]
    ring = [latency_alone(given, gpus=n, size_bytes=large, extra_step_us=step_us, **flat_ring(given, n)) for n in sizes]
    at = tuple(float(n) for n in sizes)
    return Gap(
        sizes=sizes,
        tree=Sweep(at, np.stack(tree, axis=-1)),
        ring=Sweep(at, np.stack(ring, axis=-1)),
        step_by_size=_step_by_size(given, options, measured, sizes),
    )


def step_gap(
    given: Inputs, work: inputs.Job, options: tuple[Option, Option], measured: Measured | None, *, every: int
) -> Any:
    """Gap of the client's step between the pair on the same draws, each under its own plan, (draws,); zero on one node."""
    if measured and not inputs.speaks_for(given, measured.nodes, work.gpus):
        measured = None
    base, ours = (
        inputs.step(
            given, inputs.suited(given, work, o), inputs.network(given, o, every=every, measured=measured), every=every
        ).pace_s
        for o in options
    )
    return ours / base - 1.0


def _step_by_size(
    given: Inputs, options: tuple[Option, Option], measured: Measured | None, sizes: tuple[int, ...]
) -> Sweep:
    """The step's gap at each size the model can be trained on, plans chosen anew; a given plan is scaled."""
    every, at, found = int(display()["thinned"]), [], []
    for gpus in _trainable(given, sizes):
        work = inputs.job(given, gpus)
        at.append(float(gpus))
        found.append(step_gap(given, work, options, measured, every=every) + _per_draw(given, options, every))
    return Sweep(tuple(at), np.stack(found, axis=-1))


def _per_draw(given: Inputs, options: tuple[Option, Option], every: int) -> Any:
    """Nothing, once a draw, so that a gap of zero has its draws too."""
    return 0.0 * (given.draw(inputs.step_id(options[1])) * np.ones(given.sampler.size))[::every]


def _trainable(given: Inputs, sizes: tuple[int, ...]) -> list[int]:
    """Sizes with room for the model, always the largest, that a plan the client states divides; else the client's own."""
    workload = given.params.workload
    plan = workload.parallelism if workload.kind in inputs.TRAINING_KINDS else "choose"
    replica = 1 if plan == "choose" else plan.tp * plan.pp * plan.cp
    roomy = [gpus for gpus in sizes if gpus == sizes[-1] or inputs.held(given, gpus)]
    return [gpus for gpus in roomy if gpus % replica == 0] or [largest_job(given, int(given.params.cluster.gpus))]


def widest(sweep: Sweep) -> tuple[float, Any]:
    """Where along a sweep the median gap is furthest from nothing, either way, and the gap there, (draws,)."""
    median = np.abs(np.median(plain(sweep.gap), axis=0))
    place = int(np.argmax(median))
    return sweep.at[place], sweep.gap[:, place]
