"""From pydantic's errors to sentences a consultant can act on: key, line, what was found, what to write."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from fabricreport.errors import Problem
from fabricreport.located import KeyPath, Located, did_you_mean, dotted
from fabricreport.scenario.fields import Unit
from fabricreport.scenario.schema import TAG, Params
from fabricreport.scenario.uncertain import FORMS, Bounds

UNKNOWN_KEY, MISSING = "is not a known key", "is missing"
_A = {"int": "a whole number", "float": "a number", "str": "text", "bool": "true or false", "date": "a date"}
_BOUND = {
    "greater_than_equal": ("at least", "ge"),
    "less_than_equal": ("at most", "le"),
}


def problem_of(error: ErrorDetails, located: Located) -> Problem:
    """One pydantic error as a `Problem` at its place in the file."""
    path = path_of(error)
    given = error["input"]
    if error["type"] == "extra_forbidden":
        return _unknown_key(path, located)
    field = field_at(path)
    described = f" {field.description}" if field is not None and field.description else ""
    if error["type"] == "missing":
        return located.problem(path, MISSING, remedy=f"Add it.{described}")
    if given is None:
        remedy = f"Give it one, or delete the line if the default will do.{described}"
        return located.problem(path, "has no value", remedy=remedy)
    message, remedy, suggestion = _explain(error, field, given)
    return located.problem(
        path, message, value=_shown(given), remedy=remedy or described.strip(), suggestion=suggestion
    )


def without_misspelt(problems: list[Problem]) -> list[Problem]:
    """The problems without the keys told of as missing that an unknown one beside them was meant to be."""
    meant = {_beside(p.key, p.suggestion) for p in problems if p.message == UNKNOWN_KEY and p.suggestion}
    return [p for p in problems if p.message != MISSING or p.key not in meant]


def _beside(key: str, name: str) -> str:
    """The key of that name beside another one."""
    parent, dot, _ = key.rpartition(".")
    return f"{parent}{dot}{name}"


def path_of(error: ErrorDetails) -> KeyPath:
    """The error's location as keys of the file: union tags are pydantic's, not the user's."""
    return tuple(part for part in error["loc"] if not str(part).startswith(TAG))


def _explain(error: ErrorDetails, field: FieldInfo | None, given: Any) -> tuple[str, str, str]:
    kind, context = error["type"], error.get("ctx", {})
    choices = choices_of(field)
    if kind == "literal_error" or (choices and kind == "string_type"):
        remedy = f"Write one of {', '.join(map(str, choices))}."
        return "is not one of the values allowed here", remedy, did_you_mean(given, map(str, choices))
    if kind == "uncertain":
        reason = str(context.get("reason", ""))
        words = [str(w) for w in context.get("words", ())]
        remedy = _number_hint(given) or (f"Or write {' or '.join(words)}." if words else "")
        return reason, remedy, did_you_mean(given, words)
    if kind in _BOUND:
        word, key = _BOUND[kind]
        return f"must be {word} {context[key]:,.10g}", "", ""
    if kind in ("too_short", "too_long"):
        word, key = ("at least", "min_length") if kind == "too_short" else ("at most", "max_length")
        return f"must hold {word} {context[key]} item(s)", "", ""
    if kind in ("string_too_short", "string_too_long"):
        word, key = ("at least", "min_length") if kind == "string_too_short" else ("at most", "max_length")
        return f"must have {word} {context[key]} character(s)", "", ""
    if kind == "path":
        return error["msg"], "Put the file into that folder, and name it as it stands there.", ""
    if kind == "text":
        return error["msg"], "", ""
    return _EXPLAIN.get(kind, _wrong_type)(given, field)


def _wrong_number(given: Any, field: FieldInfo | None) -> tuple[str, str, str]:
    whole = field is not None and int in _arms(field)
    return f"must be {_A['int'] if whole else _A['float']}", _number_hint(given, whole=whole), ""


def _wrong_text(given: Any, field: FieldInfo | None) -> tuple[str, str, str]:
    return "must be text", "Put it in quotes." if isinstance(given, int | float) else "", ""


def _wrong_bool(given: Any, field: FieldInfo | None) -> tuple[str, str, str]:
    meant = {"yes": "true", "on": "true", "1": "true", "no": "false", "off": "false", "0": "false"}
    return "must be true or false", "", meant.get(str(given).lower(), "")


def _wrong_date(given: Any, field: FieldInfo | None) -> tuple[str, str, str]:
    return "must be a date of the calendar, YYYY-MM-DD", "For example 2026-11-20.", ""


def _wrong_section(given: Any, field: FieldInfo | None) -> tuple[str, str, str]:
    model = _model_of(field)
    keys = ", ".join(_names(model)) if model else ""
    return "must hold keys of its own", f"Write them indented below it: {keys}." if keys else "", ""


def _wrong_list(given: Any, field: FieldInfo | None) -> tuple[str, str, str]:
    return "must be a list", "Write each item on a line of its own after '- ', or [a, b].", ""


def _wrong_pattern(given: Any, field: FieldInfo | None) -> tuple[str, str, str]:
    return "is not written as it must be", "", ""


