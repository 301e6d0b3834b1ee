import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import rows

from fabricreport.base.errors import InputError, OutOfRange
from fabricreport.models.fabric.bill import CablePlan, optics_and_cables, with_spares
from fabricreport.models.fabric.topology import bill_of_materials, tier_capacity
from fabricreport.validation.network import COUNTS, reference_designs, topology_card

law = settings(max_examples=50, deadline=None)
radices = st.sampled_from([8, 16, 32, 40, 64, 128, 144])


@rows(("row", "bill"), reference_designs())
def test_every_published_count_is_reproduced(row, bill):
    assert {c: getattr(bill, c) for c in COUNTS} == {c: int(row[c]) for c in COUNTS}
    assert bill.nodes == int(row["nodes"])


@rows(
    ("units", "expected"),
    [(3, (24, 16, 0, 764, 768, 0)), (1, (8, 4, 0, 252, 256, 0))],
)
def test_h100_superpod_leaves_one_slot_for_the_fabric_manager(units, expected):
    bill = bill_of_materials((units * 32 - 1) * 8, nodes_per_unit=32, management_links=4)
    assert tuple(getattr(bill, c) for c in COUNTS) == expected


def test_three_tiers_at_16384_gpus():
    bill = bill_of_materials(16_384, nodes_per_unit=32)
    assert (bill.leaf, bill.spine, bill.core, bill.tiers) == (512, 512, 256, 3)
    assert (bill.cables_leaf_spine, bill.cables_spine_core) == (16_384, 16_384)


def test_a_full_fat_tree_of_radix_4_is_the_textbook_one():
    bill = bill_of_materials(16, gpus_per_node=1, radix=4)
    assert (bill.leaf, bill.spine, bill.core, bill.tiers) == (8, 8, 4, 3)


def test_16_gpus_need_one_switch():
    bill = bill_of_materials(16)
    assert (bill.leaf, bill.spine, bill.core, bill.tiers, bill.cables) == (1, 0, 0, 1, 16)


def test_one_switch_serves_up_to_its_ports_and_no_further():
    assert bill_of_materials(64).switches == 1
    assert bill_of_materials(72).tiers == 2


def test_1024_gpus_need_48_switches_of_64_ports_and_24_of_128():
    assert bill_of_materials(1024).switches == 48
    assert bill_of_materials(1024, radix=128).switches == 24


def test_whole_units_are_built_although_servers_are_missing():
    assert bill_of_materials(8, nodes_per_unit=32).leaf == 8
    assert bill_of_materials(8).leaf == 1


def test_management_links_that_overflow_a_unit_open_another():
    assert bill_of_materials(256, nodes_per_unit=32).endpoints == 256
    assert bill_of_materials(256, nodes_per_unit=32, management_links=4).endpoints == 512


def test_equal_bundles_cost_spines_that_port_counting_does_not_see():
    bill = bill_of_materials(2304, radix=144, nodes_per_unit=72)
    assert bill.spine == 18
    assert bill.spine * bill.radix > bill.cables_leaf_spine + bill.radix


def test_oversubscription_is_kept_at_the_leaf():
    bill = bill_of_materials(1024, oversubscription=3.0)
    assert (bill.down_links, bill.up_links) == (48, 16)
    assert bill.leaf == 22
    assert bill.switches < bill_of_materials(1024).switches


def test_a_server_that_is_not_full_brings_all_its_links():
    assert bill_of_materials(9).cables_node_leaf == 16


def test_beyond_three_tiers_says_by_how_much():
    with pytest.raises(OutOfRange, match=r"65,544 endpoints .* hold 65,536, 8 too few"):
        bill_of_materials(65_544)
    assert bill_of_materials(65_536).tiers == 3


def test_tier_capacity_is_where_the_next_tier_starts():
    assert tier_capacity(64) == (64, 2048, 65_536)
    for capacity, tiers in zip(tier_capacity(64), (1, 2, 3), strict=True):
        assert bill_of_materials(capacity).tiers == tiers
    assert bill_of_materials(2056).tiers == 3


@rows(
    ("fault", "key"),
    [
        ({"gpus": 0}, "gpus"),
        ({"gpus": 1024.0}, "gpus"),
        ({"gpus": True}, "gpus"),
        ({"links_per_gpu": 0}, "links_per_gpu"),
        ({"gpus_per_node": -8}, "gpus_per_node"),
        ({"radix": 63}, "radix"),
        ({"radix": 0}, "radix"),
        ({"planes": 0}, "planes"),
        ({"nodes_per_unit": 0}, "nodes_per_unit"),
        ({"oversubscription": 0.5}, "oversubscription"),
        ({"oversubscription": float("nan")}, "oversubscription"),
        ({"management_links": -1}, "management_links"),
        ({"topology": "rail-optimized"}, "topology"),
    ],
)
def test_a_value_outside_its_domain_is_refused_by_name(fault, key):
    with pytest.raises(InputError) as caught:
        bill_of_materials(**{"gpus": 1024, **fault})
    assert [p.key for p in caught.value.problems] == [key]


