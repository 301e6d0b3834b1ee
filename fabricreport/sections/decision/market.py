"""What the decision says of what is sold when: words for generations, options only announced, liquid cooling."""

from __future__ import annotations

from collections.abc import Mapping

from fabricreport.books.names import whole_names
from fabricreport.findings import Name, Named, OptionName
from fabricreport.inputs import Inputs
from fabricreport.ledger import FigureOf
from fabricreport.sections.decision.alike import SPEED, Likeness, Mismatch, Pair, likeness
from fabricreport.sections.decision.result import DecisionResult
from fabricreport.sections.generations import announced


def told_alike(result: DecisionResult, figure: FigureOf) -> Likeness:
    """What becomes of the lead in one generation; `NONE` too where the two are of one."""
    mismatch = result.mismatch
    if mismatch is None or mismatch.alike is None:
        return Likeness.NONE
    lead = figure(f"decision.alike_lead.{mismatch.alike.key}")
    return likeness(figure("decision.difference"), lead, result.verdict.materiality)


def unpriced_in_place(given: Inputs, result: DecisionResult) -> list[OptionName]:
    """Names of the options that stand in for one of the two compared and whose switch nobody has priced."""
    pair = result.mismatch.alike if result.mismatch else None
    if pair is None:
        return []
    compared = (result.verdict.choice, result.verdict.runner_up)
    found = (given.all_options[o] for o in (pair.choice, pair.rival) if o not in compared)
    return [OptionName(o.name, o.id) for o in found if o.pieces["switch"].price in o.unquoted.values()]


def beyond_the_servers(given: Inputs, mismatch: Mismatch | None) -> bool:
    """Whether an option of the pair most alike has faster links than the client's servers carry."""
    pair, own = mismatch.alike if mismatch else None, float(given.params.cluster.link_gbits_per_s)
    return pair is not None and any(given.all_options[o].link_gbits_per_s > own for o in (pair.choice, pair.rival))


def market_words(given: Inputs, result: DecisionResult, alike: Likeness) -> Mapping[str, object]:
    """Words of the prose on generations, roadmap options and liquid cooling."""
    mismatch, pair = result.mismatch, {result.verdict.choice, result.verdict.runner_up}
    roadmap = [o for o in given.options if announced(o, given.as_of)]
    coming = result.later.coming if result.later else ()
    chosen = next(o for o in given.options if o.id == result.verdict.choice)
    return {
        "older_option": _dated(given, mismatch.older) if mismatch else None,
        "newer_option": _dated(given, mismatch.newer) if mismatch else None,
        "alike": _alike(given, mismatch.alike, alike) if mismatch and mismatch.alike else None,
        "ordered_from": Name(chosen.on_sale.isoformat()) if chosen.on_sale else None,
        "announced": tuple(_announced(given, o.id) for o in roadmap if o.id in pair),
        "announced_beside": tuple(_announced(given, o.id) for o in roadmap if o.id not in pair),
        "coming": tuple(_announced(given, o) for o in coming if o not in given.params.options),
        "liquid": tuple(whole_names(o for o in given.options if o.cooling == "liquid").values()),
    }


def _dated(given: Inputs, option: str) -> Named:
    """An option with the year of its generation."""
    found = given.all_options[option]
    return OptionName(found.name, found.id, year=Name(str(found.generation)))


def _announced(given: Inputs, option: str) -> Named:
    """An option with the day from which it can be ordered."""
    found = given.all_options[option]
    return OptionName(found.name, found.id, date=Name(found.on_sale.isoformat() if found.on_sale else ""))


def _alike(given: Inputs, pair: Pair, alike: Likeness) -> Named:
    """The pair that is most alike: which of its two costs less."""
    names = [OptionName(given.all_options[o].name, o) for o in (pair.choice, pair.rival)]
    cheaper, dearer = names if pair.lead >= 0 else reversed(names)
    terms = "of one generation and one link speed" if pair.key == SPEED else "of one generation"
    grade = Name(str(pair.verdict.confidence))
    return Named(str(alike), pair.key, cheaper=cheaper, dearer=dearer, terms=terms, grade=grade)
