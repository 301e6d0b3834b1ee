"""The ledger numbers of the decision: the lead, the rule's amounts, the options, the framework, what would turn it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from fabricreport.inputs import Inputs
from fabricreport.ledger import Number
from fabricreport.models.judgement.comparison import Verdict
from fabricreport.models.judgement.framework import FrameworkResult
from fabricreport.provenance import inputs_of
from fabricreport.scenario import assumptions
from fabricreport.sections.decision.result import DecisionResult
from fabricreport.sections.decision.turning import Turn, name_of
from fabricreport.sections.tco.bills import Bills

_DATE = ("param:organisation.time_to_production_weeks",)
_WEIGHTS = tuple(f"param:weights.{a}" for a in ("workload", "maturity", "scale_and_budget", "time_to_production"))
_PROFILE = (
    "param:cluster.gpus",
    "param:workload.kind",
    "param:organisation.networking_maturity",
    "param:organisation.qos_expertise",
)


def numbers_of(given: Inputs, result: DecisionResult, bills: Bills) -> Iterator[Number]:
    """Every number of the section."""
    verdict, difference = result.verdict, result.difference
    names = {o.id: o.name for o in given.options}
    everything = inputs_of(difference)
    yield given.number(
        "decision.difference",
        difference,
        "usd",
        central="mean",
        label=f"Total cost of {names[verdict.runner_up]} less that of {names[verdict.choice]}",
        rule="mean over the shared draws of total cost(runner-up) − total cost(choice), present value over the horizon",
        inputs=("param:money.horizon_months",),
    )
    yield given.number(
        "decision.difference_share",
        difference / np.mean(result.totals[verdict.choice]),
        "share",
        central="mean",
        label="The difference as a share of the advised option's mean total cost",
        rule="difference ÷ mean total cost of the advised option",
        digits=2,
    )
    yield given.number(
        "decision.probability",
        verdict.probability,
        "share",
        label=f"Share of draws in which {names[verdict.choice]} costs less than {names[verdict.runner_up]}",
        rule="count of draws with a lower total cost ÷ all draws",
        inputs=everything,
        digits=2,
    )
    yield given.number(
        "decision.assumption_share",
        result.assumption_share,
        "share",
        label="Share of the difference's explained spread that rests on assumptions",
        rule="sum of squared rank correlations of inputs graded assumption ÷ sum over all inputs",
        inputs=everything,
        digits=2,
    )
    yield from _page_numbers(given, result, bills)
    yield from _rule_numbers(given, verdict, everything)
    yield from _framework_numbers(given, result.framework)
    yield from _option_numbers(given, result, bills)
    yield from _turn_numbers(given, result)
    for reason in result.parting.money if result.parting else ():
        yield given.number(
            f"decision.saves.{reason.cause}",
            reason.saves,
            "usd",
            label=f"What the advised option saves on {reason.cause.replace('_', ' ')}",
            rule="mean over the draws of the difference in this cause",
            inputs=everything,
        )


def _page_numbers(given: Inputs, result: DecisionResult, bills: Bills) -> Iterator[Number]:
    """Counts of what page one and the annex say."""
    behind = inputs_of(*result.totals.values())
    stale = [p.id for p in given.prices.stale if p.id in behind]
    yield given.number(
        "decision.final_gpus",
        float(given.params.cluster.final_gpus),
        "gpus",
        label="GPUs at the end of the plan",
        rule="as stated in the params",
        inputs=("param:cluster.gpus",),
    )
    yield given.number(
        "decision.stale_prices",
        float(len(stale)),
        "count",
        label="Prices used that are past their shelf life",
        rule="count of prices behind the total costs whose expiry lies before the memo's date",
        inputs=stale,
        counted=True,
    )
    yield given.number(
        "decision.assumed_keys",
        float(len(assumptions(given.params))),
        "count",
        label="Keys of the params that were left out",
        rule="count of keys that were not given, each with what is assumed in its place",
    )
    for axis in result.framework.axes:
        for r in axis.rules:
            yield given.number(
                f"decision.rule.{r.id}",
                r.lean,
                "index",
                label=f"Lean of the rule {r.id}",
                rule="size set by this memo; the condition and its reason come from the sources cited",
                digits=2,
            )


def _rule_numbers(given: Inputs, verdict: Verdict, everything: frozenset[str]) -> Iterator[Number]:
    """What the lead is held against."""
    yield given.number(
        "decision.evpi",
        verdict.evpi,
        "usd",
        label="Most that perfect knowledge of every uncertain input could be worth",
        rule="E[max(D, 0)] − max(E[D], 0), with D the mean difference given the inputs",
        inputs=everything,
        digits=2,
    )
    stated = given.params.money.materiality_usd is not None
    yield given.number(
        "decision.materiality",
        verdict.materiality,
        "usd",
        label="Lead below which the choice is close",
        rule="as the params state it"
        if stated
        else "the larger of a share of the lines that differ and the noise of their quotes",
        inputs=("param:money.materiality_usd",) if stated else {*everything, "evidence:rule-material-share"},
        digits=2,
    )


def _option_numbers(given: Inputs, result: DecisionResult, bills: Bills) -> Iterator[Number]:
    names = {o.id: o.name for o in given.options}
    for option_id, total in result.totals.items():
        yield given.number(
            f"decision.total.{option_id}",
            total,
            "usd",
            central="mean",
            label=f"Total cost of {names[option_id]} over the horizon",
            rule="mean over the draws of the present value of fabric, servers or rent, power, space, support, staff and lost GPU time",
        )
        yield given.number(
            f"decision.gap.{option_id}",
            bills.gap(option_id, result.verdict.choice),
            "usd",
            central="mean",
            label=f"Total cost of {option_id} less that of the advised option",
            rule="difference of total costs, draw by draw",
            inputs=("param:money.horizon_months",),
        )
        yield given.number(
            f"decision.cheapest.{option_id}",
            result.probabilities[option_id],
            "share",
            label=f"Share of draws in which {option_id} is the cheapest of all options",
            rule="count of draws with the lowest total cost ÷ all draws",
            inputs=inputs_of(*(bills.gap(o, option_id) for o in result.totals)),
            digits=2,
        )
        yield given.number(
            f"decision.ready.{option_id}",
            result.verdict.ready[option_id],
            "share",
            label=f"Chance that {option_id} is stable by the client's date",
            rule="share of draws with weeks to stable ≤ weeks to production",
            inputs={*inputs_of(bills.own[option_id].bring_up_weeks), *_DATE},
            digits=2,
        )


def _framework_numbers(given: Inputs, framework: FrameworkResult) -> Iterator[Number]:
    yield given.number(
        "decision.framework_total",
        framework.total,
        "index",
        label="Weighted lean of the four axes, from −1 (RoCEv2) to +1 (InfiniBand)",
        rule="sum of axis lean × weight; an axis leans by the clipped sum of the rules that hold",
        inputs=_WEIGHTS + _PROFILE,
        digits=2,
    )
    yield given.number(
        "decision.framework_acceptability",
        framework.acceptability_infiniband,
        "share",
        label="Share of all possible weights for which the framework prefers InfiniBand",
        rule="SMAA: share of uniformly drawn weights with a positive total",
        inputs=_PROFILE,
        digits=2,
    )
    if framework.flip_distance is not None:
        yield given.number(
            "decision.framework_flip",
            framework.flip_distance / 2,
            "share",
            label="Weight that must move between axes before the framework's total changes sign",
            rule="half the smallest L1 change of the weights that brings the total to zero",
            inputs=_WEIGHTS + _PROFILE,
            digits=2,
        )
    for axis in framework.axes:
        yield given.number(
            f"decision.axis.{axis.axis}",
            axis.lean,
            "index",
            label=f"Lean of the axis: {axis.title}",
            rule="clipped sum of the leans of the rules that hold",
            inputs=_PROFILE,
            digits=2,
        )
        yield given.number(
            f"decision.weight.{axis.axis}",
            axis.weight,
            "share",
            label=f"Weight of the axis: {axis.title}",
            rule="the params' weight ÷ the sum of the four weights",
            inputs=_WEIGHTS,
            digits=2,
        )


def _turn_numbers(given: Inputs, result: DecisionResult) -> Iterator[Number]:
    everything = inputs_of(result.difference)
    for turn in (*result.turns.drawn, *result.turns.choices):
        record = given.record(turn.input_id)
        key, label = turn.input_id.replace(":", "."), name_of(turn.input_id) or record["label"]
        if turn.width:
            for end, lead, quantile in (("low", turn.at_low, "P5"), ("high", turn.at_high, "P95")):
                yield given.number(
                    f"decision.swing.{key}.{end}",
                    lead,
                    "usd",
                    label=f"Mean difference with this input at its {quantile}: {label}",
                    rule="the model run again with this input there, all others at their draws",
                    inputs=everything,
                )
        if turn.break_even is None and turn.edge is None:
            continue
        yield from _points(given, turn, key, label, everything)
        for name, _, side, _, chance in turn.edges:
            if chance is not None:
                yield given.number(
                    f"decision.beyond_{name}.{key}",
                    chance,
                    "share",
                    label=f"Chance that it lies {side} where the advice changes: {label}",
                    rule="share of the input's draws on that side",
                    inputs={*everything, turn.input_id},
                    digits=2,
                )
        if turn.beyond is not None and turn.break_even is not None:
            yield given.number(
                f"decision.beyond.{key}",
                turn.beyond,
                "share",
                label=f"Chance that it lies {turn.side} its break-even: {label}",
                rule="share of the input's draws on that side",
                inputs={*everything, turn.input_id},
                digits=2,
            )


def _points(given: Inputs, turn: Turn, key: str, label: str, everything: frozenset[str]) -> Iterator[Number]:
    """Value in use, break-even and edges of one input."""
    rule = "found by running the model again with this input set, all others at their draws: "
    points: dict[str, tuple[float | None, str, str]] = {
        "in_use": (turn.in_use, "Value in use", "mean of the draws, or the client's choice"),
        "break_even": (turn.break_even, "Where the money is level", rule + "mean difference zero"),
        "edge": (
            turn.edge,
            "Where the advice changes",
            rule + "the first value at which another course is advised",
        ),
        "other_edge": (turn.other_edge, "Where the advice changes on the other side", rule + "as on the first"),
    }
    own = frozenset({turn.input_id})
    rests_on = {
        "in_use": own,
        "break_even": everything - own,
        "edge": everything | own,
        "other_edge": everything | own,
    }
    for name, (value, what, how) in points.items():
        if value is not None:
            made = given.number(
                f"decision.{name}.{key}", float(value), turn.unit, label=f"{what}: {label}", rule=how,
                inputs=rests_on[name], digits=3,
            )  # fmt: skip
            yield replace(made, currency=turn.currency)
