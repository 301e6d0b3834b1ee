"""Whether the figures of a memo rest on an input, by their provenance: `evidence/standing.yaml` says what is only quoted.

It serves two refusals: an override on which no figure of the memo at hand rests, and an entry that is gone from the library.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

from fabricreport.books.evidence import EvidenceBook
from fabricreport.books.references import shipped_references
from fabricreport.case import Case
from fabricreport.checking.trial import FOUNDERS
from fabricreport.errors import Problem
from fabricreport.evidence import read_yaml
from fabricreport.inputs import Inputs
from fabricreport.ledger import Number
from fabricreport.scenario import SECTION_NAMES, value_at
from fabricreport.uncertain import Uncertain, exactly

_BILLION = 1e9
"""A large count is quoted in billions."""
_NAMED = 3
"""Figures named of those that an entry takes with it."""


@cache
def context() -> frozenset[str]:
    """Ids of the prices, entries and contested quantities of the package that are quoted, and on which no figure rests."""
    kinds = {"evidence": "context", "price": "context_prices", "contested": "context_quantities"}
    return frozenset(f"{kind}:{name}" for kind, key in kinds.items() for name in read_yaml("standing")[key])


def why_context(input_id: str) -> str:
    """Who quotes an input that no figure rests on."""
    kind, _, name = input_id.partition(":")
    if kind == "contested":
        return "no model draws it: the memo only shows what its sources say"
    if kind == "price":
        return "in the price book; no option, server or site of the package refers to it"
    cited = [
        r for r in shipped_references() if r.evidence_id == name and r.file != "names.yaml"
    ]  # a phrase quotes nothing
    places = list(dict.fromkeys(f"{r.file.removesuffix('.yaml')}: {r.cited_by}" for r in cited))
    more = f" and {len(places) - 2} more" if len(places) > 2 else ""
    return f"quoted by {'; '.join(places[:2])}{more}" if places else "listed in the library; nothing quotes it"


def is_quotation(number: Number, given: Inputs) -> bool:
    """Whether a figure prints one input as it stands, or an end of it, so that nothing but the quotation rests on it."""
    if len(number.inputs) != 1:
        return False
    stated = _stated(number.inputs[0], given)
    if stated is None:
        return False
    ends = (stated.low, stated.mode, stated.high)
    return any(number.value in (end, end / _BILLION) for end in ends)


def _stated(input_id: str, given: Inputs) -> Uncertain | None:
    kind, _, name = input_id.partition(":")
    if kind == "param":
        value = value_at(given.params, name)
        known = isinstance(value, int | float | Uncertain) and not isinstance(value, bool)
        return Uncertain.of(value) if known else None
    if kind == "claim" or (kind == "evidence" and given.evidence[name].kind == "text"):
        return None
    return given.uncertain(input_id)


def resting(case: Case, asked: frozenset[str]) -> frozenset[str]:
    """Ids of the inputs on which figures of this memo rest; `asked` are those that its studies asked for.

    A study also asks for what it only quotes, and a figure may list it: what is context does not count by that.
    """
    found = {*case.chain.reached_by, *(asked - context())}
    for section in SECTION_NAMES:
        numbers = case.result(section).numbers.values()
        found |= {i for n in numbers for i in n.inputs if i.startswith("price:") or not is_quotation(n, case.inputs)}
    return frozenset(i for i in found if not i.startswith("contested:") or i not in context())


def idle_overrides(case: Case, asked: frozenset[str]) -> Iterator[Problem]:
    """Overrides and elicited answers on which no figure of this memo rests; `asked` are the ids that its studies asked for."""
    found = resting(case, asked)
    if case.inputs.elicited and not any(f"evidence:{entry}" in found for entry in case.inputs.elicited.figures()):
        remedy = "It counts for another kind of client or option: leave the answers out."
        message = "no figure of this memo depends on what the experts judged"
        yield Problem(message, key="elicited", remedy=remedy, rule="elicited-moves-nothing")
    for number, override in enumerate(case.params.overrides):
        told = {f"contested:{q}" for q in case.inputs.quantities_of([override.id])} - context()
        if not {override.id, *told} & found:
            remedy = "It counts for another kind of client or option: leave the override out."
            if override.id in context():
                remedy = f"Leave the override out ({why_context(override.id)})."
            yield Problem(
                "no figure of this memo depends on it",
                key=f"overrides[{number}].id",
                value=override.id,
                remedy=remedy,
                rule="override-moves-nothing",
            )


def lost_footing(given: Inputs) -> Iterator[Problem]:
    """One problem for each entry that the library no longer holds, with figures that rested on it."""
    for key in ("live", "context"):
        for name in read_yaml("standing")[key]:
            if name not in given.evidence:
                figures = ", ".join(_resting_on(given, name)) if key == "live" else ""
                lost = f", and figures lose their footing: {figures}" if figures else ""
                remedy = "Put the entry back into the library."
                yield Problem(f"is missing{lost}", key=f"evidence:{name}", remedy=remedy)


def _resting_on(given: Inputs, name: str) -> list[str]:
    """The first of the figures that rest on a missing entry: those of the case with a figure in its place."""
    like = next(e for e in given.shipped.values() if e.kind != "text")
    stand_in = replace(like, id=name, value=exactly(1.0), group="", contested="", derived_from=())
    book = EvidenceBook([*given.shipped.values(), stand_in])
    try:
        case = Case(Inputs(given.params, given.folder, book, given.price_book, given.all_options, draws=given.draws))
        numbers = (n for section in SECTION_NAMES for n in case.result(section).numbers.values())
        return sorted(n.id for n in numbers if f"evidence:{name}" in n.inputs)[:_NAMED]
    except FOUNDERS:
        return []
