"""What is said of the articles: each finding true of one constructed result and false of another, words always the same."""

from __future__ import annotations

from rows import rows

from fabricreport.models.judgement.articles import SILENT, TORN, Advised, camps
from fabricreport.sections.decision.articles.study import Articles
from fabricreport.sections.decision.articles.words import article_findings, article_words
from fabricreport.sections.decision.finding import DecisionFinding as F

ANSWERS = ("infiniband", "rocev2", "does-not-matter")


def articles(*says: str, agree: tuple[str, ...] = ("S0",)) -> Articles:
    advised = {f"S{n}": Advised(f"S{n}", one, ()) for n, one in enumerate(says)}
    return Articles(advised, camps(advised), agree, {}, {"infiniband": "ib", "rocev2": "roce"})


IB, ROCE, ANY = ANSWERS


@rows(
    ("says", "view"),
    [
        ((IB, IB, ROCE, ANY, IB), F.ARTICLES_PART),
        ((IB, IB, ROCE, ROCE, ANY), F.ARTICLES_TIED),
        ((ROCE, SILENT, ROCE, TORN, ROCE), F.ARTICLES_ONE_CAMP),
        ((SILENT, TORN, SILENT, TORN, TORN), None),
    ],
)
def test_the_articles_agree_part_tie_or_give_no_answer(says: tuple[str, ...], view: F | None) -> None:
    assert set(article_findings(articles(*says))) == ({view} if view else set())


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
    assert (none["camp"], none["second_camp"]) == (None, None)
