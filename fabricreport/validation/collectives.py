"""The collective model's validation card: every published row beside ours, by size band and by cluster."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from fabricreport.constants import catalogue, fit_rule
from fabricreport.evidence import read_rows, read_yaml
from fabricreport.models.collectives.catalogue import Parameters
from fabricreport.models.collectives.fit import BANDS, MeasuredTable, band_of, cluster_intervals, fit_collectives
from fabricreport.models.collectives.parameters import Array
from fabricreport.validation.card import Card, CardRow, card_row, median_abs_error


@cache
def collectives_card(*, refit: bool = False) -> Card:
    """The validation card: every published row beside ours, errors by band and cluster, what is not claimed.

    With `refit` the parameters and the intervals are worked out again from the tables (seconds) instead of being
    read from the packaged data.
    """
    data = read_yaml("collectives")
    parameters = fit_collectives(training_tables(), fit_rule()).parameters if refit else catalogue().fitted
    rows = tuple(row for table in packaged_tables() for row in _card_rows(table, parameters))
    summary = _summary(rows)
    packaged = {band: (float(p[0]), float(p[1])) for band, p in data["fitted"]["intervals"].items()}
    return Card(
        model="collectives",
        data_used=tuple(f"{t.case} ({'held out' if t.held_out else 'fitted'})" for t in packaged_tables()),
        rows=rows,
        summary=summary,
        valid_range=data["card"]["valid_range"],
        date=str(data["fitted"]["date"]),
        does_not_claim=tuple(data["card"]["does_not_claim"]),
        irreducible=tuple(data["card"]["irreducible"]),
        intervals=cluster_intervals(packaged_tables(), fit_rule()) if refit else packaged,
        expected=tuple(item["text"] for item in data["expectations"]["items"]),
        as_expected={item["id"]: _came_true(item, rows) for item in data["expectations"]["items"]},
    )


@cache
def packaged_tables() -> tuple[MeasuredTable, ...]:
    """The published tables and single points shipped with the package, with their roles."""
    data = read_yaml("collectives")
    return (*(_table(entry) for entry in data["cases"]), *(_point(entry) for entry in data["points"]))


def training_tables() -> tuple[MeasuredTable, ...]:
    """The packaged tables that set the parameters."""
    return tuple(t for t in packaged_tables() if not t.held_out)


def _table(entry: dict[str, Any]) -> MeasuredTable:
    rows = read_rows(f"nccl/{entry['file']}")
    return _measured(
        entry,
        entry["file"].replace("_", "-").lower(),
        np.array([float(r["size_bytes"]) for r in rows]),
        np.array([float(r["time_us"]) for r in rows]),
    )


def _point(entry: dict[str, Any]) -> MeasuredTable:
    size = float(entry["size_bytes"])
    factor = 2.0 * (entry["gpus"] - 1) / entry["gpus"]
    time = entry["time_us"] if "time_us" in entry else size * factor / (1000.0 * entry["busbw_gbytes_per_s"])
    return _measured(entry, entry["case"], np.array([size]), np.array([float(time)]))


def _measured(entry: dict[str, Any], case: str, sizes: Array, times: Array) -> MeasuredTable:
    known = {k: v for k, v in entry.items() if k in MeasuredTable.__dataclass_fields__}
    skip = ("case", "size_bytes", "time_us")
    known = {k: v for k, v in known.items() if k not in skip}
    held_out = entry["role"] == "held-out"
    return MeasuredTable(catalogue(), case, sizes, times, held_out=held_out, **known)


def _card_rows(table: MeasuredTable, parameters: Parameters) -> list[CardRow]:
    ours, counts, bands = table.modelled_us(parameters), table.counts(), band_of(table.size_bytes)
    return [
        card_row(
            f"{table.case}, {_size_text(table.size_bytes[i])}",
            published=float(table.time_us[i]),
            ours=float(ours[i]),
            held_out=table.held_out,
            unit="us",
            band=BANDS[bands[i]],
            source=table.source,
            counted=bool(counts[i]),
            note="" if counts[i] else table.note,
        )
        for i in range(table.size_bytes.size)
    ]


def _size_text(size: float) -> str:
    for power, name in ((30, "GiB"), (20, "MiB"), (10, "KiB")):
        if size >= 2.0**power:
            return f"{size / 2.0**power:g} {name}"
    return f"{size:g} B"


def cluster_of(row: CardRow) -> str:
    """The cluster a card row belongs to."""
    return row.case.rpartition(", ")[0]


def _summary(rows: tuple[CardRow, ...]) -> dict[str, float]:
    summary = {
        "overall": median_abs_error(rows),
        "held out": median_abs_error(tuple(r for r in rows if r.held_out)),
        "overall, uncounted rows too": float(np.median([abs(r.error) for r in rows])),
    }
    for band in BANDS:
        summary[band] = median_abs_error(tuple(r for r in rows if r.band == band))
        held = tuple(r for r in rows if r.band == band and r.held_out and r.counted)
        if held:
            summary[f"held out, {band}"] = median_abs_error(held)
    for cluster in dict.fromkeys(cluster_of(r) for r in rows if r.counted):
        summary[cluster] = median_abs_error(tuple(r for r in rows if cluster_of(r) == cluster))
    return summary


def _came_true(item: dict[str, Any], rows: tuple[CardRow, ...]) -> bool:
    if item.get("each_cluster"):
        clusters = dict.fromkeys(cluster_of(r) for r in rows if r.counted)
        return all(median_abs_error(tuple(r for r in rows if cluster_of(r) == c)) <= item["limit"] for c in clusters)
    fabrics = {t.case: t.fabric if t.fabric_stated else "" for t in packaged_tables()}
    chosen = tuple(
        r
        for r in rows
        if item.get("band") in (None, r.band)
        and fabrics[cluster_of(r)].startswith(item.get("fabric", ""))
        and (r.held_out or not item.get("held_out"))
    )
    return median_abs_error(chosen) <= float(item["limit"])
