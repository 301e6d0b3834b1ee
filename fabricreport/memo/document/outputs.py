"""What one output of a code cell becomes: document nodes, data frames and pictures too, or a fault that names what a memo cannot carry.

Attached, they are part of the notebook's digest, so a changed picture is a changed notebook. What is not such a file
stays unattached, and the memo's checks name it.

Every output ends as one or the other; nothing is passed over in silence.
"""

from __future__ import annotations

import base64
import json
import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote

from bs4 import BeautifulSoup, Tag

from fabricreport.base.errors import Problem
from fabricreport.base.files import open_file
from fabricreport.blocks.cells import Carried, bind_cell
from fabricreport.blocks.markdown import parse_markdown
from fabricreport.blocks.nodes import DataTable, Figure, Image, Inline, TableColumn, TableRow, Text, walk
from fabricreport.ledger.numbers import Number
from fabricreport.memo.document.safety import one_line, without_folders

_NUMERIC = re.compile(r"[-−+]?[$€£]?[\d,.\s]*\d[\d,.]*(?:e[+-]?\d+)?\s*[%×x]?\Z", re.IGNORECASE)
_CUT = re.compile(r"\d+ rows × \d+ columns")
_WIDEST = 49
"""Characters at which pandas cuts a cell's text, the three dots included."""
_MISSING = frozenset(["", "nan", "none", "nat", "<na>", "-", "–"])


def _cells(row: Tag) -> list[str]:
    """The texts of a row's cells; spans repeat theirs."""
    found: list[str] = []
    for cell in row.find_all(["td", "th"]):
        span = str(cell.get("colspan") or "1")
        found += [" ".join(cell.get_text().split())] * (min(int(span), 100) if span.isdecimal() else 1)
    return found


def table_from_html(html: str, caption: str = "", table_id: str = "") -> tuple[DataTable | None, list[tuple[str, str]]]:
    """A table from the `text/html` of a DataFrame, or None when there is no table in it, and what is wrong with it.

    Several header rows are joined with spaces; a column whose cells are all numbers is right-aligned; an index that only
    counts the rows is left out. A fault, with its remedy, is what pandas left out, or a table beside the first.
    """
    page = BeautifulSoup(html, "html.parser")
    tables = page.find_all("table")
    rows = tables[0].find_all("tr") if tables else []
    if not rows:
        return None, []
    read = [(row.find_parent("thead") is not None, _cells(row)) for row in rows]
    width = max(len(row) for _, row in read)
    head = [_fit(row, width) for in_head, row in read if in_head] or [[""] * width]
    body = [_fit(row, width) for in_head, row in read if not in_head]
    labels = [" ".join(dict.fromkeys(row[i] for row in head if row[i])) for i in range(width)]
    if body and any(labels[1:]) and not labels[0] and [row[0] for row in body] == [*map(str, range(len(body)))]:
        labels, body = labels[1:], [row[1:] for row in body]
    columns = (
        TableColumn(_text(label), "", "right" if _numeric([row[i] for row in body]) else "left")
        for i, label in enumerate(labels)
    )
    told = (TableRow(tuple(_text(cell) for cell in row), "normal") for row in body)
    table = DataTable(table_id, _text(caption), tuple(columns), tuple(told), ())
    tables[0].extract()
    return table, list(_faults(len(tables), page.get_text(), body))


def _faults(tables: int, beside: str, body: list[list[str]]) -> Iterator[tuple[str, str]]:
    """What is wrong with an output of so many tables, of which the first has this body, and this text stands beside it."""
    if tables > 1:
        yield "an HTML output holds more than one table", "Show each table from a cell of its own."
    if _CUT.search(beside):
        remedy = "Choose what to show, or put it into a %%table cell."
        yield "a DataFrame is shown with rows or columns left out", remedy
    if not body:
        yield "a DataFrame without rows is shown", "Show it only where it has some, or say that there are none."
    if any(cell.endswith("...") and len(cell) >= _WIDEST for row in body for cell in row):
        yield "a DataFrame is shown with long text cut off", "Put it into a %%table cell, which prints all of it."


def _fit(row: list[str], width: int) -> list[str]:
    return [*row, *[""] * (width - len(row))]


def _text(value: str) -> tuple[Inline, ...]:
    return (Text(value),) if value else ()


def _numeric(cells: list[str]) -> bool:
    filled = [cell for cell in cells if cell.lower() not in _MISSING]
    return bool(filled) and all(_NUMERIC.match(cell) for cell in filled)


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


_SHOWN = 100
_WARNING = re.compile(r"\b\w*(?:Warning|Error|WARNING|ERROR)\b.*")
# What matplotlib's calls return: the figure beside it says the same, drawn.
_ARTIST = re.compile(r"\W*(?:Axes|Figure|matplotlib\.|seaborn\.|Text\()|.*\bartists?>", re.DOTALL)
_SHOW_TEXT = "Say it in a %%say cell, or delete the line."
_SHOW_VALUE = "Show it in a %%say or a %%table cell, or end the line with a semicolon."
_SHOW_NUMBERS = (
    "Print it by a cell `%%table tab-NAME from=FRAME` with a line `caption: …`, where they keep their footing."
)
_SHOW_DATA = "Show it in a %%chart, %%table or %%say cell, or as a PNG image."


