"""The decision: what to do, how sure we are, what would change it, and what the framework says beyond the money."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from fabricreport.figures import DeclaredFigures
from fabricreport.models.judgement.comparison import Verdict
from fabricreport.sections.decision.figures import FIGURES, DecisionFigures
from fabricreport.sections.decision.information.knowledge import Knowledge
from fabricreport.sections.decision.monday.study import Monday
from fabricreport.sections.decision.result import DecisionResult
from fabricreport.sections.decision.turning import Search
from fabricreport.vocabulary import NEITHER, Ground


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


def run(search: Search, knowledge: Callable[[], Knowledge], steps: Callable[[], Monday]) -> DecisionResult:
    """Decide for a case, from its chain, the comparison made on its bills, and what could be found out; `steps`: what to do."""
    given, bills = search.base.given, search.base.bills
    return DecisionResult(
        search, knowledge, lambda result: DeclaredFigures(FIGURES, DecisionFigures(given, result, bills, steps), given)
    )
