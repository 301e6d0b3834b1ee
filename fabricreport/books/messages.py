"""From pydantic's errors to sentences a person can act on: key, line, what was found, what to write.

A schema is named by its type: a `Section` of the params, a dataclass of a book, or a list or mapping of these.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING as NO_DEFAULT
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from fabricreport.base.errors import Problem
from fabricreport.base.formats import LONGEST, meanings, number_remedy
from fabricreport.base.locations import KeyPath, Located, did_you_mean, dotted
from fabricreport.books.fields import FAULTS, UNKNOWN, UNWRITTEN, Fault, Keyed

TAG = "tag:"
"""Prefix of union tags, which pydantic puts into an error's location; it is taken out again here."""
UNKNOWN_KEY, MISSING = "is not a known key", "is missing"
_UNKNOWN_TYPES = (UNKNOWN, "unexpected_keyword_argument")
NO_REMEDIES: Mapping[str, str] = {}
_WITH_UNIT = re.compile(r"[$€£]?([-+,.\d\s_'’]*\d)(?!\s*(?:[kK]|M|[Mm]io|million|thousand)\b)[\s$€£/a-zA-Z]*")
"""A number and its unit; not one of thousands, of which the digits alone are another number."""
_A = {"int": "a whole number", "float": "a number", "str": "text", "bool": "true or false", "date": "a date"}
_BOUND = {
    "greater_than_equal": ("at least", "ge"),
    "less_than_equal": ("at most", "le"),
}


def problems_of(
    error: ErrorDetails, located: Located, schema: Any, at: KeyPath = (), remedies: Mapping[str, str] = NO_REMEDIES
) -> Iterator[Problem]:
    """One pydantic error as `Problem`s at their places in the file; the schema stands at the key `at` of it.

    `remedies`: by type of error, what to do in a file that is not mended as YAML is; `{key}` of it is filled in.
    """
    path = path_of(error)
    if error["type"] == "too_short" and len(error["input"]) >= error["ctx"]["min_length"]:
        return  # the items that are at fault were not counted; each is told for itself
    if error["type"] == FAULTS:
        for fault in error["ctx"]["faults"]:
            yield _told(Fault(*fault), path, error["input"], located, schema, at)
    else:
        found = _problem_of(error, path, located, schema, at)
        mended = remedies.get(error["type"], "").format(key=path[-1] if path else "")
        yield replace(found, remedy=mended or found.remedy)


def _told(fault: Fault, path: KeyPath, given: Any, located: Located, schema: Any, at: KeyPath) -> Problem:
    for part in fault.at:
        inside = (isinstance(given, dict) and part in given) or (isinstance(given, list) and isinstance(part, int))
        given = given[part] if inside else None
    shown = "" if given in (None, []) or isinstance(given, dict) else _shown(given)
    if fault.shown is not None:
        shown = fault.shown
    field = field_at(schema, (*path, *fault.at))
    remedy = fault.remedy or (field.description if field is not None and field.description else "")
    place = (*at, *path, *fault.at)
    return located.problem(place, fault.message, value=shown, remedy=remedy, suggestion=fault.suggestion)


