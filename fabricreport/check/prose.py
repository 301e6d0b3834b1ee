"""Faults of a notebook's prose cells that show without a kernel: a first line that cannot be read, an arm that is missing or
none of its fact's, a figure nobody declares, a direction typed behind an amount whose sign nobody has asked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import nbformat

from fabricreport.base.errors import InputError, Problem
from fabricreport.base.locations import did_you_mean
from fabricreport.blocks.cells import fields_of, written_at
from fabricreport.blocks.prose import DIRECTIONS, ProseCell, ProseFault, figure_of, is_prose, read_cell, refuse_misfit
from fabricreport.blocks.template import split_style
from fabricreport.bodies.bodies import DECLARED, SPINE, Turns
from fabricreport.books.glossary import glossary_book
from fabricreport.ledger.facts import Facts
from fabricreport.ledger.figures import find_spec

_NAME = re.compile(r"\{[a-z_]+\}")
_SENTENCE = re.compile(r"(?<=[.!?:])\s")
_FIGURE = re.compile(r"([a-z_]+)\.[^:\s]+\Z")


FACTS: Mapping[str, type[Facts]] = {**{name: body.facts for name, body in SPINE.items()}, "acceptance": Turns}
"""What each notebook's argument turns on."""


def kinds_of(notebook: str) -> Mapping[str, tuple[str, ...]]:
    """The facts of a notebook, each with what it may be; none where its cells have no arms."""
    return FACTS[notebook].kinds() if notebook in FACTS else {}


def prose_faults(notebook: Path, laid: Any = None) -> list[Problem]:
    """What is wrong with the prose cells of a notebook, told by cell; words and findings are looked up when it runs.
    `laid` is its node with a client's own laid over.

    Ids that the notebook's own code names (`case.number("tco.mine", …)`) are taken as made there.
    """
    try:
        cells = (laid or nbformat.read(notebook, as_version=4)).cells  # type: ignore[no-untyped-call]
    except (OSError, ValueError, LookupError, TypeError, AttributeError, nbformat.ValidationError):
        return []  # whoever takes its fingerprint says that it is no notebook
    sources = [cell.source if cell.cell_type == "code" else "" for cell in cells]
    own = "\n".join(source for source in sources if not is_prose(source))
    kinds = kinds_of(notebook.stem)
    return [
        problem
        for number, source in enumerate(sources, start=1)
        if is_prose(source)
        for problem in _faults(
            source, "{}, cell {}".format(*written_at(cells[number - 1], notebook.name, number)), own, kinds
        )
    ]


def refuse_unreadable(notebooks: Iterable[Path]) -> None:
    """`InputError` with every such fault of the notebooks: no kernel is started for them."""
    if problems := [problem for notebook in notebooks for problem in prose_faults(notebook)]:
        raise InputError(problems)


def _faults(source: str, where: str, own: str, kinds: Mapping[str, tuple[str, ...]]) -> Iterator[Problem]:
    try:
        cell = read_cell(source)
        if cell.by:
            refuse_misfit(cell, kinds)
    except ProseFault as fault:
        first = source.partition("\n")[0][:80]
        yield Problem("the prose cell cannot be read", where, value=first, remedy=f"{fault}.")
        return
    for field in dict.fromkeys([*cell.asked, *(field for text in cell.texts for field in fields_of(text))]):
        direction, name = figure_of(split_style(field)[0])
        figure = _FIGURE.match(name)
        if figure is None or figure[1] not in DECLARED or _made(name, own):
            continue
        if spec := find_spec(DECLARED.values(), name):
            if direction in DIRECTIONS and not spec.taken and not spec.compares:
                remedy = "A direction is that of a figure with `compares`; choose by a fact where there is none."
                yield Problem("this figure tells no two options apart", where, value=f"{{{field}}}", remedy=remedy)
            continue
        patterns = [spec.pattern for spec in DECLARED[figure[1]].specs]
        close = did_you_mean(name, patterns) or ""
        yield Problem("no section declares this figure", where, value=f"{{{field}}}", suggestion=close)
    yield from _typed(cell, where)


def _typed(cell: ProseCell, where: str) -> Iterator[Problem]:
    """Directions typed behind the amount by which two options lie apart, and words that set one thing apart typed beside its
    name, in a cell that holds whatever its sign and whoever it is of."""
    if cell.when or cell.by or cell.each or cell.asked:
        return
    book = glossary_book()
    words = book.directions
    typed = re.compile(rf"\{{([^{{}}:]+):abs(?:range)?\}} (?:{'|'.join(map(re.escape, (*words.less, *words.more)))})\b")
    for found in (found for text in cell.texts for found in typed.finditer(text)):
        spec = find_spec(DECLARED.values(), found[1])
        if spec is not None and spec.compares:
            remedy = f"Write {{more_or_less:{found[1]}}}, or give the place an arm for each way that it can go."
            yield Problem("a direction is typed by hand", where, value=found[0], remedy=remedy)
    apart = re.compile(rf"\b(?:{'|'.join(book.sets_apart)})\b", re.IGNORECASE)
    for sentence in (sentence for text in cell.texts for sentence in _SENTENCE.split(text)):
        if _NAME.search(sentence) and (word := apart.search(sentence)):
            remedy = "Let a fact decide for which clients it holds: give the place arms, or write {if:…|…|…}."
            yield Problem(
                f"{word[0]!r} is typed by hand beside a name", where, value=sentence.strip()[:80], remedy=remedy
            )


def _made(name: str, own: str) -> bool:
    """Whether the notebook's own code names the id, or what stands before its index."""
    return name.partition("[")[0] in own
