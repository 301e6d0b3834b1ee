"""Laws and known answers of the one comparison that decides."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from fabricreport.base.provenance import plain
from fabricreport.base.vocabulary import Confidence, Ground
from fabricreport.case import Case, open_case
from fabricreport.models.judgement.comparison import (
    Apart,
    Rule,
    Verdict,
    Weighing,
    classed,
    decide,
    lines_apart,
    noise,
    noise_apart,
    probability_cheaper,
    rival_of,
)
from fabricreport.sections.decision.inputs import apart, ready
from fabricreport.sections.tco.cost import QUOTED, network_pieces

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PARAMS = ROOT / "params"
Draws = NDArray[np.float64]
RULE = Rule(
    clear_probability=0.9, material_share=0.05, network_share=0.005, trifling_share=0.001, turning_share=1 / 3,
    ready_probability=0.8, fabric_matters_from_gpus=16,
)  # fmt: skip
FAMILIES = {"ib": "infiniband", "roce": "rocev2", "white": "rocev2"}
SILENT = Weighing("neither", date_stated=False)
NORMAL = stats.norm.ppf((np.arange(4096) + 0.5) / 4096)


def verdict(totals: Mapping[str, Any], m: float = 10.0, **more: Any) -> Verdict:
    stated: dict[str, Any] = {
        "rule": RULE,
        "apart": lambda a, b: Apart(lines=0.0, quotes=m, network=1_000.0),
        "ready": dict.fromkeys(totals, 1.0),
        "weighing": SILENT,
        "gpus": 1024,
        "gpus_per_node": 8,
    }
    return decide(totals, FAMILIES, **(stated | more))


def pair(lead: float, spread: float) -> dict[str, Draws]:
    """RoCE cheaper by `lead` on the mean, normal with this spread."""
    return {"roce": np.zeros(NORMAL.size) + 100.0, "ib": 100.0 + lead + spread * NORMAL}


# ---- each branch of the rule, by a constructed answer


def test_a_lead_that_counts_and_holds_in_most_draws_is_clear() -> None:
    found = verdict(pair(50, 20))
    assert (found.choice, found.runner_up, found.confidence, found.decided_by) == ("roce", "ib", "clear", "money")
    assert found.lead == pytest.approx(50) and found.probability > 0.9 and not found.open
    assert found.course.id == "take:roce" and found.agrees is None


def test_a_lead_that_counts_in_too_few_draws_is_leaning() -> None:
    found = verdict(pair(50, 60))
    assert (found.confidence, found.decided_by, found.capped) == ("leaning", "money", "")
    assert 0.5 < found.probability < RULE.clear_probability


def test_a_lead_below_what_counts_is_close_as_long_as_anything_is_worth_knowing() -> None:
    found = verdict(pair(5, 60))
    assert (found.confidence, found.decided_by, found.open) == ("close", "nothing", True)
    assert found.lead < 10 and found.trifle == 1.0 < found.evpi and found.course.id == "either:ib+roce"


def test_a_lead_below_what_counts_does_not_matter_where_knowing_everything_is_worth_a_trifle() -> None:
    found = verdict(pair(5, 3))
    assert (found.confidence, found.open) == ("does not matter", True)
    assert found.lead < 10 and found.evpi < found.trifle


@pytest.mark.parametrize(
    ("lines", "quotes", "network", "found"), [(300, 10, 1_000, 15), (100, 10, 1_000, 10), (100, 1, 4_000, 20)]
)
def test_what_counts_is_the_largest_of_three_unless_the_client_states_it(
    lines: float, quotes: float, network: float, found: float
) -> None:
    between = Apart(lines, quotes, network)
    assert between.material(RULE) == found
    assert between.material(RULE, 7.0) == 7.0 and between.material(RULE, 0.0) == 0.0


CLOSE_RULE = list(csv.DictReader((ROOT / "tests/golden/close_rule.csv").read_text(encoding="utf-8").splitlines()))


def test_the_rule_says_of_28_clients_what_was_written_down_before_it_was_coded() -> None:
    """Their figures of 26 November 2026, as the bills were then."""
    base, found = verdict(pair(50, 20)), {}
    assert len(CLOSE_RULE) == 28
    for row in CLOSE_RULE:
        between = Apart(*(float(row[f"{part}_usd"]) for part in ("lines", "quotes", "network")))
        client = replace(
            base, lead=float(row["lead_usd"]), probability=float(row["probability"]), evpi=float(row["evpi_usd"]),
            materiality=between.material(RULE), trifle=RULE.trifling_share * between.network,
        )  # fmt: skip
        found[row["client"]] = str(classed(client, RULE))
    assert found == {
        row["client"]: row["expected"] if row["expected"] != "size" else found[row["client"]] for row in CLOSE_RULE
    }


@pytest.mark.parametrize(("gpus", "per_node"), [(8, 8), (4, 8), (15, 4)])
def test_below_the_size_at_which_a_fabric_matters_nothing_else_is_asked(gpus: int, per_node: int) -> None:
    found = verdict(pair(500, 1), gpus=gpus, gpus_per_node=per_node)
    assert (found.confidence, found.decided_by, found.open) == ("does not matter", "size", True)


DATED = Weighing("neither", date_stated=True)


@pytest.mark.parametrize("spread", [3, 60])
def test_a_stated_date_decides_a_close_call_where_only_one_of_the_two_meets_it(spread: float) -> None:
    late = {"roce": 0.3, "ib": 0.9}
    found = verdict(pair(5, spread), ready=late, weighing=DATED)
    assert (found.choice, found.runner_up, found.decided_by) == ("ib", "roce", "deadline")
    assert (
        found.confidence in (Confidence.DOES_NOT_MATTER, Confidence.CLOSE)
        and found.lead == pytest.approx(-5)
        and not found.open
    )
    stays = verdict(pair(5, spread), ready={"roce": 0.9, "ib": 0.3}, weighing=DATED)
    assert (stays.choice, stays.decided_by) == ("roce", "deadline")
    assert found.probability == pytest.approx(1 - stays.probability)


@pytest.mark.parametrize("ready", [{"roce": 0.9, "ib": 0.95}, {"roce": 0.0, "ib": 0.0}])
def test_a_date_that_does_not_tell_the_two_apart_decides_nothing(ready: dict[str, float]) -> None:
    assert verdict(pair(5, 60), ready=ready, weighing=DATED).decided_by == "nothing"
    assert verdict(pair(5, 60), ready={"roce": 0.1, "ib": 0.9}).decided_by == "nothing", "nobody stated the date"


def test_a_date_settles_a_close_call_only_where_one_of_the_two_meets_it() -> None:
    """The slower is behind at every date: both likely, one. A date that none meets has to move, and decides nothing."""
    dates = [{"roce": 0.8, "ib": 0.95}, {"roce": 0.5, "ib": 0.9}, {"roce": 0.3, "ib": 0.5}, {"roce": 0.01, "ib": 0.02}]
    found = [verdict(pair(5, 60), ready=ready, weighing=DATED) for ready in dates]
    assert [v.course.id for v in found] == ["either:ib+roce", "take:ib", "either:ib+roce", "either:ib+roce"]


IB, ROCE, BOTH = frozenset({"ib"}), frozenset({"roce"}), frozenset({"ib", "roce"})


@pytest.mark.parametrize("ground", [Ground.POLICY, Ground.ESTATE, Ground.ORDER, Ground.WEIGHTS])
def test_what_the_client_states_breaks_a_tie_and_overrules_no_money_that_counts(ground: Ground) -> None:
    stated = Weighing("infiniband", date_stated=False, grounds=((ground, IB),))
    tie = verdict(pair(5, 60), weighing=stated)
    assert (tie.choice, tie.decided_by, tie.agrees, tie.lead) == ("ib", ground, True, pytest.approx(-5))
    for spread in (20, 60):
        found = verdict(pair(50, spread), weighing=stated)
        assert (found.choice, found.decided_by, found.agrees) == ("roce", "money", False)


def test_the_first_ground_that_speaks_for_one_of_the_two_alone_breaks_the_tie_and_the_date_comes_first() -> None:
    grounds = ((Ground.POLICY, BOTH), (Ground.ESTATE, frozenset[str]()), (Ground.ORDER, IB), (Ground.WEIGHTS, ROCE))
    found = verdict(pair(5, 60), weighing=Weighing("neither", date_stated=False, grounds=grounds))
    assert (found.choice, found.decided_by) == ("ib", "order")
    dated = Weighing("rocev2", date_stated=True, grounds=((Ground.POLICY, ROCE),))
    found = verdict(pair(5, 60), ready={"roce": 0.3, "ib": 0.9}, weighing=dated)
    assert (found.choice, found.decided_by, found.agrees) == ("ib", "deadline", False)
    undecided = verdict(pair(5, 60), weighing=Weighing("neither", date_stated=False, grounds=grounds[:2]))
    assert (undecided.decided_by, undecided.open) == ("nothing", True)


@pytest.mark.parametrize(
    ("gap", "grounds", "choice", "by"),
    [
        (5.0, ((Ground.POLICY, frozenset({"white"})),), "white", Ground.POLICY),
        (
            5.0,
            ((Ground.WEIGHTS, frozenset({"roce", "white"})), (Ground.ORDER, frozenset({"white"}))),
            "white",
            Ground.ORDER,
        ),
        (5.0, ((Ground.POLICY, frozenset({"roce"})), (Ground.ORDER, frozenset({"white"}))), "roce", None),
        (15.0, ((Ground.POLICY, frozenset({"white"})),), "roce", None),
        (5.0, (), "roce", None),
    ],
)
def test_among_options_of_one_side_that_money_does_not_tell_apart_what_the_client_states_chooses(
    gap: float, grounds: tuple[tuple[Ground, frozenset[str]], ...], choice: str, by: Ground | None
) -> None:
    totals = {**pair(50, 20), "white": np.full(NORMAL.size, 100.0 + gap)}
    found = verdict(totals, weighing=Weighing("neither", date_stated=False, grounds=grounds))
    assert (found.choice, found.runner_up, found.preferred_by, found.decided_by) == (choice, "ib", by, "money")
    assert found.lead == pytest.approx(50 - (gap if choice == "white" else 0))


def test_an_option_that_its_own_pair_cannot_tell_apart_is_preferred_though_a_cheaper_one_is_too_far() -> None:
    totals = {**pair(50, 20), "branded": np.full(NORMAL.size, 103.0), "white": np.full(NORMAL.size, 104.0)}
    stated = Weighing("neither", date_stated=False, grounds=((Ground.POLICY, frozenset({"white", "branded"})),))
    found = decide(
        totals, {**FAMILIES, "branded": "rocev2"}, rule=RULE, ready=dict.fromkeys(totals, 1.0), weighing=stated,
        apart=lambda a, b: Apart(0.0, 1.0 if "branded" in (a, b) else 10.0, 1.0), gpus=1024, gpus_per_node=8,
    )  # fmt: skip
    assert (found.choice, found.preferred_by) == ("white", Ground.POLICY)


@pytest.mark.parametrize(
    ("gaps", "tied"),
    [
        ({"ib": 5, "white": 8}, ("roce", "ib", "white")),  # all three, the cheapest after the choice first
        ({"ib": 50, "white": 8}, ("roce", "white")),  # one of its own side alone
        ({"ib": 5, "white": 80}, ("roce", "ib")),
        ({"ib": 50, "white": 80}, ("roce",)),
    ],
)
def test_all_that_tie_with_the_choice_are_named_each_by_what_makes_that_pair_close(
    gaps: dict[str, float], tied: tuple[str, ...]
) -> None:
    totals = {"roce": 60 * NORMAL, **{o: gap + 60 * NORMAL[::-1] for o, gap in gaps.items()}}
    assert verdict(totals).tied == tied


def test_a_fact_of_the_client_s_that_breaks_a_tie_of_three_leaves_all_three_named() -> None:
    totals = {"roce": 60 * NORMAL, "ib": 5 + 60 * NORMAL[::-1], "white": 8 + 60 * NORMAL[::-1]}
    grounds = ((Ground.POLICY, frozenset({"ib"})),)
    found = verdict(totals, weighing=replace(SILENT, grounds=grounds))
    assert (found.choice, found.decided_by, found.open) == ("ib", Ground.POLICY, False)
    assert found.tied == ("ib", "roce", "white")


def test_a_clear_lead_that_misses_the_date_is_leaning_at_most() -> None:
    late = {"roce": 0.3, "ib": 0.9}
    found = verdict(pair(50, 20), ready=late, weighing=DATED)
    assert (found.choice, found.confidence, found.capped) == ("roce", "leaning", "deadline")
    assert verdict(pair(50, 20), ready=late).confidence == "clear", "nobody stated the date"
    assert verdict(pair(50, 20), ready={"roce": 0.3, "ib": 0.4}, weighing=DATED).confidence == "clear"


def test_a_cap_makes_a_clear_lead_leaning_and_opens_no_tie() -> None:
    capped = verdict(pair(50, 20)).capped_by("input")
    assert (capped.confidence, capped.capped, capped.open) == ("leaning", "input", False)
    for other in (verdict(pair(50, 60)), verdict(pair(5, 60))):
        assert other.capped_by("input") == other


def test_a_single_option_is_its_own_rival_without_a_lead() -> None:
    found = verdict({"ib": NORMAL + 100})
    assert (found.choice, found.runner_up, found.lead, found.evpi) == ("ib", "ib", 0.0, 0.0)
    assert (found.confidence, found.decided_by) == ("does not matter", "money")


def test_the_rival_is_the_best_of_another_family() -> None:
    assert rival_of(["roce", "white", "ib"], FAMILIES) == "ib"
    assert rival_of(["roce", "white"], FAMILIES) == "white"


# ---- laws


@st.composite
def bills(draw: Any) -> dict[str, dict[str, Draws]]:
    """Bills of two or three options, piece by piece, on shared draws."""
    n = draw(st.integers(2, 40))
    options = draw(st.sampled_from([["ib", "roce"], ["roce", "ib"], ["ib", "roce", "white"]]))
    names = draw(
        st.lists(st.sampled_from(["switches", "optics", "licences", "staff", "lost: tail"]), min_size=1, unique=True)
    )
    amounts = st.lists(st.floats(0, 1e6).map(round), min_size=n, max_size=n)
    return {o: {name: np.array(draw(amounts), float) for name in names} for o in options}


def judged(parts: Mapping[str, Mapping[str, Draws]], weighing: Weighing = SILENT) -> Verdict:
    def between(a: str, b: str) -> Apart:
        quoted = [name for name in {**parts[a], **parts[b]} if name.startswith(QUOTED)]
        network = max(sum(float(amount.mean()) for amount in network_pieces(parts[o]).values()) for o in (a, b))
        return Apart(lines_apart(parts[a], parts[b]), noise(parts[a], parts[b], quoted), network)

    totals = {o: np.sum(list(lines.values()), axis=0) for o, lines in parts.items()}
    return decide(
        totals, FAMILIES, rule=RULE, apart=between, ready=dict.fromkeys(totals, 1.0), weighing=weighing,
        gpus=1024, gpus_per_node=8,
    )  # fmt: skip


@settings(deadline=None)
@given(bills(), st.integers(1, 10**9), st.booleans())
def test_one_equal_cost_for_every_option_changes_no_class(
    parts: dict[str, dict[str, Draws]], cost: int, uncertain: bool
) -> None:
    n = next(iter(next(iter(parts.values())).values())).size
    line = np.round(cost * np.linspace(0.5, 1.5, n)) if uncertain else np.full(n, float(cost))
    more = {o: {**lines, "servers": line} for o, lines in parts.items()}
    one, other = judged(parts), judged(more)
    assert (one.choice, one.runner_up, one.confidence, one.decided_by) == (
        other.choice, other.runner_up, other.confidence, other.decided_by,
    )  # fmt: skip
    assert one.materiality == other.materiality and one.lead == pytest.approx(other.lead, abs=1e-3)


@settings(deadline=None)
@given(bills())
def test_the_rival_ties_exactly_where_the_call_is_close(parts: dict[str, dict[str, Draws]]) -> None:
    found = judged(parts)
    assert found.tied[0] == found.choice and len(set(found.tied)) == len(found.tied)
    assert (found.runner_up in found.tied) == (found.confidence.close or found.runner_up == found.choice)


@settings(deadline=None)
@given(bills())
def test_two_options_with_equal_bills_differ_by_nothing_and_do_not_matter(parts: dict[str, dict[str, Draws]]) -> None:
    found = judged({"ib": parts["ib"], "roce": dict(parts["ib"])})
    assert (found.lead, found.evpi, found.probability) == (0.0, 0.0, 0.5)
    assert found.confidence == "does not matter"


@settings(deadline=None)
@given(bills())
def test_swapping_two_bills_swaps_choice_and_rival_and_nothing_else(parts: dict[str, dict[str, Draws]]) -> None:
    one = judged({"ib": parts["ib"], "roce": parts["roce"]})
    other = judged({"ib": parts["roce"], "roce": parts["ib"]})
    assert (one.lead, one.evpi, one.materiality) == (other.lead, other.evpi, other.materiality)
    assert (one.confidence, one.decided_by) == (other.confidence, other.decided_by)
    if one.lead:
        assert one.probability == other.probability
        assert (one.choice, one.runner_up) == (other.runner_up, other.choice)


@settings(deadline=None)
@given(bills(), st.floats(1e-3, 1e3))
def test_another_currency_changes_no_class(parts: dict[str, dict[str, Draws]], rate: float) -> None:
    one = judged(parts)
    other = judged({o: {n: line * rate for n, line in lines.items()} for o, lines in parts.items()})
    if abs(one.lead - one.materiality) > 1e-6 * one.materiality and abs(one.evpi - one.trifle) > 1e-6 * one.trifle:
        assert (one.choice, one.confidence) == (other.choice, other.confidence)
    assert other.lead == pytest.approx(one.lead * rate, rel=1e-6, abs=1e-6)


def test_a_tie_is_half_a_win() -> None:
    assert probability_cheaper(np.array([-1.0, 0.0, 0.0, 1.0])) == 0.5
    assert probability_cheaper(np.array([0.0, 0.0, 1.0, 1.0])) == 0.75


def test_lines_count_by_what_they_differ_and_only_quoted_ones_are_noise() -> None:
    ib = {"servers": 1e6 + NORMAL, "switches": 100.0 + 3 * NORMAL, "lost: tail": 50.0 * np.ones(NORMAL.size)}
    roce = {"servers": 1e6 + NORMAL, "switches": 60.0 + 0 * NORMAL, "licences": 40.0 + 0 * NORMAL}
    assert lines_apart(ib, roce) == pytest.approx((100 - 60) + 40 + 50)
    assert noise(ib, roce, ["switches", "licences"]) == pytest.approx(3.0, rel=1e-2)
    assert noise_apart({"rent": 30.0}, {"rent": 40.0}, "rent", 0.1) == pytest.approx(5.0)


# ---- the same on whole cases


TWIN = "- {id: twin, name: Twin fabric, like: infiniband-ndr}\n"


def buyer(**more: Any) -> dict[str, Any]:
    return {
        "client": {"name": "Small"},
        "as_of": "2026-11-20",
        "cluster": {"gpus": 64},
        "workload": {"kind": "fine-tuning", "model_parameters_billion": 8, "run_days": 5},
        "organisation": {"networking_maturity": "medium"},
        "money": {"acquisition": "buy", "gpu_hour_value": 3.0},
        "options": ["infiniband-ndr", "rocev2-branded-400g"],
        **more,
    }


def opened(folder: Path, data: dict[str, Any], options: str = "") -> Case:
    (folder / "options").mkdir(parents=True)
    (folder / "options" / "own.yaml").write_text(options or "[]\n", encoding="utf-8")
    (folder / "prices").symlink_to(PARAMS / "prices")
    (folder / "small.yaml").write_text(yaml.safe_dump(data), encoding="utf-8")
    return open_case(folder / "small.yaml")


def test_two_options_with_equal_inputs_differ_by_exactly_zero_in_every_draw(tmp_path: Path) -> None:
    case = opened(tmp_path, buyer(options=["infiniband-ndr", "twin"]), TWIN)
    gap = case.chain.bills.gap("infiniband-ndr", "twin")
    assert gap.size == 4096 and not np.any(plain(gap)) and not gap.inputs
    found = case.comparison.verdict
    assert (found.confidence, found.lead, found.evpi, found.probability) == ("does not matter", 0.0, 0.0, 0.5)
    assert not np.any(plain(case.comparison.lead))


def test_swapping_the_inputs_of_two_fabrics_mirrors_the_difference_exactly(tmp_path: Path) -> None:
    """Two options of one family, each once with the one switch and its terms and once with the other."""
    own = """
