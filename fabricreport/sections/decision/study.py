"""The decision: what to do, how sure we are, what would change it, and what the framework says beyond the money."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from fabricreport.figures import DeclaredFigures
from fabricreport.inputs import Inputs
from fabricreport.models.judgement.comparison import Verdict
from fabricreport.models.judgement.swings import Swing, swings
from fabricreport.provenance import Traced, inputs_of
from fabricreport.sections.decision.alike import mismatch_of
from fabricreport.sections.decision.articles.study import articles_of
from fabricreport.sections.decision.besides.study import besides_of
from fabricreport.sections.decision.courses.study import courses_of
from fabricreport.sections.decision.figure_context import DecisionFigures
from fabricreport.sections.decision.figures import FIGURES
from fabricreport.sections.decision.information.knowledge import Knowledge
from fabricreport.sections.decision.information.study import information_of
from fabricreport.sections.decision.inputs import framework_of, near_kin
from fabricreport.sections.decision.joint.study import joint_of
from fabricreport.sections.decision.later import later_of
from fabricreport.sections.decision.listings import rests_on_listing, without_each
from fabricreport.sections.decision.monday.at_stake import at_stake_of
from fabricreport.sections.decision.offers.bids import bids_of
from fabricreport.sections.decision.priors import priors_of
from fabricreport.sections.decision.reasons import parting
from fabricreport.sections.decision.result import DecisionResult
from fabricreport.sections.decision.turning import Search, turns_of
from fabricreport.sections.decision.unquoted import unquoted_of
from fabricreport.vocabulary import NEITHER, Grade, Ground


def standing(verdict: Verdict, sides: Mapping[str, str], leans_to: str, printed: Mapping[str, float]) -> str:
    """Where the framework stands to the advice, by sides and printed total costs (both by option id).

    `none`: it leans to neither side. `chose`: it decided. `agrees`: it leans to the choice's family; `rival`: to the
    rival's; `behind`: to one that is neither and costs more than both; `third`: to one that is neither and does not;
    `absent`: to one that no option belongs to.
    """
    if leans_to == NEITHER:
        return "none"
    if leans_to == sides[verdict.choice]:
        return "chose" if verdict.decided_by == Ground.WEIGHTS else "agrees"
    if leans_to == sides[verdict.runner_up]:
        return "rival"
    offered = [cost for option, cost in printed.items() if sides[option] == leans_to]
    if not offered:
        return "absent"
    return "behind" if min(offered) > max(printed[verdict.choice], printed[verdict.runner_up]) else "third"


def run(given: Inputs, search: Search, knowledge: Knowledge) -> DecisionResult:
    """Decide for a case, from its chain, the comparison made on its bills, and what could be found out."""
    base, comparison, turns = search.base, search.comparison, turns_of(search)
    verdict = comparison.verdict
    if any(t.flips_inside and given.record(t.input_id)["grade"] == Grade.ASSUMPTION for t in turns.drawn):
        verdict = verdict.capped_by_assumption()
    framework, sides = framework_of(given), {o.id: o.side for o in given.options}
    without = without_each(given, base.bills)
    if rests_on_listing(comparison, without, sides):
        verdict = verdict.capped_by_listing()
    mismatch = mismatch_of(base, comparison)
    if mismatch is not None and mismatch.turns(verdict.lead):
        verdict = verdict.capped_by_generation()
    known = information_of(given, base.bills, knowledge, (verdict.choice, verdict.runner_up))
    courses = courses_of(given, base, comparison, search.judge, known)
    result = DecisionResult(
        verdict=verdict,
        rule=comparison.rule,
        framework=framework,
        parting=parting(given, comparison, base.bills, framework, sides),
        turns=turns,
        unquoted=unquoted_of(search),
        articles=articles_of(search, verdict, sides),
        without=without,
        mismatch=mismatch,
        later=later_of(given, base.bills, verdict.choice),
        information=known,
        courses=courses,
        monday=at_stake_of(search, courses),
        kin=near_kin(search.judge, base.bills, verdict),
        priors=priors_of(given, base.reached_by),
        offers=knowledge.offers,
        bids=bids_of(base),
        difference=comparison.lead,
        totals=base.bills.totals,
        joint=joint_of(search, turns),
        assumption_share=_assumed(given, _explained(given, comparison.lead)),
        besides=besides_of(base, search.fast, search.judge, comparison),
        numbers={},
    )
    return replace(result, numbers=DeclaredFigures(FIGURES, DecisionFigures(given, result, base.bills), given))


def _explained(given: Inputs, difference: Traced) -> tuple[Swing, ...]:
    """Shares of the difference's spread by input, off the draws."""
    ids = sorted(i for i in inputs_of(difference) if not i.startswith("claim:"))
    return swings(difference, {i: given.draw(i) for i in ids})


def _assumed(given: Inputs, found: tuple[Swing, ...]) -> float:
    known = sum(s.share_of_variance for s in found)
    ours = sum(s.share_of_variance for s in found if given.record(s.input_id)["grade"] == Grade.ASSUMPTION)
    return ours / known if known else 0.0
