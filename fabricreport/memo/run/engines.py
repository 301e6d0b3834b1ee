"""The ways to run a notebook's cells, and how many at once."""

from __future__ import annotations

import os

OWN_ENGINE, STOCK_ENGINE = "own", "stock"
ENGINES = (OWN_ENGINE, STOCK_ENGINE)
"""Cells run by a shell forked from a warm process, or by ipykernel in an interpreter of its own."""


def cores() -> int:
    """How many sections to run at once: the cores this process may use."""
    try:
        return max(1, len(os.sched_getaffinity(0)))
    except AttributeError:  # not Linux
        return max(1, os.cpu_count() or 1)
