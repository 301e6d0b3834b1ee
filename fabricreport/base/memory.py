"""What an object works out once and keeps: a method's answers beside `functools.cached_property`, and how to let go of both."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import cache, cached_property, partial
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

Asked = ParamSpec("Asked")
Answer = TypeVar("Answer")
Owner = TypeVar("Owner")


class cached_method(Generic[Asked, Answer]):  # read as `cached_property` is
    """A method whose answers each object keeps for itself: what it is asked a second time costs no call."""

    def __init__(self, method: Callable[Concatenate[Any, Asked], Answer]) -> None:
        self.method, self.__doc__ = method, method.__doc__

    def __set_name__(self, kind: type, name: str) -> None:
        self.name = name

    def __get__(self, owner: Any, kind: type | None = None) -> Callable[Asked, Answer]:
        found = vars(owner)[self.name] = cache(partial(self.method, owner))
        return found  # type: ignore[return-value]  # whatever is asked can be hashed


def forget(owner: object) -> None:
    """Let an object work out anew whatever it keeps."""
    for kind in type(owner).__mro__:
        for name, made in vars(kind).items():
            if isinstance(made, cached_method | cached_property):
                vars(owner).pop(name, None)


def fresh_copy(owner: Owner) -> Owner:
    """A copy of an object that has worked nothing out yet."""
    other = copy(owner)
    forget(other)
    return other