def _wrong_type(given: Any, field: FieldInfo | None) -> tuple[str, str, str]:
    return "is not a value that can stand here", "", ""


_EXPLAIN: dict[str, Callable[[Any, FieldInfo | None], tuple[str, str, str]]] = {
    "int_type": _wrong_number,
    "int_from_float": _wrong_number,
    "float_type": _wrong_number,
    "finite_number": _wrong_number,
    "string_type": _wrong_text,
    "bool_type": _wrong_bool,
    "date_type": _wrong_date,
    "iso_date": _wrong_date,
    "model_type": _wrong_section,
    "model_attributes_type": _wrong_section,
    "dict_type": _wrong_section,
    "tuple_type": _wrong_list,
    "string_pattern_mismatch": _wrong_pattern,
}


def _number_hint(given: Any, *, whole: bool = False) -> str:
    if isinstance(given, bool):
        return ""
    if whole and isinstance(given, float):
        return f"Write {given:.0f}." if given.is_integer() else "Write it without a fraction."
    if not isinstance(given, str):
        return ""
    if (percent := re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*%\s*", given)) is not None:
        return f"Write {float(percent[1]) / 100:g}: shares, not per cent."
    bare = re.sub(r"[\s_,']", "", given[:40])
    if re.fullmatch(r"0[xob][0-9a-fA-F]+", bare):
        return "Write it in decimal."
    if (number := re.fullmatch(r"[$€£]?([-+]?[0-9]+(?:\.[0-9]+)?)[a-zA-Z/$€£]*", bare)) is not None:
        return f"Write {number[1]} alone: no unit, no separators, no quotes."
    return ""


def _unknown_key(path: KeyPath, located: Located) -> Problem:
    *parent, key = path
    known = _names(_model_at(tuple(parent)))
    suggestion = did_you_mean(key, known)
    homes = [] if suggestion else _homes(str(key))
    if suggestion:
        return located.problem(path, UNKNOWN_KEY, remedy="Correct or delete it.", suggestion=suggestion)
    remedy = f"It belongs under {homes[0]}." if homes else f"Known here: {', '.join(known)}."
    return located.problem(path, UNKNOWN_KEY, remedy=remedy)


def _homes(key: str) -> list[str]:
    """Dotted names of the sections that do have this key."""
    out = [] if key not in Params.model_fields else ["the top level"]
    for name, field in Params.model_fields.items():
        model = _model_of(field)
        if model is not None and key in _names(model):
            out.append(dotted((name,)))
    return out


def _names(model: type[BaseModel] | None) -> list[str]:
    return [] if model is None else [field.alias or name for name, field in model.model_fields.items()]


def _model_at(path: KeyPath) -> type[BaseModel] | None:
    model: type[BaseModel] | None = Params
    for part in path:
        if isinstance(part, str):
            model = _model_of(_fields(model).get(part))
    return model


def unit_at(path: KeyPath) -> str:
    """The unit of the number at a key, as the schema states it; `text` for what is no number, or has another's unit."""
    return unit_of(field_at(path))


def unit_of(field: FieldInfo | None) -> str:
    """The unit of a field's number, as the schema states it; `text` where it states none."""
    found = [] if field is None else [m.unit for m in field.metadata if isinstance(m, Unit | Bounds)]
    return next((unit for unit in found if unit), "text")


def field_at(path: KeyPath) -> FieldInfo | None:
    """The schema's field at a key of the file; None where there is none."""
    names = [i for i, part in enumerate(path) if isinstance(part, str)]
    if not names:
        return None
    return _fields(_model_at(path[: names[-1]])).get(str(path[names[-1]]))


def _fields(model: type[BaseModel] | None) -> Mapping[str, FieldInfo]:
    return {} if model is None else {field.alias or name: field for name, field in model.model_fields.items()}


def _model_of(field: FieldInfo | None) -> type[BaseModel] | None:
    arms = [] if field is None else _arms(field)
    return next((arm for arm in arms if isinstance(arm, type) and issubclass(arm, BaseModel)), None)


def _arms(field: FieldInfo) -> list[Any]:
    """The types a field may hold, with unions, tuples and `Annotated` taken apart."""
    return list(_flatten(field.annotation))


def _flatten(annotation: Any) -> list[Any]:
    origin = get_origin(annotation)
    if origin is Annotated:
        return _flatten(get_args(annotation)[0])
    if origin in (Union, UnionType, tuple):
        return [arm for part in get_args(annotation) if part is not Ellipsis for arm in _flatten(part)]
    return [annotation]


def choices_of(field: FieldInfo | None) -> tuple[Any, ...]:
    """The values an enumerated field allows; empty for any other field."""
    if field is None or any(isinstance(m, Bounds) for m in field.metadata):
        return ()
    return tuple(v for arm in _arms(field) if get_origin(arm) is Literal for v in get_args(arm))


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k}: {_shown(v)}" for k, v in list(value.items())[:6]) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_shown(v) for v in value[:6]) + "]"
    if isinstance(value, str) and (not value or value[0] in "+-.0123456789"):
        return f"'{value}'"  # tells text from the number it looks like
    return str(value)


__all__ = ["FORMS", "choices_of", "field_at", "path_of", "problem_of", "unit_at", "unit_of"]
