"""What articles compare and ask, answered for a client: of each entry the first answer that this memo has the figures for."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fabricreport.evidence import read_yaml
from fabricreport.ledger import Number
from fabricreport.models.judgement.framework import met
from fabricreport.vocabulary import LEANS

_SIDE = re.compile(r"\[(\w+)\]")
_FIELD = re.compile(r"\{([^{}]+)\}")
_INPUTS = ("param:", "evidence:")


@dataclass(frozen=True)
class Buyer:
    """Who asks: the facts that conditions name, and by side the id of its cheapest option."""

    facts: Mapping[str, Any]
    stands: Mapping[str, str]


@dataclass(frozen=True)
class Answered:
    """One factor or question of an article with its answer here, a template; `says` by side, empty for a question."""

    id: str
    article: str
    head: str
    says: Mapping[str, str]
    here: str
    cite: tuple[str, ...]


def answered(part: str, buyer: Buyer, known: Sequence[Mapping[str, Number]]) -> tuple[Answered, ...]:
    """Every entry of a part (`factors`, `questions`); `known`: the figures that the memo may quote, by id."""
    return tuple(_answered(entry, buyer, known) for entry in read_yaml("factors")[part])


def _answered(entry: Mapping[str, Any], buyer: Buyer, known: Sequence[Mapping[str, Number]]) -> Answered:
    says = {str(side): entry[side] for side in LEANS if side in entry}
    here = next(
        text
        for answer in entry["here"]
        if met(answer.get("when", {}), buyer.facts) and _above(answer.get("above", ()), buyer.stands, known)
        for text in [filled(answer["text"], buyer.stands)]
        if can_tell(text, buyer.stands, known)
    )
    head = entry.get("factor") or entry["asks"]
    return Answered(entry["id"], entry["article"], head, says, here, tuple(entry.get("cite", ())))


def _above(pair: Sequence[str], stands: Mapping[str, str], known: Sequence[Mapping[str, Number]]) -> bool:
    """Whether the first of two figures is above the second as they are printed; a pair that is not there is not."""
    if not pair:
        return True
    ids = [filled(one, stands) for one in pair]
    first, second = (next((made[i] for made in known if i in made), None) for i in ids)
    return first is not None and second is not None and first.text != second.text and first.value > second.value


def filled(text: str, stands: Mapping[str, str]) -> str:
    """A template with the cheapest option of each side in its ids; a side that is not compared is left as it is."""
    return _SIDE.sub(lambda found: f".{stands[found[1]]}" if found[1] in stands else found[0], text)


def can_tell(text: str, stands: Mapping[str, str], known: Sequence[Collection[str]]) -> bool:
    """Whether every figure and every name of a template is there."""
    fields = [f for f in _FIELD.findall(text) if not f.startswith(_INPUTS)]
    return all(f in stands if "." not in f else any(f in ids for ids in known) for f in fields)
