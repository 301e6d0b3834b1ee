"""Purchases of others beside what we would have said: in hindsight, by the book's rates, no rate of few, misses shown."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import date
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from rows import rows

from fabricreport.base.errors import InputError
from fabricreport.base.vocabulary import Confidence, Ground
from fabricreport.base.yaml_files import ROOT
from fabricreport.books.options import read_options
from fabricreport.books.prices.book import PriceBook, PriceView
from fabricreport.books.prices.rules import COLUMNS, parse_row
from fabricreport.books.publications import SYSTEM, YES, Purchase, PurchaseBook, purchases
from fabricreport.books.reader import read_book
from fabricreport.cli.main import main
from fabricreport.models.judgement.comparison import Verdict
from fabricreport.report.hindsight import (
    RATE_FROM,
    Hindsight,
    all_compared,
    case_of,
    compared,
    purchases_dict,
    purchases_text,
    rate,
    todays_prices,
)

FLORIDA, GEFION = "florida-hipergator-4", "gefion"
THEN = date(2022, 5, 1)
PRICES = todays_prices().at(THEN)


def has_cluster(purchase: Purchase) -> bool:
    return bool(purchase.gpu_type and purchase.gpus and purchase.chosen)


def has_bill(purchase: Purchase, prices: PriceView) -> bool:
    """Whether GPU, number, network and scope are known, and the price can be converted."""
    paid = purchase.price
    if paid is None or not paid.scope == paid.per == SYSTEM or not has_cluster(purchase):
        return False
    try:
        prices.convert(paid.amount, paid.currency, "USD")
    except InputError:
        return False
    return True


def has_advice(purchase: Purchase) -> bool:
    """Whether GPU, number, network and the owner's reasons are known, and there was one side to take."""
    sides = {read_options()[option].side for option in purchase.chosen}
    return has_cluster(purchase) and bool(purchase.reasons) and len(sides) == 1


def test_sixteen_are_listed_and_what_is_said_to_be_computable_is_what_can_be_worked_out() -> None:
    book = purchases()
    assert len(book) == 16
    bills = {i for i, p in book.items() if has_bill(p, PRICES)}
    advised = {i for i, p in book.items() if has_advice(p)}
    assert bills == {i for i, p in book.items() if p.computable.bill == YES} == {FLORIDA}
    assert advised == {i for i, p in book.items() if p.computable.advice == YES} and len(advised) == 5
    for i in bills | advised:
        stated = book[i].params["cluster"]
        assert stated["gpu"] == book[i].gpu_type and abs(stated["gpus"] - (book[i].gpus or 0)) < 8, i


@rows(
    ("old", "new", "key", "told"),
    [
        ("  gpus: 800\n", "  gpus: 800\n  colour: red\n", "colour", ""),
        ("  gpus: 800\n", "  gpus: many\n", "gpus", ""),
        ("chosen: [rocev2-whitebox-400g, rocev2-whitebox-800g]", "chosen: [rocev2-whitebx-400g]", "chosen[0]", "did you mean"),
        ('date: "2024"\n', 'date: "last year"\n', "date", "a date"),
        ("gpu_type: h100\n  gpus: 800", "gpu_type: h101\n  gpus: 800", "gpu_type", "a gpu type"),
        ("currency: DKK", "currency: DKR", "price.currency", "a currency"),
        ('"no: no price is public", advice: "yes"}', '"no: no price is public", advice: "maybe"}', "computable.advice", ""),
        ("grade: published", "grade: hearsay", "grade", "a grade"),
        ("  expected: {advice: infiniband-ndr, why: \"a company", "  # {advice: infiniband-ndr, why: \"a company", "expected", ""),
    ],
)  # fmt: skip
def test_a_fault_of_the_file_names_file_line_and_key(tmp_path: Path, old: str, new: str, key: str, told: str) -> None:
    text = (ROOT / "purchases.yaml").read_text(encoding="utf-8")
    assert old in text
    path = tmp_path / "purchases.yaml"
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_book(path, PurchaseBook, most_values=50_000)
    found = [p for p in caught.value.problems if p.key.endswith(key)]
    assert found and all(p.file == str(path) and p.line for p in found), str(caught.value)
    assert told in str(caught.value).lower()


