"""What the decision says of what is sold when: words for generations."""

from __future__ import annotations

from collections.abc import Mapping

from fabricreport.findings import Name, Named, OptionName
from fabricreport.inputs import Inputs
from fabricreport.ledger import FigureOf
from fabricreport.sections.decision.alike import SPEED, Likeness, Mismatch, Pair, likeness
from fabricreport.sections.decision.result import DecisionResult


def told_alike(result: DecisionResult, figure: FigureOf) -> Likeness:
    """What becomes of the lead in one generation; `NONE` too where the two are of one."""
    mismatch = result.mismatch
    if mismatch is None or mismatch.alike is None:
        return Likeness.NONE
    lead = figure(f"decision.alike_lead.{mismatch.alike.key}")
    return likeness(figure("decision.difference"), lead, result.verdict.materiality)


def beyond_the_servers(given: Inputs, mismatch: Mismatch | None) -> bool:
    """Whether an option of the pair most alike has faster links than the client's servers carry."""
    pair, own = mismatch.alike if mismatch else None, float(given.params.cluster.link_gbits_per_s)
    return pair is not None and any(given.all_options[o].link_gbits_per_s > own for o in (pair.choice, pair.rival))


def market_words(given: Inputs, result: DecisionResult, alike: Likeness) -> Mapping[str, object]:
    """Words of the prose on generations."""
    mismatch = result.mismatch
    return {
        "older_option": _dated(given, mismatch.older) if mismatch else None,
        "newer_option": _dated(given, mismatch.newer) if mismatch else None,
        "alike": _alike(given, mismatch.alike, alike) if mismatch and mismatch.alike else None,
    }


def _dated(given: Inputs, option: str) -> Named:
    """An option with the year of its generation."""
    found = given.all_options[option]
    return OptionName(found.name, found.id, year=Name(str(found.generation)))


def _alike(given: Inputs, pair: Pair, alike: Likeness) -> Named:
    """The pair that is most alike: which of its two costs less."""
    names = [OptionName(given.all_options[o].name, o) for o in (pair.choice, pair.rival)]
    cheaper, dearer = names if pair.lead >= 0 else reversed(names)
    terms = "of one generation and one link speed" if pair.key == SPEED else "of one generation"
    grade = Name(str(pair.verdict.confidence))
    return Named(str(alike), pair.key, cheaper=cheaper, dearer=dearer, terms=terms, grade=grade)
