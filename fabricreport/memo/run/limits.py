"""What a section may use, what it has used, and its notebook as it stands: shared by both ways to run its cells."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from nbclient.exceptions import CellControlSignal
from nbformat import NotebookNode


class SectionOutOfTime(CellControlSignal):
    """The section's own limit was spent before the next cell could start."""


@dataclass
class Session:
    """The limits of one section, what was reached, and the notebook as it stands; `kernels` end the kernels it started."""

    cell_timeout_s: float
    section_timeout_s: float
    output_limit_bytes: int
    on_cell: Callable[[int, int], None]
    kernels: list[Callable[[], object]] = field(default_factory=list)
    started: float = field(default_factory=time.monotonic)
    notebook: NotebookNode | None = None
    cell: int | None = None
    output_bytes: int = 0

    def remaining_s(self) -> float:
        """Seconds until the section's limit."""
        return self.section_timeout_s - (time.monotonic() - self.started)

    def cell_limit_s(self, _cell: NotebookNode) -> float:
        """How long the next cell may take: the cell limit, or what is left of the section's."""
        remaining = self.remaining_s()
        if remaining <= 0:
            raise SectionOutOfTime(f"the section's limit of {self.section_timeout_s:g} s was reached")
        return min(self.cell_timeout_s, remaining)

    @property
    def overflowed(self) -> bool:
        """True once the section wrote more than it may."""
        return self.output_bytes > self.output_limit_bytes

    def count(self, msg: dict[str, Any]) -> None:
        """Add a kernel message to the output so far."""
        self.output_bytes += _size(msg.get("content"))


def source_number(cells: list[Any], index: int) -> int:
    """Number in the source notebook (from 1) of the executed notebook's cell at `index`; papermill inserted one.

    The inserted cell itself counts as the parameters cell before it.
    """
    injected = [i for i, c in enumerate(cells) if "injected-parameters" in c.metadata.get("tags", [])]
    return 1 + index - sum(1 for i in injected if i <= index)


def _size(value: Any) -> int:
    if isinstance(value, str | bytes):
        return len(value) + 16
    if isinstance(value, dict):
        return 16 + sum(_size(v) for v in value.values())
    if isinstance(value, list | tuple):
        return 16 + sum(_size(v) for v in value)
    return 8
