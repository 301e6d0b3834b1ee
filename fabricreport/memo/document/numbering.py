"""The first pass: headings, figures and tables get numbers and anchors; references can then be resolved."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from fabricreport.blocks.markdown import plain_text
from fabricreport.errors import Problem
from fabricreport.formats import NBSP
from fabricreport.memo.document.derive import Anchors
from fabricreport.memo.document.gather import Piece
from fabricreport.memo.document.safe import one_line
from fabricreport.memo.document.sources import SourceBook
from fabricreport.scenario.schema import SECTION_NAMES

Node = dict[str, Any]

MALFORMED = (LookupError, TypeError, ValueError, AttributeError)
_WORDS = {"fig": "Figure", "tab": "Table"}


CLOSING_ANNEXES = frozenset({"sec-sources", "sec-derivations"})
_SUBJECTS = {"tco": "total cost", "tail_risk": "tail risk", "decision": "the decision"}


def left_out(identity: str) -> str:
    """How prose names one of the memo's sections that this copy does not hold; '' for any other id."""
    section = identity.removeprefix("sec-")
    if section == identity or section not in SECTION_NAMES:
        return ""
    return f"the section on {_SUBJECTS.get(section, section)} (left out of this copy)"


class Numbering:
    """Numbers by place, targets by id; faults met on the way are collected. `Resolver` writes the fresh nodes."""

    def __init__(self, ledger: Mapping[str, Node], book: SourceBook, problems: list[Problem]) -> None:
        self.anchors = Anchors()
        self.contents: list[Node] = []
        self.ledger = ledger
        self.book = book
        self._problems = problems
        self.targets: dict[str, tuple[str, str]] = {}
        self.placed: dict[int, Node] = {}
        self._counts = {"fig": 0, "tab": 0}
        self._levels = [0, 0, 0]
        self._annexes = 0

    def number_body(self, pieces: Sequence[Piece]) -> None:
        """Give headings 1, 1.1, 1.1.1 and number figures and tables."""
        self._number(pieces, annex=False)

    def number_annexes(self, pieces: Sequence[Piece]) -> None:
        """Every level-1 heading opens an annex: Annex A, A.1; figures and tables count on from the body."""
        self._number(pieces, annex=True)

    def _number(self, pieces: Sequence[Piece], *, annex: bool) -> None:
        for piece in pieces:
            # A malformed block gets no number here and is reported by `resolve`, which reads it again.
            with suppress(*MALFORMED):
                for node in _blocks(piece.nodes):
                    self._place(node, piece.where, annex=annex)

    def closing_annex(self, title: str, identity: str) -> Node:
        """An annex the writers fill themselves (sources, derivations)."""
        self._open_annex()
        anchor = self.anchors.of("m", identity)
        number = f"Annex {_letters(self._annexes)}"
        self.targets[identity] = (number.replace(" ", NBSP), anchor)
        return {"number": number, "text": title, "level": 1, "anchor": anchor, "annex": True}

    def prints_numbers(self, pieces: Iterable[Piece]) -> bool:
        """True if any ledger number is printed anywhere."""
        return any(node.get("t") == "num" for piece in pieces for node in _everything(list(piece.nodes)))

    def uses_sources(self, pieces: Iterable[Piece]) -> bool:
        """True if anything cited, or behind a printed number, has a source."""
        ids: set[str] = set()
        for node in (n for piece in pieces for n in _everything(list(piece.nodes))):
            if node.get("t") == "cite":
                ids |= {str(i) for i in node.get("ids") or []}
            elif node.get("t") == "num":
                entry = self.ledger.get(str(node.get("id")), {})
                ids |= {str(i) for i in [*(entry.get("inputs") or []), *(entry.get("sources") or [])]}
        return any(self.book.inputs.get(i, {}).get("source") for i in ids)

    def _place(self, node: Node, where: str, *, annex: bool) -> None:
        kind = node.get("t")
        if kind == "h":
            self._place_heading(node, where, annex=annex)
        elif kind in ("figure", "datatable"):
            short = "fig" if kind == "figure" else "tab"
            self._counts[short] += 1
            number = str(self._counts[short])
            identity = str(node.get("id") or f"{short}-{number}")
            anchor = self._claim(identity, f"{_WORDS[short]}{NBSP}{number}", where)
            self.placed[id(node)] = {"number": number, "anchor": anchor}

    def _place_heading(self, node: Node, where: str, *, annex: bool) -> None:
        level = min(max(int(node.get("level", 1)), 1), 3)
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
        text = one_line(plain_text(node.get("c", [])))
        word = f"{'Annex' if annex else 'Section'}{NBSP}{number.removeprefix('Annex ')}"
        anchor = self._claim(str(node.get("id") or f"sec-{text}"), word, where, explicit=bool(node.get("id")))
        placed = {"number": number, "text": text, "level": level, "anchor": anchor, "annex": annex}
        self.contents.append(placed)
        self.placed[id(node)] = placed

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


def _blocks(nodes: Iterable[Node]) -> Iterable[Node]:
    """Block nodes in reading order, those inside callouts, quotes and lists too."""
    for node in nodes:
        yield node
        if node.get("t") in ("quote", "callout"):
            yield from _blocks(node.get("c") or [])
        elif node.get("t") in ("ul", "ol"):
            for item in node.get("items") or []:
                yield from _blocks(item)


def _everything(value: Any) -> Iterable[Node]:
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    if isinstance(value, list | tuple):
        for part in value:
            yield from _everything(part)


def _letters(number: int) -> str:
    """1 -> A, 26 -> Z, 27 -> AA."""
    letters = ""
    while number > 0:
        number, rest = divmod(number - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters
