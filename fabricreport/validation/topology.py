"""The bill of materials tried on NVIDIA's published reference designs."""

from __future__ import annotations

from functools import cache

from fabricreport.evidence import read_rows, read_yaml
from fabricreport.models.fabric.cabling import optics_and_cables
from fabricreport.models.fabric.topology import BillOfMaterials, bill_of_materials
from fabricreport.validation.card import Card, CardRow, card_row, median_abs_error

COUNTS = ("leaf", "spine", "core", "cables_node_leaf", "cables_leaf_spine", "cables_spine_core")


def reference_designs() -> tuple[tuple[dict[str, str], BillOfMaterials], ...]:
    """Each row of `evidence/superpod_bom.csv` with our bill for the same cluster."""
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
        card_row(
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
        card_row(
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
