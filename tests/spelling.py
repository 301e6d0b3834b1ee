"""Words as the dictionary has them, or our list of words that it lacks."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

WORDS = Path(__file__).parent / "data" / "words.txt"


def misspelt(texts: Iterable[str], names: Iterable[str]) -> list[str]:
    """The words of these texts, names left out, that neither has."""
    if shutil.which("hunspell") is None:
        pytest.skip("hunspell is not installed")
    prose = "\n".join(texts)
    for name in sorted(names, key=len, reverse=True):
        prose = prose.replace(name, " ")
    prose = re.sub(r"\S*\d\S*", " ", prose)  # names of products and protocols, which the gate judges
    prose = re.sub(r"(?<=\w)[’'](?:s\b)?", " ", prose)
    command = ["hunspell", "-d", "en_GB", "-p", str(WORDS), "-l"]
    found = subprocess.run(command, input=prose, capture_output=True, text=True, check=True).stdout.split()
    return sorted({word for word in found if re.search(r"\w", word)})


def texts(node: Any) -> Iterator[str]:
    """Every piece of prose below a node of a block, numbers and references left out."""
    if isinstance(node, list):
        for part in node:
            yield from texts(part)
    elif isinstance(node, dict) and node.get("t") == "text":
        yield str(node["v"])
    elif isinstance(node, dict):
        for key, part in node.items():
            if key not in ("data", "svg") and isinstance(part, dict | list):
                yield from texts(part)
