"""`fabricreport evidence`: the library, the audit of claims, and what of our own words carries an advice."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fabricreport import formats
from fabricreport.cli_shared import JSON, epilog, print_json, told

if TYPE_CHECKING:
    from fabricreport.sections.decision.information.carrying import Carrying


@click.command(epilog=epilog())
@click.option("--claims", is_flag=True, help="The audit of what the articles claim, instead of the library.")
@click.option(
    "--carrying",
    type=click.Path(path_type=Path),
    default=None,
    metavar="PARAMS",
    help="What is assumed or estimated and carries this client's advice, the most worth knowing first.",
)
@JSON
@told
def evidence(claims: bool, carrying: Path | None, as_json: bool) -> int:
    """List the evidence library, the audited claims, or the assumptions that carry an advice."""
    if claims and carrying is not None:
        raise click.UsageError("Give --claims or --carrying PARAMS.")
    if carrying is not None:
        return _carrying(carrying, as_json)
    rows = _claims() if claims else _library()
    if as_json:
        print_json(rows)
        return 0
    for row in rows:
        what = f"{row['verdict']}: {row['claim']}" if claims else f"[{row['grade']}] {row['what']}"
        click.echo(f"{row['id']:44} {what}")
    return 0


def _carrying(params: Path, as_json: bool) -> int:
    from fabricreport.case import open_case
    from fabricreport.sections.decision.information.carrying import carrying_of

    case = open_case(params)
    found = carrying_of(case.inputs, case.knowledge, case.decision())
    if as_json:
        print_json(found.as_dict())
        return 0
    for line in _lines(found):
        click.echo(line)
    return 0


def _lines(found: Carrying) -> Iterator[str]:
    yield (
        f"{found.client}: {len(found.carried)} of {found.of} inputs that are assumed or estimated carry the advice, "
        "by what knowing each alone is worth."
    )
    for one in found.carried:
        worth = formats.write(one.telling, "usd", 2, found.currency) if one.telling else "not told from nothing"
        yield f"{one.id}  [{one.grade}]  worth {worth}"
        yield f"    {one.what}: {one.text}"
        for place in one.turns:
            chance = formats.percent(place.chance)
            yield f"    turns the advice {place.side} {place.text} (chance {chance}): {place.course}"
        yield f"    {one.settles}; {one.when}"
        if one.searched:
            yield f"    searched {one.searched}"


def _claims() -> list[dict[str, object]]:
    from fabricreport.sections.evidence.claims import audit

    return [c.as_dict() for c in audit()]


def _library() -> list[dict[str, object]]:
    from fabricreport.books.evidence import read_evidence
    from fabricreport.project import book_folder

    folder = book_folder(Path.cwd(), "evidence")
    return [e.as_dict() for e in read_evidence(folder if folder.is_dir() else None).values()]
