"""The findings, the facts and the words of a memo's body, by its question."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from typing import NamedTuple

from fabricreport.findings import Facts, Findings, Name, Spoken
from fabricreport.provenance import inputs_of
from fabricreport.scenario import SECTION_NAMES
from fabricreport.spine import buy_once, buy_once_facts, choose_provider, choose_provider_facts, grow_in_stages
from fabricreport.spine.called import body_names, called
from fabricreport.spine.told import AllFindings, Told
from fabricreport.vocabulary import Question


def spoken_of(case: Told, spine: str) -> Spoken:
    """What a spine's own findings and those of all sections are, its facts, and their words: the spine's own go first.

    Options go in all of them by what the body calls them.
    """
    body = SPINE[spine]
    sections = {s: case.spoken(s) for s in SECTION_NAMES}
    told: dict[str, object] = {}
    for section in reversed(SECTION_NAMES):
        told |= sections[section].words
    told |= _price_months(case)
    verdict = case.decision().verdict
    names = body_names(case.inputs, verdict.choice, verdict.runner_up)
    found = AllFindings(Findings(body.kind, body.find(case)), [s.findings for s in sections.values()])
    words = {word: called(names, value) for word, value in {**told, **body.words(case)}.items()}
    return Spoken(found, words, body.turns(case))


def _price_months(case: Told) -> Mapping[str, object]:
    """The months of the oldest and the newest price behind the totals of page one: of the offers, else of the two compared."""
    result = case.decision()
    offers = [judged.total for judged in result.offers.judged.values()] if result.offers else []
    pair = (result.verdict.choice, result.verdict.runner_up)
    behind = inputs_of(*(offers or [result.totals[o] for o in pair if o in result.totals]))
    days = sorted(case.inputs.prices.by_id(i).date for i in behind if i.startswith("price:"))
    months = (Name(f"{days[0]:%B %Y}"), Name(f"{days[-1]:%B %Y}")) if days else (None, None)
    return dict(zip(("oldest_price", "newest_price"), months, strict=True))


class Body(NamedTuple):
    """A spine's own words, its facts (of which kinds, and those of a case), and its own findings (their enumeration, and
    those that hold)."""

    words: Callable[[Told], Mapping[str, object]]
    facts: type[Facts]
    turns: Callable[[Told], Facts]
    kind: type[StrEnum] = StrEnum
    find: Callable[[Told], Iterator[StrEnum]] = lambda _: iter(())


SPINE: Mapping[str, Body] = {
    Question.BUY_ONCE.spine: Body(
        buy_once.words, buy_once_facts.Turns, buy_once_facts.turns, buy_once.Finding, buy_once.findings
    ),
    Question.CHOOSE_PROVIDER.spine: Body(
        choose_provider.words, choose_provider_facts.Turns, choose_provider_facts.turns
    ),
    Question.GROW_IN_STAGES.spine: Body(
        grow_in_stages.words,
        grow_in_stages.Turns,
        grow_in_stages.turns,
        grow_in_stages.Finding,
        grow_in_stages.findings,
    ),
}
