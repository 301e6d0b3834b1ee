"""The comparison that decides: one course, one rival, one lead and its statistic, made once for the whole memo.

Money is the spine: the mean difference of total costs on shared draws. A lead that is small against what the two
options do not share is a close call, and only then may the client's date or the client's stated weights decide.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabricreport.models.information import evpi
from fabricreport.provenance import Traced, plain
from fabricreport.vocabulary import NEITHER, Confidence, CourseKind, Ground

SAME = 0.02
"""Lines that differ by less than this share are the same line twice: only how lost hours are shared out differs."""


@dataclass(frozen=True)
class Rule:
    """The printed rule.

    `clear_probability`: share of draws from which a lead is clear. `material_share`: share of the lines that differ.
    `ready_probability`: from which an option is likely to be ready in time. `fabric_matters_from_gpus`: below it no
    fabric is worth a decision.
    """

    clear_probability: float
    material_share: float
    ready_probability: float
    fabric_matters_from_gpus: int


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
    mean. `confidence`: a `Confidence`. `decided_by`: `money`, `size`, `deadline`, `weights`, or `nothing` for a close call
    that stays open. Money, in the memo's currency: `lead` (mean cost of the runner-up less the choice's), `evpi` (most that
    knowing every input could be worth), `materiality` (what both are held against). `probability`: share of draws in
    which the choice costs less. `ready`: chance of being stable by the client's date, by option. `agrees`: whether the
    framework leans to the choice's family (None: to neither). `capped`: why a clear lead is called leaning
    (`assumption`, `deadline`, `listing`, `generation`, or '' if it is not).
    """

    choice: str
    runner_up: str
    confidence: Confidence
    decided_by: Ground
    probability: float
    lead: float
    evpi: float
    materiality: float
    ready: Mapping[str, float]
    agrees: bool | None
    capped: str = ""

    @property
    def open(self) -> bool:
        """Whether the course is left open between the two: the lead is close, or the size too small for any fabric to show."""
        return self.decided_by in (Ground.NOTHING, Ground.SIZE) and self.choice != self.runner_up

    @property
    def course(self) -> Course:
        """The plain course of action: the one to take, or either of the two."""
        if self.open:
            return Course(CourseKind.EITHER, (self.choice, self.runner_up))
        return Course(CourseKind.TAKE, (self.choice,))

    def likely(self, option: str, rule: Rule) -> bool:
        """Whether the option is likely to be ready in time."""
        return self.ready[option] >= rule.ready_probability

    def capped_by_assumption(self) -> Verdict:
        """The verdict where the choice turns inside the range of an assumption: at most leaning."""
        return self._capped("assumption")

    def capped_by_listing(self) -> Verdict:
        """The verdict where the choice rests on one listed price, and without it another fabric is advised."""
        return self._capped("listing")

    def capped_by_generation(self) -> Verdict:
        """The verdict where the side that leads changes with the generation of the equipment."""
        return self._capped("generation")

    def _capped(self, reason: str) -> Verdict:
        clear = self.confidence == Confidence.CLEAR
        return replace(self, confidence=Confidence.LEANING, capped=reason) if clear else self


@dataclass(frozen=True)
class Weighing:
    """What may decide a close call: the framework's lean beyond the money, where the client's own weights make it a strong
    one (`weights_stated`), and the client's own date."""

    leans_to: str
    weights_stated: bool
    date_stated: bool


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


def stake(parts_a: Mapping[str, Any], parts_b: Mapping[str, Any]) -> float:
    """What the lines of two bills that differ come to: the mean of both, over every line that is not the same in both.

    Equal costs never count: a line that both share is no part of the choice. Lines count as the same when the mean of
    their difference in size is below `SAME` of their mean.
    """
    found = 0.0
    for name in {**parts_a, **parts_b}:
        a, b = (plain(parts.get(name, 0.0)) for parts in (parts_a, parts_b))
        amount = (abs(_mean(a)) + abs(_mean(b))) / 2
        if _mean(np.abs(a - b)) > SAME * amount:
            found += amount
    return found


