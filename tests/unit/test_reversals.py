"""What reverses the order of the two compared: each row is the model run again with that one thing set."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import bench
import numpy as np
import pytest
from rows import rows

from fabricreport.base.provenance import mean_of, plain
from fabricreport.case import Case
from fabricreport.models.judgement.choice import sure
from fabricreport.sections.decision.inputs import judge_of
from fabricreport.sections.decision.reversals import Reversals

pytestmark = pytest.mark.slow


@lru_cache
def client(name: str) -> Case:
    return bench.case(name)


def of(name: str) -> Reversals:
    found = client(name).decision().reversals
    assert found is not None
    return found


def test_those_that_reverse_stand_first_and_the_strongest_before_them() -> None:
    for name in ("example", "kestrel-lab", "halden-cloud"):
        found = of(name)
        left = [found.left(one) for one in found.tried]
        assert left == sorted(left)
        assert found.tried[: len(found.reversing)] == found.reversing
        for one in found.tried:
            assert one.cheaper == (one.pair[client(name).figure(f"decision.reverses.{one.key}").value < 0])


def test_published_pairs_turn_the_order_of_a_network_whose_lead_they_exceed() -> None:
    halden, (first, *_) = client("halden-cloud"), of("halden-cloud").reversing
    extra = halden.figure("tco.pairs.median").value - halden.figure("tco.pairs.charged").value
    assert first.key == "pairs" and first.lead == pytest.approx(
        halden.figure("decision.difference").value - extra, rel=0.02
    )


@rows(
    ("key", "changes"),
    [
        ("manager", {"money__manager_licence": "charged"}),
        ("no-weeks", {"evidence": {"bring-up-productivity": 1.0}}),
    ],
)
def test_a_row_is_the_client_with_that_set(key: str, changes: dict[str, Any]) -> None:
    case, verdict = client("example"), client("example").decision().verdict
    bills = case.changed(**changes).chain.bills
    (one,) = (one for one in of("example").tried if one.key == key)
    assert one.lead == pytest.approx(mean_of(bills.gap(verdict.runner_up, verdict.choice)))


def test_who_rents_or_compares_nothing_has_no_order_to_reverse() -> None:
    assert client("tern-finetuning").decision().reversals is None


def test_how_sure_an_order_is_rests_on_the_best_other_option() -> None:
    case = client("example")
    bills, verdict, found = case.chain.bills, case.decision().verdict, case.decision().sure
    assert found is not None
    others = {f"take:{o}": plain(bills.gap(o, verdict.choice)) for o in bills.totals if o != verdict.choice}
    nothing, close = np.zeros(case.inputs.draws), judge_of(case.inputs).close
    assert found == sure(nothing, others, lambda other: close(bills, verdict.choice, other.removeprefix("take:")))
    assert case.figure("decision.sure.act").value == pytest.approx(found.share, abs=0.01)
