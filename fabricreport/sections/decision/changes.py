"""What would change the advice: what is worth knowing, and at which value another option is advised, as this client counts it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from fabricreport.models.information import Estimate
from fabricreport.provenance import plain
from fabricreport.sections.decision.turning import Edge, Search, Turn

MOST = 3
"""Rows of page one at most."""
LEAST = 0.01
"""A value that less than this share of the draws lies beyond is reached by none."""


@dataclass(frozen=True)
class Change:
    """An input that is worth knowing, and the `edge` at which another option is advised."""

    turn: Turn
    edge: Edge
    worth: Estimate


def changes_of(
    search: Search, drawn: tuple[Turn, ...], worth: Callable[[tuple[str, ...]], Estimate]
) -> tuple[Change, ...]:
    """Those of the inputs moved alone that are worth knowing and reach another option, by what knowing them is worth."""
    known = [(turn, worth((turn.input_id,))) for turn in drawn if turn.flips or turn.edge is not None]
    telling = sorted(((t, e) for t, e in known if not e.below_noise), key=lambda found: -found[1].value)
    found = []
    for turn, estimate in telling:
        edge = _other_option(search, turn)
        if edge is not None and (edge.chance or 0.0) >= LEAST:
            found.append(Change(turn, edge, estimate))
        if len(found) == MOST:
            break
    return tuple(found)


def _other_option(search: Search, turn: Turn) -> Edge | None:
    """The nearest value at which another option than the one taken now is advised; of two that are open either is another."""
    verdict = search.comparison.verdict
    draws = plain(search.base.given.own(turn.input_id))
    reached = search.taken(turn.input_id, "" if verdict.open else verdict.choice)
    if reached is None:
        return None
    at, course = reached
    above = at > turn.in_use
    chance = float(np.mean(draws >= at if above else draws <= at))
    return Edge("change", at, "above" if above else "below", course, chance)
