"""What would change the decision when more than one thing moves: screened on draws, confirmed by the model run again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabricreport.chain import Chain
from fabricreport.errors import InputError
from fabricreport.inputs import Inputs, drawn_exactly
from fabricreport.models.judgement.acceptability import Linear, acceptability
from fabricreport.models.judgement.best import by_hypercube, cheapest, regret, sampling_error
from fabricreport.models.judgement.joint import Pair, Scores, nearest_level, pairs
from fabricreport.models.judgement.regions import Box, measured, region
from fabricreport.provenance import mean_of, plain
from fabricreport.scenario import Params, changed_params
from fabricreport.sections.decision.inputs import Judge
from fabricreport.sections.decision.joint.resampled import Resampled
from fabricreport.sections.decision.joint.result import (
    HOUR,
    HYPERCUBES,
    Hours,
    JointFlip,
    JointResult,
    Moved,
    Region,
    Regrets,
)
from fabricreport.sections.decision.turning import Search, Turns, currency_of, hour_value, varies
from fabricreport.sections.tco.bills import Bills
from fabricreport.uncertain import Z95, exactly

Array = NDArray[np.float64]
SHARE_OF_DRAWS = 32
"""The hypercubes of the sampling error are this much smaller than the memo's own."""
LEAST_DRAWS = 32
SEARCHED = 3
"""Pairs that the model is run again for, the nearest first by the screen; the nearest of what they come to counts."""
_WIDE = 4.0
"""The value of a GPU-hour is tried from a quarter of the one in use to four times it, and drawn from half to twice it."""
_DRAWN = 2.0
_POINTS = 33
_DIGITS = 2
_P5_TO_P95 = 2 * Z95


