"""Whether an analysis says anything by the way: what it prints, logs or warns belongs below the cell that asks for it."""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def listening() -> Iterator[Callable[[], bool]]:
    """Keep what is printed, logged or warned; the function tells whether anything was."""
    said = io.StringIO()
    with (
        warnings.catch_warnings(record=True) as warned,
        contextlib.redirect_stdout(said),
        contextlib.redirect_stderr(said),
    ):
        warnings.simplefilter("default")
        yield lambda: bool(warned or said.getvalue())
