"""What became of each client's advice, edition by edition, read from manifests; and the operator's `index.html` of it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from operator import itemgetter
from pathlib import Path
from typing import Any

from fabricreport.base.files import write_atomically
from fabricreport.base.formats import write
from fabricreport.base.text import visible
from fabricreport.base.vocabulary import Ground, Question
from fabricreport.memo.editions.editions import DRAFT, EVIDENCE, EditionInfo, clients_of, list_editions
from fabricreport.memo.editions.locks import INDEX
from fabricreport.memo.editions.manifest import value_of
from fabricreport.memo.editions.probe import as_told, turned

_LONGEST, _KEY_PRICES = 200, 3
_CLASSES = {
    Ground.DEADLINE: "close, by the client's date",
    Ground.POLICY: "close, by the client's policy",
    Ground.ESTATE: "close, by the client's estate",
    Ground.ORDER: "close, by the client's order of criteria",
    Ground.WEIGHTS: "close, by the client's weights",
}
"""What stands in the place of the class where a close call was decided by something else than money."""
_STANDINGS = {
    "": "no seller has a price that could be judged",
    "listed": "on published prices: no seller has made an offer",
    "take": "nothing about the offer is open",
    "take_if": "once it has answered in writing",
    "take_within": "its network has no price yet",
    "renew": "the offer has run out",
    "either": "two offers as good as level",
    "none": "no offer can be taken as it stands",
}
"""What is told of offers to whoever chooses among sellers, by where the first of them stands."""
_TURNS = {"action": ("choice", "course", "offer"), "class": ("confidence", "decided_by", "offer_stands")}


@dataclass(frozen=True)
class Entry:
    """An edition in its client's history. `turns` and `prices`: what differs from the client copy before, prices first that moved."""

    info: EditionInfo
    action: str
    sure: str
    turns: tuple[str, ...]
    prices: tuple[str, ...]


def sureness(head: Mapping[str, Any]) -> str:
    """How firm the advice of a headline is; nothing where the decision itself was left out."""
    if "confidence" not in head:
        return ""
    if head.get("question") == Question.CHOOSE_PROVIDER:
        return _STANDINGS.get(head.get("offer_stands", ""), "")
    probability = _number(head, "decision.sure.act") or _number(head, "decision.probability")
    ground = head.get("decided_by", Ground.MONEY)
    share = f", {probability['text']} of outcomes" if probability and ground == Ground.MONEY else ""
    return f"{_CLASSES.get(ground, head['confidence'])}{share}"


def _number(head: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    return next((n for n in head.get("numbers", ()) if n["id"] == name), {})


def histories(output: Path, client: str = "", aside: str = "") -> list[Entry]:
    """The history of each client below `output`, or of one, oldest edition first, or of what stands `aside`; a draft is told
    and turns nothing."""
    told, before = list[Entry](), dict[str, EditionInfo]()
    for info in list_editions(output, client, aside):
        stands = not info.damaged and info.status != DRAFT
        last = before.get(info.client, info) if stands else info
        before |= {info.client: info} if stands else {}
        action, sure = str(info.headline.get("recommendation", "")), sureness(info.headline)
        told.append(Entry(info, visible(action, _LONGEST), visible(sure), _turns(last, info), _prices(last, info)))
    return told


def _turns(last: EditionInfo, info: EditionInfo) -> tuple[str, ...]:
    old, new = last.headline, info.headline
    found = turned(old, new)
    told = [name for name, keys in _TURNS.items() if any(k in found for k in keys)]
    was, now = (_number(head, "decision.difference") for head in (old, new))
    before = as_told(was, now) if was and now else None
    signs = value_of(before or {}) or 0.0, value_of(now) or 0.0
    return tuple(told + ["sign"] * (signs[0] * signs[1] < 0))


def _prices(last: EditionInfo, info: EditionInfo) -> tuple[str, ...]:
    old, found = {price["id"]: price for price in last.prices}, []
    for price in info.prices:
        was, text = old.get(price["id"], price), write(price["value"], price["unit"], 4)
        moved = abs(price["value"] / was["value"] - 1) if was["value"] and was["unit"] == price["unit"] else 0.0
        arrow = f"{write(was['value'], was['unit'], 4)} -> " if moved else ""
        found.append((-moved, visible(f"{price['label']} {arrow}{text}", _LONGEST)))
    return tuple(text for _, text in sorted(found, key=itemgetter(0))[:_KEY_PRICES])


def write_index(output: Path) -> str:
    """Make the page of all editions; '' or why it is not there. Where they changed meanwhile it is left to whoever did that."""
    told = "editions changed meanwhile"
    try:
        before = _stamp(output)
        write_atomically(output / INDEX, page(histories(output)))
        if _stamp(output) == before:
            return ""
    except OSError as error:
        told = error.strerror or str(error)
    with contextlib.suppress(OSError):
        (output / INDEX).unlink()
    return f"{output / INDEX} was not made: {told}"


def _stamp(output: Path) -> list[tuple[str, int]]:
    found = (entry for slug in clients_of(output) for entry in os.scandir(output / slug))
    return sorted((entry.path, entry.stat(follow_symlinks=False).st_mtime_ns) for entry in found)


def page(told: Sequence[Entry]) -> str:
    """`index.html`: self-contained, no script, every text escaped; the evidence report is no client."""
    from jinja2 import Environment

    source = (resources.files("fabricreport.memo") / "templates" / "index.html.j2").read_text(encoding="utf-8")
    entries = [e for e in told if e.info.client != EVIDENCE]
    return Environment(autoescape=True).from_string(source).render(entries=entries)