def _problem_of(error: ErrorDetails, path: KeyPath, located: Located, schema: Any, at: KeyPath) -> Problem:
    given = error["input"]
    if error["type"] in _UNKNOWN_TYPES:
        return _unknown_key(path, located, schema, at)
    field = field_at(schema, path)
    described = f" {field.description}" if field is not None and field.description else ""
    place = (*at, *path)
    if error["type"] == "missing":
        return located.problem(place, MISSING, remedy=f"Add it.{described}")
    if given is None:
        needed = field is not None and field.is_required()
        remedy = "Give it one." if needed else "Give it one, or delete the line if the default will do."
        return located.problem(place, "has no value", remedy=f"{remedy}{described}")
    message, remedy, suggestion = _explain(error, field or FieldInfo(annotation=schema), given)
    if not place:
        remedy = remedy.replace("Write them indented below it: ", "Begin with these keys: ")
    return located.problem(
        place, message, value=_shown(given), remedy=remedy or described.strip(), suggestion=suggestion
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
    """The error's location as keys of the file: union tags, and the mark of a key at fault, are pydantic's."""
    return tuple(part for part in error["loc"] if not str(part).startswith(TAG) and part != "[key]")


def _explain(error: ErrorDetails, field: FieldInfo | None, given: Any) -> tuple[str, str, str]:
    kind, context = error["type"], error.get("ctx", {})
    choices = choices_of(field)
    if kind in ("literal_error", "enum") or (choices and kind == "string_type"):
        remedy = f"Write one of {', '.join(map(str, choices))}."
        return "is not one of the values allowed here", remedy, did_you_mean(given, map(str, choices))
    if kind == "uncertain":
        reason = str(context.get("reason", ""))
        words = [str(w) for w in context.get("words", ())]
        ends = given.values() if isinstance(given, Mapping) else (given,)
        remedy = next(filter(None, map(_number_hint, ends)), "") or (f"Or write {' or '.join(words)}." if words else "")
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
    whole = field is not None and int in _flatten(field.annotation)
    return f"must be {_A['int'] if whole else _A['float']}", _number_hint(given, whole=whole), ""


def _wrong_text(given: Any, field: FieldInfo | None) -> tuple[str, str, str]:
    return "must be text", "Put it in quotes." if isinstance(given, int | float) else "", ""


def _wrong_bool(given: Any, field: FieldInfo | None) -> tuple[str, str, str]:
    meant = {"yes": "true", "on": "true", "1": "true", "no": "false", "off": "false", "0": "false"}
    return "must be true or false", "", meant.get(str(given).lower(), "")


def _wrong_date(given: Any, field: FieldInfo | None) -> tuple[str, str, str]:
    return "must be a date of the calendar, YYYY-MM-DD", "For example 2026-11-20.", ""


def _wrong_section(given: Any, field: FieldInfo | None) -> tuple[str, str, str]:
    keys = ", ".join(_names(_schema_in(field.annotation))) if field else ""
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
    "date_parsing": _wrong_date,
    "date_from_datetime_parsing": _wrong_date,
    "iso_date": _wrong_date,
    "model_type": _wrong_section,
    "model_attributes_type": _wrong_section,
    "dict_type": _wrong_section,
    "dataclass_type": _wrong_section,
    "tuple_type": _wrong_list,
    "list_type": _wrong_list,
    "string_pattern_mismatch": _wrong_pattern,
}


def _number_hint(given: Any, *, whole: bool = False) -> str:
    if isinstance(given, bool):
        return ""
    if whole and isinstance(given, float):
        return f"Write {given:.0f}." if given.is_integer() else "Write it without a fraction."
    if not isinstance(given, str) or len(given) > LONGEST:
        return ""
    text = given.strip()
    if text.endswith("%"):
        shares = [f"{float(meant) / 100:g}" for meant in meanings(text[:-1])]
        if len(shares) > 1:
            return f"Is it {' or '.join(shares)}? Write the one that is meant: shares, not per cent."
        return f"Write {shares[0]}: shares, not per cent." if shares else ""
    if re.fullmatch(r"0[xob][0-9a-fA-F]+", text):
        return "Write it in decimal."
    bare = _WITH_UNIT.fullmatch(text)
    return number_remedy(bare[1], "no unit, no separators, no quotes", whole=whole) if bare else ""


def _unknown_key(path: KeyPath, located: Located, schema: Any, at: KeyPath) -> Problem:
    *parent, key = path
    place, known = (*at, *path), _names(_model_at(schema, tuple(parent)))
    suggestion = did_you_mean(key, known)
    homes = [] if suggestion else _homes(str(key), schema)
    if suggestion:
        return located.problem(place, UNKNOWN_KEY, remedy="Correct or delete it.", suggestion=suggestion)
    remedy = f"It belongs under {homes[0]}." if homes else f"Known here: {', '.join(known)}."
    return located.problem(place, UNKNOWN_KEY, remedy=remedy)


