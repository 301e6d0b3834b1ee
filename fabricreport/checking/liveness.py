"""Which inputs the figures of a memo can rest on, and which are only quoted: `evidence/liveness.csv`.

The table is made and held true by a test that moves every input (`tests/integration/test_liveness.py`). Here it serves
two refusals: an override on which no figure of the memo at hand rests, and an entry that is gone from the library.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from fabricreport.errors import Problem
from fabricreport.evidence import read_rows
from fabricreport.inputs import Inputs
from fabricreport.ledger import Number
from fabricreport.scenario import SECTION_NAMES, value_at
from fabricreport.uncertain import Uncertain

if TYPE_CHECKING:
    from fabricreport.case import Case

LIVE, CONTEXT = "live", "context"
_BILLION = 1e9
"""A large count is quoted in billions."""


@dataclass(frozen=True)
class Standing:
    """How an input stands: live, with the case and some figures that it moves there, or context, with the reason."""

    id: str
    status: str
    case: str
    figures: tuple[str, ...]
    reason: str

    @property
    def live(self) -> bool:
        """Whether some figure rests on it."""
        return self.status == LIVE


@lru_cache(maxsize=1)
def standings() -> Mapping[str, Standing]:
    """Every key of the params (`param:`), price, entry and contested quantity of the package by id."""
    rows = (
        Standing(row["id"], row["status"], row["case"], tuple(row["figures"].split()), row["reason"])
        for row in read_rows("liveness")
    )
    return {row.id: row for row in rows}


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


def idle_overrides(case: Case, asked: frozenset[str]) -> Iterator[Problem]:
    """Overrides and elicited answers on which no figure of this memo rests; `asked` are the ids that its studies asked for.

    A study also asks for what it only quotes: of those the table knows which are no more than that.
    """
    resting = {*case.chain.reached_by, *(i for i in asked if _may_move(i))}
    for section in SECTION_NAMES:
        numbers = case.result(section).numbers.values()
        resting |= {i for n in numbers for i in n.inputs if i.startswith("price:") or not is_quotation(n, case.inputs)}
    resting = {i for i in resting if not i.startswith("contested:") or _may_move(i)}
    if case.inputs.elicited and not any(f"evidence:{entry}" in resting for entry in case.inputs.elicited.figures()):
        remedy = "It counts for another kind of client or option: leave the answers out."
        message = "no figure of this memo depends on what the experts judged"
        yield Problem(message, key="elicited", remedy=remedy, rule="elicited-moves-nothing")
    for number, override in enumerate(case.params.overrides):
        told = (f"contested:{q}" for q in case.inputs.quantities_of([override.id]))
        ids = {override.id, *(q for q in told if _may_move(q))}
        if not ids & resting:
            yield Problem(
                "no figure of this memo depends on it",
                key=f"overrides[{number}].id",
                value=override.id,
                remedy=_remedy(override.id),
                rule="override-moves-nothing",
            )


def _may_move(input_id: str) -> bool:
    standing = standings().get(input_id)
    return standing is None or standing.live


def _remedy(input_id: str) -> str:
    if _may_move(input_id):
        return "It counts for another kind of client or option: leave the override out."
    return f"Leave the override out ({standings()[input_id].reason})."


def lost_footing(given: Inputs) -> Iterator[Problem]:
    """One problem for each entry that the library no longer holds, with figures that rested on it."""
    for standing in standings().values():
        kind, _, name = standing.id.partition(":")
        if kind == "evidence" and name not in given.evidence:
            figures = ", ".join(standing.figures)
            lost = f", and figures lose their footing: {figures}" if figures else ""
            yield Problem(f"is missing{lost}", key=standing.id, remedy="Put the entry back into the library.")
