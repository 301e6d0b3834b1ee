"""`fabricreport new`: a params file with every key, its meaning, its unit and its allowed values.

Made from the schema, so that it cannot lag behind it.
"""

from __future__ import annotations

import datetime as dt
import json
import textwrap
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from fabricreport.errors import InputError, Problem
from fabricreport.hostile_text import clean_text
from fabricreport.scenario.checks import slugify
from fabricreport.scenario.messages import choices_of
from fabricreport.scenario.schema import SHIPPED_OPTIONS, Params
from fabricreport.scenario.uncertain import FORMS, Bounds, dump_uncertain

_WIDTH = 108
_MAX_NAME = 120
_HEAD = """\
# yaml-language-server: $schema=./params.schema.json
# Params of one memo. Every key is shown; those with a '#' before them are optional and have no value yet.
# A line you delete falls back to its default, and the memo lists it among its assumptions.
"""
_START: dict[str, Any] = {
    "cluster.gpus": 1024,
    "workload.kind": "pretraining-dense",
    "workload.run_days": 30,
    "organisation.networking_maturity": "medium",
    "money.acquisition": "buy",
}
"""What a new file says where the schema has no default; the user is expected to change it."""


def new_params(name: str, as_of: dt.date) -> str:
    """The text of a commented params file for a client, which passes `load_params` as it stands."""
    text = clean_text(name.strip(), key="client.name", max_chars=_MAX_NAME, one_line=True)
    if not text:
        raise InputError(Problem("the client needs a name", key="client.name", remedy="For example: Acme Robotics."))
    given = {**_START, "client.name": text, "client.slug": slugify(text), "as_of": as_of}
    lines = [_HEAD]
    for key, field in Params.model_fields.items():
        lines += [*_entry(key, key, field, given, ""), ""]
    return "\n".join(lines).rstrip() + "\n"


def _entry(key: str, path: str, field: FieldInfo, given: dict[str, Any], indent: str) -> list[str]:
    model = field.annotation
    if isinstance(model, type) and issubclass(model, BaseModel):
        return [*_comment(field, indent), f"{indent}{key}:", *_section(model, path, given, indent + "  ")]
    value = _value(path, field, given)
    comment = _comment(field, indent)
    if value is None or value == ():
        example = (field.examples or [None])[0]
        return [*comment, f"{indent}# {key}: {_yaml(example)}"]
    return [*comment, f"{indent}{key}: {_yaml(value)}"]


def _section(model: type[BaseModel], path: str, given: dict[str, Any], indent: str) -> list[str]:
    lines = []
    for name, field in model.model_fields.items():
        key = field.alias or name
        lines += _entry(key, f"{path}.{key}", field, given, indent)
    return lines


def _value(path: str, field: FieldInfo, given: dict[str, Any]) -> Any:
    if path in given:
        return given[path]
    section, _, _ = path.rpartition(".")
    siblings = {k.rpartition(".")[2]: v for k, v in given.items() if k.rpartition(".")[0] == section}
    value = field.get_default(call_default_factory=True, validated_data=siblings)
    return None if value is PydanticUndefined else value


def _comment(field: FieldInfo, indent: str) -> list[str]:
    text = field.description or ""
    if len(choices := choices_of(field)) > 1:
        text += f" One of: {', '.join(map(str, choices))}."
    if any(isinstance(m, Bounds) for m in field.metadata):
        text += f" May be {FORMS}."
    if field.default == SHIPPED_OPTIONS:
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
