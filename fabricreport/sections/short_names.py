"""Names of options that are short enough to head the columns of a table, and those that sentences use."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from fabricreport.books.families import families
from fabricreport.books.options import Option

_DROPPED = re.compile(r"\b(?:on|switches|Standard)\b|\bwithout .*|\b\d+G\b")


def short_names(options: Sequence[Option]) -> dict[str, str]:
    """Names short enough to head a column: without link speeds and filling words, as long as they stay distinct."""
    short = {o.id: _bare(o) for o in options}
    taken = Counter(short.values())
    return {o.id: short[o.id] if short[o.id] and taken[short[o.id]] == 1 else o.name for o in options}


def spoken_names(options: Sequence[Option], choice: str, rival: str, beside: Sequence[Option] = ()) -> dict[str, str]:
    """What sentences call the options where `choice` and `rival` are weighed: the two by the shortest names that tell them apart.

    Of two of one side none goes by the side's own name, which is the other's too. Any other option has the shortest name
    that could be meant for no second one; so have those `beside`, which are not compared and change no other's name.
    """
    told = _compared(options, choice, rival)
    every = [*options, *(o for o in beside if o.id not in told)]
    for option in every[len(options) :]:
        told[option.id] = _first(option, [o for o in every if o.id != option.id], "")
    return told


def _compared(options: Sequence[Option], choice: str, rival: str) -> dict[str, str]:
    found = {o.id: o for o in options}
    pair = [found[i] for i in dict.fromkeys((choice, rival)) if i in found]
    told: dict[str, str] = {}
    for option in options:
        others = [o for o in (pair if option in pair else options) if o.id != option.id]
        beside = option.side in (o.side for o in others if o.id in (choice, rival))
        own = families()[option.side].short_name if beside and option.side in families() else ""
        told[option.id] = _first(option, others, own)
    return told


def _first(option: Option, others: Sequence[Option], own: str) -> str:
    """The shortest name that none of the others could go by, nor is the side's `own`."""
    taken = {name.casefold() for o in others for name in _ladder(o)}
    names = (name for name in _ladder(option) if name.casefold() not in taken and name != own)
    return next(names, f"{option.name} ({option.id})")


def names_told(options: Sequence[Option], choice: str, rival: str) -> dict[str, list[str]]:
    """Every name by which a memo that weighs `choice` and `rival` may call each option, without those that two of them bear.

    Between the two weighed, the name of a family is that of the one that is of it.
    """
    short, spoken = short_names(options), spoken_names(options, choice, rival)
    called = {o.id: {o.name, short[o.id], spoken[o.id]} for o in options}
    pair = [o for o in options if o.id in (choice, rival)]
    for option in pair:
        if [o.family for o in pair].count(option.family) == 1:
            called[option.id].add(option.family_name)
    borne = Counter(name.casefold() for names in called.values() for name in names)
    return {i: sorted(name for name in names if borne[name.casefold()] == 1) for i, names in called.items()}


def _ladder(option: Option) -> tuple[str, ...]:
    """The names an option may go by, the shortest first: its family's, where its own name has it, and those it is said by.

    What has no RDMA never goes by its family's: every Ethernet is of that name.
    """
    family = option.family_name
    names = (family if option.rdma and family in option.name else "", *option.say, _bare(option), option.name)
    return tuple(name for name in dict.fromkeys(names) if name)


def _bare(option: Option) -> str:
    """A name without link speeds and filling words."""
    return " ".join(_DROPPED.sub(" ", option.name).split())
