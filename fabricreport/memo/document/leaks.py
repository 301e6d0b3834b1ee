"""No folder of the machine in any file that is published."""

from __future__ import annotations

import json
import re
import sys
import sysconfig
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from fabricreport.base.project import PACKAGE
from fabricreport.memo.document.safety import one_line
from fabricreport.memo.editions.manifest import read_regular, walk

_SHOWN = 60
_REMEDY = "Write a path from the notebook's folder, or leave it out."
# Not within a longer path, an address or an encoded picture, all of which may hold the same letters by chance.
_BEFORE = r"(?:(?<![\w.~+/-])|(?<=file://))"
_AFTER = r"(?![\w.~+-])"


def machine_folders(places: Mapping[str, Path]) -> dict[str, str]:
    """What each folder of this machine is, by path, the longest first; `places` adds those of one build by their name."""
    found: dict[str, str] = {}
    named = {
        **places,
        "Python's libraries": Path(sysconfig.get_path("purelib")),
        "the package's folder": PACKAGE.parent,
        "Python's own library": Path(sysconfig.get_path("stdlib")),
        "the interpreter": Path(sys.executable),
        "the home folder": Path.home(),
        "the folder for temporary files": Path(tempfile.gettempdir()),
    }
    for name, place in named.items():
        for path in (place.absolute(), place.resolve()):
            if len(path.parts) > 1:  # the root itself is in every path
                found.setdefault(str(path), name)
    return dict(sorted(found.items(), key=lambda item: -len(item[0])))


def not_said_by(inputs: Path, places: Mapping[str, str]) -> dict[str, str]:
    """The places that no file below `inputs` names: what a client or a seller wrote may stand in their memo."""
    texts = [text for name, path in walk(inputs) for _, text in _parts(name, read_regular(path))]
    return {path: name for path, name in places.items() if not any(any(text_leaks("", t, {path: name})) for t in texts)}


def leaks(folder: Path, places: Mapping[str, str]) -> list[str]:
    """One fault for each file (of a notebook: each cell) below `folder` that names one of `places`."""
    return [
        fault
        for name, path in walk(folder)
        for where, text in _parts(name, read_regular(path))
        for fault in text_leaks(where, text, places)
    ]


def text_leaks(where: str, text: str, places: Mapping[str, str]) -> Iterator[str]:
    """A fault if the text names one of the places; it tells what follows there, never the path itself."""
    for path, name in places.items():
        found = path in text and re.search(_BEFORE + re.escape(path) + _after(path), text)
        if found:
            rest = one_line(re.split(r"[\s\"'<>\\]", text[found.end() : found.end() + _SHOWN])[0])
            yield f"{where}: holds the path of {name} (“…{rest}”). {_REMEDY}"
            return


def _after(path: str) -> str:
    """A folder right below the root has so short a name that only a path inside it is taken for it."""
    return r"/[\w.-]" if path.count("/") == 1 else _AFTER


def _parts(name: str, data: bytes) -> Iterable[tuple[str, str]]:
    text = data.decode("utf-8", "replace")
    if not name.endswith(".ipynb"):
        return [(name, text)]
    notebook: Any = json.loads(text)
    cells = [(f"{name}, cell {n}", _strings(cell)) for n, cell in enumerate(notebook.pop("cells", []), start=1)]
    return [*cells, (name, _strings(notebook))]


def _strings(value: Any) -> str:
    """Every string of a JSON value, names included, one to a line."""
    if isinstance(value, dict):
        return "\n".join(f"{key}\n{_strings(inner)}" for key, inner in value.items())
    if isinstance(value, list):
        return "\n".join(_strings(inner) for inner in value)
    return value if isinstance(value, str) else ""
