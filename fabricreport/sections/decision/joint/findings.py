"""What the joint study found, named."""

from __future__ import annotations

from collections.abc import Iterator

from fabricreport.sections.decision.finding import DecisionFinding
from fabricreport.sections.decision.joint.result import JointResult
from fabricreport.sections.decision.result import WORTH_A_WORD

_REGIONS = (DecisionFinding.REGION_ONE, DecisionFinding.REGION_TWO, DecisionFinding.REGION_THREE)


def joint_findings(
    found: JointResult, *, alone: bool, idle: bool, open_between: bool, delay_priced: bool
) -> Iterator[DecisionFinding]:
    """Findings of the joint study; `idle`: the fabric is worth no decision; `alone`: there is none to make;
    `open_between`: the advice names neither of the two compared, and no more is said of which has the least regret."""
    if alone:
        return
    yield DecisionFinding.JOINT
    if found.flip is None:
        yield DecisionFinding.JOINT_NO_FLIP
    else:
        yield DecisionFinding.JOINT_FLIP
        if found.flip.both >= WORTH_A_WORD and not idle:
            yield DecisionFinding.JOINT_FLIP_LIKELY
    if found.region is None:
        yield DecisionFinding.NO_REGION
    else:
        yield DecisionFinding.REGION
        yield _REGIONS[len(found.region.conditions) - 1]
        if found.sampled:
            yield DecisionFinding.REGION_HOUR
    if found.flip or found.region:
        yield DecisionFinding.JOINT_BOUNDS
    yield from _hours(found, delay_priced)
    if len(found.shares) > 1:
        least = found.regrets
        same = least.least_mean == least.least_p95
        yield DecisionFinding.REGRETS
        if not open_between:
            yield DecisionFinding.REGRET_LEAST if same else DecisionFinding.REGRET_LEAST_PARTS


def _hours(found: JointResult, delay_priced: bool) -> Iterator[DecisionFinding]:
    if found.hours is None:
        return
    yield DecisionFinding.HOURS
    yield DecisionFinding.HOURS_NO_CROSS if found.hours.crossing is None else DecisionFinding.HOURS_CROSS
    if delay_priced:
        yield DecisionFinding.HOURS_DELAY
