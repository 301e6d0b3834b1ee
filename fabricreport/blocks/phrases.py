"""A text of the data that a table says of a thing: the name of a step to take, what would turn an answer.

Which row comes first, and whether there is one, is decided in the package; its words stand in the data beside the rest of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Phrase:
    """A cell of a table: a text whose fields may speak of the section's words, and of `words` of its own."""

    text: str
    words: Mapping[str, object] = field(default_factory=dict)
