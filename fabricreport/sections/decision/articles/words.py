"""What is said of the articles: who would advise what."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fabricreport.books.claims import read_claims
from fabricreport.findings import Name, Named
from fabricreport.formats import listed
from fabricreport.sections.decision.articles.study import Articles, answer_names
from fabricreport.sections.decision.finding import DecisionFinding

F = DecisionFinding


def article_findings(found: Articles) -> Iterator[DecisionFinding]:
    """Which sentences on the articles are true."""
    sizes = [len(members) for members in found.camps.values()]
    if len(sizes) == 1:
        yield F.ARTICLES_ONE_CAMP
    elif sizes:
        yield F.ARTICLES_TIED if sizes[0] == sizes[1] else F.ARTICLES_PART


def article_words(found: Articles) -> Mapping[str, object]:
    """The words of these sentences; None where there is no such camp."""
    publishers = {id: source.publisher.partition(" (")[0] for id, source in read_claims().sources.items()}
    names = answer_names()
    camps = [Named(names[a], a, who=Name(listed(publishers[a] for a in who))) for a, who in found.camps.items()]
    return {
        "camp": camps[0] if camps else None,
        "second_camp": camps[1] if len(camps) > 1 else None,
    }
