"""What the evidence section says of itself: each finding true of one case and false of another, the words always the same."""

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
from fabricreport.findings import Named, Spoken
from fabricreport.ledger import Number
from fabricreport.sections.evidence.findings import EvidenceFinding as F
from fabricreport.sections.evidence.findings import spoken
from fabricreport.sections.evidence.result import EvidenceResult

pytestmark = pytest.mark.slow
GROUPS = ({F.MOSTLY_ASSUMED, F.MOSTLY_SOURCED}, {F.HALF_FALLS, F.MORE_STANDS})


@pytest.fixture(scope="module")
def case() -> Case:
    return bench.case("example")


@pytest.fixture(scope="module")
def lab() -> Case:
    return bench.case("kestrel-lab")


def told(case: Case, **made: Any) -> Spoken:
    """What the section says of a case whose result is changed in some fields."""
    found = spoken(case.inputs, replace(case.evidence(), **made))
    for group in GROUPS:
        assert sum(f in found.findings for f in group) == 1, group
    return found


def holds(case: Case, **made: Any) -> set[F]:
    found = told(case, **made).findings
    return {f for f in F if f in found}


def counted(result: EvidenceResult, **counts: float) -> dict[str, Any]:
    """A result with other counts; `used_assumption` stands for `evidence.used.assumption`."""
    made = {f"evidence.{name.replace('_', '.')}": value for name, value in counts.items()}
    numbers = {id: Number(id, value, "count", "Count", "made up") for id, value in made.items()}
    return {"numbers": {**result.numbers, **numbers}}


def test_every_client_has_the_same_words(case: Case, lab: Case) -> None:
    words = [set(told(c).words) for c in (case, lab)]
    assert words[0] and words[0] == words[1]


def test_the_advice_rests_on_assumptions_where_they_are_more_than_half(case: Case) -> None:
    result = case.evidence()
    assert F.MOSTLY_ASSUMED in holds(case, **counted(result, used=100, used_assumption=51))
    assert F.MOSTLY_SOURCED in holds(case, **counted(result, used=100, used_assumption=50))


def test_half_of_the_claims_falls_where_no_more_than_half_stands(case: Case) -> None:
    result = case.evidence()
    assert F.HALF_FALLS in holds(case, **counted(result, claims=10, claims_standing=5))
    assert F.MORE_STANDS in holds(case, **counted(result, claims=10, claims_standing=6))


def test_what_is_not_there_is_not_spoken_of(case: Case) -> None:
    result = case.evidence()
    there = {F.CONTRADICTED, F.OTHERS_CONTESTED, F.LESSER_FACTS}
    assert there <= holds(case)
    bare = {"contradictions": (), "disagreements": result.bearing, "facts": tuple(f for f in result.facts if f.bears)}
    assert not there & holds(case, **bare)


def test_a_price_that_the_files_lack_is_named(case: Case) -> None:
    result = case.evidence()
    assert F.STOOD_IN not in holds(case)
    stood_in = (replace(result.prices[0], stand_in=True), *result.prices[1:])
    assert F.STOOD_IN in holds(case, prices=stood_in)
    assert told(case, prices=stood_in).words["shipped"] == result.prices[0].item


def test_a_memo_that_no_price_of_the_files_enters_says_so(case: Case) -> None:
    assert F.PRICED in holds(case)
    assert F.PRICED not in holds(case, prices=())


def test_a_row_held_back_is_told_with_the_reason(case: Case) -> None:
    assert F.HELD not in holds(case)
    item = case.evidence().prices[0].item
    book = mock.Mock(wraps=case.inputs.prices, quarantine=(mock.Mock(item=item, message="ten times dearer"),))
    given = mock.Mock(wraps=case.inputs, prices=book, params=case.params, elicited=case.inputs.elicited)
    found = spoken(given, case.evidence())
    assert F.HELD in found.findings and found.words["held"] == f"{item_names(item).row} (ten times dearer)"


def test_what_the_client_replaced_or_measured_is_told(case: Case) -> None:
    mine, stated = case.inputs, case.params

    def of(**params: Any) -> set[str]:
        params = {"overrides": (), "measurements": (), "client": stated.client, "seed": 1} | params
        given = mock.Mock(
            wraps=mine, prices=mine.prices, params=mock.Mock(wraps=stated, **params), elicited=mine.elicited
        )
        return {F.OVERRIDDEN, F.MEASURED} & set(spoken(given, case.evidence()).findings)

    assert of() == set()
    assert of(overrides=("price:electricity",)) == {F.OVERRIDDEN}
    assert of(measurements=("log.txt",)) == {F.MEASURED}


def test_the_quantity_on_which_sources_differ_most_is_one_that_bears_on_the_case(case: Case) -> None:
    words = told(case).words
    widest, disputed = words["widest"], words["disputed"]
    assert isinstance(widest, Named) and isinstance(disputed, tuple)
    assert widest.key in {d.key for d in disputed} == {d.id for d in case.evidence().bearing}
    assert {d.said["scale"] for d in disputed} == {"even", "logarithmic"}
    ratio = {d.id: d.quantity.prior_high / d.quantity.prior_low for d in case.evidence().bearing}
    assert ratio[widest.key] == max(ratio.values())


def test_the_page_and_its_annex_hold_no_bare_number(case: Case) -> None:
    space: dict[str, Any] = {}
    with mock.patch("fabricreport.case.open_case", lambda _: case):
        for source, _ in sources("evidence"):
            run(source, space)
    blocks = space["body"].emitted
    assert len(blocks) > 30
    for block in blocks:
        for _, text in texts(block.nodes):
            assert bare_numbers(text, block.names) == [], text
