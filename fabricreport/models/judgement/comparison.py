"""The comparison that decides: one course, one rival, one lead and its statistic, made once for the whole memo.

Money is the spine: the mean difference of total costs on shared draws. A lead that is small against what tells the two
apart is a close call, and only then may the client's date, policy, estate, order or weights decide.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fabricreport.base.provenance import Traced, mean_of, plain
from fabricreport.base.vocabulary import NEITHER, Confidence, CourseKind, Ground
from fabricreport.models.information import evpi


@dataclass(frozen=True)
class Rule:
    """The printed rule.

    `clear_probability`: share of draws, as it is printed, from which a lead is clear. A lead is close below the largest of
    `material_share` of what tells the lines of two bills apart, the noise of their quotes, and `network_share` of the
    dearer network. A close call does not matter where knowing everything is worth less than `trifling_share` of that
    network. `turning_share`: a clear lead that one input turns in more of its outcomes is leaning. `ready_probability`:
    from which an option is likely to be ready in time. `fabric_matters_from_gpus`: below it no fabric is worth a decision.
    """

    clear_probability: float
    material_share: float
    network_share: float
    trifling_share: float
    turning_share: float
    ready_probability: float
    fabric_matters_from_gpus: int


@dataclass(frozen=True)
class Apart:
    """What tells two bills apart, in the memo's currency: nothing here holds what both have alike.

    `lines`: the sum, over the lines that are printed, of what the two differ by on the mean. `quotes`: the standard deviation
    of their difference that quotes leave. `network`: what the dearer of the two networks costs to buy and to run.
    """

    lines: float
    quotes: float
    network: float

    def material(self, rule: Rule, stated: float | None = None) -> float:
        """The money below which a lead is close: what the client states, else by the rule."""
        if stated is not None:
            return stated
        return max(rule.material_share * self.lines, self.quotes, rule.network_share * self.network)


@dataclass(frozen=True)
class Course:
    """A course of action: its kind, and the options that it is about."""

    kind: CourseKind
    options: tuple[str, ...]

    @property
    def id(self) -> str:
        """The course in one word, such as `take:infiniband-ndr`."""
        return f"{self.kind}:{'+'.join(sorted(self.options))}"


@dataclass(frozen=True)
class Verdict:
    """What is advised and how sure we are.

    `choice` and `runner_up` are option ids; where the course is open (`either`) the choice is only the one with the lower
    mean. `confidence`: a `Confidence`. `decided_by`: a `Ground`; `nothing` for a close call that stays open. Money, in the
    memo's currency: `lead` (mean cost of the runner-up less the choice's), `materiality` (what it is held against), `evpi`
    (most that knowing every input could be worth), `trifle` (what that is held against). `probability`: share of draws in
    which the choice costs less. `ready`: chance of being stable by the client's date, by option. `agrees`: whether the
    framework leans to the choice's family (None: to neither). `capped`: why a clear lead is called leaning (`input`,
    `priors`, `deadline`, `listing`, `generation`, `act`, or '' if it is not). `preferred_by`: the ground on which the choice is taken
    before another of its side that costs less, by too little to tell; None where there is none. `tied`: the options that money
    does not tell from the choice, each by what makes that very pair close; the choice first, then the cheapest.
    """

    choice: str
    runner_up: str
    confidence: Confidence
    decided_by: Ground
    probability: float
    lead: float
    evpi: float
    materiality: float
    trifle: float
    ready: Mapping[str, float]
    agrees: bool | None
    capped: str = ""
    preferred_by: Ground | None = None
    tied: tuple[str, ...] = ()

    @property
    def pair(self) -> tuple[str, str]:
        """The two compared: the choice, and the option that it is held against."""
        return self.choice, self.runner_up

    @property
    def open(self) -> bool:
        """Whether the course is left open between the two: the lead is close, or the size too small for any fabric to show."""
        return self.decided_by in (Ground.NOTHING, Ground.SIZE) and self.choice != self.runner_up

    @property
    def course(self) -> Course:
        """The plain course of action: the one to take, or either of the two."""
        if self.open:
            return Course(CourseKind.EITHER, self.pair)
        return Course(CourseKind.TAKE, (self.choice,))

    def likely(self, option: str, rule: Rule) -> bool:
        """Whether the option is likely to be ready in time."""
        return self.ready[option] >= rule.ready_probability

    def capped_by(self, reason: str) -> Verdict:
        """The verdict at most leaning, for this reason; a close call stays one."""
        clear = self.confidence == Confidence.CLEAR
        return replace(self, confidence=Confidence.LEANING, capped=reason) if clear else self


@dataclass(frozen=True)
class Weighing:
    """What may decide a close call: the client's own date, then the first of `grounds` that speaks for one of the two alone.

    `grounds`: each with the options that it speaks for, in the order in which they are asked. `leans_to`: the side to which
    the framework leans.
    """

    leans_to: str
    date_stated: bool
    grounds: tuple[tuple[Ground, frozenset[str]], ...] = ()


@dataclass(frozen=True)
class Comparison:
    """The verdict, the rule it follows from, and the lead by draw: cost of the runner-up less the choice's."""

    verdict: Verdict
    rule: Rule
    lead: Traced

    @property
    def choice(self) -> str:
        """The option advised (of an open course: the one with the lower mean)."""
        return self.verdict.choice

    @property
    def rival(self) -> str:
        """The option it is held against."""
        return self.verdict.runner_up