def _homes(key: str, schema: Any) -> list[str]:
    """Dotted names of the parts of a schema that do have this key."""
    known = _fields(_schema_in(schema))
    out = [] if key not in known else ["the top level"]
    for name, field in known.items():
        if key in _names(_schema_in(field.annotation)):
            out.append(dotted((name,)))
    return out


def unit_of(field: FieldInfo | None) -> str:
    """The unit of a field's number, as the schema states it; `text` where it states none."""
    found = [] if field is None else [getattr(m, "unit", "") for m in field.metadata]
    return next((unit for unit in found if unit), "text")


def field_at(schema: Any, path: KeyPath) -> FieldInfo | None:
    """The field of a schema at a key of the file; None where there is none."""
    while path and not isinstance(path[-1], str):
        path = path[:-1]
    return _fields(_model_at(schema, path[:-1])).get(str(path[-1])) if path else None


def _model_at(schema: Any, path: KeyPath) -> Any:
    """The class whose keys stand at a path: through fields by name, through lists by number, through mappings by any key."""
    found = schema
    for part in path:
        held = _held_in(found)
        if isinstance(part, int) or held is not None:
            found = held or found
        else:
            field = _fields(_schema_in(found)).get(part)
            found = None if field is None else _listed(field)
    return _schema_in(found)


def _listed(field: FieldInfo) -> Any:
    """What stands in the file at a field, which may be another schema than that of the values made of it."""
    return next((m.row for m in field.metadata if isinstance(m, Keyed) and m.row), field.annotation)


def _held_in(annotation: Any) -> Any:
    """What a mapping holds under each of its keys; None for what is no mapping."""
    mappings = (
        arm
        for arm in _unions(annotation)
        if isinstance(origin := get_origin(arm), type) and issubclass(origin, Mapping)
    )
    found = next(mappings, None)
    return None if found is None else get_args(found)[1]


def _schema_in(annotation: Any) -> Any:
    """The first class with keys of its own that an annotation may hold."""
    return next((arm for arm in _flatten(annotation) if _has_keys(arm)), None)


def _has_keys(kind: Any) -> bool:
    if not isinstance(kind, type):
        return False
    return issubclass(kind, BaseModel) or (is_dataclass(kind) and hasattr(kind, "__pydantic_config__"))


def _names(model: Any) -> list[str]:
    return list(_fields(model))


@cache
def _fields(model: Any) -> Mapping[str, FieldInfo]:
    """The fields of a class by the keys of the file."""
    if model is None:
        return {}
    if issubclass(model, BaseModel):
        known = dict(model.model_fields)
    else:
        hints = get_type_hints(model, include_extras=True)
        known = {f.name: FieldInfo.from_annotation(hints[f.name]) for f in fields(model) if f.init}
        for f in fields(model):
            if f.default is not NO_DEFAULT or f.default_factory is not NO_DEFAULT:
                known[f.name].default = None
    return {field.alias or name: field for name, field in known.items() if UNWRITTEN not in field.metadata}


def _unions(annotation: Any) -> list[Any]:
    """The types that an annotation may be, with unions and `Annotated` taken apart."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return _unions(get_args(annotation)[0])
    if origin in (Union, UnionType):
        return [arm for part in get_args(annotation) for arm in _unions(part)]
    return [] if annotation is NoneType else [annotation]


def _flatten(annotation: Any) -> list[Any]:
    """The same, with lists taken apart too."""
    found = []
    for arm in _unions(annotation):
        listed = get_origin(arm) in (tuple, list)
        parts = [part for part in get_args(arm) if part is not Ellipsis] if listed else []
        found += [inner for part in parts for inner in _flatten(part)] if listed else [arm]
    return found


def choices_of(field: FieldInfo | None) -> tuple[Any, ...]:
    """The values an enumerated field allows; empty for any other field, one that may hold a number beside words too."""
    arms = [] if field is None else _flatten(field.annotation)
    if {int, float} & set(arms):
        return ()
    listed = [v for arm in arms if get_origin(arm) is Literal for v in get_args(arm)]
    kinds = [arm for arm in arms if isinstance(arm, type) and issubclass(arm, Enum)]
    return (*listed, *(str(member.value) for kind in kinds for member in kind))


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
