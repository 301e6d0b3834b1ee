"""The command `fabricreport diff`: what changed between two editions, and why."""

from __future__ import annotations

from pathlib import Path

import click

from fabricreport.cli.options import JSON, OUTPUT, epilog, print_json, told


@click.command(epilog=epilog())
@click.argument("before", metavar="A")
@click.argument("after", metavar="B")
@OUTPUT
@JSON
@told
def diff(before: str, after: str, output: Path, as_json: bool) -> int:
    """Say what changed from edition A to edition B, and why: an edition's folder, <client>/<edition> or <client>.

    Method first (the old inputs by today's code, less what was printed), then prices, params and sources: what each adds,
    averaged over every order in which they may move, on the draws of the memo. What a price adds alone is told by itself.
    """
    from fabricreport.memo.editions.explanation import find_edition
    from fabricreport.memo.editions.redline import redline

    found = redline(*(find_edition(output, asked) for asked in (before, after)))
    print_json({"ok": True, **found.as_dict()}) if as_json else click.echo(found.as_text())
    return 0
