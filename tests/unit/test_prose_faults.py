"""Faults of prose cells that a build names before it starts a kernel."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from notebook_cells import EVERY, NOTEBOOKS

from fabricreport.checking.prose import prose_faults, refuse_unreadable
from fabricreport.errors import InputError


def notebook(folder: Path, *sources: str) -> Path:
    nb = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
    path = folder / "tco.ipynb"
    nbformat.write(nb, path)
    return path


@pytest.mark.parametrize("section", EVERY)
def test_the_shipped_notebooks_have_none(section: str) -> None:
    assert prose_faults(NOTEBOOKS / f"{section}.ipynb") == []


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("%%say when=1 < 2\nx", "tco.ipynb, cell 2: the prose cell cannot be read (found %%say when=1 < 2)"),
        (
            "%%say\n{tco.totl[choice]} and {tco.total[choice]:range}",
            "(found {tco.totl[choice]}). Did you mean 'tco.total",
        ),
        ("%%tile\nlabel: a\nvalue: {decision.evpy:abs}", "found {decision.evpy:abs}"),
        ("%%table tab-x from=t\ncaption: {latency.no.such.thing}", "no section declares this figure"),
    ],
)
def test_a_fault_is_told_by_cell_before_a_kernel_starts(tmp_path: Path, source: str, said: str) -> None:
    path = notebook(tmp_path, "x = 1", source)
    (problem,) = prose_faults(path)
    assert said in str(problem)
    with pytest.raises(InputError):
        refuse_unreadable([path])


def test_what_only_the_running_notebook_knows_is_left_to_it(tmp_path: Path) -> None:
    made = "case.number('tco.mine', 1.0, 'usd', label='a', rule='b')"
    prose = "%%say each=turn in turns\n{tco.mine} {choice} {turn.side} {price:x} {fig-x} {cite claim:a} `{tco.code}`"
    assert prose_faults(notebook(tmp_path, made, prose, "'{tco.nothing}'")) == []


def test_a_file_that_is_no_notebook_is_somebody_elses_fault(tmp_path: Path) -> None:
    path = tmp_path / "tco.ipynb"
    path.write_text("not json")
    assert prose_faults(path) == []
