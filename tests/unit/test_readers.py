"""Who takes over what was made for another has read what it was made of, in whatever order the two asked."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from rows import rows
from scenario_cases import PARAMS

import fabricreport.case as case_module
import fabricreport.inputs as inputs_module
from fabricreport.case import Case, keep_open, let_go, open_case
from fabricreport.checking.examine import tried_out
from fabricreport.errors import InputError
from fabricreport.inputs import CORRELATION
from fabricreport.reads import EVERY
from fabricreport.scenario import SECTION_NAMES

pytestmark = pytest.mark.slow

FEW_DRAWS = 64


@pytest.fixture(autouse=True)
def few_draws() -> Iterator[None]:
    with mock.patch.object(inputs_module, "DRAWS", FEW_DRAWS):
        yield


@pytest.fixture
def client(tmp_path: Path) -> Path:
    """The example's params, with the price files beside them."""
    shutil.copytree(PARAMS / "prices", tmp_path / "prices")
    return Path(shutil.copy(PARAMS / "example.yaml", tmp_path / "params.yaml"))


def asked(case: Case, section: str) -> frozenset[str]:
    """What a reader of one section reads for its result and each of its figures."""
    mine = case.read_afresh()
    assert list(mine.result(section).numbers.values())
    return mine.reads


def test_a_section_of_a_case_that_others_analysed_has_read_no_less_than_alone(client: Path) -> None:
    alone = {section: asked(open_case(client), section) for section in SECTION_NAMES}
    shared = open_case(client)
    for section in reversed(SECTION_NAMES):
        asked(shared, section)
    assert all(alone.values())
    assert not [section for section in SECTION_NAMES if not asked(shared, section) >= alone[section]]


def test_a_case_that_a_check_tried_is_handed_on_once_with_what_it_read_and_reads_its_files_where_it_is_put(
    client: Path, tmp_path: Path
) -> None:
    alone, checked = asked(open_case(client), "decision"), open_case(client)
    assert not tried_out(checked)
    frozen = tmp_path / "frozen" / "params.json"
    frozen.parent.mkdir()
    shutil.copy(client, frozen)
    shutil.copytree(PARAMS / "prices", frozen.parent / "prices")
    keep_open(frozen, checked)
    handed = open_case(frozen)
    assert not handed.reads
    assert handed.chain is checked.chain
    assert handed.inputs.file("a.log") == frozen.parent / "a.log"
    assert asked(handed, "decision") >= alone
    assert open_case(frozen).chain is not checked.chain
    keep_open(frozen, checked)
    let_go(frozen)
    assert open_case(frozen).chain is not checked.chain


def test_what_two_sections_search_for_is_read_by_both(client: Path) -> None:
    case = open_case(client)
    moved = "price:switch-qm9700"
    ids = []
    for _ in range(2):
        reader = case.read_afresh()
        search = reader.search.read_by(reader.inputs)
        assert search.turn(moved).input_id == moved
        ids.append(reader.reads)
    assert ids[0] == ids[1] >= {moved, "params:seed", CORRELATION}


MEMOISED: dict[str, tuple[Callable[[Case], Any], set[str]]] = {
    "draw": (lambda c: c.inputs.draw("price:switch-qm9700"), {"price:switch-qm9700", "params:money", "params:seed"}),
    "price": (lambda c: c.inputs.prices.by_id("price:switch-qm9700"), {"price:switch-qm9700"}),
    "value": (lambda c: c.inputs.value("evidence:pue"), {"evidence:pue"}),
    "record": (lambda c: c.inputs.record("contested:optics-afr"), {"contested:optics-afr"}),
    "rate": (lambda c: c.inputs.rate("EUR"), {"price:fx-eur-usd", "params:money"}),
    "names": (lambda c: c.inputs.names, {"params:client", "params:providers", "params:options"}),
    "entries": (lambda c: list(c.inputs.evidence.values()), {EVERY["evidence"]}),
    "sources": (lambda c: c.inputs.evidence.sources(), {EVERY["evidence"]}),
    "contested entries": (lambda c: c.inputs.evidence.contested("optics-afr"), {EVERY["evidence"]}),
    "the book itself": (lambda c: c.inputs.books.evidence, set(EVERY.values())),
    "what is in force": (lambda c: c.inputs.in_force.prices, set(EVERY.values())),
    "overrides": (lambda c: c.inputs.overrides, {"params:overrides"}),
    "a figure quoted": (lambda c: c.figure("tco.gpu_hour_value"), {"value:figure:tco.gpu_hour_value"}),
}


@rows("what", MEMOISED)
def test_what_is_remembered_is_read_by_everyone_who_asks(client: Path, what: str) -> None:
    ask, ids = MEMOISED[what]
    case = open_case(client)
    found = []
    for _ in range(3):
        reader = case.read_afresh()
        ask(reader)
        found.append(reader.reads)
    assert found[0] == found[1] == found[2] >= ids


def test_whoever_meets_an_error_has_read_what_led_to_it(client: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def founder(given: inputs_module.Inputs, *_: Any) -> Any:
        given.draw("evidence:pue")
        raise ArithmeticError

    monkeypatch.setattr(case_module.tco, "run", founder)
    case = open_case(client)
    for _ in range(2):
        reader = case.read_afresh()
        with pytest.raises(ArithmeticError):
            reader.evidence()
        assert reader.reads >= {"evidence:pue", "price:switch-qm9700"}


def test_whether_a_what_if_is_possible_is_read_too(client: Path) -> None:
    case = open_case(client)
    before = case.reads
    with pytest.raises(InputError):
        case.changed(evidence={"no-such-entry": 1.0})
    assert case.reads > before