def test_a_misspelt_topology_is_met_with_the_right_one():
    with pytest.raises(InputError, match="Did you mean 'rail-optimised'"):
        bill_of_materials(1024, topology="rail-optimized")


def test_all_faults_are_named_at_once():
    with pytest.raises(InputError) as caught:
        bill_of_materials(0, radix=7)
    assert {p.key for p in caught.value.problems} == {"gpus", "radix"}


def test_rail_optimised_has_the_same_counts_as_a_plain_fabric():
    plain = bill_of_materials(1024)
    rails = bill_of_materials(1024, topology="rail-optimised")
    assert [getattr(plain, c) for c in COUNTS] == [getattr(rails, c) for c in COUNTS]


@law
@given(radices, st.floats(0, 1), st.integers(1, 2))
def test_non_blocking_means_leaf_up_links_equal_down_links(radix, fill, planes):
    endpoints = max(1, round(fill * radix**3 / 4))
    bill = bill_of_materials(endpoints, gpus_per_node=1, radix=radix, planes=planes)
    if bill.tiers > 1:
        assert bill.down_links == bill.up_links == radix // 2
        assert bill.cables_leaf_spine * planes == bill.leaf * radix // 2
        assert bill.cables_leaf_spine >= bill.endpoints
    if bill.tiers == 3:
        assert bill.cables_spine_core >= bill.cables_leaf_spine
        assert bill.spine == bill.leaf


