"""Arrays that remember which inputs they were made from.

A `Traced` array is an ordinary numpy array plus `inputs`, the ids of the prices, evidence entries and
params it depends on. Every ufunc and numpy function unites the ids of its arguments, so a model written
as plain numpy carries provenance without knowing it, and the ledger can say truthfully which printed
numbers a price moves. A difference that cancels to exact zero everywhere depends on nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

NO_INPUTS: frozenset[str] = frozenset()


class Traced(np.ndarray[Any, np.dtype[Any]]):
    """A numpy array with the ids of the inputs it depends on."""

    inputs: frozenset[str]

    def __new__(cls, values: ArrayLike, inputs: frozenset[str] | set[str] | tuple[str, ...] = NO_INPUTS) -> Traced:
        """An array of floats that depends on `inputs`, and on whatever `values` depend on already."""
        array = np.array(values, dtype=float).view(cls)
        array.inputs = frozenset(inputs) | inputs_of(values)
        return array

    def __array_finalize__(self, parent: Any) -> None:
        self.inputs = getattr(parent, "inputs", NO_INPUTS)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *args: Any, **kwargs: Any) -> Any:
        inputs = _union(args)
        if kwargs:
            inputs, kwargs = inputs | _union(kwargs), _plain(kwargs)
        return _wrap(getattr(ufunc, method)(*_plain(args), **kwargs), inputs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        inputs = _union((args, kwargs))
        return _wrap(func(*_plain(args), **_plain(kwargs)), inputs)

    def __getitem__(self, key: Any) -> Any:
        return _wrap(np.asarray(self)[_plain(key)], self.inputs | _union(key))

    def __setitem__(self, key: Any, value: Any) -> None:
        self.inputs = self.inputs | _union((key, value))
        np.asarray(self)[_plain(key)] = _plain(value)

    def __reduce__(self) -> Any:
        return (Traced, (np.asarray(self), tuple(sorted(self.inputs))))


def inputs_of(*values: Any) -> frozenset[str]:
    """The ids that any of the values (arrays, containers of arrays) depend on."""
    return _union(values)


def made_of(values: Any, *sources: Any) -> Any:
    """Bare `values` that were worked out of the sources' bare numbers, with the ids that any of these depend on."""
    return _wrap(values, _union(sources))


def plain(values: Any) -> NDArray[np.float64]:
    """The bare numbers, without provenance."""
    return np.asarray(values, dtype=float)


def mean_of(amount: ArrayLike) -> float:
    """The mean of an amount over its draws, as a number of its own unit."""
    return float(np.mean(plain(amount)))


def _union(value: Any) -> frozenset[str]:
    if isinstance(value, Traced):
        return value.inputs
    if isinstance(value, dict):
        value = tuple(value.values())
    found = NO_INPUTS
    if isinstance(value, list | tuple):
        for one in value:
            more = _union(one)
            if more and more is not found:
                found = found | more if found else more
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, Traced):
        return value.view(np.ndarray)
    if isinstance(value, tuple):
        return tuple(_plain(v) for v in value)
    if isinstance(value, list):
        return [_plain(v) for v in value]
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items()}
    return value


def _wrap(result: Any, inputs: frozenset[str]) -> Any:
    if isinstance(result, tuple):
        return tuple(_wrap(r, inputs) for r in result)
    if isinstance(result, list):
        return [_wrap(r, inputs) for r in result]
    if not inputs or not isinstance(result, np.ndarray | np.generic) or result.dtype.kind not in "fib":
        return result
    bare = np.asarray(result)
    array = bare.view(Traced)
    array.inputs = NO_INPUTS if _cancelled(bare) else inputs
    return array


def _cancelled(bare: np.ndarray[Any, np.dtype[Any]]) -> bool:
    """Whether a result is zero everywhere; a counter of zeros still counts something."""
    if bare.dtype.kind != "f" or (bare.size and bare.item(0) != 0.0):  # one look settles nearly every array
        return False
    return not np.any(bare)
