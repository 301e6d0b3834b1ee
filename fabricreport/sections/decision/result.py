"""What the decision finds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from fabricreport.ledger import Number
from fabricreport.models.judgement.comparison import Rule, Verdict
from fabricreport.models.judgement.framework import FrameworkResult
from fabricreport.provenance import Traced, plain
from fabricreport.sections.decision.alike import Mismatch
from fabricreport.sections.decision.articles.study import Articles
from fabricreport.sections.decision.besides.study import Besides
from fabricreport.sections.decision.courses.result import CoursesResult
from fabricreport.sections.decision.information.study import Information
from fabricreport.sections.decision.joint.result import JointResult
from fabricreport.sections.decision.later import Later
from fabricreport.sections.decision.monday.at_stake import AtStake
from fabricreport.sections.decision.offers.bids import Bid
from fabricreport.sections.decision.offers.study import OffersResult
from fabricreport.sections.decision.priors import Prior
from fabricreport.sections.decision.reasons import Parting
from fabricreport.sections.decision.turning import Edge, Turn, Turns
from fabricreport.sections.decision.unquoted import Unquoted
from fabricreport.vocabulary import Ground

GROUNDS = (Ground.SIZE, Ground.DEADLINE, Ground.WEIGHTS)
"""What may decide besides money."""
WORTH_A_WORD = 0.01
"""A change that less than this share of the draws would bring is left to the table."""


@dataclass(frozen=True)
class DecisionResult:
    """The verdict and its rule, the framework's view, what would turn the answer, and the figures by id.

    `parting`: the reasons of both sides where framework and advice part. `difference` (draws,) is the runner-up's total cost less the choice's: positive means the choice is cheaper.
    `unquoted`: items of the two compared that nobody publishes a price for. `articles`: what the trade press would advise.
    `priors`: the inputs stated by kind of fabric. `kin`: an option of the choice's family too close to tell from it, or ''. `without`: the verdict with each option left out whose switch has one listed price.
    `offers`: of a client that rents, what sellers offer or publish; `bids`: of one that buys, its bills at their prices.
    `mismatch`: the two compared in one generation, where they are of different ones. `later`: what is bought when
    today's prices no longer hold. `joint`: what changes it when more than one thing moves.
    `information`: what could be found out first (None where nothing is left to choose).
    `courses`: the courses of action, and the one that is advised.
    `monday`: what is at stake in prices out of date and in later stages. `assumption_share`: share of the
    difference's explained spread that rests on assumptions. `besides`: reasons beyond money.
    """

    verdict: Verdict
    rule: Rule
    framework: FrameworkResult
    parting: Parting | None
    turns: Turns
    unquoted: tuple[Unquoted, ...]
    articles: Articles
    without: Mapping[str, Verdict]
    mismatch: Mismatch | None
    later: Later | None
    information: Information | None
    courses: CoursesResult
    monday: AtStake
    priors: tuple[Prior, ...]
    kin: str
    offers: OffersResult | None
    bids: Mapping[str, Bid]
    difference: Traced
    totals: Mapping[str, Traced]
    joint: JointResult
    assumption_share: float
    besides: Besides
    numbers: Mapping[str, Number]

    @property
    def swings(self) -> tuple[Turn, ...]:
        """Uncertain inputs that move the mean difference between their P5 and their P95, the farthest first."""
        return tuple(t for t in self.turns.drawn if t.width)

    @property
    def turned_without(self) -> tuple[str, ...]:
        """The options among them without which another course is advised."""
        return tuple(o for o, v in self.without.items() if v.course.id != self.verdict.course.id)

    @property
    def nearest_quote(self) -> Unquoted | None:
        """The item without a price whose quote may turn the money soonest: its level is nearest to what stands in."""
        turning = [u for u in self.unquoted if u.level is not None]
        return min(turning, key=lambda u: abs((u.level or 0.0) / u.in_use - 1), default=None)

    @property
    def in_time(self) -> tuple[str, ...]:
        """Of the two compared, those that are likely to be ready by the client's date."""
        pair = dict.fromkeys((self.verdict.choice, self.verdict.runner_up))
        return tuple(o for o in pair if self.verdict.likely(o, self.rule))

    @property
    def ground(self) -> str:
        """What the advice stands on: `size`, `deadline`, `weights`, or the class where money (or nothing) decides."""
        return self.verdict.decided_by if self.verdict.decided_by in GROUNDS else self.verdict.confidence

    def edges(self, count: int = 3) -> tuple[tuple[Turn, Edge], ...]:
        """Where the advice changes: the likeliest first of what may well lie there, then the client's choices.

        An input that the client chooses and nobody knows is told once, as chosen.
        """
        every = [(turn, edge) for turn in self.turns.turning for edge in turn.edges]
        chosen = [(turn, edge) for turn, edge in every if turn.is_choice]
        told = {(turn.input_id, edge.end) for turn, edge in chosen}
        drawn = [
            (chance, turn, edge)
            for turn, edge in every
            if (chance := edge.chance) is not None and (turn.input_id, edge.end) not in told
        ]
        likely = sorted((found for found in drawn if found[0] >= WORTH_A_WORD), key=lambda found: -found[0])
        return (*((turn, edge) for _, turn, edge in likely), *chosen)[:count]

    def dearest_cause(self, components: Mapping[str, Mapping[str, Any]], option: str) -> str:
        """The cause by which an option exceeds the choice most, on the mean of the draws."""
        mine, theirs = components[self.verdict.choice], components[option]
        zero = np.zeros(1)
        gaps = {
            c: float(plain(theirs.get(c, zero)).mean() - plain(mine.get(c, zero)).mean()) for c in {**mine, **theirs}
        }
        return max(gaps, key=lambda c: gaps[c])
