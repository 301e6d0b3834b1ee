"""How far an input and a sentence travel through the package: the functions that they pass, counted while they run.

    python tests/journeys.py             functions and files of each journey
    python tests/journeys.py --list      the functions, by file
    python tests/journeys.py --climbs    the calls from a lower room into a higher one, and back when they return

The journeys are of the example client, each in a process of its own with every module loaded before:

    price      `price:switch-qm9700`, from its file to page one's difference as a sentence in HTML and PDF
    key        `organisation.networking_maturity`, from the params file to the block of a cell that prints page one's
               difference and the weeks until the network advised is stable
    sentence   one sentence with a footnote, over a case that is analysed: its cell's source to the block, the block as a
               notebook keeps it (MIME), the document, the page and the PDF; whatever runs counts

A function is on the journey of a price or a key if a frame of it *holds* the id or the value when it returns or yields:
if one of its locals (its arguments, and what it takes from a function around it, too) or what it hands back is

    - the id: a string equal to it, with its kind or without (`switch-qm9700`); of a key its last word, too;
    - the value: of a price an array of the very draws, with their provenance; of a key a string equal to what the file says.

What lies in a container or is worked out of the value is not held; a string that is equal by chance is. A function is a
name in a file of the package: the generator expressions in a function are one more, so are its lambdas and, under
Python 3.11, its comprehensions of each kind. In brackets stands the count with these as part of the function around them.
A room is the first folder below the package, or a flat module; it is higher than one that it imports, directly or by way
of others, unless that one imports it, too. Both caller and called must hold it for a call to count as a climb.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import os
import pkgutil
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import nbformat
import yaml

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

# The package's entry points: where modules move, only these lines follow.
import fabricreport  # noqa: E402
from fabricreport.blocks import Section, open_section  # noqa: E402
from fabricreport.blocks.cells import run_cell  # noqa: E402
from fabricreport.blocks.prose import read_cell  # noqa: E402
from fabricreport.case import Case, open_case  # noqa: E402
from fabricreport.memo.document.document import document_from_notebook  # noqa: E402
from fabricreport.memo.write.html import render_html  # noqa: E402
from fabricreport.memo.write.pdf import printed as render_pdf  # noqa: E402

CLIENT = ROOT / "params" / "example.yaml"
PACKAGE = str(Path(fabricreport.__file__).parent) + os.sep
PRICE, KEY = "price:switch-qm9700", "organisation.networking_maturity"
DIFFERENCE = "{tco.difference:range} for {choice}."

Function = tuple[str, str]
"""A file of the package, and the name of a function in it."""
Held = Callable[[Any], bool]


@dataclass
class Journey:
    """The functions that something passes, by stage, and the calls between them."""

    stages: dict[str, set[Function]] = field(default_factory=dict)
    calls: set[tuple[Function, Function]] = field(default_factory=set)

    @property
    def functions(self) -> set[Function]:
        """Those of all stages."""
        return {function for found in self.stages.values() for function in found}


@cache
def function_of(code: CodeType) -> Function | None:
    """The function that a code object counts as; None where it is not the package's own."""
    if not code.co_filename.startswith(PACKAGE):
        return None
    return code.co_filename.removeprefix(PACKAGE), code.co_qualname


@contextmanager
def followed(journey: Journey, stage: str, held: Held) -> Iterator[None]:
    """Note the functions of which a frame holds it while the block runs, and the calls between them."""
    found = journey.stages.setdefault(stage, set())

    def holds(frame: FrameType) -> bool:
        return any(held(value) for value in frame.f_locals.values())

    def note(frame: FrameType, event: str, result: Any) -> None:
        if event != "return" or (function := function_of(frame.f_code)) is None:
            return
        outer = frame.f_back
        while outer is not None and function_of(outer.f_code) is None:
            outer = outer.f_back
        caller = function_of(outer.f_code) if outer is not None else None
        known = function in found and (caller is None or (caller, function) in journey.calls)
        if not known and (held(result) or holds(frame)):
            found.add(function)
            if outer is not None and caller is not None and holds(outer):
                journey.calls.add((caller, function))

    sys.setprofile(note)
    try:
        yield
    finally:
        sys.setprofile(None)


def said(section: Section, template: str) -> Any:
    """The block that a prose cell with this text emits."""
    run_cell(read_cell(f"%%say\n{template}"), {"body": section}, eval)
    return section.emitted[-1]


def notebook_of(bundle: dict[str, Any]) -> Any:
    """An executed notebook of one cell that shows this, checked and with a date as a memo's."""
    new: Any = nbformat.v4
    front = {"title": "Memo", "status": "Client copy", "date": "2026-11-27"}
    cell = new.new_code_cell("", outputs=[new.new_output("display_data", data=bundle)])
    return new.new_notebook(cells=[cell], metadata={"fabricreport": front})


def sentence_of(case: Case, template: str) -> dict[str, Any]:
    """The sentence over the case as a notebook keeps it; nothing else that its section found is asked for."""
    section = Section("tco", case, words={"choice": case.comparison.choice})
    bundle: dict[str, Any] = said(section, template)._repr_mimebundle_()
    return bundle


