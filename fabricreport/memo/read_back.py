"""A published memo read back: whose it is, the sentences of its body, and on how many pages it is printed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path

from fabricreport.blocks.nodes import Inline, Num, Paragraph, Text
from fabricreport.errors import InputError, Problem
from fabricreport.memo.document.gather import Piece
from fabricreport.memo.document.measures import Sentence, sentences_of

MEMO, PRINTED, LATEST = "memo.html", "memo.pdf", "latest"
REFERENCE = "reference"
"""The id under which a cross-reference stands among the numbers of a sentence."""
_REMEDY = "Name the folder of an edition, of a client, or a memo.html that fabricreport wrote."
_FOR = "Memorandum for "
_PAGES = re.compile(rb"<pdf:Keywords>body: (\d+) pages?, annexes: (\d+) pages?</pdf:Keywords>")
_BLOCKS = frozenset(["p", "li", "figcaption"])
_SKIPPED = frozenset(["nav", "header", "footer", "script", "style", "table", "svg", "details", "dt", "sup", "aside"])
_SKIPPED_CLASSES = frozenset(["value", "tag", "cite", "data", "key", "tone", "subtitle", "stale", "math"])
_HEADING = re.compile(r"h[1-6]\Z")
_VOID = frozenset(["br", "img", "meta", "link", "hr", "wbr", "input", "col"])


@dataclass(frozen=True)
class ReadMemo:
    """A memo as published: its file, its client, its body's sentences, its pages as printed (None where nobody counted)."""

    path: Path
    client: str
    title: str
    sentences: tuple[Sentence, ...]
    body_pages: int | None = None
    annex_pages: int | None = None


def read_memo(path: Path) -> ReadMemo:
    """The memo of an edition's folder, of a client's newest edition, or of a file; `InputError` says why it cannot be read."""
    file = _file_of(path)
    try:
        text = file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise InputError(Problem("is no text in UTF-8, so it is no memo", str(file), remedy=_REMEDY)) from None
    except OSError as error:
        raise InputError(Problem(f"cannot be read: {error.strerror}", str(file), remedy=_REMEDY)) from None
    reader = _Body()
    reader.feed(text)
    reader.close()
    if not reader.is_memo or not reader.lines:
        raise InputError(Problem("is no memo of ours", str(file), remedy=_REMEDY))
    piece = Piece(tuple(Paragraph(tuple(line)) for line in reader.lines), "", "body", str(file))
    body, annexes = _pages(file.with_name(PRINTED))
    return ReadMemo(file, reader.client, reader.title, tuple(sentences_of([piece])), body, annexes)


def _file_of(path: Path) -> Path:
    if path.is_dir():
        for file in (path / MEMO, path / LATEST / MEMO):
            if file.is_file():
                return file
        raise InputError(Problem(f"holds no {MEMO}, nor {LATEST}/{MEMO}", str(path), remedy=_REMEDY))
    if not path.exists():
        raise InputError(Problem("does not exist", str(path), remedy=_REMEDY))
    return path


def _pages(pdf: Path) -> tuple[int | None, int | None]:
    """Pages of page one and the body, and of the printed annex, as the memo's own PDF states them."""
    found = _PAGES.search(pdf.read_bytes()) if pdf.is_file() else None
    return (int(found[1]), int(found[2])) if found else (None, None)


@dataclass
class _Open:
    """An element that is open: whether its text is left out, whether it ends a line, a number or a reference."""

    tag: str
    skips: bool = False
    block: bool = False
    number: str | None = None
    reference: bool = False
    heading: bool = False


class _Body(HTMLParser):
    """Collects the lines of a memo's body: what stands before its first annex, paragraph by paragraph."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.lines: list[list[Inline]] = []
        self.client = self.title = ""
        self.is_memo = False
        self._open: list[_Open] = []
        self._line: list[Inline] | None = None
        self._held = ""
        self._heading = ""
        self._in_main = self._over = False
        self._in_head = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what opens."""
        if tag in _VOID:
            self._text(" " if tag == "br" else "")
            return
        found = dict(attrs)
        classes = frozenset((found.get("class") or "").split())
        if tag == "main" and found.get("id") == "memo":
            self._in_main = self.is_memo = True
        if tag == "section" and found.get("aria-labelledby") == "notes":
            self._over = True
        self._in_head = {"h1": "title", "p": "client"}.get(tag, self._in_head) if not self._in_main else ""
        element = _Open(tag, skips=tag in _SKIPPED or bool(classes & _SKIPPED_CLASSES))
        if self._in_main and _HEADING.match(tag):
            element = _Open(tag, skips=True, heading=True)
            self._heading = ""
        elif "more" in classes or (tag in _BLOCKS and not element.skips):
            element.block = True
            element.skips = element.skips or (tag == "figcaption" and not self._in_table())
            self._flush()
            self._line = []
        elif self._skips():
            pass
        elif tag == "a" and "num" in classes:
            element.number = (found.get("href") or "").lstrip("#")
            self._hold()
        elif tag == "a" and (found.get("href") or "").startswith("#") and "download" not in found:
            element.reference = True
            self._hold()
        if tag == "figure" and "table" in classes:
            element.tag = "figure.table"
        self._open.append(element)

    def handle_endtag(self, tag: str) -> None:
        """Close what is open up to this tag."""
        if not any(e.tag.partition(".")[0] == tag for e in self._open):
            return
        while self._open:
            element = self._open.pop()
            self._close(element)
            if element.tag.partition(".")[0] == tag:
                return

    def handle_data(self, data: str) -> None:
        """Text, where it is the body's."""
        if any(e.heading for e in self._open):
            self._heading += data
        elif not self._in_main:
            self._head(data)
        else:
            self._text(data)

    def close(self) -> None:
        """The end of the page."""
        super().close()
        self._flush()

    def _head(self, data: str) -> None:
        words = " ".join(data.split())
        if self._in_head == "title" and words:
            self.title = self.title or words
        elif self._in_head == "client" and words.startswith(_FOR):
            self.client = words.removeprefix(_FOR)

    def _in_table(self) -> bool:
        return any(e.tag == "figure.table" for e in self._open)

    def _text(self, data: str) -> None:
        if self._line is not None and not self._over and not self._skips():
            self._held += data

    def _skips(self) -> bool:
        return any(e.skips for e in self._open)

    def _hold(self) -> None:
        """Put the plain text so far into the line."""
        if self._line is not None and self._held:
            words = _joined(self._held)
            self._line.append(Text(words if self._line else words.lstrip()))
        self._held = ""

    def _flush(self) -> None:
        self._hold()
        if self._line and not self._over:
            self.lines.append(self._line)
        self._line = None

    def _close(self, element: _Open) -> None:
        if element.heading:
            self._over = self._over or self._heading.split()[:1] == ["Annex"]
        elif element.block:
            self._flush()
        elif element.number is not None or element.reference:
            words, self._held = _joined(self._held), ""
            if self._line is None or not words.strip():
                return
            self._line.append(Num(element.number or REFERENCE, words, None))


def _joined(text: str) -> str:
    """Every run of white space as one space."""
    return re.sub(r"\s+", " ", text)
