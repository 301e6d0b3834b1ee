"""The first pass: headings, figures and tables get numbers and anchors; references can then be resolved."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from fabricreport.blocks.nodes import (
    EVIDENCE_REPORT,
    Cite,
    DataTable,
    Figure,
    Heading,
    Node,
    Num,
    is_of_report,
    plain_text,
    rebuilt,
    walk,
)
from fabricreport.errors import Problem
from fabricreport.formats import NBSP
from fabricreport.ledger import Record
from fabricreport.memo.document.derive import Anchors
from fabricreport.memo.document.gather import Piece
from fabricreport.memo.document.safe import one_line
from fabricreport.memo.document.sources import SourceBook
from fabricreport.scenario.schema import SECTION_NAMES

CLOSING_ANNEXES = frozenset({"sec-sources", "sec-derivations"})
_SUBJECTS = {"tco": "total cost", "tail_risk": "tail risk", "decision": "the decision"}
_SECTION_OF = {"tail": "tail_risk"}
_OF_SECTION = re.compile(rf"(?:sec|tab|fig)-({'|'.join((*SECTION_NAMES, *_SECTION_OF))})(?:-|\Z)")
"""What belongs to a section by its id: its heading, or a heading, a table or a chart in it."""


def left_out(identity: str, present: Collection[str] = ()) -> str:
    """How prose names what stands in one of the memo's sections that this copy does not hold; '' for any other id.

    `present` are the sections that it holds.
    """
    found = _OF_SECTION.match(identity)
    section = _SECTION_OF.get(found[1], found[1]) if found else ""
    if not section or section in present:
        return ""
    return f"the section on {_SUBJECTS.get(section, section)} (left out of this copy)"


def in_report(identity: str, report: Mapping[str, Any] | None) -> str:
    """How prose names what stands in the evidence report that a memo cites; '' for any other id, and what it lacks.

    `report` is what the front matter says of it: its `edition`, and by anchor what each is called there. Without one, as
    in JupyterLab, all of it is called the evidence report.
    """
    if not is_of_report(identity):
        return ""
    if report is None:
        return EVIDENCE_REPORT
    if identity == "sec-report" and report["anchors"]:
        return f"{EVIDENCE_REPORT}, edition {report['edition']}"
    called = report["anchors"].get(identity)
    return f"{called} of {EVIDENCE_REPORT}" if called else ""


@dataclass(frozen=True)
class ContentsLine:
    """One line of the contents: a heading's number ("2.1", "Annex A"), its anchor, its text, its level from 1."""

    number: str
    anchor: str
    text: str
    level: int
    annex: bool


class Numbering:
    """Numbers in reading order, targets by id; faults met on the way are collected. `Resolver` fills in the rest."""

    def __init__(
        self,
        ledger: Mapping[str, Record],
        book: SourceBook,
        problems: list[Problem],
        report: Mapping[str, Any] | None = None,
    ) -> None:
        self.anchors = Anchors()
        self.contents: list[ContentsLine] = []
        self.ledger = ledger
        self.book = book
        self._problems = problems
        self.targets: dict[str, tuple[str, str]] = {}
        self.report = report
        self._counts = {"Figure": 0, "Table": 0}
        self._levels = [0, 0, 0]
        self._annexes = 0

    def numbered(self, pieces: Sequence[Piece], *, annex: bool = False) -> list[Piece]:
        """The pieces with headings (1, 1.1, 1.1.1), figures and tables numbered.

        Of annexes every heading of level 1 opens one: Annex A, A.1; figures and tables count on from the body.
        """
        return [
            replace(piece, nodes=rebuilt(piece.nodes, of_node=partial(self._numbered, where=piece.where, annex=annex)))
            for piece in pieces
        ]

    def closing_annex(self, title: str, identity: str) -> ContentsLine:
        """An annex the writers fill themselves (sources, derivations)."""
        self._open_annex()
        anchor = self.anchors.of("m", identity)
        number = f"Annex {_letters(self._annexes)}"
        self.targets[identity] = (number.replace(" ", NBSP), anchor)
        return ContentsLine(number, anchor, title, 1, True)

    def prints_numbers(self, pieces: Iterable[Piece]) -> bool:
        """True if any ledger number is printed anywhere."""
        return any(isinstance(node, Num) for piece in pieces for node in walk(piece.nodes))

    def uses_sources(self, pieces: Iterable[Piece]) -> bool:
        """True if anything cited, or behind a printed number, has a source."""
        ids: set[str] = set()
        for node in (n for piece in pieces for n in walk(piece.nodes)):
            if isinstance(node, Cite):
                ids |= set(node.ids)
            elif isinstance(node, Num):
                entry = self.ledger.get(node.id, {})
                ids |= {str(i) for i in [*(entry.get("inputs") or []), *(entry.get("sources") or [])]}
        return any(self.book.inputs.get(i, {}).get("source") for i in ids)

    def _numbered(self, node: Node, *, where: str, annex: bool) -> Node:
        if isinstance(node, Heading):
            return self._heading(node, where, annex=annex)
        if not isinstance(node, Figure | DataTable):
            return node
        word, short = ("Figure", "fig") if isinstance(node, Figure) else ("Table", "tab")
        self._counts[word] += 1
        number = str(self._counts[word])
        identity = node.id or f"{short}-{number}"
        return replace(node, id=identity, number=number, anchor=self._claim(identity, f"{word}{NBSP}{number}", where))

    def _heading(self, node: Heading, where: str, *, annex: bool) -> Heading:
        level = min(max(node.level, 1), 3)
        # A heading may go one level deeper than the one before it, not two: a skipped level loses readers of tags.
        deepest = next((i for i, count in enumerate(self._levels) if count == 0), 3)
        level = min(level, deepest + 1) if not annex or self._annexes else 1
        if annex and level == 1:
            self._open_annex()
        else:
            self._levels[level - 1] += 1
            self._levels[level:] = [0] * (3 - level)
        letter = _letters(self._annexes)
        inner = [str(n) for n in (self._levels[1:level] if annex else self._levels[:level])]
        number = (f"Annex {letter}" if level == 1 else ".".join([letter, *inner])) if annex else ".".join(inner)
        text = one_line(plain_text(node.children))
        word = f"{'Annex' if annex else 'Section'}{NBSP}{number.removeprefix('Annex ')}"
        anchor = self._claim(node.id or f"sec-{text}", word, where, explicit=bool(node.id))
        self.contents.append(ContentsLine(number, anchor, text, level, annex))
        return replace(node, level=level, number=number, anchor=anchor)

    def _open_annex(self) -> None:
        self._annexes += 1
        self._levels = [1, 0, 0]

    def _claim(self, identity: str, word: str, where: str, *, explicit: bool = True) -> str:
        if identity in self.targets and explicit:
            self.fault("two things have the same id", where, identity, "Give each its own id.")
        if identity in self.targets:
            return self.anchors.of("m", f"{identity} {word}")
        anchor = self.anchors.of("m", identity)
        self.targets[identity] = (word, anchor)
        return anchor

    def fault(self, message: str, where: str, value: str, remedy: str) -> None:
        """Collect a fault found in a cell."""
        self._problems.append(Problem(message, key=where, value=value, remedy=remedy))


def _letters(number: int) -> str:
    """1 -> A, 26 -> Z, 27 -> AA."""
    letters = ""
    while number > 0:
        number, rest = divmod(number - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters
