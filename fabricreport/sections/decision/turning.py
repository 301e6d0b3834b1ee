"""What would change the answer: every input that could, moved alone with the model run again.

Candidates are screened on the draws that exist; only what can turn inside its range is run, and only the parts of the
model that the input reaches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from fnmatch import fnmatchcase
from functools import cached_property, lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from fabricreport.base.errors import InputError
from fabricreport.base.memory import cached_method
from fabricreport.base.provenance import drawn_exactly, mean_of, plain
from fabricreport.base.uncertain import exactly
from fabricreport.base.units import DAYS_PER_WEEK
from fabricreport.base.vocabulary import CourseKind
from fabricreport.base.yaml_files import read_yaml
from fabricreport.inputs.inputs import Inputs
from fabricreport.models.judgement.comparison import Comparison, Course
from fabricreport.models.judgement.turning import (
    Asked,
    PriceLevel,
    Seen,
    Turning,
    price_level,
    reach,
    reached,
    turning,
    turning_at,
    turning_of_whole,
)
from fabricreport.scenario import changed_params
from fabricreport.sections.chain import Chain
from fabricreport.sections.decision.inputs import Judge, judge_of
from fabricreport.sections.tco.result import Bills

SHOWN = 12
"""Most bars of the chart of swings."""
_DOUBT = 1.5
"""A screened reach is taken to be this much wider: the screen is linear, the model is not."""
_MONTHS = (6, 12, 18, 24, 30, 36, 42, 48, 54, 60, 72, 84, 96, 108, 120)
_EVERY_WEEK = range(1, 53)
_WEEKS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 20, 26, 39, 52)


STEPPED = ("param:money.horizon_months", "param:cluster.gpus", "param:schedule.production_by")
"""Choices of the client's that are tried in steps."""


class Edge(NamedTuple):
    """Where the advice changes, or the money is level: the `end` of its figure's id, the value, the side on which it has changed,
    the course there ('' of money), and the chance of lying beyond it (None for a choice)."""

    end: str
    at: float
    side: str
    course: str
    chance: float | None

    @property
    def odds(self) -> float:
        """The chance of lying beyond it; 0 of a choice."""
        return self.chance or 0.0

    @property
    def beyond(self) -> str:
        """The end of the id of that chance."""
        return "beyond" if self.end == "break_even" else f"beyond_{self.end}"


@dataclass(frozen=True)
class Turn:
    """One input and what it does to the lead, all others at their draws.

    `in_use`: the mean of its draws, or the client's choice. `low`, `high`: its P5 and P95; `at_low`, `at_high`: the mean
    lead there (nan for a choice). `level`: where the money is level; `edges`: where the advice changes on either side of the
    value in use, the nearer first. `currency` is that of a price.
    """

    input_id: str
    unit: str
    currency: str
    in_use: float
    low: float
    high: float
    at_low: float
    at_high: float
    level: Edge | None
    edges: tuple[Edge, ...]

    @property
    def is_choice(self) -> bool:
        """Whether the client sets it, rather than the world."""
        return bool(np.isnan(self.low))

    def told(self, side: str) -> str:
        """The side of an edge as it is told: `at` where only steps were tried, for between them the advice may turn again."""
        return "at" if self.input_id in STEPPED else side

    @property
    def width(self) -> float:
        """The size of the swing between P5 and P95."""
        return abs(self.at_high - self.at_low) if np.isfinite(self.at_low) else 0.0

    @property
    def points(self) -> tuple[Edge, ...]:
        """Where the money is level and where the advice changes, as far as that lies inside its range."""
        return ((self.level,) if self.level else ()) + self.edges

    @property
    def beyond(self) -> float:
        """How often it lies beyond the value at which the money is level; 0 where it is level nowhere, or the client sets it."""
        return self.level.odds if self.level else 0.0

    @property
    def chance(self) -> float:
        """How often it lies beyond the nearer edge, else beyond where the money is level."""
        return self.edges[0].odds if self.edges else self.beyond

    @property
    def settled(self) -> Mapping[str, str]:
        """What settles it (`what`), when (`when`, in words), and who can tell it (`who`)."""
        return settling(self.input_id)


