"""Productive time and interruptions of published runs: calibrated to inputs, held against what was expected."""

from __future__ import annotations

import numpy as np
import pytest

from fabricreport.books.evidence import read_evidence
from fabricreport.models.risk.entries import MATURITIES
from fabricreport.sections.tail_risk.figure_context import cards
from fabricreport.validation import productive as published
from fabricreport.validation.risk import goodput_card

central = read_evidence().central


def test_every_expectation_written_down_is_answered_and_came_true():
    card = goodput_card()
    assert len(card.expected) == len(card.as_expected) == 7
    assert all(card.as_expected.values()), card.as_expected


def test_productive_time_at_full_size_lies_where_it_was_published():
    top = published.productive(16_384, "high")
    assert 0.90 <= np.median(top) <= 0.97
    assert np.quantile(top, 0.05) < 0.90 and np.quantile(top, 0.95) > 0.97


@pytest.mark.parametrize("gpus", [64, 1_024, 9_600, 16_384])
def test_a_lower_maturity_is_never_more_productive_in_any_draw(gpus):
    low, medium, high = (published.productive(gpus, level) for level in MATURITIES)
    assert np.all(low <= medium) and np.all(medium <= high)


def test_the_prior_spans_two_publications_that_differ_six_fold_and_both_residuals_are_shown():
    llama = published.per_gpu_year(16_384, central("llama3-mtbf-all"))
    rsc = published.per_gpu_year(1_024, central("kokolis-mttf-1024-gpus"))
    assert rsc / llama == pytest.approx(6.3, abs=0.1)
    p5, p95 = np.quantile(published.drawn(published.COMMON), [0.05, 0.95])
    assert p5 < llama < rsc < p95
    rows = [row for row in goodput_card().rows if row.band == "one rate for both"]
    assert [np.sign(row.error) for row in rows] == [-1, 1] and all(row.note for row in rows)


def test_no_rate_at_all_would_fit_both():
    ours = [row.ours / row.published for row in goodput_card().rows if row.band == "one rate for both"]
    assert max(ours) / min(ours) == pytest.approx(6.2, abs=0.4)


def test_the_known_answers_of_the_card_stand():
    rows = {row.case: row for row in goodput_card().rows}
    for gpus in ("16,384", "131,072"):
        assert abs(rows[f"MTTF of {gpus} GPUs, projected by its authors"].error) < 0.03
    assert rows["MTTF of 1,024 GPUs, measured"].ours == pytest.approx(28.8, abs=0.1)
    assert rows["Llama 3, MTBF of every cause at 16,384 GPUs"].ours == pytest.approx(3.09, abs=0.01)


def test_the_memo_reads_the_same_card():
    assert cards()["goodput"] is goodput_card()
