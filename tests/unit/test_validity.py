"""Outside what a model was tried on: when that is, how much wider a share is drawn, and that no fabric gains by it."""

from __future__ import annotations

import re

import bench
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import rows

from fabricreport.base.provenance import Traced, plain
from fabricreport.base.yaml_files import read_yaml
from fabricreport.case import Case
from fabricreport.sections.validity import GOODPUT, Outside, beyond, outside, wider

pytestmark = pytest.mark.slow

FACTOR = 1.5
SAMPLE = np.exp(np.random.default_rng(3).normal(-5, 0.6, 4_000))


@pytest.fixture(scope="module")
def buyer() -> Case:
    return bench.case("example")


def ratio(draws: np.ndarray) -> float:
    p5, p95 = np.quantile(draws, [0.05, 0.95])
    return float(np.log(p95 / p5))


def test_the_range_is_wider_by_the_factor_and_the_mean_stays() -> None:
    found = wider(SAMPLE, FACTOR)
    assert ratio(found) == pytest.approx(FACTOR * ratio(SAMPLE), rel=1e-4)
    assert found.mean() == pytest.approx(SAMPLE.mean(), rel=1e-12)


@given(st.floats(1e-6, 0.5), st.floats(1.0, 3.0))
def test_what_is_known_exactly_or_zero_is_not_made_uncertain(value: float, factor: float) -> None:
    np.testing.assert_allclose(wider(np.full(7, value), factor), value, rtol=1e-9)
    assert not wider(np.zeros(7), factor).any()


def test_two_fabrics_that_nobody_tells_apart_stay_so_and_order_is_kept_within_one() -> None:
    first, second = wider(SAMPLE, FACTOR), wider(SAMPLE.copy(), FACTOR)
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(np.argsort(first), np.argsort(SAMPLE))
    assert np.all(wider(np.array([0.9, 0.95, 0.01]), 3.0) < 1)


def test_provenance_is_kept() -> None:
    assert wider(Traced(SAMPLE, {"evidence:x"}), FACTOR).inputs == {"evidence:x"}


@rows(
    ("kind", "gpus", "found"),
    [
        ("pretraining-dense", 1_024, ()),
        ("pretraining-dense", 64, ()),
        ("pretraining-dense", 63, (Outside.FEW,)),
        ("fine-tuning", 16_384, ()),
        ("fine-tuning", 16_385, (Outside.MANY,)),
        ("pretraining-moe", 1_024, (Outside.MIXTURE,)),
        ("mixed", 32, (Outside.MIXTURE, Outside.FEW)),
        ("hpc-simulation", 1_024, (Outside.SIMULATION,)),
        ("inference-multi-node", 1_024, (Outside.INFERENCE,)),
    ],
)
def test_a_client_is_outside_by_kind_of_work_and_by_size(
    buyer: Case, kind: str, gpus: int, found: tuple[Outside, ...]
) -> None:
    inputs = buyer.changed(workload__kind=kind).inputs
    assert outside(inputs, gpus) == found
    assert outside(inputs, gpus, GOODPUT) == tuple(one for one in found if one is not Outside.MIXTURE)


def test_the_card_of_the_step_holds_for_the_sizes_that_a_memo_calls_inside(buyer: Case) -> None:
    said = read_yaml("training_presets")["card"]["valid_range"]
    least, most = (int(size.replace(",", "")) for size in re.findall(r"\d[\d,]*\d", said)[:2])
    assert (outside(buyer.inputs, least), outside(buyer.inputs, most)) == ((), ())
    assert (outside(buyer.inputs, least - 1), outside(buyer.inputs, most + 1)) == ((Outside.FEW,), (Outside.MANY,))


def test_every_stage_counts_and_one_node_has_no_fabric(buyer: Case) -> None:
    assert beyond(buyer.inputs) == ()
    one = buyer.changed(cluster__gpus=8, workload__model_parameters_billion=8)
    assert beyond(one.inputs) == ()
    few = buyer.changed(cluster__gpus=32, workload__model_parameters_billion=8)
    assert beyond(few.inputs) == (Outside.FEW,)


def test_a_factor_of_one_gives_back_what_the_inputs_alone_make(buyer: Case) -> None:
    """On a mixture of experts the figure's own range is wider by the factor on every option, about the same mean."""
    mixture = buyer.changed(workload__kind="pretraining-moe")
    alone = mixture.changed(evidence={"outside-range-factor": 1.0})
    for option, wide in mixture.latency().exposed_share.items():
        bare = plain(alone.latency().exposed_share[option])
        assert plain(wide).mean() == pytest.approx(bare.mean(), rel=0.02)
        if bare.any() and plain(wide).max() < 0.98:
            assert ratio(plain(wide)) == pytest.approx(FACTOR * ratio(bare), rel=0.01)


def test_inside_the_range_the_factor_moves_nothing(buyer: Case) -> None:
    other = buyer.changed(evidence={"outside-range-factor": 3.0})
    for option in buyer.tco().totals:
        np.testing.assert_array_equal(plain(buyer.tco().totals[option]), plain(other.tco().totals[option]))