@dataclass(frozen=True)
class Turns:
    """Every input that was run again: `drawn` the uncertain ones, widest swing first; `choices` the client's own."""

    drawn: tuple[Turn, ...]
    choices: tuple[Turn, ...]

    @property
    def turning(self) -> tuple[Turn, ...]:
        """Those that turn the money or the advice: likeliest first, then the client's choices."""
        ranked = sorted((t for t in self.drawn if t.points), key=lambda t: -t.beyond)
        return (*ranked, *(t for t in self.choices if t.points))

    @property
    def uncertain(self) -> tuple[Turn, ...]:
        """Those of them that are no choice of the client's and may be other than they are reckoned, the likeliest to turn first."""
        found = (turn for turn in self.turning if not turn.is_choice and turn.high > turn.low)
        return tuple(sorted(found, key=lambda turn: -turn.chance))


@lru_cache(maxsize=1)
def _settlings() -> tuple[tuple[tuple[str, ...], Mapping[str, str]], ...]:
    data = read_yaml("settling")
    return tuple(
        (
            tuple(e["ids"]),
            {
                "what": e["what"],
                "when": data["when"][e["when"]],
                "kind": e["when"],
                "who": data["who"][e["when"]],
                "step": e["step"],
            },
        )
        for e in data["settling"]
    )


def label_of(given: Inputs, input_id: str) -> str:
    """What an input is called: one of the client's choices by its name in prose, any other by its record's label."""
    names: Mapping[str, str] = read_yaml("settling")["names"]
    return names.get(input_id) or str(given.record(input_id)["label"])


def key_of(input_id: str) -> str:
    """An input's id as the ids of figures spell it."""
    return input_id.replace(":", ".")


def settling(input_id: str) -> Mapping[str, str]:
    """What settles an input and when, in words."""
    return next(found for patterns, found in _settlings() if any(fnmatchcase(input_id, p) for p in patterns))


class Search:
    """The inputs of one case moved alone, each at most once however many sections ask.

    `base` is the chain that the comparison was made on, `fast` the same without provenance, on which what-ifs are run.
    """

    def __init__(self, base: Chain, comparison: Comparison) -> None:
        self.base, self.comparison = base, comparison
        self.judge = judge_of(base.given)

    @cached_property
    def fast(self) -> Chain:
        """The chain that what-ifs are run on."""
        return self.base.bare()

    @cached_property
    def screened(self) -> tuple[str, ...]:
        """Ids of the inputs that may turn the lead by a linear screen, and of the widest swings: those to run again."""
        given, verdict = self.base.given, self.comparison.verdict
        own = {i: plain(given.own(i)) for i in sorted(self.base.reached_by) if varies(given, i)}
        expected = reach(plain(self.comparison.lead), own)
        shown = sorted(expected, key=lambda i: -abs(expected[i][1] - expected[i][0]))[:SHOWN]
        return tuple(i for i in expected if i in shown or _may_cross(expected[i], verdict.lead))

    @cached_method
    def turn(self, input_id: str) -> Turn:
        """What one drawn input does to the lead."""
        return _turn(self.base.given, self._model(input_id), input_id, plain(self.base.given.own(input_id)))

    @cached_method
    def price_level(self, input_id: str) -> PriceLevel | None:
        """At which price in the place of one drawn input the money is level, beyond its range too.

        The same point as its row among the turns, where it has one. None where it moves no money.
        """
        turn = self.turn(input_id)
        return price_level(self._model(input_id), turn.in_use, turn.level and turn.level.at)

    def taken(self, input_id: str, beside: str) -> tuple[float, str] | None:
        """The nearest value of one drawn input at which one option alone is advised, and not `beside`, with the course there."""
        turn, asked = self.turn(input_id), self._model(input_id)
        draws = plain(self.base.given.own(input_id))
        ends = float(draws.min()), float(draws.max())
        able = Course(CourseKind.TAKE, (beside,)).id
        at = reached(
            asked, turn.in_use, ends, lambda seen: seen.course.startswith(f"{CourseKind.TAKE}:") and seen.course != able
        )
        return None if at is None else (at, asked(at).course)

    def _model(self, input_id: str) -> Asked:
        """The model asked at values of one input, all others at their draws."""
        return Asked(
            lambda value: _seen(self.fast.replacing({input_id: exactly(value)}).bills, self.comparison, self.judge)
        )


