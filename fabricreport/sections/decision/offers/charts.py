"""The picture of what sellers ask: a dot for each one's price of a GPU-hour, a line for what it may come to."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns

from fabricreport.blocks import Drawing
from fabricreport.books.offers.offer import Network
from fabricreport.inputs import Inputs
from fabricreport.provenance import mean_of, plain
from fabricreport.sections.decision.offers.judged import Judged, hour_of, hourly_add_ons, price_of
from fabricreport.sections.decision.offers.study import OffersResult
from fabricreport.theme import (
    INK,
    MUTED,
    OUTLINE_PT,
    amounts,
    label_end,
    money_axis,
    rounded,
    row_canvas,
    rows_of,
    svg,
    wrapped,
)

MOST = 9
"""Most sellers drawn, the cheapest by our cost first."""
IN_IT, NOT_SAID, BESIDE = "in the price", "not said", "beside the price"
_DOT_PT2, _AS_QUOTED = 34, 4


def sellers_chart(
    given: Inputs, found: OffersResult, chart_id: str = "fig-body-sellers", *, networked: bool = True
) -> Drawing:
    """What each seller asks for a GPU-hour, in the order of our cost: a dot at his price with the month it was read in, and a
    line where it comes to lie nine times in ten once it is asked for, for the client's term.

    A dot is filled where the network is in the price by the seller's word; each is where none is needed (not `networked`).
    """
    frame = pd.DataFrame([_row(given, judged) for judged in list(found.judged.values())[:MOST]])
    inks = {IN_IT: INK, NOT_SAID: "white" if networked else INK, BESIDE: "white" if networked else INK}
    told = amounts(given.params.money.currency, _AS_QUOTED)
    with row_canvas([wrapped(seller, 30, 1) for seller in frame.seller], foot=True) as (figure, axis):
        axis.hlines(frame.index, frame.p5, frame.p95, color=MUTED, linewidth=2.4)
        sns.scatterplot(
            x=frame.price, y=frame.index, hue=frame.network, palette=inks, edgecolor=INK, linewidth=OUTLINE_PT, s=_DOT_PT2,
            zorder=3, legend=False, ax=axis,
        )  # fmt: skip
        for at, row in frame.iterrows():
            beside = ", network beside it" if networked and row.network == BESIDE else ""
            asked = told(row.price)
            label_end(axis, max(row.price, row.p95), float(str(at)), f"{asked} in {row.read}{beside}", dx=8)
        axis.set(xlabel=None, ylabel=None)
        axis.grid(axis="x")
        money_axis(axis, given.params.money.currency)
        drawing = svg(figure, chart_id)
    return Drawing(chart_id, drawing, rows_of(frame))


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
