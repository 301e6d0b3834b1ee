"""The findings and the words of a memo's body, by its question."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum

from fabricreport.findings import Findings, Name, Spoken
from fabricreport.provenance import inputs_of
from fabricreport.scenario import SECTION_NAMES
from fabricreport.spine import buy_once, choose_provider, grow_in_stages
from fabricreport.spine.called import body_names, called
from fabricreport.spine.told import AllFindings, Told
from fabricreport.vocabulary import Question


def spoken_of(case: Told, spine: str) -> Spoken:
    """What a spine's own findings and those of all sections are, and their words: the spine's own go first.

    Options go in all of them by what the body calls them.
    """
    kind, find, words = SPINE[spine]
    sections = {s: case.spoken(s) for s in SECTION_NAMES}
    own = Findings(kind, find(case))
    told: dict[str, object] = {}
    for section in reversed(SECTION_NAMES):
        told |= sections[section].words
    told |= _price_months(case)
    verdict = case.decision().verdict
    names = body_names(case.inputs, verdict.choice, verdict.runner_up)
    found = AllFindings(own, [s.findings for s in sections.values()])
    return Spoken(found, {word: called(names, value) for word, value in {**told, **words(case)}.items()})


def _price_months(case: Told) -> Mapping[str, object]:
    """The months of the oldest and the newest price behind the totals of page one: of the offers, else of the two compared."""
    result = case.decision()
    offers = [judged.total for judged in result.offers.judged.values()] if result.offers else []
    pair = (result.verdict.choice, result.verdict.runner_up)
    behind = inputs_of(*(offers or [result.totals[o] for o in pair if o in result.totals]))
    days = sorted(case.inputs.prices.by_id(i).date for i in behind if i.startswith("price:"))
    months = (Name(f"{days[0]:%B %Y}"), Name(f"{days[-1]:%B %Y}")) if days else (None, None)
    return dict(zip(("oldest_price", "newest_price"), months, strict=True))


Find = Callable[[Told], Iterator[StrEnum]]
Words = Callable[[Told], Mapping[str, object]]

SPINE: Mapping[str, tuple[type[StrEnum], Find, Words]] = {
    Question.BUY_ONCE.spine: (buy_once.Finding, buy_once.findings, buy_once.words),
    Question.CHOOSE_PROVIDER.spine: (choose_provider.Finding, choose_provider.findings, choose_provider.words),
    Question.GROW_IN_STAGES.spine: (grow_in_stages.Finding, grow_in_stages.findings, grow_in_stages.words),
}
"""Each spine's own findings (their enumeration, and those that hold) and its own words."""
