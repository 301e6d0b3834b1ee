"""Cells with arms, and choices within a line: which text is said, and what is refused before anything runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations
from pathlib import Path
from typing import Any, Literal

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st
from notebook_cells import EVERY, sources
from rows import rows

from fabricreport.blocks import Column, Named, Row, Section, Table
from fabricreport.blocks.cells import run_cell
from fabricreport.blocks.nodes import Text
from fabricreport.blocks.prose import MOST_ARMS, ProseFault, is_prose, read_cell, refuse_misfit
from fabricreport.bodies.bodies import SPINE
from fabricreport.check.prose import kinds_of, prose_faults
from fabricreport.ledger.facts import Facts
from fabricreport.ledger.numbers import Number


class Advice(StrEnum):
    TAKE = "one is taken"
    ASK = "offers are asked for"
    WAIT = "nothing is decided"


@dataclass(frozen=True)
class Turns(Facts):
    advice: Advice
    way: Literal["up", "down"] = "up"


class Case:
    """A lead of one dollar, none, or less than none, of the first over the second."""

    names: Sequence[str] = ()
    values = {"tco.ahead": 1.0, "tco.level": 0.0, "tco.behind": -1.0, "tco.two": 2.0}  # noqa: RUF012 - never written to

    def figure(self, figure_id: str) -> Number:
        if figure_id == "tco.alone":
            return Number(figure_id, 1.0, "count", "Alone", "counted")
        return Number(figure_id, self.values[figure_id], "count", "Lead", "counted", compares=("a", "b"))

    def record(self, input_id: str) -> dict[str, Any]:
        return {"id": input_id}


def said(source: str, advice: Advice = Advice.TAKE, **words: object) -> str:
    """What a cell says: its words, with those of its table."""
    body = Section("tco", Case(), words=words, facts=Turns(advice))
    run_cell(read_cell(source), {"body": body}, lambda _: Table([Column("A")], [Row(["one"])]))
    inlines = (node for block in body.emitted for node in block.nodes)
    return " ".join(plain(inlines).split())


def plain(nodes: Any) -> str:
    found: list[str] = []

    def take(value: Any) -> None:
        if isinstance(value, Text):
            found.append(value.words)
        elif isinstance(value, tuple | list):
            for one in value:
                take(one)
        elif hasattr(value, "__dataclass_fields__"):
            for name in value.__dataclass_fields__:
                take(getattr(value, name))

    take(tuple(nodes))
    return "".join(found)


CELL = "%%say by=advice\n[take]\nTake it.\n[ask]\nAsk for offers.\n[wait]"


def test_of_a_cell_s_arms_that_of_its_fact_is_said_and_no_other() -> None:
    assert [said(CELL, advice) for advice in Advice] == ["Take it.", "Ask for offers.", ""]
    several = "%%say by=advice\n[take, wait]\nSo.\n[ask]\nOr so."
    assert [said(several, advice) for advice in Advice] == ["So.", "Or so.", "So."]
    assert said("%%say by=way\n[up]\nUp.\n[down]\nDown.") == "Up."


def test_what_stands_before_the_arms_begins_each_that_says_something() -> None:
    cell = "%%say by=advice\nMind this:\n[take]\ntake it.\n[ask]\nask.\n[wait]"
    assert [said(cell, advice) for advice in Advice] == ["Mind this: take it.", "Mind this: ask.", ""]
    table = "%%table tab-x from=t by=advice\ncaption: C.\nnote: N\n[take]\nnote: of one.\n[ask]\nnote: of two.\n[wait]"
    assert "C." in said(table) and "N of one." in said(table) and "N of two." in said(table, Advice.ASK)
    assert said(table, Advice.WAIT) == ""


@rows(
    ("arms", "told"),
    [
        ("[take]\na\n[ask]\nb", r"has no arm \[wait\]"),
        ("[take]\na\n[ask]\nb\n[wiat]\nc", r"may not be \[wiat\]; did you mean \[wait\]\?"),
        ("[take]\na\n[ask, take]\nb\n[wait]", r"two arms of \[take\]"),
        ("[take, ask]\na\n[Wait]\nb", r"may not be \[Wait\]; did you mean \[wait\]"),
        ("Take it.", "has an arm for each of its values"),
    ],
)
def test_arms_that_are_not_the_values_of_the_fact_are_refused(arms: str, told: str) -> None:
    with pytest.raises(ProseFault, match=told):
        said(f"%%say by=advice\n{arms}")


@rows(
    ("line", "told"),
    [
        ("%%say by=advise", "no such fact; did you mean advice"),
        ("%%say by=advice when=finding.x", "no when= beside it"),
        ("%%say by=advice.kind", "goes by one fact"),
    ],
)
def test_a_cell_goes_by_one_fact_that_there_is(line: str, told: str) -> None:
    with pytest.raises(ProseFault, match=told):
        said(f"{line}\n[take]\na\n[ask]\nb\n[wait]")


def test_a_cell_has_few_arms_that_say_something() -> None:
    arms = "".join(f"[v{n}]\nText.\n" for n in range(MOST_ARMS))
    assert len(read_cell(f"%%say by=x\n{arms}[rest]").ways) == MOST_ARMS
    with pytest.raises(ProseFault, match="too many"):
        read_cell(f"%%say by=x\n{arms}[rest]\nText.")


@given(st.sets(st.sampled_from(["take", "ask", "wait"])), st.randoms())
def test_arms_are_refused_unless_every_value_has_one(covered: set[str], random: Any) -> None:
    """However they are grouped, and in whatever order."""
    every = {*Turns.kinds()["advice"]}
    order = sorted(covered)
    random.shuffle(order)
    cut = random.randint(0, len(order))
    groups = [g for g in (order[:cut], order[cut:]) if g]
    text = "".join(f"[{', '.join(group)}]\nText {n}.\n" for n, group in enumerate(groups))
    if covered == every:
        cell = read_cell(f"%%say by=advice\n{text}")
        refuse_misfit(cell, Turns.kinds())
        assert all(cell.said_of(value) is not None for value in every)
    else:
        with pytest.raises(ProseFault):
            refuse_misfit(read_cell(f"%%say by=advice\n{text}"), Turns.kinds())


def notebook(path: Path, *cells: str) -> Path:
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in cells]), path)
    return path


@rows(
    ("cell", "refused"),
    [
        ("%%say\n{choice} costs {decision.cash:abs} less.", True),
        ("%%say\n{choice} costs {decision.cash:abs} {more_or_less:decision.cash}.", False),
        ("%%say\nIt costs {decision.total[choice]} less.", False),
        ("%%say when=finding.clear\n{choice} costs {decision.cash:abs} less.", False),
        ("%%say by=footing\n[assumed]\n{choice} costs {decision.cash:abs} less.\n[sourced]", False),
    ],
)
def test_a_direction_is_not_typed_where_nothing_decides_it(tmp_path: Path, cell: str, refused: bool) -> None:
    told = [str(fault) for fault in prose_faults(notebook(tmp_path / "buy_once.ipynb", cell))]
    assert len(told) == refused
    assert all("typed by hand" in fault and "{more_or_less:decision.cash}" in fault for fault in told)


@rows(
    ("cell", "refused"),
    [
        ("%%say\n{choice} is the cheapest.", True),
        ("%%say\nOf all options only {rival} is in time.", True),
        ("%%say\nYour largest job takes {latency.step[choice]}.", False),
        ("%%say\n{choice} costs {decision.cash:abs} {more_or_less:decision.cash}. The largest message counts.", False),
        ("%%say\n{if:third|{third} is the cheapest.|}", False),
        ("%%say by=footing\n[assumed]\n{choice} is the cheapest.\n[sourced]", False),
    ],
)
def test_what_sets_one_apart_is_not_typed_beside_its_name_where_nothing_decides_it(
    tmp_path: Path, cell: str, refused: bool
) -> None:
    told = [str(fault) for fault in prose_faults(notebook(tmp_path / "buy_once.ipynb", cell))]
    assert len(told) == refused
    assert all("typed by hand beside a name" in fault for fault in told)


def test_a_misfit_is_told_by_cell_before_a_kernel_starts(tmp_path: Path) -> None:
    undirected = "%%say\n{more_or_less:decision.cash} {more_or_less:tco.total[a]}"
    path = notebook(tmp_path / "buy_once.ipynb", "x = 1", "%%say by=no_such_fact\n[take]\na", undirected)
    unknown, without = map(str, prose_faults(path))
    assert "buy_once.ipynb, cell 2" in unknown and "no such fact" in unknown
    assert "cell 3" in without and "{more_or_less:tco.total[a]}" in without


def test_a_choice_says_what_there_is_or_that_there_is_none() -> None:
    cell = "%%say\nSo.{if:third| The next, {third}, costs more.| There is no third.}"
    third = Named("C", "c")
    assert said(cell, third=third) == "So. The next, C, costs more."
    assert {said(cell, third=nothing) for nothing in (None, "", ())} == {"So. There is no third."}
    with pytest.raises(ProseFault, match=r"\{if:thrid\|…\}: no word thrid"):
        said(cell.replace("if:third", "if:thrid"), third=third)


def test_a_choice_tells_one_from_several_by_things_or_by_a_figure() -> None:
    cell = "%%say\n{one:sellers|A seller has|Sellers have} answered."
    one, two = (Named("A", "a"),), (Named("A", "a"), Named("B", "b"))
    assert [said(cell, sellers=s) for s in (one, two)] == ["A seller has answered.", "Sellers have answered."]
    assert [said(f"%%say\n{{one:{figure}|day|days}}") for figure in ("tco.ahead", "tco.two")] == ["day", "days"]
    with pytest.raises(ProseFault):  # a choice holds no choice
        said("%%say\n{one:sellers|A seller|{one:sellers|x|Sellers}}", sellers=one)
    with pytest.raises(ProseFault, match="cannot be counted"):
        said("%%say\n{one:choice|a|b}", choice=Named("A", "a"))


@rows(
    ("figure", "told"),
    [("tco.ahead", "less shorter"), ("tco.level", "the same as long"), ("tco.behind", "more longer")],
)
def test_a_direction_is_the_sign_of_its_figure_as_printed(figure: str, told: str) -> None:
    """Above zero the first of the two has less."""
    assert said(f"%%say\n{{more_or_less:{figure}}} {{longer_or_shorter:{figure}}}") == told


@rows(
    ("keys", "told"),
    [(["two", "ahead"], "b-two"), (["level", "ahead"], "b-ahead"), (["ahead", "behind"], "b-ahead and b-behind")],
)
def test_the_largest_of_several_is_worked_out_by_size_as_printed_and_those_alike_are_named_together(
    keys: list[str], told: str
) -> None:
    things = tuple(Named(f"b-{key}", key) for key in keys)
    assert said("%%say\n{most:tco[causes]} counts.", causes=things) == f"{told} counts."
    assert said("%%say\n{most} counts.", most=Named("A word", "w")) == "A word counts."
    with pytest.raises(ProseFault, match="of no several things"):
        said("%%say\n{most:tco.two} counts.")


def test_a_figure_that_tells_no_two_apart_has_no_direction() -> None:
    with pytest.raises(ProseFault, match="tells no two options apart"):
        said("%%say\n{more_or_less:tco.alone}")


@rows("notebook", EVERY)
def test_every_fact_has_a_cell_and_its_values_are_told_apart(notebook: str) -> None:
    """A value that no cell tells from another is no argument."""
    kinds = kinds_of(notebook)
    cells = [cell for source, _ in sources(notebook) if is_prose(source) and (cell := read_cell(source)).by]
    for cell in cells:
        refuse_misfit(cell, kinds)
    alike = [
        (fact, one, other)
        for fact, values in kinds.items()
        for one, other in combinations(values, 2)
        if all(cell.said_of(one) is cell.said_of(other) for cell in cells if cell.by == fact)
    ]
    assert alike == []


MOST_CELLS = 130
"""Fewer cells than that say the body of a memo."""


def test_a_body_is_few_cells() -> None:
    for body in SPINE:
        assert sum(is_prose(source) for source, _ in sources(body)) < MOST_CELLS
