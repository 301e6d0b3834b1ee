"""A published memo read back: its title and client, the sentences of its body, its pages as printed, its notebooks."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from pypdf import PdfReader

from fabricreport.blocks import MIME
from fabricreport.memo.document.document import stitch
from fabricreport.memo.run.noise import notebook_from_bytes

_PAGES = re.compile(
    rb"<pdf:Keywords>body: (\d+) pages?, annexes: (\d+) pages?, derivations: (\d+) pages?</pdf:Keywords>"
)
_SKIPPED = frozenset(["nav", "header", "footer", "script", "style", "table", "svg", "details", "dt", "sup", "aside"])
_SKIPPED_CLASSES = frozenset(["value", "tag", "cite", "data", "key", "tone", "subtitle", "stale", "math"])
_VOID = frozenset(["br", "img", "meta", "link", "hr", "wbr", "input", "col"])


@dataclass(frozen=True)
class ReadMemo:
    """A memo as published."""

    client: str
    title: str
    sentences: tuple[str, ...]
    body_pages: int
    annex_pages: int
    derivation_pages: int


def read_memo(folder: Path) -> ReadMemo:
    """The memo of an edition's folder."""
    reader = _Body()
    head, main, rest = (folder / "memo.html").read_text(encoding="utf-8").partition('<main id="memo"')
    reader.feed(head + main + rest.partition('<div class="annexes">')[0])
    told = [" ".join(line.split()) for line in reader.lines]
    pages = _PAGES.search((folder / "memo.pdf").read_bytes())
    assert pages, "a PDF states its pages"
    sentences = tuple(s for line in told for s in re.split(r"(?<=[.!?])\s+", line) if s)
    client = " ".join(reader.head["p"].split()).removeprefix("Memorandum for ")
    return ReadMemo(client, " ".join(reader.head["h1"].split()), sentences, *(int(n) for n in pages.groups()))


@cache
def page_texts(pdf: Path) -> tuple[str, ...]:
    """The text of each page; reading a PDF takes as long as writing it."""
    return tuple(page.extract_text() for page in PdfReader(pdf).pages)


def pdf_objects(reader: PdfReader) -> list[Any]:
    """Every object of a PDF."""
    return [reader.get_object(number) for number in range(1, int(reader.trailer["/Size"]))]


def stitched(folder: Path) -> Any:
    """The notebooks of an edition as executed, as one in the memo's order."""
    order = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["sections"]
    notebooks = {s: notebook_from_bytes((folder / "notebooks" / f"{s}.ipynb").read_bytes()) for s in order}
    return stitch(notebooks, {})


def blocks_of(memo: Any) -> list[dict[str, Any]]:
    """All that the cells of a stitched memo show of it, in order."""
    shown = (output.get("data", {}).get(MIME) for cell in memo.cells for output in cell.get("outputs", ()))
    return [block for block in shown if block]


def share_in_common(mine: ReadMemo, theirs: ReadMemo) -> float:
    """The share of a memo's sentences of four words or more of which another says three words in four in the same order,
    whatever its numbers are."""
    there = [_words(s) for s in theirs.sentences]
    here = [words for s in mine.sentences if len(words := _words(s)) >= 4]
    return sum(any(_near(one, other) for other in there) for one in here) / len(here)


def _words(sentence: str) -> tuple[str, ...]:
    return tuple(re.findall(r"[\w’'-]*\w", re.sub(r"\S*\d\S*", "0", sentence).lower()))


def _near(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    match = SequenceMatcher(None, one, other, autojunk=False)
    return match.real_quick_ratio() >= 0.75 and match.quick_ratio() >= 0.75 and match.ratio() >= 0.75


class _Body(HTMLParser):
    """The paragraphs, items and captions of what is fed, and of its head the title and whom it is for."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.lines: list[str] = []
        self.head = {"h1": "", "p": ""}
        self._open: list[tuple[str, bool]] = []
        self._in_main = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _VOID:
            return
        classes = set((dict(attrs).get("class") or "").split())
        self._in_main |= tag == "main"
        skips = tag in _SKIPPED or tag in ("h1", "h2", "h3", "h4") or bool(classes & _SKIPPED_CLASSES)
        if tag in ("p", "li", "figcaption") or "more" in classes:
            self.lines.append("")
        self._open.append((tag, skips))

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        tag = self._open[-1][0] if self._open else ""
        if not self._in_main and tag in self.head and not (tag == "p" and self.head["p"]):
            self.head[tag] += data
        elif self._in_main and self.lines and not any(skips for _, skips in self._open):
            self.lines[-1] += data
