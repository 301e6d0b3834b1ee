"""What reaches a page made safe: text from people and sellers."""

from __future__ import annotations

import re
import unicodedata
from typing import Any

from fabricreport.base.text import MAX_COMBINING_RUN, masked

_ACCENT = "[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff]"
_PILE = re.compile(f"({_ACCENT}{{{MAX_COMBINING_RUN}}}){_ACCENT}+")
_FOLDERS = re.compile(r"(?<![\w.:/])(?:[A-Za-z]:)?(?:[/\\][\w.+@~ -]*[\w.+@~-])*[/\\](?=[\w.+@~<-])")
_SPACE = re.compile(r"[\t\n\r]")


def visible(value: Any) -> Any:
    """A text, or nested lists and dicts of texts (keys too), with each character that hides or reorders a text shown as U+FFFD,
    and piles of accents cut; a fresh copy is returned."""
    if isinstance(value, str):  # most by far have nothing to hide
        return value if value.isascii() and value.isprintable() else _PILE.sub(r"\1", masked(value))
    if isinstance(value, dict):
        return {visible(str(k)): visible(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [visible(v) for v in value]
    return value


def one_line(text: str) -> str:
    """The text on one line, for headers, metadata and names."""
    return " ".join(_SPACE.sub(" ", visible(text)).split())


def slug(text: str, longest: int = 60) -> str:
    """A name of a-z, 0-9 and single hyphens for ids and files; never empty, never a path."""
    bare = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    name = re.sub(r"[^a-z0-9]+", "-", bare.lower()).strip("-")[:longest].strip("-")
    return name or "x"


def without_folders(text: str) -> str:
    """The text with every absolute path cut to its last part: a folder of this machine is nobody's business."""
    return _FOLDERS.sub("", text)
