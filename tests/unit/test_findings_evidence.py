"""What the evidence section says of a client: each finding true of one case and false of another."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from unittest import mock

import bench
import pytest
from notebook_cells import run, sources

from fabricreport.blocks.gate import bare_numbers, texts
from fabricreport.books.names import item_names
from fabricreport.case import Case
from fabricreport.ledger.facts import Spoken
from fabricreport.ledger.numbers import Number
from fabricreport.sections.evidence.facts import EvidenceFinding as F
from fabricreport.sections.evidence.facts import spoken

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def case() -> Case:
    return bench.case("example")


def told(case: Case, **made: Any) -> Spoken:
    """What the section says of a case whose result is changed in some fields."""
    return spoken(case.inputs, replace(case.evidence(), **made))


def test_the_advice_rests_on_assumptions_where_they_are_more_than_half(case: Case) -> None:
    numbers = case.evidence().numbers

    def of(assumed: float) -> Any:
        made = {"evidence.used": 100.0, "evidence.used.assumption": assumed}
        counts = {id: Number(id, value, "count", "Count", "made up") for id, value in made.items()}
        return told(case, numbers={**numbers, **counts}).findings

    assert F.MOSTLY_ASSUMED in of(51) and F.MOSTLY_ASSUMED not in of(50)


def test_a_price_that_the_files_lack_is_named(case: Case) -> None:
    result = case.evidence()
    assert F.STOOD_IN not in told(case).findings
    stood_in = (replace(result.prices[0], stand_in=True), *result.prices[1:])
    found = told(case, prices=stood_in)
    assert F.STOOD_IN in found.findings and found.words["shipped"] == result.prices[0].item


def test_a_memo_that_no_price_of_the_files_enters_says_so(case: Case) -> None:
    one = case.evidence().prices[0]
    of = {stale: told(case, prices=(replace(one, stale=stale),)).findings for stale in (True, False)}
    assert F.STALE in of[True] and F.IN_DATE in of[False] and F.UNPRICED in told(case, prices=()).findings
    assert not {F.STALE, F.UNPRICED} & {*of[False]}


def test_a_row_held_back_is_told_by_name(case: Case) -> None:
    assert F.HELD not in told(case).findings
    item = case.evidence().prices[0].item
    book = mock.Mock(wraps=case.inputs.prices, quarantine=(mock.Mock(item=item, message="ten times dearer"),))
    given = mock.Mock(wraps=case.inputs, prices=book, params=case.params, elicited=case.inputs.elicited)
    found = spoken(given, case.evidence())
    assert F.HELD in found.findings and [str(row) for row in found.words["held"]] == [item_names(item).row]


def test_the_annex_holds_no_bare_number(case: Case) -> None:
    space: dict[str, Any] = {}
    with mock.patch("fabricreport.case.open_case", lambda _: case):
        for source, _ in sources("evidence"):
            run(source, space)
    blocks = space["body"].emitted
    assert len(blocks) >= 3
    for block in blocks:
        for _, text in texts(block.nodes):
            assert bare_numbers(text, block.names) == [], text
