"""Which pieces of a memo stand in its body, which in the annexes that are printed, and which in the HTML edition alone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from fabricreport.memo.document.gather import Piece
from fabricreport.vocabulary import SPINES


@dataclass(frozen=True)
class Parts:
    """The pieces of each part, in order. A memo with a spine has its sections as annexes, and theirs in HTML alone."""

    body: list[Piece]
    annexes: list[Piece]
    web: list[Piece]
    spined: bool

    @property
    def printed(self) -> list[Piece]:
        """What stands on paper: the body, and with a spine the annexes."""
        return [*self.body, *self.annexes] if self.spined else self.body


def parted(pieces: Iterable[Piece]) -> Parts:
    """The parts of a memo; without a spine its sections are its body, as where one notebook is exported alone."""
    found = list(pieces)
    body, behind = ([p for p in found if p.place == place] for place in ("body", "annex"))
    spine = [p for p in body if p.section in SPINES]
    if not spine:
        return Parts(body, behind, [], False)
    return Parts(spine, [p for p in body if p.section not in SPINES], behind, True)
