"""Declared figures: listed without making any, made once when asked for, each id by one declaration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from fabricreport.case import Case, open_case
from fabricreport.declared import DECLARED
from fabricreport.figures import Declaration, DeclaredFigures, FigureSpec, Index, find_spec

pytestmark = pytest.mark.slow

PARAMS = Path(__file__).parents[2] / "params"


class Counting:
    """A context that counts how often a value is asked of it."""

    def __init__(self, **values: float) -> None:
        self.values: Mapping[str, float] = values
        self.asked: list[str] = []

    def value(self, key: str) -> float:
        self.asked.append(key)
        return self.values[key]


One, Each, Pair = FigureSpec[Counting], FigureSpec[Counting, str], FigureSpec[Counting, str, str]
TREE = Declaration(
    "tree",
    (
        One("tree.age", "day", label="Age", rule="told", value=7.0),
        Each("tree.leaf[branch]", "count", label=lambda _, b: f"Leaves of {b}", rule="counted", value=Counting.value),
        Each("tree.leaf[branch].low", "count", label="Fewest", rule="counted", value=0.0, when=lambda _, b: b != "b"),
        Pair("tree[part][branch]", "count", label="Parts", rule="counted", value=1.0),
    ),
    {"branch": Index(lambda at: at.values), "part": Index(lambda _: ["bark"], ["bark", "root"])},
)


@pytest.fixture(scope="module")
def case() -> Case:
    return open_case(PARAMS / "example.yaml")


def test_figures_are_listed_without_making_any_and_each_is_made_once(case: Case) -> None:
    at = Counting(**{"a": 1.0, "b.c": 2.0, "b": 3.0})
    numbers = DeclaredFigures(TREE, at, case.inputs)
    assert "tree.leaf.b.c" in numbers and "tree.leaf.b.low" not in numbers and len(numbers) == 1 + 3 + 2 + 3
    assert numbers.get("tree.none") is None
    assert not at.asked and not numbers.made
    assert [numbers["tree.leaf.b.c"].value for _ in range(3)] == [2.0] * 3
    assert at.asked == ["b.c"] and numbers.made == ("tree.leaf.b.c",)
    assert numbers["tree.leaf.b.c"].label == "Leaves of b.c"


def test_an_id_that_is_not_there_is_met_with_the_nearest(case: Case) -> None:
    with pytest.raises(KeyError, match=r"no figure tree\.leef\.a; did you mean tree\.leaf\.a\?"):
        DeclaredFigures(TREE, Counting(a=1.0), case.inputs)["tree.leef.a"]


def test_two_declarations_of_one_id_are_refused(case: Case) -> None:
    with pytest.raises(ValueError, match=r"tree\.leaf\.a\.low is declared twice"):
        len(DeclaredFigures(TREE, Counting(**{"a": 1.0, "a.low": 2.0}), case.inputs))


def test_a_pattern_names_its_section_and_known_indexes() -> None:
    spec = Each("tree.leaf[twig]", "count", label="Leaves", rule="counted", value=1.0)
    with pytest.raises(ValueError, match="no index twig"):
        Declaration("tree", (spec,))
    with pytest.raises(ValueError, match=r"bush\.age"):
        Declaration("tree", (One("bush.age", "day", label="Age", rule="told", value=7.0),))


@pytest.mark.parametrize(
    ("wanted", "pattern"),
    [
        ("tree.age", "tree.age"),
        ("tree.leaf.a", "tree.leaf[branch]"),
        ("tree.leaf.a.b", "tree.leaf[branch]"),
        ("tree.leaf.a.low", "tree.leaf[branch].low"),
        ("tree.leaf[any]", "tree.leaf[branch]"),
        ("tree.leaf[any].low", "tree.leaf[branch].low"),
        ("tree.leaf[any].high", None),
        ("tree.leaf.{x}", "tree.leaf[branch]"),
        ("tree.{what}.{x}", "tree.leaf[branch]"),
        ("tree.bark.a", "tree[part][branch]"),
        ("tree.bark[b]", "tree[part][branch]"),
        ("tree.twig.a", None),
        ("tree.agee", None),
    ],
)
def test_a_declaration_is_found_without_a_case(wanted: str, pattern: str | None) -> None:
    found = find_spec([TREE], wanted)
    assert (found and found.pattern) == pattern


def declared_numbers(case: Case) -> Iterator[tuple[str, DeclaredFigures]]:
    for section in DECLARED:
        numbers = case.result(section).numbers
        assert isinstance(numbers, DeclaredFigures)
        yield section, numbers


def test_every_figure_of_a_case_is_found_by_the_declaration_that_makes_it(case: Case) -> None:
    for _, numbers in declared_numbers(case):
        lost = [i for i in numbers if find_spec(DECLARED.values(), i) is not numbers.spec(i)]
        assert not lost


def test_the_order_in_which_figures_are_made_changes_none() -> None:
    first, second = (open_case(PARAMS / "tern-finetuning.yaml") for _ in range(2))
    forwards = {i: n.as_dict() for _, numbers in declared_numbers(first) for i, n in numbers.items()}
    ids = {section: list(numbers) for section, numbers in declared_numbers(second)}
    backwards = {i: second.figure(i).as_dict() for section in reversed(ids) for i in reversed(ids[section])}
    assert forwards == backwards
