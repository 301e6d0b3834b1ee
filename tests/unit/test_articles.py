"""The articles' rules: what each article's own examples come to, which rule has the last word, and rules of size."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import rows

from fabricreport.books.claims import read_claims
from fabricreport.evidence import read_yaml
from fabricreport.models.judgement.articles import (
    SILENT,
    TORN,
    ArticleRule,
    advised_by,
    agreeing,
    article_rules,
    camps,
)
from fabricreport.models.judgement.comparison import Verdict
from fabricreport.sections.decision.articles.study import answers_of
from fabricreport.sections.evidence.answered import Buyer, answered, can_tell, filled
from fabricreport.vocabulary import Confidence, Ground, Side

DATA = read_yaml("articles")
RULES = article_rules(DATA["rules"])
FACTS: dict[str, Any] = {
    "kind": "pretraining-dense", "vendor": "nvidia", "target_gpus": 512, "nodes": 64, "job_gpus": 512, "one_node": False,
    "spans_subnets": False, "tenancy": "single", "qos_expertise": "some", "existing_ethernet": "some",
    "existing_infiniband": "none", "trains": True, "rents": False, "single_vendor_policy": "neutral", "variance_stated": False, "cost_first": False,
}  # fmt: skip


def says(article: str, **changes: Any) -> str:
    return advised_by(RULES, FACTS | changes)[article].says


def big(gpus: int) -> dict[str, Any]:
    return {"target_gpus": gpus, "nodes": gpus // 8, "job_gpus": gpus}


ONE_NODE = big(8) | {"one_node": True}
SERVES = {"kind": "inference", "trains": False}


@rows(
    ("article", "changes", "answer"),
    [
        # S2's own four cases, and what it says elsewhere of teams
        ("S2", big(1000) | {"qos_expertise": "none"}, "infiniband"),
        ("S2", {"kind": "mixed", "existing_ethernet": "large", "qos_expertise": "strong"}, "rocev2"),
        ("S2", big(64) | {"kind": "fine-tuning", "qos_expertise": "none"}, "rocev2"),
        ("S2", big(64) | SERVES, "rocev2"),
        ("S2", big(1536) | {"qos_expertise": "some"}, "infiniband"),
        ("S2", {"qos_expertise": "none"}, "infiniband"),
        ("S2", {}, SILENT),
        ("S2", big(128) | {"kind": "fine-tuning", "cost_first": True}, SILENT),
        # S3's own list of five
        ("S3", big(1000) | {"cost_first": True}, "rocev2"),
        ("S3", {"kind": "hpc-simulation"}, "infiniband"),
        ("S3", {"tenancy": "multi"}, "rocev2"),
        ("S3", {"existing_ethernet": "large"}, "rocev2"),
        ("S3", {"existing_ethernet": "none"}, "infiniband"),
        ("S3", {}, "does-not-matter"),
        ("S3", {"tenancy": "multi", "rents": True}, "does-not-matter"),
        ("S3", {"kind": "hpc-simulation", "tenancy": "multi"}, TORN),
        # S4's lists of who needs it, who does not, and the middle ground
        ("S4", big(16), "infiniband"),
        ("S4", ONE_NODE, "standard-ethernet"),
        ("S4", {"job_gpus": 8}, "standard-ethernet"),
        ("S4", SERVES, "standard-ethernet"),
        ("S4", {"kind": "inference-multi-node", "trains": False}, "infiniband"),
        ("S4", {"vendor": "amd"}, "rocev2"),
        # S0
        ("S0", {}, "does-not-matter"),
        ("S0", {"variance_stated": True}, "infiniband"),
        ("S0", {"spans_subnets": True}, "rocev2"),
        ("S0", big(16_000), "rocev2"),
        ("S0", {"variance_stated": True, "spans_subnets": True}, TORN),
        # S1
        ("S1", {}, SILENT),
        ("S1", {"cost_first": True}, "rocev2"),
        ("S1", big(16_000) | {"cost_first": True}, "infiniband"),
        ("S1", {"variance_stated": True, "kind": "hpc-simulation"}, "infiniband"),
        ("S1", {"tenancy": "multi", "existing_ethernet": "large"}, "infiniband"),
        ("S1", {"cost_first": True} | SERVES, SILENT),
    ],
)
def test_an_article_says_of_its_own_cases_what_it_says(article: str, changes: dict[str, Any], answer: str) -> None:
    assert says(article, **changes) == answer


def test_each_rule_rests_on_a_claim_of_its_article_and_gives_a_known_answer() -> None:
    book, answers = read_claims(), {a["id"] for a in DATA["answers"]}
    assert {r.article for r in RULES} == set(book.sources)
    assert [r.id for r in RULES if book[r.claim].source != r.article or r.advises not in answers] == []
    assert len({r.id for r in RULES}) == len(RULES)


def rule(id: str, advises: str, said: str = "list", over: tuple[str, ...] = (), **when: Any) -> ArticleRule:
    return ArticleRule(id, "A", said, when, advises, "claim", over)


def test_the_list_goes_before_the_text_and_the_text_before_the_rest() -> None:
    rules = [rule("r", "either", "rest"), rule("t", "left", "text"), rule("l", "right", "list", wants=True)]
    found = [advised_by(rules, {"wants": wants})["A"] for wants in (True, False)]
    assert [(f.says, [r.id for r in f.by], [r.id for r in f.aside]) for f in found] == [
        ("right", ["l"], ["r", "t"]),
        ("left", ["t"], ["r"]),
    ]


def test_an_exception_sets_its_rule_aside_only_where_it_holds_itself() -> None:
    rules = [rule("common", "left"), rule("special", "right", over=("common",), odd=True)]
    assert [advised_by(rules, {"odd": odd})["A"].says for odd in (True, False)] == ["right", "left"]


def test_a_rule_that_is_said_nowhere_or_excepts_nothing_is_refused() -> None:
    fine = {"id": "a", "article": "A", "said": "list", "when": {}, "advises": "x", "claim": "c"}
    assert article_rules([fine])[0].id == "a"
    for wrong in ({"said": "aloud"}, {"over": ["b"]}):
        with pytest.raises(ValueError, match="rule a"):
            article_rules([fine | wrong])


@settings(max_examples=60, deadline=None)
@given(st.permutations(RULES), st.fixed_dictionaries({k: st.just(v) for k, v in FACTS.items()}), st.data())
def test_the_order_of_the_rules_and_rules_that_do_not_hold_change_nothing(
    shuffled: list[ArticleRule], facts: dict[str, Any], data: st.DataObject
) -> None:
    facts = facts | {
        "kind": data.draw(st.sampled_from(["pretraining-moe", "hpc-simulation", "fine-tuning", "mixed"])),
        "target_gpus": data.draw(st.integers(1, 40_000)),
        "tenancy": data.draw(st.sampled_from(["single", "multi"])),
        "variance_stated": data.draw(st.booleans()),
        "existing_ethernet": data.draw(st.sampled_from(["none", "some", "large"])),
    }
    before = {a: f.says for a, f in advised_by(RULES, facts).items()}
    after = advised_by([*shuffled, replace(shuffled[0], id="never", when={"vendor": "nobody"})], facts)
    assert {a: f.says for a, f in after.items()} == before


def test_camps_come_most_first_and_who_gives_no_answer_is_in_none() -> None:
    rules = [replace(rule(a, says), article=a) for a, says in zip("ABC", ("left", "right", "right"), strict=True)]
    rules += [replace(rule("D1", "left"), article="D"), replace(rule("D2", "right"), article="D")]
    rules += [replace(rule("E", "left", wants=True), article="E")]
    found = advised_by(rules, {"wants": False})
    assert list(camps(found).items()) == [("right", ("B", "C")), ("left", ("A",))]
    assert [found[a].says for a in "DE"] == [TORN, SILENT]
    assert agreeing(found, frozenset({"left"})) == ("A",)


SIDES = {"ib": Side.INFINIBAND, "roce": Side.ROCEV2, "tcp": Side.PLAIN}
VERDICT = Verdict("roce", "ib", Confidence.LEANING, Ground.MONEY, 0.7, 5.0, 1.0, 1.0, {}, None)


@rows(
    ("changes", "answers"),
    [
        ({}, {"rocev2"}),
        ({"choice": "tcp"}, {"standard-ethernet"}),
        ({"confidence": Confidence.TOSS_UP, "decided_by": Ground.NOTHING}, {"does-not-matter"}),
        ({"choice": "ib", "decided_by": Ground.SIZE}, {"infiniband", "does-not-matter"}),
        ({"confidence": Confidence.TOSS_UP, "decided_by": Ground.DEADLINE}, {"rocev2"}),
    ],
)
def test_what_an_article_must_say_to_agree_names_no_fabric_where_the_course_is_open(
    changes: dict[str, Any], answers: set[str]
) -> None:
    assert answers_of(replace(VERDICT, **changes), SIDES) == answers


# ---- rules of size


# ---- factors and questions


def test_every_factor_and_question_of_the_articles_is_there_and_is_always_answered() -> None:
    nothing = Buyer(FACTS, {})
    told = {part: answered(part, nothing, ()) for part in ("factors", "questions")}
    count = {(part, a): sum(e.article == a for e in told[part]) for part in told for a in ("S1", "S3", "S4")}
    assert {k: v for k, v in count.items() if v} == {
        ("factors", "S1"): 5,
        ("factors", "S3"): 9,
        ("questions", "S3"): 6,
        ("questions", "S4"): 7,
    }
    assert all(can_tell(e.here, {}, ()) for entries in told.values() for e in entries)
    assert all(set(f.says) == {Side.INFINIBAND, Side.ROCEV2} for f in told["factors"])


def test_no_digit_is_typed_into_what_is_said() -> None:
    def texts(tree: Any) -> list[str]:
        if isinstance(tree, dict):
            return [
                t for key, v in tree.items() if key not in ("id", "article", "cite", "when", "above") for t in texts(v)
            ]
        return [t for v in tree for t in texts(v)] if isinstance(tree, list) else [tree]

    bare = [t.split("{")[0] for t in texts(read_yaml("factors"))]
    assert [t for t in bare if any(c.isdigit() for c in t.replace("RoCEv2", ""))] == []


def test_an_answer_is_given_only_with_every_figure_it_quotes() -> None:
    stands = {"infiniband": "ib", "rocev2": "roce"}
    text = filled("{tco.total[infiniband]} with {infiniband}, {tco.total[rocev2]}", stands)
    assert text == "{tco.total.ib} with {infiniband}, {tco.total.roce}"
    assert can_tell(text, stands, [{"tco.total.ib"}, {"tco.total.roce"}])
    assert not can_tell(text, stands, [{"tco.total.ib"}])
    assert not can_tell(filled("{infiniband}", {}), {}, [])
    assert can_tell("{param:cluster.gpus}", {}, [])


def test_the_first_answer_whose_conditions_hold_is_given() -> None:
    stands = {"infiniband": "ib", "rocev2": "roce"}
    figure = SimpleNamespace(text="0.1 %", value=0.001)
    known: Any = [{"latency.exposed.ib": figure, "latency.exposed.roce": figure}]
    here = {
        one: next(
            a.here
            for a in answered("questions", Buyer(FACTS | {"one_node": one}, stands), known)
            if a.id == "s3-faster"
        )
        for one in (True, False)
    }
    assert "latency.exposed.ib" not in here[True] and "latency.exposed.ib" in here[False]
