"""Fitting the collective model to measured tables, and the spread from cluster to cluster.

The fitted parameters of the catalogue are what `fit_collectives` returns on the published tables whose role is `train`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import ArrayLike

from fabricreport.base.errors import InputError, Problem
from fabricreport.models.collectives.parameters import Array, Catalogue, Job, Parameters, job
from fabricreport.models.collectives.timing import Calibration, allreduce

BANDS = ("< 64 KiB", "64 KiB to 64 MiB", "> 64 MiB")
FEWEST_ROWS = 3
KNEE = 0.2  # like clusters differ by 12 to 22 %: a row's error counts squared below this, linearly above


@dataclass(frozen=True)
class MeasuredTable:
    """AllReduce times measured on one cluster: `size_bytes` and `time_us` of shape (rows), and what ran it.

    Rows smaller than `from_bytes` are shown but count for nothing; `counted` false does that for all of them. Where the
    source names no fabric (`fabric_stated` false) `fabric` is the class whose time it is taken for, and says nothing of it.
    """

    known: Catalogue
    case: str
    size_bytes: Array
    time_us: Array
    gpus: int
    gpus_per_node: int
    gpu: str
    fabric: str
    links_per_gpu: float | None = None
    algorithm: str = "auto"
    protocol: str = "auto"
    held_out: bool = False
    source: str = ""
    from_bytes: float = 0.0
    counted: bool = True
    note: str = ""
    fabric_stated: bool = True

    def counts(self) -> Array:
        """Which rows count, bool (rows)."""
        chosen: Array = (self.size_bytes >= self.from_bytes) & self.counted
        return chosen

    @property
    def where(self) -> Job:
        """The job that was measured, the fabric's own step and bandwidth taken."""
        return job(
            self.known,
            gpus=self.gpus,
            gpus_per_node=self.gpus_per_node,
            gpu=self.gpu,
            fabric=self.fabric,
            links_per_gpu=self.links_per_gpu,
        )

    def modelled_us(self, parameters: Parameters | None = None, calibration: Calibration | None = None) -> Array:
        """The model's time for the same rows, by the catalogue's fit unless others are given."""
        return allreduce(
            self.size_bytes,
            self.where,
            algorithm=self.algorithm,
            protocol=self.protocol,
            calibration=calibration,
            parameters=parameters,
        ).time_us


@dataclass(frozen=True)
class FitRule:
    """Where each parameter means something (low, high), its prior, and how much the prior weighs beside the tables."""

    bounds: Mapping[str, tuple[float, float]]
    prior: Parameters
    prior_weight: float


def band_of(size_bytes: ArrayLike) -> Array:
    """Index into `BANDS` of each size: under 64 KiB, to 64 MiB inclusive, above."""
    sizes = np.asarray(size_bytes, dtype=float)
    band: Array = (sizes >= 65536.0).astype(int) + (sizes > 67108864.0).astype(int)
    return band


def fit_collectives(tables: Sequence[MeasuredTable], rule: FitRule, *, start: Parameters | None = None) -> Parameters:
    """Least squares of log time over `tables`, every size band of every cluster weighing the same.

    A soft-L1 loss keeps single bad rows from steering; a weak prior keeps what the tables do not determine near
    the library's own constants. Raises `InputError` if nothing counts.
    """
    from scipy.optimize import least_squares  # slow to import, and few fit anything

    names = [field.name for field in fields(Parameters)]
    low, high = np.array([rule.bounds[n] for n in names], dtype=float).T
    prior = np.array([getattr(rule.prior, n) for n in names], dtype=float)
    used = [(t, t.counts()) for t in tables if bool(np.any(t.counts()))]
    if not used:
        raise InputError(
            Problem(
                "no measured row counts",
                key="tables",
                value=f"{len(tables)} tables",
                remedy="Give at least one table with rows at or above its from_bytes.",
            )
        )
    weights = [_band_weights(t.size_bytes[rows]) for t, rows in used]

    def residuals(values: Array) -> Array:
        parameters = Parameters(**dict(zip(names, values.tolist(), strict=True)))
        misfits = [
            _soft(np.log(t.modelled_us(parameters)[rows] / t.time_us[rows])) * w
            for (t, rows), w in zip(used, weights, strict=True)
        ]
        return np.concatenate([*misfits, rule.prior_weight * (values - prior) / (high - low)])

    first = prior if start is None else np.array([getattr(start, n) for n in names])
    found = least_squares(
        residuals,
        np.clip(first, low + 1e-6, high - 1e-6),
        bounds=(low, high),
        x_scale=high - low,
        diff_step=1e-2,
    )
    return Parameters(**dict(zip(names, (float(v) for v in found.x), strict=True)))


