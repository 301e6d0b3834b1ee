"""Rows of one promise: one test that runs them all and lists every row that fails."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest


def words(text: str) -> list[str]:
    """The words of a text: a list of names that would take a line each."""
    return text.split()


def rows(names: str | tuple[str, ...], table: Iterable[Any] | Callable[[], Iterable[Any]]) -> Callable[[Any], Any]:
    """Run a test once for each row of `table`, as a single case; a mapping's rows are its keys.

    names: the arguments a row gives, as of `parametrize`.
    table: the rows, or a function that makes them when the test runs: whatever reads a file.
    """
    keys = tuple(name.strip() for name in names.split(",")) if isinstance(names, str) else names

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def run(**fixtures: Any) -> None:
            faults, first, count = [], None, 0
            for row in table() if callable(table) else table:
                count += 1
                try:
                    with ExitStack() as stack:
                        test(
                            **dict(zip(keys, row if len(keys) > 1 else (row,), strict=True)),
                            **_fresh(fixtures, count, stack),
                        )
                except (Exception, pytest.fail.Exception) as fault:
                    faults.append(f"{row!r}: {type(fault).__name__}: {fault}")
                    first = first or fault
            assert count, "no row"
            if first:
                raise AssertionError(f"{len(faults)} of {count} rows:\n" + "\n".join(faults)) from first

        signature = inspect.signature(test)
        kept = [argument for name, argument in signature.parameters.items() if name not in keys]
        run.__signature__ = signature.replace(parameters=kept)  # type: ignore[attr-defined]
        return run

    return decorate


def _fresh(fixtures: Mapping[str, Any], row: int, stack: ExitStack) -> dict[str, Any]:
    """Fixtures of a row: a folder, a patch and an output of its own."""
    own = dict(fixtures)
    if isinstance(folder := own.get("tmp_path"), Path):
        own["tmp_path"] = folder / str(row)
        own["tmp_path"].mkdir()
    if patch := own.get("monkeypatch"):
        own["monkeypatch"] = stack.enter_context(patch.context())
    for name in {"capsys", "capfd"} & own.keys():
        own[name].readouterr()
    return own
