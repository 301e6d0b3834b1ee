"""Take out of an executed notebook what differs from run to run, so that same inputs give same bytes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

import nbformat
from nbformat import NotebookNode

LEFT_BY_RUNS = ("papermill", "execution", "ExecuteTime", "collapsed", "scrolled", "trusted")
"""What runs and editors leave in a cell's metadata."""

_KERNEL_FILE = re.compile(r"(?:/[^\s:'\"<>]*)?/ipykernel_\d+/\d+\.py")
_ADDRESS = re.compile(r"\b(at|object at|of) 0x[0-9a-fA-F]{6,16}\b")


def strip_volatile(nb: Any, *, folders: Iterable[str] = ()) -> NotebookNode:
    """A copy of an executed notebook without times, ids, addresses and papermill's own additions.

    The injected parameters cell goes, so cell numbers are those of the source notebook. Cell ids become the
    cell's number, execution counts count up from 1 in order, runs of text output are joined by stream.
    `folders` are paths of this run (the scratch folder) to blank out in outputs. The result depends on the
    notebook's meaning only; stripping twice changes nothing.
    """
    blank = _Blank(tuple(sorted({f for f in folders if f}, key=len, reverse=True)))
    out: NotebookNode = nbformat.v4.new_notebook()  # type: ignore[no-untyped-call]
    out.metadata = _notebook_metadata(nb.metadata)
    count = 0
    for cell in nb.cells:
        tags = cell.metadata.get("tags", [])
        if "injected-parameters" in tags or "papermill-error-cell-tag" in tags:
            continue
        kept = nbformat.from_dict({"cell_type": cell.cell_type, "id": f"c{len(out.cells) + 1:03d}"})  # type: ignore[no-untyped-call]
        kept.metadata = _plain({k: v for k, v in cell.metadata.items() if k not in LEFT_BY_RUNS})
        kept.source = cell.source
        if "attachments" in cell:
            kept.attachments = _plain(cell.attachments)
        if cell.cell_type == "code":
            ran = cell.get("execution_count") is not None
            count += int(ran)
            kept.execution_count = count if ran else None
            kept.outputs = [blank.output(o, count) for o in joined_streams(cell.get("outputs", []))]
        out.cells.append(kept)
    return out


def notebook_bytes(nb: Any) -> bytes:
    """The one spelling of a notebook as bytes: sorted keys, UTF-8, one line feed at the end."""
    return (json.dumps(nb, ensure_ascii=False, sort_keys=True, indent=1, allow_nan=False) + "\n").encode("utf-8")


def notebook_from_bytes(data: bytes) -> NotebookNode:
    """The notebook that `notebook_bytes` wrote."""
    nb: NotebookNode = nbformat.from_dict(json.loads(data))  # type: ignore[no-untyped-call]
    return nb


def source_bytes(nb: Any) -> bytes:
    """A notebook's source without outputs, counts and ids: what a section's meaning depends on."""
    cells = [
        {
            "cell_type": c.cell_type,
            "source": c.source,
            "metadata": _plain({k: v for k, v in c.metadata.items() if k not in LEFT_BY_RUNS}),
            "attachments": _plain(c.get("attachments", {})),
        }
        for c in nb.cells
    ]
    metadata = {
        k: v for k, v in nb.metadata.items() if k not in ("kernelspec", "language_info", "papermill", "widgets")
    }
    text = json.dumps(
        {"cells": cells, "metadata": _plain(metadata)}, ensure_ascii=False, sort_keys=True, allow_nan=False
    )
    return text.encode("utf-8")


class _Blank:
    """Rewrites the strings of outputs."""

    def __init__(self, folders: tuple[str, ...]) -> None:
        self.folders = folders

    def text(self, text: str) -> str:
        for folder in self.folders:
            text = text.replace(folder + "/", "").replace(folder, ".")
        if "/ipykernel_" in text:
            text = _KERNEL_FILE.sub("<cell>", text)
        return _ADDRESS.sub(r"\1 0x0", text) if " 0x" in text else text

    def value(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {k: self.value(v) for k, v in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(v) for v in value]
        return value

    def output(self, output: Any, count: int) -> NotebookNode:
        out = {k: (v if k in ("output_type", "name") else self.value(v)) for k, v in output.items()}
        out.pop("transient", None)
        if output["output_type"] == "execute_result":
            out["execution_count"] = count
        node: NotebookNode = nbformat.from_dict(out)  # type: ignore[no-untyped-call]
        return node


def joined_streams(outputs: Iterable[Any]) -> list[dict[str, Any]]:
    """Neighbouring stream outputs joined by name, stdout first: their interleaving is chance."""
    out: list[dict[str, Any]] = []
    run: dict[str, str] = {}

    def flush() -> None:
        for name in sorted(run, reverse=True):  # stdout before stderr
            out.append({"output_type": "stream", "name": name, "text": _as_shown(run[name])})
        run.clear()

    for output in outputs:
        if output["output_type"] == "stream":
            run[output["name"]] = run.get(output["name"], "") + "".join(output["text"])
        else:
            flush()
            out.append(dict(output))
    flush()
    return out


def _as_shown(text: str) -> str:
    """Text as a terminal leaves it: what a carriage return went back over is gone (a progress bar's earlier states)."""
    if "\r" not in text:
        return text
    return "\n".join(_last_state(line) for line in text.split("\n"))


def _last_state(line: str) -> str:
    kept = line.rstrip("\r")
    return kept[kept.rfind("\r") + 1 :] + line[len(kept) :]


def _notebook_metadata(metadata: Any) -> NotebookNode:
    kept = {k: v for k, v in metadata.items() if k not in ("papermill", "widgets", "language_info", "kernelspec")}
    kept["kernelspec"] = {"display_name": "Python 3", "language": "python", "name": "python3"}
    kept["language_info"] = {"name": "python", "file_extension": ".py", "mimetype": "text/x-python"}
    node: NotebookNode = nbformat.from_dict(_plain(kept))  # type: ignore[no-untyped-call]
    return node


def _plain(value: Any) -> Any:
    return nbformat.from_dict(json.loads(json.dumps(value, allow_nan=False)))  # type: ignore[no-untyped-call]