def fit_calibration(table: MeasuredTable) -> Calibration:
    """A client's own table as a factor on latency and a factor on bandwidth (log time, soft-L1 loss).

    A table without small sizes barely determines the latency factor: it is then held near 1 by a weak prior.
    Raises `InputError` for fewer than three rows, since two rows fit anything.
    """
    from scipy.optimize import least_squares

    good = np.isfinite(table.time_us) & (table.time_us > 0.0) & (table.size_bytes > 0.0)
    if int(good.sum()) < FEWEST_ROWS:
        raise InputError(
            Problem(
                f"has fewer than {FEWEST_ROWS} usable rows",
                key=table.case,
                value=f"{int(good.sum())} rows",
                remedy="Run nccl-tests from 8 B to 8 GiB (-b 8 -e 8G -f 2) and give the whole log.",
            )
        )
    kept = replace(table, size_bytes=table.size_bytes[good], time_us=table.time_us[good])
    weights = _band_weights(kept.size_bytes)

    def residuals(logs: Array) -> Array:
        factors = Calibration(float(np.exp(logs[0])), float(np.exp(logs[1])))
        ours = kept.modelled_us(calibration=factors)
        return np.concatenate([_soft(np.log(ours / kept.time_us)) * weights, 0.05 * logs])

    found = least_squares(residuals, np.zeros(2), bounds=(-4.0, 4.0), diff_step=1e-3)
    return Calibration(float(np.exp(found.x[0])), float(np.exp(found.x[1])))


def cluster_intervals(tables: Sequence[MeasuredTable], rule: FitRule) -> dict[str, tuple[float, float]]:
    """(p5, p95) of measured over modelled time by size band, from clusters rather than points.

    Each cluster is predicted by a fit that never saw it. The interval is that of drawing a cluster, then a row of
    it (so a long table counts no more than a short one), widened by sqrt(1 + 1/clusters) about the median because
    there are few clusters.
    """
    whole = fit_collectives([t for t in tables if not t.held_out], rule)
    logs: dict[int, list[Array]] = {band: [] for band in range(len(BANDS))}
    for table in tables:
        rows = table.counts()
        if not np.any(rows):
            continue
        others = [t for t in tables if t is not table and not t.held_out]
        parameters = whole if table.held_out else fit_collectives(others, rule, start=whole)
        misfit = np.log(table.time_us / table.modelled_us(parameters))[rows]
        for band in logs:
            chosen = misfit[band_of(table.size_bytes[rows]) == band]
            if chosen.size:
                logs[band].append(chosen)
    return {BANDS[band]: _cluster_quantiles(groups) for band, groups in logs.items() if groups}


def _soft(misfit: Array) -> Array:
    """Residuals whose squares are the soft-L1 loss of each row, so that weights come after the loss, not before."""
    softened: Array = np.sign(misfit) * KNEE * np.sqrt(2.0 * (np.sqrt(1.0 + (misfit / KNEE) ** 2) - 1.0))
    return softened


def _band_weights(sizes: Array) -> Array:
    bands = band_of(sizes)
    counts = np.bincount(bands, minlength=len(BANDS))
    weights: Array = 1.0 / np.sqrt(counts[bands])
    return weights


def _cluster_quantiles(groups: list[Array]) -> tuple[float, float]:
    values = np.concatenate(groups)
    weights = np.concatenate([np.full(g.size, 1.0 / (g.size * len(groups))) for g in groups])
    order = np.argsort(values, kind="stable")
    values, upto = values[order], np.cumsum(weights[order]) - 0.5 * weights[order]
    p5, middle, p95 = np.interp([0.05, 0.5, 0.95], upto, values)
    widen = np.sqrt(1.0 + 1.0 / len(groups))
    return float(np.exp(middle + widen * (p5 - middle))), float(np.exp(middle + widen * (p95 - middle)))
