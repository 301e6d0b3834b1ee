"""What five articles of the trade would advise this client, held against what this memo advises."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fabricreport.evidence import read_yaml
from fabricreport.models.judgement.articles import (
    Advised,
    advised_by,
    agreeing,
    article_rules,
    camps,
)
from fabricreport.models.judgement.comparison import Verdict
from fabricreport.provenance import mean_of
from fabricreport.sections.decision.articles.facts import article_facts
from fabricreport.sections.decision.inputs import Judge
from fabricreport.sections.decision.turning import Search
from fabricreport.sections.tco.bills import Bills
from fabricreport.vocabulary import Ground


@dataclass(frozen=True)
class Articles:
    """What each article would advise, and where that stands to this memo's advice.

    `advised` by article; `camps`: the articles by answer, most first; `agree`: the articles whose answer is this memo's;
    `facts`: what the rules were asked with; `stands`: by side its cheapest option that may be advised.
    """

    advised: Mapping[str, Advised]
    camps: Mapping[str, tuple[str, ...]]
    agree: tuple[str, ...]
    facts: Mapping[str, Any]
    stands: Mapping[str, str]


def articles_of(search: Search, verdict: Verdict, sides: Mapping[str, str]) -> Articles:
    """The five articles on this client; `sides` of the options by id."""
    given, data = search.base.given, read_yaml("articles")
    rules, facts = article_rules(data["rules"]), article_facts(given)
    advised = advised_by(rules, facts)
    return Articles(
        advised=advised,
        camps=camps(advised),
        agree=agreeing(advised, answers_of(verdict, sides)),
        facts=facts,
        stands=cheapest_by_side(search.judge, search.fast.bills),
    )


def answers_of(verdict: Verdict, sides: Mapping[str, str]) -> frozenset[str]:
    """The answers of an article that are this memo's: the advised side's; where the course is open the one that names none;
    where the size decides, both."""
    wanted = set() if verdict.open else {str(sides[verdict.choice])}
    if verdict.open or verdict.decided_by == Ground.SIZE:
        wanted.add("")
    return frozenset(answer for answer, side in answer_sides().items() if side in wanted)


def answer_sides() -> dict[str, str]:
    """The side of an option that each answer names, '' where it names none."""
    return {answer["id"]: answer["side"] for answer in read_yaml("articles")["answers"]}


def answer_names() -> dict[str, str]:
    """What a sentence calls each answer."""
    return {answer["id"]: answer["name"] for answer in read_yaml("articles")["answers"]}


def cheapest_by_side(judge: Judge, bills: Bills) -> dict[str, str]:
    """By side the option of the lowest mean cost that may be advised."""
    mean = {o: mean_of(total) for o, total in judge.advisable(bills).items()}
    return {str(judge.sides[o]): o for o in sorted(mean, key=lambda o: -mean[o])}
