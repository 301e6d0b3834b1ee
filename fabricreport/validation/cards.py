"""Every model's validation card by name, and a card as text or as plain data.

The names are those `fabricreport validate [MODEL]...` takes: topology, collectives, training, tail, goodput.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from fabricreport.base import formats
from fabricreport.base.errors import InputError, Problem
from fabricreport.base.locations import did_you_mean
from fabricreport.validation import price_guard
from fabricreport.validation.card import Card, median_abs_error
from fabricreport.validation.network import collectives_card, topology_card
from fabricreport.validation.risk import goodput_card, tail_card
from fabricreport.validation.training import training_card

_BUILDERS: Mapping[str, Callable[[bool], Card]] = {
    "topology": lambda refit: topology_card(),
    "collectives": lambda refit: collectives_card(refit=refit),
    "training": lambda refit: training_card(),
    "tail": lambda refit: tail_card(),
    "goodput": lambda refit: goodput_card(),
}
NAMES = tuple(_BUILDERS)
BESIDE = ("purchases", price_guard.NAME)
"""What `validate` shows besides the models' cards, each of a form of its own."""
_WIDTH = 110


def cards(names: Sequence[str] = (), *, refit: bool = True) -> tuple[Card, ...]:
    """The cards of the named models (all of NAMES without a name), worked out anew.

    With `refit` the collective model is fitted again to its published tables (about 20 seconds); without it the
    packaged parameters are used. An unknown name raises `InputError` with the nearest known one.
    """
    problems = [
        Problem(
            "is no model with a card",
            value=name,
            suggestion=did_you_mean(name, (*NAMES, *BESIDE)),
            remedy=f"Known: {', '.join((*NAMES, *BESIDE))}.",
        )
        for name in names
        if name not in (*NAMES, *BESIDE)
    ]
    if problems:
        raise InputError(problems)
    return tuple(_BUILDERS[name](refit) for name in dict.fromkeys(names or NAMES) if name in _BUILDERS)


def held_out_error(card: Card) -> float:
    """Median of |ours / published - 1| over the counted rows no parameter was set from; not a number without one."""
    return median_abs_error(card.held_out)


def card_dict(card: Card) -> dict[str, Any]:
    """The card for `--json`: every field as plain data, with the median error of the rows that were held out."""
    facts: dict[str, Any] = _jsonable(dataclasses.asdict(card))
    error = held_out_error(card)
    return facts | {"held_out_rows": len(card.held_out), "held_out_median_error": _number(error)}


def card_text(card: Card) -> str:
    """The card for a terminal: summary, each published figure beside ours, and what the model does not claim."""
    return "\n".join(_lines(card))


def _lines(card: Card) -> Iterator[str]:
    title = f"{card.model} ({card.date})"
    yield from (title, "=" * len(title))
    yield f"{len(card.rows)} published figures, {len(card.held_out)} of them held out"
    yield f"Valid range: {card.valid_range}"
    yield from _shares("Error (median, absolute, unless said otherwise)", card.summary)
    yield from _shares("The same for models that know less", card.baselines)
    if card.intervals:
        yield "Published over ours (P5 to P95):"
        yield from (f"  {band:<40} {low:.2f}x to {high:.2f}x" for band, (low, high) in card.intervals.items())
    yield from _rows(card)
    yield from _bullets("Written down before the fit", card.expected)
    if card.as_expected:
        told = ", ".join(
            f"{key} {'came true' if true else 'DID NOT come true'}" for key, true in card.as_expected.items()
        )
        yield f"  {told}"
    yield from _bullets("The model does not claim", card.does_not_claim)
    yield from _bullets("No model of this kind does better than", card.irreducible)


def _shares(title: str, shares: Mapping[str, float]) -> Iterator[str]:
    if shares:
        yield f"{title}:"
    yield from (f"  {label:<60} {value:>8.1%}" for label, value in shares.items())


def _bullets(title: str, items: Sequence[str]) -> Iterator[str]:
    if items:
        yield f"{title}:"
    yield from (f"  - {item}" for item in items)


def _rows(card: Card) -> Iterator[str]:
    width = min(max((len(row.case) for row in card.rows), default=4), 64)
    yield f"  {'case':<{width}} {'published':>12} {'ours':>12} {'error':>8}  unit"
    for row in card.rows:
        marks = ("" if row.held_out else " (set)") + ("" if row.counted else " (not counted)")
        yield (
            f"  {row.case[:width]:<{width}} {_written(row.published):>12} {_written(row.ours):>12} "
            f"{row.error:>+8.1%}  {row.unit}{marks}"
        )[: _WIDTH + 40]


def _written(value: float) -> str:
    return formats.plain_number(value, 4)


def _number(value: float) -> float | None:
    return value if value == value else None


def _jsonable(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(k): _jsonable(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_jsonable(v) for v in value]
    return _number(value) if isinstance(value, float) else value
