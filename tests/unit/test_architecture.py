"""Imports point one way, rooms keep to their trade, and no module or function outgrows its reader."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import yaml
from rows import words

from fabricreport.base import units
from fabricreport.base.yaml_files import read_yaml

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "fabricreport"
MODULES = sorted(PACKAGE.rglob("*.py"))


@cache
def nodes() -> dict[Path, list[ast.AST]]:
    """Every module as it parses; not read before a test asks, for collecting the tests waits for it."""
    return {path: list(ast.walk(ast.parse(path.read_text()))) for path in MODULES}


@cache
def calls() -> dict[Path, list[tuple[ast.Call, str]]]:
    """What each module calls, with its name as it is written."""
    return {path: [(n, dotted(n.func)) for n in found if isinstance(n, ast.Call)] for path, found in nodes().items()}


def dotted(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


ROOMS = """\
base:
ledger: base
blocks: base ledger
models: base
books: base ledger models
validation: base ledger models books
scenario: base books
inputs: base ledger models books scenario
sections: base ledger blocks models books validation scenario inputs
sections/decision: base ledger blocks models books scenario inputs sections
bodies: base ledger blocks models books scenario inputs sections sections/decision
case: base ledger models books scenario inputs sections sections/decision bodies
report: base ledger blocks models books validation scenario inputs sections case
check: base ledger blocks books scenario inputs sections bodies case
memo: base ledger blocks books scenario inputs bodies case report check
delivery: base ledger blocks models books sections sections/decision bodies case check memo
api: base ledger scenario sections sections/decision case memo
desk: base ledger blocks books scenario inputs sections case
cli: base books validation scenario inputs sections sections/decision case report check memo delivery api desk
__main__: cli
__init__: base blocks api
"""
MAY_IMPORT = {room: set(below.split()) for room, _, below in (line.partition(":") for line in ROOMS.splitlines())}
"""Rooms from the bottom upwards, each with the rooms it may import besides itself; the head of each says the same.

A section's `study` is handed the results of others; the decision stands above the chain that it reruns.
"""
SECTION_FILES = {"study", "figures", "charts", "facts", "tables"}
"""What of a section no other section imports; its inputs and its result are open to those above it."""
DECLARATIONS = {"figures.py", "tables.py", "schema.py"}
"""Modules that are tables of declarations: up to 800 lines, all others up to 500."""
ACTS = set(
    words("told said held seen asked given read spoken heard answered offered placed kept opened measured judged")
)
"""Words for what is done with a thing; a module is named for the thing."""


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


MODULE_NAMES = {module_name(path): path for path in MODULES}


def room_of_module(name: str) -> str:
    parts = name.split(".")[1:] or ["__init__"]
    return "sections/decision" if parts[:2] == ["sections", "decision"] else parts[0]


def room_of(path: Path) -> str:
    return room_of_module(module_name(path))


def imported_modules(found: Iterable[ast.AST], known: Iterable[str] = MODULE_NAMES) -> set[str]:
    """Modules of ours that a module imports: at its head, late, for types only, or by a name given to `import_module`."""
    names = set()
    for node in found:
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are written out, so that they can be read"
            own = {f"{node.module}.{alias.name}" for alias in node.names}
            names |= {name if name in known else str(node.module) for name in own}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.Call) and dotted(node.func).split(".")[-1] in ("import_module", "__import__"):
            asked = node.args[0]
            assert isinstance(asked, ast.Constant), f"line {node.lineno}: an import whose module cannot be read"
            names.add(str(asked.value))
    return {name for name in names if name in known}


@cache
def imports() -> dict[str, set[str]]:
    """What each module imports of ours."""
    return {module_name(path): imported_modules(found) - {module_name(path)} for path, found in nodes().items()}


def reached_from(name: str) -> set[str]:
    """Every module that a module imports, directly or through others."""
    reached: set[str] = set()
    left = [name]
    while left:
        new = imports()[left.pop()] - reached
        reached |= new
        left += new
    return reached


def banned_calls(banned: set[str]) -> list[str]:
    """Where one of the banned functions is called, as `room/module.py:line name`."""
    return [
        f"{path.relative_to(PACKAGE)}:{call.lineno} {name}"
        for path, found in calls().items()
        for call, name in found
        if name in banned
    ]


def test_every_way_to_import_is_seen() -> None:
    known = {f"fabricreport.{name}" for name in words("base.yaml_files base.units case ledger.numbers memo.build")}
    source = """
