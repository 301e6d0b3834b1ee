"""Imports point one way, rooms keep to their trade, and no module or function outgrows its reader."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "fabricreport"
MODULES = sorted(PACKAGE.rglob("*.py"))

# room: the rooms (and top-level modules) it may import besides itself and the foundations
FOUNDATIONS = {
    "durations",
    "errors",
    "formats",
    "ledger",
    "provenance",
    "hostile_text",
    "located",
    "strict_yaml",
    "strict_json",
    "evidence",
    "bounds",
}
MAY_IMPORT = {
    "evidence": set(),
    "scenario": set(),
    "books": set(),
    "models": set(),
    "records": {"books", "models", "scenario"},
    "case": {"books", "models", "records", "scenario", "sections"},
    "sections": {"blocks", "books", "case", "models", "scenario", "records", "theme"},
    "intake": {"books", "case", "models", "scenario", "records", "sections"},
    "blocks": set(),
    "theme": {"blocks"},
    "checking": {"books", "case", "intake", "models", "records", "scenario", "sections"},
    "memo": {"blocks", "case", "checking", "scenario"},
    "cli_shared": set(),
    "cli_prices": {"books", "cli_shared"},
    "cli": {"books", "case", "checking", "cli_prices", "cli_shared", "memo", "scenario", "sections"},
    "__main__": {"cli"},
    "__init__": set(),
}


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported_rooms(tree: ast.AST) -> set[str]:
    found = set()
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names = [f"{node.module}.{a.name}" for a in node.names]
        elif isinstance(node, ast.Import):
            names = [a.name for a in node.names]
        found |= {n.split(".")[1] for n in names if n.startswith("fabricreport.")}
    return found


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_a_room_imports_only_what_lies_below_it(path: Path) -> None:
    room = room_of(path)
    rooms = {p.name for p in PACKAGE.iterdir()} | {p.stem for p in PACKAGE.glob("*.py")}
    foreign = (imported_rooms(ast.parse(path.read_text())) & rooms) - {room, "__version__"}
    allowed = MAY_IMPORT.get(room, set()) | FOUNDATIONS
    assert foreign <= allowed, f"{room} may not import {sorted(foreign - allowed)}"


@pytest.mark.parametrize("path", sorted((PACKAGE / "models").rglob("*.py")), ids=lambda p: p.name)
def test_a_model_reads_no_file_and_no_clock(path: Path) -> None:
    calls = {ast.unparse(n.func) for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.Call)}
    banned = {
        "open",
        "print",
        "time.time",
        "datetime.now",
        "date.today",
        "datetime.datetime.now",
        "datetime.date.today",
        "Path",
    }
    assert not calls & banned


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_modules_and_functions_stay_readable(path: Path) -> None:
    text = path.read_text()
    assert text.count("\n") <= 500
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert (node.end_lineno or 0) - node.lineno < 60, f"{node.name} is too long"


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_no_unsafe_loader_or_evaluator_is_used(path: Path) -> None:
    calls = {ast.unparse(n.func) for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.Call)}
    banned = {
        "eval",
        "exec",
        "pickle.load",
        "pickle.loads",
        "pd.read_pickle",
        "os.system",
        "yaml.full_load",
        "yaml.unsafe_load",
    }
    assert not calls & banned


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_json_is_never_written_with_figures_that_are_not_finite(path: Path) -> None:
    calls = [n for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.Call)]
    for call in calls:
        if ast.unparse(call.func) in ("json.dumps", "json.dump"):
            assert "allow_nan=False" in [ast.unparse(k) for k in call.keywords], f"line {call.lineno}"


def test_notebooks_are_committed_without_outputs_and_take_one_parameter() -> None:
    notebooks = sorted((ROOT / "notebooks").glob("*.ipynb"))
    assert [n.stem for n in notebooks] == ["decision", "diligence", "evidence", "latency", "tail_risk", "tco"]
    for path in notebooks:
        cells = json.loads(path.read_text())["cells"]
        code = [c for c in cells if c["cell_type"] == "code"]
        assert not any(c["outputs"] or c["execution_count"] for c in code), path.name
        tagged = [c for c in code if "parameters" in c["metadata"].get("tags", ())]
        assert ["".join(c["source"]) for c in tagged] == ['params = "../params/example.yaml"'], path.name
