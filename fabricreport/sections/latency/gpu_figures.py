"""The figures of the GPU: what its times rest on, and what its scale-up network keeps off the fabric."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from fabricreport.books.gpu_type import LARGEST_SERVER, GpuType, Kernels, ScaleUp
from fabricreport.figures import Index
from fabricreport.models.training.scale_up import Kept
from fabricreport.sections.client import domain_gpus, gpu_type
from fabricreport.sections.latency.figure_context import EachSpec, LatencyFigures, Spec

_RACK = ("param:cluster.gpu", "param:cluster.gpus_per_node")


@dataclass(frozen=True)
class Known:
    """One thing that is known of a GPU type: what it is, its unit, its value, and the part whose source it has."""

    label: str
    unit: str
    value: Callable[[GpuType], float]
    of: Callable[[GpuType], Kernels | ScaleUp]


KNOWN: Mapping[str, Known] = {
    "peak": Known("Dense BF16 peak", "tflops", lambda k: k.kernels.peak_tflops, lambda k: k.kernels),
    "memory": Known("Memory", "gbytes", lambda k: k.kernels.memory_gbytes, lambda k: k.kernels),
    "memory_rate": Known(
        "Bandwidth of its memory", "gbytes/s", lambda k: k.kernels.memory_gbytes_per_s, lambda k: k.kernels
    ),
    "scale_up_rate": Known(
        "Rate of its scale-up network, each way",
        "gbytes/s",
        lambda k: k.scale_up.nvlink_gbytes_per_s,
        lambda k: k.scale_up,
    ),
}
"""What the times of a step rest on, by the end of the figure's id."""


def _kind(at: LatencyFigures) -> GpuType:
    return gpu_type(at.given)


def _rack(at: LatencyFigures) -> bool:
    return at.result.kept is not None and domain_gpus(at.given) > LARGEST_SERVER


def _kept(at: LatencyFigures) -> Kept:
    assert at.result.kept is not None, "asked for only where something meets the network"
    return at.result.kept


GPU_SPECS = (
    Spec(
        "latency.domain_gpus",
        "gpus",
        label="GPUs that one scale-up network joins",
        rule="those of a server, or of a rack that joins its servers, by the GPU type",
        value=lambda at: float(domain_gpus(at.given)),
        inputs=_RACK,
        digits=6,
        when=_rack,
    ),
    Spec(
        "latency.kept.bytes",
        "share",
        label=lambda at: f"Bytes of a step that never meet the network: {at.base}",
        rule="bytes that stay in a scale-up domain ÷ all bytes that the step's collectives send; of a group over several "
        "domains the hops inside them, of rings, trees or pairs as the library runs it",
        value=lambda at: at.given.spread(_kept(at).bytes_share),
        inputs=lambda at: (*at.profile, *_RACK),
        digits=2,
        when=_rack,
    ),
    Spec(
        "latency.kept.time",
        "share",
        label=lambda at: f"Time of a step's collectives that never meet the network: {at.base}",
        rule="time of the collectives whose ranks share a scale-up domain ÷ time of all, hidden or not",
        value=lambda at: at.given.spread(_kept(at).time_share),
        inputs=lambda at: (*at.profile, *_RACK),
        digits=2,
        when=_rack,
    ),
    EachSpec(
        "latency.gpu[known]",
        lambda _, known: KNOWN[known].unit,
        label=lambda at, known: f"{KNOWN[known].label}: {_kind(at).name}",
        rule=lambda at, known: f"from the source of the GPU type: {KNOWN[known].of(_kind(at)).source}",
        value=lambda at, known: KNOWN[known].value(_kind(at)),
        inputs=_RACK[:1],
        digits=4,
        counted=True,
        grade=lambda at, known: KNOWN[known].of(_kind(at)).grade,
    ),
)
GPU_INDEXES = {"known": Index[LatencyFigures](lambda _: KNOWN, tuple(KNOWN))}
