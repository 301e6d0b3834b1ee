"""One seeded sample: stratified, stable under additions, with the stated quantiles."""

import numpy as np
import pytest
from scipy import stats

from fabricreport.models.sampling import Sampler
from fabricreport.uncertain import Uncertain, exactly


def test_every_slice_of_the_unit_interval_is_hit_once() -> None:
    u = Sampler(7, 512).uniforms("price:a")
    assert sorted(np.floor(u * 512).astype(int)) == list(range(512))


def test_a_stream_depends_on_seed_and_id_alone() -> None:
    assert np.array_equal(Sampler(7, 64).uniforms("a"), Sampler(7, 64).uniforms("a"))
    assert not np.array_equal(Sampler(7, 64).uniforms("a"), Sampler(8, 64).uniforms("a"))
    assert abs(np.corrcoef(Sampler(7, 4096).uniforms("a"), Sampler(7, 4096).uniforms("b"))[0, 1]) < 0.05


def test_a_group_correlates_its_members_as_stated() -> None:
    sampler = Sampler(1, 4096, correlation=0.6)
    a, b = (stats.norm.ppf(sampler.uniforms(k, "maturity")) for k in ("a", "b"))
    assert np.corrcoef(a, b)[0, 1] == pytest.approx(0.6, abs=0.03)


@pytest.mark.parametrize(
    ("figure", "p5", "p95"),
    [
        (Uncertain.of({"p5": 2.0, "p95": 8.0}), 2.0, 8.0),
        (Uncertain.of({"p5": -1.0, "p95": 3.0}), -1.0, 3.0),
        (Uncertain.of({"low": 0.0, "high": 10.0}), 0.5, 9.5),
        (exactly(3.0), 3.0, 3.0),
    ],
)
def test_quantiles_are_the_stated_ones(figure: Uncertain, p5: float, p95: float) -> None:
    assert figure.quantile([0.05, 0.95]) == pytest.approx([p5, p95])


def test_pert_has_its_mean_and_stays_between_its_ends() -> None:
    draws = Uncertain.of({"low": 1.0, "mode": 2.0, "high": 6.0}).quantile(Sampler(1, 4096).uniforms("x"))
    assert draws.mean() == pytest.approx((1 + 4 * 2 + 6) / 6, rel=1e-3)
    assert draws.min() >= 1 and draws.max() <= 6
