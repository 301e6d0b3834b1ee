"""The decision: what to do, how sure we are, what would change it, and what the framework says beyond the money."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fabricreport.chain import Chain
from fabricreport.inputs import Inputs
from fabricreport.ledger import Number
from fabricreport.models.judgement.comparison import Comparison, Rule, Verdict
from fabricreport.models.judgement.framework import FrameworkResult
from fabricreport.models.judgement.swings import Swing, probability_cheapest, swings
from fabricreport.provenance import Traced, inputs_of, plain
from fabricreport.sections.decision.inputs import framework_of
from fabricreport.sections.decision.reasons import Parting, parting
from fabricreport.sections.decision.turning import Turn, Turns, turns_of

_GRADED_ASSUMPTION = "assumption"
GROUNDS = ("size", "deadline", "weights")
"""What may decide besides money."""


@dataclass(frozen=True)
class DecisionResult:
    """The verdict and its rule, the framework's view, what would turn the answer, and the figures by id.

    `parting`: the reasons of both sides where framework and advice part. `difference` (draws,) is the runner-up's total cost less the choice's: positive means the choice is cheaper.
    `probabilities`: share of draws in which each option is the cheapest of all. `assumption_share`: share of the
    difference's explained spread that rests on assumptions.
    """

    verdict: Verdict
    rule: Rule
    framework: FrameworkResult
    parting: Parting | None
    turns: Turns
    difference: Traced
    totals: Mapping[str, Traced]
    probabilities: Mapping[str, float]
    assumption_share: float
    numbers: Mapping[str, Number]

    @property
    def swings(self) -> tuple[Turn, ...]:
        """Uncertain inputs by how far they move the mean difference between their P5 and their P95, widest first."""
        return self.turns.drawn

    @property
    def in_time(self) -> tuple[str, ...]:
        """Options that are likely to be ready by the client's date."""
        return tuple(o for o in self.totals if self.verdict.likely(o, self.rule))

    @property
    def ground(self) -> str:
        """What the advice stands on: `size`, `deadline`, `weights`, or the class where money (or nothing) decides."""
        return self.verdict.decided_by if self.verdict.decided_by in GROUNDS else self.verdict.confidence

    def flips(self, count: int = 3) -> tuple[Turn, ...]:
        """Inputs whose break-even lies inside their range, the likeliest to lie beyond it first, then the client's choices."""
        return tuple(t for t in self.turns.turning if t.flips)[:count]

    def edges(self, count: int = 3) -> tuple[Turn, ...]:
        """Inputs that change the advice somewhere inside their range, in the same order."""
        return tuple(t for t in self.turns.turning if t.edge is not None)[:count]

    def dearest_cause(self, components: Mapping[str, Mapping[str, Any]], option: str) -> str:
        """The cause by which an option exceeds the choice most, on the mean of the draws."""
        mine, theirs = components[self.verdict.choice], components[option]
        zero = np.zeros(1)
        gaps = {
            c: float(plain(theirs.get(c, zero)).mean() - plain(mine.get(c, zero)).mean()) for c in {**mine, **theirs}
        }
        return max(gaps, key=lambda c: gaps[c])


def direction(difference: Number) -> str:
    """Whether the advised option costs `less` or `more` than its rival, or the `same`: by the figure as it is printed."""
    if not any(digit in "123456789" for digit in difference.text):
        return "same"
    return "less" if difference.value > 0 else "more"


def standing(verdict: Verdict, families: Mapping[str, str], leans_to: str, printed: Mapping[str, float]) -> str:
    """Where the framework stands to the advice, by families and printed total costs (both by option id).

    `none`: it leans to neither side. `chose`: it decided. `agrees`: it leans to the choice's family; `rival`: to the
    rival's; `behind`: to one that is neither and costs more than both; `third`: to one that is neither and does not;
    `absent`: to one that no option belongs to.
    """
    if leans_to == "neither":
        return "none"
    if leans_to == families[verdict.choice]:
        return "chose" if verdict.decided_by == "weights" else "agrees"
    if leans_to == families[verdict.runner_up]:
        return "rival"
    offered = [cost for option, cost in printed.items() if families[option] == leans_to]
    if not offered:
        return "absent"
    return "behind" if min(offered) > max(printed[verdict.choice], printed[verdict.runner_up]) else "third"


def run(given: Inputs, base: Chain, comparison: Comparison) -> DecisionResult:
    """Decide for a case, from its chain and the comparison made on its bills."""
    from fabricreport.sections.decision.figures import numbers_of

    turns = turns_of(base, comparison)
    verdict = comparison.verdict
    if any(t.flips_inside and given.record(t.input_id)["grade"] == _GRADED_ASSUMPTION for t in turns.drawn):
        verdict = verdict.capped_by_assumption()
    framework, families = framework_of(given), {o.id: o.family for o in given.options}
    result = DecisionResult(
        verdict=verdict,
        rule=comparison.rule,
        framework=framework,
        parting=parting(given, comparison, base.bills, framework, families),
        turns=turns,
        difference=comparison.lead,
        totals=base.bills.totals,
        probabilities=probability_cheapest(base.bills.totals),
        assumption_share=_assumed(given, _explained(given, comparison.lead)),
        numbers={},
    )
    return replace(result, numbers={n.id: n for n in numbers_of(given, result, base.bills)})


def _explained(given: Inputs, difference: Traced) -> tuple[Swing, ...]:
    """Shares of the difference's spread by input, off the draws."""
    ids = sorted(i for i in inputs_of(difference) if not i.startswith("claim:"))
    return swings(difference, {i: given.draw(i) for i in ids})


def _assumed(given: Inputs, found: tuple[Swing, ...]) -> float:
    known = sum(s.share_of_variance for s in found)
    ours = sum(s.share_of_variance for s in found if given.record(s.input_id)["grade"] == _GRADED_ASSUMPTION)
    return ours / known if known else 0.0
