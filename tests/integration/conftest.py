"""The three example memos, built once for all tests that read them."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabricreport.memo.build import BuildResult, build

ROOT = Path(__file__).parents[2]
CLIENTS = ("example", "tern-finetuning", "kestrel-lab")


@pytest.fixture(scope="session")
def memos(tmp_path_factory: pytest.TempPathFactory) -> dict[str, BuildResult]:
    """Example name -> its published edition."""
    output = tmp_path_factory.mktemp("output")
    return {name: build(ROOT / "params" / f"{name}.yaml", output=output) for name in CLIENTS}
