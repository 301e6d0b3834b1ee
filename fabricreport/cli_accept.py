"""`fabricreport accept`: judge the logs of a delivery against the acceptance plan, and write the acceptance memo."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from fabricreport.cli_shared import JSON, epilog, print_json, told

_JUDGED = "A delivery that is judged ends with 0 whatever the verdict, which --json tells."


@click.command(epilog=epilog(_JUDGED))
@click.argument("params", type=click.Path(path_type=Path))
@click.option("--logs", "first", required=True, multiple=True, type=click.Path(path_type=Path), metavar="LOG...",
              help="Logs of nccl-tests and perftest, YAML files of what no benchmark prints, or folders of them.")  # fmt: skip
@click.argument("more", nargs=-1, type=click.Path(path_type=Path), metavar="")
@click.option("--option", default="", metavar="ID",
              help="The option that was delivered, where the advice is open between two.  [default: the advised one]")  # fmt: skip
@click.option("--output", type=click.Path(file_okay=False, path_type=Path), default=Path("output"), show_default=True,
              help="Folder that holds all editions.")  # fmt: skip
@JSON
@told
def accept(params: Path, first: Sequence[Path], more: Sequence[Path], option: str, output: Path, as_json: bool) -> int:
    """Judge LOG... against the acceptance plan of PARAMS: pass, fail or not proven per test, the credit, the decision again.

    Writes acceptance.pdf, acceptance.html and acceptance.json into OUTPUT/<client>/acceptance/.
    """
    from fabricreport.acceptance.delivered import deliver

    done = deliver(params, [*first, *more], output=output, option=option)
    if as_json:
        print_json({"ok": True, "folder": str(done.folder), "messages": list(done.messages), **done.facts})
        return 0
    for message in done.messages:
        click.echo(message, err=True)
    for line in _lines(done.facts):
        click.echo(line)
    click.echo(f"Wrote {done.folder / 'acceptance.pdf'}, .html and .json")
    return 0


def _lines(facts: Mapping[str, Any]) -> list[str]:
    """The verdict, the tests that do not pass, the credit and the decision, for a terminal."""
    counts = ", ".join(f"{count} {verdict}" for verdict, count in facts["counts"].items())
    lines = [f"{facts['client']}, {facts['option']}: {facts['verdict']} ({counts})"]
    for test in facts["tests"]:
        if test["verdict"] != "pass":
            lines.append(f"  {test['id']:16} {test['gpus']:>7,} GPUs  {test['verdict']:10}  {test['reason']}")
    before, after = facts["before"], facts["after"]
    lines.append(f"Credit due: {facts['credit']:,.0f} {facts['currency']}")
    lines.append(
        f"Lead over {before['rival']}: {before['lead']:,.0f} before, {after['lead']:,.0f} after, {facts['currency']};"
        f" {'still' if after['advised'] else 'not'} advised"
    )
    return lines
