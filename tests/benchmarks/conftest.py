"""Ratios are measured by `make bench` alone: a benchmark proves nothing of what is right."""

from __future__ import annotations

import pytest


def pytest_ignore_collect(config: pytest.Config) -> bool | None:
    return None if config.getoption("benchmark_enable") else True
