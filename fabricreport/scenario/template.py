"""A params file as text: a new one with every key (`fabricreport new`), and one edit that keeps every comment.

Only what the user alone can say is written as a value; every other key stands there as a comment with what is assumed
if it is left out. Made from the schema, so that it cannot lag behind it.

The edit is made where the parser says that the value stands. What it makes is read again: unless it is the same params
with that one key changed, nothing is edited and the line to write by hand is told.
"""

from __future__ import annotations

import copy
import datetime as dt
import json
import tempfile
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from fabricreport.base.errors import InputError, Problem
from fabricreport.base.text import clean_text
from fabricreport.base.yaml_files import quoted
from fabricreport.books.messages import choices_of
from fabricreport.scenario.checks import new_slug
from fabricreport.scenario.defaults import Assumed, assumptions, value_at
from fabricreport.scenario.files import ParamsFile, load_params_file, params_from
from fabricreport.scenario.schema import SHIPPED_OPTIONS, Params
from fabricreport.scenario.uncertain import FORMS, Bounds, dump_uncertain

_WIDTH = 108
_MAX_NAME = 120
_SCHEMA = "# yaml-language-server: $schema=./params.schema.json"
_HEAD = """\
# Params of one memo. The lines without a '#' are examples of what only you can say: correct them first.
# Every other key is a comment that shows what is assumed if you leave it out; take the '#' away to say it yourself
# (that of its section too). The memo lists each key left out, with what it assumed.
"""
_START: dict[str, Any] = {
    "cluster.gpus": 1024,
    "workload.kind": "pretraining-dense",
    "workload.run_days": 30,
    "organisation.networking_maturity": "medium",
    "money.acquisition": "buy",
}
"""What a new file says where only the user can; the user is expected to change it."""


def new_params(name: str, as_of: dt.date, *, has_schema: bool = False) -> str:
    """The text of a commented params file for a client, which passes `load_params` as it stands.

    `has_schema`: params.schema.json, by which an editor completes and checks the file, lies beside it.
    """
    text = clean_text(name.strip(), key="client.name", max_chars=_MAX_NAME, one_line=True)
    if not text:
        raise InputError(Problem("the client needs a name", key="client.name", remedy="For example: Acme Robotics."))
    given = {"client.name": text, "client.slug": new_slug(text), "as_of": as_of.isoformat(), **_START}
    params = params_from(_nested(given))
    silent = {a.key: a for a in assumptions(params)}
    lines = [_SCHEMA, _HEAD] if has_schema else [_HEAD]
    for key, field in Params.model_fields.items():
        lines += [*_entry(key, field, params, silent), ""]
    return "\n".join(lines).rstrip() + "\n"


def _nested(given: dict[str, Any]) -> dict[str, Any]:
    data: dict[str, Any] = {}
    for path, value in given.items():
        section, _, key = path.rpartition(".")
        (data.setdefault(section, {}) if section else data)[key] = value
    return data


def _entry(path: str, field: FieldInfo, params: Params, silent: dict[str, Assumed], indent: str = "") -> list[str]:
    key = path.rpartition(".")[2]
    model = field.annotation
    if isinstance(model, type) and issubclass(model, BaseModel):
        inner = [(f"{path}.{f.alias or name}", f) for name, f in model.model_fields.items()]
        head = f"# {key}:" if all(p in silent for p, _ in inner) else f"{key}:"
        lines = [line for p, f in inner for line in _entry(p, f, params, silent, indent + "  ")]
        return [*_comment(field, indent), f"{indent}{head}", *lines]
    if path in silent:
        return [*_comment(field, indent), f"{indent}# {key}: {_left_out(silent[path], field, value_at(params, path))}"]
    return [*_comment(field, indent), f"{indent}{key}: {_yaml(value_at(params, path))}"]


def _left_out(assumed: Assumed, field: FieldInfo, value: Any) -> str:
    """The line of a key that is left out: the assumed value, or an example of one where nothing is assumed."""
    *others, last = assumed.follows_from or ("",)
    follows = f", from {' and '.join(filter(None, [', '.join(others), last]))}" if last else ""
    if value is None or value == ():
        if assumed.derived:
            return f"{assumed.text}   # assumed if left out{follows}"
        return f"{_yaml((field.examples or [None])[0])}   # an example; if left out{follows}: {assumed.text}"
    return f"{_yaml(value)}   # assumed if left out{follows}"


def _comment(field: FieldInfo, indent: str) -> list[str]:
    text = field.description or ""
    if len(choices := choices_of(field)) > 1:
        text += f" One of: {', '.join(map(str, choices))}."
    if any(isinstance(m, Bounds) for m in field.metadata):
        text += f" May be {FORMS}."
    if field is Params.model_fields["options"]:
        text += f" Shipped: {', '.join(SHIPPED_OPTIONS)}."
    return textwrap.wrap(text, _WIDTH, initial_indent=f"{indent}# ", subsequent_indent=f"{indent}# ")


