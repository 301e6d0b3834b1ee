"""The decision itself: money on shared draws, the four-axis framework, what would change the answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fabricreport.evidence import read_yaml
from fabricreport.ledger import Number
from fabricreport.models.judgement import decision as model
from fabricreport.models.judgement.framework import FrameworkResult, evaluate, rules_from
from fabricreport.provenance import Traced, inputs_of, plain
from fabricreport.scenario import is_given

if TYPE_CHECKING:
    from fabricreport.case import Case
    from fabricreport.scenario import Params

LOOK_AHEAD_MONTHS = 36
"""The trajectory counts up to the longer end of the window in which growth is said to lock the fabric in."""

SHOWN_SWINGS = 12
"""Swings that get figures of their own; those with a break-even always do."""

_GRADED_ASSUMPTION = "assumption"


@dataclass(frozen=True)
class DecisionResult:
    """The verdict, the framework's view, the sensitivities of the difference, and the figures by id.

    `difference` (draws,) is the runner-up's total cost less the choice's: positive means the choice is cheaper.
    """

    verdict: model.Verdict
    framework: FrameworkResult
    swings: tuple[model.Swing, ...]
    difference: Traced
    totals: Mapping[str, Traced]
    probabilities: Mapping[str, float]
    assumption_share: float
    numbers: Mapping[str, Number]

    def flips(self, count: int = 3) -> tuple[model.Swing, ...]:
        """The inputs whose break-even lies inside their range, the widest swing first."""
        return tuple(s for s in self.swings if s.break_even is not None)[:count]

    def dearest_cause(self, components: Mapping[str, Mapping[str, Any]], option: str) -> str:
        """The cause by which an option exceeds the choice most, on the mean of the draws."""
        mine, theirs = components[self.verdict.choice], components[option]
        zero = np.zeros(1)
        gaps = {
            c: float(plain(theirs.get(c, zero)).mean() - plain(mine.get(c, zero)).mean()) for c in {**mine, **theirs}
        }
        return max(gaps, key=lambda c: gaps[c])


def direction(difference: Number) -> str:
    """Whether the advised option costs `less` or `more` than its rival, or the `same`: by the figure as it is printed.

    The choice is made on the mean and the median is printed: they may differ in sign.
    """
    if not any(digit in "123456789" for digit in difference.text):
        return "same"
    return "less" if difference.value > 0 else "more"


def standing(verdict: model.Verdict, families: Mapping[str, str], leans_to: str, printed: Mapping[str, float]) -> str:
    """Where the framework stands to the advice, by families and printed total costs (both by option id).

    `none`: it leans to neither side. `chose`: it decided. `agrees`: it leans to the choice's family; `rival`: to the
    rival's; `behind`: to one that is neither and costs more than both; `third`: to one that is neither and does not;
    `absent`: to one that no option belongs to.
    """
    if leans_to == "neither":
        return "none"
    if leans_to == families[verdict.choice]:
        return "chose" if verdict.decided_by == "framework" else "agrees"
    if leans_to == families[verdict.runner_up]:
        return "rival"
    offered = [cost for option, cost in printed.items() if families[option] == leans_to]
    if not offered:
        return "absent"
    return "behind" if min(offered) > max(printed[verdict.choice], printed[verdict.runner_up]) else "third"


def fate(median_gap: float, mean_gap: float) -> str:
    """How an option that is not advised compares with the choice: gaps of its cost over the choice's.

    `median_gap` is between the two medians printed side by side, `mean_gap` is what the choice was made on.
    """
    if median_gap == 0:
        return "level"
    if median_gap > 0:
        return "dearer" if mean_gap >= 0 else "cheaper on the mean"
    return "cheaper" if mean_gap < 0 else "cheaper at the median"


def framework_facts(params: Params) -> dict[str, Any]:
    """The facts the framework's rules may ask for."""
    cluster, organisation = params.cluster, params.organisation
    return {
        "kind": params.workload.kind,
        "latency_variance_bound": params.workload.latency_variance_bound,
        "vendor": cluster.vendor,
        "target_gpus": target_gpus(params),
        "one_node": target_gpus(params) <= cluster.gpus_per_node,
        "spans_subnets": cluster.subnets > 1 or cluster.sites > 1,
        "tenancy": cluster.tenancy,
        "networking_maturity": organisation.networking_maturity,
        "qos_expertise": organisation.qos_expertise,
        "existing_ethernet": organisation.existing_ethernet,
        "existing_infiniband": organisation.existing_infiniband,
        "single_vendor_policy": organisation.single_vendor_policy,
        "weeks_to_production": organisation.time_to_production_weeks,
    }


