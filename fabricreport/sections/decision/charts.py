"""The pictures of the decision: the difference in money, when each option runs, where the advice turns, what sellers ask."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes

from fabricreport.base import formats
from fabricreport.base.provenance import mean_of, plain
from fabricreport.blocks import Drawing
from fabricreport.blocks.narrow import ON_PAGE
from fabricreport.blocks.theme import (
    FIRST,
    INK,
    MUTED,
    OUTLINE_PT,
    RISE,
    amounts,
    days_axis,
    drawn,
    label_end,
    money_axis,
    pair,
    place_of,
    rounded,
    row_canvas,
    spread_labels,
    wrapped,
)
from fabricreport.books.names import input_names, option_names
from fabricreport.books.sellers import Network
from fabricreport.inputs.inputs import Inputs
from fabricreport.sections.decision.courses.result import Schedule
from fabricreport.sections.decision.offers.judgements import Judged, hour_of, hourly_add_ons, price_of
from fabricreport.sections.decision.offers.study import OffersResult
from fabricreport.sections.decision.result import DecisionResult
from fabricreport.sections.decision.turning import key_of
from fabricreport.sections.schedule import Step

MOST_TURNS = 8
"""Most inputs drawn with the value at which they turn the advice."""
_SHARES = (0.5, 0.9)
_SWITCH = ["input", "in_use", "p5", "p95", "turns_at", "side", "told"]
_NAME_WIDTH = 0.12
"""Of the width of the drawing, for the name of a step."""
_STEPS = (Step.ANSWERS, Step.ORDER, Step.DELIVERY, Step.POWER_ON, Step.STABLE, Step.PRODUCTION)
_DOT_PT2, _RING_PT2 = 30, 40
"""Areas of a dot and of a ring, in points squared."""
_PASSED = 0.12
"""Of the width of its range, how far beyond an end a value is drawn that lies still further out."""


def schedule_chart(given: Inputs, result: DecisionResult, chart_id: str = "fig-body-schedule") -> Drawing:
    """Each option's way from the memo's date to production: a tick where half of the outcomes have taken a step, a dot where
    half are in production and a ring where nine in ten are, beside the client's date."""
    found, verdict = result.schedule, result.verdict
    inks, names = pair(*verdict.pair), option_names(given.options, *verdict.pair)
    order = list(dict.fromkeys((*verdict.pair, *found.clocks)))
    frame = pd.DataFrame([step for option in order for step in _way(found, option)])
    with row_canvas([wrapped(names[option].row, 24, 1) for option in order], head=2, foot=True) as (figure, axis):
        for at, option in enumerate(order):
            ink, way = inks.get(option, MUTED), frame[frame.option == option]
            half, late = way.half.iloc[-1], way.nine_in_ten.iloc[-1]
            axis.plot([found.as_of, half], [at, at], color=ink, linewidth=2.6, solid_capstyle="butt")
            axis.plot([half, late], [at, at], color=ink, linewidth=0.9)
            axis.plot(way.half[:-1], [at] * (len(way) - 1), "|", color=ink, markersize=8, markeredgewidth=1.2)
            for day, face in ((half, ink), (late, "white")):
                sns.scatterplot(
                    x=[day], y=[at], color=face, edgecolor=ink, linewidth=OUTLINE_PT, s=_DOT_PT2, zorder=3, ax=axis
                )
        days_axis(axis)
        if due := found.advised.due:
            _name_day(axis, due)  # before the steps are named: a distant date makes the scale longer
        _name_steps(axis, frame[frame.option == order[0]][:-1], rented=given.team.rented)
        for at, option in enumerate(order):
            half, late = frame[frame.option == option].iloc[-1][["half", "nine_in_ten"]]
            label_end(axis, axis.get_xlim()[1], at, f"{_short(half)}, {_short(late)}", inks.get(option, MUTED))
    return drawn(figure, chart_id, data=frame)


def _way(found: Schedule, option: str) -> Iterator[dict[str, Any]]:
    """The steps of an option that take time, each with the days by which half and nine in ten of the outcomes have taken it."""
    clock, before = found.clocks[option], found.as_of
    weeks = (clock.wait, clock.order, clock.delivery, clock.power_on, clock.stable, clock.production)
    for step, taken in zip(_STEPS, weeks, strict=True):
        half, late = (found.met_by(taken, share) for share in _SHARES)
        if half > before or step is Step.PRODUCTION:
            yield {"option": option, "step": step, "half": half, "nine_in_ten": late}
        before = half


def _short(day: date) -> str:
    return f"{day.day} {day:%b}"


def _name_steps(axis: Axes, steps: pd.DataFrame, *, rented: bool) -> None:
    """The names of steps above the first row, moved apart where they would run into each other."""
    low, high = axis.get_xlim()
    places = spread_labels([place_of(day) for day in steps.half], _NAME_WIDTH * (high - low))
    for x, step in zip(places, steps.step, strict=True):
        name = "hand-over" if rented and step == Step.DELIVERY else step
        axis.text(x, -0.9, name, ha="center", va="center_baseline", color=MUTED, bbox=ON_PAGE)


def _name_day(axis: Axes, due: date) -> None:
    """The client's date: a line through all rows with its name above them."""
    low, high = axis.get_ylim()
    axis.axvline(place_of(due), ymax=(low + 1.7) / (low - high), color=INK, linewidth=1, linestyle="--")
    axis.text(place_of(due), -2.1, f"your date, {_short(due)}", ha="center", va="center_baseline", color=INK)


