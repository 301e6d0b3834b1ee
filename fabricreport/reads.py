"""What was read to make a result: the ids of entries, blocks of the params, options and files, by whoever asked for them.

    reads.note("price:switch-qm9700")        # whoever hands out an entry says so
    with reads.frame() as ids: ...           # what was read in between
    kept.get("price:nic", reads, make)       # a value made once; who takes it over has read what it was made of

Ids are those of inputs (`price:…`, `evidence:…`, `contested:…`) and, for the rest, `option:…`, `params:<block>`,
`dearest:<unit and currency>`, `file:<name>`, `value:<name>`. `EVERY` has the id of each book taken as a whole. A result
that rests on nothing but what is noted here may be kept for as long as each of those stays what it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Generic, TypeVar

Value = TypeVar("Value")
Other = TypeVar("Other")

KINDS = ("price", "evidence", "contested", "option", "params", "file", "history", "held")
EVERY: Mapping[str, str] = {kind: f"{kind}:*" for kind in KINDS}
"""The id of a whole book. `history` is every row of the price files, `held` the rows that are not used."""
VALUE = "value"
"""What the id of a value begins with that is made, and not read (`case.VALUES`)."""
GIVEN = "params:given"
"""Which blocks of the params the client stated at all."""


def without_parts(ids: Iterable[str]) -> frozenset[str]:
    """The ids without those of entries whose book was read as a whole."""
    found = frozenset(ids)
    wholes = {kind for kind, every in EVERY.items() if every in found}
    return frozenset(i for i in found if i == EVERY.get(kind := i.partition(":")[0]) or kind not in wholes)


class Reads:
    """Ids noted so far. Every frame that is open takes part, so a result made inside another counts for both.

    `beyond` is told as well: whoever tries something out has read what was read for it.
    """

    def __init__(self, beyond: Reads | None = None) -> None:
        self._open: list[set[str]] = [set()]
        self._beyond = beyond

    @property
    def ids(self) -> frozenset[str]:
        """Everything noted since the beginning."""
        return frozenset(self._open[0])

    def note(self, *ids: str) -> None:
        """These were read."""
        for frame in self._open:
            frame.update(ids)
        if self._beyond is not None:
            self._beyond.note(*ids)

    def note_own(self, *made: str) -> None:
        """Things made were used, which are known here under these ids and nowhere beyond."""
        for frame in self._open:
            frame.update(made)

    @contextmanager
    def frame(self) -> Iterator[set[str]]:
        """The ids noted inside the block."""
        found: set[str] = set()
        self._open.append(found)
        try:
            yield found
        finally:
            self._open = [others for others in self._open if others is not found]  # by identity: two may be equal


class Kept(Generic[Value]):
    """Values by name, made once, each with what was read to make it: who takes one over has read the same."""

    def __init__(self, values: Mapping[str, tuple[Value, frozenset[str]]] | None = None) -> None:
        self._values = dict(values or {})

    def __contains__(self, name: object) -> bool:
        return name in self._values

    def get(self, name: str, reads: Reads, make: Callable[[], Value]) -> Value:
        """The value, made now if it is not there yet."""
        if name in self._values:
            value, ids = self._values[name]
            reads.note(*ids)
            return value
        with reads.frame() as found:
            value = make()
        self._values[name] = value, frozenset(found)
        return value

    def only(self, wanted: Callable[[str], bool]) -> Kept[Value]:
        """The same without the values of other names."""
        return Kept({name: kept for name, kept in self._values.items() if wanted(name)})

    def mapped(self, change: Callable[[Value], Other]) -> Kept[Other]:
        """The same names with other values, made of the same."""
        return Kept({name: (change(value), ids) for name, (value, ids) in self._values.items()})
