"""What notebooks, charts and the package's own modules read of the ledger, found in their text: no case, no kernel.

A string is followed through f-strings, `+`, `%s` and conditional parts; what cannot be known of it is `{…}`.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from fabricreport.blocks.prose import figure_of, is_prose, read_cell
from fabricreport.blocks.template import split_style
from fabricreport.ledger.numbers import INPUT_KINDS
from fabricreport.scenario import SECTION_NAMES

ROOT = Path(__file__).parents[1]
HOLE = "\x01"
"""A part of a string that only a run knows."""
_ID = re.compile(rf"(?:{'|'.join(SECTION_NAMES)})[.{HOLE}\[][^\s{{}}:]*\Z")
_MENTION = re.compile(rf"[\"'{{](?:{'|'.join(SECTION_NAMES)})[.{{\[]")
_FIELD = re.compile(r"\{([^{}\n]*)\}")


@dataclass
class Readers:
    """Ids that a text quotes in a template (`fields`), asks for (`asked`), makes itself (`made`), or names otherwise.

    What is only `named` may be the beginning of an id. `inputs` are those that a template quotes.
    """

    fields: set[str] = field(default_factory=set)
    asked: set[str] = field(default_factory=set)
    made: set[str] = field(default_factory=set)
    named: set[str] = field(default_factory=set)
    inputs: set[str] = field(default_factory=set)

    def template(self, text: str) -> None:
        """Take in the fields of a template."""
        fields = _FIELD.findall(text.replace("{{", "").replace("}}", ""))
        found = [figure_of(split_style(field.strip())[0])[1] for field in fields]
        self.fields |= {name for name in found if _ID.match(name)}
        self.inputs |= {name for name in found if name.startswith(INPUT_KINDS)}

    @property
    def read(self) -> set[str]:
        """Everything that must be there, as `find_spec` takes it."""
        return {i.replace(HOLE, "{…}") for i in self.fields | self.asked}


def read_cells(sources: Iterable[tuple[str, str]]) -> Readers:
    """What the cells of a notebook read; each is its type (`code` or `markdown`) and its text."""
    found = Readers()
    for kind, source in sources:
        if kind == "markdown":
            found.template(source)
        elif is_prose(source):
            cell = read_cell(source)
            for text in cell.texts:
                found.template(text)
            if cell.source:
                read_code(cell.source, found)
        else:
            read_code("\n".join("" if line.startswith("%") else line for line in source.split("\n")), found)
    return found


def read_code(source: str, found: Readers) -> None:
    """What Python code reads: fields of its strings, ids in calls and subscripts, and ids it makes numbers under."""
    _Reading(found).visit(ast.parse(source))


class _Reading(ast.NodeVisitor):
    """Walks through code once, each string expression as a whole."""

    def __init__(self, found: Readers) -> None:
        self.found = found
        self.into = found.named

    def visit(self, node: ast.AST) -> None:
        if not _is_text(node):
            return super().visit(node)
        text = text_of(node)
        self.found.template(text)
        if _ID.match(text):
            self.into.add(text)
        for unknown in _unknown(node):
            self._within(self.found.named, unknown)
        return None

    def visit_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):  # a docstring quotes nothing
            self.visit(node.value)

    def visit_Call(self, node: ast.Call) -> None:
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        self.visit(node.func)
        into = {"figure": self.found.asked, "number": self.found.made, "renamed": self.found.made}.get(called)
        if called == "get" and ast.unparse(node.func).endswith("numbers.get"):
            into = self.found.asked
        for place, child in enumerate([*node.args, *(k.value for k in node.keywords)]):
            self._within(into if into is not None and place == 0 else self.found.named, child)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        self.visit(node.value)
        asked = ast.unparse(node.value).endswith("numbers")
        self._within(self.found.asked if asked else self.found.named, node.slice)

    def _within(self, into: set[str], node: ast.AST) -> None:
        before, self.into = self.into, into
        self.visit(node)
        self.into = before


def _unknown(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a string expression that are no text."""
    if isinstance(node, ast.JoinedStr):
        yield from (part.value for part in node.values if isinstance(part, ast.FormattedValue))
    elif isinstance(node, ast.BinOp):
        for side in (node.left, node.right):
            yield from _unknown(side) if _is_text(side) else (side,)


def _is_text(node: ast.AST) -> bool:
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.Add | ast.Mod) and (_is_text(node.left) or _is_text(node.right))
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def text_of(node: ast.AST) -> str:
    """A string expression as text, `HOLE` for what is not written out in it."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value.replace("%s", HOLE)
    if isinstance(node, ast.JoinedStr):
        return "".join(text_of(part) if isinstance(part, ast.Constant) else HOLE for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return text_of(node.left) + text_of(node.right)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
        return text_of(node.left)
    return HOLE


def notebook_cells(path: Path) -> Iterator[tuple[str, str]]:
    """The type and the text of each cell of a notebook."""
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        yield cell["cell_type"], "".join(cell["source"])


def readers_of(root: Path = ROOT) -> Mapping[str, Readers]:
    """What each notebook and each module of the package reads, by its path in the project; declarations are left out."""
    found = {
        str(path.relative_to(root)): read_cells(notebook_cells(path))
        for path in sorted((root / "notebooks").glob("*.ipynb"))
    }
    for path in sorted((root / "fabricreport").rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        if not path.stem.endswith("figures") and _MENTION.search(source):
            found[str(path.relative_to(root))] = one = Readers()
            read_code(source, one)
    return found