def target_gpus(params: Params) -> int:
    """The largest size the client plans within LOOK_AHEAD_MONTHS."""
    stages = [s.gpus for s in params.cluster.trajectory if s.month <= LOOK_AHEAD_MONTHS]
    return max([params.cluster.gpus, *stages])


def run(case: Case) -> DecisionResult:
    """Decide for a case."""
    tco = case.tco()
    totals = tco.totals
    families = {o.id: o.family for o in case.options}
    framework = _framework(case)
    thresholds = model.Thresholds(
        case.central("evidence:rule-clear-probability"),
        case.central("evidence:rule-leaning-probability"),
        case.central("evidence:rule-material-share"),
        int(case.central("evidence:fabric-matters-from-gpus")),
    )

    def decided(assumption_flips: bool) -> model.Verdict:
        return model.decide(
            totals,
            families,
            framework_total=framework.total,
            gpus=target_gpus(case.params),
            gpus_per_node=case.params.cluster.gpus_per_node,
            thresholds=thresholds,
            assumption_flips=assumption_flips,
        )

    verdict = decided(False)
    difference = tco.gap(verdict.runner_up, verdict.choice)
    swings = model.swings(difference, {i: case.sample(i) for i in sorted(sampled_inputs(case, difference))})
    assumptions = {s.input_id for s in swings if case.input_record(s.input_id)["grade"] == _GRADED_ASSUMPTION}
    if any(s.flips for s in swings if s.input_id in assumptions):
        verdict = decided(True)
    share = sum(s.share_of_variance for s in swings if s.input_id in assumptions)
    known = sum(s.share_of_variance for s in swings)
    assumption_share = share / known if known else 0.0
    probabilities = model.probability_cheapest(totals)
    result = DecisionResult(verdict, framework, swings, difference, totals, probabilities, assumption_share, numbers={})
    numbers = {n.id: n for n in _numbers(case, result)}
    return DecisionResult(**{**vars(result), "numbers": numbers})


def sampled_inputs(case: Case, values: Any) -> set[str]:
    """The inputs of an array whose draws vary."""
    ids = {i for i in inputs_of(values) if not i.startswith("claim:")}
    return {i for i in ids if plain(case.sample(i)).min() < plain(case.sample(i)).max()}


def _framework(case: Case) -> FrameworkResult:
    data = read_yaml("framework")
    return evaluate(
        rules_from(data["rules"]),
        {a["id"]: a["title"] for a in data["axes"]},
        framework_facts(case.params),
        case.params.weights.model_dump(),
        seed=int(case.params.seed),
        assumed=assumed_facts(case.params),
    )


def assumed_facts(params: Params) -> dict[str, str]:
    """The framework's facts that the client did not state, with their names in prose."""
    facts: Mapping[str, Any] = read_yaml("framework")["facts"]
    return {f: entry["name"] for f, entry in facts.items() if not any(is_given(params, k) for k in entry["keys"])}


_WEIGHTS = tuple(f"param:weights.{a}" for a in ("workload", "maturity", "scale_and_budget", "time_to_production"))
_PROFILE = (
    "param:cluster.gpus",
    "param:workload.kind",
    "param:organisation.networking_maturity",
    "param:organisation.qos_expertise",
)


def _numbers(case: Case, result: DecisionResult) -> Iterator[Number]:
    verdict, difference = result.verdict, result.difference
    yield case.number(
        "decision.difference",
        difference,
        "usd",
        label="Runner-up's total cost less the advised option's",
        rule="median over the shared draws of total cost(runner-up) − total cost(choice), present value over the horizon",
        inputs=("param:money.horizon_months",),
    )
    yield case.number(
        "decision.difference_share",
        difference / np.mean(result.totals[verdict.choice]),
        "share",
        label="The difference as a share of the advised option's mean total cost",
        rule="difference ÷ mean total cost of the advised option",
        digits=2,
    )
    yield case.number(
        "decision.probability",
        verdict.probability,
        "share",
        label="Share of draws in which the advised option costs less",
        rule="count of draws with a lower total cost ÷ all draws",
        inputs=inputs_of(difference),
        digits=2,
    )
    yield case.number(
        "decision.assumption_share",
        result.assumption_share,
        "share",
        label="Share of the difference's explained spread that rests on assumptions",
        rule="sum of squared rank correlations of inputs graded assumption ÷ sum over all inputs",
        inputs=inputs_of(difference),
        digits=2,
    )
    yield case.number(
        "decision.evpi",
        model.evpi(difference),
        "usd",
        label="Most that perfect knowledge of every uncertain input could be worth",
        rule="E[max(D, 0)] − max(E[D], 0), with D the mean difference given the inputs",
        inputs=inputs_of(difference),
        digits=2,
    )
    yield from _framework_numbers(case, result.framework)
    yield from _option_numbers(case, result)
    yield from _swing_numbers(case, result)


