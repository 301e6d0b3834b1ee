"""What is said of the articles: each finding true of one constructed result and false of another, words always the same."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from rows import rows

from fabricreport.models.judgement.articles import SILENT, TORN, Advised, camps
from fabricreport.models.judgement.comparison import Verdict
from fabricreport.sections.decision.articles.sizes import Outcome, SizeRule
from fabricreport.sections.decision.articles.study import Articles
from fabricreport.sections.decision.articles.words import article_findings, article_words
from fabricreport.sections.decision.finding import DecisionFinding as F
from fabricreport.vocabulary import Confidence, Ground

ANSWERS = ("infiniband", "rocev2", "does-not-matter")
VERDICT = Verdict("roce", "ib", Confidence.LEANING, Ground.MONEY, 0.7, 5.0, 1.0, 1.0, {}, None)
OPEN = replace(VERDICT, confidence=Confidence.TOSS_UP, decided_by=Ground.NOTHING)
VIEWS = {F.ARTICLES_NONE, F.ARTICLES_ONE_CAMP, F.ARTICLES_PART, F.ARTICLES_TIED}
REASONS = {f for f in F if f.name.startswith("ARTICLES_DIFFER_")}
SIZES = {F.SIZES_TRIED, F.SIZES_NOT_TRIED}


def articles(*says: str, agree: tuple[str, ...] = ("S0",), **made: Any) -> Articles:
    advised = {f"S{n}": Advised(f"S{n}", one, ()) for n, one in enumerate(says)}
    found = Articles(advised, camps(advised), agree, {}, (), {}, {"infiniband": "ib", "rocev2": "roce"})
    return replace(found, **made)


def findings(found: Articles, verdict: Verdict = VERDICT) -> set[F]:
    holds = set(article_findings(found, verdict))
    assert (len(holds & VIEWS), len(holds & SIZES)) == (1, 1)
    assert len(holds & REASONS) == (not found.agree)
    return holds


IB, ROCE, ANY = ANSWERS


@rows(
    ("says", "view"),
    [
        ((IB, IB, ROCE, ANY, IB), F.ARTICLES_PART),
        ((IB, IB, ROCE, ROCE, ANY), F.ARTICLES_TIED),
        ((ROCE, SILENT, ROCE, TORN, ROCE), F.ARTICLES_ONE_CAMP),
        ((SILENT, TORN, SILENT, TORN, TORN), F.ARTICLES_NONE),
    ],
)
def test_the_articles_agree_part_tie_or_give_no_answer(says: tuple[str, ...], view: F) -> None:
    holds = findings(articles(*says))
    assert view in holds
    assert (F.ARTICLES_SILENT in holds, F.ARTICLES_TORN in holds) == (SILENT in says, TORN in says)


@rows(
    ("verdict", "reason"),
    [
        (VERDICT, F.ARTICLES_DIFFER_MONEY),
        (replace(VERDICT, confidence=Confidence.TOSS_UP, decided_by=Ground.DEADLINE), F.ARTICLES_DIFFER_DATE),
        (replace(VERDICT, confidence=Confidence.TOSS_UP, decided_by=Ground.WEIGHTS), F.ARTICLES_DIFFER_WEIGHTS),
        (replace(VERDICT, confidence=Confidence.DOES_NOT_MATTER, decided_by=Ground.SIZE), F.ARTICLES_DIFFER_SIZE),
        (OPEN, F.ARTICLES_DIFFER_OPEN),
        (replace(OPEN, confidence=Confidence.DOES_NOT_MATTER), F.ARTICLES_DIFFER_PRICE),
    ],
)
def test_who_differs_from_every_article_is_told_why_by_what_decided(verdict: Verdict, reason: F) -> None:
    says = (ROCE, ROCE, IB, IB, ANY)
    assert reason in findings(articles(*says, agree=()), verdict)
    assert findings(articles(*says), verdict) & REASONS == set()


@rows(
    ("says", "stands", "absent"),
    [
        ((IB, IB, ANY), {"rocev2": "roce"}, True),
        ((IB, ROCE, ANY), {"plain": "tcp"}, True),
        ((IB, ROCE, ANY), {"rocev2": "roce", "plain": "tcp"}, False),
        ((ANY, ANY), {"rocev2": "roce"}, False),
    ],
)
def test_articles_that_name_only_what_is_not_compared_differ_for_that(
    says: tuple[str, ...], stands: dict[str, str], absent: bool
) -> None:
    assert (F.ARTICLES_DIFFER_ABSENT in findings(articles(*says, agree=(), stands=stands))) == absent


def test_sizes_are_told_where_both_sides_are_compared() -> None:
    tried = SizeRule("small", "S2", "c", "", "rocev2", (), Outcome.CANNOT)
    assert F.SIZES_TRIED in findings(articles(IB, sizes=(tried,)))
    assert F.SIZES_NOT_TRIED in findings(articles(IB))


def test_publishers_are_named_by_camp_and_words_are_the_same_without_one() -> None:
    words = article_words(articles(IB, IB, ROCE, SILENT, TORN))
    none = article_words(articles(SILENT, TORN))
    assert set(words) == set(none)
    camp, second = words["camp"], words["second_camp"]
    assert (str(camp), camp.key, str(camp.said["who"])) == (  # type: ignore[attr-defined]
        "InfiniBand",
        "infiniband",
        "Aolani Cloud and Architects' Tech Alliance",
    )
    assert str(second.said["who"]) == "Inflect"  # type: ignore[attr-defined]
    assert (str(words["silent_articles"]), str(words["torn_articles"])) == ("NetPilot", "Saturn Cloud")
    assert (none["camp"], none["second_camp"]) == (None, None)
