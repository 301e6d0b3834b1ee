"""The shipped table of sellers and questions, and the strict reading of a seller's answers."""

import re
from datetime import date

import pytest
from rows import rows

from fabricreport.base.bounds import bound_of
from fabricreport.base.errors import InputError
from fabricreport.base.project import PARAMS
from fabricreport.books.answers import Links, read_answers
from fabricreport.books.evidence import read_evidence
from fabricreport.books.prices.book import PriceBook
from fabricreport.books.sellers import read_providers

EXAMPLE = PARAMS / "providers" / "example-answers.yaml"
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


def test_every_question_has_an_id_of_its_own_and_guards_another():
    book = read_providers()
    ids = [q.id for q in book.questions]
    assert len({*ids, *(q.formerly for q in book.questions if q.formerly)}) == len(ids) + sum(
        bool(q.formerly) for q in book.questions
    )
    assert all(re.fullmatch(r"Q-(NET|OPS|COM|DEL)-\d\d", i) for i in ids)
    assert {q.guards for q in book.questions if q.guards} <= set(ids)
    assert all(q.to and set(q.to) <= {"cloud", "builder"} for q in book.questions)


def test_a_question_is_read_under_what_it_was_called_before(tmp_path):
    found = read(tmp_path, HEAD + "  - {question: claim-window, answer: Thirty days from the day of the fault.}\n")
    assert list(found.answers) == ["Q-COM-04"]
    twice = "  - {question: claim-window, answer: a}\n  - {question: Q-COM-04, answer: b}\n"
    assert [p.key for p in problems(tmp_path, HEAD + twice)] == ["answers[1].question"]


def test_what_a_question_settles_is_in_the_evidence_or_a_price():
    from fnmatch import fnmatchcase

    names = list(read_evidence(None))
    items = PriceBook.read(PARAMS / "prices").items
    ids = [*(f"evidence:{n}" for n in names), *(f"price:{item}" for item in items)]
    for question in read_providers().questions:
        for pattern in question.settles:
            assert any(fnmatchcase(n, pattern) for n in (ids if ":" in pattern else [*names, *items])), pattern


def test_a_seller_is_found_by_either_part_of_its_name_in_any_case():
    book = read_providers()
    assert book.seller("verda") is book.seller("DATACRUNCH") is book.seller("DataCrunch/Verda")
    assert book.seller("Nobody") is None


def test_the_example_answers_are_read_and_belong_to_no_client():
    found = read_answers(EXAMPLE, provider="Example Cloud", as_of=date(2026, 11, 20))
    assert found.answers["Q-NET-12"].low == 120
    assert found.answers["Q-NET-09"].measured.gpus == 1024
    for params in ("example", "tern-finetuning", "kestrel-lab"):
        assert EXAMPLE.name not in (PARAMS / f"{params}.yaml").read_text("utf-8")


def test_a_declined_answer_is_empty_and_no_fault(tmp_path):
    found = read(tmp_path, HEAD + "  - {question: Q-COM-04, answer: null}\n")
    assert found.answers["Q-COM-04"].text == ""


def test_all_faults_of_a_file_come_at_once_with_line_key_and_the_nearest_name(tmp_path):
    found = problems(
        tmp_path,
        HEAD
        + "  - {question: allreduce-result, answer: x}\n"
        + "  - {question: Q-COM-04, anser: x}\n"
        + "  - {question: Q-NET-03, answer: x, value: 400, unit: gbps}\n"
        + "  - {question: Q-NET-09, answer: x, measured: {gpus: 1, busbw_gbytes_per_s: -3}}\n",
    )
    by_key = {p.key: p for p in found}
    assert by_key["answers[0].question"].suggestion == "allreduce-results"
    assert by_key["answers[1].anser"].suggestion == "answer"
    assert "gbits/s" in by_key["answers[2].unit"].message
    assert by_key["answers[3].measured.gpus"].line == 8
    assert "at least 0" in by_key["answers[3].measured.busbw_gbytes_per_s"].message
    assert all(p.file.endswith("answers.yaml") and p.line for p in found)