def price() -> Journey:
    """From the price list to page one's difference, printed."""
    drawn = open_case(CLIENT).inputs.draw(PRICE)  # seeded: the journey's own are the same
    ids, kind, shape, draws = {PRICE, PRICE.partition(":")[2]}, type(drawn), drawn.shape, drawn.tobytes()

    def held(value: Any) -> bool:
        if isinstance(value, str):
            return value in ids
        return type(value) is kind and value.shape == shape and value.tobytes() == draws

    journey = Journey()
    with followed(journey, "whole", held):
        document = document_from_notebook(notebook_of(sentence_of(open_case(CLIENT), DIFFERENCE)))
        render_html(document)
        render_pdf(document)
    return journey


def key() -> Journey:
    """From the params file to page one's difference and the weeks until the network is stable, in a cell's block."""
    group, _, name = KEY.partition(".")
    value = yaml.safe_load(CLIENT.read_text(encoding="utf-8"))[group][name]
    strings, journey = {f"param:{KEY}", KEY, name, value}, Journey()
    with followed(journey, "whole", lambda found: isinstance(found, str) and found in strings):
        case = open_case(CLIENT)
        sentence_of(case, f"{DIFFERENCE} Stable after {{tail_risk.weeks.{case.comparison.choice}}}.")
    return journey


def sentence() -> Journey:
    """From a cell's source to the page and the PDF."""
    case, journey = open_case(CLIENT), Journey()
    case.tco()
    section = open_section("tco", case)[0]

    def stage(name: str, make: Callable[[], Any]) -> Any:
        with followed(journey, name, lambda _: True):
            return make()

    block = stage("cell", lambda: said(section, f"{DIFFERENCE}^[Present values.]"))
    notebook = notebook_of(stage("MIME", block._repr_mimebundle_))
    document = stage("document", lambda: document_from_notebook(notebook))
    stage("HTML", lambda: render_html(document))
    stage("PDF", lambda: render_pdf(document))
    return journey


JOURNEYS: dict[str, Callable[[], Journey]] = {"price": price, "key": key, "sentence": sentence}


def made(name: str) -> Journey:
    """One journey, with every module of the package loaded before, so that none is loaded on the way."""
    for module in pkgutil.walk_packages(fabricreport.__path__, "fabricreport."):
        if not module.name.endswith(".__main__"):
            importlib.import_module(module.name)
    return JOURNEYS[name]()


# ---- rooms


def room(file: str) -> str:
    """The first folder below the package, or the flat module."""
    return Path(file).parts[0].removesuffix(".py")


def reached() -> dict[str, set[str]]:
    """The rooms that each room imports, directly or by way of others."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for path in Path(PACKAGE).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import | ast.ImportFrom):
                head = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
                names = [f"{head}{alias.name}".split(".") for alias in node.names]
                found[room(str(path.relative_to(PACKAGE)))] |= {n[1] for n in names if n[0] == "fabricreport" and n[1:]}
    while wider := {
        name: more
        for name, rooms in found.items()
        if (more := rooms.union(*(found.get(r, ()) for r in rooms))) != rooms
    }:
        found |= wider
    return found


def climbs(journey: Journey, below: dict[str, set[str]]) -> Iterator[str]:
    """The calls from a room into one that is higher, the pairs of rooms in order."""
    rooms = [(room(caller[0]), room(called[0]), caller, called) for caller, called in journey.calls]
    for low, high, caller, called in sorted(rooms):
        if low in below.get(high, ()) and high not in below.get(low, ()):
            yield f"    {low} -> {high} -> {low}: {' '.join(caller)} calls {' '.join(called)}"


# ---- telling


def count(functions: set[Function]) -> str:
    """So many functions, so many when what stands inside one is a part of it, so many files."""
    outer = {(file, name.partition(".<locals>.<")[0]) for file, name in functions}
    return f"{len(functions)} ({len(outer)}) functions in {len({file for file, _ in functions})} files"


def told(name: str, journey: Journey, listed: bool, below: dict[str, set[str]]) -> Iterator[str]:
    """A journey in lines: its counts, then what was asked for."""
    yield f"{name}: {count(journey.functions)}"
    if len(journey.stages) > 1:
        yield from (f"  {stage}: {count(found)}" for stage, found in journey.stages.items())
    for file in sorted({file for file, _ in journey.functions}) if listed else ():
        yield f"    {file}: {', '.join(sorted(n for f, n in journey.functions if f == file))}"
    yield from climbs(journey, below) if below else ()


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--list", action="store_true", help="the functions, by file")
    parser.add_argument("--climbs", action="store_true", help="the calls into a higher room")
    given = parser.parse_args()
    below = reached() if given.climbs else {}
    with get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        for name, journey in zip(JOURNEYS, pool.imap(made, JOURNEYS), strict=True):
            print(*told(name, journey, given.list, below), sep="\n", flush=True)


if __name__ == "__main__":
    main()
