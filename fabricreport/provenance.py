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
        inputs = _union((args, kwargs))
        args, kwargs = _plain(args), _plain(kwargs)
        return _wrap(getattr(ufunc, method)(*args, **kwargs), inputs)

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


def plain(values: Any) -> NDArray[np.float64]:
    """The bare numbers, without provenance."""
    return np.asarray(values, dtype=float)


def _union(value: Any) -> frozenset[str]:
    if isinstance(value, Traced):
        return value.inputs
    if isinstance(value, dict):
        value = tuple(value.values())
    if isinstance(value, list | tuple):
        return frozenset().union(*(_union(v) for v in value)) if value else NO_INPUTS
    return NO_INPUTS


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
    array = np.asarray(result).view(Traced)
    cancelled = result.dtype.kind == "f" and not np.any(array.view(np.ndarray))
    array.inputs = NO_INPUTS if cancelled else inputs
    return array
