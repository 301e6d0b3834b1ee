"""Naming a seller's answers in a params file: one edit of its text that keeps every comment, and is checked before it counts.

The edit is made where the parser says that the value stands. What it makes is read again: unless it is the same params
with that one key changed, nothing is edited and the line to write by hand is told.
"""

from __future__ import annotations

import copy
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from fabricreport.errors import InputError
from fabricreport.scenario.load import ParamsFile, load_params_file
from fabricreport.strict_yaml import quoted

_KEY = "providers"


@dataclass(frozen=True)
class Edit:
    """The params' text with the answers named; None where they have to be named by hand: `line` says how."""

    text: str | None
    line: str


@dataclass(frozen=True)
class _Change:
    """Text to put in the place of what stands from `start` to `end`."""

    start: int
    end: int
    text: str


def name_answers(loaded: ParamsFile, provider: str, file: str, folded: Callable[[str], str]) -> Edit:
    """The text of the params in which the entry of `provider` names `file`; a provider that is not listed is added.

    `folded` makes names comparable. The file has to be there already.
    """
    names = [folded(p.name) for p in loaded.params.providers]
    index = names.index(folded(provider)) if folded(provider) in names else None
    entry = {"name": provider, "answers": file}
    wanted = copy.deepcopy(loaded.located.data)
    if index is None:
        wanted[_KEY] = [*(wanted.get(_KEY) or []), entry]
        line = f"add to `{_KEY}`:  - {_flow(entry, in_quotes=False)}"
    else:
        wanted[_KEY][index]["answers"] = file
        at = loaded.located.line_of((_KEY, index))
        line = f"line {at}, beside the name of {provider}:  answers: {file}"
    text = loaded.path.read_bytes().decode("utf-8")
    try:
        change = _change(text, index, entry)
    except (yaml.YAMLError, _NoPlaceError):
        return Edit(None, line)
    edited = text if change is None else text[: change.start] + change.text + text[change.end :]
    return Edit(edited if _reads_as(edited, wanted, loaded.folder) else None, line)


class _NoPlaceError(Exception):
    """The text is laid out in a way that this edit does not know."""


def _reads_as(text: str, wanted: Any, folder: Path) -> bool:
    """Whether a params file of this text passes the strict reader and holds exactly these values."""
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "params.yaml"
        path.write_bytes(text.encode("utf-8"))
        try:
            return bool(load_params_file(path, folder=folder).located.data == wanted)
        except InputError:
            return False


def _change(text: str, index: int | None, entry: dict[str, str]) -> _Change | None:
    """Where the text has to change, and to what; None if it names the file already."""
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    if not isinstance(root, yaml.MappingNode) or not root.value:
        raise _NoPlaceError
    in_quotes = root.value[0][0].style == '"'
    listed = _value(root, _KEY)
    if index is not None:
        if not isinstance(listed, yaml.SequenceNode):
            raise _NoPlaceError
        item = listed.value[index]
        there = _value(item, "answers")
        if there is None:
            return _added_key(text, item, "answers", entry["answers"], in_quotes=in_quotes)
        if there.value == entry["answers"]:
            return None
        start, end = there.start_mark.index, there.end_mark.index
        return _Change(start, end, (" " if start == end else "") + _scalar(entry["answers"], in_quotes=in_quotes))
    if listed is None:
        return _added_key(text, root, _KEY, f"[{_flow(entry, in_quotes=in_quotes)}]", in_quotes=in_quotes, plain=False)
    if isinstance(listed, yaml.SequenceNode) and listed.value:
        return _added_item(text, listed, entry, in_quotes=in_quotes)
    return _Change(listed.start_mark.index, listed.end_mark.index, f"[{_flow(entry, in_quotes=in_quotes)}]")


def _added_key(
    text: str, mapping: yaml.MappingNode, key: str, value: str, *, in_quotes: bool, plain: bool = True
) -> _Change:
    """A key more at the end of a mapping; `plain`: its value is a scalar."""
    pair = f"{_scalar(key, in_quotes=in_quotes)}: {_scalar(value, in_quotes=in_quotes) if plain else value}"
    if mapping.flow_style:
        end = _end(mapping.value[-1][1])
        return _Change(end, end, f", {pair}")
    return _line_after(text, _end(mapping.value[-1][1]), mapping.start_mark.column, pair)


def _added_item(text: str, listed: yaml.SequenceNode, entry: dict[str, str], *, in_quotes: bool) -> _Change:
    """An item more at the end of a list."""
    end = _end(listed.value[-1])
    if listed.flow_style:
        return _Change(end, end, f", {_flow(entry, in_quotes=in_quotes)}")
    return _line_after(text, end, listed.start_mark.column, f"- {_flow(entry, in_quotes=in_quotes)}")


def _line_after(text: str, end: int, column: int, line: str) -> _Change:
    """A line of its own after the one on which something ends, and after its comment."""
    at = text.find("\n", end)
    at = len(text) if at < 0 else at
    at -= text[max(0, at - 1) : at] == "\r"
    return _Change(at, at, ("\r\n" if "\r\n" in text else "\n") + " " * column + line)


def _end(node: yaml.Node) -> int:
    """Where the last of a node's text ends; a block's own end is where the next begins, behind comments."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return _end(last[1] if isinstance(last, tuple) else last)
    return int(node.end_mark.index)


def _value(node: yaml.Node, key: str) -> yaml.Node | None:
    pairs = node.value if isinstance(node, yaml.MappingNode) else []
    return next((value for name, value in pairs if name.value == key), None)


def _flow(entry: dict[str, str], *, in_quotes: bool) -> str:
    """An entry on one line; the name is always quoted, for it may be any text."""
    pairs = (
        f"{_scalar(k, in_quotes=in_quotes)}: {_scalar(v, in_quotes=in_quotes or k == 'name')}" for k, v in entry.items()
    )
    return f"{{{', '.join(pairs)}}}"


def _scalar(text: str, *, in_quotes: bool) -> str:
    return quoted(text) if in_quotes else text
