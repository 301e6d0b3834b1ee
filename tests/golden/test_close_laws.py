"""Laws of a close call, on clients drawn at random: what counts as close is steady, and no improvement is punished.

At the memo's own draws, for with few of them a law is broken by luck. `make laws` asks 500 clients.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any

import bench
import numpy as np
import pytest

from fabricreport.base.provenance import inputs_of, plain
from fabricreport.base.uncertain import exactly
from fabricreport.case import Case
from fabricreport.models.judgement.comparison import Verdict
from fabricreport.sections.decision.inputs import Judge, judge_of
from fabricreport.sections.decision.turning import varies
from fabricreport.sections.tco.cost import by_cause
from fabricreport.sections.tco.result import Bills

pytestmark = [pytest.mark.slow, pytest.mark.laws(4)]
every_client = pytest.mark.parametrize("seed", range(500))
EXTENT, STANCE = ("none", "some", "large"), ("avoid", "neutral", "prefer")
KINDS = ("pretraining-dense", "pretraining-moe", "mixed", "hpc-simulation", "fine-tuning")
FEW = 2
"""Inputs that are moved of each client."""


def drawn_keys(seed: int) -> dict[str, Any]:
    """In what a client drawn at random differs from the example."""
    rng = np.random.default_rng(seed)
    return {
        "cluster__gpus": int(rng.choice([64, 128, 256, 512, 1024, 2048, 4096])),
        "workload__kind": str(rng.choice(KINDS)),
        "organisation__networking_maturity": str(rng.choice(("low", "medium", "high"))),
        "organisation__existing_ethernet": str(rng.choice(EXTENT)),
        "organisation__existing_infiniband": str(rng.choice(EXTENT)),
        "organisation__single_vendor_policy": str(rng.choice(STANCE)),
        "schedule__production_by": str(rng.choice(["2027-03-26", "2027-04-23", "2027-05-21", "2027-11-26"])),
        "money__acquisition": str(rng.choice(("buy", "buy", "lease", "colocate", "rent"))),
        "money__horizon_months": int(rng.choice([24, 36, 48, 60])),
        "money__gpu_hour_value": float(rng.choice([1.0, 2.0, 3.0, 6.0])),
    }


@lru_cache(maxsize=1)
def client(seed: int) -> tuple[Case, Judge, Verdict]:
    """A client drawn at random, its judge and the verdict on its bills."""
    case = bench.drawn("example", **drawn_keys(seed))
    judge = judge_of(case.inputs)
    return case, judge, judge.verdict(case.chain.bills)


def with_amounts(bills: Bills, piece: str, amounts: dict[str, float]) -> Bills:
    """The bills with an amount added to one piece of each of these options."""
    parts = {o: dict(own) for o, own in bills.parts.items()}
    for option, amount in amounts.items():
        parts[option][piece] = parts[option].get(piece, 0.0) + np.full(bills.totals[option].size, amount)
    components = {o: by_cause(own) for o, own in parts.items()}
    totals = {o: bills.totals[o] + amounts.get(o, 0.0) for o in bills.totals}
    return replace(bills, parts=parts, components=components, totals=totals)


def told(verdict: Verdict) -> tuple[str, ...]:
    return (verdict.choice, verdict.runner_up, str(verdict.confidence), str(verdict.decided_by))


@every_client
def test_one_amount_more_for_both_outside_the_network_moves_neither_what_counts_nor_the_class(seed: int) -> None:
    case, judge, before = client(seed)
    amount = 10.0 ** (4 + seed % 6)
    after = judge.verdict(with_amounts(case.chain.bills, "servers", dict.fromkeys(case.chain.bills.totals, amount)))
    assert after.materiality == pytest.approx(before.materiality, rel=1e-6)
    assert told(after) == told(before)


@every_client
def test_what_counts_never_falls_as_one_line_differs_by_more_and_the_rest_stay(seed: int) -> None:
    case, judge, before = client(seed)
    bills = case.chain.bills
    pair = (before.choice, before.runner_up)
    pieces = sorted({name for o in pair for name in bills.parts[o]})
    piece = pieces[seed % len(pieces)]
    cause = next(iter(by_cause({piece: np.zeros(1)})))
    mean = {o: float(plain(bills.components[o].get(cause, np.zeros(1))).mean()) for o in pair}
    dearer = max(pair, key=mean.__getitem__)
    more = with_amounts(bills, piece, {dearer: 10.0 ** (3 + seed % 5)})
    between = {o: total for o, total in more.totals.items() if o in pair}
    assert judge.verdict(replace(more, totals=between)).materiality >= before.materiality * (1 - 1e-9)


@every_client
def test_a_hair_more_of_an_input_moves_what_counts_by_a_hair(seed: int) -> None:
    case, judge, verdict = client(seed)
    fast = case.chain.bare()
    asked = inputs_of(case.comparison.lead) & case.chain.reached_by
    ids = sorted(i for i in asked if varies(case.inputs, i) and i != "evidence:spares-share")
    for input_id in np.random.default_rng(seed).permutation(ids)[:FEW]:
        drawn = plain(case.inputs.own(str(input_id)))
        middle, counts = float(drawn.mean()), []
        for value in (middle, middle + (float(drawn.max()) - middle) / 500):
            bills = fast.replacing({str(input_id): exactly(value)}).bills
            pair = {o: bills.totals[o] for o in (verdict.choice, verdict.runner_up)}
            counts.append(judge.verdict(replace(bills, totals=pair)).materiality)
        assert counts[1] == pytest.approx(counts[0], rel=0.02), input_id


@every_client
def test_improving_what_the_advised_option_alone_uses_never_moves_the_advice_away_from_it(seed: int) -> None:
    case, judge, before = client(seed)
    bills, fast = case.chain.bills, case.chain.bare()
    others = inputs_of(*(total for o, total in bills.totals.items() if o != before.choice))
    alone = sorted(i for i in inputs_of(bills.totals[before.choice]) - others if varies(case.inputs, i))
    for input_id in np.random.default_rng(seed).permutation(alone)[:FEW]:
        drawn = plain(case.inputs.own(str(input_id)))
        middle = float(drawn.mean())
        base = fast.replacing({str(input_id): exactly(middle)}).bills
        first = judge.verdict(base)
        for value in (max(0.8 * middle, float(drawn.min())), min(1.1 * middle, float(drawn.max()))):
            moved = fast.replacing({str(input_id): exactly(value)}).bills
            saved = float(plain(base.totals[before.choice]).mean() - plain(moved.totals[before.choice]).mean())
            if saved > 0 and first.choice == before.choice:
                after = judge.verdict(moved)
                assert after.choice == before.choice, (input_id, value)
                assert first.open or not after.open, (input_id, value)
