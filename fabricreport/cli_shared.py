"""What every command shares: its options, and one way from our errors to one message and an exit code."""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Callable
from datetime import date
from typing import Any

import click

from fabricreport.errors import FabricReportError, InputError

EXIT_CODES = (
    "Exit codes: 0 done, 2 the input is wrong, 3 a section failed, 4 the memo failed its checks, 1 a bug of ours."
)


def epilog(text: str = "") -> str:
    """What stands under a command's help: `text` and the exit codes."""
    return f"{text} {EXIT_CODES}".strip()


class _Day(click.ParamType[date]):
    """A date as YYYY-MM-DD."""

    name = "date"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> date:
        if isinstance(value, date):
            return value
        try:
            return date.fromisoformat(str(value))
        except ValueError:
            self.fail(f"{value!r} is no date: write it as 2026-11-20", param, ctx)


DAY = _Day()
JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON for machines.")


def told(command: Callable[..., int | None]) -> Callable[..., None]:
    """Turn our errors into one clear message and the documented exit code; anything else is a bug and says so."""

    @functools.wraps(command)
    def run(*args: Any, **kwargs: Any) -> None:
        as_json = bool(kwargs.get("as_json"))
        try:
            code = command(*args, **kwargs) or 0
        except FabricReportError as error:
            complain(error, as_json)
            code = error.exit_code
        except (KeyboardInterrupt, click.exceptions.Abort):
            click.echo("Stopped. No edition was published by this run.", err=True)
            code = 130
        except BrokenPipeError:
            sys.stderr.close()
            code = 0
        sys.exit(code)

    return run


def complain(error: FabricReportError, as_json: bool) -> None:
    """Print an error: every problem and the hint, as text on stderr or as JSON on stdout."""
    if as_json:
        print_json({"ok": False, **error_facts(error)})
        return
    click.echo(str(error), err=True)
    click.echo(error.hint, err=True)


def error_facts(error: FabricReportError) -> dict[str, Any]:
    """An error for machines: the exit code it means, every problem, the hint."""
    problems = [p.as_dict() for p in error.problems] if isinstance(error, InputError) else [str(error)]
    return {"exit_code": error.exit_code, "problems": problems, "hint": error.hint}


def print_json(data: Any) -> None:
    """Print plain values as JSON."""
    click.echo(json.dumps(data, ensure_ascii=False, indent=1, sort_keys=True, default=str, allow_nan=False))
