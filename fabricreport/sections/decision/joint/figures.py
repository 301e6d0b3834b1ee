"""The figures of the joint study: moves of two inputs, the region, values of a GPU-hour, shares with their error, regret."""

from __future__ import annotations

from collections.abc import Callable

from fabricreport.durations import HOURS_PER_WEEK
from fabricreport.figures import Index
from fabricreport.models.judgement.acceptability import Crossing
from fabricreport.models.judgement.regions import Statistics
from fabricreport.sections.decision.figure_context import DecisionFigures, EachSpec, Spec
from fabricreport.sections.decision.joint.result import HOUR, Hours, Moved
from fabricreport.sections.decision.turning import label_of

_SIZE = ("param:cluster.gpus",)
_FRESH = "on a fresh sample, the whole model run again: "


def paired(at: DecisionFigures) -> dict[str, Moved]:
    """The two inputs of the nearest pair, by key."""
    flip = at.result.joint.flip
    return {m.key: m for m in flip.pair} if flip else {}


def conditioned(at: DecisionFigures) -> dict[str, Moved]:
    """The inputs that bound the region, by key."""
    region = at.result.joint.region
    return {m.key: m for m in region.conditions} if region else {}


def _both(at: DecisionFigures) -> dict[str, Moved]:
    return {**paired(at), **conditioned(at)}


def _label(at: DecisionFigures, moved: Moved) -> str:
    return label_of(at.given, moved.input_id)


def _bound(name: str, index: str, what: str, rule: str, of: Callable[[DecisionFigures], dict[str, Moved]]) -> EachSpec:
    """Where an input stands at which the money turns, in the input's unit."""
    return EachSpec(
        f"decision.joint.{name}[{index}]",
        lambda at, key: of(at)[key].unit,
        label=lambda at, key: f"{what}: {_label(at, of(at)[key])}",
        rule=rule,
        value=lambda at, key: of(at)[key].bound,
        inputs=lambda at, _: at.everything,
        currency=lambda at, key: of(at)[key].currency,
    )


def _region(name: str, label: str, rule: str, value: Callable[[Statistics], float]) -> Spec:
    """A share that the fresh sample tells of the region."""

    def read(at: DecisionFigures) -> float:
        region = at.result.joint.region
        assert region is not None
        return value(region.fresh)

    return Spec(
        f"decision.joint.{name}",
        "share",
        label=label,
        rule=_FRESH + rule,
        value=read,
        inputs=lambda at: at.everything,
        digits=2,
        when=lambda at: at.result.joint.region is not None,
    )


def _hours(at: DecisionFigures) -> Hours:
    assert at.result.joint.hours is not None
    return at.result.joint.hours


def _crossing(at: DecisionFigures) -> Crossing:
    found = _hours(at).crossing
    assert found is not None
    return found


def _valued(at: DecisionFigures) -> bool:
    return at.result.joint.hours is not None


def _drawn(at: DecisionFigures) -> bool:
    return at.result.joint.sampled is not None and at.result.joint.region is not None


def _crosses(at: DecisionFigures) -> bool:
    return at.result.joint.hours is not None and at.result.joint.hours.crossing is not None


def _hour(
    name: str,
    label: str,
    rule: str,
    value: Callable[[DecisionFigures], float],
    when: Callable[[DecisionFigures], bool] = _valued,
) -> Spec:
    """A value of a GPU-hour, in US dollars."""
    return Spec(
        f"decision.joint.{name}",
        "usd/gpu-hour",
        label=label,
        rule=rule,
        value=value,
        inputs=lambda at: {*at.everything, HOUR},
        currency="USD",
        when=when,
    )


def _week(
    name: str, label: str, hour: Callable[[DecisionFigures], float], when: Callable[[DecisionFigures], bool]
) -> Spec:
    """What a week of the first stage is worth at a value of a GPU-hour, in US dollars."""
    return Spec(
        f"decision.joint.{name}",
        "usd",
        label=label,
        rule="value of a GPU-hour × hours of a week × GPUs",
        value=lambda at: hour(at) * HOURS_PER_WEEK * at.given.params.cluster.gpus,
        inputs=lambda at: {*at.everything, HOUR, *_SIZE},
        currency="USD",
        when=when,
    )


def _accepted(name: str, end: str, at_row: int) -> EachSpec:
    """How often an option is the cheapest at an end of the values tried; `at_row`: that of the curve."""
    return EachSpec(
        f"decision.joint.{name}[contestant]",
        "share",
        label=lambda at, option: (
            f"Share of outcomes in which {at.names[option]} is the cheapest, a GPU-hour at the {end} end"
        ),
        rule="count of outcomes with the lowest total cost ÷ all outcomes, lost GPU-hours charged at that value",
        value=lambda at, option: float(_hours(at).curve.shares[at_row, at.result.joint.contestants.index(option)]),
        inputs=lambda at, _: {*at.everything, HOUR},
        digits=2,
        when=lambda at, _: _valued(at),
    )


