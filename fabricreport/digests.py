"""What an id of `reads` is today, as a digest: equal digests, and whoever reads it reads the same.

Everything that can be got at through the id goes in, down to the name of the file and the line an entry stands on; the
folder does not, because each build copies its inputs to another.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from fabricreport.case import Case
from fabricreport.provenance import inputs_of, plain
from fabricreport.reads import EVERY, GIVEN, VALUE
from fabricreport.scenario import named_files
from fabricreport.seen import plain_params


class Digests:
    """Digests of what a case's inputs hold, each worked out when it is asked for and remembered."""

    def __init__(self, case: Case) -> None:
        self._case, self._given = case, case.inputs
        self._params = plain_params(case.params)
        self._found: dict[str, str] = {}

    def __contains__(self, read_id: str) -> bool:
        return read_id in self._found

    def learn(self, read_id: str, digest: str) -> None:
        """Take over a digest that was worked out before, of inputs that are the same."""
        self._found[read_id] = digest

    def of(self, ids: Iterable[str]) -> dict[str, str]:
        """The digest of each id, sorted by id."""
        return {i: self._digest(i) for i in sorted(set(ids))}

    def value(self, value_id: str) -> tuple[str, frozenset[str]]:
        """The digest of one of the case's values, and the ids of everything it was made of."""
        return self._digest(value_id), self._case.value(value_id.partition(":")[2])[1]

    def _digest(self, read_id: str) -> str:
        if read_id not in self._found:
            data = repr(self._what(read_id)).encode("utf-8", "surrogatepass")
            self._found[read_id] = hashlib.sha256(data).hexdigest()[:32]
        return self._found[read_id]

    def _what(self, read_id: str) -> Any:
        """Everything an id stands for, with a `repr` that tells it whole; None where there is no such thing."""
        kind, _, name = read_id.partition(":")
        if kind == VALUE:
            return _told(self._case.value(name)[0])
        if read_id == EVERY.get(kind):
            return self._whole(kind)
        if kind == "file":
            return self._file(name)
        if kind in ("params", "param"):
            return self._block(name)
        entries, prices = self._given.in_force.evidence, self._given.in_force.prices
        if kind == "evidence":
            return _placeless(entries[name]) if name in entries else None
        if kind == "price":
            return _placeless(prices[name]) if name in prices else None
        if kind == "dearest":
            return prices.dearest(*name.split())
        if kind == "option":
            options = self._given.priced_options
            return (_placeless(options[name]), options[name].shipped) if name in options else None
        if kind == "contested":
            return self._contested(name)
        if kind == "claim":
            return None  # the package's own, as is every other entry that no client can add to
        raise KeyError(f"{read_id}: nothing of a case has an id of this kind")

    def _whole(self, kind: str) -> Any:
        given = self._given
        entries, prices, books = given.in_force.evidence, given.in_force.prices, given.books
        if kind == "evidence":
            return [[_placeless(e) for e in book.values()] for book in (entries, books.evidence)]
        if kind == "price":
            return [_placeless(p) for p in prices.values()], self._whole("held")
        if kind == "held":
            return [_placeless(h) for h in prices.quarantine]
        if kind == "history":
            return [_placeless(r) for r in (*books.prices.rows, *books.prices.quarantine)], len(books.prices.problems)
        if kind == "option":
            return [self._digest(f"option:{o}") for o in given.priced_options]
        if kind == "contested":
            return [(q, self._digest(f"contested:{q}")) for q in given.quantities]
        if kind == "file":
            return [self._file(name) for name in named_files(self._params)]
        return [(name, self._digest(f"params:{name}")) for name in (*type(self._params).model_fields, "given")]

    def _contested(self, quantity: str) -> Any:
        """What the sources say, in the order of their files, and the client's own figure."""
        given = self._given
        own = given.quantity_in_force(quantity)
        if quantity not in given.quantities:
            return None
        return own, given.contested(quantity), [e.id for e in given.books.evidence.contested(quantity)]

    def _block(self, name: str) -> Any:
        """A block of the params: what the client stated of it, and what it comes to."""
        block = name.partition(".")[0]
        params = self._params
        if f"params:{block}" == GIVEN:
            return sorted(params.model_fields_set)
        dumped = [params.model_dump(mode="json", include={block}, exclude_unset=left_out) for left_out in (False, True)]
        return dumped, block in params.model_fields_set

    def _file(self, name: str) -> Any:
        try:
            return hashlib.sha256((self._given.books.folder / name).read_bytes()).hexdigest()
        except OSError as error:
            return type(error).__name__


def _told(value: Any) -> Any:
    """A value with every bit of an array, and what the array follows from."""
    if isinstance(value, np.ndarray):
        return value.shape, np.ascontiguousarray(plain(value)).tobytes(), sorted(inputs_of(value))
    return value


def _placeless(entry: Any) -> Any:
    """An entry with its file's name, without its folder."""
    return replace(entry, file=Path(entry.file).name)
