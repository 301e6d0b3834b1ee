"""What the memo's sentences come to, by notebook: cells, arms, facts, values and words; `python tests/prose_counts.py`.

A cell without arms is one arm; an arm that says nothing is none. A finding that a cell asks `when=` is a fact of two values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from notebook_cells import EVERY, sources

from fabricreport.blocks.prose import ARM, ProseCell, is_prose, read_cell
from fabricreport.check.prose import kinds_of


@dataclass(frozen=True)
class Counts:
    """What the prose cells of a notebook come to; `facts` are their names, each with how many values it may have."""

    cells: int
    arms: int
    most_arms: int
    facts: Mapping[str, int]
    words: int


def counted(notebook: str) -> Counts:
    """The counts of one notebook."""
    prose = [source for source, _ in sources(notebook) if is_prose(source)]
    cells = [read_cell(source) for source in prose]
    kinds = kinds_of(notebook)
    return Counts(
        cells=len(cells),
        arms=sum(len(cell.ways) for cell in cells),
        most_arms=max((len(cell.ways) for cell in cells), default=0),
        facts={_fact(cell): len(kinds[cell.by]) if cell.by else 2 for cell in cells if cell.by or cell.when},
        words=sum(len(ARM.sub("", source.partition("\n")[2]).split()) for source in prose),
    )


def _fact(cell: ProseCell) -> str:
    return f"by {cell.by}" if cell.by else cell.when.rpartition(".")[2]


def main() -> None:
    print(f"{'':18}{'cells':>7}{'arms':>7}{'facts':>7}{'values':>8}{'words':>8}")
    found = {name: counted(name) for name in EVERY}
    every = {fact: values for one in found.values() for fact, values in one.facts.items()}
    total = Counts(
        sum(one.cells for one in found.values()),
        sum(one.arms for one in found.values()),
        max(one.most_arms for one in found.values()),
        every,
        sum(one.words for one in found.values()),
    )
    for name, one in {**found, "together": total}.items():
        values = sum(one.facts.values())
        print(f"{name:18}{one.cells:7,}{one.arms:7,}{len(one.facts):7,}{values:8,}{one.words:8,}")
    print(f"the most arms of one cell: {total.most_arms}")


if __name__ == "__main__":
    main()
