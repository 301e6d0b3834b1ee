"""The four example memos, built once for all tests that read them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from fabricreport.memo.build import BuildResult, build

ROOT = Path(__file__).parents[2]
CLIENTS = ("example", "tern-finetuning", "kestrel-lab", "halden-cloud")


@pytest.fixture(scope="session")
def memos(tmp_path_factory: pytest.TempPathFactory) -> dict[str, BuildResult]:
    """Example name -> its published edition, built as a user does: by one command for all of them."""
    output = tmp_path_factory.mktemp("output")
    paths = {name: ROOT / "params" / f"{name}.yaml" for name in CLIENTS}
    command = [sys.executable, "-m", "fabricreport", "build", *map(str, paths.values()), "--output", str(output)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr
    return {name: build(path, output=output) for name, path in paths.items()}
