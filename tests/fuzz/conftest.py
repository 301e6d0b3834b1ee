"""Which targets the fuzz belongs to; see `fuzz_cases.py`."""

from __future__ import annotations

from pathlib import Path

import pytest
from fuzz_cases import ASKED


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Each kind of file may be tried by any worker; with a number of cases asked for, by the long targets only."""
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker("spread")
            if ASKED:
                item.add_marker("trust")
                item.add_marker("soak")
