"""Cooke's classical model by hand, and the laws of a pool."""

from __future__ import annotations

import math
from datetime import date
from pathlib import Path

import numpy as np
import pytest
from elicited_cases import answers_text, write_two
from hypothesis import given
from hypothesis import strategies as st
from rows import rows

from fabricreport.base.bounds import bound_of
from fabricreport.base.errors import InputError
from fabricreport.base.locations import Located
from fabricreport.base.uncertain import Judgement, Scaled, Uncertain
from fabricreport.books.elicitation import Questionnaire, form, read_expert, read_questionnaire
from fabricreport.books.evidence import read_evidence
from fabricreport.books.reader import checked
from fabricreport.inputs.replacements import read_elicited
from fabricreport.models.draws import Sampler
from fabricreport.models.judgement.elicitation import BINS, calibration, information, multiple, pool, said_range, scores

WIDE = Judgement(1.0, 10.0, 100.0)
QUANTILES = (0.05, 0.5, 0.95)


def chi_square_3_above(x: float) -> float:
    """The share of a χ² with three degrees of freedom above x, in closed form."""
    return math.erfc(math.sqrt(x / 2)) + math.sqrt(2 * x / math.pi) * math.exp(-x / 2)


def test_a_calibration_score_worked_by_hand() -> None:
    # three seeds, one below the median and two above: s = 0, 1/3, 2/3, 0
    divergence = 1 / 3 * math.log((1 / 3) / 0.45) + 2 / 3 * math.log((2 / 3) / 0.45)
    assert divergence == pytest.approx(0.16199, abs=1e-5)
    assert calibration([1, 2, 2]) == pytest.approx(chi_square_3_above(6 * divergence))
    assert calibration([1, 2, 2]) == pytest.approx(0.808, abs=5e-4)
    assert calibration([0, 1, 2]) == pytest.approx(0.459, abs=5e-4), "one surprise of three is no proof of anything"
    assert calibration([3, 3, 3]) == pytest.approx(0.00045, abs=1e-5), "three on one side are"


def test_twenty_truths_in_the_shares_stated_score_one() -> None:
    bins = [0] * 1 + [1] * 9 + [2] * 9 + [3] * 1
    assert calibration(bins) == pytest.approx(1.0)


def test_information_worked_by_hand() -> None:
    # log10: from -0.2 to 2.2; the bins take 0.2, 1, 1, 0.2 of 2.4
    low, high = said_range([WIDE])
    assert (math.log10(low), math.log10(high)) == (pytest.approx(-0.2), pytest.approx(2.2))
    by_hand = 2 * 0.05 * math.log(0.05 / (0.2 / 2.4)) + 2 * 0.45 * math.log(0.45 / (1 / 2.4))
    assert information(WIDE, low, high) == pytest.approx(by_hand)
    assert information(Judgement(9, 10, 11), low, high) > information(WIDE, low, high)


def test_a_truth_on_a_quantile_is_below_it_and_no_surprise_at_p95() -> None:
    assert [WIDE.bin_of(x) for x in (0.9, 1.0, 1.1, 10.0, 100.0, 101.0)] == [0, 0, 1, 1, 2, 3]
    assert not WIDE.surprised_by(100.0) and WIDE.surprised_by(101.0)


def test_one_expert_gets_back_what_he_said() -> None:
    (score,) = scores([[WIDE, WIDE, WIDE]], [5.0, 20.0, 50.0])
    assert score.weight == 1.0 and (score.seeds, score.surprises) == (3, 0)
    alone = pool([Judgement(2, 4, 9)], [score.weight])
    assert (alone.low, alone.mode, alone.high) == pytest.approx((2, 4, 9))


def test_two_who_say_the_same_are_as_one() -> None:
    seeds, truths = [WIDE, Judgement(3, 4, 5), WIDE], [5.0, 20.0, 50.0]
    first, second = scores([seeds, seeds], truths)
    assert first == second and first.weight == 0.5
    said = Judgement(2, 4, 9)
    both, alone = pool([said, said], [0.5, 0.5]), pool([said], [1.0])
    assert np.allclose(both.steps, alone.steps)


def test_who_knows_his_limits_outweighs_who_is_too_sure() -> None:
    truths = [3.0, 40.0, 8.0, 15.0, 60.0, 2.0, 12.0, 9.0]
    sure = [Judgement(t * 1.5, t * 1.7, t * 2.0) for t in truths]
    calibrated, confident = scores([[WIDE] * 8, sure], truths)
    assert confident.surprises == 8 and confident.information > calibrated.information
    assert calibrated.weight > 0.999 > 1e-9 > 0 and confident.weight > 0, "nobody's weight is nothing"


