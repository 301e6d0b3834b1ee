"""Choices within a line of a prose cell, for what is no matter of argument: nothing printed, one or several, a sign.

    {if:third|The next option, {third}, costs more.|}     the first text where there is one, else the second
    {if:spares|Some stand by.|}                           likewise, where a finding holds
    {one:sellers|seller|sellers}                          the first where it is one, by things or by a figure as printed
    {more_or_less:decision.cash}                          more, less or the same: what the figure says of the first of the two
    {longer_or_shorter:latency.penalty}                   longer, shorter or as long, likewise
    {most:tco.part[causes]}                               the one of several things whose figure is the largest by size

A direction is worked out by the sign of a figure that tells two options apart (`compares`), as printed: above zero the
first has less. Of the largest, those that print alike are named together. A choice may hold fields and no other choice.
"""

from __future__ import annotations

import re
from collections.abc import Callable

IF, ONE, MOST = "if", "one", "most"
DIRECTIONS = {"more_or_less": ("the same", "less", "more"), "longer_or_shorter": ("as long", "shorter", "longer")}
"""Words by the sign of a figure: of nought, above it, below it."""
_TEXT = r"((?:[^{}|]|\{[^{}|]*\})*)"
_CHOICE = re.compile(rf"\{{({IF}|{ONE}):([^{{}}|]+)\|{_TEXT}\|{_TEXT}\}}")


def resolved(text: str, holds: Callable[[str, str], bool]) -> str:
    """The text with its choices made: `holds` says of a kind of choice and what it asks of whether the first text stands."""
    return _CHOICE.sub(lambda found: found[3] if holds(found[1], found[2].strip()) else found[4], text)


def readings(text: str) -> tuple[str, ...]:
    """The text with the first of all its choices, and with the second; one without any as it stands."""
    return tuple(dict.fromkeys(_CHOICE.sub(rf"\g<{way}>", text) for way in (3, 4)))


def asked_by(text: str) -> tuple[str, ...]:
    """What the choices of a text ask of, as fields."""
    return tuple(found[2].strip() for found in _CHOICE.finditer(text))


def figure_of(field: str) -> tuple[str, str]:
    """The word that a field asks of a figure, a direction or `most`, and the figure's id; no word where it is another field."""
    word, _, figure = field.partition(":")
    return (word, figure) if figure and (word == MOST or word in DIRECTIONS) else ("", field)
