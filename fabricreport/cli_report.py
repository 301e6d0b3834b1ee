"""`fabricreport report`: the evidence report, which every memo of an output folder cites."""

from __future__ import annotations

from pathlib import Path

import click

from fabricreport.cli_progress import progress_of
from fabricreport.cli_shared import JSON, epilog, print_json, told


@click.command(epilog=epilog())
@click.option("--output", type=click.Path(file_okay=False, path_type=Path), default=Path("output"), show_default=True,
              help="Folder that holds all editions.")  # fmt: skip
@JSON
@told
def report(output: Path, as_json: bool) -> int:
    """Build the evidence report into OUTPUT/_evidence/<edition>/: what is the same for every client.

    `build` and `refresh` make it first where it is missing or out of date.
    """
    from fabricreport.memo.report import REPORT, make_report

    path = Path(REPORT)
    with progress_of([path], quiet=as_json) as tell:
        found = make_report(output, progress=lambda step: tell(path, step))
    if as_json:
        print_json({"ok": True, **found.as_dict()})
        return 0
    for message in found.messages:
        click.echo(message, err=True)
    click.echo(
        f"Evidence report, edition {found.edition}" + (" (already there: nothing had changed)" if found.reused else "")
    )
    click.echo(f"  {found.pdf}")
    click.echo(f"  {found.html}")
    return 0