def _mean(draws: NDArray[np.float64]) -> float:
    """What `np.mean` gives, at a quarter of its overhead: a decision asks for thousands of them."""
    return float(np.add.reduce(draws, axis=None)) / draws.size


def noise(parts_a: Mapping[str, Any], parts_b: Mapping[str, Any], quoted: Sequence[str]) -> float:
    """Standard deviation over the draws of the difference in what sellers quote (the lines named)."""
    zero = np.zeros(1)
    gap = sum((plain(parts_a.get(n, zero)) - plain(parts_b.get(n, zero)) for n in quoted), start=zero)
    return float(np.std(gap))


def noise_apart(parts_a: Mapping[str, Any], parts_b: Mapping[str, Any], line: str) -> float:
    """The same for a line that each option is quoted by another seller: the two vary on their own, draws not shared."""
    a, b = (float(np.std(plain(parts.get(line, 0.0)))) for parts in (parts_a, parts_b))
    return float(np.hypot(a, b))


def decide(
    totals: Mapping[str, Any],
    sides: Mapping[str, str],
    *,
    rule: Rule,
    materiality: Callable[[str, str], float],
    ready: Mapping[str, float],
    weighing: Weighing,
    gpus: int,
    gpus_per_node: int,
) -> Verdict:
    """Apply the printed rule to total costs (option id -> (draws,)).

    `materiality(a, b)` is the money below which a lead between two options is close. Raises nothing for a single option: it
    is then its own rival, with no lead.
    """
    order = expected_order(totals)
    choice, rival = order[0], rival_of(order, sides)
    pair = np.stack([plain(totals[rival]), plain(totals[choice])])
    gap = pair[0] - pair[1]
    lead, worth, m = float(gap.mean()), evpi(pair.T), float(materiality(choice, rival))
    found = Verdict(
        choice, rival, Confidence.CLEAR, Ground.MONEY, probability_cheaper(gap), lead, worth, m, ready,
        _agrees(weighing.leans_to, sides[choice]),
    )  # fmt: skip
    if gpus <= gpus_per_node or gpus < rule.fabric_matters_from_gpus:
        return replace(found, confidence=Confidence.DOES_NOT_MATTER, decided_by=Ground.SIZE)
    if lead < m or lead == 0:  # two equal options have nothing at stake: what counts is then nothing, too
        close = Confidence.DOES_NOT_MATTER if worth < m or worth == 0 else Confidence.TOSS_UP
        return _settled(replace(found, confidence=close, decided_by=Ground.NOTHING), sides, rule, weighing)
    if found.probability < rule.clear_probability:
        return replace(found, confidence=Confidence.LEANING)
    late = weighing.date_stated and found.likely(rival, rule) and not found.likely(choice, rule)
    return replace(found, confidence=Confidence.LEANING, capped="deadline") if late else found


def _settled(close: Verdict, sides: Mapping[str, str], rule: Rule, weighing: Weighing) -> Verdict:
    """A close call, decided by the client's date or weights where they tell the two apart."""
    pair = (close.choice, close.runner_up)
    in_time = [o for o in pair if close.likely(o, rule)]
    if close.choice == close.runner_up:
        return replace(close, decided_by=Ground.MONEY)
    if not in_time and close.ready[pair[0]] != close.ready[pair[1]]:
        in_time = [
            max(pair, key=lambda o: close.ready[o])
        ]  # the likelier of two unlikely ones: fewer weeks turn nothing back
    if weighing.date_stated and len(in_time) == 1:
        return _turned_to(in_time[0], replace(close, decided_by=Ground.DEADLINE), sides, weighing)
    leaning = [o for o in pair if sides[o] == weighing.leans_to]
    if weighing.weights_stated and len(leaning) == 1:
        return _turned_to(leaning[0], replace(close, decided_by=Ground.WEIGHTS), sides, weighing)
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
