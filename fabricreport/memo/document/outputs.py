"""What one output of a code cell becomes: document nodes, or a fault that names what a memo cannot carry.

Every output ends as one or the other; nothing is passed over in silence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from fabricreport.blocks.cells import Carried, bind_cell
from fabricreport.blocks.nodes import Image
from fabricreport.errors import Problem
from fabricreport.memo.document.frames import table_from_html
from fabricreport.memo.document.safe import one_line, without_folders

_SHOWN = 100
_WARNING = re.compile(r"\b\w*(?:Warning|Error|WARNING|ERROR)\b.*")
# What matplotlib's calls return: the figure beside it says the same, drawn.
_ARTIST = re.compile(r"\W*(?:Axes|Figure|matplotlib\.|seaborn\.|Text\()|.*\bartists?>", re.DOTALL)
_SHOW_TEXT = "Say it in a %%say cell, or delete the line."
_SHOW_VALUE = "Show it in a %%say or a %%table cell, or end the line with a semicolon."
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


def _png(cell: Any, output: Any, payload: Any) -> Image:
    encoded = "".join(_joined(payload).split())
    of_output = metadata(output)
    places = (own(output), of_output, of_output.get("image/png") or {}, own(cell), metadata(cell))
    return Image(f"data:image/png;base64,{encoded}", str(next(filter(None, (said.get("alt") for said in places)), "")))


def _frame(cell: Any, output: Any) -> Carried:
    html = _joined(output["data"]["text/html"])
    said: Mapping[str, Any] = {**metadata(cell), **own(cell), **metadata(output), **own(output)}
    table, faults = table_from_html(
        html, str(said.get("caption", "")), str(said.get("id", "") or said.get("label", ""))
    )
    if table is None:
        return _fault("an HTML output that holds no table is not shown", remedy=_SHOW_DATA)
    return Carried((table,), tuple(Problem(fault, remedy=remedy) for fault, remedy in faults))
