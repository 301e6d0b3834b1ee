"""An amount's currency is in the ledger: what is printed as euros is filed as euros, a source's dollars as dollars."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from fabricreport.blocks.tables import frame_parts
from fabricreport.case import Case, open_case
from fabricreport.formats import unit_in
from fabricreport.ledger import Number
from fabricreport.memo.document.headlines import headline_of

pytestmark = pytest.mark.slow

EXAMPLE = Path(__file__).parents[2] / "params" / "example.yaml"
CURRENCIES = {"USD": "$", "EUR": "€", "GBP": "£"}


def in_currency(folder: Path, currency: str, more: str = "") -> Case:
    text = EXAMPLE.read_text(encoding="utf-8")
    assert "currency: USD" in text and text.count("\n  gpu_hour_value:") == 1
    text = text.replace("currency: USD", f"currency: {currency}")
    key = more.partition(":")[0]
    lines = [more if key and line.startswith(f"{key}:") else line for line in text.splitlines()]
    assert not more or more in lines
    path = folder / f"{currency}.yaml"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return open_case(path)


@pytest.mark.parametrize(
    ("unit", "currency", "written"),
    [
        ("usd", "EUR", "eur"),
        ("usd/gpu-hour", "EUR", "eur/gpu-hour"),
        ("usd/day", "USD", "usd/day"),
        ("gpus", "EUR", "gpus"),
        ("usdollar", "EUR", "usdollar"),
    ],
)
def test_a_unit_of_money_names_its_currency(unit: str, currency: str, written: str) -> None:
    assert unit_in(unit, currency) == written


@pytest.mark.parametrize("currency", CURRENCIES)
def test_every_amount_of_a_section_is_filed_in_the_money_it_is_printed_in(tmp_path: Path, currency: str) -> None:
    numbers = in_currency(tmp_path, currency).tco().numbers.values()
    money = [n.as_dict() for n in numbers if n.unit.startswith("usd")]
    assert len(money) > 50
    for entry in money:
        own = currency if CURRENCIES[currency] in entry["text"] else "USD"
        assert entry["unit"].partition("/")[0] == own.lower() and CURRENCIES[own] in entry["text"], entry["id"]
        assert entry.get("currency", "USD") == own
    assert all("currency" not in n.as_dict() for n in numbers if not n.unit.startswith("usd"))
    assert any(entry["unit"] == currency.lower() for entry in money)


def test_a_memo_in_dollars_has_the_entries_it_had(tmp_path: Path) -> None:
    entry = in_currency(tmp_path, "USD").figure("tco.difference").as_dict()
    assert entry["unit"] == "usd" and "currency" not in entry


def test_what_a_source_or_the_params_say_in_dollars_stays_in_dollars(tmp_path: Path) -> None:
    case = in_currency(tmp_path, "EUR", "  price_of_delay_usd_per_day: 5000")
    delay = case.figure("param:money.price_of_delay_usd_per_day")
    assert (delay.text, delay.as_dict()["unit"]) == ("$5,000 per day", "usd/day")
    pay = case.figure("evidence:network-architect-pay").as_dict()
    assert pay["text"].startswith("$") and pay["unit"] == "usd" and "currency" not in pay
    price = case.figure("price:switch-qm9700").as_dict()
    assert price["text"].startswith("€") and (price["unit"], price["currency"]) == ("eur", "EUR")


def test_a_param_that_refers_to_a_price_is_in_the_memos_currency_as_the_price_is(tmp_path: Path) -> None:
    case = in_currency(tmp_path, "EUR", '  gpu_hour_value: "price:gpu-hour-h100-on-demand"')
    value = case.figure("param:money.gpu_hour_value").as_dict()
    assert value["text"].startswith("€") and value["unit"] == "eur/gpu-hour"


@pytest.mark.parametrize("currency", ["USD", "EUR"])
def test_the_record_of_a_price_is_in_the_currency_of_its_row(tmp_path: Path, currency: str) -> None:
    case = in_currency(tmp_path, currency)
    for item, price in case.prices.items():
        record = case.record(f"price:{item}")
        money = price.unit != "usd"
        assert record["unit"].startswith(price.currency.lower()) == money, item
        assert record.get("currency", "USD") == (price.currency if money else "USD"), item
    assert any(price.currency == "EUR" for price in case.prices.values())


def test_a_column_of_two_currencies_shows_the_currency_in_each_cell() -> None:
    one = Number("a.b", 5.0, "usd", "A", "r")
    for other, style in ((one, "value"), (replace(one, currency="EUR"), "mixed")):
        ((column,), _) = frame_parts(pd.DataFrame({"Cost": [one, other]}))
        assert column.style == style


def test_the_headline_of_an_edition_names_the_currency() -> None:
    entry = Number("tco.d", 5e5, "usd", "Difference", "r", currency="EUR").as_dict()
    (told,) = headline_of({"numbers": ["tco.d"]}, {"numbers": [entry]})["numbers"]
    assert told["unit"] == "eur"
