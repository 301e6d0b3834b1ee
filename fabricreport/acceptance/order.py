"""The settings of the collective library that the order names, and whether a log was run with them.

A setting that only says what the library does anyway may be left out of a command line. What finds the network (adapters,
address index, traffic class) belongs to the site and is no setting of the order.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from fabricreport.books.acceptance import read_acceptance
from fabricreport.errors import InputError, Problem
from fabricreport.located import decode_strict, read_bytes_strict, shown_path

FILE = "settings"
"""What the name of the file begins with, up to the first dot, in which the order's settings are handed over."""
_SETTING = re.compile(r"(?:NCCL|RCCL)_[A-Z0-9_]{1,64}+=\S{1,128}+")
_NAME = re.compile(r"\b(?:NCCL|RCCL)_[A-Z0-9_]+")
_LARGEST_BYTES = 10_000


@dataclass(frozen=True)
class Order:
    """The settings named, each `NAME=VALUE`; the library's defaults for all others."""

    settings: tuple[str, ...]

    def holds(self, told: Iterable[str]) -> bool:
        """Whether a command line with these settings is one of the order."""
        return _moved(told) == _moved(self.settings)


@cache
def _site() -> frozenset[str]:
    """Names of what the plan's own commands set to find the network, and to say which version ran."""
    book = read_acceptance()
    return frozenset(n for t in book.transports.values() for n in _NAME.findall(t.library)) | {"NCCL_DEBUG"}


def _moved(settings: Iterable[str]) -> frozenset[str]:
    """Those that make the library do other than by itself."""
    default = read_acceptance().reduction["off"]
    return frozenset(s for s in settings if s != default and s.partition("=")[0] not in _site())


def read_order(path: Path) -> Order:
    """The settings of a file, one or more a line, with or without `-x`; `InputError` for a word that is none."""
    words = decode_strict(read_bytes_strict(path, max_bytes=_LARGEST_BYTES), shown_path(path)).split()
    settings = [word for word in words if word != "-x"]
    wrong = next((word for word in settings if not _SETTING.fullmatch(word)), None)
    if wrong is not None:
        remedy = "Write each as NAME=VALUE, such as NCCL_IB_QPS_PER_CONNECTION=2."
        raise InputError(
            Problem("is no setting of the collective library", shown_path(path), value=wrong[:80], remedy=remedy)
        )
    return Order(tuple(dict.fromkeys(settings)))
