"""The command `preview`: a memo in the browser that follows its files."""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
from pathlib import Path

import click

from fabricreport.cli.options import CLIENT, OUTPUT, TRUST, epilog, told


@click.command(epilog=epilog())
@CLIENT
@click.option("--browser/--no-browser", default=None, help="Open the page.  [default: at a terminal]")
@TRUST
@OUTPUT
@told
def preview(params: Path, browser: bool | None, trust_notebooks: bool, output: Path) -> None:
    """Show the memo of PARAMS in this machine's browser as its next draft would be, again whenever a notebook, the params or a
    book is saved. Nothing is written into OUTPUT, where the evidence report is looked up; Ctrl-C ends it."""
    from fabricreport.memo.preview import Preview
    from fabricreport.memo.server import PreviewServer

    server = PreviewServer()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    click.echo(f"{server.address}\nfollows {params}; Ctrl-C ends it.")
    if sys.stdout.isatty() if browser is None else browser:
        click.launch(server.address)
    with contextlib.suppress(KeyboardInterrupt):
        Preview(params, output, server, trusted=trust_notebooks).follow()
