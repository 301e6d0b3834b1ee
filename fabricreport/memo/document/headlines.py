"""What a memo says in short, as data: the advice and its figures, and how they moved between two editions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

_HEADING = re.compile(r"^#{1,2}\s+(.+?)\s*#*$", re.M)


@dataclass(frozen=True)
class HeadlineChange:
    """One headline figure or word that moved: its ledger id (or key), what it is, old and new as printed.

    `old_value` and `new_value` are the figures in the ledger's unit, None for words and for what is new or gone.
    """

    id: str
    label: str
    old: str
    new: str
    old_value: float | None = None
    new_value: float | None = None

    def __str__(self) -> str:
        name = f"{self.label} ({self.id})" if self.label else self.id
        return f"{name}: {self.old or 'not given'} -> {self.new or 'not given'}"


def headline_of(declared: Mapping[str, Any], ledger: Mapping[str, Any]) -> dict[str, Any]:
    """The declared headline with each number as {id, label, text, value, unit}, looked up in the ledger."""
    entries = {entry["id"]: entry for entry in ledger.get("numbers", ())}
    numbers = []
    for node in declared.get("numbers", ()):
        found = node if isinstance(node, Mapping) else {"id": str(node)}
        entry = {**entries.get(found["id"], {}), **{k: v for k, v in found.items() if k != "t"}}
        numbers.append({k: entry.get(k, "") for k in ("id", "label", "text", "value", "unit")})
    words = {k: v for k, v in declared.items() if k != "numbers"}
    return {**words, "numbers": numbers} if words or numbers else {}


def compare_headlines(old_manifest: Mapping[str, Any], new_manifest: Mapping[str, Any]) -> tuple[HeadlineChange, ...]:
    """What a reader of the old edition must be told: words first, then figures, in the new edition's order."""
    old, new = old_manifest.get("headline") or {}, new_manifest.get("headline") or {}
    changes = []
    for key in dict.fromkeys([*new, *old]):
        before, after = old.get(key, ""), new.get(key, "")
        if key != "numbers" and before != after and isinstance(before, str) and isinstance(after, str):
            changes.append(HeadlineChange(key, "", before, after))
    olds = {n["id"]: n for n in old.get("numbers", ())}
    news = {n["id"]: n for n in new.get("numbers", ())}
    for number_id in dict.fromkeys([*news, *olds]):
        before, after = olds.get(number_id, {}), news.get(number_id, {})
        if before.get("text") != after.get("text"):
            label = str(after.get("label") or before.get("label") or "")
            texts = str(before.get("text", "")), str(after.get("text", ""))
            changes.append(HeadlineChange(number_id, label, *texts, _figure(before), _figure(after)))
    return tuple(changes)


def _figure(entry: Mapping[str, Any]) -> float | None:
    value = entry.get("value")
    return float(value) if isinstance(value, int | float) else None


def section_title(notebook: Any, section: str) -> str:
    """A section's title: its notebook's metadata, else its first heading, else its name."""
    from fabricreport.blocks import MIME
    from fabricreport.blocks.node_json import MalformedNode, top_from_json
    from fabricreport.blocks.nodes import Heading, plain_text

    own = notebook.metadata.get("fabricreport", {})
    if isinstance(own, Mapping) and own.get("title"):
        return str(own["title"])
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and (match := _HEADING.search(cell.source)):
            return match.group(1)
        for output in cell.get("outputs", ()):
            for node in output.get("data", {}).get(MIME, {}).get("nodes", ()):
                with suppress(MalformedNode):
                    heading = top_from_json(node)
                    if isinstance(heading, Heading):
                        return plain_text(heading.children)
    return section.replace("_", " ").capitalize()
