"""Sentences stand whole in prose cells: none in a notebook's code, none in the package but labels, rules and messages."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from notebook_cells import EVERY, ROOT, plain, sources

from fabricreport.blocks.prose import is_prose, read_cell

MOST_WORDS = 8
DECISIONS = (ast.Compare, ast.IfExp, ast.FunctionDef, ast.Lambda, ast.JoinedStr, ast.BoolOp)
SAID_ELSEWHERE = {"label", "rule"}
"""Arguments whose text stands in the ledger beside a figure."""


def words(value: str) -> int:
    return len(value.split())


def strings(tree: ast.AST) -> Iterator[ast.Constant | ast.JoinedStr]:
    """Whole strings of a tree: an f-string once, not in its pieces."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str)):
            yield node
        else:
            yield from strings(node)


def length(node: ast.Constant | ast.JoinedStr) -> int:
    if isinstance(node, ast.Constant):
        return words(str(node.value))
    return words("".join(str(part.value) if isinstance(part, ast.Constant) else "x" for part in node.values))


@pytest.mark.parametrize("section", EVERY)
def test_code_cells_hold_no_sentence_no_condition_and_no_number_of_their_own(section: str) -> None:
    for number, (source, _) in enumerate(sources(section), start=1):
        if is_prose(source):
            read_cell(source)
            continue
        tree, where = ast.parse(plain(source)), f"{section}.ipynb, cell {number}"
        assert [ast.unparse(s) for s in strings(tree) if length(s) > MOST_WORDS] == [], where
        assert [ast.unparse(n) for n in ast.walk(tree) if isinstance(n, DECISIONS)] == [], where
        assert "case.number" not in source, where


@pytest.mark.parametrize("section", EVERY)
def test_most_words_of_a_notebook_stand_in_prose_cells(section: str) -> None:
    prose = sum(words(s.partition("\n")[2]) for s, _ in sources(section) if is_prose(s))
    code = sum(words(s) for s, _ in sources(section) if not is_prose(s))
    assert prose >= 0.6 * (prose + code)


def _spoken(tree: ast.AST) -> Iterator[ast.Constant | ast.JoinedStr]:
    """Strings that may reach a memo: no docstring, no exception's message, no label or rule, no member of an enum."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Raise | ast.Assert) or (isinstance(node, ast.keyword) and node.arg in SAID_ELSEWHERE):
            continue
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue
        if isinstance(node, ast.ClassDef) and any(isinstance(b, ast.Name) and b.id == "StrEnum" for b in node.bases):
            continue
        if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str)):
            yield node
        else:
            yield from _spoken(node)


@pytest.mark.parametrize("section", EVERY)
def test_no_sentence_stands_in_a_section_s_modules(section: str) -> None:
    found = [
        f"{path.name}:{node.lineno} {ast.unparse(node)}"
        for path in sorted(Path(ROOT / "fabricreport/sections" / section).rglob("*.py"))
        if not path.stem.endswith("figures")  # labels and rules alone
        for node in _spoken(ast.parse(path.read_text(encoding="utf-8")))
        if length(node) > MOST_WORDS
    ]
    assert found == []
