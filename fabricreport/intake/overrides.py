"""Overrides that no entry of their unit could have: found before anything is drawn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fabricreport.bounds import Bound, bound_of, price_bound
from fabricreport.errors import Problem
from fabricreport.inputs import Inputs
from fabricreport.scenario import Reference, dump_uncertain


def impossible_overrides(given: Inputs) -> Iterator[Problem]:
    """Overrides that no entry of that unit could have.

    An id that no book holds is passed over: that is told elsewhere. Each problem has the key of the params, no line.
    """
    for number, override in enumerate(given.params.overrides):
        bound = _bound_of_entry(given, override.id)
        if bound is None or isinstance(override.value, Reference):
            continue
        figure = dump_uncertain(override.value)
        if fault := bound.fault(figure):
            shown = (
                ", ".join(f"{k}: {v:g}" for k, v in figure.items()) if isinstance(figure, Mapping) else f"{figure:g}"
            )
            remedy = "The figure is in the unit of the entry: correct it or its unit."
            yield Problem(fault, key=f"overrides[{number}].value", value=shown, remedy=remedy)


def _bound_of_entry(given: Inputs, entry_id: str) -> Bound | None:
    """What the entry with this id may be; None for one that no book holds or that is text."""
    kind, _, name = entry_id.partition(":")
    if kind == "price":
        found = given.price_book.terms(name)
        return None if found is None else price_bound(*found)
    if kind == "contested":
        return bound_of(given.contested(name).unit) if name in given.quantities else None
    entry = given.evidence.get(name)
    return None if entry is None or entry.kind == "text" else bound_of(entry.unit)
