"""Nodes as a memo prints them: numbered, linked, measured. Each is still the kind that was emitted, with what was found.

`anchor` is where the thing stands, or where a link leads, in both writers' files.
"""

from __future__ import annotations

from dataclasses import dataclass

from fabricreport.blocks.nodes import Cite, DataTable, Figure, Formula, Heading, Image, Node, Note, Num, Ref, TableRow
from fabricreport.memo.document.tables import TableShape


@dataclass(frozen=True)
class PlacedNum(Num):
    """A number that leads to its derivation; `footing` is the kind of knowledge it rests on, `stale` its age.

    `ring` says that it is mostly assumed, where the page says so of single numbers.
    """

    anchor: str
    footing: str
    stale: bool
    ring: bool


@dataclass(frozen=True)
class PlacedRow(TableRow):
    """A row of a table; `ring` says that all it tells is mostly assumed."""

    ring: bool


@dataclass(frozen=True)
class PlacedRef(Ref):
    """A reference as words: Figure 3."""

    text: str
    anchor: str

    @property
    def shown(self) -> str:
        """The words."""
        return self.text


@dataclass(frozen=True)
class CitedSource(Node):
    """The number of a source in the source list."""

    number: int
    anchor: str


@dataclass(frozen=True)
class PlacedCite(Cite):
    """A citation as numbers of the source list, each once."""

    refs: tuple[CitedSource, ...]


@dataclass(frozen=True)
class PlacedNote(Note):
    """A footnote with its number."""

    number: int


@dataclass(frozen=True)
class PlacedHeading(Heading):
    """A heading with its number ("2.1", "Annex A") and its text on one line."""

    number: str
    anchor: str
    text: str
    annex: bool


@dataclass(frozen=True, kw_only=True)
class PlacedFigure(Figure):
    """A figure with its number, and its cleaned drawing's size in points; a drawing that cannot be shown is empty."""

    number: str
    anchor: str
    width_pt: float
    height_pt: float


@dataclass(frozen=True)
class PlacedTable(DataTable):
    """A table with its number and its shape in print; every row has as many cells as there are columns."""

    number: str
    anchor: str
    shape: TableShape


@dataclass(frozen=True)
class PlacedFormula(Formula):
    """A formula with its cleaned drawing's size in points."""

    width_pt: float
    height_pt: float


@dataclass(frozen=True, kw_only=True)
class PlacedImage(Image):
    """An image with the width in points at which its text prints near its intended size."""

    width_pt: float
