"""The slowest of N workers: expected, median and quantile of a maximum, by order statistics and not by simulation.

Workers are exchangeable. `correlation` is the pairwise correlation of their *latent Gaussians* (a one-factor
copula): worker i takes the value Q(Phi(sqrt(rho) Z + sqrt(1 - rho) E_i)). Such a copula has no tail dependence, so
stalls that stop every worker at once are not in it; they belong in `step_inflation` as a separate shock.

The cost does not depend on N: the rule that `maxima` builds for (N, rho) has the same length whatever N is.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fabricreport.errors import InputError, OutOfRange, Problem
from fabricreport.models.risk import maxima
from fabricreport.models.risk.extremes import GpdTail, fit_gpd, lognormal_from_quantiles, return_level
from fabricreport.models.risk.steps import StepInflation, TailLaw, step_inflation
from fabricreport.provenance import Traced, inputs_of, plain

__all__ = [
    "GpdTail",
    "StepInflation",
    "TailLaw",
    "expected_max",
    "fit_gpd",
    "lognormal_from_quantiles",
    "median_max",
    "quantile_max",
    "return_level",
    "step_inflation",
]

Array = NDArray[np.float64]

_FINE, _COARSE = 0.03125, 0.25  # spacing of the rule: 356 nodes (kinks in a law cost 1e-6), or 45 for large batches
_LARGE_BATCH = 1_000
_CHUNK = 20_000  # parameter sets at once, so that memory stays near 10 MB
_LAST_SAFE_TAIL = 1e-13  # some scipy laws only know 1 - q, which is exact no further out than this


def expected_max(dist: Any, n: ArrayLike, *, correlation: ArrayLike = 0.0) -> Any:
    """Mean of the largest of `n` workers.

    dist: a frozen continuous scipy distribution with finite mean; its parameters may be arrays. n: whole
    number(s) of workers, at least 1. correlation: latent Gaussian pairwise correlation in [0, 1]. All three
    broadcast; the result is a float if all are scalars, else an array of the broadcast shape, in the
    distribution's unit. Raises InputError for something that is not such a distribution, OutOfRange for an
    infinite mean, invalid parameters, n below 1 or a correlation outside [0, 1].

    Source: order statistics, E[max] = integral of Q(u**(1/n)) over u in (0, 1).
    """
    family, args, loc, scale = _parts(dist)
    workers, rho = _workers(n), _correlation(correlation)
    mean = np.asarray(plain(dist.mean()))
    if not np.all(np.isfinite(mean)):
        raise _range(
            "the mean of a worker is not finite, or a parameter is invalid, so the mean of the maximum does not exist",
            "dist",
            _name(dist),
            "Use quantile_max, which needs no mean, or a law with a tail index above 1.",
        )
    shape = np.broadcast_shapes(mean.shape, workers.shape, rho.shape)
    spacing = _FINE if np.prod(shape) <= _LARGE_BATCH else _COARSE
    w, weights = maxima.nodes(spacing)
    standard = _per_element(
        lambda lower, upper, columns: weights @ _quantiles(family, columns, lower, upper),
        w,
        workers,
        rho,
        args,
        shape,
    )
    result = np.where((workers == 1) | (rho == 1.0), mean, loc + scale * standard)
    return _finish(result, dist.args, dist.kwds, n, correlation)


def quantile_max(dist: Any, n: ArrayLike, probability: float, *, correlation: ArrayLike = 0.0) -> Any:
    """The value the largest of `n` workers stays under with the given probability, a scalar in (0, 1).

    Other arguments as `expected_max`, but the mean need not be finite. With correlation 0 it is
    Q(probability**(1/n)).
    """
    family, args, loc, scale = _parts(dist)
    workers, rho = _workers(n), _correlation(correlation)
    if not 0.0 < probability < 1.0:
        raise _range("must lie strictly between 0 and 1", "probability", probability, "Write e.g. 0.99.")
    shape = np.broadcast_shapes(np.shape(loc), np.shape(scale), *(a.shape for a in args), workers.shape, rho.shape)
    w = np.array([-np.log(probability)])
    standard = _per_element(
        lambda lower, upper, columns: _quantiles(family, columns, lower, upper)[0],
        w,
        workers,
        rho,
        args,
        shape,
    )
    return _finish(loc + scale * standard, dist.args, dist.kwds, n, correlation)


def median_max(dist: Any, n: ArrayLike, *, correlation: ArrayLike = 0.0) -> Any:
    """Median of the largest of `n` workers; with correlation 0 it is Q(0.5**(1/n)). Arguments as `expected_max`."""
    return quantile_max(dist, n, 0.5, correlation=correlation)


def _per_element(evaluate: Any, w: Array, workers: Array, rho: Array, args: tuple[Array, ...], shape: Any) -> Array:
    """`evaluate(lower, upper, columns)` for every element of `shape`, grouped by (n, rho) so a rule is built once."""
    if all(a.size == 1 for a in args):  # only location and scale vary: one evaluation per (n, rho)
        shape, args = np.broadcast_shapes(workers.shape, rho.shape), tuple(a.reshape(()) for a in args)
    n_flat = np.broadcast_to(workers, shape).ravel()
    rho_flat = np.broadcast_to(rho, shape).ravel()
    columns = [np.broadcast_to(a, shape).ravel() for a in args]
    result = np.empty(n_flat.size)
    for value in np.unique(n_flat):
        rows = np.flatnonzero(n_flat == value)
        rhos, which = np.unique(rho_flat[rows], return_inverse=True)
        if maxima.many(rhos):
            lower, upper = maxima.latent_levels_at(w, float(value), rhos)
            for i in range(0, rows.size, _CHUNK):
                some = slice(i, i + _CHUNK)
                levels = lower.T[:, which[some]], upper.T[:, which[some]]
                result[rows[some]] = evaluate(*levels, [c[rows[some]] for c in columns])
            continue
        for k, r in enumerate(rhos):
            lower, upper = maxima.worker_levels(w, float(value), float(r))
            chosen = rows[which == k]
            for i in range(0, chosen.size, _CHUNK):
                some_rows = chosen[i : i + _CHUNK]
                result[some_rows] = evaluate(lower[:, None], upper[:, None], [c[some_rows] for c in columns])
    return result.reshape(shape)


def _quantiles(family: Any, columns: list[Array], lower: Array, upper: Array) -> Array:
    """Quantiles of the standard law at (levels, 1) or (levels, elements); each tail is read from its own side."""
    if upper.shape[1] == 1:
        high = upper[:, 0] < 0.5  # levels ascend, so the upper half of the law comes first
        parts = [_upper_quantiles(family, columns, upper[high])] if high.any() else []
        parts += [family.ppf(lower[~high], *columns)] if not high.all() else []
        values = np.concatenate(parts)
    else:
        values = np.where(upper < 0.5, _upper_quantiles(family, columns, upper), family.ppf(lower, *columns))
    bad = ~np.isfinite(values) & (upper < _LAST_SAFE_TAIL)
    return _extended(values, upper, bad) if bad.any() else values


def _upper_quantiles(family: Any, columns: list[Array], upper: Array) -> Array:
    """isf, or infinity (to be extended) beyond 1e-13 where scipy's root search for a law gives up there."""
    try:
        return np.asarray(family.isf(upper, *columns))
    except (ValueError, RuntimeError):
        safe = np.asarray(family.isf(np.maximum(upper, _LAST_SAFE_TAIL), *columns))
        return np.where(upper < _LAST_SAFE_TAIL, np.inf, safe)


