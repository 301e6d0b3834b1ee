"""Figures of what could be found out: everything, each group of inputs, each test."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from fabricreport.figures import Index
from fabricreport.sections.decision.figure_context import DecisionFigures, EachSpec
from fabricreport.sections.decision.information.groups import read_groups, read_probes
from fabricreport.sections.decision.information.study import Information, Tried, Worth

_BY_REGRESSION = (
    "regression on the outcomes, learnt on some and judged on the others: mean cost of the option that is cheapest on average "
    "− that of the option chosen on what is known"
)


def _found(at: DecisionFigures) -> Information:
    assert at.result.information is not None, "asked for where there is a choice"
    return at.result.information


def _groups(at: DecisionFigures) -> Mapping[str, Worth]:
    return {w.group.id: w for w in at.result.information.groups} if at.result.information else {}


def _tests(at: DecisionFigures) -> Mapping[str, Tried]:
    return {t.probe.id: t for t in at.result.information.tests} if at.result.information else {}


def _of_group(name: str, label: str, rule: str, value: Callable[[Worth], float]) -> EachSpec:
    """An amount of a group of inputs, where its worth stands out of its noise."""
    return EachSpec(
        f"decision.information.{name}[learnt]",
        "usd",
        label=lambda at, group: f"{label}: {_groups(at)[group].group.name}",
        rule=rule,
        value=lambda at, group: value(_groups(at)[group]),
        inputs=lambda at, _: _found(at).rests_on,
        digits=2,
        when=lambda at, group: not _groups(at)[group].estimate.below_noise,
    )


def _of_test(name: str, label: str, rule: str, value: Callable[[Tried], float], *, telling: bool) -> EachSpec:
    """An amount of a test; `telling`: only where its worth stands out of its noise."""
    return EachSpec(
        f"decision.information.{name}[tried]",
        "usd",
        label=lambda at, test: f"{label}: {_tests(at)[test].probe.name}",
        rule=rule,
        value=lambda at, test: value(_tests(at)[test]),
        inputs=lambda at, test: {*_found(at).rests_on, *_tests(at)[test].probe.entries},
        digits=2,
        when=lambda at, test: not telling or not _tests(at)[test].estimate.below_noise,
    )


INFORMATION = (
    _of_group(
        "worth",
        "What knowing them, and nothing else, is worth to the choice",
        _BY_REGRESSION,
        lambda w: w.estimate.value,
    ),
    _of_test(
        "shows",
        "What it is worth to the choice",
        _BY_REGRESSION,
        lambda t: t.estimate.value,
        telling=True,
    ),
)
"""Every figure of what could be found out."""
INDEXES: Mapping[str, Index[DecisionFigures]] = {
    "learnt": Index(_groups, tuple(g.id for g in read_groups())),
    "tried": Index(_tests, tuple(t.id for t in read_probes())),
}
"""What their ids run through."""
