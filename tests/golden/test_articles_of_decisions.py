"""What each article would say to the two dozen buyers, by its rules as data, is what was written down beforehand."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest

from fabricreport.case import open_case
from fabricreport.evidence import read_yaml
from fabricreport.models.judgement.articles import Advised, advised_by, article_rules
from fabricreport.sections.decision.articles.facts import article_facts
from fabricreport.strict_yaml import load_strict

FOLDER = Path(__file__).with_name("decisions")
EXPECTED: dict[str, Any] = load_strict(FOLDER / "expected.yaml").data
CASES: dict[str, dict[str, Any]] = {case["case"]: case["articles"] for case in EXPECTED["cases"]}
PARTS = {
    ("two-nodes-fine-tuning", "S1"): (
        "silent",
        "the params of this buyer put no weight on cost before another; that rents matter most to it stands in no key",
    ),
    ("staged-64-to-1536", "S1"): (
        "rocev2",
        "its weights put the budget first, which is all that the article’s rule on cost asks for, growth or none",
    ),
    ("thirty-days-1024", "S3"): (
        "does-not-matter",
        "its four weights are alike, and so are those of the buyer of racks, of whom no budget is expected",
    ),
}
"""Where the rules say otherwise than was expected: what they say, and why the rule was left as it is."""

ANOTHER_CLAIM = {
    ("cloud-partner-512", "S4"): "its bottom line, expected here, says what its list of needs says, which comes first"
}
"""Where the answer is as expected and rests on another claim of the article."""


@cache
def advised(case: str) -> dict[str, Advised]:
    rules = article_rules(read_yaml("articles")["rules"])
    return advised_by(rules, article_facts(open_case(FOLDER / f"{case}.yaml").inputs))


@pytest.mark.parametrize("case", CASES)
def test_each_article_says_what_was_expected_of_it_or_parts_for_a_reason_that_is_written_down(case: str) -> None:
    expected = {article: answer["says"] for article, answer in CASES[case].items()}
    parted = {article: says for (name, article), (says, _) in PARTS.items() if name == case}
    assert {article: one.says for article, one in advised(case).items()} == expected | parted
    assert all(expected[article] != says for article, says in parted.items())


@pytest.mark.parametrize("case", CASES)
def test_it_says_so_by_a_claim_that_was_expected_to_lead_there(case: str) -> None:
    claim = {sentence: entry["claim"] for sentence, entry in EXPECTED["sentences"].items()}
    for article, answer in CASES[case].items():
        if (case, article) in PARTS or (case, article) in ANOTHER_CLAIM or not advised(case)[article].speaks:
            continue
        ours = {rule.claim for rule in advised(case)[article].by}
        assert ours & {claim[sentence] for sentence in answer["by"]}, (article, ours)
