"""The params file's JSON Schema, by which editors complete keys and underline mistakes."""

from __future__ import annotations

import json
from typing import Any

from fabricreport.books.messages import TAG
from fabricreport.scenario.schema import SHIPPED_OPTIONS, Params

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def json_schema() -> str:
    """The text of `params/params.schema.json`: sorted, indented, the same for the same package."""
    schema = Params.model_json_schema(by_alias=True)
    schema = _tidy(schema)
    schema["$schema"] = _DIALECT
    schema["title"] = "fabricreport params"
    schema["properties"]["options"]["items"] = {
        "anyOf": [{"enum": list(SHIPPED_OPTIONS)}, schema["properties"]["options"]["items"]]
    }
    return json.dumps(schema, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"


def _tidy(node: Any) -> Any:
    """Drop titles that only repeat the key, the tags of unions, and `null` for keys that may be left out."""
    if isinstance(node, list):
        return [_tidy(item) for item in node]
    if not isinstance(node, dict):
        return node
    out = {}
    for key, value in node.items():
        if key == "properties":
            out[key] = {name: _tidy(schema) for name, schema in value.items()}
        elif not (key == "title" and isinstance(value, str)) and key != "discriminator":
            out[key] = _tidy(value)
    if out.get("default", "") is None:
        del out["default"]
    return {key: value for key, value in out.items() if not str(key).startswith(TAG)}
