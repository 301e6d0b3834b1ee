"""Which targets the fuzz belongs to; see `fuzz_cases.py`."""

from __future__ import annotations

from pathlib import Path

import pytest
from fuzz_cases import ASKED


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """With a number of cases asked for, only the long targets try them."""
    for item in items:
        if ASKED and item.path.parent == Path(__file__).parent:
            item.add_marker("trust")
            item.add_marker("soak")
