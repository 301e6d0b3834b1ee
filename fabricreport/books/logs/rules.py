"""What `evidence/measurement_rules.yaml` holds: from where on a figure of a log is doubted. Its head explains each key."""

from __future__ import annotations

from dataclasses import dataclass

from fabricreport.books.fields import CLOSED
from fabricreport.books.prices.rules import Slip


@dataclass(frozen=True)
class TwoNodes:
    """What one set of hosts reached on two nodes and on four, and on two as a ring."""

    __pydantic_config__ = CLOSED
    two_node_gbytes_per_s: float
    four_node_gbytes_per_s: float


@dataclass(frozen=True)
class Shortfall:
    """What a bandwidth below this share of the NICs' looks like, and what to do."""

    __pydantic_config__ = CLOSED
    below: float
    looks_like: str
    remedy: str


@dataclass(frozen=True)
class Device:
    """What a GPU whose name contains this word is taken to be connected by; None where nothing is taken."""

    __pydantic_config__ = CLOSED
    contains: str
    nic_gbytes_per_s: float | None = None
    nvlink_gpus: int | None = None
    one_node_gbytes_per_s: float | None = None


@dataclass(frozen=True)
class LogRules:
    """The thresholds."""

    __pydantic_config__ = CLOSED
    largest_log_bytes: int
    longest_line_characters: int
    most_lines: int
    identity_tolerance: float
    printed_half_step_gbytes_per_s: float
    unit_slips: tuple[Slip, ...]
    slip_tolerance: float
    rank_check_algbw_gbytes_per_s: float
    cap_tolerance: float
    warm_up_ratio: float
    warm_up_largest_bytes: int
    spike_ratio: float
    dip_share: float
    dip_smallest_bytes: int
    bimodal_gap_share: float
    bimodal_side_share: float
    bimodal_smallest_count: int
    coarse_algbw_gbytes_per_s: float
    placement_ratio: float
    placement_smallest_count: int
    large_bytes: int
    average_tolerance: float
    largest_node_gpus: int
    two_nodes: TwoNodes
    shortfall: tuple[Shortfall, ...]
    perftest_share: float
    tail_ratio: float
    unsteady_share: float
    devices: tuple[Device, ...]