@law
@given(
    radices,
    st.floats(0, 1),
    st.floats(1, 8),
    st.integers(1, 3),
    st.sampled_from([None, 4, 32]),
    st.sampled_from(["fat-tree", "rail-optimised"]),
)
def test_ports_never_exceed_the_radix_on_any_switch(radix, fill, ratio, planes, unit, topology):
    capacity = tier_capacity(radix, ratio)[2]
    gpus = max(1, round(fill * capacity * 0.9) - 600)
    bill = bill_of_materials(
        gpus,
        gpus_per_node=4,
        radix=radix,
        planes=planes,
        nodes_per_unit=unit,
        oversubscription=ratio,
        topology=topology,
    )
    if bill.tiers > 1:
        assert min(bill.down_links, bill.endpoints) + bill.up_links <= radix
        assert bill.tiers == 3 or -(-(bill.leaf // planes) * bill.up_links // (bill.spine // planes)) <= radix
        assert bill.tiers == 2 or -(-bill.cables_spine_core // (bill.core // planes)) <= radix
    between = bill.cables_leaf_spine + bill.cables_spine_core
    assert planes * (bill.cables_node_leaf + 2 * between) <= bill.switches * radix
    assert bill.down_links <= ratio * bill.up_links + 1e-3 or bill.tiers == 1
    assert bill.leaf // planes * (bill.down_links if bill.tiers > 1 else radix) >= bill.endpoints
    if bill.tiers == 2:
        spine = bill.spine // planes
        assert spine <= bill.up_links, "each leaf has a link to each spine"
        if unit is not None and ratio == 1:
            assert bill.up_links % spine == 0, "in whole units each leaf has an equal bundle to each spine"


ratios = st.one_of(st.sampled_from([1.0, 1.5, 2.0, 3.0, 4.0]), st.floats(1, 8))


def is_reference_size(bill):
    """Sizes at which a published table may ask for more switches than fewer or more servers would."""
    leaf, rest = divmod(bill.endpoints, bill.radix // 2)
    return bill.oversubscription == 1 and rest == 0 and leaf % 8 == 0


@law
@given(radices, ratios, st.integers(1, 3000), st.integers(0, 3000))
def test_more_gpus_never_need_fewer_switches(radix, ratio, few, more):
    most = tier_capacity(radix, ratio)[2]
    small, large = (
        bill_of_materials(min(size, most), gpus_per_node=1, radix=radix, oversubscription=ratio)
        for size in (few, few + more)
    )
    assert small.tiers <= large.tiers
    if not is_reference_size(small):
        assert small.switches <= large.switches


@law
@given(radices, st.floats(0, 1), ratios, ratios)
def test_more_oversubscription_never_needs_more_switches(radix, fill, one, other):
    low, high = sorted((one, other))
    gpus = max(1, round(fill * tier_capacity(radix, low)[2]))
    less, more = (
        bill_of_materials(gpus, gpus_per_node=1, radix=radix, oversubscription=ratio) for ratio in (low, high)
    )
    assert more.switches <= less.switches


@law
@given(st.sampled_from([64, 128, 144]), ratios, st.integers(1, 9000))
def test_64_more_gpus_never_raise_the_spines_by_more_than_half_plus_one(radix, ratio, gpus):
    most = tier_capacity(radix, ratio)[2]
    small, large = (
        bill_of_materials(min(size, most), gpus_per_node=1, radix=radix, oversubscription=ratio)
        for size in (gpus, gpus + 64)
    )
    if small.tiers == large.tiers:
        assert large.spine <= 1.5 * small.spine + 1


def fewest_by_search(endpoints, radix, ratio):
    """The fewest switches of all two-tier trees: every number of leaves, spines and links from a leaf up is tried."""
    best = radix * 2
    for leaf in range(2, radix + 1):
        down = -(-endpoints // leaf)
        for up in range(1, radix - down + 1):
            for spine in range(1, up + 1):
                if down <= ratio * up and leaf * up <= spine * radix:
                    best = min(best, leaf + spine)
    return best


@rows("radix", [16, 32, 64])
@rows("ratio", [1, 1.5, 2, 3, 4])
def test_fewest_switches_are_those_of_a_search_up_to_2048_gpus(radix, ratio):
    for endpoints in range(radix + 1, min(2048, tier_capacity(radix, ratio)[1]) + 1, 47):
        bill = bill_of_materials(endpoints, gpus_per_node=1, radix=radix, oversubscription=ratio)
        if not is_reference_size(bill):
            assert bill.switches == fewest_by_search(endpoints, radix, ratio), endpoints


def test_five_spines_serve_1024_gpus_at_two_to_one_where_equal_bundles_of_full_leaves_took_43():
    bill = bill_of_materials(1024, radix=128, oversubscription=2.0)
    assert (bill.leaf, bill.spine) == (13, 5)


def test_64_gpus_beyond_a_full_tree_take_one_spine_more():
    assert (bill_of_materials(1024, radix=128).spine, bill_of_materials(1088, radix=128).spine) == (8, 9)


def test_whole_units_take_equal_bundles_where_that_takes_more_switches_than_the_fewest():
    assert bill_of_materials(2304, radix=144, nodes_per_unit=72).switches == 50
    assert fewest_by_search(2304, 144, 1) == 48


def dragonfly_capacity(radix):
    hosts = (radix + 1) // 4
    return hosts * 2 * hosts * (2 * hosts * hosts + 1)


@law
@given(radices, st.floats(0, 1))
def test_a_dragonfly_joins_all_groups_within_its_ports(radix, fill):
    gpus = max(radix + 1, round(fill * dragonfly_capacity(radix)))
    bill = bill_of_materials(gpus, gpus_per_node=1, radix=radix, topology="dragonfly")
    assert bill.leaf * bill.down_links >= bill.endpoints
    groups = -(-bill.endpoints // (2 * bill.down_links**2))
    to_others, in_group = -(-2 * bill.cables_spine_core // bill.leaf), bill.leaf // groups - 1
    assert bill.down_links + in_group + to_others <= radix
    assert bill.cables_spine_core >= groups * (groups - 1) // 2
    assert bill.spine == bill.core == 0


def test_a_dragonfly_is_not_oversubscribed_or_over_filled():
    with pytest.raises(InputError, match="balanced form"):
        bill_of_materials(1024, topology="dragonfly", oversubscription=2.0)
    with pytest.raises(OutOfRange, match="dragonfly"):
        bill_of_materials(dragonfly_capacity(8) + 8, radix=8, topology="dragonfly")


def test_the_card_reproduces_every_count_and_port_counting_does_not():
    card = topology_card()
    assert card.summary["share of counts reproduced exactly"] == 1.0
    (baseline,) = card.baselines.values()
    assert baseline < 1.0
    assert not card.held_out


@rows("radix", [64, 128])
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
    bill = optics_and_cables(bill_of_materials(512, radix=128, planes=2, nodes_per_unit=64))
    assert bill.node_optics == 512
    assert bill.switch_optics == 512 + 2 * 512


def test_one_port_cages_need_an_optic_at_each_end():
    bom = bill_of_materials(1024)
    bill = optics_and_cables(bom, CablePlan(links_per_cage=1))
    assert bill.transceivers == 2 * bom.cables


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
    assert capacity >= 2 * bom.cables * bom.planes - bill.nics * (medium in ("dac", "acc"))
    assert bill.nics == bom.nodes * 8