import fabricreport.ledger.numbers
from fabricreport import case
if TYPE_CHECKING:
    from fabricreport.base import units
from fabricreport.base.yaml_files import read_yaml
def late():
    return import_module("fabricreport.memo.build")
"""
    assert imported_modules(ast.walk(ast.parse(source)), known) == known


def test_rooms_are_listed_from_the_bottom_upwards() -> None:
    below: set[str] = set()
    for room, allowed in MAY_IMPORT.items():
        assert allowed <= below, room
        below.add(room)
    assert {room_of(path) for path in MODULES} == set(MAY_IMPORT)


def test_a_rooms_head_says_what_lives_there_and_what_it_may_import() -> None:
    wrong = []
    for path in MODULES:
        if path.name != "__init__.py" or path.parent == PACKAGE:
            continue
        head = (ast.get_docstring(ast.parse(path.read_text())) or "").splitlines()
        room = path.parent.relative_to(PACKAGE).as_posix()
        said = head[-1].removeprefix("May import: ").removesuffix(".") if len(head) > 1 else ""
        below = [other for other in MAY_IMPORT if other in MAY_IMPORT.get(room, ())]
        agrees = room not in MAY_IMPORT or said == (", ".join(below) or "nothing of ours")
        if not agrees or not 0 < len(head) <= 10:
            wrong.append(room)
    assert not wrong


def test_a_room_imports_only_what_lies_below_it() -> None:
    upwards = []
    for name, imported in imports().items():
        room = room_of_module(name)
        allowed = {room, "__init__"} | MAY_IMPORT.get(room, set())
        upwards += [f"{name} imports {other}" for other in imported if room_of_module(other) not in allowed]
    assert not upwards


def test_a_module_is_named_for_what_it_holds() -> None:
    assert not [name for name in MODULE_NAMES if ACTS & set(name.split(".")[-1].split("_"))]


def test_no_section_imports_what_another_finds_prints_or_draws() -> None:
    sections = {name: name.split(".")[2:] for name in imports() if name.startswith("fabricreport.sections.")}
    crossing = [
        f"{name} imports {other}"
        for name in sections
        for other in imports()[name]
        if other in sections and sections[other][-1] in SECTION_FILES and sections[other][0] != sections[name][0]
    ]
    assert any(parts[-1] in SECTION_FILES for parts in sections.values())
    assert not crossing


def test_no_import_goes_round_in_a_circle() -> None:
    assert not [name for name in imports() if name in reached_from(name)]


def test_no_model_reaches_the_packaged_data_by_any_way() -> None:
    models = [name for name in imports() if room_of_module(name) == "models"]
    assert models
    readers = {f"fabricreport.base.{name}" for name in words("yaml_files bounds project")}
    assert readers <= set(MODULE_NAMES)
    assert not [f"{m} reaches {r}" for m in models for r in reached_from(m) & readers]


def test_a_model_reads_no_file_and_no_clock() -> None:
    clocks = {"time", "now", "today", "perf_counter", "monotonic"}
    readers = {"open", "Path", "read_text", "read_bytes", "read_csv", "load", "loadtxt", "genfromtxt", "fromfile"}
    packaged = {"read_yaml", "read_rows", "read_lines", "files", "import_module"}
    asked = [
        f"{path.relative_to(PACKAGE)}:{call.lineno} {name}"
        for path, found in calls().items()
        if room_of(path) == "models"
        for call, name in found
        if name.split(".")[-1] in {"print"} | clocks | readers | packaged
    ]
    assert not asked


def test_modules_and_functions_stay_readable() -> None:
    long = [
        str(path.relative_to(PACKAGE))
        for path in MODULES
        if path.read_text().count("\n") > (800 if path.name in DECLARATIONS else 500)
    ]
    long += [
        f"{path.relative_to(PACKAGE)}:{node.lineno} {node.name}"
        for path, found in nodes().items()
        for node in found
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and (node.end_lineno or 0) - node.lineno >= 60
    ]
    assert not long


def test_no_unsafe_loader_or_evaluator_is_used() -> None:
    evaluators = {"eval", "exec", "os.system"}
    loaders = {"pickle.load", "pickle.loads", "pd.read_pickle", "yaml.full_load", "yaml.unsafe_load"}
    assert not banned_calls(evaluators | loaders)


def test_json_is_never_written_with_figures_that_are_not_finite() -> None:
    loose = [
        f"{path.relative_to(PACKAGE)}:{call.lineno}"
        for path, found in calls().items()
        for call, name in found
        if name in ("json.dumps", "json.dump")
        and "allow_nan=False" not in [ast.unparse(keyword) for keyword in call.keywords]
    ]
    assert not loose


def test_notebooks_are_committed_without_outputs_and_take_one_parameter() -> None:
    notebooks = sorted((ROOT / "notebooks").glob("*.ipynb"))
    assert [n.stem for n in notebooks] == words(
        "acceptance buy_once choose_provider decision diligence evidence evidence_report grow_in_stages latency tail_risk tco"
    )
    for path in notebooks:
        cells = json.loads(path.read_text())["cells"]
        code = [c for c in cells if c["cell_type"] == "code"]
        assert not any(c["outputs"] or c["execution_count"] for c in code), path.name
        tagged = [c for c in code if "parameters" in c["metadata"].get("tags", ())]
        of_nobody = 'params = ""  # of nobody: the report is made of the shipped library alone'
        wanted = of_nobody if path.stem == "evidence_report" else 'params = "../params/example.yaml"'
        assert ["".join(c["source"]) for c in tagged] == [wanted], path.name


def test_no_family_option_or_gpu_type_is_spelt_in_code() -> None:
    ids = {entry["id"] for file in ("families", "options") for entry in read_yaml(file)}
    ids |= {entry["id"] for entry in read_yaml("gpus")["types"]}
    spelt = [
        f"{path.relative_to(PACKAGE)}:{node.lineno}: {node.value}"
        for path, found in nodes().items()
        if path.name != "vocabulary.py"  # two sides have the id of the family that gives them their name
        for node in found
        if isinstance(node, ast.Constant) and node.value in ids
    ]
    assert not spelt


def test_nobody_but_units_spells_a_length_of_time() -> None:
    lengths = {168.0, 365.0, 365.25, 366.0, 730.0, 730.5, 8760.0, 8766.0, 86400.0, 525600.0, 525960.0}
    names = {name for name in vars(units) if "_PER_" in name}
    spelt = []
    for path, found in nodes().items():
        for node in found if path.name != "units.py" else ():
            of_time = isinstance(node, ast.Constant) and type(node.value) in (int, float) and node.value in lengths
            named = isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id.lstrip("_") in names
            if of_time or named:
                spelt.append(f"{path.relative_to(PACKAGE)}:{node.lineno} {ast.unparse(node)}")
    assert not spelt


def test_every_planted_fault_stands_once_in_its_file() -> None:
    faults = yaml.safe_load((ROOT / "tests" / "mutants" / "faults.yaml").read_text(encoding="utf-8"))
    assert [f["id"] for f in faults if (ROOT / f["file"]).read_text(encoding="utf-8").count(f["old"]) != 1] == []
