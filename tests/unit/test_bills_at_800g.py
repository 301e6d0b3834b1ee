"""Bills of the options at 800G against the counts that are public, through the options as they ship."""

from __future__ import annotations

from typing import Any

from rows import rows

from fabricreport.books.options import read_options
from fabricreport.inputs.options import cable_plan, shape
from fabricreport.models.fabric.bill import optics_and_cables
from fabricreport.models.fabric.topology import BillOfMaterials, bill_of_materials, tier_capacity
from fabricreport.scenario import Cluster

OPTIONS = read_options()


def bill(option_id: str, gpus: int, **cluster: Any) -> BillOfMaterials:
    facts = {"gpus": gpus, "gpu": "h100", "link_gbits_per_s": 800, "topology": "fat-tree", **cluster}
    return bill_of_materials(gpus, **shape(Cluster(**facts), OPTIONS[option_id]))


def modules(option_id: str, gpus: int) -> tuple[float, float]:
    """(adapter-side, switch-side) modules a GPU."""
    built = bill(option_id, gpus)
    bought = optics_and_cables(built, cable_plan(OPTIONS[option_id], built, built.nodes, 4))
    return bought.node_optics / gpus, bought.switch_optics / gpus


@rows(
    ("option", "gpus", "leaf", "spine"),
    [
        ("infiniband-xdr", 576, 8, 4),  # DGX SuperPOD B300 XDR, one unit
        ("infiniband-xdr", 1_152, 16, 8),
        ("spectrum-x-800g", 512, 16, 8),  # DGX SuperPOD B300 on Ethernet, two planes
        ("spectrum-x-800g", 1_024, 32, 16),
        ("spectrum-x-800g", 4_096, 128, 64),
        ("spectrum-x-800g", 8_192, 256, 128),
        ("rocev2-branded-800g", 512, 16, 8),
        ("rocev2-whitebox-800g", 1_024, 32, 16),
    ],
)
def test_the_public_counts_are_met(option: str, gpus: int, leaf: int, spine: int) -> None:
    built = bill(option, gpus)
    assert (built.leaf, built.spine, built.core) == (leaf, spine, 0)


def test_four_units_of_xdr_have_the_spines_of_the_table() -> None:
    """The table has 18: the 16 that ports allow do not divide 72 up-links, and whole units are built."""
    arguments = shape(Cluster(gpus=2_304, gpu="h100", link_gbits_per_s=800), OPTIONS["infiniband-xdr"])
    built = bill_of_materials(2_304, **{**arguments, "nodes_per_unit": 72})
    assert (built.leaf, built.spine) == (32, 18)


def test_xdr_takes_two_and_a_half_modules_a_gpu_and_two_planes_of_ethernet_four() -> None:
    assert modules("infiniband-xdr", 576) == (1.0, 1.5)
    assert modules("spectrum-x-800g", 512) == (1.0, 3.0)


def test_two_tiers_end_where_they_are_known_to() -> None:
    ceilings = {o: tier_capacity(OPTIONS[o].radix)[1] for o in ("infiniband-xdr", "spectrum-x-800g", "infiniband-ndr")}
    assert ceilings == {"infiniband-xdr": 10_368, "spectrum-x-800g": 8_192, "infiniband-ndr": 2_048}
    assert tier_capacity(OPTIONS["ethernet-sprayed-800g"].radix)[1] == 32_768


@rows("gpus", [8, 64, 256, 1_000, 3_000, 12_000])
@rows("option", [o for o in OPTIONS if OPTIONS[o].planes > 1])
def test_planes_are_as_many_networks_of_the_same_shape_over_the_same_cables(option: str, gpus: int) -> None:
    built = bill(option, gpus)
    single = bill_of_materials(gpus, radix=OPTIONS[option].radix)
    planes = OPTIONS[option].planes
    assert (built.leaf, built.spine, built.core) == tuple(planes * n for n in (single.leaf, single.spine, single.core))
    assert built.cables == single.cables


def test_a_white_box_of_tomahawk_5_meets_its_makers_bill() -> None:
    """Asterfusion CX864E, 64 nodes of 4 GPUs at 400G: 4 leaves and 2 spines."""
    built = bill("rocev2-whitebox-400g", 256, gpus_per_node=4, link_gbits_per_s=400)
    assert (built.leaf, built.spine) == (4, 2)


def test_no_copper_is_counted_where_none_is_priced() -> None:
    built = bill("infiniband-xdr", 16)
    assert optics_and_cables(built, cable_plan(OPTIONS["infiniband-xdr"], built, 2, 4)).dac == 0
    assert optics_and_cables(built, cable_plan(OPTIONS["spectrum-x-800g"], built, 2, 4)).dac > 0
