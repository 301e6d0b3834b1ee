"""A price that is missing, held back or unreadable is answered by the shipped one, or refused with what mends it."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from check_cases import HEADER, OVERRIDE, desk, line_of, only
from rows import rows
from scenario_cases import PARAMS, minimal

from fabricreport.books.equipment import gpu_types
from fabricreport.books.evidence import read_evidence
from fabricreport.books.options import read_options
from fabricreport.books.prices.book import PriceBook, baseline
from fabricreport.books.prices.files import parse_prices
from fabricreport.books.prices.reports import show_prices
from fabricreport.case import Case, open_case
from fabricreport.check.check import check
from fabricreport.inputs.inputs import Inputs
from fabricreport.memo.run.plan import Places, load_checked
from fabricreport.scenario import params_from
from fabricreport.scenario.schema import Currency, Gpu
from fabricreport.sections.requirements import asked_inputs, unanswered

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("few_draws")]


def case_of(book: PriceBook, **keys: Any) -> Case:
    data = minimal() | {"as_of": "2026-11-27"}
    for dotted, value in keys.items():
        section, _, key = dotted.partition("__")
        data[section] = data.get(section, {}) | {key: value} if key else value
    return Case(Inputs(params_from(data), PARAMS, EVIDENCE, book, OPTIONS))


SHIPPED, EVIDENCE, OPTIONS = PriceBook.read(PARAMS / "prices"), read_evidence(), read_options()
EMPTY = PriceBook.of(())
TWO = ["infiniband-ndr", "rocev2-branded-400g"]
GPUS: tuple[str, ...] = Gpu.__args__  # type: ignore[attr-defined]


@pytest.mark.laws(12)
@pytest.mark.parametrize("item", sorted({r.item for r in baseline()}))
def test_a_price_missing_from_the_files_is_the_shipped_one_and_says_so(item: str) -> None:
    book = replace(SHIPPED, rows=tuple(r for r in SHIPPED.rows if r.item != item))
    case = case_of(book)
    assert not case.problems()
    there, without = SHIPPED.at(case.as_of)[item], case.prices[item]
    assert (without.price, without.date, without.grade) == (there.price, there.date, there.grade)
    assert without.stand_in and without.stand_in.lower() in case.record(f"price:{item}")["use"].lower()
    assert not case.prices["switch-qm9700" if item != "switch-qm9700" else "electricity"].stand_in


def test_a_missing_price_is_noted_only_where_the_case_needs_it(tmp_path: Path) -> None:
    path = desk(tmp_path)
    for file in (tmp_path / "prices").glob("*.csv"):
        kept = [x for x in file.read_text().splitlines() if not x.startswith(("switch-qm9700,", "nic-bluefield3,"))]
        file.write_text("\n".join(kept) + "\n", encoding="utf-8")
    found = check(path)
    told = [n for n in found.notes if "switch-qm9700" in n]
    assert not found.problems and len(told) == 1 and str(tmp_path / "prices") in told[0]
    assert "32,870 USD of 2026-07-04" in told[0] and "bluefield" not in "".join(found.notes)
    assert told[0] in load_checked(path, Places()).notes, "a build says it too"
    assert "SHIPPED" in show_prices(tmp_path / "prices", date(2026, 11, 20), "switch-qm9700").text()


@pytest.mark.laws(6)
@pytest.mark.parametrize("gpu", GPUS)
@pytest.mark.parametrize("acquisition", ["buy", "lease", "rent", "colocate"])
def test_without_any_price_of_its_own_a_case_is_answered_by_the_shipped_ones(gpu: str, acquisition: str) -> None:
    per_node = gpu_types().of(gpu).gpus_per_node
    keys = {"cluster__gpu": gpu, "cluster__gpus_per_node": per_node, "cluster__gpus": 8 * per_node}
    case = case_of(EMPTY, **keys, money__acquisition=acquisition)
    assert not case.problems()
    assert {a.input_id for a in asked_inputs(case.inputs) if a.input_id.startswith("price:")} <= {
        p.id for p in case.prices.values() if p.stand_in
    }


RUN = {
    "rent": {"money__acquisition": "rent", "providers": [{"name": "CoreWeave"}]},
    "colocate": {"money__acquisition": "colocate", "money__currency": "EUR", "cluster__gpu": "b200"},
    "refers": {"money__gpu_hour_value": "price:gpu-hour-h100-on-demand", "money__currency": "GBP"},
}


@rows("name", RUN)
def test_the_analyses_run_on_shipped_prices_alone_and_ask_for_nothing_unchecked(name: str) -> None:
    case = case_of(EMPTY, **RUN[name])
    assert not unanswered(case.inputs)
    results = [case.result(section) for section in ("latency", "tail_risk", "tco")]
    drawn = {i for result in results for number in result.numbers.values() for i in number.inputs}
    drawn |= {*case.tco().inputs, *case.knowledge.rests_on}
    asked = {a.input_id for a in asked_inputs(case.inputs)} | {"price:fx-eur-usd", "price:fx-gbp-usd"}
    priced = {i for i in drawn if i.startswith("price:")}
    assert priced and priced <= asked


def test_a_memo_dated_before_a_price_is_refused_with_the_first_date_of_it(tmp_path: Path) -> None:
    path = desk(tmp_path, minimal() | {"as_of": "2025-01-31"})
    problems = check(path).problems
    nic = [p for p in problems if "nic-connectx7-400g" in p.message]
    assert only(tuple(nic)).key == "as_of" and nic[0].line == line_of(path, "as_of") and "2026-" in nic[0].message
    assert all(p.file == str(path) and p.line for p in problems) and len({p.message for p in problems}) == len(problems)


@rows("currency", [c for c in Currency.__args__ if c != "USD"])  # type: ignore[attr-defined]
def test_a_currency_without_a_rate_is_refused_and_the_remedy_mends_it(currency: str) -> None:
    item = f"fx-{currency.lower()}-usd"
    rows, shipped = (tuple(r for r in given if r.item != item) for given in (SHIPPED.rows, SHIPPED.shipped))
    without = replace(SHIPPED, rows=rows, shipped=shipped)
    problem = only(unanswered(case_of(without, money__currency=currency).inputs))
    assert problem.key == "money.currency" and f"{item} with unit usd" in problem.remedy
    row, _ = parse_prices(f"{HEADER}\n{item},usd,0.5,,,USD,2026-10-01,,A bank,quote\n", "own.csv")
    assert not unanswered(case_of(replace(without, rows=(*rows, *row)), money__currency=currency).inputs)


# ---- an item none of whose rows can be used, where a refresh goes on all the same


BROKEN = 'switch-mine,each,1000,,,EUR,2026-10-01,,"=HYPERLINK(""x"")",quote'


def with_broken_item(folder: Path, row: str, *overrides: dict[str, Any]) -> Path:
    option = {
        "id": "mine",
        "like": "infiniband-ndr",
        "name": "Mine",
        "pieces": {"switch": {"price": "price:switch-mine", "watts": "evidence:switch-qm9700-watts"}},
    }
    path = desk(
        folder, minimal() | {"options": ["mine", "rocev2-branded-400g"], "overrides": list(overrides)}, prices=row
    )
    (folder / "options").mkdir()
    (folder / "options" / "own.yaml").write_text(yaml.safe_dump([option], sort_keys=False), encoding="utf-8")
    return path


def test_an_item_without_a_usable_row_names_the_row_and_the_override_as_remedies(tmp_path: Path) -> None:
    path = with_broken_item(tmp_path, BROKEN)
    problem = only(check(path, going_on=True).problems)
    assert problem.file == str(tmp_path / "options/own.yaml") and problem.key == "mine.pieces.switch.price"
    assert f"{tmp_path / 'prices/own.csv'}:2" in problem.remedy and "overrides" in problem.remedy


def test_the_override_named_as_remedy_rescues_the_item(tmp_path: Path) -> None:
    path = with_broken_item(tmp_path, BROKEN, OVERRIDE | {"id": "price:switch-mine", "value": 1200})
    assert not check(path, going_on=True).problems and only(check(path).problems).key == "source"
    case = open_case(path)
    record = case.record("price:switch-mine")
    assert (record["value"], record["override"]["who"], record["grade"]) == (1200, "J. Buyer", "contract")
    rate = case.prices.rate("EUR", "USD").rate
    assert float(np.median(case.inputs.draw("price:switch-mine"))) == pytest.approx(1200 * rate, rel=0.05)


def test_an_override_rescues_a_shipped_item_whose_every_row_is_malformed(tmp_path: Path) -> None:
    row = BROKEN.replace("switch-mine", "switch-qm9700").replace("EUR", "USD")
    path = desk(tmp_path, minimal() | {"overrides": [OVERRIDE], "options": TWO}, prices=row)
    assert not check(path, going_on=True).problems
    assert open_case(path).inputs.central("price:switch-qm9700") == 30000


def test_an_override_cannot_stand_for_a_row_whose_currency_nobody_can_read(tmp_path: Path) -> None:
    path = with_broken_item(
        tmp_path, BROKEN.replace("EUR", "EURO"), OVERRIDE | {"id": "price:switch-mine", "value": 1200}
    )
    problems = check(path, going_on=True).problems
    assert {p.key for p in problems} == {"overrides[0].id", "mine.pieces.switch.price"}
    assert all("own.csv:2" in p.remedy and "no override" in p.remedy for p in problems)
