"""How the tests share two cores: what one worker has built for itself is not built again by the other."""

from __future__ import annotations

import pytest


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep a file's tests on one worker, and all tests that read the built memos on one; an array is spread out."""
    for item in items:
        if "memos" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.xdist_group("memos"))
        elif not item.get_closest_marker("spread"):
            item.add_marker(pytest.mark.xdist_group(item.nodeid.partition("::")[0]))
