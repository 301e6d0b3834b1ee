"""The picture of what of an owned fabric is paid when."""

from __future__ import annotations

import pandas as pd
import seaborn as sns

from fabricreport.blocks import Drawing
from fabricreport.books.names import option_names
from fabricreport.inputs import Inputs
from fabricreport.provenance import mean_of
from fabricreport.sections.tco.result import Ownership, TcoResult
from fabricreport.theme import amounts, label_end, pair, rounded, row_canvas, rows_of, svg, wrapped

_BARS = 0.84


def stages_chart(given: Inputs, result: TcoResult, chart_id: str = "fig-tco-stages") -> Drawing:
    """What the network costs at each stage on the choice and on its rival; both are named at the first stage."""
    frame = _stages(_owned(result), result.choice, result.rival)
    told, names = amounts(given.params.money.currency), option_names(given.options, result.choice, result.rival)
    inks = pair(result.choice, result.rival)
    stages = list(dict.fromkeys(frame.stage))
    options = list(dict.fromkeys(frame.option))
    with row_canvas(stages, lines=len(options)) as (figure, axis):
        sns.barplot(
            frame, x="mean_cost", y="stage", hue="option", order=stages, hue_order=options, palette=inks,
            saturation=1, width=_BARS, legend=False, ax=axis,
        )  # fmt: skip
        for option, bars in zip(options, axis.containers, strict=True):
            for bar in bars:
                named = wrapped(names[option].row, 26, 1) if bar is bars[0] else ""
                amount = told(bar.get_width())
                label_end(axis, bar.get_width(), bar.get_y() + bar.get_height() / 2, f"{amount}  {named}", inks[option])
        axis.set(xlabel=None, ylabel=None)
        drawing = svg(figure, chart_id)
    return Drawing(chart_id, drawing, rows_of(frame))


def _stages(owned: Ownership, choice: str, rival: str) -> pd.DataFrame:
    """A row to each stage and option: what it adds to the network costs on the mean."""
    rows = []
    for option in dict.fromkeys((choice, rival)):
        for build, bought in zip(owned.builds[option], owned.bought[option], strict=True):
            stage = f"{f'Month {build.month}' if build.month else 'Start'}: {build.gpus:,} GPUs"
            rows.append((option, stage, build.month, build.gpus, float(rounded(sum(map(mean_of, bought.values()))))))
    return pd.DataFrame(rows, columns=["option", "stage", "month", "gpus", "mean_cost"])


def _owned(result: TcoResult) -> Ownership:
    if result.ownership is None:
        raise ValueError("a client that rents has no fabric of its own to draw")
    return result.ownership
