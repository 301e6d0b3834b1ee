"""The command `fabricreport`: a build that has been done before is told of at once, all else is the command line's.

Reading the command line in full takes as long as finding out that nothing has changed, so its simplest case comes first.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fabricreport.check.dates import Dates


def run() -> None:
    """Tell of what was built before, or leave the words to the command line."""
    from fabricreport.memo.run.environment import skip_unused_grammar

    skip_unused_grammar()
    if says_again(sys.argv[1:]):
        return
    from fabricreport.cli.main import main
    from fabricreport.memo.run.environment import collect_seldom

    collect_seldom()
    main(prog_name="fabricreport")


def says_again(words: Sequence[str]) -> bool:
    """Tell of the memo that `build PARAMS [--output FOLDER]` asks for, if it was built before and nothing has changed."""
    asked = _asked(words)
    if asked is None:
        return False
    params, output = asked
    from fabricreport.cli.words import dates_words, result_words
    from fabricreport.memo.build import built_before

    dates: list[Dates] = []
    try:
        found = built_before(params, output=output, dates=dates.append)
    except Exception:  # the command line tells what is wrong
        return False
    if found is None:
        return False
    notes = [f"note: {note}" for of_memo in dates for note in dates_words(params, of_memo)]
    aside, lines_of_it = result_words(found)
    try:
        for stream, lines in ((sys.stderr, (*notes, *aside)), (sys.stdout, lines_of_it)):
            stream.write("".join(f"{line}\n" for line in lines))
            stream.flush()
    except BrokenPipeError:  # nobody listens any more
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return True


def _asked(words: Sequence[str]) -> tuple[Path, Path] | None:
    """The params file and the output folder of a plain build; None if anything else is asked for."""
    given = [*words]
    output = "output"
    if given[:1] != ["build"]:
        return None
    rest = given[1:]
    if "--output" in rest[:-1]:
        at = rest.index("--output")
        output = rest[at + 1]
        del rest[at : at + 2]
    if len(rest) != 1 or any(not word or word.startswith("-") for word in (*rest, output)):
        return None
    return Path(rest[0]), Path(output)
