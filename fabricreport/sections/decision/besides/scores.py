"""What no bill holds: each option's score on five criteria by printed rules, and what all weightings make of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fabricreport.books.families import families
from fabricreport.books.options import Option
from fabricreport.books.providers import read_providers
from fabricreport.evidence import read_yaml
from fabricreport.inputs import Inputs
from fabricreport.models.judgement.framework import marked, met
from fabricreport.models.judgement.smaa import Acceptability, nearest_flip, weighed
from fabricreport.sections.client import rented
from fabricreport.sections.decision.inputs import Judge, assumed_facts, facts_of
from fabricreport.sections.generations import announced
from fabricreport.sections.tco.bills import Bills
from fabricreport.uncertain import Uncertain

CRITERIA = tuple(str(c["id"]) for c in read_yaml("besides")["criteria"])
"""The criteria beyond money, in the order of the tables."""


@dataclass(frozen=True)
class Score:
    """An option's score on a criterion, 0 worst to 1 best: a number, or draws where nobody can say, whose middle is `mean`;
    and the rule behind it."""

    rule: str
    criterion: str
    reason: str
    sources: tuple[str, ...]
    value: Any
    mean: float


@dataclass(frozen=True)
class Weighed:
    """The options that money does not rule out, their scores by option and criterion, and what all weightings make of them.

    `telling`: the criteria that are weighed: those on which they differ, or all where the client orders them. `found` speaks of `options` and `telling` in
    their order; None where there is nothing to weigh. `even`: the option that leads at equal weights, and `flip` the
    smallest L1 change from these at which another draws level (None: none does), both on mean scores.
    """

    options: tuple[str, ...]
    scores: Mapping[str, Mapping[str, Score]]
    telling: tuple[str, ...] = ()
    found: Acceptability | None = None
    even: str = ""
    flip: float | None = None

    @property
    def first(self) -> dict[str, float]:
        """Share of all weightings at which each option is first, the largest first; empty where nothing is weighed."""
        if self.found is None:
            return {}
        shares = dict(zip(self.options, (float(s) for s in self.found.first), strict=True))
        return dict(sorted(shares.items(), key=lambda item: -item[1]))

    @property
    def leader(self) -> str:
        """The option most often first; '' where nothing is weighed."""
        return next(iter(self.first), "")

    @property
    def stands_out(self) -> bool:
        """Whether one option is more often first than not."""
        return bool(self.first) and self.first[self.leader] > float(read_yaml("besides")["stands_out_from"])

    @property
    def runner_up(self) -> str:
        """The option most often first of those that are not first at equal weights and mean scores; '' where none is."""
        return next((o for o, share in self.first.items() if o != self.even and share > 0), "")

    def strongest(self, sides: Mapping[str, str]) -> str:
        """The criterion on which the leader is furthest before the best of the other sides, or of all others."""
        others = [o for o in self.options if sides[o] != sides[self.leader]]
        others = others or [o for o in self.options if o != self.leader]

        def ahead(criterion: str) -> float:
            return self.scores[self.leader][criterion].mean - max(self.scores[o][criterion].mean for o in others)

        return max(self.telling, key=ahead)

    @property
    def rules(self) -> tuple[tuple[Score, tuple[str, ...]], ...]:
        """Each rule that holds, with the options that it holds for, by criterion."""
        found: dict[str, tuple[Score, tuple[str, ...]]] = {}
        for criterion in CRITERIA:
            for option in self.options:
                score = self.scores[option][criterion]
                found[score.rule] = (score, (*found.get(score.rule, (score, ()))[1], option))
        return tuple(found.values())


def weighed_of(given: Inputs, judge: Judge, bills: Bills, compared: tuple[str, ...]) -> Weighed:
    """The options scored and weighed: those that may be advised and that money does not rule out.

    An option costs too much to be weighed where it is none of the two `compared` and its mean total exceeds that of the
    first of them by more than the printed rule's share.
    """
    totals = {o: float(np.mean(total)) for o, total in judge.advisable(bills).items()}
    most = totals[compared[0]] * (1 + given.central("evidence:rule-clear-gap-share"))
    kept = {o for o, total in totals.items() if o in compared or total <= most}
    options = tuple(o for o in given.options if o.id in kept)
    scores = {o.id: scores_of(given, o) for o in options}
    order = tuple(given.params.organisation.beyond_money)
    return weigh(scores, seed=int(given.params.seed), draws=given.draws, order=order)


def weigh(scores: Mapping[str, Mapping[str, Score]], *, seed: int, draws: int, order: Sequence[str] = ()) -> Weighed:
    """What all weightings of the criteria on which options differ make of their scores.

    `order`: criteria from the most important on, those not named after them; then only weightings that keep it count, and
    all five are weighed, for a criterion on which options agree still stands between two others.
    """
    options = tuple(scores)
    telling = tuple(c for c in CRITERIA if len({_identity(scores[o][c]) for o in options}) > 1)
    if not telling:
        return Weighed(options, scores)
    if len(telling) > 1 and order:
        telling = CRITERIA
    places = [[telling.index(c)] for c in order] if telling == CRITERIA else []
    rest = [i for i, c in enumerate(telling) if c not in order]
    groups = [*places, *([rest] if rest else [])] if places else []
    means = np.array([[scores[o][c].mean for c in telling] for o in options])
    values = means
    if any(np.ndim(scores[o][c].value) for o in options for c in telling):
        rows = [[np.broadcast_to(scores[o][c].value, (draws,)) for c in telling] for o in options]
        values = np.moveaxis(np.array(rows, dtype=float), 2, 0)
    even = np.full(len(telling), 1 / len(telling))
    return Weighed(
        options,
        scores,
        telling,
        weighed(values, seed=seed, draws=draws, groups=groups),
        options[int(np.argmax(means @ even))],
        nearest_flip(means, even),
    )


def _identity(score: Score) -> object:
    """What tells scores apart: the number, or the rule whose draws they are."""
    return float(score.value) if np.ndim(score.value) == 0 else score.rule


def scores_of(given: Inputs, option: Option) -> dict[str, Score]:
    """An option's score on every criterion: by the first rule that holds."""
    data, facts, assumed = read_yaml("besides"), option_facts(given, option), assumed_facts(given.params)
    found: dict[str, Score] = {}
    for rule in data["rules"]:
        if rule["criterion"] not in found and met(rule["when"], facts):
            found[rule["criterion"]] = Score(
                rule["id"],
                rule["criterion"],
                marked(rule["reason"], rule["when"], assumed),
                tuple(rule.get("sources", ())),
                *_value(given, rule, facts),
            )
    return found


