"""What a seller's links can carry: bandwidths in its answers that are above it are impossible, whoever measured them.

The rates are those the answers state; where they state none, those of the cluster in the params. Sound by being wide: a
node is taken for eight GPUs at least, and a ring for as fast as the NICs of a node allow.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from fabricreport.books.answers import LINE_RATE, PER_GPU, Answer, Log
from fabricreport.bounds import bound_of

_BITS_PER_BYTE = 8.0
_LEAST_NODE_GPUS = 8
_PRINTED = 1.02
"""Room for rounding and for GiB taken for GB at the edge."""


@dataclass(frozen=True)
class Links:
    """The client's cluster: line rate of a link, links of a GPU, GPUs that share NVLink."""

    gbits_per_s: float
    per_gpu: int
    domain_gpus: int


def beyond_links(answers: Mapping[str, Answer], links: Links) -> Iterator[tuple[str, tuple[str, ...], float, str]]:
    """Question, keys, value and reason of every bandwidth above what the links carry."""
    line = _stated(answers, LINE_RATE)
    per_gpu = _stated(answers, PER_GPU)
    most_links = bound_of("links-per-gpu").high
    if line is not None and per_gpu is not None and per_gpu > most_links * line * _PRINTED:
        reason = f"is more than {most_links:g} links of {line:g} Gb/s carry, the most a GPU has"
        yield PER_GPU, ("value",), per_gpu, reason
        return
    rate = per_gpu or max(links.gbits_per_s, line or 0.0) * links.per_gpu
    domain = max(links.domain_gpus, _LEAST_NODE_GPUS)
    for question, answer in answers.items():
        if answer.measured is not None:
            cap = _cap_gbytes_per_s(answer.measured, rate / _BITS_PER_BYTE, domain)
            for key in ("busbw_gbytes_per_s", "algbw_gbytes_per_s"):  # AllReduce's algbw is never above its busbw
                value = getattr(answer.measured, key)
                if cap is not None and value is not None and value > cap * _PRINTED:
                    reason = f"is more than {rate:g} Gb/s a GPU carry between nodes of {domain} GPUs, {cap:.4g} GB/s"
                    yield question, ("measured", key), value, reason


def _cap_gbytes_per_s(log: Log, nic_gbytes_per_s: float, domain: int) -> float | None:
    """Bus bandwidth at which the NICs of a node are full; None for a run inside one node."""
    nodes = -(-log.gpus // domain)
    return None if nodes < 2 else nic_gbytes_per_s * (log.gpus - 1) / (nodes - 1)


def _stated(answers: Mapping[str, Answer], question: str) -> float | None:
    return answers[question].high if question in answers else None
