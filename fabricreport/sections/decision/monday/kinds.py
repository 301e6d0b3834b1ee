"""The actions that a client may have to take, as `evidence/actions.yaml` has them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any

from fabricreport.evidence import read_yaml


class Kind(StrEnum):
    """What there may be to do; each has a condition, and a letter in the notebook."""

    RENTS = "rents"
    GENERATION = "generation"
    QUOTE = "quote"
    DELIVERY = "delivery"
    CLAUSE = "clause"
    WEEKS = "weeks"
    RENT_FIRST = "rent-first"
    PILOT = "pilot"
    TRIAL = "trial"
    TUNER = "tuner"
    ANSWERS = "answers"
    TOPOLOGY = "topology"
    HALLS = "halls"
    REPRICE = "reprice"
    ACCEPTANCE = "acceptance"
    STALE = "stale"
    NEWER_GPU = "newer-gpu"
    EXPERTS = "experts"
    OWN = "own"
    RECORD = "record"


NEVER_LEFT_OUT = (
    Kind.RENTS,
    Kind.QUOTE,
    Kind.DELIVERY,
    Kind.CLAUSE,
    Kind.WEEKS,
    Kind.HALLS,
    Kind.REPRICE,
    Kind.ACCEPTANCE,
    Kind.OWN,
    Kind.RECORD,
)
"""What the advice is on condition of, and what settles that which would change it."""

PAGE_ONE = 4
"""So many lines stand on page one of a memo, the others at the end of its body."""


@dataclass(frozen=True)
class Action:
    """One entry: roles of who acts and of who answers, working days, whether only a contract settles it, whether it is
    about the network, the questions that it puts and the lever of the risk that it pulls ('' for none). `answer`: working days from the question to its answer, or the id of the entry that states the wait."""

    kind: Kind
    does: str
    who: str
    to: str
    days: int
    contract: bool
    network: bool
    questions: tuple[str, ...] = ()
    lever: str = ""
    answer: int | str = ""
    several: str = ""


@lru_cache(maxsize=1)
def _data() -> Mapping[str, Any]:
    data: Mapping[str, Any] = read_yaml("actions")
    return data


@lru_cache(maxsize=1)
def actions() -> Mapping[Kind, Action]:
    """Every action by its kind, in the order of the file."""
    return {kind: _action(kind, row) for row in _data()["actions"] for kind in [Kind(row["id"])]}


def _action(kind: Kind, row: Mapping[str, Any]) -> Action:
    return Action(
        kind,
        row["does"],
        row["who"],
        row["to"],
        row["days"],
        row["contract"],
        row["network"],
        tuple(row.get("questions", ())),
        row.get("lever", ""),
        row.get("answer", ""),
        row.get("several", ""),
    )


def roles() -> Mapping[str, Mapping[str, str]]:
    """What each role is called, by the client's situation."""
    found: Mapping[str, Mapping[str, str]] = _data()["roles"]
    return found


def most() -> int:
    """Lines of the list at most."""
    return int(_data()["most"])
