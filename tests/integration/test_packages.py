"""The packages that this project is built on do their work on the way of the example memo: a call of each is named here."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any
from unittest import mock

import pandas as pd
import papermill
import pytest
import seaborn
from nbconvert.exporters import Exporter
from one_process import SMALL_DRAWS, whole
from scipy import optimize, special

from fabricreport.base.errors import SectionFailed
from fabricreport.memo.build import _write_outputs, build
from fabricreport.memo.document.checks import prove
from fabricreport.memo.document.document import document_of
from fabricreport.memo.document.pieces import gather

pytestmark = pytest.mark.slow
EXAMPLE = Path(__file__).parents[2] / "params" / "example.yaml"
CALLED = {
    "scipy samples": (special, "ndtri"),
    "scipy solves": (optimize, "brentq"),
    "pandas makes the tables": (pd, "DataFrame"),
    "seaborn draws a distribution": (seaborn, "lineplot"),
    "seaborn draws dots": (seaborn, "scatterplot"),
    "seaborn draws bars": (seaborn, "barplot"),
}
"""What the cells of the memo come to call."""


def counted(stack: contextlib.ExitStack, owner: Any, name: str) -> list[str]:
    """The calls of a function from now on."""
    calls: list[str] = []
    target = getattr(owner, name)
    at, called = (target, "__init__") if isinstance(target, type) else (owner, name)
    own = getattr(at, called)

    def call(*given: Any, **more: Any) -> Any:
        calls.append(name)
        return own(*given, **more)

    stack.enter_context(mock.patch.object(at, called, call))
    return calls


def test_cells_and_writers_of_the_example_call_each_package(tmp_path: Path) -> None:
    with contextlib.ExitStack() as stack:
        calls = {does: counted(stack, *what) for does, what in CALLED.items()}
        done = whole(EXAMPLE, draws=SMALL_DRAWS)
        proof = prove(done.memo, gather(done.memo), draft=True)
        exported = counted(stack, Exporter, "from_notebook_node")
        _write_outputs(tmp_path / "edition", proof, document_of(proof.printed, proof.memo), done.notebooks, attach=True)
    assert [does for does, made in calls.items() if not made] == []
    assert len(exported) == 2 and (tmp_path / "edition" / "memo.pdf").read_bytes().startswith(b"%PDF")


def test_a_build_of_the_example_is_run_by_papermill_and_says_so_where_no_kernel_comes_up(tmp_path: Path) -> None:
    with (
        mock.patch.object(papermill, "execute_notebook", side_effect=RuntimeError("no room for a kernel")) as run,
        pytest.raises(SectionFailed, match="no room for a kernel"),
    ):
        build(EXAMPLE, output=tmp_path)
    assert run.called
