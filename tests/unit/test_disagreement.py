"""Contested quantities: shown side by side, turned into a prior by the stated rule, never averaged away."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabricreport.base.errors import InputError, OutOfRange
from fabricreport.base.provenance import Traced
from fabricreport.base.uncertain import exactly
from fabricreport.base.yaml_files import read_yaml
from fabricreport.books.constants import catalogue
from fabricreport.books.evidence import EvidenceBook, EvidenceEntry, read_evidence
from fabricreport.models.audit.disagreement import (
    Contested,
    Position,
    contested,
    discount_to_premium,
    premium_to_discount,
    prior_quantile,
)

DEFINITIONS = {item["id"]: item for item in read_yaml("contested")}
WEIGHTS = read_yaml("prior_weights")


@pytest.fixture(scope="module")
def book() -> EvidenceBook:
    return read_evidence()


@pytest.fixture(scope="module")
def quantities(book: EvidenceBook) -> dict[str, Contested]:
    named = {*DEFINITIONS, *(e.contested for e in book.values() if e.contested)}
    weights = {e.id: WEIGHTS[e.grade] for e in book.values()}
    return {quantity: contested(quantity, book, DEFINITIONS, weights) for quantity in named}


def position(
    low: float, high: float, *, publisher: str = "p", kind: str = "range", mid: float | None = None, name: str = "a"
) -> Position:
    middle = (low + high) / 2 if mid is None else mid
    return Position(name, publisher, "2026", "secondary", "", kind, low, middle, high, "", "")


def test_every_quantity_shows_at_least_two_positions_and_what_would_settle_it(
    quantities: dict[str, Contested],
) -> None:
    for quantity in quantities.values():
        assert len(quantity.entries) >= 2, quantity.id
        assert quantity.would_settle
        assert quantity.rule in ("mixture", "envelope")
        assert quantity.prior_low <= quantity.prior_mid <= quantity.prior_high


def test_a_figure_set_aside_stays_visible_with_the_reason(quantities: dict[str, Contested]) -> None:
    roce = quantities["roce-latency"]
    aside = {p.id: p.set_aside for p in roce.entries if not p.admissible}
    assert "roce-latency-s1-sub-microsecond" in aside
    assert all(aside.values())


def test_every_reason_to_set_aside_names_a_member(quantities: dict[str, Contested]) -> None:
    for definition in DEFINITIONS.values():
        members = {p.id for p in quantities[definition["id"]].entries}
        assert {item["id"] for item in definition.get("set_aside", ())} <= members
        assert set(definition.get("convert", {})) <= members


def test_the_extra_latency_of_a_step_is_bounded_by_what_switches_can_add(
    quantities: dict[str, Contested], book: EvidenceBook
) -> None:
    extra = quantities["roce-extra-latency-per-step"]
    assert {(p.low, p.high) for p in extra.entries} == {(5, 9), (3, 3), (0, 4), (0, 0)}
    hops, ethernet = book["switches-between-nodes"].mid, book["ethernet-switch-latency-measured"].mid
    assert ethernet == pytest.approx((6.54 - 5.09) / 2 * 1000)
    bound = hops * (ethernet - book["quantum-2-latency-130ns"].mid) / 1000
    assert bound == pytest.approx(1.785) and book["roce-extra-latency-bound"].mid == pytest.approx(bound, abs=0.05)
    assert {p.id for p in extra.admissible} == {"roce-extra-latency-s3"}
    assert float(extra.quantile(0.0)) == pytest.approx(0, abs=0.01)
    assert float(extra.quantile(1.0)) == pytest.approx(1.8, abs=0.01)
    assert "evidence:roce-extra-latency-bound" in extra.quantile(0.5).inputs


def test_what_this_memo_worked_out_is_no_publishers(quantities: dict[str, Contested]) -> None:
    ours = [p for q in quantities.values() for p in q.entries if p.ours]
    assert ours and not [p.id for p in ours if p.admissible]
    assert {p.publisher for p in quantities["roce-discount"].admissible} == {"NetPilot", "Saturn Cloud"}


def test_each_quantity_stands_on_one_base(quantities: dict[str, Contested]) -> None:
    """A premium and a discount are one quantity, and no entry is a position on two."""
    assert not {"infiniband-price-premium"} & set(quantities)
    held = [p.id for q in quantities.values() for p in q.entries]
    assert len(held) == len(set(held))


def test_a_better_grade_weighs_more_and_equal_grades_weigh_the_same() -> None:
    low, high = position(1, 2, publisher="a"), position(8, 9, publisher="b", name="b")
    u = np.linspace(0.0005, 0.9995, 1000)
    for weight, share in ((1.0, 0.5), (3.0, 0.75)):
        draws = prior_quantile(u, [replace(low, weight=weight), high])
        assert float(np.mean(draws < 5)) == pytest.approx(share, abs=0.01)
    assert WEIGHTS["measured"] > WEIGHTS["published"] > WEIGHTS["secondary"] > WEIGHTS["assumption"] == 0


def test_an_envelopes_median_leans_to_the_better_grade_and_is_the_median_of_equals() -> None:
    three = [position(v, v, kind="number", name=str(v), publisher=str(v)) for v in (1, 2, 10)]
    assert float(prior_quantile(0.5, three, rule="envelope")) == pytest.approx(2)
    heavy = [replace(p, weight=8.0 if p.low == 10 else 1.0) for p in three]
    assert float(prior_quantile(0.5, heavy, rule="envelope")) > 5


def test_nothing_counts_above_a_limit() -> None:
    for kind in ("range", "pert", "interval"):
        one = replace(position(1, 9, kind=kind), limit=3.0)
        assert float(prior_quantile(1.0, [one])) <= 3.0 + 1e-9
        assert float(prior_quantile(1.0, [one], rule="envelope")) < 3.0 * 1.7


def test_premium_and_discount_are_one_statement_on_two_bases() -> None:
    assert premium_to_discount(0.30) == pytest.approx(0.2308, abs=1e-4)
    assert discount_to_premium(0.55) == pytest.approx(1.2222, abs=1e-4)
    assert discount_to_premium(premium_to_discount(0.266)) == pytest.approx(0.266)


def test_a_converted_position_says_so(quantities: dict[str, Contested]) -> None:
    s4 = next(p for p in quantities["roce-discount"].entries if p.id == "infiniband-premium-s4")
    assert s4.converted == "premium-to-discount"
    assert (s4.low, s4.high) == pytest.approx((0.1304, 0.2308), abs=1e-4)


def test_a_mixture_of_one_uniform_is_that_uniform() -> None:
    u = np.linspace(0.01, 0.99, 50)
    assert np.allclose(prior_quantile(u, [position(2, 4)]), 2 + 2 * u, atol=0.006)


def test_a_mixture_gives_each_publisher_the_same_weight() -> None:
    many = [position(0, 1, publisher="loud", name=f"l{i}") for i in range(9)]
    one = [position(10, 11, publisher="quiet", name="q")]
    q = prior_quantile(np.array([0.45, 0.55]), [*many, *one])
    assert q[0] < 1 < 10 < q[1]


def test_the_mixture_keeps_both_camps_and_does_not_average_them() -> None:
    u = np.linspace(0, 1, 2001)
    draws = prior_quantile(u, [position(1, 2, publisher="a"), position(8, 9, publisher="b", name="b")])
    assert np.mean((draws > 2.01) & (draws < 7.99)) < 0.01


def test_the_envelope_puts_the_extremes_at_5_and_95_percent() -> None:
    pair = [position(130, 130, kind="number"), position(330, 330, kind="number", name="b", publisher="b")]
    low, mid, high = prior_quantile(np.array([0.05, 0.5, 0.95]), pair, rule="envelope")
    assert (float(low), float(mid), float(high)) == pytest.approx((130, 230, 330))


def test_a_90_percent_interval_keeps_its_ends() -> None:
    one = position(1, 16, kind="interval", mid=4)
    low, mid, high = prior_quantile(np.array([0.05, 0.5, 0.95]), [one])
    assert (float(low), float(mid), float(high)) == pytest.approx((1, 4, 16), rel=0.03)


def test_a_pert_leans_to_its_mode() -> None:
    draws = prior_quantile(np.linspace(0.001, 0.999, 999), [position(0, 10, kind="pert", mid=2)])
    assert float(np.mean(draws)) == pytest.approx((0 + 4 * 2 + 10) / 6, abs=0.05)


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.tuples(st.floats(0, 50), st.floats(0, 50)), min_size=1, max_size=6),
    st.sampled_from(["mixture", "envelope"]),
)
def test_the_quantile_never_falls_and_a_mixture_stays_inside_what_was_said(
    pairs: list[tuple[float, float]], rule: str
) -> None:
    positions = [
        position(min(p), max(p), publisher=str(i), name=str(i), kind="number" if p[0] == p[1] else "range")
        for i, p in enumerate(pairs)
    ]
    draws = np.asarray(prior_quantile(np.linspace(0, 1, 101), positions, rule=rule))
    assert np.all(np.diff(draws) >= -1e-9)
    if rule == "mixture":
        assert draws.min() >= min(p.low for p in positions) - 1e-9
        assert draws.max() <= max(p.high for p in positions) + 1e-9


def test_the_prior_remembers_the_entries_it_is_made_of(quantities: dict[str, Contested]) -> None:
    roce = quantities["roce-latency"]
    u = Traced(np.array([[0.1, 0.5], [0.7, 0.9]]), {"param:seed"})
    draws = roce.quantile(u)
    assert draws.shape == (2, 2)
    assert draws.inputs == {"param:seed", *(f"evidence:{p.id}" for p in roce.admissible)}
    assert "evidence:roce-latency-s1-sub-microsecond" not in draws.inputs


def test_a_clients_own_measurement_joins_the_quantity(book: EvidenceBook) -> None:
    own = replace(book["roce-latency-s1"], id="own-pilot", value=exactly(3.1), publisher="Client", grade="measured")
    with_own = contested("roce-latency", EvidenceBook([*book.values(), own]), DEFINITIONS)
    assert "own-pilot" in {p.id for p in with_own.admissible}
    assert with_own.prior_mid < contested("roce-latency", book, DEFINITIONS).prior_mid


def test_removing_a_source_moves_the_prior(book: EvidenceBook) -> None:
    source = book["roce-latency-s0"].source
    without = contested("roce-latency", EvidenceBook(e for e in book.values() if e.source != source), DEFINITIONS)
    assert without.prior_high < contested("roce-latency", book, DEFINITIONS).prior_high


def test_a_quantity_only_a_client_names_gets_the_mixture(book: EvidenceBook) -> None:
    own: list[EvidenceEntry] = [
        replace(
            book["roce-latency-s1"], id=f"own-{i}", contested="our-thing", value=exactly(float(i)), publisher=str(i)
        )
        for i in (1, 2)
    ]
    found = contested("our-thing", EvidenceBook([*book.values(), *own]), DEFINITIONS)
    assert found.rule == "mixture"
    assert len(found.admissible) == 2


def test_a_figure_in_another_unit_or_without_a_number_does_not_enter(book: EvidenceBook) -> None:
    odd = replace(book["roce-latency-s1"], id="odd", unit="ms")
    words = replace(book["roce-latency-s1"], id="words", unit="text", value="fast")
    with_both = contested("roce-latency", EvidenceBook([*book.values(), odd, words]), DEFINITIONS)
    found = {p.id: p for p in with_both.entries}
    assert "is in ms" in found["odd"].set_aside
    assert found["words"].set_aside == "states no number"
    assert math.isnan(found["words"].mid)


def test_impossible_requests_are_refused_with_a_remedy() -> None:
    with pytest.raises(OutOfRange, match="no source gives an admissible figure"):
        prior_quantile(0.5, [])
    with pytest.raises(OutOfRange, match="mixture, envelope"):
        prior_quantile(0.5, [position(0, 1)], rule="mean")
    with pytest.raises(OutOfRange, match="between 0 and 1"):
        prior_quantile(np.array([0.5, 1.2]), [position(0, 1)])
    with pytest.raises(InputError, match="no contested quantity"):
        contested("unheard-of", {}, DEFINITIONS)


def test_the_collective_model_takes_rocev2_at_the_medians_of_the_priors(quantities: dict[str, Contested]) -> None:
    """Where it has no other word, as for published tables: a second opinion of its own would be a rival."""
    for fabric in ("rocev2-100g", "rocev2-400g"):
        wire = catalogue().fabric(fabric, "h100")
        assert wire.step_us == pytest.approx(quantities["roce-extra-latency-per-step"].prior_mid)
        assert wire.bandwidth_share == pytest.approx(min(1.0, quantities["roce-bandwidth-share"].prior_mid))
