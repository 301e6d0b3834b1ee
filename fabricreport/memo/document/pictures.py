"""Pictures that Markdown cells name by their path: PNG files below the notebooks folder, attached to the build's copy.

Attached, they are part of the notebook's digest, so a changed picture is a changed notebook. What is not such a file
stays unattached, and the memo's checks name it.
"""

from __future__ import annotations

import base64
import json
import os
import stat
from pathlib import Path, PurePosixPath
from urllib.parse import unquote

from fabricreport.blocks.markdown import parse_markdown
from fabricreport.blocks.nodes import Image, Text, walk
from fabricreport.descriptors import open_file

MAX_PICTURE_BYTES = 5_000_000
_PNG = b"\x89PNG\r\n\x1a\n"


def attach_pictures(notebook: Path, folder: Path) -> None:
    """Attach each PNG below `folder` that a Markdown cell of the copy `notebook` names by its path.

    A file that is no notebook is left as it is: whoever reads it next says so.
    """
    try:
        nb = json.loads(notebook.read_bytes(), parse_constant=_no_number)
        cells = [c for c in nb["cells"] if c["cell_type"] == "markdown"]
    except (ValueError, LookupError, TypeError):
        return
    changed = False
    for cell in cells:
        source = cell.get("source", "")
        text = "".join(map(str, source)) if isinstance(source, list) else str(source)
        for node in walk(parse_markdown(text, field=lambda field: Text(""))):
            address = node.address if isinstance(node, Image) else ""
            picture = _png_below(folder, unquote(address))
            if picture:
                encoded = base64.b64encode(picture).decode("ascii")
                cell.setdefault("attachments", {})[address] = {"image/png": encoded}
                changed = True
    if changed:
        notebook.write_text(json.dumps(nb, ensure_ascii=False, allow_nan=False), encoding="utf-8")


def _no_number(word: str) -> None:
    raise ValueError(f"{word} is no JSON")


def _png_below(folder: Path, name: str) -> bytes:
    """The PNG file of this relative path, walked to without following a symbolic link; empty if it is none."""
    parts = PurePosixPath(name).parts
    if not parts or name.startswith("/") or ".." in parts:
        return b""
    steps = [folder.joinpath(*parts[: n + 1]) for n in range(len(parts))]
    try:
        modes = [os.lstat(step).st_mode for step in steps]
        if any(map(stat.S_ISLNK, modes)) or not stat.S_ISREG(modes[-1]):
            return b""
        handle = open_file(steps[-1])
    except (OSError, ValueError):
        return b""
    with os.fdopen(handle, "rb") as stream:
        data = stream.read(MAX_PICTURE_BYTES + 1)
    return data if data.startswith(_PNG) and len(data) <= MAX_PICTURE_BYTES else b""
