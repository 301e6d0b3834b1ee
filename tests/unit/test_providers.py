"""The shipped table of sellers and questions, and the strict reading of a seller's answers."""

from datetime import date

import pytest

from fabricreport.books.evidence import read_evidence
from fabricreport.books.provider_answers import read_answers
from fabricreport.books.providers import read_providers
from fabricreport.case import PROJECT
from fabricreport.errors import InputError
from fabricreport.evidence import read_yaml

EXAMPLE = PROJECT / "params" / "providers" / "example-answers.yaml"
HEAD = "provider: Example Cloud\ndate: 2026-11-02\nanswered_by: A. Seller\nanswers:\n"


def written(tmp_path, text):
    path = tmp_path / "answers.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def read(tmp_path, text):
    return read_answers(written(tmp_path, text), provider="Example Cloud", as_of=date(2026, 11, 20))


def problems(tmp_path, text):
    with pytest.raises(InputError) as caught:
        read(tmp_path, text)
    assert caught.value.exit_code == 2
    return caught.value.problems


def test_every_question_has_a_rule_and_every_rule_a_question():
    book = read_providers()
    assert len(book.sellers) == 17
    assert {q.id for q in book.questions} == {r["id"] for r in read_yaml("diligence")["questions"]}
    assert {q.guards for q in book.questions if q.guards} <= {q.id for q in book.questions}
    assert all(q.to and set(q.to) <= {"cloud", "builder"} for q in book.questions)


def test_what_a_question_settles_is_in_the_evidence_or_a_price():
    from fnmatch import fnmatchcase

    names = list(read_evidence(None))
    for question in read_providers().questions:
        for pattern in question.settles:
            assert pattern.startswith("gpu-hour-") or any(fnmatchcase(n, pattern) for n in names), pattern


def test_a_seller_is_found_by_either_part_of_its_name_in_any_case():
    book = read_providers()
    assert book.seller("verda") is book.seller("DATACRUNCH") is book.seller("DataCrunch/Verda")
    assert book.seller("Nobody") is None


def test_the_example_answers_are_read_and_belong_to_no_client():
    found = read_answers(EXAMPLE, provider="Example Cloud", as_of=date(2026, 11, 20))
    assert found.answers["busbw-floor-in-contract"].low == 120
    assert found.answers["not-two-nodes"].measured.gpus == 1024
    for params in ("example", "tern-finetuning", "kestrel-lab"):
        assert EXAMPLE.name not in (PROJECT / "params" / f"{params}.yaml").read_text("utf-8")


def test_a_declined_answer_is_empty_and_no_fault(tmp_path):
    found = read(tmp_path, HEAD + "  - {question: claim-window, answer: null}\n")
    assert found.answers["claim-window"].text == ""


def test_all_faults_of_a_file_come_at_once_with_line_key_and_the_nearest_name(tmp_path):
    found = problems(
        tmp_path,
        HEAD
        + "  - {question: allreduce-result, answer: x}\n"
        + "  - {question: claim-window, anser: x}\n"
        + "  - {question: per-gpu-bandwidth, answer: x, value: 400, unit: gbps}\n"
        + "  - {question: not-two-nodes, answer: x, measured: {gpus: 1, busbw_gbytes_per_s: -3}}\n",
    )
    by_key = {p.key: p for p in found}
    assert by_key["answers[0].question"].suggestion == "allreduce-results"
    assert by_key["answers[1].anser"].suggestion == "answer"
    assert "gbits/s" in by_key["answers[2].unit"].message
    assert by_key["answers[3].measured.gpus"].line == 8
    assert "above 0" in by_key["answers[3].measured.busbw_gbytes_per_s"].message
    assert all(p.file.endswith("answers.yaml") and p.line for p in found)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{question: per-gpu-bandwidth, answer: x, value: {low: 5, high: 2}, unit: gbits/s}", "rise from low to high"),
        ("{question: per-gpu-bandwidth, answer: x, value: {low: 5}, unit: gbits/s}", "exactly low and high"),
        ("{question: per-gpu-bandwidth, answer: x, value: true, unit: gbits/s}", "must be a number"),
        ("{question: per-gpu-bandwidth, answer: x, value: 400}", "must be in gbits/s"),
        ("{question: infiniband-or-roce, answer: 1, value: 2, unit: gbits/s}", "takes no value"),
        ("{question: claim-window, answer: 30}", "must be text"),
        ("{question: claim-window, answer: x, document: ''}", "is empty"),
        ("{question: claim-window, answer: x, measured: 3}", "must be a mapping"),
        ("just words", "must be a mapping"),
    ],
)
def test_a_value_outside_its_domain_is_refused(tmp_path, line, message):
    assert any(message in p.message for p in problems(tmp_path, HEAD + f"  - {line}\n"))


def test_a_question_answered_twice_names_the_first_line(tmp_path):
    twice = "  - {question: claim-window, answer: a}\n" * 2
    assert "first on line 5" in problems(tmp_path, HEAD + twice)[0].message


@pytest.mark.parametrize("char", ["\u202e", "\u200b", "\x07"])
def test_text_that_could_be_shown_otherwise_than_typed_is_refused(tmp_path, char):
    found = problems(tmp_path, HEAD + f'  - {{question: claim-window, answer: "ten{char} days"}}\n')
    assert any(p.line == 5 for p in found)


def test_answers_for_another_seller_or_from_after_the_memo_are_refused(tmp_path):
    text = HEAD.replace("2026-11-02", "2026-12-01") + "  - {question: claim-window, answer: a}\n"
    with pytest.raises(InputError) as caught:
        read_answers(written(tmp_path, text), provider="Other Cloud", as_of=date(2026, 11, 20))
    assert {p.key for p in caught.value.problems} == {"provider", "date"}


@pytest.mark.parametrize("text", ["- a list\n", HEAD.replace("answers:\n", ""), HEAD + "  []\n"])
def test_a_file_without_answers_is_refused(tmp_path, text):
    assert problems(tmp_path, text)
