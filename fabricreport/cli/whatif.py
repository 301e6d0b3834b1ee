"""`fabricreport what-if`: what the memo's headline would say with other values, as a table."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import click

from fabricreport.cli.options import CLIENT, JSON, epilog, print_json, told


@click.command(name="what-if", epilog=epilog("Two sellers are compared for who rents, else two networks."))
@CLIENT
@click.option("--vary", multiple=True, required=True, metavar="KEY=VALUE,...",
              help="Values of a key (cluster.gpus=512,1024) or an entry (price:ITEM=28000); of several, every combination.")  # fmt: skip
@click.option("--decide", is_flag=True, help="Make the whole advice for each: action and class too.")
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV with whole figures.")
@JSON
@told
def what_if(params: Path, vary: Sequence[str], decide: bool, as_csv: bool, as_json: bool) -> int:
    """Print what the headline of the memo of PARAMS would say with other values: the two compared, cost, difference, its range
    and side, on the memo's own draws. The first line is the memo's own."""
    if as_csv and as_json:
        raise click.UsageError("Give --csv or --json, not both.")
    from fabricreport.scenario import typed_changes

    varied = typed_changes(vary, "--vary", many=True)
    from fabricreport import api

    case = api.open_case(params)
    if decide:
        begun, count = time.perf_counter(), len(api.combinations(varied))
        _ = case.decision().advice
        seconds = time.perf_counter() - begun
        click.echo(f"note: {count} times the whole advice, {seconds:.1f} s each: {count * seconds:.0f} s", err=True)
    found = api.what_if(case, varied, decide=decide)
    if as_json:
        print_json({"ok": True, "rows": found.records(), "idle": found.idle})
        return 0
    for note in found.notes if as_csv else ():
        click.echo(f"note: {note}", err=True)
    click.echo(found.as_csv() if as_csv else repr(found), nl=not as_csv)
    return 0