def turns_of(search: Search) -> Turns:
    """Every input that can turn the comparison, and the widest swings."""
    drawn = [search.turn(i) for i in search.screened]
    return Turns(
        tuple(sorted(drawn, key=lambda t: -t.width)),
        tuple(_choices(search.fast, search.comparison)),
    )


def turned_by_one(search: Search, share: float) -> bool:
    """Whether more than this share of the outcomes of one input, all others at theirs, change the side that leads."""
    return any(search.turn(i).beyond > share for i in search.screened)


def varies(given: Inputs, input_id: str) -> bool:
    """Whether an input is drawn and its draws differ; an entry that another one speaks for is drawn as that."""
    found = given.in_force(input_id)
    if found.follows != input_id or isinstance(found.value, str):
        return False
    return not drawn_exactly(given.own(input_id))


def _may_cross(ends: tuple[float, float], lead: float) -> bool:
    """Whether the lead may be used up somewhere in an input's range, by the screen and its doubt."""
    low, high = (lead + _DOUBT * (end - lead) for end in sorted(ends))
    return low <= 0 <= high


def _seen(bills: Bills, comparison: Comparison, judge: Judge) -> Seen:
    gap = plain(bills.gap(comparison.rival, comparison.choice))
    verdict = judge.verdict(bills)
    return Seen(float(gap.mean()), verdict.materiality, verdict.course.id)


def _turn(given: Inputs, asked: Asked, input_id: str, draws: Any) -> Turn:
    low, high = (float(q) for q in np.quantile(draws, [0.05, 0.95]))
    ends = float(draws.min()), float(draws.max())
    in_use = float(draws.mean())
    at_low, at_high = asked(low).lead, asked(high).lead
    points = _points(turning(asked, in_use, *ends), in_use, draws)
    unit, currency = str(given.record(input_id)["unit"]), given.in_force(input_id).currency or "USD"
    return Turn(input_id, unit, currency, in_use, low, high, at_low, at_high, *points)


def _points(found: Turning, in_use: float, draws: Any = None) -> tuple[Edge | None, tuple[Edge, ...]]:
    """Where the money is level, and the edges, each with the share of the draws that lie beyond it where there are any."""

    def point(end: str, at: float, course: str = "") -> Edge:
        above = at > in_use
        chance = None if draws is None else float(np.mean(draws > at if above else draws < at))
        return Edge(end, at, "above" if above else "below", course, chance)

    level = None if found.level is None else point("break_even", found.level)
    nearer = () if found.edge is None else (point("edge", found.edge, found.course),)
    return level, nearer + ((point("other_edge", *found.beyond),) if found.beyond else ())