def test_an_amount_is_converted_by_the_books_dated_rate_or_not_at_all() -> None:
    gefion = purchases()[GEFION]
    assert gefion.price is not None and gefion.price.currency == "DKK"
    paid = replace(gefion, price=replace(gefion.price, scope=SYSTEM))
    without = {item: price for item, price in PRICES.items() if not item.startswith("fx-dkk")}
    assert has_bill(paid, PRICES) and not has_bill(paid, PriceView(THEN, without, ()))
    cells = dict.fromkeys(COLUMNS, "")
    cells |= {"item": "fx-dkk-usd", "unit": "usd", "price": "0.15", "currency": "USD", "date": "2026-11-20"}
    cells |= {"source": "A bank", "grade": "secondary"}
    rated = PriceBook.of([parse_row(cells)])
    assert not has_bill(paid, rated.at(THEN)), "it is dated after that day"
    assert rated.at(date(2026, 11, 25)).convert(700e6, "DKK", "USD") == pytest.approx(105e6)


def test_prices_of_hindsight_are_the_same_on_whatever_day() -> None:
    book = todays_prices()
    assert book.hindsight is not None
    then, now = book.at(THEN), book.at(book.hindsight)
    assert then.as_of == now.as_of == book.hindsight and dict(then) == dict(now)
    assert not set(PriceBook.of([]).at(THEN)) & {"server-h100-8gpu"}, "which no other book does"


def as_if(choice: str, taken: str = FLORIDA) -> Hindsight:
    verdict = Verdict(choice, "", Confidence.CLEAR, Ground.MONEY, 1.0, 1.0, 0.0, 1.0, {}, False, "")
    return Hindsight(purchases()[taken], verdict=verdict)


def test_no_rate_of_fewer_than_eight() -> None:
    found = [as_if("infiniband-ndr"), *[as_if("ethernet-tcp")] * RATE_FROM]
    for n in range(RATE_FROM):
        assert rate(found[:n]) is None
    assert RATE_FROM == 8 and rate(found[:8]) == (1, 8)
    not_compared = [Hindsight(purchases()[GEFION])] * 20
    assert rate([*found[:7], *not_compared]) is None


@pytest.mark.slow
def test_the_buyer_is_a_client_of_that_day_on_todays_books() -> None:
    case = case_of(purchases()[FLORIDA])
    assert case.inputs.as_of == date(2024, 12, 13) and case.inputs.prices.as_of > case.inputs.as_of
    assert {o.id for o in case.options} >= {"infiniband-ndr", "rocev2-branded-400g"}
    assert not [o for o in case.options if o.on_sale and o.on_sale > case.inputs.as_of]


@pytest.mark.slow
def test_the_bill_is_the_servers_and_the_network_that_was_taken() -> None:
    """63 servers of B200 and a tenth of that again, at most, for the network."""
    found = compared(purchases()[FLORIDA])
    servers = 63 * float(np.mean(case_of(found.purchase).inputs.draw("evidence:server-b200-8gpu-usd")))
    assert found.bill_usd is not None and 0.95 * servers < found.bill_usd.mean() < 1.15 * servers
    assert found.price_usd == 24_000_000


@pytest.mark.slow
def test_misses_are_told_hindsight_is_named_and_no_rate_is_printed() -> None:
    found = all_compared()
    assert [*found][:5] == [i for i, h in found.items() if h.verdict is not None]
    text, data = purchases_text(), json.loads(json.dumps(purchases_dict()))
    misses = [h for h in found.values() if h.agrees is False] + [h for h in found.values() if h.bill_holds is False]
    assert text.count("a miss") == len(misses) and "hindsight" in text and data["rate"] is None
    assert not re.search(r"\d\s?%|\d+ of \d+ compared", text)
    assert text.count("not confirmed") == sum(not p.is_confirmed and p.gpus is not None for p in purchases().values())
    for h in found.values():
        assert h.bill_usd is not None or h.purchase.computable.bill in text
        assert h.verdict is not None or h.purchase.computable.advice in text


def test_validate_knows_purchases_by_name() -> None:
    done = CliRunner().invoke(main, ["validate", "purchasse"])
    assert done.exit_code == 2 and "did you mean" in done.output.lower() and "purchases" in done.output
