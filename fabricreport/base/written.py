"""Amounts that remember how they were worked out: put through the models' own functions, they come out with their formula.

A `Written` is an array of one number and the `Term` that gave it. What no term can say (a comparison, an operation over
months) comes out as bare numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from operator import add, mul, truediv
from typing import Any

import numpy as np
from numpy.typing import ArrayLike


@dataclass(frozen=True, eq=False)
class Term:
    """One step: what `op` makes of the terms `of`, and the `value` that it gives; `key` names what is no result of others."""

    op: str
    of: tuple[Term, ...]
    value: float
    key: Any = ""


CONST, LEAF, PAID, INSTALLED = "n", "in", "paid", "installed"
"""Steps that are no function of numpy: a bare number, one that is stated, a present value, and the hours of a flow in all."""
_OPS: dict[Any, tuple[str, float | None]] = {
    np.add: ("+", None), np.subtract: ("-", None), np.multiply: ("*", None), np.divide: ("/", None),
    np.power: ("^", None), np.square: ("^", 2.0), np.sqrt: ("^", 0.5), np.reciprocal: ("^", -1.0),
    np.negative: ("neg", None), np.minimum: ("min", None), np.maximum: ("max", None), np.ceil: ("ceil", None),
}  # fmt: skip
"""The functions that can be told, each with the second argument that its name implies."""


class Written(np.ndarray[Any, np.dtype[Any]]):
    """One number, as an array of any shape, with its term."""

    term: Term | None

    def __new__(cls, value: ArrayLike, term: Term) -> Written:
        """An array of one number that a term gave."""
        array = np.array(value, dtype=float).view(cls)
        array.term = term
        return array

    def __array_finalize__(self, parent: Any) -> None:
        self.term = getattr(parent, "term", None)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *args: Any, **kwargs: Any) -> Any:
        kwargs.pop("out", None)
        result = getattr(ufunc, method)(*map(_bare, args), **kwargs)
        if method != "__call__" or ufunc not in _OPS or any(np.size(arg) != 1 for arg in args):
            return result
        op, implied = _OPS[ufunc]
        terms = [term_of(arg) for arg in args] + ([] if implied is None else [Term(CONST, (), implied)])
        return Written(result, made(op, terms, float(np.ravel(result)[0])))

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if func is np.clip:
            value, low, high = args
            return np.minimum(np.maximum(value, low), high)
        result = func(*map(_bare, args), **kwargs)
        if func in (np.broadcast_to, np.reshape) and np.size(result) == 1:
            return Written(result, term_of(args[0]))
        return result


def leaf(value: ArrayLike, key: str) -> Written:
    """A number that is stated, by its key."""
    return Written(value, Term(LEAF, (), float(np.ravel(value)[0]), key))


def term_of(value: Any) -> Term:
    """The term of a number, written or bare."""
    term = getattr(value, "term", None)
    return term if isinstance(term, Term) else Term(CONST, (), float(np.ravel(_bare(value))[0]))


def _bare(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return type(value)(map(_bare, value))
    return np.asarray(value) if isinstance(value, np.ndarray) else value


def made(op: str, of: list[Term], value: float) -> Term:
    """The term of a step, without what leaves a number as it is."""
    known = [t.value if t.op == CONST else None for t in of]
    if None not in known or (op == "*" and 0.0 in known):
        return Term(CONST, (), value)
    if (op in "+-" and known[1] == 0.0) or (op in "*/^" and known[1] == 1.0):
        return of[0]
    if (op, known[0]) in (("+", 0.0), ("*", 1.0)):
        return of[1]
    infinite = [t for t in of if np.isinf(t.value)]
    if op in ("min", "max") and infinite:
        return next(t for t in of if t.value == value)
    return Term(op, tuple(of), value)


def joined(op: str, a: Term, b: Term) -> Term:
    """The sum, product or quotient of two terms."""
    return made(op, [a, b], {"+": add, "*": mul, "/": truediv}[op](a.value, b.value))


class Script:
    """Terms as plain data, each step once: `[op, value, *places of what it is made of, key]`."""

    def __init__(self) -> None:
        self.steps: list[list[Any]] = []
        self._places: dict[tuple[Any, ...], int] = {}
        self._known: dict[int, tuple[Term, int]] = {}

    def place(self, term: Term) -> int:
        """Where a term stands among the steps; those that it is made of stand before it."""
        if id(term) not in self._known:
            step = (term.op, *(self.place(one) for one in term.of), *([term.key] if term.key else []))
            place = self._places.setdefault((*step, term.value if not term.of else None), len(self.steps))
            if place == len(self.steps):
                self.steps.append([term.op, term.value, *step[1:]])
            self._known[id(term)] = term, place
        return self._known[id(term)][1]
