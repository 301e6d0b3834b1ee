"""A client's own notebooks: how they lie over the originals, what is refused of them, and what is told."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from rows import rows

from fabricreport.base.errors import InputError
from fabricreport.blocks.cells import open_alone
from fabricreport.blocks.prose import ProseFault
from fabricreport.check.prose import prose_faults
from fabricreport.cli.main import main
from fabricreport.delivery import delivery
from fabricreport.inputs.dossier import read_params
from fabricreport.memo.run.overlay import OwnNotebooks, laid_over
from fabricreport.memo.run.plan import Ready
from fabricreport.memo.run.recall import Places
from fabricreport.memo.run.snapshot import input_problems, sha256, take_snapshot
from fabricreport.scenario import params_from

HEAD = "%load_ext fabricreport\n%overlays tco.ipynb"


def cell(id: str, source: str, *, kind: str = "code", over: str | None = None) -> dict[str, Any]:
    own = {} if over is None else {"fabricreport": {"over": sha256(over.encode())}}
    return {"cell_type": kind, "id": id, "metadata": own, "source": source}


def cells(*ids: str) -> list[dict[str, Any]]:
    return [cell(i, f"%%say\n{i}") for i in ids]


ORIGINAL = [cell("o1", "params = 1"), cell("o2", "case = 2"), *cells("o3", "o4", "o5")]


def shown(own: list[dict[str, Any]], original: list[dict[str, Any]] = ORIGINAL) -> list[str]:
    """The ids as laid over, an own cell in place of an original one with a star."""
    found, _ = laid_over(original, own, "tco.ipynb", "acme/notebooks/tco.ipynb")
    theirs = {c["id"] for c in original}
    return [c["id"] + "*" * (c["metadata"]["fabricreport"]["at"][0][0] == "a" and c["id"] in theirs) for c in found]


def test_a_cell_replaces_takes_out_or_stands_behind_the_one_before_it() -> None:
    assert shown(cells("o4")) == ["o1", "o2", "o3", "o4*", "o5"]
    assert shown([cell("o4", " \n")]) == ["o1", "o2", "o3", "o5"]
    assert shown(cells("a", "o3", "b", "c", "o4", "d")) == ["a", "o1", "o2", "o3*", "b", "c", "o4*", "d", "o5"]
    assert shown([*cells("o5", "a"), cell("o3", ""), *cells("b")]) == ["o1", "o2", "b", "o4", "o5*", "a"]


def test_behind_a_head_that_says_what_it_overlays_stand_cells_that_the_original_opens_with() -> None:
    assert shown([cell("h", HEAD), *cells("a")]) == ["o1", "o2", "a", "o3", "o4", "o5"]
    more = laid_over(ORIGINAL, [cell("h", HEAD + "\nimport numpy")], "tco.ipynb", "x")[0][2]
    assert (more["id"], more["source"]) == ("h", "import numpy"), "what only runs it alone is gone"


def test_a_copy_that_nobody_edited_follows_the_original_and_an_edited_one_tells_of_its_change() -> None:
    def told(*own: dict[str, Any]) -> tuple[list[str], list[tuple[str, str]]]:
        found, notes = laid_over(ORIGINAL, [cell("h", HEAD), *own], "tco.ipynb", "x")
        return [c["source"] for c in found][2:], notes

    rest, now = ["%%say\no4", "%%say\no5"], sha256(b"%%say\no3")
    assert told(cell("o3", "older", over="older")) == (["%%say\no3", *rest], [])
    assert told(cell("o3", "mine", over="%%say\no3")) == (["mine", *rest], [])
    assert told(cell("o3", "mine", over="older")) == (["mine", *rest], [("o3", now)])
    assert told(cell("o3", "mine")) == (["mine", *rest], [("o3", now)]), "nobody knows what it was written over"
    assert told(cell("gone", "older", over="older")) == (["%%say\no3", *rest], [])
    assert told(cell("gone", "mine", over="older")) == (["mine", "%%say\no3", *rest], [("gone", "")])


def test_what_is_no_overlay_is_refused() -> None:
    for own, why in (
        (cells("a", "b"), "shares no cell"),
        ([cell("h", "%overlays latency.ipynb"), *cells("o3")], "is called tco.ipynb"),
        (cells("o3", "o3"), "two cells"),
    ):
        with pytest.raises(ValueError, match=why):
            laid_over(ORIGINAL, own, "tco.ipynb", "x")


own_cells = st.lists(st.sampled_from(["o1", "o2", "o3", "o4", "o5", "a", "b", "c", "d"]), unique=True)


@given(own_cells, st.sets(st.sampled_from(["o1", "o3", "o5", "a", "c"])))
def test_laws_of_laying_over(ids: list[str], empty: set[str]) -> None:
    own = [cell("h", HEAD), *(cell(i, "" if i in empty else f"%%say\nmine {i}") for i in ids)]
    found, _ = laid_over(ORIGINAL, own, "tco.ipynb", "x")
    got = [c["id"] for c in found]
    kept = [c["id"] for c in ORIGINAL if not (c["id"] in ids and c["id"] in empty)]
    assert [i for i in got if i[0] == "o"] == kept, "the originals keep their order"
    assert sorted(got) == sorted([*kept, *(i for i in ids if i[0] != "o" and i not in empty)]), (
        "no cell is lost or doubled"
    )
    assert all(c["source"] == f"%%say\nmine {c['id']}" for c in found if c["id"] in ids), "the client's own words stand"
    again, _ = laid_over(found, own, "tco.ipynb", "x")
    assert [(c["id"], c["source"]) for c in again] == [(c["id"], c["source"]) for c in found], "twice is once"


ROOT = Path(__file__).parents[2]


def client(folder: Path, **notebooks: list[dict[str, Any]]) -> Path:
    """A client's params in a project of its own, with these notebooks in its folder."""
    params = folder / "params" / "tern.yaml"
    own = params.parent / "tern-analytics" / "notebooks"
    own.mkdir(parents=True)
    params.write_text((ROOT / "params/tern-finetuning.yaml").read_text("utf-8"), encoding="utf-8")
    for name, made in notebooks.items():
        write(own / f"{name}.ipynb", made)
    return params


