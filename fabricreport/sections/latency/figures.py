"""Ledger numbers of the latency section, each with its rule in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from fabricreport.inputs import Inputs
from fabricreport.ledger import Number
from fabricreport.models.training.step import TrainingStep
from fabricreport.sections.latency import gap_figures as latency_gap_numbers
from fabricreport.sections.latency import inputs
from fabricreport.sections.latency.gap_figures import size_number, slug
from fabricreport.sections.latency.result import LatencyResult
from fabricreport.validation.card import Card
from fabricreport.validation.collectives import collectives_card
from fabricreport.validation.training import training_card

_STAGES = ("param:cluster.trajectory", "param:money.horizon_months")
_RULE_STEP = (
    "kernels + NVLink traffic + fabric traffic that nothing hides + pipeline bubble + optimiser; exposed = what is left "
    "of traffic after the overlap assumed, and the slowing of kernels by what is hidden"
)


def numbers(given: Inputs, result: LatencyResult) -> Iterator[Number]:
    """Every number of the section."""
    yield from _options(given, result)
    yield from _steps(given, result)
    yield from latency_gap_numbers.numbers(given, result)
    yield from _table(given, result)
    yield from _traffic(given, result)
    yield from _measurements(given, result)
    yield from _cards(given)


def _names(given: Inputs, result: LatencyResult) -> dict[str, str]:
    return {o.id: o.name for o in (*given.options, *result.pair)}


def _profile(result: LatencyResult) -> tuple[str, ...]:
    """Params behind every number, the client's logs among them where they recalibrate the model."""
    measured = ("param:measurements",) if result.measurements and result.measurements.factors else ()
    return (*inputs.PROFILE, *measured)


def _options(given: Inputs, result: LatencyResult) -> Iterator[Number]:
    names, profile = _names(given, result), _profile(result)
    measured = "param:measurements" in profile
    for key, share in result.exposed_share.items():
        for suffix, values, when in (
            ("", share, "over the horizon, sizes weighted by GPU-months"),
            ("_now", result.exposed_now[key], "at the first size"),
            ("_final", result.exposed_final[key], "at the last size"),
        ):
            yield given.number(
                f"latency.exposed{suffix}.{key}",
                values,
                "share",
                label=f"GPU time lost to exposed communication {when}: {names[key]}",
                rule="exposed fabric traffic ÷ step time; step = " + _RULE_STEP,
                inputs=(*profile, *_STAGES) if suffix == "" else profile,
                digits=2,
            )
        yield given.number(
            f"latency.busbw.{key}",
            result.busbw[key],
            "gbytes/s",
            label=f"AllReduce bus bandwidth at 1 GiB over the whole cluster: {names[key]}",
            rule="size × 2(n − 1)/n ÷ time of the fastest algorithm and protocol"
            + (", recalibrated to the client's logs (param:measurements)" if measured else ""),
            inputs=profile,
        )


def _steps(given: Inputs, result: LatencyResult) -> Iterator[Number]:
    names, profile = _names(given, result), _profile(result)
    for key, step in result.steps.items():
        time = given.spread(step.step_time_s)
        yield given.number(
            f"latency.step.{key}", time, "s", label=f"Time of one step: {names[key]}", rule=_RULE_STEP, inputs=profile
        )
        if isinstance(step, TrainingStep):
            yield given.number(
                f"latency.mfu.{key}",
                given.spread(step.mfu),
                "share",
                label=f"Model FLOP/s over the peak of all GPUs: {names[key]}",
                rule="FLOPs of the batch ÷ (GPUs × peak × step time), losses outside the step not counted",
                inputs=profile,
                digits=2,
            )
        for part, value in _parts(step):
            yield given.number(
                f"latency.part.{part}.{key}",
                given.spread(value / step.step_time_s),
                "share",
                label=f"Share of the step: {part.replace('_', ' ')}, {names[key]}",
                rule=f"{part.replace('_', ' ')} ÷ step time",
                inputs=profile,
                digits=2,
            )


