"""Whether a change of code changed a memo: hashes of 42 clients' ledgers, data and words, kept and compared by hand.

    python tests/same_ledger.py write FILE.json    keep the hashes of this tree
    python tests/same_ledger.py check FILE.json    compare this tree with them; lists what differs, exit code 1 if anything
    ... --clients example,one-rack-72              only these; `--jobs 1`: in one process

The clients are the four shipped (on their own sample), the golden decisions and the covering clients (on a small one).
Values and words are kept apart: a figure's value, unit, statistic and inputs; its label and rule; each file of `data/`;
each section's words, figures by their ids and digits left out; and each section's text in full, as it is printed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html.parser import HTMLParser
from multiprocessing import get_context
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "tests" / "integration")]
SHIPPED = tuple(sorted(p.stem for p in (ROOT / "params").glob("*.yaml")))
DECISIONS = ROOT / "tests" / "golden" / "decisions"
GOLDEN = tuple(sorted(p.stem for p in DECISIONS.glob("*.yaml") if p.stem not in ("expected", "ours")))
COVERING = "covering-"
FEW_DRAWS = 256
WORDS_OF_A_NUMBER = ("label", "rule")
WORDS_OF_AN_INPUT = ("label", "source", "publisher", "address", "interest", "use")
LEFT_OUT = ("section",)
"""Of a ledger's record: which notebook printed it first."""
SHOWN = 12
"""Differences of one kind that are listed by name for one client."""

Hashes = dict[str, Any]


def client_names() -> tuple[str, ...]:
    """Every client, the dearest first."""
    from clients import covering_rows

    return (*SHIPPED, *(f"{COVERING}{n:02}" for n in range(len(covering_rows()))), *GOLDEN)


def params_of(name: str, folder: Path) -> Path:
    """The client's params file; a covering client is written into `folder`."""
    from clients import covering_rows, write_client

    if name.startswith(COVERING):
        return write_client(covering_rows()[int(name.removeprefix(COVERING))], folder)
    return ROOT / "params" / f"{name}.yaml" if name in SHIPPED else DECISIONS / f"{name}.yaml"