def expected_order(totals: Mapping[str, Any]) -> tuple[str, ...]:
    """Option ids, lowest mean total first."""
    return tuple(sorted(totals, key=lambda o: float(plain(totals[o]).mean())))


def rival_of(order: Sequence[str], sides: Mapping[str, str]) -> str:
    """The best option of another family than the first's; the next best where all are of one family."""
    others = [o for o in order[1:] if sides[o] != sides[order[0]]]
    return others[0] if others else order[min(1, len(order) - 1)]


def probability_cheaper(gap: Any) -> float:
    """Share of draws (draws,) of a cost difference above zero; zero counts half."""
    d = plain(gap)
    return float(np.mean(d > 0) + np.mean(d == 0) / 2)


def lines_apart(components_a: Mapping[str, Any], components_b: Mapping[str, Any]) -> float:
    """The sum over the printed lines of two bills of what their means differ by: 0 for a line that both have alike."""
    names = {**components_a, **components_b}
    means = ((mean_of(of.get(name, _NOTHING)) for of in (components_a, components_b)) for name in names)
    return float(sum(abs(a - b) for a, b in means))


_NOTHING = np.zeros(1)


def noise(parts_a: Mapping[str, Any], parts_b: Mapping[str, Any], quoted: Sequence[str]) -> float:
    """Standard deviation over the draws of the difference in what sellers quote (the lines named)."""
    gaps = (plain(parts_a.get(n, _NOTHING)) - plain(parts_b.get(n, _NOTHING)) for n in quoted)
    gap = sum(gaps, start=_NOTHING)
    return float(np.std(gap))


def noise_apart(parts_a: Mapping[str, Any], parts_b: Mapping[str, Any], line: str, spread: float) -> float:
    """The same for a line that each option is quoted by another seller, whose quotes have this spread over their mean."""
    a, b = (mean_of(parts.get(line, 0.0)) for parts in (parts_a, parts_b))
    return float(np.hypot(a, b)) * spread


def decide(
    totals: Mapping[str, Any],
    sides: Mapping[str, str],
    *,
    rule: Rule,
    apart: Callable[[str, str], Apart],
    ready: Mapping[str, float],
    weighing: Weighing,
    gpus: int,
    gpus_per_node: int,
    stated: float | None = None,
) -> Verdict:
    """Apply the printed rule to total costs (option id -> (draws,)): the verdict on a pair, and all that tie with its choice.

    `apart(a, b)`: what tells two options apart. `stated`: the client's own materiality. Raises nothing for a single option:
    it is then its own rival, with no lead.
    """
    found = _on_a_pair(totals, sides, rule, apart, ready, weighing, gpus if gpus > gpus_per_node else 0, stated)
    return replace(found, tied=tied(found, totals, lambda a, b: apart(a, b).material(rule, stated)))


def tied(found: Verdict, totals: Mapping[str, Any], material: Callable[[str, str], float]) -> tuple[str, ...]:
    """The options that lie no further from the choice, on the mean, than what makes the two close; of a client so small that no
    network shows the two compared."""
    if found.decided_by == Ground.SIZE:
        return tuple(dict.fromkeys((found.choice, found.runner_up)))
    mean = {o: mean_of(total) for o, total in totals.items()}
    near = (o for o in expected_order(totals) if o != found.choice)
    level = (o for o in near if abs(mean[o] - mean[found.choice]) <= material(found.choice, o))
    return (found.choice, *level)