def _sampled(at: DecisionFigures, end: int) -> float:
    assert at.result.joint.sampled is not None
    return at.result.joint.sampled[end]


def _regret(name: str, statistic: str, value: Callable[[DecisionFigures, str], float]) -> EachSpec:
    return EachSpec(
        f"decision.joint.{name}[contestant]",
        "usd",
        label=lambda at, option: f"Regret of taking {at.names[option]}, {statistic}",
        rule=f"{statistic} over the outcomes of its total cost less that of the cheapest option in that outcome",
        value=value,
        inputs=lambda at, _: at.everything,
        when=lambda at, _: len(at.result.joint.shares) > 1,
    )


JOINT: tuple[Spec | EachSpec, ...] = (
    EachSpec(
        "decision.joint.error[contestant]",
        "share",
        label=lambda at, option: f"Sampling error of the share of outcomes in which {at.names[option]} is the cheapest",
        rule=(
            "from the spread over twenty independently scrambled hypercubes, scaled to the outcomes of the memo: a fresh "
            "hypercube as large lies within two errors of the share in nineteen of twenty cases"
        ),
        value=lambda at, option: at.result.joint.errors[option],
        inputs=lambda at, _: at.everything,
        digits=1,
        when=lambda at, option: at.result.joint.errors[option] > 0,
    ),
    _regret("regret", "mean", lambda at, option: at.result.joint.regrets.mean[option]),
    _regret("regret_p95", "P95", lambda at, option: at.result.joint.regrets.p95[option]),
    _bound(
        "level",
        "paired",
        "Where the money is level, the other input of the pair moved too",
        "found by running the model again with both inputs set, all others as they vary: mean difference zero, at the "
        "point nearest to the values in use in standard scores",
        paired,
    ),
    Spec(
        "decision.joint.both",
        "share",
        label="Chance that both inputs of the nearest pair lie so far out or farther",
        rule="share of outcomes beyond both values at which the money is level",
        value=lambda at: at.result.joint.flip.both if at.result.joint.flip else 0.0,
        inputs=lambda at: at.everything,
        digits=2,
        when=lambda at: at.result.joint.flip is not None,
    ),
    EachSpec(
        "decision.joint.in_use[moved]",
        lambda at, key: _both(at)[key].unit,
        label=lambda at, key: f"Value in use: {_label(at, _both(at)[key])}",
        rule="mean of the input, or the client's choice",
        value=lambda at, key: _both(at)[key].in_use,
        inputs=lambda at, key: (_both(at)[key].input_id,),
        currency=lambda at, key: _both(at)[key].currency,
    ),
    _bound(
        "bound",
        "condition",
        "Bound of the region",
        "found on the outcomes: the box of at most three such bounds with the best mean of density and coverage, rounded",
        conditioned,
    ),
    _region("density", "Density of the region", "share of the outcomes in it in which the costlier is the cheaper", lambda f: f.density),
    _region("coverage", "Coverage of the region", "share of all such outcomes that lie in it", lambda f: f.coverage),
    _region("base", "Share of all outcomes in which the costlier is the cheaper", "count ÷ all outcomes", lambda f: f.base),
    _hour("drawn_low", "Lowest value of a GPU-hour in the sample of the region", "half of the one in use", lambda at: _sampled(at, 0), _drawn),
    _hour("drawn_high", "Highest value of a GPU-hour in the sample of the region", "twice the one in use", lambda at: _sampled(at, 1), _drawn),
    _hour("hour", "Value of a GPU-hour in use", "mean over the outcomes", lambda at: _hours(at).in_use),
    _hour("hour_low", "Lowest value of a GPU-hour tried", "a quarter of the one in use", lambda at: _hours(at).low),
    _hour("hour_high", "Highest value of a GPU-hour tried", "four times the one in use", lambda at: _hours(at).high),
    _hour(
        "crossing",
        "Value of a GPU-hour at which another option becomes the likeliest to be the cheapest",
        "on the same outcomes, lost GPU-hours charged at that value: the nearest to the one in use",
        lambda at: _crossing(at).value,
        _crosses,
    ),
    _week("week", "What a week of the whole cluster is worth", lambda at: _hours(at).in_use, _valued),
    _week("crossing_week", "The same where another option becomes the likeliest", lambda at: _crossing(at).value, _crosses),
    _accepted("accepted_low", "low", 0),
    _accepted("accepted_high", "high", -1),
)  # fmt: skip

JOINT_INDEXES: dict[str, Index[DecisionFigures]] = {
    "contestant": Index(lambda at: at.result.joint.shares),
    "paired": Index(paired),
    "condition": Index(conditioned),
    "moved": Index(_both),
}
