"""What the body of a memo about a choice among providers finds of its own, and its own words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum

from fabricreport.spine.told import Told


class Finding(StrEnum):
    """What may be true of a choice among providers beside what the sections find."""


def findings(case: Told) -> Iterator[Finding]:
    """Those that hold here."""
    yield from ()


def words(case: Told) -> Mapping[str, object]:
    """Words of this body's own."""
    return {}
