"""Sentences of a notebook that a table says of its rows: `%%phrase quote each=todo in todo_quote` keeps them by name.

Which row comes first, and whether there is one, is decided in the package; how it is said stands in the notebook.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fabricreport.blocks.nodes import Inline
from fabricreport.blocks.template import Binder, Prose
from fabricreport.findings import Named
from fabricreport.located import did_you_mean


@dataclass(frozen=True)
class Phrase:
    """A cell of a table: one part of the phrase of this name, said of a thing."""

    name: str
    part: str
    thing: Named


@dataclass(frozen=True)
class Bound:
    """The same with the notebook's text, and what fills its fields."""

    text: Prose
    binder: Binder

    def said(self, into: Binder) -> tuple[Inline, ...]:
        """The sentence; what it met counts as met by the table's own binder."""
        nodes = self.binder.prose_line(self.text)
        into.take_over(self.binder)
        return nodes


@dataclass(frozen=True)
class Kept:
    """The texts of a phrase by part, and what they call the thing that they are said of."""

    thing: str
    parts: Mapping[str, str]


def found(phrases: Mapping[str, Kept], phrase: Phrase) -> Kept:
    """The texts that a phrase goes by; `KeyError` where the notebook has not said them before."""
    kept = phrases.get(phrase.name)
    if kept is None or phrase.part not in kept.parts:
        close = did_you_mean(phrase.name, phrases)
        hint = f"; did you mean {close}?" if close and close != phrase.name else ""
        raise KeyError(f"no cell before this table is %%phrase {phrase.name} with {phrase.part}:{hint}")
    return kept
