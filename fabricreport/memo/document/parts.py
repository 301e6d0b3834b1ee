"""Which pieces of a memo stand in its body, and which in the annexes behind it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from fabricreport.memo.document.gather import Piece
from fabricreport.vocabulary import SPINES


@dataclass(frozen=True)
class Parts:
    """The pieces of each part, in order. A memo with a spine has its sections as annexes."""

    body: list[Piece]
    annexes: list[Piece]
    spined: bool

    @property
    def printed(self) -> list[Piece]:
        """All of them in reading order."""
        return [*self.body, *self.annexes]


def parted(pieces: Iterable[Piece]) -> Parts:
    """The parts of a memo; without a spine its sections are its body, as where one notebook is exported alone."""
    found = list(pieces)
    spine = [p for p in found if p.section in SPINES]
    if not spine:
        return Parts(found, [], False)
    return Parts(spine, [p for p in found if p.section not in SPINES], True)
