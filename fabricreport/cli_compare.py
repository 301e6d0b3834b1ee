"""`fabricreport compare`: how long the sentences of memos are, and how much of one stands in another."""

from __future__ import annotations

from pathlib import Path

import click

from fabricreport.cli_shared import JSON, epilog, print_json, told


@click.command(epilog=epilog("It ends with 0 whatever the shares, and with 2 where a memo cannot be read."))
@click.argument("memos", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="MEMO...")
@JSON
@told
def compare(memos: tuple[Path, ...], as_json: bool) -> int:
    """Measure the bodies of memos and what they share. MEMO is an edition's folder, a client's, or a memo.html.

    Of each body: sentences of four words or more, their mean and longest, those of more than thirty words, semicolons on a
    page, and pages as printed. Of each pair, in both directions: the share of near-identical sentences, of whose words at
    least 75 % stand in both in the same order; numbers, names of options and clients, citations and references are
    masked, and definitions of terms are left out.
    """
    from fabricreport.memo.compare import compare as compared

    found = compared(memos)
    print_json({"ok": True, **found.as_dict()}) if as_json else click.echo(found.as_text())
    return 0