def test_with_three_seeds_one_surprise_moves_weights_little() -> None:
    truths = [5.0, 20.0, 200.0]
    clean, surprised = scores([[WIDE, WIDE, Judgement(2, 20, 400)], [WIDE] * 3], truths)
    assert (clean.surprises, surprised.surprises) == (0, 1)
    assert 0.2 < surprised.weight < clean.weight < 0.8


def test_seeds_that_an_expert_knew_do_not_count_and_the_fewest_set_the_power() -> None:
    truths = [5.0, 20.0, 50.0, 7.0]
    few, many = scores([[WIDE, None, WIDE, WIDE], [WIDE] * 4], truths)
    assert (few.seeds, many.seeds) == (3, 4)
    assert many.calibration == calibration([1, 2, 2, 1], 3)
    with pytest.raises(ValueError, match="at least one seed"):
        scores([[None, None, None, None]], truths)


def test_a_multiple_of_lognormals_comes_out_as_theirs() -> None:
    base, ratio = pool([Judgement(2, 4, 8)], [1]), pool([Judgement(0.5, 1, 2)], [1])
    found = Uncertain.pooled(multiple(base, ratio))
    rng = np.random.default_rng(1)
    drawn = base.quantile(rng.random(200_000)) * ratio.quantile(rng.random(200_000))
    assert found.quantile(QUANTILES) == pytest.approx(np.quantile(drawn, QUANTILES), rel=0.01)
    assert found.mode == pytest.approx(4.0, rel=1e-3)


def test_draws_of_a_multiple_follow_the_draws_of_its_base() -> None:
    base, ratio = pool([Judgement(2, 4, 8)], [1]), pool([Judgement(1.19, 1.2, 1.21)], [1])
    scaled = Uncertain.pooled(multiple(base, ratio), Scaled("evidence:base", base, ratio))
    sampler = Sampler(7, 512, 0.6)
    below, above = sampler.draws(base, "evidence:base", "g"), sampler.draws(scaled, "evidence:other", "g")
    assert np.all(above > 1.15 * below) and np.all(above < 1.25 * below)
    twice = scaled.times(2.0)
    assert np.allclose(sampler.draws(twice, "evidence:other", "g"), 2 * above)


judgements = st.lists(st.floats(0.01, 1000), min_size=3, max_size=3, unique=True).map(sorted).filter(
    lambda q: q[1] > 1.001 * q[0] and q[2] > 1.001 * q[1]
).map(lambda q: Judgement(*q))  # fmt: skip
experts = st.lists(st.tuples(judgements, st.lists(judgements, min_size=4, max_size=4)), min_size=1, max_size=5)
truths = st.lists(st.floats(0.01, 1000), min_size=4, max_size=4)


@given(experts, truths)
def test_weights_are_shares_of_one_whatever_the_order(
    found: list[tuple[Judgement, list[Judgement]]], truth: list[float]
) -> None:
    made = scores([seeds for _, seeds in found], truth)
    assert sum(s.weight for s in made) == pytest.approx(1.0)
    assert all(0 <= s.calibration <= 1 + 1e-12 and s.information >= -1e-12 and s.weight >= 0 for s in made)
    turned = scores([seeds for _, seeds in reversed(found)], truth)
    assert [s.weight for s in reversed(turned)] == pytest.approx([s.weight for s in made])


@given(experts, truths)
def test_a_pool_lies_within_what_was_said_and_in_any_order(
    found: list[tuple[Judgement, list[Judgement]]], truth: list[float]
) -> None:
    weights = [s.weight for s in scores([seeds for _, seeds in found], truth)]
    said = [j for j, _ in found]
    pooled = pool(said, weights)
    for n, quantile in enumerate((pooled.low, pooled.mode, pooled.high)):
        each = [j.quantiles[n] for j in said]
        assert min(each) * (1 - 1e-9) <= quantile <= max(each) * (1 + 1e-9)
    low, high = said_range(said)
    assert pooled.quantile([0.0, 1.0]) == pytest.approx([low, high])
    turned = pool(said[::-1], weights[::-1])
    assert turned.quantile(QUANTILES) == pytest.approx(pooled.quantile(QUANTILES))
    assert sum(BINS) == pytest.approx(1.0)


SOUND = answers_text("C. Careful", 4.0, "p5: 2, p50: 4, p95: 10", "p5: 0.9, p50: 1.1, p95: 1.6", known=1)
DAY = date(2026, 11, 20)