def _choices(base: Chain, comparison: Comparison) -> Iterator[Turn]:
    """The client's own choices: each set to other values, the whole chain run again where it reaches all of it."""
    params = base.given.params
    value = hour_value(base)
    if value > 0:
        found = turning(Asked(_under(base, comparison, "money__gpu_hour_value", float)), value, value / 4, value * 4)
        yield _choice("param:money.gpu_hour_value", "usd/gpu-hour", value, found)
    months = int(params.money.horizon_months)
    last = max((s.month for s in params.cluster.trajectory), default=0)
    horizon = turning_of_whole(
        _under(base, comparison, "money__horizon_months", int), months, tuple(m for m in _MONTHS if m > last)
    )
    yield _choice("param:money.horizon_months", "month", months, horizon)
    if params.dated:
        weeks = params.weeks_allowed
        yield _choice("param:schedule.production_by", "week", weeks, _dated(base, comparison, weeks))
    yield from _size(base, comparison)


def _dated(base: Chain, comparison: Comparison, weeks: float) -> Turning:
    """Where the date turns the advice, week by week: it may do so in a band of dates and not before or after it."""
    if np.any(plain(base.bills.common.delay_per_day) > 0):
        model = _under(base, comparison, "schedule__production_by", partial(_day_after, base.given.as_of))
        return turning_of_whole(model, round(weeks), _WEEKS)
    judge = judge_of(base.given)

    def seen(allowed: float) -> Seen:
        dated = replace(judge, weeks_allowed=allowed, weighing=replace(judge.weighing, date_stated=True))
        return _seen(base.bills, comparison, dated)

    here = seen(weeks)
    changed = [(float(w), s.course) for w in _EVERY_WEEK if (s := seen(w)).course != here.course]
    sides = [[c for c in changed if c[0] < weeks][-1:], [c for c in changed if c[0] > weeks][:1]]
    return turning_at(weeks, None, [edge for side in sides for edge in side])


def _day_after(as_of: date, weeks: float) -> str:
    """The day so many weeks after the memo's date, as the params have it."""
    return (as_of + timedelta(days=round(weeks * DAYS_PER_WEEK))).isoformat()


def _size(base: Chain, comparison: Comparison) -> Iterator[Turn]:
    cluster = base.given.params.cluster
    if cluster.trajectory or base.given.params.workload.parallelism != "choose":
        return
    per_node = cluster.gpus_per_node
    sizes = sorted({max(per_node * 2, 2**k) for k in range(4, 16)})
    near = [n for n in sizes if cluster.gpus / 8 <= n <= cluster.gpus * 8 and n % per_node == 0]
    found = turning_of_whole(_under(base, comparison, "cluster__gpus", int), int(cluster.gpus), tuple(near))
    yield _choice("param:cluster.gpus", "gpus", int(cluster.gpus), found)


def _choice(input_id: str, unit: str, in_use: float, found: Turning) -> Turn:
    nan = float("nan")
    return Turn(input_id, unit, "USD", in_use, nan, nan, nan, nan, *_points(found, in_use))


def hour_value(base: Chain) -> float:
    """US dollars that a lost GPU-hour is worth on the mean."""
    rate = mean_of(base.given.rate("USD"))
    return mean_of(base.bills.common.gpu_hour_value) / rate


def _under(base: Chain, comparison: Comparison, key: str, kind: Callable[[float], Any]) -> Callable[[Any], Seen]:
    """The model with one key of the params set; a value the client's plan does not allow changes nothing.

    The options stay those of the client, also where others would be proposed for such a plan.
    """
    compared = {"options": list(base.given.params.options)}

    def model(value: Any) -> Seen:
        try:
            keys = {**compared, key: kind(value)}
            params = changed_params(base.given.params, keys, {}, extra_options=base.given.all_options)
            given = base.given.with_params(params)
            again = _RERUNS.get(key, Chain.again)(base, given)
        except InputError:
            found = comparison.verdict
            return Seen(found.lead, found.materiality, found.course.id)
        return _seen(again.bills, comparison, judge_of(given))

    return model


_RERUNS: Mapping[str, Callable[[Chain, Inputs], Chain]] = {
    "money__gpu_hour_value": Chain.under,
    "schedule__production_by": Chain.under,
    "money__horizon_months": Chain.over,
}
"""How the chain is run again for the keys that do not reach all of it."""
