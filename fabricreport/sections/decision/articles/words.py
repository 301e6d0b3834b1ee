"""What is said of the articles: who would advise what, who says nothing or both, and why this memo differs from them all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fabricreport.books.claims import read_claims
from fabricreport.findings import Name, Named
from fabricreport.formats import listed
from fabricreport.models.judgement.comparison import Verdict
from fabricreport.sections.decision.articles.study import Articles, answer_sides
from fabricreport.sections.decision.articles.tables import answer_names
from fabricreport.sections.decision.finding import DecisionFinding
from fabricreport.vocabulary import Confidence, Ground

F = DecisionFinding


def article_findings(found: Articles, verdict: Verdict) -> Iterator[DecisionFinding]:
    """Which sentences on the articles are true."""
    sizes = [len(members) for members in found.camps.values()]
    if not sizes:
        yield F.ARTICLES_NONE
    elif len(sizes) == 1:
        yield F.ARTICLES_ONE_CAMP
    else:
        yield F.ARTICLES_TIED if sizes[0] == sizes[1] else F.ARTICLES_PART
    if found.silent:
        yield F.ARTICLES_SILENT
    if found.torn:
        yield F.ARTICLES_TORN
    if not found.agree:
        yield _difference(found, verdict)
    yield F.SIZES_TRIED if found.sizes else F.SIZES_NOT_TRIED


def _difference(found: Articles, verdict: Verdict) -> DecisionFinding:
    """Why this memo advises what no article does."""
    sides = answer_sides()
    named = {sides[answer] for answer in found.camps if sides[answer]}
    if named and not named & set(found.stands):
        return F.ARTICLES_DIFFER_ABSENT
    by_ground: dict[str, DecisionFinding] = {
        Ground.SIZE: F.ARTICLES_DIFFER_SIZE,
        Ground.DEADLINE: F.ARTICLES_DIFFER_DATE,
        Ground.WEIGHTS: F.ARTICLES_DIFFER_WEIGHTS,
    }
    close = F.ARTICLES_DIFFER_OPEN if verdict.confidence == Confidence.TOSS_UP else F.ARTICLES_DIFFER_PRICE
    return by_ground.get(verdict.decided_by, close if verdict.open else F.ARTICLES_DIFFER_MONEY)


def article_words(found: Articles) -> Mapping[str, object]:
    """The words of these sentences; None where there is no such camp."""
    publishers = {id: source.publisher.partition(" (")[0] for id, source in read_claims().sources.items()}
    names = answer_names()
    camps = [Named(names[a], a, who=Name(listed(publishers[a] for a in who))) for a, who in found.camps.items()]
    return {
        "camp": camps[0] if camps else None,
        "second_camp": camps[1] if len(camps) > 1 else None,
        "silent_articles": Name(listed(publishers[a] for a in found.silent)),
        "torn_articles": Name(listed(publishers[a] for a in found.torn)),
    }
