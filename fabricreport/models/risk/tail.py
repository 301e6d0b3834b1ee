"""The slowest of N workers: the expected maximum by order statistics, and what jitter, slow nodes and shared stalls add to the mean step.

A worker's step time over its mean is 1 + shared + node + residual (a one-factor model):

- *shared* noise moves all workers alike; over a run it averages to nothing and does not grow with N;
- *residual* noise is fresh every step; over a run the expectation of its maximum is paid, again and again. Step times
  that were measured hold it already, at the size of the run that was timed: only what more workers add is charged;
- *node* effects persist: the same slow node is the slowest at every step until somebody swaps it, so they do not
  average out and the luck of the run (how many slow nodes it got) matters;
- *shared stalls* stop everybody and are a separate additive shock, because a Gaussian copula has no tail dependence.

Residuals follow a Gumbel law. Measured task maxima look like extreme-value laws (arXiv 1611.04167), its upper tail is
exponential and so heavier than a normal one, and its maximum over unequal workers is closed: with scale b and offsets
p_i it is b log(sum_i exp(p_i / b)) above one worker's mean, which costs the same at 128 and 131,072 workers.

A rule is a set of levels of one worker's distribution (as lower and upper tail probabilities) with weights, so that
the mean of the maximum is the weighted sum of that worker's quantiles at those levels. It depends on N and on the
latent correlation only, never on the distribution, and has the same length whatever N is.

Workers are exchangeable. `correlation` is the pairwise correlation of their *latent Gaussians* (a one-factor
copula): worker i takes the value Q(Phi(sqrt(rho) Z + sqrt(1 - rho) E_i)). Such a copula has no tail dependence, so
stalls that stop every worker at once are not in it; they belong in `step_inflation` as a separate shock.

The cost does not depend on N: the rule for (N, rho) has the same length whatever N is.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from fabricreport.base.errors import InputError, OutOfRange, Problem
from fabricreport.base.provenance import Traced, inputs_of, plain
from fabricreport.models.draws import between, not_negative, poisson_quantile

_GUMBEL_SCALE = np.sqrt(6.0) / np.pi  # scale of a Gumbel law with standard deviation 1


@dataclass(frozen=True)
class TailLaw:
    """Inputs of the one-factor model; each a scalar or an array over draws (may be traced).

    jitter_share: standard deviation of one worker's step time over its mean. correlation: share of that variance
    all workers share, in [0, 1]. slow_node_share: probability that a node is persistently slow. slow_node_penalty:
    how much slower, as a share of the step. slow_node_presence: share of the run a slow node stays in the job.
    shared_stall_share: time lost to stalls of everybody, as a share of the step. timed_workers: workers of the run whose
    step times the mean step was set from, the noise of which is in it; 1 where it is one worker's own.
    """

    jitter_share: Any
    correlation: Any = 0.0
    slow_node_share: Any = 0.0
    slow_node_penalty: Any = 0.0
    slow_node_presence: Any = 1.0
    shared_stall_share: Any = 0.0
    timed_workers: Any = 1.0


@dataclass(frozen=True)
class StepInflation:
    """Additions to the mean step as shares of it: `multiplier` = 1 + noise + slow_nodes + stalls."""

    multiplier: Any
    noise: Any
    slow_nodes: Any
    stalls: Any


def step_inflation(
    law: TailLaw, workers: ArrayLike, *, workers_per_node: ArrayLike = 1, luck: ArrayLike | None = None
) -> StepInflation:
    """Mean step-time multiplier of a run on `workers` workers.

    luck: uniforms in (0, 1) of the draws, which decide how many slow nodes the run gets; None averages over that
    number (none with probability (1 - q)**nodes, else its mean given at least one). Everything broadcasts.
    Raises OutOfRange for fewer than one worker, a share outside [0, 1] or a negative jitter or penalty.
    """
    _check(law, workers, workers_per_node)
    n = np.asanyarray(workers, dtype=float)
    nodes = np.ceil(n / np.asanyarray(workers_per_node, dtype=float))
    per_node = n / nodes
    scale = _GUMBEL_SCALE * np.asanyarray(law.jitter_share) * np.sqrt(1.0 - np.asanyarray(law.correlation))
    scale = np.maximum(scale, 1e-12)  # no jitter at all: the slowest node alone decides
    noise = scale * np.maximum(np.log(n) - np.log(np.asanyarray(law.timed_workers)), 0.0)
    slow, chance = _slow_nodes(np.asanyarray(law.slow_node_share), nodes, luck)
    # log-sum-exp over the two classes of workers, written from the larger term so that nothing overflows
    gap = np.asanyarray(law.slow_node_penalty) / scale
    slow_workers = slow * per_node
    with np.errstate(divide="ignore"):
        extra = scale * (np.logaddexp(np.log(n - slow_workers), np.log(slow_workers) + gap) - np.log(n))
    persistent = np.asanyarray(law.slow_node_presence) * chance * np.maximum(extra, 0.0)
    stalls = np.asanyarray(law.shared_stall_share, dtype=float)
    return StepInflation(1.0 + noise + persistent + stalls, noise, persistent, stalls)


def _slow_nodes(share: Any, nodes: Any, luck: ArrayLike | None) -> tuple[Any, Any]:
    """Number of slow nodes, and the probability with which it applies (1 for a drawn number)."""
    if luck is not None:
        return slow_node_count(luck, nodes, share), 1.0
    some = -np.expm1(nodes * np.log1p(-np.minimum(share, 1.0 - 1e-12)))
    mean_if_some = np.where(some > 0, nodes * share / np.where(some > 0, some, 1.0), 1.0)
    return np.minimum(np.maximum(mean_if_some, 1.0), nodes), some


def slow_node_count(u: ArrayLike, trials: Any, share: Any) -> Any:
    """Number of slow nodes at probability `u`: Poisson with the binomial's mean, at most `trials`.

    The share of slow nodes is a few per cent at most, where Poisson and binomial agree; both rise with `trials`.
    """
    return np.minimum(poisson_quantile(u, trials * share), trials)


def _check(law: TailLaw, workers: ArrayLike, workers_per_node: ArrayLike) -> None:
    def refuse(key: str, value: Any, rule: str) -> None:
        raise OutOfRange(Problem(f"must {rule}", key=key, value=str(np.asarray(value))[:60], remedy="Check its unit."))

    for key in ("correlation", "slow_node_share", "slow_node_presence", "shared_stall_share"):
        if not between(getattr(law, key), 0, 1):
            refuse(key, getattr(law, key), "be a share between 0 and 1")
    for key in ("jitter_share", "slow_node_penalty"):
        if not not_negative(getattr(law, key)):
            refuse(key, getattr(law, key), "be at least 0 and finite")
    counts = (("workers", workers), ("workers_per_node", workers_per_node), ("timed_workers", law.timed_workers))
    for key, number in counts:
        if not between(number, 1, sys.float_info.max):
            refuse(key, number, "be at least 1")


def lognormal_from_quantiles(low: tuple[float, ArrayLike], high: tuple[float, ArrayLike]) -> Any:
    """Frozen lognormal through two quantiles, each (probability, value): e.g. (0.5, p50) and (0.99, p99).

    Values may be arrays (draws first) and must be positive and increasing. Raises OutOfRange otherwise. The law is
    exact at the two points and an extrapolation everywhere else: keep the source's scope beside it.
    """
    from scipy import stats  # slow to import

    (p_low, x_low), (p_high, x_high) = low, high
    x_low, x_high = np.asanyarray(x_low, dtype=float), np.asanyarray(x_high, dtype=float)
    if not (0 < p_low < p_high < 1 and np.all(x_low > 0) and np.all(x_high > x_low)):
        raise OutOfRange(
            Problem(
                "two quantiles must have increasing probabilities in (0, 1) and increasing positive values",
                key="quantiles",
                value=f"{p_low}: {x_low}, {p_high}: {x_high}",
                remedy="Check which is p50 and which is p99, and that both have the same unit.",
            )
        )
    z_low, z_high = special.ndtri(p_low), special.ndtri(p_high)
    sigma = (np.log(x_high) - np.log(x_low)) / (z_high - z_low)
    return stats.lognorm(s=sigma, scale=np.exp(np.log(x_low) - sigma * z_low))


Array = NDArray[np.float64]

_LOWEST, _HIGHEST = -6.5, 4.6  # ends of the rule: exp(-671) and 99 on the scale of -log of the maximum's cdf
_ANGLES = 33  # table of correlations used when an array holds more distinct ones than that
_HALF = 0.5
_CONVERGED = 1e-8  # a step of Newton this small leaves an error of its square: nothing that a float shows


@lru_cache(maxsize=64)
def nodes(spacing: float) -> tuple[Array, Array]:
    """Nodes w and weights for the integral of f(w) exp(-w) over w > 0, w being -log of the maximum's cdf.

    Source: Takahasi and Mori 1974, double-exponential formula for a half-infinite range with exp(-w).
    """
    s = np.linspace(_LOWEST, _HIGHEST, round((_HIGHEST - _LOWEST) / spacing) + 1)
    w = np.exp(s - np.exp(-s))
    return w, (s[1] - s[0]) * w * (1.0 + np.exp(-s)) * np.exp(-w)


def worker_levels(w: Array, n: float, rho: float) -> tuple[Array, Array]:
    """Lower and upper tail probability of one worker at which -log(cdf of the maximum of n) equals `w`.

    rho: latent Gaussian pairwise correlation in [0, 1]. Both tails are returned because each is exact only
    where it is small. Shapes follow `w`.
    """
    if rho == 0.0 or n == 1:
        return np.exp(-w / n), -np.expm1(-w / n)
    if rho == 1.0:
        return np.exp(-w), -np.expm1(-w)
    y = _latent_level(w, n, rho)
    return special.ndtr(y), special.ndtr(-y)


def latent_levels_at(w: Array, n: float, rhos: Array) -> tuple[Array, Array]:
    """As `worker_levels` for many correlations, shape (len(rhos), len(w)): interpolated in the angle arcsin sqrt(rho)."""
    from scipy import interpolate  # slow to import, and only correlated workers need it

    table = 0.25 * np.pi * (1.0 - np.cos(np.linspace(0.0, np.pi, _ANGLES)))
    levels = np.stack([_normal(*worker_levels(w, n, float(np.sin(t) ** 2))) for t in table])
    y = np.asarray(interpolate.CubicSpline(table, levels)(np.arcsin(np.sqrt(rhos))))
    return np.asarray(special.ndtr(y)), np.asarray(special.ndtr(-y))


def many(rhos: Array) -> bool:
    """True when so many correlations are asked for that the table is cheaper than one rule each."""
    return rhos.size > _ANGLES


def _normal(lower: Array, upper: Array) -> Array:
    high, low = special.ndtri(np.minimum(upper, _HALF)), special.ndtri(np.minimum(lower, _HALF))
    return np.asarray(np.where(upper < _HALF, -high, low))


def _latent_level(w: Array, n: float, rho: float) -> Array:
    """Solve -log G(y) = w for the latent maximum y = sqrt(rho) Z + sqrt(1 - rho) max E_i, by Newton from a table."""
    level, slope = _latent_table(n, rho)
    target = np.log(w)
    y = level(-target)
    for _ in range(5):
        step = (_log_minus_log_cdf(y, n, rho) - target) / slope(y)
        y = y - step
        if np.max(np.abs(step)) < _CONVERGED:
            break
    return np.asarray(y)


@lru_cache(maxsize=256)
def _latent_table(n: float, rho: float) -> tuple[Any, Any]:
    """Of the maximum: its level by -log(-log G), and the slope of log(-log G) by level."""
    from scipy import interpolate

    grid = np.linspace(-16.0, 37.5, 268)
    values = _log_minus_log_cdf(grid, n, rho)
    kept = np.isfinite(values)
    grid, values = grid[kept], values[kept]
    return interpolate.CubicSpline(-values, grid), interpolate.CubicSpline(grid, values).derivative()


def _log_minus_log_cdf(y: Array, n: float, rho: float) -> Array:
    """log(-log G(y)), G the cdf of the latent maximum, precise in both tails.

    Integrated over the shared factor when that varies least (rho < 1/2), else over the maximum of the residuals:
    either way the integrand is smooth at the nodes' spacing.
    """
    a, b = np.sqrt(rho), np.sqrt(1.0 - rho)
    if rho < _HALF:
        z = np.linspace(-39.0, 39.0, 781)
        weights = (z[1] - z[0]) * np.exp(-0.5 * z * z) / np.sqrt(2.0 * np.pi)
        log_cdf = n * special.log_ndtr((y[..., None] - a * z) / b)
        cdf, survival = np.exp(log_cdf) @ weights, -np.expm1(log_cdf) @ weights
    else:
        w, weights = nodes(0.03125)
        m = _normal(np.exp(-w / n), -np.expm1(-w / n))
        x = (y[..., None] - b * m) / a
        cdf, survival = special.ndtr(x) @ weights, special.ndtr(-x) @ weights
    with np.errstate(divide="ignore"):
        right = np.log(-np.log1p(-np.minimum(survival, _HALF)))
        left = np.log(-np.log(np.minimum(cdf, 0.6)))
    return np.asarray(np.where(survival < _HALF, right, left))


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
            "Use a law with a tail index above 1.",
        )
    shape = np.broadcast_shapes(mean.shape, workers.shape, rho.shape)
    spacing = _FINE if np.prod(shape) <= _LARGE_BATCH else _COARSE
    w, weights = nodes(spacing)
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
        if many(rhos):
            lower, upper = latent_levels_at(w, float(value), rhos)
            for i in range(0, rows.size, _CHUNK):
                some = slice(i, i + _CHUNK)
                levels = lower.T[:, which[some]], upper.T[:, which[some]]
                result[rows[some]] = evaluate(*levels, [c[rows[some]] for c in columns])
            continue
        for k, r in enumerate(rhos):
            lower, upper = worker_levels(w, float(value), float(r))
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
