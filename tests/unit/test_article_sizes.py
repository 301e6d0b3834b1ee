"""Rules of size on real clients: at their own sizes where they have one, the same model as the case, refused where planned otherwise."""

from __future__ import annotations

import bench
import numpy as np
import pytest

from fabricreport.case import Case
from fabricreport.provenance import plain
from fabricreport.sections.decision.articles.sizes import Outcome, SizeRule
from fabricreport.vocabulary import Side

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def case() -> Case:
    return bench.case("example")


def sizes(case: Case) -> dict[str, SizeRule]:
    return {rule.id: rule for rule in case.decision().articles.sizes}


def test_a_client_is_tried_at_its_own_size_on_its_own_bills(case: Case) -> None:
    (run,) = sizes(case)["middle"].runs
    totals = {o: float(np.mean(plain(t))) for o, t in case.chain.bills.totals.items()}
    of = {side: min(totals[o.id] for o in case.options if o.side == side) for side in Side}
    assert run.gpus == case.params.cluster.gpus
    assert run.gap == pytest.approx(of[Side.INFINIBAND] - of[Side.ROCEV2])
    assert run.share == pytest.approx(run.gap / min(of[Side.INFINIBAND], of[Side.ROCEV2]))


def test_another_size_is_what_the_client_would_pay_if_that_were_its_size(case: Case) -> None:
    (run,) = sizes(case)["small"].runs
    (own,) = sizes(case.changed(cluster__gpus=run.gpus))["small"].runs
    assert (run.gpus, run.options) == (64, own.options)
    assert run.gap == pytest.approx(own.gap) and run.close == pytest.approx(own.close)


def test_a_plan_that_grows_is_tried_at_its_own_stages_and_with_other_teams_than_its_own() -> None:
    found = sizes(bench.case("kestrel-lab"))
    assert [run.gpus for run in found["middle"].runs] == [512]
    assert [(run.gpus, run.team) for run in found["large"].runs] == [(8192, ""), (8192, "none")]


def test_a_renter_who_tunes_nothing_is_served_alike_by_any_team_of_its_own() -> None:
    found = sizes(bench.case("tern-finetuning"))
    assert len({run.gap for run in found["large"].runs}) == 1
    assert found["large"].outcome == Outcome.CLOSE


def test_a_size_that_the_plan_does_not_allow_is_told_so(case: Case) -> None:
    found = sizes(case.changed(workload__parallelism={"tp": 8, "pp": 4, "dp": 32}))
    assert found["middle"].runs and found["sixteen"].outcome == Outcome.CANNOT


def test_nothing_is_tried_where_one_side_is_not_compared(case: Case) -> None:
    alone = bench.changed("example", options=["rocev2-branded-400g", "ethernet-tcp"])
    articles = alone.decision().articles
    assert (articles.sizes, set(articles.stands)) == ((), {Side.ROCEV2, Side.PLAIN})
    told = alone.evidence()
    assert not [e for e in (*told.factors, *told.questions) if "infiniband" in e.here]
