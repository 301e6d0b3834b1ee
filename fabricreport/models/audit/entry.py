"""What the models read of an entry of the evidence library."""

from __future__ import annotations

from typing import Protocol


class Entry(Protocol):
    """A figure or a fact as its source states it."""

    @property
    def id(self) -> str:
        """Its id in the library."""

    @property
    def what(self) -> str:
        """The figure in one line of words."""

    @property
    def unit(self) -> str:
        """Its unit."""

    @property
    def kind(self) -> str:
        """The form of its value: number, text, range, pert or interval."""

    @property
    def low(self) -> float:
        """Lower end; not a number for a fact in words."""

    @property
    def mid(self) -> float:
        """Central value; not a number for a fact in words."""

    @property
    def high(self) -> float:
        """Upper end; not a number for a fact in words."""

    @property
    def contested(self) -> str:
        """The quantity on which sources disagree, '' for none."""

    @property
    def base(self) -> str:
        """What its source's figure is measured on."""