def _value(given: Inputs, rule: Mapping[str, Any], facts: Mapping[str, Any]) -> tuple[Any, float]:
    """A rule's score and its mean: a number, a fact that is a share, or draws that are the same for every option it holds
    for."""
    stated = rule["value"]
    if isinstance(stated, Mapping):
        drawn = given.sampler.draws(Uncertain.of(stated), f"besides:{rule['id']}")
        return drawn, float(stated["low"] + stated["high"]) / 2
    known = float(facts[stated] if isinstance(stated, str) else stated)
    return known, known


def option_facts(given: Inputs, option: Option) -> dict[str, Any]:
    """The client's facts that the framework asks for, and those of one option."""
    return {
        **facts_of(given),
        "rented": rented(given),
        "side": str(option.side),
        "operating_model": option.operating_model,
        "takes_skill": option.behaviour.skill,
        "announced": announced(option, given.as_of),
        "unquoted": option.pieces["switch"].price in option.unquoted.values(),
        "offered": offered(given, option),
    }


def offered(given: Inputs, option: Option) -> float:
    """Share of the providers in question that document a fabric of the option's side: the client's, or all that are listed."""
    book = read_providers()
    named = [seller for p in given.params.providers if (seller := book.seller(p.name)) is not None]
    asked = [s for s in named or book.sellers if s.fabric in families()]
    return sum(families()[s.fabric].side == option.side for s in asked) / len(asked) if asked else 0.0
