"""What the answers change: the course and its lead without any, with each question's answers alone, and with all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from fabricreport.answered import Answered, Moved
from fabricreport.provenance import Traced


def key_of(name: str) -> str:
    """A seller's name as part of an id."""
    return "-".join("".join(c if c.isalnum() else " " for c in name.casefold()).split())


@dataclass(frozen=True)
class Outcome:
    """What is advised: its name, '' where nothing is advised over anything else, and its lead over what comes next (draws,)
    in the memo's currency, None where it stands alone."""

    course: str
    lead: Traced | None


@dataclass(frozen=True)
class Changes:
    """The outcome without any answer, with the answers to each question alone, and with all of them."""

    answered: Answered
    without: Outcome
    alone: Mapping[str, Outcome]
    together: Outcome

    @property
    def turned(self) -> bool:
        """Whether the advice is another one because of the answers."""
        return self.without.course != self.together.course

    @cached_property
    def moved(self) -> Mapping[str, Moved]:
        """What each answer does that moves something, by a key: seller, question, and which of the inputs."""
        found: dict[str, Moved] = {}
        for m in self.answered.moving:
            base = f"{key_of(m.provider)}.{m.question}"
            found[f"{base}.{1 + sum(k.startswith(f'{base}.') for k in found)}"] = m
        return found

    @property
    def sellers(self) -> tuple[str, ...]:
        """Sellers of whose answers one moves something."""
        return tuple(dict.fromkeys(m.provider for m in self.answered.moving))

    def of_seller(self, seller: str) -> Mapping[str, Moved]:
        """What a seller's answers move, by key."""
        return {key: m for key, m in self.moved.items() if m.provider == seller}
