"""Arrays that remember which inputs they were made from.

A `Traced` array is an ordinary numpy array plus `inputs`, the ids of the prices, evidence entries and
params it depends on. Every ufunc and numpy function unites the ids of its arguments, so a model written
as plain numpy carries provenance without knowing it, and the ledger can say truthfully which printed
numbers a price moves. A difference that cancels to exact zero everywhere depends on nothing.
"""

from __future__ import annotations

from operator import getitem
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

NO_INPUTS: frozenset[str] = frozenset()
STEP = 2.0**-20
"""By how much dearer, as a part of the price: too little to turn any choice, far more than what rounding loses."""


class Traced(np.ndarray[Any, np.dtype[Any]]):
    """A numpy array with the ids of the inputs it depends on."""

    inputs: frozenset[str]
    dearer: NDArray[np.float64] | None
    """The same numbers at dearer old prices; None where no old price has a part in them."""

    def __new__(cls, values: ArrayLike, inputs: frozenset[str] | set[str] | tuple[str, ...] = NO_INPUTS) -> Traced:
        """An array of floats that depends on `inputs`, and on whatever `values` depend on already."""
        array = np.array(values, dtype=float).view(cls)
        met = _Met()
        dearer = met.bare(values, dearer=True)
        array.inputs = frozenset(inputs) | met.inputs
        array.dearer = np.array(dearer, dtype=float) if met.aged else None
        return array

    def __array_finalize__(self, parent: Any) -> None:
        self.inputs, self.dearer = getattr(parent, "inputs", NO_INPUTS), None

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *args: Any, **kwargs: Any) -> Any:
        return _applied(getattr(ufunc, method), args, kwargs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return _applied(func, args, kwargs)

    def __getitem__(self, key: Any) -> Any:
        return _applied(getitem, (self, key), {})

    def __setitem__(self, key: Any, value: Any) -> None:
        met, place = _Met(), _Met()
        at, dearer = place.bare(key), met.bare(value, dearer=True)
        self.inputs = self.inputs | place.inputs | met.inputs
        if self.dearer is not None or met.aged:
            self.dearer = np.array(self) if self.dearer is None else self.dearer
            self.dearer[at] = dearer
        np.asarray(self)[at] = met.bare(value)

    def __reduce__(self) -> Any:
        return (Traced, (np.asarray(self), tuple(sorted(self.inputs))), {"inputs": self.inputs, "dearer": self.dearer})

    def __setstate__(self, state: Any) -> None:
        self.__dict__.update(state)


def drawn_exactly(draws: ArrayLike) -> bool:
    """True when every draw of an input is the same number."""
    return bool(np.ptp(plain(draws)) == 0)


def out_of_date(values: Traced) -> Traced:
    """The same numbers, known to be past their shelf life."""
    values.dearer = np.asarray(values) * (1 + STEP)
    return values


def aged(value: Any) -> float | None:
    """Which part of an amount's mean prices out of date make up: how far it would fall were they nothing, to first order.

    None where the amount does not know; for what they make up of nothing, infinity.
    """
    if not isinstance(value, Traced) or value.dearer is None:
        return None
    mean, moved = mean_of(value), float(np.mean(value.dearer - np.asarray(value))) / STEP
    return abs(moved / mean) if mean else np.inf if moved else 0.0


def inputs_of(*values: Any) -> frozenset[str]:
    """The ids that any of the values (arrays, containers of arrays) depend on."""
    met = _Met()
    met.bare(values)
    return met.inputs


def made_of(values: Any, *sources: Any) -> Any:
    """Bare `values` that were worked out of the sources' bare numbers, with the ids that any of these depend on."""
    return _wrap(values, inputs_of(*sources))


def plain(values: Any) -> NDArray[np.float64]:
    """The bare numbers, without provenance."""
    return np.asarray(values, dtype=float)


def stated(number: float, of: Any) -> Any:
    """A number that is written down for the mean of an amount: it rests on what the amount does, and ages as it does."""
    if not isinstance(of, Traced):
        return number
    made = Traced(number, of.inputs)
    if of.dearer is not None:
        made.dearer = np.asarray(number * float(np.mean(of.dearer)) / mean_of(of))
    return made


def mean_of(amount: ArrayLike) -> float:
    """The mean of an amount over its draws, as a number of its own unit."""
    draws = plain(amount)
    return float(np.add.reduce(draws, axis=None)) / draws.size  # what np.mean gives, at a quarter of its overhead


_LISTS, _ARRAYS = (tuple, list), (np.ndarray, np.generic)


class _Met:
    """What arrays a function of numpy was given: the ids of all, and whether anything out of date has a part in one."""

    inputs = NO_INPUTS
    aged = False

    def bare(self, value: Any, *, dearer: bool = False) -> Any:
        """The bare numbers of a value, as they are or at dearer old prices."""
        if isinstance(value, Traced):
            if value.inputs and value.inputs is not self.inputs:
                self.inputs = self.inputs | value.inputs if self.inputs else value.inputs
            self.aged = self.aged or value.dearer is not None
            return value.dearer if dearer and value.dearer is not None else value.view(np.ndarray)
        if isinstance(value, _LISTS):
            parts = [self.bare(part, dearer=dearer) for part in value]
            return tuple(parts) if isinstance(value, tuple) else parts
        if isinstance(value, dict):
            return {k: self.bare(v, dearer=dearer) for k, v in value.items()}
        return value


def _applied(done: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """What a function of numpy makes of bare numbers, with the ids of all; done again at dearer old prices where it ages."""
    met = _Met()
    numbers, named = [met.bare(arg) for arg in args], met.bare(kwargs) if kwargs else kwargs
    dearer = None
    if met.aged:
        dearer = done(
            *met.bare(args, dearer=True), **{k: v for k, v in met.bare(kwargs, dearer=True).items() if k != "out"}
        )
    return _wrap(done(*numbers, **named), met.inputs, dearer)


def _wrap(result: Any, inputs: frozenset[str], dearer: Any = None) -> Any:
    if isinstance(result, _LISTS):
        each = dearer if dearer is not None else [None] * len(result)
        wrapped = [_wrap(r, inputs, d) for r, d in zip(result, each, strict=True)]
        return tuple(wrapped) if isinstance(result, tuple) else wrapped
    if not inputs or not isinstance(result, _ARRAYS) or result.dtype.kind not in "fib":
        return result
    bare = np.asarray(result)
    array = bare.view(Traced)
    array.inputs = NO_INPUTS if _cancelled(bare) else inputs
    if dearer is not None and array.inputs and bare.dtype.kind == "f":
        array.dearer = np.asarray(dearer)
    return array


def _cancelled(bare: np.ndarray[Any, np.dtype[Any]]) -> bool:
    """Whether a result is zero everywhere; a counter of zeros still counts something."""
    if bare.dtype.kind != "f" or (bare.size and bare.item(0) != 0.0):  # one look settles nearly every array
        return False
    return not np.any(bare)
