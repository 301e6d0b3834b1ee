"""The decision before and after the answers of sellers, and with each question's answers alone.

Without answers the whole chain is run once more; each answer then runs again the parts of it that its inputs reach.
"""

from __future__ import annotations

from collections.abc import Mapping

from fabricreport.answered import Answered
from fabricreport.books.names import whole_names
from fabricreport.books.questions import known_ids
from fabricreport.chain import Chain, chain
from fabricreport.inputs import Inputs
from fabricreport.models.judgement.comparison import Comparison
from fabricreport.provenance import Traced
from fabricreport.sections.decision.inputs import comparison_of, judge_of
from fabricreport.sections.decision.offers.study import OffersResult, offers_of
from fabricreport.sections.diligence.changes import Changes, Outcome
from fabricreport.sections.tco.bills import Bills
from fabricreport.uncertain import Uncertain


def changes_of(given: Inputs, comparison: Comparison, offers: OffersResult | None) -> Changes | None:
    """What the answers change, from the comparison and the offers with all of them; None where nobody has answered."""
    found = given.answered if given.answer_files else Answered()
    if not found:
        return None
    silent = given.without_answers(())
    base = chain(silent)
    every = set(known_ids().values())
    asked = dict.fromkeys(m.question for m in found.moving)
    return Changes(
        found,
        _outcome(silent, base),
        {q: _outcome(given.without_answers(every - {q}), base) for q in asked},
        outcome_of(given, comparison, offers),
    )


def outcome_of(given: Inputs, comparison: Comparison, offers: OffersResult | None) -> Outcome:
    """What is advised: of a renter the offer to take or to ask first, else the option."""
    if given.team.rented and offers is not None:
        best, other = offers.best, offers.next
        lead = given.spread(other.total - best.total) if best and other else None
        return Outcome(best.offer.seller if best else "", lead)
    name = whole_names(given.options)
    alone = len(given.options) == 1
    course = "" if comparison.verdict.open else name[comparison.choice]
    return Outcome(course, None if alone else Traced(comparison.lead))


def _outcome(given: Inputs, base: Chain) -> Outcome:
    """The outcome under some of the answers, from the chain without any."""
    figures = {i: value for i, (value, _) in given.answered.figures.items()}
    run = chain(given) if given.answered.leads else base.replacing(figures) if figures else base

    def again(own: Mapping[str, Uncertain]) -> Bills:
        return run.replacing(own).bills

    offers = offers_of(given, run.bills, judge_of(given), again) if given.team.rented else None
    return outcome_of(given, comparison_of(given, run.bills), offers)
