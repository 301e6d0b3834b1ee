"""What is at stake that no other part of the decision asks for: prices out of date, and the last day to sign."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from fabricreport.durations import DAYS_PER_WEEK
from fabricreport.provenance import inputs_of, mean_of, plain
from fabricreport.sections.decision.courses.result import RENTED_WEEKS, CoursesResult
from fabricreport.sections.decision.monday.dates import LastDay, last_day_to_sign
from fabricreport.sections.decision.turning import Search, settling
from fabricreport.uncertain import exactly
from fabricreport.vocabulary import CourseKind

_PRICE, _QUOTED = "price:", "quote"


@dataclass(frozen=True)
class AtStake:
    """`stale`: how far each price that is out of date moves the mean total cost of the choice between its P5 and its P95,
    by item, the widest first. `last`: the last day to sign; `last_rests_on`: ids of the inputs behind its chance."""

    stale: Mapping[str, float]
    last: LastDay
    last_rests_on: frozenset[str]


def at_stake_of(search: Search, courses: CoursesResult) -> AtStake:
    """What is at stake for the choice of a comparison, on the course that is advised."""
    given, choice = search.base.given, search.comparison.choice
    behind = sorted(i for i in inputs_of(search.base.bills.totals[choice]) if i.startswith(_PRICE))
    old = [i for i in behind if given.prices.by_id(i).stale and settling(i)["kind"] == _QUOTED]
    moved = {i.removeprefix(_PRICE): _moved(search, i, choice) for i in old}
    ranked = sorted((i for i in moved if moved[i] > 0), key=lambda i: -moved[i])
    weeks = _weeks(search, courses)
    last = last_day_to_sign(
        given.as_of,
        DAYS_PER_WEEK * search.judge.weeks_allowed,
        [DAYS_PER_WEEK * plain(given.spread(w)) for w in weeks],
        search.judge.rule.ready_probability,
    )
    return AtStake({i: moved[i] for i in ranked}, last, inputs_of(*weeks))


def _weeks(search: Search, courses: CoursesResult) -> tuple[Any, ...]:
    """Weeks until stable after signing: of the choice, or of either of the two where the course is open.

    Machines rented first run already, and jobs within nodes wait for no network between nodes.
    """
    verdict, own = search.comparison.verdict, search.base.bills.own
    taken = dict.fromkeys((verdict.choice, verdict.runner_up) if verdict.open else (verdict.choice,))
    factors: dict[str, Any] = {
        CourseKind.RENT_FIRST: search.base.given.value(RENTED_WEEKS),
        CourseKind.SINGLE_NODE: 0.0,
    }
    factor = factors.get(courses.advised.kind, 1.0)
    return tuple(own[o].bring_up_weeks * factor for o in taken)


def _moved(search: Search, input_id: str, option: str) -> float:
    """How far an input moves an option's mean total cost, all others at their draws."""
    ends = np.quantile(plain(search.base.given.own(input_id)), [0.05, 0.95])
    if ends[0] == ends[1]:
        return 0.0
    at = [search.fast.replacing({input_id: exactly(float(end))}).bills.totals[option] for end in ends]
    return abs(mean_of(at[1]) - mean_of(at[0]))
