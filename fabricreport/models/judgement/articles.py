"""What articles of the trade would advise a buyer: their rules as data, and which of those that hold has the last word.

An article says more than it means to say at once: its own list of who should choose what, sentences elsewhere in its
text, and a sentence for everybody else. Of the rules that hold, those of the list go before the text and the text before
the rest; a rule that is the exception to another (`over`) sets it aside. Where those that are left advise different
things, the article contradicts itself here, and it is counted on no side.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fabricreport.models.judgement.framework import met

SAID = ("list", "text", "rest")
"""Where an article says a rule, from the place with most weight to the one with least."""
SILENT, TORN = "silent", "torn"
"""An article without a rule that holds; one whose rules that hold contradict each other."""


@dataclass(frozen=True)
class ArticleRule:
    """One rule of an article: when its conditions hold, it advises one answer.

    `said`: one of SAID. `claim`: the id of the audited claim it rests on. `over`: ids of rules of the same article that it
    is an exception to. `words`: the rule in our words, where the claim's own do not say it.
    """

    id: str
    article: str
    said: str
    when: Mapping[str, Any]
    advises: str
    claim: str
    over: tuple[str, ...] = ()
    words: str = ""


@dataclass(frozen=True)
class Advised:
    """What one article would advise: an answer, SILENT or TORN, and the rules that lead there.

    `aside`: rules that hold and do not count, because others of the article go before them.
    """

    article: str
    says: str
    by: tuple[ArticleRule, ...]
    aside: tuple[ArticleRule, ...] = ()

    @property
    def speaks(self) -> bool:
        """Whether it gives one answer."""
        return self.says not in (SILENT, TORN)


def article_rules(data: Sequence[Mapping[str, Any]]) -> tuple[ArticleRule, ...]:
    """Rules as data become frozen rules; `ValueError` where one is said nowhere or excepts a rule of another article."""
    rules = tuple(
        ArticleRule(
            r["id"],
            r["article"],
            r["said"],
            r["when"],
            r["advises"],
            r["claim"],
            tuple(r.get("over", ())),
            r.get("words", ""),
        )
        for r in data
    )
    known = {(r.article, r.id) for r in rules}
    for rule in rules:
        if rule.said not in SAID or any((rule.article, other) not in known for other in rule.over):
            raise ValueError(f"rule {rule.id} is said nowhere, or is over no rule of its article")
    return rules


def advised_by(rules: Sequence[ArticleRule], facts: Mapping[str, Any]) -> dict[str, Advised]:
    """What each article would advise a buyer of these facts, by article, in the order of the rules."""
    articles = dict.fromkeys(rule.article for rule in rules)
    return {a: _advised(a, [r for r in rules if r.article == a and met(r.when, facts)]) for a in articles}


def _advised(article: str, held: Sequence[ArticleRule]) -> Advised:
    excepted = {other for rule in held for other in rule.over}
    left = [rule for rule in held if rule.id not in excepted]
    place = min((SAID.index(rule.said) for rule in left), default=0)
    by = tuple(rule for rule in left if SAID.index(rule.said) == place)
    answers = {rule.advises for rule in by}
    says = SILENT if not answers else TORN if len(answers) > 1 else by[0].advises
    return Advised(article, says, by, tuple(rule for rule in held if rule not in by))


def agreeing(advised: Mapping[str, Advised], ours: frozenset[str]) -> tuple[str, ...]:
    """The articles whose answer is one of ours."""
    return tuple(article for article, found in advised.items() if found.says in ours)


def camps(advised: Mapping[str, Advised]) -> dict[str, tuple[str, ...]]:
    """The articles by the answer they give, the answer of most first; who gives none is left out."""
    found: dict[str, tuple[str, ...]] = {}
    for article, one in advised.items():
        if one.speaks:
            found[one.says] = (*found.get(one.says, ()), article)
    return dict(sorted(found.items(), key=lambda item: -len(item[1])))