def _yaml(value: Any) -> str:
    """One flow-style YAML value; text in double quotes unless it is a plain word."""
    if isinstance(value, dt.date):
        return value.isoformat()
    if isinstance(value, bool) or value is None:
        return json.dumps(value, allow_nan=False)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k}: {_yaml(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_yaml(v) for v in value) + "]"
    if isinstance(value, int | float):
        return f"{value:g}" if isinstance(value, float) and not value.is_integer() else str(int(value))
    if isinstance(value, str):
        plain = value.replace("-", "").replace("_", "")
        word = plain.isalnum() and plain.isascii() and plain[:1].isalpha() and value.lower() not in _READ_OTHERWISE
        return value if word else json.dumps(value, ensure_ascii=False, allow_nan=False)
    return _yaml(dump_uncertain(value))


_READ_OTHERWISE = {"true", "false", "null", "yes", "no", "on", "off", "y", "n"}


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


def with_entries(loaded: ParamsFile, entries: Sequence[tuple[str, Mapping[str, Any]]]) -> Edit:
    """The params with these entries in their lists, each in the place of the one with its id; `InputError` if none may have them."""
    known = {key: [there["id"] for there in loaded.located.data.get(key) or []] for key, _ in entries}
    placed = [(key, known[key].index(e["id"]) if e["id"] in known[key] else None, e) for key, e in entries]
    return _filed(loaded, placed, "; ".join(f"in `{key}`:  - {_flow(e, in_quotes=False)}" for key, e in entries))


def name_answers(loaded: ParamsFile, provider: str, file: str, folded: Callable[[str], str]) -> Edit:
    """The text of the params in which the entry of `provider`, new or not, names `file`, which is there; `folded` makes names
    comparable."""
    names = [folded(p.name) for p in loaded.params.providers]
    if folded(provider) not in names:
        entry = {"name": provider, "answers": file}
        return _filed(loaded, [(_KEY, None, entry)], f"add to `{_KEY}`:  - {_flow(entry, in_quotes=False)}")
    index = names.index(folded(provider))
    line = f"line {loaded.located.line_of((_KEY, index))}, beside the name of {provider}:  answers: {file}"
    return _filed(loaded, [(_KEY, index, {"answers": file})], line)


def _filed(loaded: ParamsFile, entries: Sequence[tuple[str, int | None, Mapping[str, Any]]], line: str) -> Edit:
    """The text in which items of lists have these values, or new items (None); `line` where it is laid out otherwise."""
    wanted, text = copy.deepcopy(loaded.located.data), loaded.path.read_bytes().decode("utf-8")
    try:
        for key, index, entry in entries:
            listed = wanted[key] = wanted.get(key) or []
            listed.append({**entry}) if index is None else listed[index].update(entry)
            for part in [entry] if index is None else [{name: value} for name, value in entry.items()]:
                change = _change(text, key, index, part)
                text = text if change is None else text[: change.start] + change.text + text[change.end :]
    except (yaml.YAMLError, _NoPlaceError):
        return Edit(None, line)
    params_from(wanted, extra_options=loaded.params.options)
    return Edit(text if _reads_as(text, wanted, loaded.folder) else None, line)


def name_extra(loaded: ParamsFile, file: str) -> Edit:
    """The text of the params with a notebook of the client's own named at its end; `extra` that is there is mended by hand."""
    line = f"extra: [{', '.join((*loaded.params.extra, file))}]"
    edited = f"{loaded.path.read_bytes().decode('utf-8').rstrip()}\n{line}\n"
    wanted = {**loaded.located.data, "extra": [file]}
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


def _change(text: str, key: str, index: int | None, entry: Mapping[str, Any]) -> _Change | None:
    """Where the text has to change, and to what; None if it says so already. Of an item that is there `entry` is one value."""
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    if not isinstance(root, yaml.MappingNode) or not root.value:
        raise _NoPlaceError
    in_quotes = root.value[0][0].style == '"'
    listed = _value(root, key)
    if index is not None:
        if not isinstance(listed, yaml.SequenceNode):
            raise _NoPlaceError
        item = listed.value[index]
        ((name, value),) = entry.items()
        said, there = _written(name, value, in_quotes=in_quotes), _value(item, name)
        if there is None:
            return _added_key(text, item, name, said, in_quotes=in_quotes)
        if there.value == value:
            return None
        start, end = there.start_mark.index, _end(there)
        return _Change(start, end, (" " if start == end else "") + said)
    if listed is None:
        return _added_key(text, root, key, f"[{_flow(entry, in_quotes=in_quotes)}]", in_quotes=in_quotes)
    if isinstance(listed, yaml.SequenceNode) and listed.value:
        return _added_item(text, listed, entry, in_quotes=in_quotes)
    return _Change(listed.start_mark.index, listed.end_mark.index, f"[{_flow(entry, in_quotes=in_quotes)}]")


def _added_key(text: str, mapping: yaml.MappingNode, key: str, value: str, *, in_quotes: bool) -> _Change:
    """A key more at the end of a mapping, its value as it is written."""
    pair = f"{_scalar(key, in_quotes=in_quotes)}: {value}"
    if mapping.flow_style:
        end = _end(mapping.value[-1][1])
        return _Change(end, end, f", {pair}")
    return _line_after(text, _end(mapping.value[-1][1]), mapping.start_mark.column, pair)


def _added_item(text: str, listed: yaml.SequenceNode, entry: Mapping[str, Any], *, in_quotes: bool) -> _Change:
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


def _flow(entry: Mapping[str, Any], *, in_quotes: bool) -> str:
    """An entry on one line."""
    pairs = (f"{_scalar(k, in_quotes=in_quotes)}: {_written(k, v, in_quotes=in_quotes)}" for k, v in entry.items())
    return f"{{{', '.join(pairs)}}}"


def _written(key: str, value: Any, *, in_quotes: bool) -> str:
    """A value in one line; text that may be any is always quoted."""
    if isinstance(value, Mapping):
        return _flow(value, in_quotes=in_quotes)
    if isinstance(value, str):
        return _scalar(value, in_quotes=in_quotes or key not in ("answers", "id", "until"))
    return str(int(value)) if float(value).is_integer() else repr(value)


def _scalar(text: str, *, in_quotes: bool) -> str:
    return quoted(text) if in_quotes else text