def _on_a_pair(
    totals: Mapping[str, Any],
    sides: Mapping[str, str],
    rule: Rule,
    apart: Callable[[str, str], Apart],
    ready: Mapping[str, float],
    weighing: Weighing,
    gpus: int,
    stated: float | None,
) -> Verdict:
    """The verdict on the option taken and the best of another side; `gpus`: 0 where they fit in a node."""
    order = expected_order(totals)
    rival = rival_of(order, sides)
    choice, preferred_by = _preferred(order[: order.index(rival)] or order, totals, weighing, rule, apart, stated)
    pair = np.stack([plain(totals[rival]), plain(totals[choice])])
    gap = pair[0] - pair[1]
    between = apart(choice, rival)
    found = Verdict(
        choice, rival, Confidence.CLEAR, Ground.MONEY, probability_cheaper(gap), float(gap.mean()), evpi(pair.T),
        float(between.material(rule, stated)), rule.trifling_share * between.network, ready,
        _agrees(weighing.leans_to, sides[choice]), preferred_by=preferred_by,
    )  # fmt: skip
    if gpus < max(rule.fabric_matters_from_gpus, 1):
        return replace(found, confidence=Confidence.DOES_NOT_MATTER, decided_by=Ground.SIZE)
    confidence = classed(found, rule)
    if confidence.close:
        return _settled(replace(found, confidence=confidence, decided_by=Ground.NOTHING), sides, rule, weighing)
    late = weighing.date_stated and found.likely(rival, rule) and not found.likely(choice, rule)
    classed_so = replace(found, confidence=confidence)
    return classed_so.capped_by("deadline") if late else classed_so


def _preferred(
    cheaper: Sequence[str],
    totals: Mapping[str, Any],
    weighing: Weighing,
    rule: Rule,
    apart: Callable[[str, str], Apart],
    stated: float | None,
) -> tuple[str, Ground | None]:
    """The first of those that cost less than the rival, all of one side, or another that money does not tell from it and that
    the first ground to tell the two apart speaks for; and that ground."""
    first = cheaper[0]
    for other in cheaper[1:] if any(speaks_for for _, speaks_for in weighing.grounds) else ():
        gap = mean_of(totals[other]) - mean_of(totals[first])
        if gap > apart(first, other).material(rule, stated):
            continue  # each pair has its own amount: a dearer one may still lie within that of its pair
        telling = [(g, other in options) for g, options in weighing.grounds if (first in options) != (other in options)]
        if telling and telling[0][1]:
            return other, telling[0][0]
    return first, None


def classed(found: Verdict, rule: Rule) -> Confidence:
    """The class by lead and odds: close up to the materiality, clear from the rule's share of draws, as it is printed."""
    if found.lead <= found.materiality:
        trifling = found.evpi < found.trifle or found.evpi == 0
        return Confidence.DOES_NOT_MATTER if trifling else Confidence.CLOSE
    return Confidence.CLEAR if reached(found.probability, rule) else Confidence.LEANING


def reached(share: float, rule: Rule) -> bool:
    """Whether a share of draws, as it is printed, is enough for a lead, or an act, to be clear."""
    return round(share, 2) >= rule.clear_probability


def _settled(close: Verdict, sides: Mapping[str, str], rule: Rule, weighing: Weighing) -> Verdict:
    """A close call, decided by the first thing that tells the two apart: the client's date, then the grounds in their order."""
    pair = (close.choice, close.runner_up)
    if close.choice == close.runner_up:
        return replace(close, decided_by=Ground.MONEY)
    dated = ((Ground.DEADLINE, frozenset(o for o in pair if close.likely(o, rule))),) if weighing.date_stated else ()
    for ground, speaks_for in (*dated, *weighing.grounds):
        alone = [o for o in pair if o in speaks_for]
        if len(alone) == 1:
            return _turned_to(alone[0], replace(close, decided_by=ground), sides, weighing)
    return close


def _turned_to(option: str, verdict: Verdict, sides: Mapping[str, str], weighing: Weighing) -> Verdict:
    """The verdict with this option of the two as its choice."""
    if option == verdict.choice:
        return verdict
    return replace(
        verdict,
        choice=verdict.runner_up,
        runner_up=verdict.choice,
        probability=1 - verdict.probability,
        lead=-verdict.lead,
        agrees=_agrees(weighing.leans_to, sides[option]),
    )


def _agrees(leans_to: str, family: str) -> bool | None:
    """Whether the framework leans to the family; None when it does not lean."""
    return None if leans_to == NEITHER else leans_to == family
