"""An expert's file is read strictly: each fault with file, line, key and remedy; what is read is what was written."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from elicited_cases import answers_text, write_two

from fabricreport.books.elicitation import read_questionnaire
from fabricreport.books.evidence import read_evidence
from fabricreport.books.expert_answers import form, read_expert
from fabricreport.bounds import bound_of
from fabricreport.elicited import read_elicited
from fabricreport.errors import InputError

SOUND = answers_text("C. Careful", 4.0, "p5: 2, p50: 4, p95: 10", "p5: 0.9, p50: 1.1, p95: 1.6")
DAY = date(2026, 11, 20)


def faults(tmp_path: Path, text: str) -> list[str]:
    path = tmp_path / "a.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_expert(path, as_of=DAY)
    assert all(p.file == str(path) and p.line for p in caught.value.problems), "each fault has its file and line"
    return [str(p) for p in caught.value.problems]


@pytest.mark.parametrize(
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
        ("p5: 2, p50: 4, p95: 10", "p5: 2, p95: 10", "has no `p50`"),
        ("p5: 2, p50: 4, p95: 10", "known: true", "is no key here"),
        ("question: weeks-infiniband", "question: weeks-infinibad", "Did you mean 'weeks-infiniband'?"),
        ("question: rocev2-over-infiniband", "question: weeks-infiniband", "answered twice, first on line"),
        ("date: 2026-11-02", "date: 2026-11-21", "date: is after the memo's date, 2026-11-20"),
        ("date: 2026-11-02", "date: 2026-02-30", "is not a day"),
        ("expert: C. Careful", "expert: ''", "is empty"),
        ("expert: C. Careful", 'expert: "C.\\u202e Careful"', "bidirectional control"),
        ("expert: C. Careful", f"expert: {'x' * 200}", "at most 120"),
        ("expert: C. Careful", "expert: 7", "must be text"),
        ("role: builds", "rôle: builds", "is no key here"),
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
