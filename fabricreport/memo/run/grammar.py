"""A grammar of international addresses that jsonschema compiles when it is imported: 2 s of every start, never used here."""

from __future__ import annotations

import sys

_GRAMMAR = "rfc3987_syntax"


def skip_unused_grammar() -> None:
    """Keep this process from compiling it."""
    sys.modules.setdefault(_GRAMMAR, None)  # type: ignore[arg-type]