def faults(tmp_path: Path, text: str) -> list[str]:
    path = tmp_path / "a.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_expert(path, as_of=DAY)
    assert all(p.file == str(path) and p.line for p in caught.value.problems), "each fault has its file and line"
    return [str(p) for p in caught.value.problems]


@rows(
    ("old", "new", "told"),
    [
        ("p5: 2, p50: 4, p95: 10", "p5: 4, p50: 2, p95: 10", "answers[0]: p5, p50 and p95 must rise"),
        ("p5: 2, p50: 4, p95: 10", "p5: 4, p50: 4, p95: 10", "must rise"),
        ("p5: 2, p50: 4, p95: 10", "p5: 0, p50: 4, p95: 10", "answers[0].p5: must be above 0"),
        ("p5: 2, p50: 4, p95: 10", "p5: -1, p50: 4, p95: 10", "must be above 0"),
        ("p5: 2, p50: 4, p95: 10", "p5: .nan, p50: 4, p95: 10", "infinite and undefined numbers"),
        ("p5: 2, p50: 4, p95: 10", "p5: 2, p50: 4, p95: 1e9", "answers[0].p95: must be at most 5,218"),
        ("p5: 2, p50: 4, p95: 10", "p5: two, p50: 4, p95: 10", "must be a number"),
        ("p5: 2, p50: 4, p95: 10", "p5: true, p50: 4, p95: 10", "must be a number"),
        ("p5: 2, p50: 4, p95: 10", "p5: 2, p95: 10", "answers[0].p50: is missing. Add it. It is as likely too high as too low."),
        ("p5: 2, p50: 4, p95: 10", "known: true", "answers[0].known: is not a known key. Known here: question, p5"),
        ("known: true", "known: false", "seeds[0].known: may only be true"),
        ("known: true", "known: true, p5: 3", "seeds[0].p5: stands beside `known: true`"),
        ("known: true", "p5: 3, p95: 4", "p50: is missing. Add it, or write `known: true`"),
        ("question: weeks-infiniband", "question: weeks-infinibad", "Did you mean 'weeks-infiniband'?"),
        ("question: rocev2-over-infiniband", "question: weeks-infiniband", "answered twice, first on line"),
        ("date: 2026-11-02", "date: 2026-11-21", "date: is after the memo's date, 2026-11-20"),
        ("date: 2026-11-02", "date: 2026-02-30", "must be a date of the calendar"),
        ("expert: C. Careful", "expert: ''", "is empty"),
        ("expert: C. Careful", 'expert: "C.\\u202e Careful"', "bidirectional control"),
        ("expert: C. Careful", f"expert: {'x' * 200}", "at most 120"),
        ("expert: C. Careful", "expert: 7", "must be text"),
        ("role: builds", "rôle: builds", "rôle: is not a known key. Did you mean 'role'?"),
        ("seeds:\n", "seeds: none\nother:\n", "must be a list"),
    ],
)  # fmt: skip
def test_a_fault_is_told_with_its_place(tmp_path: Path, old: str, new: str, told: str) -> None:
    assert old in SOUND
    assert any(told in fault for fault in faults(tmp_path, SOUND.replace(old, new, 1))), told


def test_a_seed_that_is_missing_or_too_few_that_count_are_refused(tmp_path: Path) -> None:
    lines = SOUND.splitlines(keepends=True)
    without = "".join(line for line in lines if "question: interruptions-of-a-run" not in line)
    (fault,) = faults(tmp_path, without)
    assert "seeds: lacks a seed question (found interruptions-of-a-run)" in fault
    known = len(read_questionnaire().seeds) - 2
    (fault,) = faults(tmp_path, answers_text("K. Knows", 3.0, "p5: 2, p50: 4, p95: 10", "", known=known))
    assert "at least 3 seeds must be answered without knowing the answer" in fault
    (fault,) = faults(tmp_path, SOUND.partition("answers:")[0] + "answers: []\n")
    assert "answers no question" in fault


def test_every_fault_of_a_file_is_told_at_once(tmp_path: Path) -> None:
    spoilt = SOUND.replace("2026-11-02", "soon").replace("p5: 2,", "p5: 20,").replace("expert: C. Careful\n", "")
    assert len(faults(tmp_path, spoilt)) == 3


def test_the_form_asks_everything_shows_no_answer_and_is_refused_as_it_is(tmp_path: Path) -> None:
    asked = read_questionnaire()
    text = form("elicited/form.yaml")
    assert all(f"question: {q}" in text for q in (*asked.seeds, *asked.questions))
    plain = " ".join(text.replace("#", "").split())
    assert all(seed.ask in plain and seed.source not in text for seed in asked.seeds.values())
    told = faults(tmp_path, text)
    assert len(told) == 3 + 3 * (len(asked.seeds) + len(asked.questions)), "each empty line is named"


