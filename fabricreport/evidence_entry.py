"""One evidence entry as its fields; `books.entry_reader` reads it from a file."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any

from fabricreport.uncertain import Replaced, Uncertain
from fabricreport.vocabulary import Grade

OPTIONAL = ("address", "interest", "contested", "base", "group", "derived_from")
CLIENTS_WORD = Grade.CONTRACT
"""The grade of a figure that the client put in place of the library's."""


@dataclass(frozen=True)
class EvidenceEntry:
    """One figure or fact and where it comes from.

    `value` is a figure or, with the unit `text`, a fact in words. `date` is the figure's own date or "undated"; `read` is
    the day the source was read. `contested` names the quantity on which sources disagree, `base` what this source's
    figure is measured on; `derived_from` lists the entries it was computed from. `replaced` tells whose figure stands
    here in place of the library's.
    """

    id: str
    what: str
    value: Uncertain | str
    unit: str
    date: str
    source: str
    publisher: str
    address: str
    read: str
    grade: str
    seen: str
    interest: str
    use: str
    contested: str = ""
    base: str = ""
    group: str = ""
    derived_from: tuple[str, ...] = ()
    file: str = ""
    line: int = 0
    replaced: Replaced | None = None

    @property
    def figure(self) -> Uncertain:
        """The figure; `TypeError` for a fact in words."""
        if isinstance(self.value, str):
            raise TypeError(f"evidence {self.id} is text: it has no number to draw")
        return self.value

    @property
    def kind(self) -> str:
        """The form of the value: number, text, range, pert or interval."""
        return "text" if isinstance(self.value, str) else self.value.kind

    @property
    def low(self) -> float:
        """Lower end: the number itself, `low` or `p5`; not a number for a text."""
        return math.nan if isinstance(self.value, str) else self.value.low

    @property
    def high(self) -> float:
        """Upper end: the number itself, `high` or `p95`; not a number for a text."""
        return math.nan if isinstance(self.value, str) else self.value.high

    @property
    def mid(self) -> float:
        """The number, the mode of a PERT, the middle of a range, the median of a lognormal (normal) interval."""
        return math.nan if isinstance(self.value, str) else self.value.central

    def with_figure(self, value: Uncertain, replaced: Replaced | None = None) -> EvidenceEntry:
        """The entry with another figure in force; one that restates the library's keeps its grade."""
        if replaced is None or replaced.restates:
            return dataclasses.replace(self, value=value, replaced=replaced)
        grade, date = replaced.grade or CLIENTS_WORD, replaced.date or self.date
        return dataclasses.replace(self, value=value, replaced=replaced, grade=grade, date=date)

    def as_dict(self) -> dict[str, Any]:
        """The entry for `--json`: the file's own keys, without empty optional ones."""
        facts = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        value = self.value if isinstance(self.value, str) else self.value.written()
        facts |= {"derived_from": list(self.derived_from), "value": value}
        facts.pop("replaced")
        optional = {*OPTIONAL, "file", "line"} - {"address", "interest"}
        return {k: v for k, v in facts.items() if k not in optional or v}
