"""The numbered source list: one entry for each document that figures of the memo come from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fabricreport.ledger import Record
from fabricreport.memo.document.safe import one_line


@dataclass(frozen=True)
class Source:
    """One document in the source list; several figures may come from it."""

    number: int
    anchor: str
    title: str
    publisher: str
    address: str
    dates: tuple[str, ...]
    read: str
    grades: tuple[str, ...]
    interest: str


@dataclass
class SourceBook:
    """The memo's inputs, and the source list that grows as they are cited."""

    inputs: Mapping[str, Record]
    _numbers: dict[tuple[str, str, str], int] = field(default_factory=dict)
    _found: dict[str, int] = field(default_factory=dict)

    def number(self, input_id: str) -> int | None:
        """The number of the input's source; it is given one when it is first asked for. None if unknown."""
        entry = self.inputs.get(input_id)
        if input_id not in self._found and entry is not None and entry.get("source"):
            self._found[input_id] = self._numbers.setdefault(_document_of(entry), len(self._numbers) + 1)
        return self._found.get(input_id)

    def listed(self) -> tuple[Source, ...]:
        """All numbered sources in order."""
        members: dict[int, list[Record]] = {number: [] for number in self._numbers.values()}
        for entry in self.inputs.values():
            number = self._numbers.get(_document_of(entry))
            if number is not None:
                members[number].append(entry)
        return tuple(self._source(key, number, members[number]) for key, number in self._numbers.items())

    def _source(self, key: tuple[str, str, str], number: int, members: list[Record]) -> Source:
        def each(name: str) -> tuple[str, ...]:
            return tuple(sorted({one_line(str(m[name])) for m in members if m.get(name)}))

        grades = each("grade")
        dated = grades != ("assumption",)  # what we assume for a memo is as old as the memo
        return Source(
            number=number,
            anchor=f"s-{number}",
            title=key[0],
            publisher=key[1],
            address=key[2],
            dates=each("date") if dated else (),
            read=", ".join(each("read")[-1:]) if dated else "",
            grades=grades,
            interest="; ".join(each("interest")),
        )


def _document_of(entry: Record) -> tuple[str, str, str]:
    return (
        one_line(str(entry.get("source") or "")),
        one_line(str(entry.get("publisher") or "")),
        one_line(str(entry.get("address") or "")),
    )
