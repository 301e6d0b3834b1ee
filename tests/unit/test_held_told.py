"""A price that is held is told in the memo: both prices, and the advice at either end."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path

import numpy as np
import pytest

from fabricreport.base.project import PARAMS
from fabricreport.base.provenance import plain
from fabricreport.books.evidence import read_evidence
from fabricreport.books.options import read_options
from fabricreport.books.prices.book import PriceBook
from fabricreport.books.prices.rules import PriceRow
from fabricreport.case import Case
from fabricreport.inputs.inputs import Inputs
from fabricreport.scenario import load_params

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("few_draws")]
ITEM = "switch-qm9700"
GIVEN = PriceBook.read(PARAMS / "prices").given.rows


def with_row(price: float, client: str = "example", item: str = ITEM, unit: str = "each") -> Case:
    row = PriceRow(item, unit, "USD", price, None, None, date(2026, 10, 1), None, "A shop; shop.example", "secondary")
    row = replace(row, product="on-demand" if unit == "gpu-hour" else "")
    params = load_params(Path(PARAMS) / f"{client}.yaml")
    return Case(Inputs(params, PARAMS, read_evidence(), PriceBook.of([*GIVEN, row]), read_options()))


def lists(case: Case) -> dict[str, list[str]]:
    words = case.spoken("decision").words
    return {kind: [n.key for n in words[f"held_{kind}"]] for kind in ("still", "turning")}


def test_between_two_prices_the_advice_at_either_is_that_of_the_model_at_it() -> None:
    case = with_row(70_000).changed(organisation__qos_expertise="none", money__manager_licence="charged")
    (one,) = case.decision().held
    assert lists(case) == {"still": [], "turning": [ITEM]}
    for price, found in ((one.price.price, one.old), (70_000, one.new)):
        at = case.changed(prices={ITEM: price})
        assert found is not None and found.course == at.comparison.verdict.course.id
    drawn = plain(case.inputs.draw(f"price:{ITEM}"))
    assert (drawn.min() >= one.price.price * 0.74, drawn.max() <= 70_000) == (True, True) and np.ptp(drawn) > 0
    figures = [case.figure(f"decision.held.{name}.{ITEM}").value for name in ("asked", "stands")]
    assert figures == [70_000, one.price.price]


def test_too_far_off_the_last_good_price_stands_alone_and_moves_nothing() -> None:
    case, plainly = with_row(328_700), with_row(32_900)
    (told,) = case.spoken("decision").words["held_still"]
    assert (told.key, str(told.said["alone"])) == (ITEM, "alone") and not plainly.decision().held
    assert case.inputs.prices[ITEM].figure.high < 50_000


def test_of_a_renter_s_seller_it_is_told_whether_the_asking_turns() -> None:
    case = with_row(1.9, "tern-finetuning", "gpu-hour-h100-crusoe", "gpu-hour")
    assert [keys for keys in lists(case).values() if keys] == [["gpu-hour-h100-crusoe"]]
    (one,) = case.decision().held
    at = case.changed(prices={one.price.item: 1.9})
    assert one.new is not None and set(one.new.asked) == set(at.decision().offers.asked)
