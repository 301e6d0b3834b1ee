"""Imports point one way, rooms keep to their trade, and no module or function outgrows its reader."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "fabricreport"
MODULES = sorted(PACKAGE.rglob("*.py"))
TREES = {path: ast.parse(path.read_text()) for path in MODULES}

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
    "evidence",
    "bounds",
    "project",
    "evidence_entry",
    "claim",
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


def calls_of(tree: ast.AST) -> list[ast.Call]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call)]


def banned_calls(modules: Iterable[Path], banned: set[str]) -> list[str]:
    """Where one of the banned functions is called, as `room/module.py:line name`."""
    return [
        f"{path.relative_to(PACKAGE)}:{call.lineno} {ast.unparse(call.func)}"
        for path in modules
        for call in calls_of(TREES[path])
        if ast.unparse(call.func) in banned
    ]


def test_a_room_imports_only_what_lies_below_it() -> None:
    rooms = {p.name for p in PACKAGE.iterdir()} | {p.stem for p in PACKAGE.glob("*.py")}
    upwards = []
    for path, tree in TREES.items():
        room = room_of(path)
        foreign = (imported_rooms(tree) & rooms) - {room, "__version__"}
        upwards += [
            f"{path.relative_to(PACKAGE)} {found}" for found in foreign - MAY_IMPORT.get(room, set()) - FOUNDATIONS
        ]
    assert not upwards


def test_a_model_reads_no_file_and_no_clock() -> None:
    clocks = {"time.time", "datetime.now", "date.today", "datetime.datetime.now", "datetime.date.today"}
    models = [path for path in MODULES if room_of(path) == "models"]
    assert models
    assert not banned_calls(models, {"open", "print", "Path"} | clocks)


def test_modules_and_functions_stay_readable() -> None:
    long = [str(path.relative_to(PACKAGE)) for path in MODULES if path.read_text().count("\n") > 500]
    long += [
        f"{path.relative_to(PACKAGE)}:{node.lineno} {node.name}"
        for path, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and (node.end_lineno or 0) - node.lineno >= 60
    ]
    assert not long


def test_no_unsafe_loader_or_evaluator_is_used() -> None:
    evaluators = {"eval", "exec", "os.system"}
    loaders = {"pickle.load", "pickle.loads", "pd.read_pickle", "yaml.full_load", "yaml.unsafe_load"}
    assert not banned_calls(MODULES, evaluators | loaders)


def test_json_is_never_written_with_figures_that_are_not_finite() -> None:
    loose = [
        f"{path.relative_to(PACKAGE)}:{call.lineno}"
        for path, tree in TREES.items()
        for call in calls_of(tree)
        if ast.unparse(call.func) in ("json.dumps", "json.dump")
        and "allow_nan=False" not in [ast.unparse(keyword) for keyword in call.keywords]
    ]
    assert not loose


def test_notebooks_are_committed_without_outputs_and_take_one_parameter() -> None:
    notebooks = sorted((ROOT / "notebooks").glob("*.ipynb"))
    assert [n.stem for n in notebooks] == ["decision", "diligence", "evidence", "latency", "tail_risk", "tco"]
    for path in notebooks:
        cells = json.loads(path.read_text())["cells"]
        code = [c for c in cells if c["cell_type"] == "code"]
        assert not any(c["outputs"] or c["execution_count"] for c in code), path.name
        tagged = [c for c in code if "parameters" in c["metadata"].get("tags", ())]
        assert ["".join(c["source"]) for c in tagged] == ['params = "../params/example.yaml"'], path.name
