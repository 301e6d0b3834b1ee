"""Nodes as the JSON of a notebook's output, and back. What is read is not trusted: the classes' own annotations are the form.

A node is an object whose `t` names its kind. A field that holds its default is left out; any other must be there, of its
type, and nothing else beside it. What a memo fills is written for the printer of the PDF and never read.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import MISSING
from types import UnionType
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from fabricreport.blocks import nodes
from fabricreport.blocks.nodes import FIELD_NAMES, PLACED, Headline, Inline, Node, Top

KEYS = {"children": "c", "words": "v"}
"""Fields whose name is shorter in JSON."""
MOST_DEEP = 60
"""Nodes inside nodes: no prose nests a tenth as deep, and nothing that is read may exhaust the stack."""

_HINTS = {
    kind: get_type_hints(kind) for kind in vars(nodes).values() if isinstance(kind, type) and issubclass(kind, Node)
}
N = TypeVar("N", bound=Node)


class MalformedNode(ValueError):
    """JSON that is no node: what is wrong, and where in it (`figure.title[0].v`)."""


def to_json(node: Node) -> dict[str, Any]:
    """The node as JSON values, the kind as `t`."""
    made: dict[str, Any] = {"t": node.kind} if node.kind else {}
    for name in FIELD_NAMES[type(node)]:
        value = getattr(node, name)
        if value != getattr(type(node), name, MISSING):
            made[KEYS.get(name, name)] = _plain(value)
    if isinstance(node, Headline):
        made["data"]["numbers"] = made.pop("numbers")
    return made


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return value
    if isinstance(value, Node):
        return to_json(value)
    if isinstance(value, tuple | list):
        return [_plain(part) for part in value]
    return dict(value) if isinstance(value, Mapping) else value


def top_from_json(data: object) -> Top:
    """One node of a block; raises `MalformedNode`."""
    node: Top = _union(get_args(Top), data, "", 0)
    return node


def inline_from_json(data: object) -> Inline:
    """One piece of text; raises `MalformedNode`."""
    node: Inline = _union(get_args(Inline), data, "", 0)
    return node


def _union(kinds: tuple[Any, ...], data: object, where: str, depth: int) -> Any:
    """A node of the one among `kinds` that its `t` names."""
    said = data.get("t") if isinstance(data, Mapping) else None
    for kind in kinds:
        if isinstance(data, Mapping) and kind.kind == said:
            return _node(kind, data, f"{where}.{said}" if where else str(said), depth)
    raise _fault(where, f"is no {'/'.join(kind.kind for kind in kinds)}", data if said is None else said)


def _node(kind: type[N], data: Mapping[str, Any], where: str, depth: int) -> N:
    if depth > MOST_DEEP:
        raise MalformedNode(f"more than {MOST_DEEP} nodes stand inside each other")
    if kind is Headline:
        data = _headline(data, where)
    known = {KEYS.get(name, name): name for name in FIELD_NAMES[kind] if name not in PLACED}
    for name in data:
        if name not in known and not (name == "t" and kind.kind):
            raise _fault(where, "has an unknown field", name)
    given = {}
    for short, name in known.items():
        if short in data:
            given[name] = _value(_HINTS[kind][name], data[short], f"{where}.{short}", depth)
        elif not hasattr(kind, name):  # without a default
            raise _fault(where, "lacks a field", short)
    return kind(**given)


def _headline(data: Mapping[str, Any], where: str) -> Mapping[str, Any]:
    """A headline keeps its figures among its data."""
    inner = data.get("data")
    if not isinstance(inner, Mapping):
        raise _fault(where, "lacks a field", "data")
    rest = {name: value for name, value in inner.items() if name != "numbers"}
    return {**data, "data": rest, "numbers": inner.get("numbers", [])}


def _value(hint: Any, data: object, where: str, depth: int) -> Any:
    """The JSON value as the annotation wants it."""
    origin = get_origin(hint)
    if origin is tuple:
        if not isinstance(data, list | tuple):
            raise _fault(where, "is no list", data)
        part = get_args(hint)[0]
        return tuple(_value(part, one, f"{where}[{n}]", depth) for n, one in enumerate(data))
    if origin is Mapping:
        if not isinstance(data, Mapping):
            raise _fault(where, "is no object", data)
        return dict(data)
    if origin is Literal:
        if data not in get_args(hint):
            raise _fault(where, f"is none of {', '.join(get_args(hint))}", data)
        return data
    kinds = get_args(hint) if origin is UnionType else (hint,)
    if all(isinstance(kind, type) and issubclass(kind, Node) for kind in kinds):
        if kinds[0].kind:
            return _union(kinds, data, where, depth + 1)
        if not isinstance(data, Mapping):
            raise _fault(where, "is no object", data)
        return _node(kinds[0], data, where, depth + 1)
    return _scalar(kinds, data, where)


def _scalar(kinds: tuple[Any, ...], data: object, where: str) -> Any:
    """Text, a finite number or nothing, as far as `kinds` lets it."""
    fits = any(isinstance(data, float | int if kind is float else kind) for kind in kinds)
    if not fits or isinstance(data, bool) or (isinstance(data, float) and not math.isfinite(data)):
        raise _fault(where, "is of the wrong type", data)
    return data


def _fault(where: str, words: str, value: object) -> MalformedNode:
    return MalformedNode(f"{where or 'it'} {words}: {repr(value)[:60]}")
