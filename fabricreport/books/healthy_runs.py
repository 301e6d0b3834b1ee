"""The runs that count as healthy, and what was set aside: `evidence/healthy_runs.yaml`, whose head explains each key."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fabricreport.books.fields import CLOSED
from fabricreport.books.reader import shipped


@dataclass(frozen=True)
class HealthyRun:
    """A result to be reached: what was run, the entries for its busbw and its tolerance, and the settings it was run with."""

    __pydantic_config__ = CLOSED
    id: str
    gpu: str
    gpus_per_node: int
    links_per_gpu: float
    fabric: str
    collective: str
    gpus: int
    size_bytes: int
    busbw: str
    tolerance: str
    settings: tuple[str, ...]


@dataclass(frozen=True)
class SetAside:
    """A table of `nccl/` or an entry of the library that is no result to be reached, and why."""

    __pydantic_config__ = CLOSED
    what: str
    why: Literal["log", "sample", "provisional", "unnamed"]


@dataclass(frozen=True)
class HealthyRuns:
    """All of it."""

    __pydantic_config__ = CLOSED
    runs: tuple[HealthyRun, ...]
    set_aside: tuple[SetAside, ...]


def read_healthy_runs() -> HealthyRuns:
    """The shipped book."""
    return shipped("healthy_runs", HealthyRuns)
