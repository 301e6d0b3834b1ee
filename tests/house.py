"""How big the house is, room by room: `python tests/house.py`, with `--against COMMIT` beside what it was then.

Lines are physical lines of Python below `fabricreport/`. Lines of code are those that hold code: no blank line, docstring,
comment or import, and a line longer than 120 columns counts once for every 120 begun. A room's weight is its lines of code and
half the lines of its own YAML that are not blank or a comment. `LIMITS` was written before the rooms were: no room may have
more lines than stand there.
"""

from __future__ import annotations

import argparse
import ast
import io
import subprocess
import sys
import tarfile
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
COLUMNS = 120
LIMITS = {
    "base": 2_750,
    "blocks": 2_700,
    "models": 8_600,
    "books": 8_900,
    "scenario": 2_550,
    "inputs": 2_100,
    "ledger": 850,
    "sections": 15_800,
    "bodies": 1_750,
    "case": 800,
    "memo": 8_400,
    "delivery": 1_850,
    "desk": 330,
    "check": 2_950,
    "cli": 1_450,
}
"""Rooms from the ground up, with the lines that each may have: 61,780 in sum, 10,000 fewer than the 71,782 there were."""
WAS = {
    "base": "atomic base_rules bases behaviour bounds claim decimals descriptors durations errors evidence formats hostile_text located "
    "marks project provenance spreadsheet strict_yaml theme uncertain vocabulary __init__",
    "inputs": "answer_effects answer_terms answered as_run constants elicited given inputs offered overrides reader records switching",
    "ledger": "declared figures findings ledger",
    "sections": "sections report",
    "bodies": "spine",
    "case": "case chain before_after hindsight search",
    "delivery": "acceptance",
    "desk": "asking quoting",
    "check": "checking intake validation",
    "cli": "cli cli_accept cli_answers cli_elicit cli_evidence cli_prices cli_progress cli_quotes cli_report cli_shared cli_trace "
    "cli_words command tracing __main__",
}
"""Where what lay flat, or in a room of another name, is counted."""
ROOM_OF = {name: room for room, names in WAS.items() for name in names.split()}


def code_lines(source: str) -> int:
    """Lines of code of a module."""
    left_out: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        docstring = (
            isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        )
        if docstring or isinstance(node, ast.Import | ast.ImportFrom):
            left_out |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    lines = source.splitlines()
    held = {
        row
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type
        not in (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
        for row in range(token.start[0], token.end[0] + 1)
    }
    return sum(-(-len(lines[row - 1]) // COLUMNS) for row in held - left_out if lines[row - 1].strip())


def files_now() -> Iterator[tuple[str, str]]:
    """Python and YAML files of the package as they are, by their path below it."""
    package = ROOT / "fabricreport"
    for path in sorted(package.rglob("*")):
        if path.suffix in (".py", ".yaml"):
            yield path.relative_to(package).as_posix(), path.read_text(encoding="utf-8")


def files_at(commit: str) -> Iterator[tuple[str, str]]:
    """The same of a commit."""
    packed = subprocess.run(
        ["git", "archive", commit, "fabricreport"], cwd=ROOT, check=True, capture_output=True
    ).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        for member in archive:
            held = archive.extractfile(member) if member.name.endswith((".py", ".yaml")) else None
            if held:
                yield member.name.removeprefix("fabricreport/"), held.read().decode("utf-8")


def measured(files: Iterator[tuple[str, str]]) -> dict[str, Counter[str]]:
    """Of every room its files, lines, lines of code and lines of YAML that lie beside its code."""
    rooms: dict[str, Counter[str]] = {room: Counter() for room in LIMITS}
    for path, text in files:
        top = path.split("/")[0].removesuffix(".py")
        room = rooms.setdefault(ROOM_OF.get(top, top), Counter())
        if path.endswith(".py"):
            room.update(files=1, lines=len(text.splitlines()), code=code_lines(text))
        elif top not in ("evidence", "data"):
            room.update(
                yaml=sum(bool(line.strip()) and not line.lstrip().startswith("#") for line in text.splitlines())
            )
    return {room: counted for room, counted in rooms.items() if counted}


def main() -> int:
    """The command line: 1 if a room is above its line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--against", metavar="COMMIT", default="HEAD")
    then, now = measured(files_at(parser.parse_args().against)), measured(files_now())
    none = Counter[str]()
    print(f"{'room':10}{'files':>12}{'lines':>16}{'limit':>8}{'code':>16}{'yaml':>12}{'weight':>16}")
    for room in (*LIMITS, *sorted({*now, *then} - {*LIMITS}), "all"):
        old, new = (sum(all_of.values(), none) if room == "all" else all_of.get(room, none) for all_of in (then, now))
        files, lines, code, yaml = (f"{old[key]:,} {new[key]:,}" for key in ("files", "lines", "code", "yaml"))
        weight = " ".join(f"{one['code'] + one['yaml'] // 2:,}" for one in (old, new))
        limit = sum(LIMITS.values()) if room == "all" else LIMITS.get(room, 0)
        print(f"{room:10}{files:>12}{lines:>16}{limit:>8,}{code:>16}{yaml:>12}{weight:>16}")
    over = [
        f"{room} is {now[room]['lines'] - limit:,} above its line"
        for room, limit in LIMITS.items()
        if now.get(room, none)["lines"] > limit
    ]
    print("\n".join(over))
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
