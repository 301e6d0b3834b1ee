"""Claims about the fit of the collective model and its card."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pytest

from fabricreport.constants import catalogue, fit_rule
from fabricreport.errors import InputError
from fabricreport.evidence import read_yaml
from fabricreport.models.collectives.fit import (
    BANDS,
    MeasuredTable,
    band_of,
    cluster_intervals,
    fit_calibration,
    fit_collectives,
)
from fabricreport.models.collectives.parameters import job
from fabricreport.models.collectives.timing import Calibration, allreduce
from fabricreport.validation.card import card_row
from fabricreport.validation.collectives import cluster_of, collectives_card, packaged_tables, training_tables

KNOWN = catalogue()


def synthetic(gpus: int = 64, **how: Any) -> MeasuredTable:
    sizes = np.exp2(np.arange(3, 34.0))
    same: dict[str, Any] = {"gpus": gpus, "gpus_per_node": 8, "gpu": "h100", "fabric": "infiniband-ndr"}
    times = allreduce(sizes, job(KNOWN, **same), **how).time_us
    return MeasuredTable(KNOWN, case=f"made-{gpus}", size_bytes=sizes, time_us=times, **same)


def test_packaged_parameters_are_what_the_training_tables_give() -> None:
    fitted, packaged = asdict(fit_collectives(training_tables(), fit_rule()).parameters), asdict(KNOWN.fitted)
    assert fitted == pytest.approx(packaged, rel=0.02)


@pytest.mark.slow
def test_packaged_intervals_are_what_resampling_clusters_gives() -> None:
    packaged = read_yaml("collectives")["fitted"]["intervals"]
    for band, interval in cluster_intervals(packaged_tables(), fit_rule()).items():
        assert interval == pytest.approx(packaged[band], rel=0.03)
        assert interval[0] < 1.0 < interval[1]


def test_the_fit_does_not_see_held_out_tables() -> None:
    assert not any(t.held_out for t in training_tables())
    assert sum(t.held_out and t.counted for t in packaged_tables()) >= 6


def test_fit_recovers_parameters_it_was_given() -> None:
    truth = replace(KNOWN.fitted, nic_efficiency=0.96, ll_channel_us=1.2)
    tables = [replace(synthetic(n, parameters=truth)) for n in (16, 32, 128)]
    found = fit_collectives(tables, fit_rule()).parameters
    assert found.nic_efficiency == pytest.approx(0.96, rel=0.01)
    assert found.ll_channel_us == pytest.approx(1.2, abs=0.3)


def test_fit_of_nothing_is_refused() -> None:
    with pytest.raises(InputError, match="no measured row counts"):
        fit_collectives([replace(synthetic(), counted=False)], fit_rule())


def test_one_bad_row_does_not_steer_the_fit() -> None:
    clean, spoilt = synthetic(64), synthetic(64)
    spoilt.time_us[-1] *= 4.0
    before, after = (fit_collectives([synthetic(16), t], fit_rule()).parameters.nic_efficiency for t in (clean, spoilt))
    assert after == pytest.approx(before, rel=0.02)


def test_calibration_finds_the_clients_own_factors() -> None:
    made = synthetic(128, calibration=Calibration(1.5, 0.8))
    found = fit_calibration(made)
    assert found.latency_factor == pytest.approx(1.5, rel=0.05)
    assert found.bandwidth_factor == pytest.approx(0.8, rel=0.05)


def test_calibration_without_small_sizes_leaves_latency_near_the_model() -> None:
    made = synthetic(16, calibration=Calibration(1.0, 0.7))
    large = made.size_bytes >= 2**31
    found = fit_calibration(replace(made, size_bytes=made.size_bytes[large], time_us=made.time_us[large]))
    assert found.bandwidth_factor == pytest.approx(0.7, rel=0.05)
    assert found.latency_factor == pytest.approx(1.0, rel=0.25)


def test_two_rows_calibrate_nothing() -> None:
    made = synthetic(16)
    with pytest.raises(InputError, match="fewer than 3"):
        fit_calibration(replace(made, size_bytes=made.size_bytes[:2], time_us=made.time_us[:2]))


def test_bands_split_at_64_kib_and_64_mib() -> None:
    assert band_of([8, 65535, 65536, 2**26, 2**26 + 1]).tolist() == [0, 0, 1, 1, 2]


def test_card_meets_what_was_expected_before_the_fit_and_says_where_not() -> None:
    card = collectives_card()
    assert card.summary["overall"] <= 0.12
    assert all(card.summary[band] <= 0.20 for band in BANDS)
    met = {item for item, true in card.as_expected.items() if true}
    assert met >= {"small-infiniband", "overall", "band-small", "band-middle", "band-large", "held-out"}
    assert set(card.intervals) == set(BANDS)
    assert card.does_not_claim and card.irreducible and card.valid_range


def test_every_cluster_with_a_table_is_within_20_percent() -> None:
    card = collectives_card()
    tables = [t.case for t in packaged_tables() if t.size_bytes.size > 1]
    worst = max(card.summary[case] for case in tables)
    assert worst <= 0.20


def test_card_shows_every_measured_row_and_why_some_do_not_count() -> None:
    card = collectives_card()
    assert len(card.rows) == sum(t.size_bytes.size for t in packaged_tables())
    assert all(row.note for row in card.rows if not row.counted)
    assert {cluster_of(row) for row in card.rows} == {t.case for t in packaged_tables()}
    assert {cluster_of(row) for row in card.held_out} == {t.case for t in packaged_tables() if t.held_out}


def test_card_row_works_out_its_error_and_refuses_zero() -> None:
    assert card_row("x", published=10.0, ours=9.0, held_out=True).error == pytest.approx(-0.1)
    with pytest.raises(InputError, match="zero"):
        card_row("x", published=0.0, ours=9.0, held_out=True)


def test_published_times_and_bandwidths_agree() -> None:
    """time x algbw = size in each table we ship (rounding of the printed bandwidth aside)."""
    from fabricreport.evidence import read_rows

    for entry in read_yaml("collectives")["cases"]:
        for row in read_rows(f"nccl/{entry['file']}"):
            if float(row["algbw_gbytes_per_s"]) > 1.0:
                moved = float(row["time_us"]) * float(row["algbw_gbytes_per_s"]) * 1000.0
                assert moved == pytest.approx(float(row["size_bytes"]), rel=0.01)
