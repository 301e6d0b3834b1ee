"""What a section found, named: prose cells have an arm for each value of a fact (`by=heading`), ask `when=finding.clear` or
choose by it within a line (`{if:clear|…|…}`), and words such as `{choice}` are filled from here.

Which sentence is true is decided in the package; a notebook only says it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Self, get_args, get_type_hints

from fabricreport.base.locations import did_you_mean


class Findings:
    """The findings of one section that hold here: `finding.clear` is True or False, any other name is refused.

    `kind` is the enumeration of all that may hold.
    """

    def __init__(self, kind: type[StrEnum], holds: Iterable[StrEnum]) -> None:
        self.kind = kind
        self._holds = frozenset(holds)

    def __getattr__(self, name: str) -> bool:
        if name.startswith("__"):
            raise AttributeError(name)
        names = {member.name.lower(): member for member in self.kind}
        if name not in names:
            close = did_you_mean(name, names)
            hint = f"; did you mean {close}?" if close else f": they are {', '.join(names)}"
            raise AttributeError(f"{self.kind.__name__} has no finding {name}{hint}")
        return names[name] in self._holds

    def by_name(self) -> dict[str, bool]:
        """Each finding that may hold by its name, and whether it does: what the choices of a line may ask."""
        return {member.name.lower(): member in self._holds for member in self.kind}

    def __iter__(self) -> Iterator[StrEnum]:
        return iter(member for member in self.kind if member in self._holds)

    def __contains__(self, member: StrEnum) -> bool:
        return member in self._holds


@dataclass(frozen=True)
class Facts:
    """What a section's argument turns on: each field one of a few values, which prose cells have arms for.

    A field is a `Literal` of those values, or a `StrEnum` that is there for other reasons: then an arm is called by a member's
    name in small letters. There is a fact only where the argument changes, not where a word of a sentence does.
    """

    @classmethod
    def kinds(cls) -> dict[str, tuple[str, ...]]:
        """Every fact by its name, with the arms of all that it may be."""
        hints = get_type_hints(cls)
        return {name: tuple(map(_arm, get_args(kind) or kind)) for name, kind in hints.items()}

    def arm(self, fact: str) -> str:
        """The arm of what a fact is here."""
        return _arm(getattr(self, fact))


def _arm(value: str) -> str:
    return value.name.lower() if isinstance(value, StrEnum) else value


@dataclass(frozen=True)
class Spoken:
    """The findings and facts of a section and the words its prose may use: names, numbers, and sequences of named things.

    A `muted` section has nothing to tell here: none of its cells is said.
    """

    findings: Findings
    words: Mapping[str, object] = field(default_factory=dict)
    facts: Facts = field(default_factory=Facts)
    muted: bool = False

    def silent(self) -> Spoken:
        """The same words, and nothing found or told."""
        return Spoken(Findings(self.findings.kind, ()), self.words, muted=True)


class Name(str):
    """Text that belongs to the case (a client, a provider, a product): its digits are part of a name, not a figure.

    It keeps the `parts` it is made of, for some may be names of options, which a memo's body says by other words.
    """

    __slots__ = ("parts",)
    parts: tuple[str, ...]

    def __new__(cls, *parts: str) -> Self:
        """A name of its parts, one behind the other."""
        made = super().__new__(cls, "".join(map(str, parts)))
        made.parts = parts
        return made


def capital(text: str) -> str:
    """Words as they begin a sentence."""
    return text[:1].upper() + text[1:]


class Listing(Name):
    """Lines to be copied as they stand (a command): a field that is alone in its paragraph prints them in type of their own."""

    __slots__ = ()


class Named(Name):
    """One of several things (an option, an input): its name, the `key` its figures go by, and what else is `said` of it.

    `{decision.total[choice]}` quotes the figure whose id ends in the key of `choice`; `{turn.side}` what is said of it.
    """

    __slots__ = ("key", "said")
    key: str
    said: Mapping[str, object]

    def __new__(cls, text: str, key: str, **said: object) -> Self:
        """A name with its key."""
        made = super().__new__(cls, text)
        made.key = key
        made.said = said
        return made


class OptionName(Named):
    """An option by one of its names, its id the key."""

    __slots__ = ()


def joined(names: Iterable[str], between: str = ", ", last: str = "") -> Name:
    """Names one after the other; `last` stands before the last of several, where it is another word."""
    parts: list[str] = []
    for name in names:
        parts += [between, name] if parts else [name]
    if last and len(parts) > 1:
        parts[-2] = last
    return Name(*parts)


class Phrase(Named):
    """A named thing said in words of the language: it has a capital where it begins a sentence, and only there."""

    __slots__ = ()