def _option_numbers(case: Case, result: DecisionResult) -> Iterator[Number]:
    for option_id, total in result.totals.items():
        yield case.number(
            f"decision.total.{option_id}",
            total,
            "usd",
            label=f"Total cost of {option_id} over the horizon",
            rule="present value of fabric, servers or rent, power, space, support, staff and lost GPU time",
        )
        yield case.number(
            f"decision.gap.{option_id}",
            case.tco().gap(option_id, result.verdict.choice),
            "usd",
            label=f"Total cost of {option_id} less that of the advised option",
            rule="difference of total costs, draw by draw",
            inputs=("param:money.horizon_months",),
        )
        yield case.number(
            f"decision.cheapest.{option_id}",
            result.probabilities[option_id],
            "share",
            label=f"Share of draws in which {option_id} is the cheapest of all options",
            rule="count of draws with the lowest total cost ÷ all draws",
            inputs=inputs_of(*(case.tco().gap(o, option_id) for o in result.totals)),
            digits=2,
        )


def _framework_numbers(case: Case, framework: FrameworkResult) -> Iterator[Number]:
    yield case.number(
        "decision.framework_total",
        framework.total,
        "index",
        label="Weighted lean of the four axes, from −1 (RoCEv2) to +1 (InfiniBand)",
        rule="sum of axis lean × weight; an axis leans by the clipped sum of the rules that hold",
        inputs=_WEIGHTS + _PROFILE,
        digits=2,
    )
    yield case.number(
        "decision.framework_acceptability",
        framework.acceptability_infiniband,
        "share",
        label="Share of all possible weights for which the framework prefers InfiniBand",
        rule="SMAA: share of uniformly drawn weights with a positive total",
        inputs=_PROFILE,
        digits=2,
    )
    if framework.flip_distance is not None:
        yield case.number(
            "decision.framework_flip",
            framework.flip_distance / 2,
            "share",
            label="Weight that must move between axes before the framework's total changes sign",
            rule="half the smallest L1 change of the weights that brings the total to zero",
            inputs=_WEIGHTS + _PROFILE,
            digits=2,
        )
    for axis in framework.axes:
        yield case.number(
            f"decision.axis.{axis.axis}",
            axis.lean,
            "index",
            label=f"Lean of the axis: {axis.title}",
            rule="clipped sum of the leans of the rules that hold",
            inputs=_PROFILE,
            digits=2,
        )
        yield case.number(
            f"decision.weight.{axis.axis}",
            axis.weight,
            "share",
            label=f"Weight of the axis: {axis.title}",
            rule="the params' weight ÷ the sum of the four weights",
            inputs=_WEIGHTS,
            digits=2,
        )


def _swing_numbers(case: Case, result: DecisionResult) -> Iterator[Number]:
    everything = inputs_of(result.difference)
    for rank, swing in enumerate(result.swings):
        if rank >= SHOWN_SWINGS and swing.break_even is None:
            continue
        record = case.input_record(swing.input_id)
        key = swing.input_id.replace(":", ".")
        for end, value in (("low", swing.at_low), ("high", swing.at_high)):
            yield case.number(
                f"decision.swing.{key}.{end}",
                value,
                "usd",
                label=f"Mean difference at the {end} end of: {record['label']}",
                rule=f"mean of the difference over the {'lowest' if end == 'low' else 'highest'} tenth of the input's draws",
                inputs=everything,
            )
        if swing.break_even is not None:
            yield case.number(
                f"decision.break_even.{key}",
                swing.break_even,
                record["unit"],
                label=f"Break-even of: {record['label']}",
                rule="where the least-squares line of the difference on this input crosses zero",
                inputs=everything,
                digits=2,
            )