def _extended(values: Array, upper: Array, bad: NDArray[np.bool_]) -> Array:
    """Replace quantiles a law cannot give beyond 1e-13 by a power tail through its last two safe levels."""
    a = np.argmax(upper >= _LAST_SAFE_TAIL, axis=0, keepdims=True)
    b = np.argmax(upper >= 100 * _LAST_SAFE_TAIL, axis=0, keepdims=True)
    far, near = np.take_along_axis(values, a, axis=0), np.take_along_axis(values, b, axis=0)
    p_far, p_near = np.take_along_axis(upper, a, axis=0), np.take_along_axis(upper, b, axis=0)
    ratio = np.maximum(far, np.finfo(float).tiny) / np.maximum(near, np.finfo(float).tiny)
    index = np.clip(np.log(ratio) / np.log(p_near / p_far), 0.0, 0.99)
    return np.where(bad, far * (upper / p_far) ** -index, values)


def _parts(dist: Any) -> tuple[Any, tuple[Array, ...], Array, Array]:
    """The family, its shape parameters, location and scale of a frozen continuous scipy law."""
    family = getattr(dist, "dist", None)
    if family is None or not hasattr(dist, "kwds") or not hasattr(family, "_parse_args"):
        raise InputError(
            Problem(
                "not a frozen scipy distribution",
                key="dist",
                value=_name(dist),
                remedy="Give the law its parameters, e.g. scipy.stats.norm(10, 2) or scipy.stats.lognorm(0.5).",
            )
        )
    if not hasattr(family, "pdf"):
        raise InputError(
            Problem(
                "a discrete distribution has no density, and the rule needs one",
                key="dist",
                value=_name(dist),
                remedy="Use a continuous law: times and rates are continuous.",
            )
        )
    args, loc, scale = family._parse_args(*dist.args, **dist.kwds)
    return family, tuple(np.asarray(plain(a)) for a in args), np.asarray(plain(loc)), np.asarray(plain(scale))


def _workers(n: ArrayLike) -> Array:
    workers = np.asarray(plain(n))
    if not np.all((workers >= 1) & (workers == np.floor(workers)) & np.isfinite(workers)):
        raise _range("must be whole numbers of at least 1", "n", n, "Count the workers that wait for each other.")
    return workers


def _correlation(correlation: ArrayLike) -> Array:
    rho = np.asarray(plain(correlation))
    if not np.all((rho >= 0) & (rho <= 1)):
        raise _range("must lie in [0, 1]", "correlation", correlation, "Write e.g. 0.5 for half shared.")
    return rho


def _range(message: str, key: str, value: Any, remedy: str) -> OutOfRange:
    text = str(value)
    return OutOfRange(Problem(message, key=key, value=text if len(text) <= 60 else text[:57] + "...", remedy=remedy))


def _name(dist: Any) -> str:
    return str(getattr(getattr(dist, "dist", None), "name", "") or type(dist).__name__)


def _finish(result: Any, *sources: Any) -> Any:
    """A float if everything was scalar; otherwise an array that carries the tags of its sources."""
    tags = inputs_of(*sources)
    if tags:
        return Traced(result, tags)
    return float(result) if np.ndim(result) == 0 else result
