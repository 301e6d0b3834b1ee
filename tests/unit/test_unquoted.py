"""What nobody publishes a price for: the price at which the money is level, who wins on which side, and when it is said."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import bench
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import rows

from fabricreport.base.provenance import plain
from fabricreport.base.uncertain import exactly
from fabricreport.books.quotes import items_of, kinds
from fabricreport.case import Case
from fabricreport.ledger.facts import Spoken
from fabricreport.models.judgement.turning import Asked, PriceLevel, Seen, price_level
from fabricreport.sections.decision.facts import spoken
from fabricreport.sections.decision.sensitivity import Unquoted, unquoted_of
from fabricreport.sections.decision.words import DecisionFinding as F


def asked(lead: Callable[[float], float]) -> Asked:
    return Asked(lambda price: Seen(lead(price), 1.0, "take:a" if lead(price) > 0 else "take:b"))


def test_an_item_of_the_choice_loses_it_the_money_above_and_an_item_of_the_rival_below() -> None:
    of_choice = price_level(asked(lambda price: 500 - 2 * price), 100.0)
    of_rival = price_level(asked(lambda price: 2 * price - 100), 100.0)
    assert of_choice is not None and of_rival is not None
    assert (of_choice.level, of_choice.choice_below) == (pytest.approx(250), True)
    assert (of_rival.level, of_rival.choice_below) == (pytest.approx(50), False)


def test_a_choice_that_is_dearer_wins_only_on_the_other_side() -> None:
    """The date or the weights may advise what costs more."""
    behind = price_level(asked(lambda price: 100 - 2 * price), 100.0)
    assert behind is not None and (behind.level, behind.choice_below) == (pytest.approx(50), True)


def test_a_money_that_no_price_turns_and_one_that_no_price_moves_are_told_apart() -> None:
    assert price_level(asked(lambda price: 500 + price), 100.0) == PriceLevel(None, True)
    assert price_level(asked(lambda price: -500 - price), 100.0) == PriceLevel(None, False)
    assert price_level(asked(lambda _: 500.0), 100.0) is None


def test_the_level_at_the_price_in_use_is_that_price() -> None:
    assert price_level(asked(lambda price: 100.0 - price), 100.0) == PriceLevel(100.0, True)
    assert price_level(asked(lambda price: price - 100.0), 100.0) == PriceLevel(100.0, False)


def test_a_level_that_is_known_is_kept() -> None:
    assert price_level(asked(lambda price: 500 - 2 * price), 100.0, 249.99) == PriceLevel(249.99, True)


@settings(deadline=None)
@given(st.floats(0.01, 900), st.floats(0.1, 10), st.sampled_from([1.0, -1.0]))
def test_any_line_is_level_at_its_root_however_far_from_the_price_in_use(
    root: float, slope: float, sign: float
) -> None:
    lead = lambda price: sign * slope * (root - price)  # noqa: E731  # one line
    found = price_level(asked(lead), 1.0)
    assert found is not None and found.level == pytest.approx(root, rel=1e-3, abs=1e-3)
    below = lead(min(found.level, root) / 2)
    assert found.choice_below is (below > 0)


# ---- what is said of it

SWITCH, UFM = kinds()["switch"], kinds()["licence"]


def one(**changes: Any) -> Unquoted:
    made = Unquoted(
        "switch-q3400", SWITCH, "evidence:switch-q3400-usd", 150.0, "infiniband-ndr", "spectrum-x-400g", 100.0
    )
    return replace(made, **changes)


def example() -> Case:
    return bench.case("example")


def said(*unquoted: Unquoted) -> Spoken:
    case = example()
    return spoken(
        case.inputs, bench.altered(case.decision(), unquoted=unquoted), case.tco(), case.monday(), case.figure, None
    )


@pytest.mark.slow
@rows(
    ("unquoted", "turns"),
    [
        ((), False),
        ((one(),), True),
        ((one(level=50.0),), True),
        ((one(level=None),), False),
        ((one(), one(item="licence-ufm", kind=UFM, level=None)), True),
    ],
)
def test_what_is_said_follows_from_the_levels(unquoted: tuple[Unquoted, ...], turns: bool) -> None:
    assert (F.QUOTE_TURNS in said(*unquoted).findings) is turns


@pytest.mark.slow
def test_the_winner_below_is_named_by_its_short_name_and_the_nearest_quote_is_told() -> None:
    both = said(one()), said(one(level=50.0, below="spectrum-x-400g", above="infiniband-ndr"))
    first, second = (found.words["quote"] for found in both)
    assert (first.said["below"], second.said["below"]) == ("InfiniBand NDR", "Spectrum-X")  # type: ignore[attr-defined]
    assert first.said["each"] == "a switch" and first.key == "switch-q3400"
    near = one(item="licence-ufm", kind=UFM, level=90.0)
    assert said(one(), near).words["quote"].key == "licence-ufm"  # type: ignore[attr-defined]
    assert said(one(level=None)).words["quote"] is None


# ---- the model itself


@pytest.fixture(scope="module")
def xdr() -> Case:
    """The example on the generation of 800G, InfiniBand against Spectrum-X."""
    return bench.changed(
        "example", cluster__gpus=1152, cluster__gpu="b200", cluster__link_gbits_per_s=800.0,
        options=("infiniband-xdr", "spectrum-x-800g"),
    )  # fmt: skip


@pytest.mark.slow
def test_at_the_price_found_the_lead_is_nothing_and_either_side_is_won_by_the_one_named(xdr: Case) -> None:
    found = {u.item: u for u in unquoted_of(xdr.studies.search)}
    assert {"switch-q3400", "optic-800g-dr4", "licence-ufm"} <= set(found)
    assert "licence-cumulus" not in found  # part of the switch: no price of it moves the money
    chain = xdr.studies.search.fast

    turning = {item: u for item, u in found.items() if u.level is not None}
    assert turning["switch-q3400"].below == "infiniband-xdr"

    def gap(u: Unquoted, times: float) -> float:
        """Cost of the one that wins above less that of the one that wins below, at so many times the level."""
        assert u.level is not None
        bills = chain.replacing({u.stands_in: exactly(u.level * times)}).bills
        return float(plain(bills.gap(u.above, u.below)).mean())

    for item, u in turning.items():
        scale = abs(gap(u, 1.05))
        assert abs(gap(u, 1.0)) < 0.02 * scale, item
        assert gap(u, 0.95) > 0 > gap(u, 1.05), item


@pytest.mark.slow
def test_a_client_who_states_the_price_is_not_told_of_ours(xdr: Case) -> None:
    told = xdr.changed(evidence={"switch-q3400-usd": 120_000})
    assert "switch-q3400" not in {u.item for u in unquoted_of(told.studies.search)}


def test_every_price_of_a_shipped_option_has_a_kind_that_can_be_asked_for() -> None:
    from fabricreport.books.options import read_options

    for option in read_options().values():
        lacking = option.priced({})
        assert set(lacking.unquoted) <= set(items_of(lacking)), option.id