def carry(cell: Any, output: Any) -> Carried:
    """Read one output that is not a block of ours."""
    kind = output.get("output_type")
    if kind == "stream":
        return _stream(output)
    if kind == "error":
        said = f"{output.get('ename', '')}: {output.get('evalue', '')}"
        return _fault(f"the cell ended in an error: {said}", remedy="Mend the cell and run the notebook again.")
    data = output.get("data") or {}
    if "image/png" in data:
        return Carried((_png(cell, output, data["image/png"]),))
    if "text/markdown" in data:
        return bind_cell(_joined(data["text/markdown"]), {}, "")
    if "text/html" in data:
        return _frame(cell, output)
    if set(data) <= {"text/plain"}:
        return _plain(cell, _joined(data.get("text/plain", "")))
    kinds = ", ".join(sorted(str(k) for k in data if k != "text/plain"))
    return _fault("an output of this kind is not shown", kinds, _SHOW_DATA)


def shown_once(outputs: Iterable[Any]) -> list[Any]:
    """The outputs without a figure as last value that the inline backend shows too: the same picture, drawn twice."""
    kept = list(outputs)
    shown = [_picture(o) for o in kept if o.get("output_type") == "display_data"]
    return [o for o in kept if o.get("output_type") != "execute_result" or not _picture(o) or _picture(o) not in shown]


def _picture(output: Any) -> str:
    data = output.get("data") or {}
    return "".join(_joined(data.get("image/png", "")).split())


def own(part: Any) -> Any:
    """The `fabricreport` metadata of a cell or an output."""
    found = metadata(part).get("fabricreport")
    return found if isinstance(found, dict) else {}


def metadata(part: Any) -> Any:
    """The metadata of a cell or an output, an empty mapping if it has none."""
    return part.get("metadata") or {}


def _fault(message: str, value: str = "", remedy: str = "") -> Carried:
    # Without the folders of this machine.
    return Carried(faults=(Problem(message, value=one_line(without_folders(value))[:_SHOWN], remedy=remedy),))


def _joined(text: Any) -> str:
    return "".join(text) if isinstance(text, list) else str(text)


def _stream(output: Any) -> Carried:
    text = _joined(output.get("text", ""))
    if not text.strip():
        return Carried()
    if output.get("name") == "stderr":
        told = _WARNING.search(text)
        return _fault(
            "the cell gives a warning or writes to a log", told[0] if told else text, "Mend its cause, or silence it."
        )
    return _fault("the cell prints text, which is not carried into the memo", text.strip(), _SHOW_TEXT)


def _plain(cell: Any, text: str) -> Carried:
    drawn = any("image/png" in (o.get("data") or {}) for o in cell.get("outputs", ()))
    if not text.strip() or (drawn and _ARTIST.match(text)):
        return Carried()
    return _fault("the cell ends in a value that the memo cannot show", text, _SHOW_VALUE)


def _png(cell: Any, output: Any, payload: Any) -> Figure | Image:
    """A picture as a figure, whose drawing it is, with its caption as title."""
    src, of_output = f"data:image/png;base64,{''.join(_joined(payload).split())}", metadata(output)
    places = (own(output), of_output, of_output.get("image/png") or {}, own(cell), metadata(cell))
    alt, caption, name = (str(next(filter(None, (p.get(key) for p in places)), "")) for key in ("alt", "caption", "id"))
    wide, high = (f"{side * PT_PER_PX:g}" for side in png_size_px(src))
    if "0" in (wide, high):
        return Image(src, alt)
    size = f'width="{wide}pt" height="{high}pt" viewBox="0 0 {wide} {high}"'
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" {size}><image width="{wide}" height="{high}" href="{src}"/></svg>'
    return Figure(name, _text(caption), (), (), alt, svg, ())


PT_PER_PX = 0.6
"""Notebooks draw at 100 to 144 dots per inch; 120 prints their text near its intended size."""


def png_size_px(source: str) -> tuple[int, int]:
    """Width and height of a `data:image/png;base64,` image from its header; zeros if it is none."""
    start, _, data = source.partition(",")
    try:
        head = base64.b64decode(data, validate=True)[:24]
    except ValueError:
        return 0, 0
    is_png = start == "data:image/png;base64" and head.startswith(_PNG) and head[12:16] == b"IHDR"
    return (int.from_bytes(head[16:20]), int.from_bytes(head[20:24])) if is_png else (0, 0)


def _frame(cell: Any, output: Any) -> Carried:
    html = _joined(output["data"]["text/html"])
    if f"{Number.__name__}(id=" in html:
        return _fault("a DataFrame of ledger numbers is shown as Python writes them", remedy=_SHOW_NUMBERS)
    said: Mapping[str, Any] = {**metadata(cell), **own(cell), **metadata(output), **own(output)}
    table, faults = table_from_html(
        html, str(said.get("caption", "")), str(said.get("id", "") or said.get("label", ""))
    )
    if table is None:
        return _fault("an HTML output that holds no table is not shown", remedy=_SHOW_DATA)
    return Carried((table,), tuple(Problem(fault, remedy=remedy) for fault, remedy in faults))
