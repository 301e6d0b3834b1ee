import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabricreport.errors import InputError, OutOfRange
from fabricreport.models.fabric.cabling import CablePlan, medium_by_reach, optics_and_cables, plan_by_reach, with_spares
from fabricreport.models.fabric.topology import bill_of_materials

law = settings(max_examples=50, deadline=None)


@pytest.mark.parametrize("radix", [64, 128])
def test_1024_gpus_all_fibre_need_1024_server_optics_and_1536_twin_ports(radix):
    bill = optics_and_cables(bill_of_materials(1024, radix=radix))
    assert (bill.node_optics, bill.switch_optics) == (1024, 512 + 2 * 512)
    assert (bill.nics, bill.fibres, bill.dac) == (1024, 2048, 0)


def test_copper_in_the_rack_replaces_the_server_side_optics():
    bill = optics_and_cables(bill_of_materials(1024), CablePlan(node_leaf="dac"))
    assert (bill.node_optics, bill.dac, bill.switch_optics) == (0, 512, 1024)


def test_an_active_optical_cable_is_one_piece_a_link():
    bill = optics_and_cables(bill_of_materials(1024), CablePlan("aoc", "aoc", "aoc"))
    assert (bill.aoc, bill.transceivers) == (2048, 0)


def test_two_planes_share_a_cable_and_double_the_links():
    bom = bill_of_materials(512, radix=128, planes=2, nodes_per_unit=64)
    bill = optics_and_cables(bom)
    assert bill.links == 2 * bom.cables
    assert bill.node_optics == 512
    assert bill.switch_optics == 512 + 2 * 512


def test_one_port_cages_need_an_optic_at_each_end():
    bill = optics_and_cables(bill_of_materials(1024), CablePlan(links_per_cage=1))
    assert bill.optical_links_per_link == 2.0


@pytest.mark.parametrize(("length", "medium"), [(1.5, "dac"), (2.0, "dac"), (3, "acc"), (20, "aoc"), (80, "fibre")])
def test_medium_is_the_cheapest_that_reaches(length, medium):
    assert medium_by_reach(length) == medium


def test_beyond_fibre_is_an_error_that_says_so():
    with pytest.raises(OutOfRange, match="fibre ends at 500 m"):
        medium_by_reach(2000)
    with pytest.raises(InputError, match="length above 0"):
        medium_by_reach(float("nan"))


def test_a_plan_by_reach_takes_each_layer_on_its_own():
    plan = plan_by_reach({"node_leaf": 1.5, "leaf_spine": 30})
    assert (plan.node_leaf, plan.leaf_spine, plan.spine_core) == ("dac", "aoc", "fibre")
    with pytest.raises(InputError, match="unknown cable layer"):
        plan_by_reach({"leaf_core": 3})


def test_an_unknown_medium_is_refused():
    with pytest.raises(InputError, match="unknown cable medium"):
        CablePlan(node_leaf="string")


def test_spares_are_rounded_up_and_none_of_none():
    assert with_spares(50, 0.02) == 1
    assert with_spares(51, 0.02) == 2
    assert with_spares(0, 0.05) == 0
    assert list(with_spares(100, np.array([0.01, 0.025]))) == [1, 3]
    with pytest.raises(InputError, match="share of 0 to 1"):
        with_spares(10, 2)


@law
@given(st.integers(1, 9000), st.sampled_from(["dac", "acc", "aoc", "fibre"]), st.sampled_from([1, 2]))
def test_every_link_ends_in_something_that_was_ordered(gpus, medium, per_cage):
    bom = bill_of_materials(gpus, radix=64)
    bill = optics_and_cables(bom, CablePlan(medium, medium, medium, per_cage))
    capacity = per_cage * (bill.switch_optics + 2 * (bill.dac + bill.acc)) + bill.node_optics + 2 * bill.aoc
    assert capacity >= 2 * bill.links - bill.nics * (medium in ("dac", "acc"))
    assert bill.nics == bom.nodes * 8