def short(value: Any) -> str:
    """A few digits of the hash of a value."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:10]


def hashes_of(name: str) -> tuple[Hashes, dict[str, str]]:
    """What is kept of a client, and the text behind the hashes of its words."""
    from one_process import whole

    from fabricreport.base.errors import InputError

    with tempfile.TemporaryDirectory() as scratch:
        path = params_of(name, Path(scratch))
        try:
            done = whole(path, draws=None if name in SHIPPED else FEW_DRAWS, draw_charts=False)
        except InputError as error:
            told = sorted(str(p).replace(scratch, "") for p in error.problems)
            return {"refused": {short(t): short(t) for t in told}}, {}
        return _kept(done)


def _kept(done: Any) -> tuple[Hashes, dict[str, str]]:
    from fabricreport.base.text import csv_text
    from fabricreport.memo.document.document import chart_data, in_memo, own_files
    from fabricreport.memo.document.pieces import gather

    numbers, inputs = done.ledger["numbers"], done.ledger["inputs"]
    kept: Hashes = {
        "values": _records(numbers, lambda key: key not in (*WORDS_OF_A_NUMBER, *LEFT_OUT)),
        "labels and rules": _records(numbers, lambda key: key in WORDS_OF_A_NUMBER),
        "values of inputs": _records(inputs, lambda key: key not in WORDS_OF_AN_INPUT),
        "words of inputs": _records(inputs, lambda key: key in WORDS_OF_AN_INPUT),
        "data": {f"{n}.csv": short(csv_text(rows)) for n, rows in chart_data(gather(done.memo)).items()},
        "headline": {key: short(value) for key, value in done.headline.items()},
        "faults": {short(str(fault)): short(str(fault)) for fault in done.faults},
    }
    words: dict[str, list[str]] = {}
    printed: dict[str, str] = {}
    memo = in_memo(done.memo)
    for file, part in {"memo": memo, **own_files(done.memo)}.items():
        for number, section in enumerate(_sections(part)):
            place = f"{file}, {number}: {section.title[:60]}"
            words[place] = [short(block) for block in section.words]
            printed[place] = short(section.printed)
            kept.setdefault("texts", {}).update({short(w): w for w in section.words})
    texts = kept.pop("texts", {})
    return {**kept, "words": words, "printed": printed}, texts


def _records(records: Iterable[Mapping[str, Any]], wanted: Any) -> dict[str, str]:
    return {str(r["id"]): short({k: _ordered(k, v) for k, v in r.items() if wanted(k)}) for r in records}


def _ordered(key: str, value: Any) -> Any:
    return sorted(value) if key in ("inputs", "sources") else value


# ---- the memo's text, as the HTML edition has it


class Section:
    """The blocks of text under one heading: as printed, and with figures by id and digits left out."""

    def __init__(self) -> None:
        self.printed: list[str] = []
        self.words: list[str] = []

    @property
    def title(self) -> str:
        return self.words[0] if self.words else ""

    def add(self, printed: str, words: str) -> None:
        if words.strip():
            self.printed.append(" ".join(printed.split()))
            self.words.append(re.sub(r"\d+", "#", " ".join(words.split())))


class _Text(HTMLParser):
    """The text of a page in blocks, section by section; a figure is `{its id}` in the words."""

    BLOCKS = frozenset(["p", "li", "tr", "h1", "h2", "h3", "h4", "figcaption", "div", "table", "dt", "dd", "aside", "summary"])  # fmt: skip
    SKIPPED = frozenset(["style", "script", "nav", "head"])
    VOID = frozenset(["br", "img", "meta", "link", "hr", "input", "col", "wbr"])
    SPOKEN = ("alt", "aria-label")

    def __init__(self) -> None:
        super().__init__()
        self.sections = [Section()]
        self.open: list[tuple[str, str]] = []
        self.printed: list[str] = []
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag in self.BLOCKS:
            self._close_block()
        if tag == "h2":
            self.sections.append(Section())
        for spoken in (given.get(a) for a in self.SPOKEN):
            if spoken and not self._within(self.SKIPPED):
                self.sections[-1].add(spoken, re.sub(r"\S*\d\S*", "#", spoken))
        figure = "num" in (given.get("class") or "").split()
        if tag not in self.VOID:
            self.open.append((tag, (given.get("href") or "#").lstrip("#") if figure else ""))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        if tag in self.BLOCKS:
            self._close_block()
        if tag in ("td", "th"):
            self.handle_data(" | ")
        while self.open:
            closed, figure = self.open.pop()
            if figure:
                self.words.append(f"{{{figure}}}")
            if closed == tag:
                break

    def handle_data(self, data: str) -> None:
        if self._within(self.SKIPPED):
            return
        self.printed.append(data)
        if not any(figure for _, figure in self.open):
            self.words.append(data)

    def close(self) -> None:
        super().close()
        self._close_block()

    def _within(self, tags: frozenset[str]) -> bool:
        return any(tag in tags for tag, _ in self.open)

    def _close_block(self) -> None:
        self.sections[-1].add("".join(self.printed), "".join(self.words))
        self.printed, self.words = [], []


def _sections(notebook: Any) -> list[Section]:
    from fabricreport.memo.document.document import document_from_notebook
    from fabricreport.memo.write.html import render_html

    reader = _Text()
    reader.feed(render_html(document_from_notebook(notebook)))
    reader.close()
    return [section for section in reader.sections if section.words]


# ---- keeping and comparing


def made(names: Sequence[str], jobs: int) -> Iterator[tuple[str, Hashes, dict[str, str]]]:
    """The hashes of each client, in the order in which they are ready."""
    with get_context("spawn").Pool(jobs, maxtasksperchild=7) as pool:
        for number, found in enumerate(pool.imap_unordered(_named, names), start=1):
            print(f"{number} of {len(names)}: {found[0]}", file=sys.stderr, flush=True)
            yield found


def _named(name: str) -> tuple[str, Hashes, dict[str, str]]:
    return name, *hashes_of(name)


def differences(kept: Hashes, now: Hashes, texts: Mapping[str, str]) -> Iterator[str]:
    """A line for each kind of thing that differs, and what it is."""
    for kind in sorted({*kept, *now}):
        before, after = kept.get(kind, {}), now.get(kind, {})
        if before == after:
            continue
        gone, new = sorted({*before} - {*after}), sorted({*after} - {*before})
        moved = sorted(k for k in {*before} & {*after} if before[k] != after[k])
        yield f"  {kind}: {len(moved)} changed, {len(gone)} gone, {len(new)} new of {len(before)}"
        for sign, ids in (("~", moved), ("-", gone), ("+", new)):
            yield from (f"    {sign} {name}" for name in ids[:SHOWN])
            if len(ids) > SHOWN:
                yield f"    {sign} ... and {len(ids) - SHOWN} more"
        if kind == "words":
            yield from _sentences(before, after, texts)


def _sentences(
    before: Mapping[str, list[str]], after: Mapping[str, list[str]], texts: Mapping[str, str]
) -> Iterator[str]:
    old = {block for blocks in before.values() for block in blocks}
    new = {block for blocks in after.values() for block in blocks}
    fresh = [block for blocks in after.values() for block in blocks if block not in old]
    if lost := len(old - new):
        yield f"    {lost} blocks of text are gone or changed"
    yield from (f"    > {texts.get(block, '')[:300]}" for block in dict.fromkeys(fresh[:SHOWN]))
    if not fresh and not lost:
        yield "    the same blocks of text in another order or number"


def write(file: Path, names: Sequence[str], jobs: int) -> int:
    """Keep the hashes; those of clients that are not asked for stay as they are."""
    kept = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    for name, hashes, _ in made(names, jobs):
        kept[name] = hashes
        file.write_text(json.dumps(kept, indent=0, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")
    return 0


def check(file: Path, names: Sequence[str], jobs: int) -> int:
    """Compare with what is kept; 1 if anything differs."""
    kept = json.loads(file.read_text(encoding="utf-8"))
    same, lines = 0, []
    for name, hashes, texts in made(names, jobs):
        # Through JSON, as what was kept went.
        now = json.loads(json.dumps(hashes))
        found = list(differences(kept[name], now, texts)) if name in kept else ["  is not in the file"]
        same += not found
        lines += [name, *found] if found else []
    print("\n".join([*lines, f"{same} clients are the same."]))
    return 1 if lines else 0


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("what", choices=("write", "check"))
    parser.add_argument("file", type=Path)
    parser.add_argument("--clients", default="", help="their names, with commas; without it all 42")
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    every = client_names()
    names = tuple(filter(None, given.clients.split(","))) or every
    if unknown := sorted({*names} - {*every}):
        parser.error(f"no such client: {', '.join(unknown)}; there are {', '.join(every)}")
    started = time.monotonic()
    code = (write if given.what == "write" else check)(given.file, names, min(given.jobs, len(names)))
    print(f"{time.monotonic() - started:.0f} s", file=sys.stderr)
    return code


if __name__ == "__main__":
    raise SystemExit(main())
