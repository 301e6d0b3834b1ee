"""Break-evens are true: put back, the money is level; beyond them the answer is the one that was said."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import bench
import numpy as np
import pytest
from rows import rows

from fabricreport.base.provenance import drawn_exactly, plain
from fabricreport.base.uncertain import exactly
from fabricreport.case import Case
from fabricreport.models.judgement.turning import TOLERANCE
from fabricreport.scenario import changed_params
from fabricreport.sections.chain import Chain
from fabricreport.sections.decision.inputs import judge_of
from fabricreport.sections.decision.turning import Turn

pytestmark = pytest.mark.slow

EACH = rows("name", ["example", "tern-finetuning", "kestrel-lab"])
WHOLE = ("param:money.horizon_months", "param:cluster.gpus", "param:schedule.production_by")
BOOKS = {"price": "prices", "evidence": "evidence", "contested": "contested"}


class Client:
    """A shipped client decided once, and what its pair of options differ by when one input is set."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.verdict = self.case.decision().verdict
        self.turns = self.case.decision().turns
        self.base = self.case.chain.bare()
        self.judge = judge_of(self.case.inputs)

    def gap(self, chain: Chain) -> Any:
        return plain(chain.bills.gap(self.verdict.runner_up, self.verdict.choice))

    def at(self, input_id: str, value: float) -> Chain:
        """The chain with one input at a value, all others at their draws."""
        kind, _, name = input_id.partition(":")
        if kind != "param":
            return self.base.replacing({input_id: exactly(value)})
        number = int(value) if input_id in WHOLE else value
        params = changed_params(self.case.params, {name.replace(".", "__"): number}, {})
        return self.base.again(self.base.given.with_params(params))

    def put_back(self, input_id: str, value: float) -> Case:
        """The case opened anew with the value written."""
        kind, _, name = input_id.partition(":")
        if kind == "param":
            return self.case.changed(**{name.replace(".", "__"): int(value) if input_id in WHOLE else value})
        return self.case.changed(**{BOOKS[kind]: {name: value}})

    def lead(self, input_id: str, value: float) -> float:
        return float(self.gap(self.at(input_id, value)).mean())

    def course(self, input_id: str, value: float) -> str:
        again = self.at(input_id, value)
        return (judge_of(again.given) if input_id.startswith("param:") else self.judge).verdict(again.bills).course.id


@cache
def decided(name: str) -> Client:
    return Client(bench.case(name))


def range_of(turn: Turn) -> float:
    """The width from P5 to P95; of a client's own choice, its value."""
    return turn.in_use if math.isnan(turn.low) else turn.high - turn.low


def away(turn: Turn, point: float) -> float:
    return math.copysign(1.0, point - turn.in_use)


@EACH
def test_a_break_even_put_back_leaves_the_money_level(name: str) -> None:
    client = decided(name)
    for turn in client.turns.turning:
        if turn.level is None:
            continue
        gap = client.gap(client.put_back(turn.input_id, turn.level.at).chain)
        scale = float(np.subtract(*np.quantile(gap, [0.95, 0.05])))
        if turn.input_id in WHOLE:
            assert math.copysign(1, gap.mean()) == -math.copysign(1, client.verdict.lead), turn.input_id
        else:
            assert abs(gap.mean()) < 1e-3 * scale, turn.input_id


@EACH
def test_beyond_a_break_even_the_other_option_costs_less_and_before_it_does_not(name: str) -> None:
    client = decided(name)
    for turn in client.turns.turning:
        if turn.level is None or turn.input_id in WHOLE:
            continue
        step = away(turn, turn.level.at) * 0.05 * range_of(turn)
        # No input is negative: where the point lies near none of it, none is as far as one can go.
        beyond, before = (client.lead(turn.input_id, max(turn.level.at + s, 0.0)) for s in (step, -step))
        assert (beyond > 0) != (client.verdict.lead > 0), turn.input_id
        assert (before > 0) == (client.verdict.lead > 0), turn.input_id
        assert turn.level.side == ("above" if step > 0 else "below")


@EACH
def test_the_advice_is_another_from_the_edge_on_and_the_same_before_it(name: str) -> None:
    client = decided(name)
    advised = client.case.comparison.verdict.course.id
    for turn in client.turns.turning:
        if not turn.edges:
            continue
        assert client.course(turn.input_id, turn.edges[0].at) == turn.edges[0].course != advised, turn.input_id
        if turn.input_id in WHOLE:
            continue
        sign = away(turn, turn.edges[0].at)
        assert client.course(turn.input_id, turn.edges[0].at + sign * 0.05 * range_of(turn)) != advised, turn.input_id
        width = 4 * turn.in_use
        if not turn.is_choice:  # searched from the value in use to the end on this side
            draws = plain(client.base.given.own(turn.input_id))
            width = float(abs((draws.max() if sign > 0 else draws.min()) - turn.in_use))
        assert client.course(turn.input_id, turn.edges[0].at - sign * 2 * TOLERANCE * width) == advised, turn.input_id


@EACH
def test_the_chance_of_lying_beyond_is_a_count_of_draws(name: str) -> None:
    client = decided(name)
    for turn in client.turns.drawn:
        draws = plain(client.case.inputs.own(turn.input_id))
        assert turn.in_use == pytest.approx(draws.mean())
        if turn.level is not None:
            beyond = draws > turn.level.at if turn.level.side == "above" else draws < turn.level.at
            assert turn.beyond == float(np.mean(beyond))
            assert draws.min() <= turn.level.at <= draws.max()


@EACH
def test_what_is_said_not_to_turn_does_not_turn_on_the_way(name: str) -> None:
    client = decided(name)
    for turn in client.turns.drawn[:3]:
        if turn.level is None:
            draws = plain(client.case.inputs.own(turn.input_id))
            leads = [client.lead(turn.input_id, float(q)) for q in np.quantile(draws, [0, 0.25, 0.75, 1])]
            assert {lead > 0 for lead in leads} == {client.verdict.lead > 0}, turn.input_id


@pytest.mark.laws(0)
@EACH
def test_no_input_that_was_screened_out_turns_at_an_end_of_its_range(name: str) -> None:
    client = decided(name)
    run = {t.input_id for t in client.turns.drawn}
    given = client.case.inputs
    missed = []
    for input_id in sorted(client.case.chain.reached_by - run):
        kind, _, name = input_id.partition(":")
        if kind == "param" or (kind == "evidence" and given.evidence[name].kind == "text"):
            continue
        draws = given.own(input_id)
        if drawn_exactly(draws):
            continue
        ends = (float(plain(draws).min()), float(plain(draws).max()))
        missed += [input_id for end in ends if (client.lead(input_id, end) > 0) != (client.verdict.lead > 0)]
    assert not missed
