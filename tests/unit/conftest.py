"""What keeps `make quick` quick: a file that is slow as a whole is not even imported, and no other test opens a client."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pytest

HERE = Path(__file__).parent
WHOLE = re.compile(r"^pytestmark = .*\bmark\.slow\b", re.M)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Of a file without a quick test, the imports alone take longer than most tests."""
    if "not slow" in config.option.markexpr and collection_path.suffix == ".py":
        return bool(WHOLE.search(collection_path.read_text(encoding="utf-8"))) or None
    return None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Refuse a client to a test of this folder that is not marked slow: `make quick` would wait for it."""
    if item.get_closest_marker("slow") or HERE not in item.path.parents:
        return (yield)
    from fabricreport.case import Case

    def refuse(*_: object, **__: object) -> None:
        pytest.fail(f"{item.path.name} opens a client: mark the test `slow`, or give it what it needs of one")

    with mock.patch.object(Case, "__init__", refuse):
        return (yield)
