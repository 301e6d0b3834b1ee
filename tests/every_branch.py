"""Every branch of a notebook's prose rendered: the shipped cells on a case, each condition taken as met once.

Where a branch speaks of what this case lacks, a placeholder stands for the word and for the figure: what is tried is the
sentence, its fields and its form.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest import mock

from notebook_cells import run, sources

import fabricreport.case as case_module
from fabricreport.blocks import Section
from fabricreport.blocks.cells import said_here, write
from fabricreport.blocks.prose import ProseCell, is_prose, read_cell, readings
from fabricreport.bodies.bodies import DECLARED
from fabricreport.case import Case
from fabricreport.ledger.facts import Name, Named
from fabricreport.ledger.figures import find_spec
from fabricreport.ledger.numbers import Number

PLACE = "branch-placeholder"


class _Anything(dict[str, object]):
    """What is said of a thing that this case lacks: a word for whatever is asked."""

    def __contains__(self, key: object) -> bool:
        return key != "sources"

    def __missing__(self, key: str) -> Name:
        return Name("something")


def placeholder() -> Named:
    thing = Named("something", PLACE)
    thing.said = _Anything()
    return thing


@dataclass(frozen=True)
class Lenient:
    """A case that answers for every declared figure, also for those that it lacks."""

    case: Case

    def figure(self, figure_id: str) -> Number:
        try:
            return self.case.figure(figure_id)
        except LookupError:
            asked = figure_id.replace(f".{PLACE}", "[thing]")
            if find_spec(DECLARED.values(), asked) is None:
                raise
            return Number(figure_id.replace(f".{PLACE}", ".none"), 1.0, "share", "placeholder", "placeholder")

    def record(self, input_id: str) -> dict[str, Any]:
        return self.case.record(input_id)

    @property
    def names(self) -> Sequence[str]:
        return self.case.names


@dataclass(frozen=True)
class Branch:
    """One prose cell as rendered, or one of its arms: whether the case takes it, and the blocks that its section then holds."""

    section: str
    number: int
    cell: ProseCell
    taken: bool
    bundles: tuple[Mapping[str, Any], ...]

    @property
    def where(self) -> str:
        return f"{self.section}.ipynb, cell {self.number}"


def branches(section: str, case: Case, params: Path) -> Iterator[Branch]:
    """Every prose cell of a notebook, rendered for a case."""
    space: dict[str, Any] = {"__name__": "__main__"}
    lenient = Lenient(case)
    with mock.patch.object(case_module, "open_case", lambda _: case):
        for number, (source, tags) in enumerate(sources(section), start=1):
            if not is_prose(source):
                run(f"params = {str(params)!r}" if "parameters" in tags else source, space)
                continue
            cell, body = read_cell(source), space["body"]
            here = said_here(cell, body)
            for way in cell.ways:
                taken = way is here and _taken(way, space)
                said: list[Any] = []
                if taken:  # as the memo has it, titles said ahead included
                    before = len(body.emitted)
                    write(way, body, lambda expression: eval(expression, space))
                    said += body.emitted[before:]
                both = way.asked and way.kind == "say" and not way.each
                if both or not (said or (taken and way.kind == "title")):
                    words = {name: given(word) for name, word in body.words.items()}
                    forced = Section(section, lenient, words=words)
                    write(_words_only(way), forced, lambda expression: eval(expression, space))
                    said += forced.emitted
                yield Branch(section, number, way, taken, tuple(b.bundle for b in said))


def _taken(cell: ProseCell, space: Mapping[str, Any]) -> bool:
    if cell.each is not None and not space["body"].words[cell.each[1]]:
        return False
    if not cell.when:
        return True
    value: Any = space[cell.when.partition(".")[0]]
    for part in cell.when.split(".")[1:]:
        value = getattr(value, part)
    assert isinstance(value, bool), f"{cell.when} is no finding"
    return value is not cell.negated


def given(word: object) -> object:
    """The word, or a placeholder where there is none here."""
    if word is None:
        return placeholder()
    return word or (placeholder(),) if isinstance(word, tuple) else word


def _words_only(cell: ProseCell) -> ProseCell:
    """A cell whose chart or table this case cannot make, with its texts alone."""
    if cell.kind not in ("chart", "table", "title"):
        return replace(cell, text="\n\n".join(readings(cell.text)))
    return replace(cell, kind="say", place="", source="", parts={}, text="\n\n".join(cell.texts))
