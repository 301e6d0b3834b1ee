"""The cards of the network's models: collective times beside every published row, bills of materials beside reference designs."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from fabricreport.base.yaml_files import read_rows, read_yaml
from fabricreport.books.constants import catalogue, fit_rule
from fabricreport.models.collectives.fit import BANDS, MeasuredTable, band_of, cluster_intervals, fit_collectives
from fabricreport.models.collectives.parameters import Array, Parameters
from fabricreport.models.fabric.bill import optics_and_cables
from fabricreport.models.fabric.topology import BillOfMaterials, bill_of_materials
from fabricreport.validation.card import Card, CardRow, median_abs_error


@cache
def collectives_card(*, refit: bool = False) -> Card:
    """The validation card: every published row beside ours, errors by band and cluster, what is not claimed.

    With `refit` the parameters and the intervals are worked out again from the tables (seconds) instead of being
    read from the packaged data.
    """
    data = read_yaml("collectives")
    parameters = fit_collectives(training_tables(), fit_rule()) if refit else catalogue().fitted
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
        CardRow(
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


COUNTS = ("leaf", "spine", "core", "cables_node_leaf", "cables_leaf_spine", "cables_spine_core")


def reference_designs() -> tuple[tuple[dict[str, str], BillOfMaterials], ...]:
    """Each row of `data/superpod_bom.csv` with our bill for the same cluster."""
    return tuple((row, _bill(row)) for row in read_rows("superpod_bom"))


@cache
def topology_card() -> Card:
    """Every published count beside ours, and how many of them plain port counting would get right."""
    designs = reference_designs()
    rows = tuple(row for design in designs for row in _rows(*design)) + _optics_rows()
    exact = sum(row.error == 0 for row in rows) / len(rows)
    plain = [_plain_spine(bill) == int(row["spine"]) for row, bill in designs]
    equal = [bill.spine == int(row["spine"]) for row, bill in designs]
    return Card(
        model="Bill of materials",
        data_used=tuple(sorted({row["source"] for row, _ in designs})),
        rows=rows,
        summary={
            "all counts": median_abs_error(rows),
            "share of counts reproduced exactly": exact,
            "share of spine counts reproduced exactly": sum(equal) / len(equal),
        },
        valid_range=(
            "Fat trees of one to three tiers up to k^3/4 endpoints a plane, plain or rail-optimised; tried on "
            "248 to 8,192 GPUs, radix 64 to 144, one and two planes, non-blocking"
        ),
        date="2026-11-20",
        does_not_claim=(
            "Oversubscribed leaves, part-filled pods and dragonflies follow stated rules; no published table of one was found",
            "Storage, in-band and out-of-band networks are not counted",
            "That the 800G Ethernet design runs in two planes is inferred from its table, not stated in it",
        ),
        irreducible=(
            "A builder may leave ports free for growth or follow a house rule; the quotation's own count then differs",
        ),
        baselines={"share of spine counts reproduced by plain port counting": sum(plain) / len(plain)},
    )


def _bill(row: dict[str, str]) -> BillOfMaterials:
    return bill_of_materials(
        int(row["gpus"]),
        radix=int(row["logical_radix_assumed"]),
        planes=int(row["planes_assumed"]),
        nodes_per_unit=int(row["nodes_per_su"]),
        management_links=int(row["cables_node_leaf_includes_ufm"]),
    )


def _rows(row: dict[str, str], bill: BillOfMaterials) -> tuple[CardRow, ...]:
    """The published counts of one design; counts of zero have no relative error and are left out."""
    return tuple(
        CardRow(
            f"{row['design']}, {row['su']} SU, {int(row['gpus']):,} GPUs: {count.replace('_', ' ')}",
            published=float(row[count]),
            ours=float(getattr(bill, count)),
            # the rule was formed with these tables in view, so no row is claimed as unseen
            held_out=False,
            unit="pieces",
            band=row["fabric"],
            source=row["source"],
            note=row["note"] or "",
        )
        for count in COUNTS
        if int(row[count])
    )


def _optics_rows() -> tuple[CardRow, ...]:
    check = read_yaml("cabling")["check"]
    bill = optics_and_cables(bill_of_materials(check["gpus"]))
    pairs = (("server-side", "node_optics"), ("twin-port switch-side", "switch_optics"))
    return tuple(
        CardRow(
            f"{check['gpus']:,} GPUs, all fibre: {label} optics",
            published=float(check[key]),
            ours=float(getattr(bill, key)),
            held_out=False,
            unit="pieces",
            band="optics",
            source="own arithmetic, worked by hand",
        )
        for label, key in pairs
    )


def _plain_spine(bill: BillOfMaterials) -> int:
    """Spines if only ports were counted: all up-links over the radix, rounded up."""
    if bill.tiers != 2:
        return bill.spine
    leaves = bill.leaf // bill.planes
    return bill.planes * -(-leaves * bill.up_links // bill.radix)
