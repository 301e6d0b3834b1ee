"""Times as the client counts them: known answers for its own weeks, whose median dates print and whose mean points are told from."""

from __future__ import annotations

import bench
import numpy as np
import pytest
from answer_cases import WEEKS
from rows import rows

from fabricreport.base.provenance import plain
from fabricreport.base.uncertain import exactly
from fabricreport.base.units import DAYS_PER_WEEK
from fabricreport.case import Case
from fabricreport.sections.arrivals import OF_WEEKS, OwnUnit, own_weeks

pytestmark = pytest.mark.slow
CLIENTS = ("example", "tern-finetuning")
SIZES = (256, 1024, 4096)


def weeks_in_use(name: str) -> dict[str, tuple[float, str]]:
    """What is printed as in use of each network's weeks, by the option whose own they are."""
    case = bench.case(name)
    found = {}
    for figure in (case.figure(i) for i in case.decision().numbers if i.startswith("decision.in_use.evidence.weeks-")):
        (option,) = figure.based.about
        found[option] = figure.value, figure.unit
    return found


def test_the_weeks_in_use_are_the_mean_of_those_of_the_table_of_dates_for_every_client() -> None:
    told = [(name, option, own) for name in CLIENTS for option, own in weeks_in_use(name).items()]
    assert told, "no client of the bench has weeks that turn something"
    for name, option, (value, unit) in told:
        dated = bench.case(name).figure(f"tail_risk.weeks.{option}")
        assert unit == dated.unit and dated.spread is not None and dated.value < value < dated.spread.p95, (
            name,
            option,
        )


def own(case: Case, key: str) -> OwnUnit | None:
    weeks = {option: own.bring_up_weeks for option, own in case.chain.bills.own.items()}
    return own_weeks(key, case.inputs.own(key), weeks, (case.comparison.choice, case.comparison.rival))


@rows("name", CLIENTS)
def test_a_value_of_the_input_is_told_as_the_weeks_that_the_model_makes_of_it(name: str) -> None:
    case = bench.case(name)
    units = {i: unit for i in sorted(case.chain.reached_by) if i.startswith(OF_WEEKS) and (unit := own(case, i))}
    assert units
    for key, unit in units.items():
        for value in (1.0, 7.0):
            made = case.chain.bare().replacing({key: exactly(value)}).bills.own[unit.option].bring_up_weeks
            days = DAYS_PER_WEEK if unit.unit == "day" else 1.0
            assert unit.told(value) == pytest.approx(float(np.median(plain(made))) * days)


def test_own_weeks_grow_with_the_cluster_and_the_input_does_not() -> None:
    per = []
    for gpus in SIZES:
        case = bench.changed("example", cluster__gpus=gpus, options=["infiniband-ndr", "rocev2-branded-400g"])
        unit = own(case, f"{OF_WEEKS}infiniband")
        assert unit is not None
        per.append(unit.per)
    assert per == sorted(per)
    assert per[0] < per[-1]


def test_weeks_that_a_seller_answers_with_lie_in_the_range_that_is_printed_of_them() -> None:
    case = bench.case("answered")
    numbers = case.result("diligence").numbers
    ends = {
        end: [numbers[i] for i in numbers if i.startswith(f"diligence.after_{end}.") and f".{WEEKS['question']}." in i]
        for end in ("low", "high")
    }
    own = [(low, high) for low, high in zip(ends["low"], ends["high"], strict=True) if low.unit == WEEKS["unit"]]
    assert own
    assert not [(low.id, low.text, high.text) for low, high in own if not low.value <= WEEKS["value"] <= high.value]