@rows(
    ("line", "message"),
    [
        ("{question: Q-NET-03, answer: x, value: {low: 5, high: 2}, unit: gbits/s}", "rise from low to high"),
        ("{question: Q-NET-03, answer: x, value: {low: 5}, unit: gbits/s}", "exactly low and high"),
        ("{question: Q-NET-03, answer: x, value: true, unit: gbits/s}", "must be a number"),
        ("{question: Q-NET-03, answer: x, value: 400}", "must be in gbits/s"),
        ("{question: Q-NET-04, answer: 1, value: 2, unit: gbits/s}", "takes no value"),
        ("{question: Q-COM-04, answer: 30}", "must be text"),
        ("{question: Q-COM-04, answer: x, document: ''}", "is empty"),
        ("{question: Q-COM-04, answer: x, measured: 3}", "must hold keys of its own"),
        ("just words", "must hold keys of its own"),
        ("{question: Q-NET-03, answer: x, value: -400, unit: gbits/s}", "at least 1"),
        ("{question: Q-NET-03, answer: x, value: 1e300, unit: gbits/s}", "at most"),
        ("{question: Q-NET-03, answer: x, value: 1e400, unit: gbits/s}", "too large"),
        ("{question: Q-NET-03, answer: x, value: {low: 1e-300, high: 4}, unit: gbits/s}", "at least 1"),
        ("{question: Q-COM-04, answer: x, value: 1e9, unit: day}", "at most"),
        ("{question: Q-NET-09, answer: x, measured: {gpus: 64, busbw_gbytes_per_s: 1e300}}", "at most"),
        (
            "{question: Q-NET-09, answer: x, measured: {gpus: 64, busbw_gbytes_per_s: 300, size_mib: 1e300}}",
            "at most",
        ),
        ("{question: Q-NET-09, answer: x, measured: {gpus: 1e300, busbw_gbytes_per_s: 300}}", "at most"),
    ],
)
def test_a_value_outside_its_domain_is_refused(tmp_path, line, message):
    assert any(message in p.message for p in problems(tmp_path, HEAD + f"  - {line}\n"))


def test_a_question_answered_twice_names_the_first_line(tmp_path):
    twice = "  - {question: Q-COM-04, answer: a}\n" * 2
    assert "first on line 5" in problems(tmp_path, HEAD + twice)[0].message


@rows("char", ["\u202e", "\u200b", "\x07"])
def test_text_that_could_be_shown_otherwise_than_typed_is_refused(tmp_path, char):
    found = problems(tmp_path, HEAD + f'  - {{question: Q-COM-04, answer: "ten{char} days"}}\n')
    assert any(p.line == 5 for p in found)


def test_answers_for_another_seller_or_from_after_the_memo_are_refused(tmp_path):
    text = HEAD.replace("2026-11-02", "2026-12-01") + "  - {question: Q-COM-04, answer: a}\n"
    with pytest.raises(InputError) as caught:
        read_answers(written(tmp_path, text), provider="Other Cloud", as_of=date(2026, 11, 20))
    assert {p.key for p in caught.value.problems} == {"provider", "date"}


@rows("text", ["- a list\n", HEAD.replace("answers:\n", ""), HEAD + "  []\n"])
def test_a_file_without_answers_is_refused(tmp_path, text):
    assert problems(tmp_path, text)


CLUSTER = Links(gbits_per_s=400, per_gpu=1, domain_gpus=8)
MANY = "  - {question: Q-NET-09, answer: x, measured: {gpus: 1024, busbw_gbytes_per_s: %s}}\n"


def judged(tmp_path, text, links=CLUSTER):
    return read_answers(written(tmp_path, HEAD + text), provider="Example Cloud", links=links)


def test_a_bandwidth_above_what_the_clusters_links_carry_is_refused_at_its_line(tmp_path):
    judged(tmp_path, MANY % 400)
    with pytest.raises(InputError) as caught:
        judged(tmp_path, MANY % 450)
    (problem,) = caught.value.problems
    assert (problem.key, problem.line) == ("answers[0].measured.busbw_gbytes_per_s", 5)


def test_a_seller_that_states_faster_links_may_measure_more(tmp_path):
    faster = "  - {question: Q-NET-03, answer: x, value: 800, unit: gbits/s}\n"
    assert judged(tmp_path, faster + MANY % 450).answers["Q-NET-09"].measured.busbw_gbytes_per_s == 450
    with pytest.raises(InputError):
        judged(tmp_path, faster + MANY % 900)


