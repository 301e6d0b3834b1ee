"""A figure that tells two options apart names them the right way round, and every figure of the outcomes says its statistic."""

from __future__ import annotations

import bench
import numpy as np
import pytest

from fabricreport.base.provenance import plain
from fabricreport.bodies.bodies import DECLARED
from fabricreport.books.names import names_told
from fabricreport.case import Case
from fabricreport.ledger.figures import DeclaredFigures
from fabricreport.scenario import SECTION_NAMES

pytestmark = pytest.mark.slow
TOTALS = ("decision.difference", "tco.difference", "diligence.lead", "decision.gap")


@pytest.fixture(scope="module", params=["example", "tern-finetuning"])
def case(request: pytest.FixtureRequest) -> Case:
    return bench.case(request.param)


def mean(values: object) -> float:
    return float(np.mean(plain(values)))


def test_total_costs_stand_the_right_way_round(case: Case) -> None:
    totals = {option: mean(total) for option, total in case.decision().totals.items()}
    rivals = [o for o in totals if o != case.decision().verdict.choice]
    for figure_id in (*TOTALS[:-1], *(f"{TOTALS[-1]}.{option}" for option in rivals)):
        number = case.figure(figure_id)
        assert number.compares is not None
        less, more = number.compares
        assert number.value == pytest.approx(totals[more] - totals[less], rel=1e-6, abs=1e-3), figure_id
        assert number.as_dict()["compares"] == {"less": less, "more": more}


def test_a_share_is_that_of_the_outcomes_in_which_the_first_costs_less(case: Case) -> None:
    totals = case.decision().totals
    number = case.figure("decision.probability")
    assert number.compares is not None
    less, more = (plain(totals[o]) for o in number.compares)
    assert number.value == pytest.approx(float(np.mean(less < more)), abs=1e-6)


def test_each_declared_pair_is_of_options_of_the_case(case: Case) -> None:
    found = set()
    for section in SECTION_NAMES:
        numbers = case.result(section).numbers
        assert isinstance(numbers, DeclaredFigures)
        for figure_id in numbers:
            spec = numbers.spec(figure_id)
            if spec.compares:
                number = numbers[figure_id]
                found.add(spec.pattern)
                assert number.compares is not None
                assert set(number.compares) <= {o.id for o in case.inputs.options}
    assert {f"{TOTALS[-1]}[option]", *TOTALS[:-1]} <= found
    declared = {s.pattern for d in DECLARED.values() for s in d.specs if s.compares}
    assert found <= declared


def test_a_figure_of_the_outcomes_says_its_statistic_and_no_other_does(case: Case) -> None:
    lead, months = case.figure("decision.difference"), case.figure("param:money.horizon_months")
    assert (lead.central, lead.as_dict()["central"]) == ("mean", "mean")
    assert months.spread is None and "central" not in months.as_dict()


def test_no_two_options_are_told_by_one_name(case: Case) -> None:
    pair = case.comparison.choice, case.comparison.rival
    called = names_told(case.inputs.options, *pair)
    every = [name.casefold() for names in called.values() for name in names]
    assert len(every) == len(set(every)) and all(called[option] for option in pair)
    assert dict(case.compared)["called"] == called
