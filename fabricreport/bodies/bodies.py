"""What every memo can say, to be asked without a case: findings, facts and words by its question, and every declared figure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal, NamedTuple

from fabricreport.base.vocabulary import Question
from fabricreport.bodies import buy_once, choose_provider, choose_provider_facts, grow_in_stages
from fabricreport.bodies.views import AllFindings, Told, body_names, called
from fabricreport.ledger.facts import Facts, Findings, Name, Spoken
from fabricreport.ledger.figures import Declaration
from fabricreport.scenario import SECTION_NAMES
from fabricreport.sections.decision.figures import FIGURES as DECISION
from fabricreport.sections.diligence.figures import FIGURES as DILIGENCE
from fabricreport.sections.evidence.figures import FIGURES as EVIDENCE
from fabricreport.sections.latency.figures import FIGURES as LATENCY
from fabricreport.sections.tail_risk.figures import FIGURES as TAIL
from fabricreport.sections.tco.figures import FIGURES as TCO

DECLARED: Mapping[str, Declaration[Any]] = {
    one.section: one for one in (DECISION, LATENCY, TCO, TAIL, DILIGENCE, EVIDENCE)
}
"""The declaration of each section by its name; `find_spec(DECLARED.values(), id)` tells which spec covers an id."""


@dataclass(frozen=True)
class Turns(Facts):
    """What a delivery's memo turns on."""

    verdict: Literal["accept", "credit", "retest", "refused_unpriced", "refused_advice"]
    """What to do; a network is refused for what no credit makes good, else because another is advised now."""
    owed: Literal["due", "not_due", "not_priced"]
    """Whether a credit is due; where something fails and none is, it has no price."""
    advised: Literal["unmoved", "still_advised", "still_open", "now_open", "now_clear", "lost", "never_advised"]
    """What becomes of the advice with what was measured."""


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
    names = body_names(case.inputs, *case.decision().verdict.pair)
    found = AllFindings(Findings(body.kind, body.find(case)), [s.findings for s in sections.values()])
    words = {word: called(names, value) for word, value in {**told, **body.words(case)}.items()}
    return Spoken(found, words, body.turns(case))


def _price_months(case: Told) -> Mapping[str, object]:
    """The months of the oldest and the newest price behind the advice, of those that the annex lists."""
    days = sorted(price.date for price in case.evidence().prices)
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
    Question.BUY_ONCE.spine: Body(buy_once.words, buy_once.Turns, buy_once.turns, buy_once.Finding, buy_once.findings),
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
