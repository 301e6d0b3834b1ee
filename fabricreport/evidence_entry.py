"""One evidence entry as its fields; `books.entry_reader` reads it from a file."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any, Literal

OPTIONAL = ("address", "interest", "contested", "base", "group", "derived_from")
VALUE_KEYS = {
    frozenset({"low", "high"}): "range",
    frozenset({"low", "mode", "high"}): "pert",
    frozenset({"p5", "p95"}): "interval",
}

Kind = Literal["number", "text", "range", "pert", "interval"]


@dataclass(frozen=True)
class EvidenceEntry:
    """One figure or fact and where it comes from.

    `value` has the form it has in the file: a number, a text, or a dict with low/high (uniform), low/mode/high
    (PERT) or p5/p95 (a 90 % interval). `date` is the figure's own date or "undated"; `read` is the day the
    source was read. `contested` names the quantity on which sources disagree, `base` what this source's figure
    is measured on; `derived_from` lists the entries it was computed from. Treat `value` as read-only.
    """

    id: str
    what: str
    value: float | str | dict[str, float]
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

    @property
    def kind(self) -> Kind:
        """The form of the value: number, text, range, pert or interval."""
        if isinstance(self.value, str):
            return "text"
        if isinstance(self.value, dict):
            return VALUE_KEYS[frozenset(self.value)]  # type: ignore[return-value]
        return "number"

    @property
    def low(self) -> float:
        """Lower end: the number itself, `low` or `p5`; not a number for a text."""
        return self._end("low", "p5")

    @property
    def high(self) -> float:
        """Upper end: the number itself, `high` or `p95`; not a number for a text."""
        return self._end("high", "p95")

    @property
    def mid(self) -> float:
        """The number, the mode of a PERT, the middle of a range, the median of a lognormal (normal) interval."""
        if isinstance(self.value, dict) and "mode" in self.value:
            return self.value["mode"]
        if self.kind == "interval" and self.low > 0:
            return math.sqrt(self.low * self.high)
        return (self.low + self.high) / 2

    @property
    def central(self) -> float:
        """The central value a point estimate uses: the same as `mid`."""
        return self.mid

    def _end(self, bound: str, quantile: str) -> float:
        if isinstance(self.value, dict):
            return self.value.get(bound, self.value.get(quantile, math.nan))
        return math.nan if isinstance(self.value, str) else self.value

    def as_dict(self) -> dict[str, Any]:
        """The entry for `--json`: the file's own keys, without empty optional ones."""
        facts = dataclasses.asdict(self) | {"derived_from": list(self.derived_from)}
        optional = {*OPTIONAL, "file", "line"} - {"address", "interest"}
        return {k: v for k, v in facts.items() if k not in optional or v}
