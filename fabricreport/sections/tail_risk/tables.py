"""Tables of the risk: dates, shares of time lost, stress cases, what moves them, levers, faults, and the cards."""

from __future__ import annotations

from fabricreport.blocks import RANGE, Column, Name, Row, Table
from fabricreport.books.names import option_names, whole_names
from fabricreport.inputs import Inputs
from fabricreport.ledger import Number
from fabricreport.sections.client import LEVELS, largest_job
from fabricreport.sections.tail_risk.figure_context import cards, correlation_key
from fabricreport.sections.tail_risk.horizon import CAUSES
from fabricreport.sections.tail_risk.result import TailResult
from fabricreport.sections.tail_risk.sensitivity import CORRELATIONS

_SETTING = ("not_ready", "late", "fabric", "p90")
"""The figures of a setting, in the order of their columns."""


def _setting_columns(*heads: str) -> list[Column]:
    network = Column("Lost to faults of the network", decimals=2)
    return [
        *(Column(h) for h in heads),
        Column("Date missed"),
        Column("Run late"),
        network,
        Column("Run, one in ten above"),
    ]


def _compared(result: TailResult) -> tuple[str, ...]:
    """The two fabrics side by side, InfiniBand first; the only one where there is no pair."""
    return result.pair or (result.focus,)


def dates(given: Inputs, result: TailResult) -> Table:
    """How late each option may be and what that costs, the most punctual first."""
    names, figures = whole_names(given.options), result.numbers

    def missed(option: str) -> float:
        return figures[f"tail_risk.not_ready.{option}"].value + figures[f"tail_risk.late.{option}"].value

    asked = ("not_ready", "late", "finish_p90", "overrun_p90", "overrun_es95")
    rows = [Row([names[o], *(figures[f"tail_risk.{a}.{o}"] for a in asked)]) for o in sorted(names, key=missed)]
    heads = (
        "Option",
        "Date missed",
        "Run late",
        "Run, one in ten above",
        "Overrun, one in ten above",
        "Overrun, worst twentieth",
    )
    return Table([Column(h) for h in heads], rows)


def sizes(given: Inputs, result: TailResult) -> Table:
    """The option worked out at each size, the client's starting size marked."""
    start = str(largest_job(given, int(given.params.cluster.gpus)))
    rows = [
        Row(
            [result.numbers[f"tail_risk.size.{s.label}.{what}"] for what in ("gpus", *_SETTING)],
            role="winner" if s.label == start else "normal",
        )
        for s in result.sensitivity.sizes
    ]
    return Table(_setting_columns("Size"), rows)


def maturity(given: Inputs, result: TailResult) -> Table:
    """The fabrics side by side at each maturity."""
    names = whole_names(given.options)
    rows = [
        Row([names[o], level, *(result.numbers[f"tail_risk.maturity.{level}.{o}.{what}"] for what in _SETTING)])
        for o in _compared(result)
        for level in LEVELS
    ]
    return Table(_setting_columns("Option", "Maturity"), rows)


def lost(given: Inputs, result: TailResult) -> Table:
    """Share of GPU time lost by cause on the fabrics side by side, the largest on the focus first."""
    heads, figures = option_names(given.options), result.numbers

    def cells(key: str) -> list[Number]:
        each = [figures[f"tail_risk.{key}.{o}"] for o in _compared(result)]
        return [*each, each[-1]]

    causes = sorted(CAUSES, key=lambda c: -figures[f"tail_risk.lost.{c}.{result.focus}"].value)
    rows = [Row([CAUSES[c], *cells(f"lost.{c}")]) for c in causes]
    words = {f"option_{n}": Name(heads[o].short) for n, o in enumerate(_compared(result))}
    means = [Column(f"{{{word}}}", decimals=2) for word in words]
    spread = Column(f"{RANGE}, {{{[*words][-1]}}}", style="spread", decimals=1)
    total = Row(["All causes", *cells("lost")], role="total")
    return Table([Column("Cause"), *means, spread], [*rows, total], words)


def stress(result: TailResult) -> Table:
    """What each stress case costs, the dearest first."""
    rows = [
        Row(
            [
                f"{case.title} {{cite {', '.join(case.sources)}}}" if case.sources else Name(case.title),
                *(
                    result.numbers[f"tail_risk.stress.{case.id}.{what}"]
                    for what in ("loss", "delay", "gpu_hours", "usd", "usd")
                ),
            ]
        )
        for case in result.stress
    ]
    heads = [
        Column("Case"),
        Column("Loss while it lasts", decimals=1),
        Column("Time lost", decimals=1),
        Column("GPU-hours"),
        Column("Cost"),
        Column(RANGE, style="spread"),
    ]
    return Table(heads, rows)


def correlation(result: TailResult) -> Table:
    """What fresh jitter costs as more of it is shared."""
    keys = [correlation_key(rho) for rho in CORRELATIONS]
    asked = ("correlation", "maximum", "jitter", "jitter")
    rows = [Row([result.numbers[f"tail_risk.{what}.{key}"] for what in asked]) for key in keys]
    heads = [
        Column("Correlation"),
        Column("Slowest worker"),
        Column("Step time added", decimals=1),
        Column(RANGE, style="spread", decimals=1),
    ]
    return Table(heads, rows)


def levers(result: TailResult) -> Table:
    """The mitigations, best saving for the cost first; the first is marked where it is worth buying."""
    asked = ("per_dollar", "saved", "saved", "cost")
    rows = [
        Row(
            [Name(lever.label), *(result.numbers[f"tail_risk.lever.{lever.id}.{what}"] for what in asked)],
            role="winner" if place == 0 and lever.saved_per_dollar >= 1 else "normal",
        )
        for place, lever in enumerate(result.levers)
    ]
    saved = (Column("Saved over cost", decimals=1), Column("Saved"), Column(RANGE, style="spread"))
    return Table([Column("Measure"), *saved, Column("Costs")], rows)


def faults(given: Inputs, result: TailResult) -> Table:
    """Faults expected in a year on the fabrics side by side, by kind and together."""
    names, figures = whole_names(given.options), result.numbers
    rows = [
        Row([Name(law.label), names[o], *[figures[f"tail_risk.events.{law.kind}.{o}"]] * 2])
        for o in _compared(result)
        for law in result.subjects[o].risk.incidents
    ]
    rows += [
        Row(["All faults of the network", names[o], *[figures[f"tail_risk.incidents.{o}"]] * 2], role="total")
        for o in _compared(result)
    ]
    heads = [
        Column("Fault"),
        Column("Option"),
        Column("Expected a year", decimals=2),
        Column(RANGE, style="spread", decimals=2),
    ]
    return Table(heads, rows)


def card(result: TailResult, model: str) -> Table:
    """A model's validation card: published beside ours."""
    rows = []
    for place, row in enumerate(cards()[model].rows):
        made = [result.numbers[f"tail_risk.card.{model}.{place}.{what}"] for what in ("published", "ours", "error")]
        rows.append(Row([Name(row.case), *made, "no" if row.held_out else "yes", Name(row.note)]))
    heads = ("Case", "Published", "Ours", "Error", "Used to set the model", "Note")
    mixed = ("Published", "Ours", "Error")
    return Table([Column(h, style="mixed" if h in mixed else "value") for h in heads], rows)
