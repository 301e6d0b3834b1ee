"""Laws of the dagger, on the example clients and clients drawn at random: no total is cleaner than a heavy part of it."""

from __future__ import annotations

from collections.abc import Iterator

import bench
import pytest
from fuzz_cases import some
from test_close_laws import drawn_keys

from fabricreport.blocks import Table
from fabricreport.bodies.tables import stages
from fabricreport.case import Case
from fabricreport.ledger.numbers import AGED, Number
from fabricreport.memo.document.checks import Line, Shown, too_clean
from fabricreport.sections.tco import tables

pytestmark = [pytest.mark.slow]
AT_FULL = 1.5 * AGED
"""The network at today's prices, which is more than its present value in the total, and may rest less on one old price."""
EXAMPLES = ("example", "tern-finetuning", "kestrel-lab", "halden-cloud")


def lines(table: Table) -> list[Line]:
    return [(r.role, [Shown(c.value, c.stale) if isinstance(c, Number) else None for c in r.cells]) for r in table.rows]


def tables_with_totals(case: Case) -> Iterator[Table]:
    result = case.tco()
    yield tables.causes(case.inputs, result)
    if result.ownership is not None:
        yield tables.materials(case.inputs, result)
        yield stages(result)


def faults(case: Case) -> list[str]:
    """Every total of a case that is too clean: those of tables, and those that stand beside their parts."""
    found = []
    for table in tables_with_totals(case):
        rows = lines(table)
        assert any(role == "total" and any(cells) for role, cells in rows), "a table of totals"
        found += [str(table.rows[r].cells[0]) for r, _ in too_clean(rows)]
    number = case.decision().numbers
    for gap in (i for i in number if i.startswith("decision.gap.")):
        whole, parts = number[gap], [number[gap.replace(".gap.", f".{part}.")] for part in ("cash_gap", "time_gap")]
        heavy = any(p.stale and abs(p.value) >= AGED * abs(whole.value) for p in parts)
        found += [gap] if heavy and not whole.stale else []
    totals = {i.rpartition(".")[2]: one for i, one in case.tco().numbers.items() if i.startswith("tco.total.")}
    found += [
        o
        for o, one in totals.items()
        if f"decision.total.{o}" in number and number[f"decision.total.{o}"].stale != one.stale
    ]
    return found


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_bill_is_no_cleaner_than_the_network_in_it(name: str) -> None:
    """The tile of page one has the network at today's prices beside the bill, in which it is its present value."""
    case = bench.case(name)
    bought = {i: n for i, n in case.tco().numbers.items() if i.startswith("tco.fabric_capex.") and n.stale}
    wholes = [case.figure(i.replace("tco.fabric_capex", "decision.total")) for i in bought]
    heavy = [w for w, n in zip(wholes, bought.values(), strict=True) if n.value >= AT_FULL * w.value]
    assert all(whole.stale for whole in heavy) and (name != "halden-cloud" or heavy)


@pytest.mark.parametrize("name", some(EXAMPLES, 2))
def test_no_total_of_an_example_is_cleaner_than_a_part_above_the_mark(name: str) -> None:
    assert not faults(bench.case(name))


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.laws(1)
def test_no_total_of_a_client_is_cleaner_than_a_part_above_the_mark(seed: int) -> None:
    assert not faults(bench.changed("example", **drawn_keys(seed)))


PAID_FOR = {"weeks": ("weeks", "clause"), "delivery": ("delivery",)}
"""The steps that a promise of the terms may be worth something in."""


@pytest.mark.parametrize("name", some([*EXAMPLES, "moe-256-six-weeks", "launch-512-rented"], 3))
def test_what_a_promise_brings_is_no_cleaner_than_what_is_paid_for_it(name: str) -> None:
    case = bench.case(name)
    terms, worth = case.diligence().terms, {str(t.action.kind) for t in case.monday().todos if t.due.worth}
    late = {"weeks": terms.weeks, "delivery": terms.delivery}
    for promise, kinds in PAID_FOR.items():
        paid = terms.damages[promise].stale
        assert paid or not terms.loss[promise].stale or not late[promise].by_share
        assert all(case.figure(f"decision.worth.{kind}").stale for kind in worth.intersection(kinds) if paid)
    credit = terms.credits.get(1)
    if credit is not None and credit.rate.stale and "acceptance" in worth:
        assert case.figure("decision.worth.acceptance").stale


def test_an_hour_whose_worth_is_stated_makes_no_loss_old() -> None:
    """The client's own $3 an hour is behind them, whatever the network costs that caps what is paid in all."""
    terms = bench.case("example").diligence().terms
    assert not any(n.stale for n in (*terms.loss.values(), *terms.damages.values()))


def test_the_walk_finds_a_total_that_is_too_clean() -> None:
    old, new, whole = Shown(10.0, True), Shown(90.0, False), Shown(100.0, False)
    assert list(too_clean([("normal", [old]), ("normal", [new]), ("total", [whole])])) == [(2, 0)]
    assert not list(too_clean([("normal", [Shown(4.0, True)]), ("normal", [new]), ("total", [whole])]))
    assert not list(too_clean([("normal", [old]), ("group", [None]), ("normal", [new]), ("total", [whole])]))
    assert list(too_clean([("normal", [old]), ("total", [Shown(100.0, True)]), ("total", [whole])])) == [(2, 0)]
