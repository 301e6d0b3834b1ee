"""Causes of a changed number: Shapley's laws, and sums that leave nothing unexplained."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricreport.memo.editions.causes import Cause, Group, Kind, causes_of, shapley

GROUPS = tuple(Group)
EVERY = tuple(frozenset(some) for n in range(len(GROUPS) + 1) for some in combinations(GROUPS, n))
ALONE = tuple((group,) for group in GROUPS)
amounts = st.floats(-1e8, 1e8)
games = st.fixed_dictionaries(dict.fromkeys(EVERY, amounts))
Worth = Callable[[frozenset[Group]], float]


def about(value: float) -> object:
    return pytest.approx(value, rel=1e-9, abs=1e-4)


@given(games)
def test_shares_are_what_a_group_adds_on_average_over_every_order_and_come_to_the_whole(
    worth: dict[frozenset[Group], float],
) -> None:
    found = shapley(worth.__getitem__, ALONE)
    assert sum(found.values()) == about(worth[EVERY[-1]] - worth[EVERY[0]])
    for group in GROUPS:
        added = [
            worth[before | {group}] - worth[before]
            for order in permutations(GROUPS)
            for before in [frozenset(order[: order.index(group)])]
        ]
        assert found[group,] == about(sum(added) / len(added))


@given(games, amounts)
def test_a_group_that_adds_the_same_everywhere_has_just_that_and_equals_have_equal_shares(
    worth: dict[frozenset[Group], float], adds: float
) -> None:
    prices, params, sources = GROUPS
    dummy = shapley(lambda moved: worth[moved - {sources}] + adds * (sources in moved), ALONE)
    assert dummy[sources,] == about(adds)
    twins = shapley(
        lambda moved: worth[frozenset(GROUPS[: len(moved & {prices, params})]) | (moved & {sources})], ALONE
    )
    assert twins[prices,] == about(twins[params,])


def total(causes: tuple[Cause, ...]) -> float:
    return sum(cause.amount for cause in causes)


@given(games, amounts, amounts, st.lists(amounts, max_size=3))
def test_causes_come_to_new_less_old_and_turn_round_with_the_editions(
    worth: dict[frozenset[Group], float], old: float, new: float, singles: list[float]
) -> None:
    alone = {f"price:p{n}": value for n, value in enumerate(singles)}
    there = causes_of((old, new), worth.__getitem__, ALONE, alone)
    assert total(there) == about(new - old)
    back = causes_of((new, old), lambda moved: worth[EVERY[-1] - moved], ALONE)
    ours = {(c.kind, c.of): c.amount for c in causes_of((old, new), worth.__getitem__, ALONE)}
    turned = {Kind.METHOD: Kind.SINCE, Kind.SINCE: Kind.METHOD}
    theirs = {(turned.get(c.kind, c.kind), c.of): -c.amount for c in back}
    for key in ours | theirs:  # a cause of nothing is left out
        assert theirs.get(key, 0.0) == about(ours.get(key, 0.0))


def test_method_comes_first_then_prices_alone_and_together_then_the_rest() -> None:
    """100 was printed and is 110 by today's code; prices add 30 of which two alone add 20 and 5, params 7, both 3 more."""
    worth = {
        frozenset(): 110.0, frozenset({Group.PRICES}): 140.0, frozenset({Group.PARAMS}): 117.0,
        frozenset({Group.PRICES, Group.PARAMS}): 150.0,
    }  # fmt: skip
    two = ((Group.PRICES,), (Group.PARAMS,))
    found = causes_of((100.0, 148.0), worth.__getitem__, two, {"price:a": 115.0, "price:b": 130.0, "price:c": None})
    assert found == (
        Cause(Kind.METHOD, 10.0), Cause(Kind.PRICE, 20.0, ("price:b",)), Cause(Kind.PRICE, 5.0, ("price:a",)),
        Cause(Kind.TOGETHER, 6.5, ("prices",)), Cause(Kind.INPUTS, 8.5, ("params",)), Cause(Kind.SINCE, -2.0),
    )  # fmt: skip


def test_what_cannot_be_worked_out_on_the_way_is_one_cause_and_no_guess() -> None:
    way = {frozenset(): 10.0, frozenset({Group.PRICES}): None, frozenset({Group.PARAMS}): 12.0,
           frozenset({Group.PRICES, Group.PARAMS}): 15.0}  # fmt: skip
    two = ((Group.PRICES,), (Group.PARAMS,))
    assert causes_of((9.0, 15.0), way.__getitem__, two) == (
        Cause(Kind.METHOD, 1.0), Cause(Kind.INPUTS, 5.0, ("prices", "params")),
    )  # fmt: skip
    assert causes_of((9.0, 15.0), {**way, frozenset(): None}.__getitem__, two) == (Cause(Kind.ALL, 6.0),)
    assert causes_of((9.0, 9.0), lambda _: 9.0, ()) == ()
