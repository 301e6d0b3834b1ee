"""A value of the params that is not known exactly: how it may be written, and the frozen value it becomes.

3.0                               a fixed number                     -> float
{low: 2.0, mode: 3.0, high: 5.0}  PERT                               -> Uncertain
{p5: 2.0, p95: 5.0}               lognormal from its 90 % interval   -> Uncertain
{low: 2.0, high: 5.0}             anything between, uniform          -> Uncertain
"price:switch-qm9700"             whatever the book says             -> Reference
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from fabricreport.base.bounds import Bound, bound_of, whole
from fabricreport.base.text import visible
from fabricreport.base.uncertain import SHAPES, Uncertain

REFERENCE_PATTERN = r"^(?:price|evidence):[a-z0-9]+(?:[-.][a-z0-9]+)*$"
OVERRIDABLE_PATTERN = r"^(?:price|evidence|contested):[a-z0-9]+(?:[-.][a-z0-9]+)*$"
FORMS = "a number, {low, mode, high}, {p5, p95}, {low, high}, price:ID or evidence:ID"


@dataclass(frozen=True)
class Reference:
    """The id of a price or an evidence entry that holds the value."""

    kind: Literal["price", "evidence"]
    id: str

    def __str__(self) -> str:
        return f"{self.kind}:{self.id}"


UncertainValue = float | Uncertain | Reference
_DESCRIBED: Mapping[str, str] = {
    "pert": "Lowest, likeliest and highest value of a PERT distribution; low <= mode <= high.",
    "interval": "A lognormal given by its 5 % and 95 % quantiles; 0 < p5 < p95.",
    "range": "Anything between two bounds, all equally likely; low < high.",
}


def parse_uncertain(value: Any, bound: Bound | None = None) -> UncertainValue:
    """The frozen form of a written value; `ValueError` with a sentence for the user if it has none.

    `bound` holds for every number in it (a reference is bounded where it is looked up).
    """
    if isinstance(value, Uncertain | Reference):
        value = dump_uncertain(value)
    if isinstance(value, str):
        return _reference(value)
    if not isinstance(value, dict):
        return _number(value, "", bound)
    keys = {str(k) for k in value}
    for kind, names in SHAPES.items():
        if keys == set(names):
            numbers = [_number(value[name], name, bound) for name in names]
            _ordered(kind, names, numbers)
            return Uncertain.of(dict(zip(names, numbers, strict=True)))
    raise ValueError(f"these keys do not describe a range; write {FORMS}")


def dump_uncertain(value: UncertainValue | str) -> Any:
    """The value as it is written in a params file; the inverse of `parse_uncertain`."""
    if isinstance(value, Reference):
        return str(value)
    return value if isinstance(value, int | float | str) else value.written()


@dataclass(frozen=True)
class Bounds:
    """Pydantic metadata that makes a field uncertain: the unit of its numbers, and words it may hold instead.

    The unit's bounds hold, narrowed to `low` and `high`. Without a unit any finite number may stand there, since the
    entry it replaces has the unit. `units` are the units, as the ledger writes them, that an entry referred to may have.
    """

    unit: str = ""
    low: float | None = None
    high: float | None = None
    words: tuple[str, ...] = ()
    units: tuple[str, ...] = ()

    @property
    def bound(self) -> Bound | None:
        """What each number may be; None if only the books know."""
        return bound_of(self.unit).within(self.low, self.high) if self.unit else None

    def validate(self, value: Any) -> UncertainValue | str:
        """The frozen value, or one of the words; a `PydanticCustomError` with the reason otherwise."""
        if isinstance(value, str) and value in self.words:
            return value
        try:
            return parse_uncertain(value, self.bound)
        except ValueError as error:
            reason = {"reason": str(error), "words": self.words}
            raise PydanticCustomError("uncertain", "{reason}", reason) from None

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(
            self.validate, serialization=core_schema.plain_serializer_function_ser_schema(dump_uncertain)
        )

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        words = [{"enum": list(self.words)}] if self.words else []
        return {"anyOf": words + _json_forms(self.bound)}


def _json_forms(bound: Bound | None) -> list[dict[str, Any]]:
    number: dict[str, Any] = {"type": "number"}
    if bound is not None:
        number |= {"minimum": whole(bound.least), "maximum": whole(bound.high)}
    shapes: list[dict[str, Any]] = [
        {
            "type": "object",
            "description": _DESCRIBED[kind],
            "properties": dict.fromkeys(names, number),
            "required": list(names),
            "additionalProperties": False,
        }
        for kind, names in SHAPES.items()
    ]
    reference = {"type": "string", "pattern": REFERENCE_PATTERN, "description": Reference.__doc__}
    return [number, *shapes, reference]


def _reference(text: str) -> Reference:
    if not re.match(REFERENCE_PATTERN, text) or text.endswith("\n"):
        raise ValueError(f"'{visible(text, 40)}' is neither a number nor an id; write {FORMS}")
    kind, _, name = text.partition(":")
    return Reference("price" if kind == "price" else "evidence", name)


def _number(value: Any, name: str, bound: Bound | None) -> float:
    what = f"'{name}'" if name else "it"
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{what} must be a number" if name else f"write {FORMS}")
    if abs(value) > sys.float_info.max or not math.isfinite(value):  # a Python integer may be larger than any float
        raise ValueError(f"{what} must be a finite number")
    if bound is not None and (fault := bound.fault(value)):
        raise ValueError(f"{what} {fault}")
    return float(value)


def _ordered(kind: str, names: tuple[str, ...], numbers: list[float]) -> None:
    low, high = numbers[0], numbers[-1]
    if numbers != sorted(numbers):
        raise ValueError(f"the numbers must not fall: {' <= '.join(names)}")
    if low == high:
        raise ValueError(f"'{names[0]}' and '{names[-1]}' are equal; write the number alone if it is certain")
    if kind == "interval" and low <= 0:
        raise ValueError("'p5' must be above 0, since the interval is read as a lognormal; use {low, high} instead")