def joint_of(search: Search, turns: Turns) -> JointResult:
    """Everything that is found of a case, off its draws, one fresh sample and some dozens of partial runs.

    `turns`: what each input does alone.
    """
    base, comparison = search.fast, search.comparison
    names = contestants(search.judge, base.bills, comparison.choice)
    costs = _costs(base.bills, names)
    given = base.given
    size = max(LEAST_DRAWS, given.draws // SHARE_OF_DRAWS)
    fresh = base.again(Resampled.of(given, HYPERCUBES, size))
    errors = sampling_error(by_hypercube(_costs(fresh.bills, names), HYPERCUBES, cheapest), size, given.draws)
    ids = _moving(search)
    value = hour_value(base)
    return JointResult(
        shares=_by_name(names, cheapest(costs)),
        errors=_by_name(names, errors),
        regrets=_regrets(names, costs),
        flip=_flip(search, turns),
        region=_region(search, fresh, ids, value),
        hours=_hours(base, names, value),
        sampled=(value / _DRAWN, value * _DRAWN) if _valued(base, value) else None,
    )


def contestants(judge: Judge, bills: Bills, choice: str) -> tuple[str, ...]:
    """Ids of the options a client may commit to; where the one advised cannot be ordered yet, of all it may be advised."""
    now = judge.committing(bills)
    return tuple(now) if choice in now else tuple(judge.advisable(bills))


def _by_name(names: Sequence[str], values: Array) -> dict[str, float]:
    return {name: float(value) for name, value in zip(names, values, strict=True)}


def _costs(bills: Bills, names: Sequence[str]) -> Array:
    """Total costs (draws, options)."""
    return np.stack([plain(bills.totals[o]) for o in names], axis=1)


def _regrets(names: Sequence[str], costs: Array) -> Regrets:
    found = regret(costs)
    return Regrets(
        _by_name(names, found.mean), _by_name(names, found.p95), names[found.least_mean], names[found.least_p95]
    )


# ---- two inputs at once


def _moving(search: Search) -> tuple[str, ...]:
    """Ids of the drawn inputs that the bills rest on."""
    return tuple(i for i in sorted(search.base.reached_by) if varies(search.base.given, i))


def _flip(search: Search, turns: Turns) -> JointFlip | None:
    """The nearest pair at which the lead is used up; None where the model knows of none within reach."""
    comparison = search.comparison
    if comparison.choice == comparison.rival or not np.any(plain(comparison.lead)):
        return None
    slopes = {t.input_id: (t.at_high - t.at_low) / _P5_TO_P95 for t in turns.drawn}
    own = {i: plain(search.fast.given.own(i)) for i in slopes}
    found = [
        f
        for pair in pairs(comparison.verdict.lead, slopes, own)[:SEARCHED]
        if (f := _searched(search, pair, own)) is not None
    ]
    return min(found, key=lambda f: f.distance, default=None)


def _searched(search: Search, pair: Pair, own: Mapping[str, Array]) -> JointFlip | None:
    scores = [Scores.of(own[i]) for i in pair.names]
    in_use = [float(own[i].mean()) for i in pair.names]
    start = np.array([s.score(v) for s, v in zip(scores, in_use, strict=True)])
    comparison = search.comparison

    def lead(z: Array) -> float:
        values = {i: exactly(s.value(float(at))) for i, s, at in zip(pair.names, scores, z, strict=True)}
        return mean_of(search.fast.replacing(values).bills.gap(comparison.rival, comparison.choice))

    level = nearest_level(lead, start, pair)
    if level is None:
        return None
    move = level - start
    bounds = [s.value(float(at)) for s, at in zip(scores, level, strict=True)]
    beyond = [own[i] > b if m > 0 else own[i] < b for i, b, m in zip(pair.names, bounds, move, strict=True)]
    a, b = (
        _moved(search.fast.given, i, used, bound, bool(m > 0))
        for i, used, bound, m in zip(pair.names, in_use, bounds, move, strict=True)
    )
    distance = float(np.sqrt(move @ np.linalg.solve(pair.correlation, move)))
    return JointFlip((a, b), distance, float(np.mean(beyond[0] & beyond[1])))


def _moved(given: Inputs, input_id: str, in_use: float, bound: float, above: bool) -> Moved:
    record = given.record(input_id)
    return Moved(input_id, str(record["unit"]), currency_of(given, input_id), in_use, bound, above)


# ---- a region in plain words


@dataclass(frozen=True)
class _Sample:
    """Inputs (draws, inputs) by column, and where the option with the higher mean is the cheaper one."""

    ids: tuple[str, ...]
    x: Array
    hits: NDArray[np.bool_]


def _region(search: Search, fresh: Chain, ids: Sequence[str], value: float) -> Region | None:
    """Found on the memo's draws, told from the fresh ones; None where no region tells there."""
    comparison = search.comparison
    if comparison.choice == comparison.rival:
        return None
    lead = comparison.verdict.lead
    pair = (comparison.choice, comparison.rival) if lead >= 0 else (comparison.rival, comparison.choice)
    sample = _sampled(search.fast, pair, ids, value)
    box = _plain(region(sample.x, sample.hits))
    if not box:
        return None
    again = _sampled(fresh, pair, ids, value)
    found = measured(box, again.x, again.hits)
    if not found.tells:
        return None
    given = search.fast.given
    return Region(tuple(_condition(given, sample, c.column, c.bound, c.above, value) for c in box), found)


def _plain(box: Box) -> Box:
    """The same box at bounds that a reader keeps in mind."""
    return tuple(type(c)(c.column, c.above, float(f"{c.bound:.{_DIGITS}g}")) for c in box)


def _condition(given: Inputs, sample: _Sample, column: int, bound: float, above: bool, value: float) -> Moved:
    input_id = sample.ids[column]
    if input_id == HOUR:
        return Moved(HOUR, "usd/gpu-hour", "USD", value, bound, above)
    return _moved(given, input_id, mean_of(given.own(input_id)), bound, above)


def _sampled(base: Chain, pair: tuple[str, str], ids: Sequence[str], value: float) -> _Sample:
    """The draws of one chain: the value of a GPU-hour, where it is one for all draws, drawn from a range of its own."""
    given = base.given
    columns = {i: plain(given.own(i)) for i in ids if i != HOUR}
    if _valued(base, value):
        hour = value * _DRAWN ** (2 * plain(given.sampler.uniforms(HOUR)) - 1)
        costs = _by_hour(base, pair, value).at(hour)
        columns[HOUR] = hour
    else:
        costs = _costs(base.bills, pair)
        columns |= {HOUR: plain(given.own(HOUR))} if HOUR in ids else {}
    return _Sample(tuple(columns), np.stack(list(columns.values()), axis=1), costs[:, 1] < costs[:, 0])


# ---- the value of a GPU-hour


def _valued(base: Chain, value: float) -> bool:
    """Whether others may be tried in the place of the value of a GPU-hour: not where the client states a range of it."""
    drawn = base.bills.common.value_basis == "stated" and not drawn_exactly(base.given.own(HOUR))
    return not drawn and _tryable(base.given, value)


def _tryable(given: Inputs, value: float) -> bool:
    """Whether the params allow every value of a GPU-hour that is tried."""
    try:
        for end in (value / _WIDE, value * _WIDE):
            _at_value(given, end)
    except InputError:
        return False
    return value > 0


def _by_hour(base: Chain, names: Sequence[str], value: float) -> Linear:
    """Costs (draws, options) as they follow the value of a GPU-hour: so many hours are lost, each at that value."""
    low, high = value / _WIDE, value * _WIDE
    return Linear.through(low, _at_hour(base, names, low), high, _at_hour(base, names, high))


def _at_hour(base: Chain, names: Sequence[str], value: float) -> Array:
    return _costs(base.under(base.given.with_params(_at_value(base.given, value))).bills, names)


def _at_value(given: Inputs, value: float) -> Params:
    changes: dict[str, Any] = {"money__gpu_hour_value": value}
    return changed_params(given.params, changes, {}, extra_options=given.all_options)


def _hours(base: Chain, names: Sequence[str], value: float) -> Hours | None:
    if len(names) < 2 or not _tryable(base.given, value):
        return None
    low, high = value / _WIDE, value * _WIDE
    curve = acceptability(_by_hour(base, names, value), [float(v) for v in np.geomspace(low, high, _POINTS)])
    return Hours(value, low, high, curve)
