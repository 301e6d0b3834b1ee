"""A broken rule of the params: a finding names the rule of `refusals.py` it broke, and `uses` the keys it read, so that a
rule is not reported when one of those keys is already known to be wrong."""

from __future__ import annotations

from dataclasses import dataclass

from fabricreport.located import KeyPath


@dataclass(frozen=True)
class Finding:
    """One broken rule: its name, the key it is reported at, what is wrong, what to do, and every key the rule read.

    `rule` is empty for a mistyped name, which is a slip and no contradiction.
    """

    rule: str
    path: KeyPath
    message: str
    value: object = ""
    remedy: str = ""
    suggestion: str = ""
    uses: tuple[KeyPath, ...] = ()

    @property
    def keys(self) -> tuple[KeyPath, ...]:
        """Where it is reported and everything it read."""
        return (self.path, *self.uses)
