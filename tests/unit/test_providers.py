"""The shipped table of sellers and questions, and the strict reading of a seller's answers."""

from datetime import date

import pytest

from fabricreport.books.answer_limits import Links
from fabricreport.books.evidence import read_evidence
from fabricreport.books.prices.book import PriceBook
from fabricreport.books.provider_answers import read_answers
from fabricreport.books.providers import read_providers
from fabricreport.bounds import bound_of
from fabricreport.errors import InputError
from fabricreport.evidence import read_yaml
from fabricreport.project import PROJECT

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
    items = PriceBook.read(PROJECT / "params" / "prices").items
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
    assert "at least 0" in by_key["answers[3].measured.busbw_gbytes_per_s"].message
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
        ("{question: per-gpu-bandwidth, answer: x, value: -400, unit: gbits/s}", "at least 1"),
        ("{question: per-gpu-bandwidth, answer: x, value: 1e300, unit: gbits/s}", "at most"),
        ("{question: per-gpu-bandwidth, answer: x, value: 1e400, unit: gbits/s}", "too large"),
        ("{question: per-gpu-bandwidth, answer: x, value: {low: 1e-300, high: 4}, unit: gbits/s}", "at least 1"),
        ("{question: claim-window, answer: x, value: 1e9, unit: day}", "at most"),
        ("{question: not-two-nodes, answer: x, measured: {gpus: 64, busbw_gbytes_per_s: 1e300}}", "at most"),
        (
            "{question: not-two-nodes, answer: x, measured: {gpus: 64, busbw_gbytes_per_s: 300, size_mib: 1e300}}",
            "at most",
        ),
        ("{question: not-two-nodes, answer: x, measured: {gpus: 1e300, busbw_gbytes_per_s: 300}}", "at most"),
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


CLUSTER = Links(gbits_per_s=400, per_gpu=1, domain_gpus=8)
MANY = "  - {question: not-two-nodes, answer: x, measured: {gpus: 1024, busbw_gbytes_per_s: %s}}\n"


def judged(tmp_path, text, links=CLUSTER):
    return read_answers(written(tmp_path, HEAD + text), provider="Example Cloud", links=links)


def test_a_bandwidth_above_what_the_clusters_links_carry_is_refused_at_its_line(tmp_path):
    judged(tmp_path, MANY % 400)
    with pytest.raises(InputError) as caught:
        judged(tmp_path, MANY % 450)
    (problem,) = caught.value.problems
    assert (problem.key, problem.line) == ("answers[0].measured.busbw_gbytes_per_s", 5)


def test_a_seller_that_states_faster_links_may_measure_more(tmp_path):
    faster = "  - {question: per-gpu-bandwidth, answer: x, value: 800, unit: gbits/s}\n"
    assert judged(tmp_path, faster + MANY % 450).answers["not-two-nodes"].measured.busbw_gbytes_per_s == 450
    with pytest.raises(InputError):
        judged(tmp_path, faster + MANY % 900)


def test_a_gpu_has_no_more_bandwidth_than_its_links(tmp_path):
    line = "  - {question: generation-and-line-rate, answer: x, value: 100, unit: gbits/s}\n"
    judged(tmp_path, line + "  - {question: per-gpu-bandwidth, answer: x, value: 400, unit: gbits/s}\n")
    with pytest.raises(InputError, match="carry"):
        judged(tmp_path, line + "  - {question: per-gpu-bandwidth, answer: x, value: 4000, unit: gbits/s}\n")


def test_two_nodes_and_racks_are_given_the_bandwidth_they_have(tmp_path):
    two = "  - {question: allreduce-results, answer: x, measured: {gpus: 16, busbw_gbytes_per_s: 700}}\n"
    one = "  - {question: allreduce-results, answer: x, measured: {gpus: 8, busbw_gbytes_per_s: 900}}\n"
    rack = "  - {question: allreduce-results, answer: x, measured: {gpus: 144, busbw_gbytes_per_s: 930}}\n"
    assert judged(tmp_path, two) and judged(tmp_path, one)
    assert judged(tmp_path, rack, Links(gbits_per_s=400, per_gpu=1, domain_gpus=72))


@pytest.mark.parametrize("text", ["", "  - {question: [not-two-nodes], answer: x}\n", MANY % "x"])
def test_a_faulty_file_is_refused_for_its_faults_before_its_bandwidths_are_judged(tmp_path, text):
    with pytest.raises(InputError):
        judged(tmp_path, text)


@pytest.mark.parametrize("question", ["generation-and-line-rate", "per-gpu-bandwidth"])
@pytest.mark.parametrize("value", ["1000000", "0", "0.5", "{low: 0, high: 400}", "{low: 400, high: 1000000}"])
def test_a_link_rate_no_link_has_is_refused_at_its_line(tmp_path, question, value):
    (found,) = problems(tmp_path, HEAD + f"  - {{question: {question}, answer: x, value: {value}, unit: gbits/s}}\n")
    assert (found.key, found.line) == ("answers[0].value", 5)
    assert "one link of a fabric" in found.message


@pytest.mark.parametrize(("question", "links"), [("generation-and-line-rate", 1), ("per-gpu-bandwidth", 16)])
def test_the_bound_of_a_link_holds_for_each_link_a_gpu_may_have(tmp_path, question, links):
    most = bound_of("link-gbits/s").high * links
    row = f"  - {{question: {question}, answer: x, value: %s, unit: gbits/s}}\n"
    assert read(tmp_path, HEAD + row % most).answers[question].high == most
    assert [p.line for p in problems(tmp_path, HEAD + row % (most + 1))] == [5]


def test_an_algbw_above_what_the_links_carry_is_refused_like_a_busbw(tmp_path):
    row = "  - {question: not-two-nodes, answer: x, measured: {gpus: 1024, busbw_gbytes_per_s: 300, algbw_gbytes_per_s: %s}}\n"
    assert judged(tmp_path, row % 150).answers
    with pytest.raises(InputError) as caught:
        judged(tmp_path, row % 15000)
    (found,) = caught.value.problems
    assert (found.key, found.line) == ("answers[0].measured.algbw_gbytes_per_s", 5)
    assert "Gb/s a GPU carry" in found.message
