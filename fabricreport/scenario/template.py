"""`fabricreport new`: a params file with every key, its meaning, its unit and its allowed values.

Only what the user alone can say is written as a value; every other key stands there as a comment with what is assumed
if it is left out. Made from the schema, so that it cannot lag behind it.
"""

from __future__ import annotations

import datetime as dt
import json
import textwrap
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from fabricreport.books.messages import choices_of
from fabricreport.errors import InputError, Problem
from fabricreport.hostile_text import clean_text
from fabricreport.scenario.checks import new_slug
from fabricreport.scenario.defaults import Assumed, assumptions, value_at
from fabricreport.scenario.load import params_from
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
