"""Letters to both sides of an open course: whose amounts stand in them."""

from __future__ import annotations

from dataclasses import replace

import bench
import pytest
import yaml
from monday_cases import facts, listed, of
from rows import rows

from fabricreport.blocks import open_section
from fabricreport.blocks.nodes import DataTable, plain_text
from fabricreport.blocks.prose import read_cell
from fabricreport.blocks.say import run_cell
from fabricreport.case import Case
from fabricreport.sections.decision.monday.kinds import Kind
from fabricreport.sections.decision.monday.study import Monday
from fabricreport.sections.decision.monday.tables import letters, todo

pytestmark = pytest.mark.slow


def said_of(case: Case, monday: Monday) -> list[tuple[str, str]]:
    """What each line says it is worth, and its letter, as printed."""
    body, annex, _ = open_section("decision", case)
    notebook = yaml.safe_load((bench.ROOT / "notebooks/decision.ipynb").read_text(encoding="utf-8"))
    for source in ("".join(c["source"]) for c in notebook["cells"]):
        if source.startswith("%%phrase"):
            run_cell(read_cell(source), {"body": body}, str)
    printed: list[list[str]] = []
    for section, table in ((body, todo(monday)), (annex, letters(monday))):
        section.table("tab-x", "What to do", table.columns, table.rows)
        node = section.emitted[-1].nodes[0]
        assert isinstance(node, DataTable)
        printed.append([plain_text(row.cells[-1]) for row in node.rows])
    return list(zip(*printed, strict=True))


@rows("name", ["renter", "landlord"])
def test_a_letter_writes_the_amounts_of_both_where_neither_is_advised_and_they_part(name: str) -> None:
    case = of(name)
    monday, at = listed(case), facts(case)
    rival = {p.id: p for p in at.tests.promises_of_rival}
    assert case.decision().verdict.open and set(at.promises) == set(rival)
    parted = {"busbw": ("worth", "price"), "weeks": ("worth", "price")}
    seen = set()
    for one, (worth, letter) in zip(monday.todos, said_of(case, monday), strict=True):
        for part, text in (("worth", worth), ("send", letter)):
            named = [at.names[o] in text for o in at.pair]
            if one.action.kind != Kind.BOTH:
                assert all(named) == (part in one.due.either) and any(named) == all(named), (one.action.kind, text)
        promise = {Kind.ACCEPTANCE: "busbw", Kind.WEEKS: "weeks", Kind.DELIVERY: "weeks"}.get(one.action.kind)
        if promise:
            own, other = at.promises[promise].price, rival[promise].price
            assert own and other and (parted[promise][0] in one.due.either) == (own.text != other.text)
            seen.add(one.action.kind)
        if one.action.kind == Kind.CLAUSE:
            assert one.due.either == {"worth", "send"}
            seen.add(one.action.kind)
    assert len(seen) > 1


@rows("name", ["example", "grower"])
def test_a_letter_writes_the_amounts_of_one_where_one_is_advised(name: str) -> None:
    assert not of(name).decision().verdict.open
    assert all(not one.due.either for one in listed(of(name)).todos)


def test_amounts_that_print_alike_are_written_once() -> None:
    case = of("renter")
    at = facts(case)
    own = at.promises["busbw"]
    alike = replace(at, tests=replace(at.tests, promises_of_rival=(own,)))
    apart = replace(own, passes=replace(own.passes, value=own.passes.value * 2), price=own.price)
    parting = replace(at, tests=replace(at.tests, promises_of_rival=(apart,)))
    unpriced = replace(at, tests=replace(at.tests, promises_of_rival=(replace(apart, price=None),)))
    assert not alike.apart("busbw", "passes", "price")
    assert parting.apart("busbw", "passes") and not parting.apart("busbw", "price")
    assert not unpriced.apart("busbw", "price") and not unpriced.apart("weeks", "passes")
