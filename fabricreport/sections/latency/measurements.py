"""The client's own measurements: which rows recalibrate the model, and how far off it was before and after."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fabricreport.books.logs.measurements import read_log
from fabricreport.books.options import Option
from fabricreport.inputs.inputs import Inputs
from fabricreport.inputs.options import links_per_gpu
from fabricreport.models.collectives.fit import FEWEST_ROWS, MeasuredTable, fit_calibration
from fabricreport.sections.latency.inputs import Measured, pair, speaks_for, stages

if TYPE_CHECKING:
    import pandas as pd

UNFIT = ("warm-up", "spike", "identity", "bimodal", "wrong-results", "above-cap")
"""Findings on a row that keep it out of the fit; it is still shown."""


@dataclass(frozen=True, eq=False)
class ClientLog:
    """One log as read: the AllReduce rows used, the model's time for them before and after.

    Arrays of shape (rows,): sizes in bytes, times in microseconds.
    """

    source: str
    gpus: int
    nodes: int
    size_bytes: Any
    time_us: Any
    before_us: Any
    after_us: Any
    left_out: int
    factors: Measured | None

    @property
    def error_before(self) -> float:
        """Median absolute error of the model's time on the rows used, before."""
        return float(np.median(np.abs(self.before_us / self.time_us - 1.0)))

    @property
    def error_after(self) -> float:
        """The same after recalibration."""
        return float(np.median(np.abs(self.after_us / self.time_us - 1.0)))


@dataclass(frozen=True)
class ClientMeasurements:
    """All logs of the params. They do not say which fabric they ran on: they are read as one option's."""

    logs: tuple[ClientLog, ...]

    @property
    def used(self) -> tuple[ClientLog, ...]:
        """The logs that the model was fitted to, each at its own size."""
        return tuple(log for log in self.logs if log.factors)

    def carried(self, given: Inputs) -> tuple[ClientLog, ...]:
        """Those that recalibrate the model at every size the client plans."""
        largest = stages(given)[-1][0]
        return tuple(log for log in self.used if speaks_for(given, log.nodes, largest))

    def factors(self, given: Inputs) -> Measured | None:
        """The factors that the model takes from them, geometric means over the logs carried; None without one."""
        fitted = [log.factors for log in self.carried(given) if log.factors]
        if not fitted:
            return None
        return Measured(
            float(np.exp(np.mean([np.log(f.latency_factor) for f in fitted]))),
            float(np.exp(np.mean([np.log(f.bandwidth_factor) for f in fitted]))),
            max(f.residual for f in fitted),
            min(f.nodes for f in fitted),
        )


def client_measurements(given: Inputs, option: Option) -> ClientMeasurements | None:
    """The logs of `measurements:` read and fitted; None if the params name none. `InputError` if one has no row."""
    if not given.params.measurements:
        return None
    return ClientMeasurements(tuple(client_log(given, option, str(path)) for path in given.params.measurements))


def measured_option(given: Inputs) -> Option:
    """The option the client's logs are read as: the first with RDMA, for the logs do not name their fabric."""
    return next((o for o in given.options if o.rdma), pair(given)[0])


def client_log(given: Inputs, option: Option, path: str) -> ClientLog:
    """One log of `measurements:` read as `option`'s; `InputError` if it has no row or the model has no such cluster."""
    frame = read_log(given.file(path), gpus_per_node=int(given.params.cluster.gpus_per_node))
    rows = _largest_section(frame[frame["collective"] == "allreduce"])
    if rows.empty:
        return _unused(path)
    if bool(rows["ranks"].isna().iloc[0]):  # it does not say how many ranks ran
        return _unused(path)
    gpus, per_node = int(rows["ranks"].iloc[0]), int(given.params.cluster.gpus_per_node)
    if gpus <= per_node or gpus % per_node:  # inside one node, without a fabric, or not of whole nodes
        return _unused(path)
    odd = {f.line for f in frame.attrs["findings"] if f.kind in UNFIT}
    good = rows[(rows["size_bytes"] > 0) & (rows["time_us"] > 0) & ~rows["line"].isin(odd)]
    if len(good) < FEWEST_ROWS:
        return _unused(path)
    table = MeasuredTable(
        given.catalogue,
        path,
        good["size_bytes"].to_numpy(dtype=float),
        good["time_us"].to_numpy(dtype=float),
        gpus,
        per_node,
        str(given.params.cluster.gpu),
        option.fabric,
        links_per_gpu(given.params, given.practice, option),
    )
    found = fit_calibration(table)
    after = table.modelled_us(calibration=found)
    factors = Measured(
        float(np.asarray(found.latency_factor)),
        float(np.asarray(found.bandwidth_factor)),
        float(np.median(np.abs(after / table.time_us - 1.0))),
        gpus // per_node,
    )
    return ClientLog(
        path,
        gpus,
        gpus // per_node,
        table.size_bytes,
        table.time_us,
        table.modelled_us(),
        after,
        len(rows) - len(good),
        factors,
    )


def _largest_section(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of the largest AllReduce run of a file: a file may hold several."""
    if rows.empty:
        return rows
    runs = rows.groupby("section")["ranks"].max().fillna(0)
    return rows[rows["section"] == runs.idxmax()]


def _unused(path: str) -> ClientLog:
    """A log that recalibrates nothing."""
    nothing = np.array([])
    return ClientLog(path, 0, 0, nothing, nothing, nothing, nothing, 0, None)
