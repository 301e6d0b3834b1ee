"""How often an option is the cheapest: the shares printed are those of the draws, their error of fresh ones."""

from __future__ import annotations

import numpy as np
import pytest
from bench import DRAWS, SHIPPED, case
from rows import rows

from fabricreport.base.provenance import plain
from fabricreport.models.judgement.choice import cheapest
from fabricreport.sections.decision.sensitivity import HYPERCUBES

pytestmark = pytest.mark.slow


@rows("name", SHIPPED)
def test_shares_are_those_of_the_draws_and_printed_once(name: str) -> None:
    client = case(name)
    found, bills = client.decision().cheapest, client.chain.bills
    assert tuple(found.shares) == tuple(client.studies.search.judge.advisable(bills))
    costs = np.stack([plain(bills.totals[o]) for o in found.shares], axis=1)
    assert list(found.shares.values()) == pytest.approx(list(cheapest(costs)))
    for option, share in found.shares.items():
        assert client.figure(f"decision.sure.wins.{option}").value == pytest.approx(share)


def test_inputs_are_drawn_anew_in_hypercubes_of_their_own() -> None:
    given = case("example").studies.search.fast.given
    fresh = given.resampled(HYPERCUBES, 32)
    input_id = "evidence:weeks-to-stable-rocev2"
    own, drawn = plain(given.own(input_id)), plain(fresh.own(input_id))
    assert drawn.shape == (HYPERCUBES * 32,) and not np.intersect1d(own, drawn).size
    assert [np.median(part) for part in np.split(drawn, HYPERCUBES)] == pytest.approx(
        [np.median(own)] * HYPERCUBES, rel=0.25
    )
    assert plain(given.own(input_id)) is not None and given.draws == DRAWS


def test_one_option_alone_is_always_the_cheapest() -> None:
    found = case("one option").decision().cheapest
    assert list(found.shares.values()) == [1.0] and list(found.errors.values()) == [0.0]
