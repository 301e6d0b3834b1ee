"""Commands on what was published: `list`, `sign`, `diff`, and `check` of an edition."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date
from pathlib import Path

import click

from fabricreport.base.errors import InputError, Problem
from fabricreport.base.locations import did_you_mean
from fabricreport.base.text import visible
from fabricreport.cli.options import DAY, JSON, OUTPUT, TRUST, epilog, print_json, told


def index_again(output: Path, *, always: bool = False) -> None:
    """Make the page of all editions where it was taken away; what stands in its way is told, and fails nothing."""
    from fabricreport.memo.editions.history import write_index
    from fabricreport.memo.editions.locks import INDEX

    if output.is_dir() and (always or not (output / INDEX).exists()) and (message := write_index(output)):
        click.echo(f"note: {message}", err=True)


@click.command(name="list", epilog=epilog())
@click.argument("client", required=False, default="")
@OUTPUT
@click.option("--prune", type=click.IntRange(1), metavar="N",
              help="Remove all but the newest N copies of each client, drafts made since, and what is signed, latest, accepted or damaged.")  # fmt: skip
@JSON
@told
def list_(client: str, output: Path, prune: int | None, as_json: bool) -> None:
    """List the editions in OUTPUT, oldest first for each client, and name what was changed in them since; then trials, with what was set.
    Of one CLIENT: its history, with action, sureness, key prices, and turns marked. Either makes OUTPUT/index.html."""
    from fabricreport.memo.editions import editions as published
    from fabricreport.memo.editions.history import histories

    if client and client not in (known := published.clients_of(output)):
        near, remedy = did_you_mean(client, known), "`fabricreport list` names every client."
        raise InputError(Problem("has no editions", str(output), None, "CLIENT", visible(client), remedy, near))
    if prune:
        done = published.prune(output, prune, client) if output.is_dir() else {}
        print_json(done) if as_json else click.echo("\n".join(f"{name} {what}" for name, what in done.items()))
        index_again(output, always=True)
        return
    found = (*histories(output, client), *histories(output, client, published.TRIALS))
    entries = sorted(found, key=lambda e: e.info.client)
    if not client:
        entries = [replace(e, info=e.info.verified()) for e in entries]
    if as_json:
        own = [{"action": e.action, "sure": e.sure, "turns": e.turns, "damaged": e.info.damaged} for e in entries]
        print_json([vars(e.info) | more for e, more in zip(entries, own, strict=True)])
    elif not entries:
        click.echo(f"No editions in {output}.")
    for e in () if as_json else entries:
        faults, turned = e.info.faults, ", ".join(e.turns)
        wrong = (*faults[:5], f"and {len(faults) - 5} more" if len(faults) > 5 else "")
        was = (turned and f"turned: {turned}", e.action + (f" ({e.sure})" if e.sure else ""), "; ".join(e.prices))
        click.echo(f"{e.info.client:24} {e.info.edition:24} {e.info.status:12} {e.info.standing}".rstrip())
        for line in filter(None, (*wrong, *(was if client else ()))):
            click.echo(f"    {line}")
    index_again(output, always=True)


@click.command(epilog=epilog())
@click.argument("edition")
@click.option("--by", metavar="NAME", required=True, help="Who signs, by any name up to 80 characters.")
@click.option("--today", type=DAY, default=None, help="Date of the signature.  [default: the clock's]")
@OUTPUT
@JSON
@told
def sign(edition: str, by: str, today: date | None, output: Path, as_json: bool) -> int:
    """Sign an EDITION (its folder, <client> or <client>/<edition>): put <edition>.signed.json beside it, and change nothing in it.
    Drafts, memos of one section and damaged editions are refused; a second name is added to the first."""
    from fabricreport.memo.editions import editions as published
    from fabricreport.memo.editions.explanation import find_edition

    folder = find_edition(output, edition)
    published.sign(folder, by, today or date.today())
    index_again(folder.absolute().parents[1])
    return _say_whole([folder], as_json)


@click.command(
    epilog=epilog("Its notebook is run: where that fails, 3; where the cell changes nothing that can be signed for, 2.")
)
@click.argument("cell", metavar="NOTEBOOK:CELL")
@click.option("--who", metavar="NAME", required=True, help="Who vouches for the number.")
@click.option("--why", metavar="REASON", required=True, help="Why it is right.")
@click.option(
    "--params", type=click.Path(path_type=Path), required=True, help="The client's params file, which is edited."
)
@click.option("--until", type=DAY, default=None, help="Last day on which it may be used.  [default: the memo's date]")
@TRUST
@JSON
@told
def adopt(cell: str, who: str, why: str, params: Path, until: date | None, trust_notebooks: bool, as_json: bool) -> int:
    """Sign for what a cell, by its number or id, changes by hand: a client copy is refused until somebody does.
    A figure of the books is filed under `overrides` in the params, a number of the notebook's own under `adopted`, where it
    holds until the number or its cell changes."""
    from fabricreport.memo.signatures import adopt as sign_for

    facts = sign_for(cell, params, who=who, why=why, until=until, trusted=trust_notebooks)
    if as_json:
        print_json({"ok": True, **facts})
        return 0
    for one in facts["signed"]:
        no_more = f", not {one['old']}; the cell is no longer needed for it" if one["old"] else ""
        click.echo(f"{one['id']} is {one['new']} until {facts['until']}{no_more}")
    click.echo(f"{'wrote' if facts['changed'] else 'as before:'} {params}")
    return 0


def check_editions(asked: Sequence[Path], output: Path, as_json: bool) -> int | None:
    """What `check` ends with where editions are asked for, and not params (None)."""
    from fabricreport.memo.editions.explanation import find_edition

    folders = list[Path]()
    for path in asked:
        with suppress(InputError):
            folders += [] if path.suffix or path.is_file() else [find_edition(output, str(path))]
    if folders and len(folders) < len(asked):
        raise click.UsageError("Give params files or editions, not both.")
    return _say_whole(folders, as_json) if folders else None


def _say_whole(folders: Sequence[Path], as_json: bool) -> int:
    """Prove editions whole: every file as it was published, and every signature that of the manifest as it is."""
    from fabricreport.memo.editions.editions import edition_info

    found = [edition_info(folder).verified() for folder in folders]
    remedy = "Move it away and build again: the same inputs give the same edition."
    problems = [Problem(fault, str(e.folder), remedy=remedy) for e in found for fault in e.faults]
    if problems:
        raise InputError(problems)
    if as_json:
        print_json({"ok": True, "editions": [vars(e) for e in found]})
    for e in () if as_json else found:
        names = ", ".join(f"{visible(one['name'])} on {visible(one['date'])}" for one in e.signed)
        signed = f"signed by {names}, which fits" if names else "not signed"
        click.echo(f"{e.client}/{e.edition}: whole, every file as it was published; {signed}")
    return 0


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