- {{id: mine, name: Mine, like: rocev2-branded-400g, support: "{0}", pieces: {{switch: {{price: "{1}", watts: "{2}"}}}}}}
- {{id: yours, name: Yours, like: rocev2-branded-400g, support: "{3}", pieces: {{switch: {{price: "{4}", watts: "{5}"}}}}}}
"""
    dear = ("evidence:support-rate-nvidia-networking", "price:switch-sn5610", "evidence:switch-sn5600-watts")
    cheap = ("evidence:support-rate-whitebox", "price:switch-qm9700", "evidence:switch-qm9700-watts")
    data = buyer(options=["mine", "yours"])
    one = opened(tmp_path / "one", data, own.format(*dear, *cheap))
    other = opened(tmp_path / "other", data, own.format(*cheap, *dear))
    first, second = (plain(c.chain.bills.gap("mine", "yours")) for c in (one, other))
    assert np.array_equal(first, -second) and np.any(first)
    assert (one.comparison.choice, one.comparison.rival) == (other.comparison.rival, other.comparison.choice)
    a, b = one.comparison.verdict, other.comparison.verdict
    assert (a.lead, a.evpi, a.materiality, a.probability, a.confidence) == (
        b.lead, b.evpi, b.materiality, b.probability, b.confidence,
    )  # fmt: skip


def test_what_counts_follows_the_printed_lines_in_the_memos_currency() -> None:
    case = open_case(buyer())
    bills, found = case.chain.bills, case.comparison.verdict
    a, b = found.choice, found.runner_up
    gaps = [abs(float(plain(gap).mean())) for gap in bills.gap_by_cause(a, b).values()]
    between = apart(bills, a, b)
    assert between.lines == pytest.approx(sum(gaps)) and found.materiality == between.material(case.comparison.rule) > 0
    assert case.changed(money__materiality_usd=12_345.0).comparison.verdict.materiality == 12_345.0
    euros = case.changed(money__materiality_usd=12_345.0, money__currency="EUR").comparison.verdict.materiality
    rate = float(np.mean(plain(case.changed(money__currency="EUR").inputs.rate("USD"))))
    assert euros == pytest.approx(12_345.0 * rate)


def test_the_chance_to_be_ready_counts_draws_within_the_weeks_allowed() -> None:
    case = open_case(buyer())
    weeks = {o: plain(own.production_weeks) for o, own in case.chain.bills.own.items()}
    for allowed in (1.0, 20.0, 200.0):
        found = ready(case.chain.bills, allowed)
        assert found == {o: float(np.mean(w <= allowed)) for o, w in weeks.items()}
    assert set(ready(case.chain.bills, 1e6).values()) == {1.0}
