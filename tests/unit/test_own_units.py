"""Times as the client counts them: known answers for its own weeks, whose median every section prints."""

from __future__ import annotations

import bench
import numpy as np
import pytest
from rows import rows

from fabricreport.durations import DAYS_PER_WEEK
from fabricreport.provenance import plain
from fabricreport.sections.decision.own_units import OF_WEEKS, own_unit
from fabricreport.sections.decision.turning import Search
from fabricreport.uncertain import exactly

pytestmark = pytest.mark.slow
CLIENTS = ("example", "halden-cloud", "kestrel-lab", "tern-finetuning")
SIZES = (256, 1024, 4096)


def weeks_in_use(name: str) -> dict[str, tuple[float, str]]:
    """What is printed as in use of each network's weeks, by the option whose own they are."""
    case = bench.case(name)
    found = {}
    for figure in (case.figure(i) for i in case.decision().numbers if i.startswith("decision.in_use.evidence.weeks-")):
        (option,) = figure.based.about
        found[option] = figure.value, figure.unit
    return found


def test_the_weeks_in_use_are_those_of_the_table_of_dates_for_every_client() -> None:
    told = [(name, option, own) for name in CLIENTS for option, own in weeks_in_use(name).items()]
    assert told, "no client of the bench has weeks that turn something"
    apart = [
        (name, option)
        for name, option, (value, unit) in told
        for dated in [bench.case(name).figure(f"tail_risk.weeks.{option}")]
        if (dated.unit, pytest.approx(dated.value)) != (unit, value)
    ]
    assert not apart


@rows("name", CLIENTS)
def test_a_value_of_the_input_is_told_as_the_weeks_that_the_model_makes_of_it(name: str) -> None:
    case = bench.case(name)
    search = Search(case.chain, case.comparison)
    pair = (case.comparison.choice, case.comparison.rival)
    for key in sorted(i for i in search.base.reached_by if i.startswith(OF_WEEKS)):
        unit = own_unit(search, search.turn(key), pair)
        if unit.option:
            for value in (1.0, 7.0):
                made = search.fast.replacing({key: exactly(value)}).bills.own[unit.option].bring_up_weeks
                days = DAYS_PER_WEEK if unit.unit == "day" else 1.0
                assert unit.told(value) == pytest.approx(float(np.median(plain(made))) * days)


def test_own_weeks_grow_with_the_cluster_and_the_input_does_not() -> None:
    key, per = f"{OF_WEEKS}infiniband", []
    for gpus in SIZES:
        case = bench.changed("example", cluster__gpus=gpus, options=["infiniband-ndr", "rocev2-branded-400g"])
        search = Search(case.chain, case.comparison)
        per.append(own_unit(search, search.turn(key), ("infiniband-ndr", "rocev2-branded-400g")).per)
    assert per == sorted(per)
    assert per[0] < per[-1]