def test_a_gpu_has_no_more_bandwidth_than_its_links(tmp_path):
    line = "  - {question: Q-NET-02, answer: x, value: 100, unit: gbits/s}\n"
    judged(tmp_path, line + "  - {question: Q-NET-03, answer: x, value: 400, unit: gbits/s}\n")
    with pytest.raises(InputError, match="carry"):
        judged(tmp_path, line + "  - {question: Q-NET-03, answer: x, value: 4000, unit: gbits/s}\n")


def test_two_nodes_and_racks_are_given_the_bandwidth_they_have(tmp_path):
    two = "  - {question: Q-NET-07, answer: x, measured: {gpus: 16, busbw_gbytes_per_s: 700}}\n"
    one = "  - {question: Q-NET-07, answer: x, measured: {gpus: 8, busbw_gbytes_per_s: 900}}\n"
    rack = "  - {question: Q-NET-07, answer: x, measured: {gpus: 144, busbw_gbytes_per_s: 930}}\n"
    assert judged(tmp_path, two) and judged(tmp_path, one)
    assert judged(tmp_path, rack, Links(gbits_per_s=400, per_gpu=1, domain_gpus=72))


@rows("text", ["", "  - {question: [Q-NET-09], answer: x}\n", MANY % "x"])
def test_a_faulty_file_is_refused_for_its_faults_before_its_bandwidths_are_judged(tmp_path, text):
    with pytest.raises(InputError):
        judged(tmp_path, text)


@rows("question", ["Q-NET-02", "Q-NET-03"])
@rows("value", ["1000000", "0", "0.5", "{low: 0, high: 400}", "{low: 400, high: 1000000}"])
def test_a_link_rate_no_link_has_is_refused_at_its_line(tmp_path, question, value):
    (found,) = problems(tmp_path, HEAD + f"  - {{question: {question}, answer: x, value: {value}, unit: gbits/s}}\n")
    assert (found.key, found.line) == ("answers[0].value", 5)
    assert "one link of a fabric" in found.message


@rows(("question", "links"), [("Q-NET-02", 1), ("Q-NET-03", 16)])
def test_the_bound_of_a_link_holds_for_each_link_a_gpu_may_have(tmp_path, question, links):
    most = bound_of("link-gbits/s").high * links
    row = f"  - {{question: {question}, answer: x, value: %s, unit: gbits/s}}\n"
    assert read(tmp_path, HEAD + row % most).answers[question].high == most
    assert [p.line for p in problems(tmp_path, HEAD + row % (most + 1))] == [5]


def test_an_algbw_above_what_the_links_carry_is_refused_like_a_busbw(tmp_path):
    row = (
        "  - {question: Q-NET-09, answer: x, measured: {gpus: 1024, busbw_gbytes_per_s: 300, algbw_gbytes_per_s: %s}}\n"
    )
    assert judged(tmp_path, row % 150).answers
    with pytest.raises(InputError) as caught:
        judged(tmp_path, row % 15000)
    (found,) = caught.value.problems
    assert (found.key, found.line) == ("answers[0].measured.algbw_gbytes_per_s", 5)
    assert "Gb/s a GPU carry" in found.message


def test_what_an_answer_rests_on_is_one_of_four_and_the_fabric_is_named(tmp_path):
    row = "  - {question: Q-NET-07, answer: see the log, evidence: log}\n"
    found = read(tmp_path, HEAD.replace("answers:", "fabric: infiniband-ndr\nanswers:") + row)
    assert (found.fabric, found.answers["Q-NET-07"].evidence) == ("infiniband-ndr", "log")
    told = problems(tmp_path, HEAD + row.replace("evidence: log", "evidence: hearsay, choice: yes"))
    assert [p.key for p in told] == ["answers[0].choice", "answers[0].evidence"]


def test_what_is_newer_than_the_article_is_in_the_evidence_and_dated_or_told_undated():
    library = read_evidence(None)
    sellers = {s.id: s for s in read_providers().sellers}
    found = {s.id: [library[i.partition(":")[2]] for i in s.since] for s in sellers.values()}
    assert any(found.values()) and all(
        e.date and e.source and e.grade in ("published", "secondary") for found_of in found.values() for e in found_of
    )
