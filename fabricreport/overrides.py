"""The client's overrides, put in force once: who replaces what by what, references followed to their end."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from fabricreport.books.evidence import EvidenceBook
from fabricreport.books.prices.book import Price, PriceBook, PriceView
from fabricreport.errors import OutOfRange, Problem
from fabricreport.scenario import Override, Params, Reference
from fabricreport.uncertain import Replaced, Uncertain

Figures = Mapping[str, tuple[Uncertain, Replaced | None]]


@dataclass(frozen=True)
class Overridden:
    """An override as the params state it, and the entry whose value it takes in the end ('' for a figure)."""

    stated: Override
    follows: str = ""


@dataclass(frozen=True)
class Resolved:
    """Overrides by the id they replace, the figures they put in force, and the prices with those only they state."""

    overrides: Mapping[str, Overridden]
    figures: Figures
    prices: PriceView


def resolved(
    params: Params,
    evidence: EvidenceBook,
    price_book: PriceBook,
    prices: PriceView,
    quantities: Collection[str],
    elicited: Figures,
) -> Resolved:
    """Every override of the params that names an entry of the books; the others are for `intake` to refuse.

    What experts judged stands where no override does.
    """
    stated = {o.id: o for o in params.overrides}
    overrides = {i: Overridden(o, _followed(i, stated)) for i, o in stated.items()}
    figures: dict[str, tuple[Uncertain, Replaced | None]] = {}
    for input_id, override in overrides.items():
        old = _in_book(input_id, evidence, prices)
        value = _in_force(override, stated, evidence, prices)
        kind, _, name = input_id.partition(":")
        if value is None or (old is None and kind == "evidence") or (kind == "contested" and name not in quantities):
            continue
        said = override.stated
        figures[input_id] = (
            value,
            Replaced(said.who, said.why, str(said.until), old, override.follows, restates=value == old),
        )
        if kind == "price":
            prices = _standing_in(name, value, said, price_book, prices)
    return Resolved(overrides, {**elicited, **figures}, prices)


def deciding(params: Params) -> tuple[object, ...]:
    """What of the params decides which figures of the books are in force, apart from answers."""
    return params.as_of, params.overrides, params.elicited, params.offers


def followed(input_id: str, stated: Mapping[str, Override]) -> str:
    """The entry an override's references lead to; `OutOfRange` if they lead back to themselves."""
    met: list[str] = []
    while input_id in stated and isinstance(stated[input_id].value, Reference):
        if input_id in met:
            raise OutOfRange(Problem(f"the overrides {', '.join(met)} refer to each other", key=input_id))
        met.append(input_id)
        input_id = str(stated[input_id].value)
    return input_id


def _followed(input_id: str, stated: Mapping[str, Override]) -> str:
    try:
        end = followed(input_id, stated)
    except OutOfRange:  # told by `intake`, with its place in the params
        return ""
    return "" if end == input_id else end


def _in_force(
    override: Overridden, stated: Mapping[str, Override], evidence: EvidenceBook, prices: PriceView
) -> Uncertain | None:
    value = override.stated.value
    if not isinstance(value, Reference):
        return Uncertain.of(value)
    other = stated.get(override.follows)
    if other is not None and not isinstance(other.value, Reference):
        return Uncertain.of(other.value)
    return _in_book(override.follows, evidence, prices) if override.follows else None


def _in_book(input_id: str, evidence: EvidenceBook, prices: PriceView) -> Uncertain | None:
    kind, _, name = input_id.partition(":")
    if kind == "price":
        return prices[name].figure if name in prices else None
    entry = evidence.get(name) if kind == "evidence" else None
    return None if entry is None or entry.kind == "text" else entry.figure


def _standing_in(item: str, value: Uncertain, said: Override, book: PriceBook, prices: PriceView) -> PriceView:
    """The view with a price none of whose rows can be used, where its unit and currency are known."""
    terms = book.terms(item)
    if item in prices or terms is None:
        return prices
    note = "no row of it can be used on this day: the price is the override's"
    price = Price(
        item, terms[0], value.central, None, None, terms[1], prices.as_of, said.until, f"{said.who}, for the client",
        "contract", stale=False, age_days=0, quarantined=note,
    )  # fmt: skip
    return prices.plus(price)