def switching_chart(given: Inputs, result: DecisionResult, chart_id: str = "fig-body-switching") -> Drawing:
    """What turns the advice: to each input the range that it lies in nine times in ten, drawn as long as any other's, a dot at
    the mean, and a ring where the advice changes, or where the money is level if it does nowhere."""
    frame = pd.DataFrame(list(_switches(given, result)), columns=_SWITCH)
    if frame.empty:
        raise ValueError("no input turns the advice or the money: there is nothing to draw")
    with row_canvas([wrapped(name, 52, 1) for name in frame["input"]], head=1) as (figure, axis):
        used, turns = ((frame[point] - frame.p5) / (frame.p95 - frame.p5) for point in ("in_use", "turns_at"))
        shown = turns.clip(-_PASSED, 1 + _PASSED)
        axis.hlines(frame.index, 0, 1, color=MUTED, linewidth=2.6)
        sns.scatterplot(x=used, y=frame.index, color=INK, linewidth=0, s=_DOT_PT2, zorder=3, ax=axis)
        sns.scatterplot(
            x=shown, y=frame.index, style=np.sign(turns - shown), markers={-1: "<", 0: "o", 1: ">"}, color="white",
            edgecolor=FIRST, linewidth=1.4, s=_RING_PT2, zorder=4, legend=False, ax=axis,
        )  # fmt: skip
        axis.set(xlabel=None, ylabel=None)
        for at, told in enumerate(frame.told):
            label_end(axis, 1 + 2 * _PASSED, at, told)
        axis.set_xlim(-1.5 * _PASSED, 1 + 2 * _PASSED)
        for x, words in ((0, "least"), (1, "most")):
            axis.text(x, -0.9, words, ha="center", va="center_baseline", color=MUTED)
        label_end(axis, 1 + 2 * _PASSED, -0.9 + RISE, "mean; advice first changes, how often beyond", MUTED)
    return drawn(figure, chart_id, data=frame)


def _switches(given: Inputs, result: DecisionResult) -> Iterator[tuple[Any, ...]]:
    """The inputs that turn the advice or the money, the likeliest first, as the client counts them."""
    for turn in result.turns.uncertain[:MOST_TURNS]:
        (edge, point), own = result.drawn_point(turn), result.own_unit(turn)
        low, high, at = map(own.told, (turn.low, turn.high, edge.at))
        used, level = (result.numbers[f"decision.{p}.{key_of(turn.input_id)}"].text for p in ("in_use", point))
        way = f"{'' if turn.edges else 'level '}{edge.side}"
        words = f"{used}; {way} {level}, {formats.of_hundred(turn.chance)}"
        name = input_names(given, turn.input_id).row
        yield name, own.told(turn.in_use), *(float(v) for v in rounded([low, high])), at, edge.side, words


MOST = 9
"""Most sellers drawn, the cheapest by our cost first."""
IN_IT, NOT_SAID, BESIDE = "in the price", "not said", "beside the price"
_OFFER_DOT_PT2, _AS_QUOTED, _TICK = 34, 4, 0.24


def sellers_chart(
    given: Inputs, found: OffersResult, chart_id: str = "fig-body-sellers", *, networked: bool = True
) -> Drawing:
    """What each seller asks for a GPU-hour, in the order of our cost: a dot at his price with the month it was read in, and a
    line where it comes to lie nine times in ten once it is asked for, for the client's term, a tick where that is one place.

    A dot is filled where the network is in the price by the seller's word; each is where none is needed (not `networked`).
    """
    frame = pd.DataFrame([_row(given, judged) for judged in list(found.judged.values())[:MOST]])
    inks = {IN_IT: INK, NOT_SAID: "white" if networked else INK, BESIDE: "white" if networked else INK}
    told = amounts(given.params.money.currency, _AS_QUOTED)
    with row_canvas([wrapped(seller, 30, 1) for seller in frame.seller], foot=True) as (figure, axis):
        axis.hlines(frame.index, frame.p5, frame.p95, color=MUTED, linewidth=2.4)
        exact = frame[frame.p5 == frame.p95]
        axis.vlines(exact.p5, exact.index - _TICK, exact.index + _TICK, color=MUTED, linewidth=2.4)
        sns.scatterplot(
            x=frame.price, y=frame.index, hue=frame.network, palette=inks, edgecolor=INK, linewidth=OUTLINE_PT, s=_OFFER_DOT_PT2,
            zorder=3, legend=False, ax=axis,
        )  # fmt: skip
        for at, row in frame.iterrows():
            beside = ", network beside it" if networked and row.network == BESIDE else ""
            asked = told(row.price)
            label_end(axis, max(row.price, row.p95), float(str(at)), f"{asked} in {row.read}{beside}", dx=8)
        axis.set(xlabel=None, ylabel=None)
        axis.grid(axis="x")
        money_axis(axis, given.params.money.currency)
    return drawn(figure, chart_id, data=frame)


def _row(given: Inputs, judged: Judged) -> dict[str, Any]:
    """What is drawn of one seller."""
    listed = given.prices.by_id(judged.price)
    price = mean_of(price_of(given, judged.price) + hourly_add_ons(given, judged.offer))
    low, high = rounded(np.quantile(plain(hour_of(given, judged.offer, judged.price)), [0.05, 0.95]))
    where = {Network.EXTRA: BESIDE, Network.UNKNOWN: NOT_SAID}.get(judged.offer.network, IN_IT)
    read = f"{listed.date:%b %Y}" + (", old" if listed.stale else "")
    return {
        "seller": judged.offer.seller,
        "price": float(rounded(price)),
        "p5": low,
        "p95": high,
        "network": where,
        "read": read,
    }