def write(path: Path, made: list[dict[str, Any]], **outputs: Any) -> None:
    more = {"outputs": [], "execution_count": None, **outputs}
    nb = {"cells": [{**c, **more} for c in made], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    path.write_text(json.dumps(nb), encoding="utf-8")


def examined(params: Path, **places: Any) -> tuple[list[str], list[str]]:
    problems, notes = OwnNotebooks(read_params(params), Places(**places)).examined()
    return [str(problem) for problem in problems], [*notes]


def test_an_original_that_has_changed_a_stranger_and_a_notebook_nobody_reads_are_told(tmp_path: Path) -> None:
    head = cell("h", HEAD)
    params = client(tmp_path, tco=[head, cell("tco-62", "%%say\nOurs.", over="%%say\nOlder.")], idle=cells("a"))
    problems, (stale, idle) = examined(params)
    assert not problems and "tco.ipynb, cell tco-62: its original is not the one" in stale and "idle.ipynb" in idle
    write(params.parent / "tern-analytics/notebooks/tco.ipynb", cells("plain"))
    (problem,), _ = examined(params)
    assert "shares no cell" in problem and "new --section tco" in problem
    for broken in ("{}", "[", '{"cells": [{"id": "x"}], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'):
        (params.parent / "tern-analytics/notebooks/tco.ipynb").write_text(broken, encoding="utf-8")
        assert "is not a notebook" in examined(params)[0][0]
    params.write_text(params.read_text("utf-8") + "extra: [power.ipynb]\n", encoding="utf-8")
    assert any("power.ipynb" in problem and "new --section power" in problem for problem in examined(params)[0])
    for broken in ("[]", "{", ""):
        own = params.parent / "tern-analytics/notebooks"
        (own / "power.ipynb").write_text(broken, encoding="utf-8")
        told = [problem for problem in examined(params)[0] if "is not a notebook" in problem]
        assert [str(own / name) in problem for name, problem in zip(("tco.ipynb", "power.ipynb"), told, strict=True)] == [True, True]  # fmt: skip
        assert prose_faults(own / "power.ipynb") == [], "that is not for who reads its prose to say"


def test_notebooks_of_another_project_are_run_only_by_whoever_trusts_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    params = client(tmp_path, tco=[cell("h", HEAD)])
    (problem,), _ = examined(params, trusted=False)
    assert "--trust-notebooks" in problem and "tern-analytics/notebooks/tco.ipynb" in problem
    assert not examined(params)[0], "somebody has said so"
    (tmp_path / "notebooks").mkdir()
    for here in (tmp_path, params.parent, tmp_path / "notebooks"):
        monkeypatch.chdir(here)
        assert not examined(params, trusted=False)[0], "the project of the current folder"
    monkeypatch.chdir(ROOT)
    (params.parent / "tern-analytics/notebooks/tco.ipynb").unlink()
    assert not examined(params, trusted=False)[0], "nothing but what is shipped is run"
    write(tmp_path / "notebooks/acceptance.ipynb", cells("own"))
    monkeypatch.setattr(delivery, "make_ready", lambda path, _: Ready(read_params(path)))
    asked = ["accept", str(params), "--logs", str(params), "--output", str(tmp_path / "output")]
    done = CliRunner().invoke(main, asked)
    assert done.exit_code == 2 and "--trust-notebooks" in done.stderr and "acceptance.ipynb" in done.stderr


def test_what_is_kept_of_a_notebook_is_its_source_and_no_link_is_followed(tmp_path: Path) -> None:
    params = client(tmp_path, tco=cells("tco-62"))
    own = params.parent / "tern-analytics/notebooks"

    def kept(name: str) -> dict[str, str]:
        return take_snapshot(read_params(params).params, params, tmp_path / name).hashes

    first = kept("first")
    write(own / "tco.ipynb", cells("tco-62"), execution_count=7)
    assert kept("run") == first and "tern-analytics/notebooks/tco.ipynb" in first
    write(own / "tco.ipynb", [cell("tco-62", "%%say\nother")])
    assert kept("other") != first
    for name in ("data/deep/rows.csv", "helper.py", "data/.ipynb_checkpoints/rows.csv", "__pycache__/helper.py"):
        (own / name).parent.mkdir(parents=True, exist_ok=True)
        (own / name).write_text("", encoding="utf-8")
    assert {n.partition("notebooks/")[2] for n in kept("deep")} == {"", "tco.ipynb", "helper.py", "data/deep/rows.csv"}
    for name, target in (
        ("secret.csv", "/etc/hostname"),
        ("data/more", "/etc"),
        ("data/deep/secret.csv", "/etc/hostname"),
    ):
        (own / name).symlink_to(target)
        (problem,) = input_problems(read_params(params).params, params)
        assert "symbolic link" in problem.message and str(own / name) in str(problem)
        (own / name).unlink()
    own.rename(own.with_name("else"))
    own.symlink_to(own.with_name("else"))
    assert all("symbolic link" in p.message for p in input_problems(read_params(params).params, params))


@rows("name", ["../power.ipynb", "/tmp/power.ipynb", "a/power.ipynb", "Power.ipynb", "power.py", ".ipynb", "tco.ipynb", "buy_once.ipynb", "changes.ipynb", "con.ipynb", "power.ipynb\n"])  # fmt: skip
def test_a_section_of_the_clients_own_has_a_plain_name_that_is_none_of_ours(name: str) -> None:
    data = {
        "client": {"name": "x"},
        "as_of": "2026-11-20",
        "cluster": {"gpus": 64},
        "workload": {"kind": "fine-tuning"},
    }
    data |= {"organisation": {"networking_maturity": "medium"}, "money": {"acquisition": "buy"}}
    assert params_from({**data, "extra": ["power.ipynb"]}).notebooks[-1] == "power"
    with pytest.raises(InputError, match=r"joined by underscores|name of ours"):
        params_from({**data, "extra": [name]})


def test_an_overlay_runs_alone_behind_what_its_original_opens_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    params = client(tmp_path)
    ran: list[str] = []

    def run_cell(source: str) -> SimpleNamespace:
        ran.append(source)
        return SimpleNamespace(raise_error=lambda: None)

    monkeypatch.setattr(sys, "path", [*sys.path])
    shell = SimpleNamespace(user_ns={}, run_cell=run_cell)
    monkeypatch.chdir(params.parent / "tern-analytics/notebooks")
    open_alone("tco.ipynb ../../tern.yaml", shell=shell)
    assert shell.user_ns == {"params": "../../tern.yaml"}
    assert "open_section" in ran[-1] and not any("%" in source for source in ran), "no prose cell of it is run"
    with pytest.raises(ProseFault, match="there is no"):
        open_alone("tco.ipynb", shell=shell)