def _parts(step: Any) -> tuple[tuple[str, Any], ...]:
    return (
        ("compute", step.compute_s),
        ("inside_nodes", step.in_node_s),
        ("exposed", step.exposed_communication_s),
        ("bubble", step.bubble_s),
        ("other", step.other_s),
    )


def _table(given: Inputs, result: LatencyResult) -> Iterator[Number]:
    names = _names(given, result)
    for i, size in enumerate(result.table_bytes):
        yield size_number(given, f"latency.size.{i}", size, "Message size")
        for key, found in result.collectives.items():
            yield given.number(
                f"latency.allreduce_time.{key}.{i}",
                given.spread(found.time_us[..., i]),
                "us",
                label=f"Time of an AllReduce over the whole cluster: {names[key]}",
                rule="the fastest algorithm and protocol of the model, with its error on unseen clusters",
                inputs=_profile(result),
            )
            yield given.number(
                f"latency.allreduce_busbw.{key}.{i}",
                given.spread(found.busbw_gbytes_per_s[..., i]),
                "gbytes/s",
                label=f"Bus bandwidth of an AllReduce over the whole cluster: {names[key]}",
                rule="size × 2(n − 1)/n ÷ time",
                inputs=_profile(result),
            )


def _traffic(given: Inputs, result: LatencyResult) -> Iterator[Number]:
    for i, sent in enumerate(result.traffic):
        label = f"{sent.kind} {sent.collective}"
        yield size_number(given, f"latency.traffic.size.{i}", sent.size_bytes, f"Size of one message: {label}")
        for name, value, unit in (
            ("count", given.spread(sent.count), "count"),
            ("ranks", float(sent.ranks), "gpus"),
            ("time", given.spread(sent.time_s * 1e3), "ms"),
            ("exposed", given.spread(sent.exposed_s * 1e3), "ms"),
        ):
            yield given.number(
                f"latency.traffic.{name}.{i}",
                value,
                unit,
                label=f"{name} in one step: {label}",
                rule="from the model's shape and the parallel plan" if unit in ("count", "gpus") else _RULE_STEP,
                inputs=_profile(result),
            )


def _measurements(given: Inputs, result: LatencyResult) -> Iterator[Number]:
    if result.measurements is None:
        return
    for i, log in enumerate(result.measurements.used):
        factors = log.factors
        pair_of_factors = (factors.latency_factor, factors.bandwidth_factor) if factors else (1.0, 1.0)
        for name, value, unit, label in (
            ("before", log.error_before, "share", "Median absolute error of the model's time before"),
            ("after", log.error_after, "share", "Median absolute error of the model's time after"),
            ("rows", float(log.size_bytes.size), "count", "Rows used"),
            ("left_out", float(log.left_out), "count", "Rows left out"),
            ("gpus", float(log.gpus), "gpus", "GPUs of the log"),
            ("latency_factor", pair_of_factors[0], "x", "Latency of the client's cluster over the model's"),
            ("bandwidth_factor", pair_of_factors[1], "x", "Bandwidth of the client's cluster over the model's"),
        ):
            number = given.number(
                f"latency.measured.{name}.{i}",
                value,
                unit,
                label=label,
                rule="from the client's log (param:measurements)",
                inputs=("param:measurements",),
            )
            yield replace(number, grade="measured")


def _cards(given: Inputs) -> Iterator[Number]:
    for name, card in (("collectives", collectives_card()), ("training", training_card())):
        yield from card_numbers(given, name, card)


def card_numbers(given: Inputs, name: str, card: Card) -> Iterator[Number]:
    """The summary and the baselines of a validation card."""
    for group, values in (("summary", card.summary), ("baseline", card.baselines)):
        for label, value in values.items():
            if np.isfinite(value):
                number = given.number(
                    f"latency.card.{name}.{group}.{slug(label)}",
                    float(value),
                    "share",
                    label=f"Validation card, {card.model}: {label}",
                    rule="median of |ours ÷ published − 1| over the card's rows",
                    digits=2,
                    counted=True,
                )
                yield replace(number, date=card.date)
