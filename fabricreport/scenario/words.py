"""A value of the params as a reader is told it: with its unit, a range as a range, a list as a list, never as code."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Any

from pydantic import BaseModel

from fabricreport import formats
from fabricreport.books.messages import unit_of
from fabricreport.located import undotted
from fabricreport.scenario.checks import client_slug
from fabricreport.scenario.defaults import IN_WORDS, unit_at, value_at
from fabricreport.scenario.offers import AddOn, Offer, OfferFile, Quoted, Rung
from fabricreport.scenario.schema import JobSize, Override, Params, Provider, Stage
from fabricreport.scenario.uncertain import Reference
from fabricreport.uncertain import Uncertain

CURRENCY = "USD"
"""The currency of every amount in the params, whatever the memo's."""
_DIGITS, _DIGITS_OF_RANGE = 6, 4
_NONE = "none"


def value_in_force(params: Params, key: str) -> Any:
    """The value at a dotted key; where none was given and other keys give one, that."""
    found = value_at(params, key)
    if found is not None:
        return found
    if key == "client.slug":
        return client_slug(params)
    return params.cluster.ports_per_node if key == "cluster.nic_ports_per_node" else None


def param_text(params: Params, key: str) -> str:
    """The value at a dotted key (`money.gpu_hour_value`, `providers[0].name`) as a reader is told it."""
    value = value_in_force(params, key)
    if value is None or value == ():
        return IN_WORDS.get(key, _NONE)
    return in_words(value, unit_at(undotted(key)))


def in_words(value: Any, unit: str) -> str:
    """A value of any form the schema allows, its numbers in `unit` (`text`: bare)."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return _number(value, unit, _DIGITS)
    if isinstance(value, Uncertain):
        return _range(value, unit)
    if isinstance(value, Reference):
        return f"what {value} says"
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, tuple):
        return ("; " if any(isinstance(v, BaseModel) for v in value) else ", ").join(in_words(v, unit) for v in value)
    if isinstance(value, BaseModel):
        return _entry(value)
    return _NONE if value is None else str(value)


def _number(value: float, unit: str, digits: int) -> str:
    return formats.plain_number(value, digits) if unit == "text" else formats.write(value, unit, digits, CURRENCY)


def _range(value: Uncertain, unit: str) -> str:
    ends = f"{_number(value.low, unit, _DIGITS_OF_RANGE)} to {_number(value.high, unit, _DIGITS_OF_RANGE)}"
    if value.kind == "pert":
        return f"{ends}, most likely {_number(value.mode, unit, _DIGITS_OF_RANGE)}"
    return f"{ends} (P5–P95)" if value.kind == "interval" else ends


def _entry(value: BaseModel) -> str:
    if isinstance(value, Stage):
        return f"{in_words(value.gpus, 'gpus')} from month {value.month} on"
    if isinstance(value, JobSize):
        return f"{in_words(value.share, 'share')} of the time in jobs of {in_words(value.gpus, 'gpus')}"
    if isinstance(value, Provider):
        return value.name
    if isinstance(value, Offer):
        return f"{value.seller} of {value.date.isoformat()}"
    if isinstance(value, OfferFile):
        return str(value.file)
    if isinstance(value, Rung):
        return f"{in_words(value.price_per_gpu_hour, 'text')} for {in_words(value.months, 'month')}"
    if isinstance(value, AddOn):
        return value.name
    if isinstance(value, Quoted):
        return f"{value.item} at {in_words(value.price, 'text')}"
    if isinstance(value, Override):
        return f"{value.id} is {in_words(value.value, 'text')}, by {value.who}, until {value.until.isoformat()}"
    return ", ".join(_fields(value))


def _fields(model: BaseModel) -> Iterator[str]:
    for name, field in model.__class__.model_fields.items():
        value = getattr(model, name)
        yield f"{(field.alias or name).replace('_', ' ')} {_NONE if value == () else in_words(value, unit_of(field))}"
