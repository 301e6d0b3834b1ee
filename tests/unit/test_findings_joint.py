"""Findings of the joint study on constructed results: each is true where it should be and false elsewhere."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fabricreport.models.judgement.acceptability import Acceptability, Crossing
from fabricreport.models.judgement.regions import Statistics
from fabricreport.sections.decision.finding import DecisionFinding as F
from fabricreport.sections.decision.joint.findings import joint_findings
from fabricreport.sections.decision.joint.result import Hours, JointFlip, JointResult, Moved, Region, Regrets

MOVED = Moved("evidence:some-weeks", "week", "USD", 5.0, 7.0, True)
FLIP = JointFlip((MOVED, replace(MOVED, input_id="price:some-switch", bound=3.0, above=False)), 0.8, 0.05)
STATISTICS = Statistics(density=0.7, coverage=0.3, base=0.2, inside=90, error=0.04)
CURVE = Acceptability(np.array([1.0, 2.0]), np.array([[0.6, 0.4], [0.3, 0.7]]), (Crossing(1.5, 0, 1),))
FOUND = JointResult(
    shares={"a": 0.6, "b": 0.4},
    errors={"a": 0.01, "b": 0.01},
    regrets=Regrets({"a": 1.0, "b": 2.0}, {"a": 5.0, "b": 6.0}, "a", "a"),
    flip=FLIP,
    region=Region((MOVED,), STATISTICS),
    hours=Hours(1.2, 1.0, 2.0, CURVE),
    sampled=(1.0, 4.0),
)
REGIONS = {F.REGION_ONE, F.REGION_TWO, F.REGION_THREE, F.NO_REGION}


def of(
    found: JointResult = FOUND,
    *,
    alone: bool = False,
    idle: bool = False,
    open_between: bool = False,
    delay_priced: bool = False,
) -> set[F]:
    return set(joint_findings(found, alone=alone, idle=idle, open_between=open_between, delay_priced=delay_priced))


def test_one_option_alone_is_told_nothing() -> None:
    assert of(alone=True) == set()


def test_a_pair_is_told_in_the_body_where_it_may_well_lie_and_a_decision_is_made() -> None:
    assert {F.JOINT, F.JOINT_FLIP, F.JOINT_FLIP_LIKELY} <= of() and F.JOINT_NO_FLIP not in of()
    assert F.JOINT_FLIP_LIKELY not in of(idle=True) and F.JOINT_FLIP in of(idle=True)
    far = replace(FOUND, flip=replace(FLIP, both=0.001))
    assert F.JOINT_FLIP in of(far) and F.JOINT_FLIP_LIKELY not in of(far)
    none = of(replace(FOUND, flip=None))
    assert F.JOINT_NO_FLIP in none and not {F.JOINT_FLIP, F.JOINT_FLIP_LIKELY} & none


def test_a_region_is_told_by_its_conditions() -> None:
    for count, finding in enumerate((F.REGION_ONE, F.REGION_TWO, F.REGION_THREE), start=1):
        told = of(replace(FOUND, region=Region((MOVED,) * count, STATISTICS)))
        assert told & REGIONS == {finding} and {F.REGION, F.REGION_HOUR} <= told
    assert of(replace(FOUND, region=None)) & {*REGIONS, F.REGION, F.REGION_HOUR} == {F.NO_REGION}
    assert F.REGION_HOUR not in of(replace(FOUND, sampled=None))


def test_bounds_are_listed_where_there_are_any() -> None:
    assert F.JOINT_BOUNDS in of() and F.JOINT_BOUNDS in of(replace(FOUND, flip=None))
    assert F.JOINT_BOUNDS not in of(replace(FOUND, flip=None, region=None))


def test_the_value_of_an_hour_crosses_or_does_not() -> None:
    assert {F.HOURS, F.HOURS_CROSS} <= of() and not {F.HOURS_NO_CROSS, F.HOURS_DELAY} & of()
    assert F.HOURS_DELAY in of(delay_priced=True)
    flat = of(replace(FOUND, hours=Hours(1.2, 1.0, 2.0, replace(CURVE, crossings=()))))
    assert {F.HOURS, F.HOURS_NO_CROSS} <= flat and F.HOURS_CROSS not in flat
    assert not {F.HOURS, F.HOURS_CROSS, F.HOURS_NO_CROSS, F.HOURS_DELAY} & of(
        replace(FOUND, hours=None), delay_priced=True
    )


def test_who_has_the_least_regret_is_said_where_the_advice_names_one() -> None:
    assert {F.REGRETS, F.REGRET_LEAST} <= of() and F.REGRET_LEAST_PARTS not in of()
    parts = of(replace(FOUND, regrets=replace(FOUND.regrets, least_p95="b")))
    assert F.REGRET_LEAST_PARTS in parts and F.REGRET_LEAST not in parts
    assert of(open_between=True) & {F.REGRETS, F.REGRET_LEAST, F.REGRET_LEAST_PARTS} == {F.REGRETS}
    assert F.REGRETS not in of(replace(FOUND, shares={"a": 1.0}))