def test_a_filled_form_reads_as_what_filled_it(tmp_path: Path) -> None:
    names = write_two(tmp_path)
    for name in names:
        found = read_expert(tmp_path / name, as_of=DAY)
        (tmp_path / "again.yaml").write_text(form(name, found), encoding="utf-8")
        assert read_expert(tmp_path / "again.yaml", as_of=DAY) == found


def test_one_person_twice_and_a_multiple_of_nothing_are_refused(tmp_path: Path) -> None:
    names = write_two(tmp_path)
    (tmp_path / "twice.yaml").write_text(SOUND.replace("C. Careful", "c.  careful"), encoding="utf-8")
    with pytest.raises(InputError, match=r"has answered in .*careful\.yaml too"):
        read_elicited(tmp_path, [*names, "twice.yaml"], DAY)
    alone = "".join(line for line in SOUND.splitlines(keepends=True) if "question: weeks-infiniband" not in line)
    (tmp_path / "alone.yaml").write_text(alone, encoding="utf-8")
    with pytest.raises(InputError, match="is a multiple of weeks-infiniband, which nobody has answered"):
        read_elicited(tmp_path, ["alone.yaml"], DAY)
    with pytest.raises(InputError, match="does not exist"):
        read_elicited(tmp_path, ["nobody.yaml"], DAY)


def test_who_is_better_calibrated_moves_the_pool_more(tmp_path: Path) -> None:
    found = read_elicited(tmp_path, write_two(tmp_path), DAY)
    careful, sure = found.scores
    assert careful.weight > 0.9 and (sure.seeds, sure.surprises) == (7, 7)
    weeks, equal = found.pooled["weeks-infiniband"], found.equal["weeks-infiniband"]
    assert (weeks.low, weeks.mode, weeks.high) == pytest.approx((2, 4, 10), rel=0.01)
    assert equal.mode < 2.1, "with equal weights the other pulls the median down"


def test_one_expert_is_taken_at_his_word_and_a_multiple_follows(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(SOUND, encoding="utf-8")
    found = read_elicited(tmp_path, ["a.yaml"], DAY)
    figures = found.figures()
    infiniband, rocev2 = (figures[f"weeks-to-stable-{f}"] for f in ("infiniband", "rocev2"))
    assert (infiniband.low, infiniband.mode, infiniband.high) == pytest.approx((2, 4, 10))
    assert rocev2.scaled is not None and rocev2.scaled.stream == "evidence:weeks-to-stable-infiniband"
    assert 1.05 < rocev2.mode / infiniband.mode < 1.25
    (replaced,) = {r for i, (_, r) in found.replaced(read_evidence()).items() if i.endswith("rocev2") and r}
    assert (replaced.who, replaced.why, replaced.grade) == ("C. Careful", "elicited by 2026-11-02", "estimate")


def test_a_multiple_of_what_is_no_quantity_of_its_own_is_refused() -> None:
    row = {"short": "a", "ask": "b", "unit": "x"}
    asked = [{"id": "a", **row, "times": "b"}, {"id": "b", **row, "times": "c"}, {"id": "c", **row}]
    with pytest.raises(InputError) as told:
        checked(Located({"questions": asked, "seeds": [], "least_seeds": 3}, "e.yaml", {(): 1}), Questionnaire)
    assert [(p.key, p.value) for p in told.value.problems] == [("questions[0].times", "b")]


def test_the_questions_fit_the_library() -> None:
    asked, library = read_questionnaire(), read_evidence()
    assert len(asked.seeds) >= 3 and asked.least_seeds == 3
    replaced = [entry for q in asked.questions.values() for entry in q.replaces]
    assert len(set(replaced)) == len(replaced) and all(entry in library for entry in replaced)
    for question in asked.questions.values():
        assert question.times or all(library[e].unit == question.unit for e in question.replaces)
        assert {library[e].grade for e in question.replaces} == {"assumption"}, (
            "only what nobody has published is asked"
        )
    for seed in asked.seeds.values():
        assert seed.source and seed.publisher and seed.date and seed.grade in ("measured", "published", "secondary")
        assert seed.answer > 0 and not bound_of(seed.unit).fault(seed.answer)
        if seed.entry:
            entry = library[seed.entry]
            assert entry.figure.kind == "number" and entry.unit in (seed.unit, "1/link-month")
    answers = {seed.answer for seed in asked.seeds.values()}
    assert {3.5, 19, 0.1, 419, 35, 7.9, 0.00057, 10} == answers, "as their sources state them"
