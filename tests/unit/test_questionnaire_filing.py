"""Filing answers: where they are put, how the params come to name them, and that nothing else changes."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from unicodedata import normalize

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from questionnaire_cases import ANSWERS, HEAD, SELLER, client, filled
from rows import rows

from fabricreport.base.errors import InputError
from fabricreport.books.answers import Answer, AnswerFile, Log, bound_of_answer, read_answers
from fabricreport.books.sellers import Proof, Question, read_questions
from fabricreport.check.check import check
from fabricreport.desk.answers import Filed, as_filed, file_answers, said
from fabricreport.scenario import load_params_file

pytestmark = pytest.mark.slow
FILE = "northmere-ai/providers/example-cloud.yaml"
YAML = """provider: {name}
date: 2026-11-02
answered_by: A. Seller
answers:
  - {{question: Q-COM-05, answer: {answer}}}
"""


def typed(folder: Path, name: str = SELLER, answer: str = "Never.", file: str = "form.yaml") -> Path:
    path = folder / file
    path.write_text(YAML.format(name=json.dumps(name, ensure_ascii=False), answer=json.dumps(answer)), encoding="utf-8")
    return path


def file(folder: Path, providers: str, name: str = SELLER) -> tuple[Filed, str, str]:
    """File one answer for a client with these providers: what was done, and the params before and after."""
    params = client(folder, providers)
    before = params.read_bytes().decode()
    return file_answers(typed(folder, name), params), before, params.read_bytes().decode()


LISTED = {
    "in braces": ("providers:                       # hosts\n  - {name: CoreWeave}\n  - {name: Example Cloud}   # asked\n",
                  ", answers: " + FILE),
    "on lines": ("providers:\n  - name: Example Cloud   # asked\n  # and one more\n  - name: CoreWeave\n",
                 "\n    answers: " + FILE),
    "without an indent": ("providers:\n- name: Example Cloud\n\n# what follows\n", "\n  answers: " + FILE),
    "in brackets": ("providers: [{name: CoreWeave}, {name: Example Cloud}]  # all\n", ", answers: " + FILE),
    "over several lines": ("providers: [\n  {name: Example Cloud,  # first\n  },\n  {name: CoreWeave} ]\n", ", answers: " + FILE),
    "in another case": ("providers:\n  - {name: 'EXAMPLE  cloud'}\n", ", answers: " + FILE),
    "last in the file": ("providers:\n  - name: CoreWeave\n  - name: Example Cloud\n", "\n    answers: " + FILE),
}  # fmt: skip
ADDED = f'{{name: "Example Cloud", answers: {FILE}}}'
UNLISTED = {
    "to a list": ("providers:\n  - {name: CoreWeave}   # hosts\n  # that is all\n", f"\n  - {ADDED}"),
    "to brackets": ("providers: [{name: CoreWeave}]\n", f", {ADDED}"),
    "to an empty list": ("providers: []   # none yet\n", ADDED),
    "to none": ("# no providers yet\n", f"\nproviders: [{ADDED}]"),
    "to lines": ("providers:\n  - name: CoreWeave   # hosts\n", f"\n  - {ADDED}"),
}


@rows("layout", [*LISTED, *UNLISTED])
def test_the_params_come_to_name_the_file_by_one_insertion_that_keeps_every_comment(
    tmp_path: Path, layout: str
) -> None:
    providers, inserted = (LISTED | UNLISTED)[layout]
    filed, before, after = file(tmp_path, providers)
    assert filed.named and after.count(inserted) == 1 and after.replace(inserted, "", 1) == before
    loaded = load_params_file(tmp_path / "client.yaml").params
    assert {p.answers for p in loaded.providers if p.name.casefold().split() == ["example", "cloud"]} == {FILE}
    assert any("was not among the providers" in note for note in filed.notes) == (layout in UNLISTED)


def test_a_file_named_before_is_replaced_by_the_new_one(tmp_path: Path) -> None:
    (tmp_path / "old.yaml").write_text("x", encoding="utf-8")
    line = "providers:\n  - {name: Example Cloud, answers: old.yaml}  # asked\n"
    filed, before, after = file(tmp_path, line)
    assert filed.named and after == before.replace("old.yaml", FILE)


def test_line_ends_and_a_byte_order_mark_stay_as_they_are(tmp_path: Path) -> None:
    params = client(tmp_path)
    text = "\ufeff" + params.read_text("utf-8").replace("\n", "\r\n")
    params.write_bytes(text.encode())
    assert file_answers(typed(tmp_path), params).named
    after = params.read_bytes().decode()
    assert after.replace(", answers: " + FILE, "") == text


def test_params_in_json_are_edited_as_json(tmp_path: Path) -> None:
    params = client(tmp_path)
    data = load_params_file(params).located.data
    canonical = tmp_path / "client.json"
    canonical.write_text(json.dumps(data, indent=1), encoding="utf-8")
    assert file_answers(typed(tmp_path), canonical).named
    assert json.loads(canonical.read_text("utf-8"))["providers"][1] == {"name": SELLER, "answers": FILE}


def test_params_that_cannot_be_edited_safely_are_left_and_the_line_is_told(tmp_path: Path) -> None:
    filed, before, after = file(tmp_path, "providers:\n  - name: |\n      Example Cloud\n")
    assert not filed.named and before == after and filed.file in filed.changed
    number = 1 + before[: before.index("- name: |")].count("\n")
    assert filed.line == f"line {number}, beside the name of Example Cloud:  answers: {FILE}"


def test_the_same_answers_twice_change_nothing(tmp_path: Path) -> None:
    params, form = client(tmp_path), filled(tmp_path / "form.xlsx")
    first = file_answers(form, params)
    stamps = {path: path.stat().st_mtime_ns for path in (Path(first.file), params)}
    again = file_answers(form, params)
    assert len(first.changed) == 2 and again.changed == () and again.named
    assert stamps == {path: path.stat().st_mtime_ns for path in stamps}
    in_place = file_answers(Path(first.file), params)
    assert in_place.changed == () and in_place.questions == first.questions


def test_the_last_good_file_stays_where_new_answers_are_at_fault(tmp_path: Path) -> None:
    params = client(tmp_path)
    good = Path(file_answers(filled(tmp_path / "form.xlsx"), params).file)
    kept = good.read_bytes(), params.read_bytes()
    wrong = filled(tmp_path / "wrong.xlsx", {**ANSWERS, "Q-COM-05": {"answer": "x", "value": 3}})
    with pytest.raises(InputError):
        file_answers(wrong, params)
    assert (good.read_bytes(), params.read_bytes()) == kept and [p.name for p in good.parent.iterdir()] == [good.name]


def test_new_answers_take_the_place_of_old_ones(tmp_path: Path) -> None:
    params = client(tmp_path)
    file_answers(filled(tmp_path / "form.xlsx"), params)
    filed = file_answers(typed(tmp_path, answer="Any day."), params)
    assert filed.changed == (str(tmp_path / FILE),)
    assert list(read_answers(tmp_path / FILE, provider=SELLER).answers) == ["Q-COM-05"]


def test_two_sellers_whose_names_fold_to_one_file_have_a_file_each(tmp_path: Path) -> None:
    params = client(tmp_path)
    names = (SELLER, "Example (Cloud)", "example+cloud", "北京", "上海")
    files = [file_answers(typed(tmp_path, name), params).file for name in names]
    assert len(set(files)) == len(names) and {Path(f).parent for f in files} == {(tmp_path / FILE).parent}
    for name, at in zip(names, files, strict=True):
        assert read_answers(Path(at), provider=name).provider == name
    assert [file_answers(typed(tmp_path, name), params).file for name in names] == files


def test_answers_for_one_client_do_not_replace_those_of_another_in_the_same_folder(tmp_path: Path) -> None:
    ours = client(tmp_path)
    text = ours.read_text("utf-8").replace("slug: northmere-ai", "slug: second")
    other = tmp_path / "second.yaml"
    other.write_text(text, encoding="utf-8")
    first = file_answers(typed(tmp_path, answer="Ten days."), ours)
    second = file_answers(typed(tmp_path, answer="Never."), other)
    assert (first.file, second.file) == (str(tmp_path / FILE), str(tmp_path / "second/providers/example-cloud.yaml"))
    assert load_params_file(ours).params.providers[1].answers == FILE


def test_a_file_that_other_params_of_the_client_name_too_is_told_of(tmp_path: Path) -> None:
    ours = client(tmp_path)
    file_answers(typed(tmp_path), ours)
    (tmp_path / "second.yaml").write_bytes(ours.read_bytes())
    filed = file_answers(typed(tmp_path, answer="Never ever."), ours)
    assert filed.notes == (f"{FILE} is named by second.yaml too",) and filed.changed == (str(tmp_path / FILE),)


@rows("link", ["northmere-ai", "northmere-ai/providers"])
def test_a_folder_that_is_a_link_is_refused(tmp_path: Path, link: str) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / link).parent.mkdir(exist_ok=True)
    (tmp_path / link).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputError, match="symbolic link"):
        file_answers(typed(tmp_path), client(tmp_path))


def test_a_nearly_listed_name_is_added_and_the_near_one_told(tmp_path: Path) -> None:
    filed, _, _ = file(tmp_path, "providers:\n  - {name: CoreWeave}\n", name="CoreWaeve")
    assert filed.notes == ("CoreWaeve was not among the providers; did you mean CoreWeave?",)


# ---- what is filed is read as it was given

clean = st.characters(exclude_categories=("Cs", "Cc", "Cf", "Co", "Cn", "Mn", "Me", "Zl", "Zp"))
lines = st.text(clean, max_size=40).map(partial(normalize, "NFC"))
words = lines.map(str.strip).filter(bool)
figures = st.floats(0.001, 0.9, allow_nan=False)
logs = st.builds(Log, st.integers(2, 4096), figures, figures, st.none() | figures)


@st.composite
def answers(draw: st.DrawFn, question: Question) -> Answer:
    ends: tuple[float, ...] | None = None
    if question.unit and draw(st.booleans()):
        bound = bound_of_answer(question.id, question.unit)
        ends = tuple(sorted(draw(st.floats(bound.low, bound.high)) for _ in range(2)))
    return Answer(
        question.id, draw(lines), question.unit if ends else "", ends, draw(st.just("") | words), draw(st.none() | logs),
        draw(st.sampled_from(("", *question.choices))), draw(st.none() | st.sampled_from(Proof)),
    )  # fmt: skip


@st.composite
def files(draw: st.DrawFn) -> AnswerFile:
    chosen = draw(st.lists(st.sampled_from(read_questions()), min_size=1, max_size=4, unique_by=lambda q: q.id))
    given_ = {q.id: draw(answers(q)) for q in chosen}
    return AnswerFile(draw(words), "2026-11-02", draw(words), given_, "", draw(st.just("") | words))


@settings(deadline=None, max_examples=80)
@given(files())
def test_answers_are_read_from_their_file_as_they_were_given(found: AnswerFile) -> None:
    kept = {question: answer for question, answer in found.answers.items() if said(answer)}
    if not kept:
        return
    with TemporaryDirectory() as scratch:
        path = Path(scratch) / "answers.yaml"
        path.write_text(as_filed(found), encoding="utf-8")
        again = read_answers(path, provider=found.provider)
    assert as_filed(again) == as_filed(found)
    assert {q: {**vars(a), "line": 0} for q, a in again.answers.items()} == {q: vars(a) for q, a in kept.items()}
    assert (again.provider, again.answered_by, again.fabric) == (found.provider, found.answered_by, found.fabric)


def test_the_head_of_the_form_is_what_is_filed(tmp_path: Path) -> None:
    file_answers(filled(tmp_path / "form.xlsx"), client(tmp_path))
    found = read_answers(tmp_path / FILE, provider=SELLER)
    assert (found.date, found.answered_by, found.fabric) == (HEAD["date"], HEAD["answered_by"], HEAD["fabric"])


def test_a_fabric_that_nobody_knows_is_refused_by_check_as_well(tmp_path: Path) -> None:
    params = client(tmp_path)
    at = Path(file_answers(filled(tmp_path / "form.xlsx"), params).file)
    at.write_text(at.read_text("utf-8").replace('"infiniband-ndr"', "infiniband-nrd"), encoding="utf-8")
    found = [p for p in check(params).problems if p.key == "fabric"]
    assert [(p.file, p.suggestion) for p in found] == [(str(at), "infiniband-ndr")]
