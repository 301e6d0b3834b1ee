"""What the user did not say and what stands in its place; and a value of the params as a reader is told it.

A default is either a value of the schema, or follows from another key by a rule; both are assumptions, and the memo
lists each of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from pydantic import BaseModel

from fabricreport.base import formats
from fabricreport.base.locations import KeyPath, dotted, undotted
from fabricreport.base.uncertain import Uncertain
from fabricreport.books.messages import field_at, unit_of
from fabricreport.scenario.candidates import AddOn, Offer, OfferFile, Quoted, Rung
from fabricreport.scenario.checks import client_slug
from fabricreport.scenario.schema import JobSize, Override, Params, Provider, Stage
from fabricreport.scenario.uncertain import Reference

FOLLOWS_FROM: Mapping[str, tuple[str, ...]] = {
    "client.slug": ("client.name",),
    "cluster.vendor": ("cluster.gpu",),
    "cluster.gpus_per_node": ("cluster.gpu",),
    "cluster.links_per_gpu": ("cluster.gpu",),
    "cluster.link_gbits_per_s": ("cluster.gpu",),
    "cluster.nic_ports_per_node": ("cluster.links_per_gpu", "cluster.gpus_per_node"),
    "cluster.site_tbits_per_s": (
        "cluster.sites",
        "cluster.links_per_gpu",
        "cluster.link_gbits_per_s",
        "cluster.oversubscription",
    ),
    "workload.tokens_billion": ("workload.run_days",),
    "workload.model_parameters_billion": ("cluster.gpus",),
    "workload.run_days": ("workload.tokens_billion",),
    "workload.jobs": ("workload.kind", "cluster.tenancy", "money.acquisition"),
    "workload.latency_variance_bound": ("workload.kind",),
    "organisation.qos_expertise": ("organisation.networking_maturity",),
    "money.gpu_hour_value": ("money.acquisition",),
    "options": ("cluster.gpu", "cluster.link_gbits_per_s", "cluster.gpus", "workload.kind", "as_of"),
    "question": ("money.acquisition", "cluster.trajectory"),
}
"""Keys whose default follows from other keys; every other default is the schema's own value."""

IN_WORDS: Mapping[str, str] = {
    "memo.subject": "none: the memo goes by its first heading",
    **dict.fromkeys(("brand", "brand.colours"), "none: the look is ours"),
    **dict.fromkeys(("brand.logo", "brand.footer"), "none"),
    "cluster.trajectory": "none: the cluster keeps its size",
    "cluster.site_tbits_per_s": "the sites' share of what their GPUs send",
    "cluster.server_age_months": "new servers",
    "workload.tokens_billion": "as many as the run's length gives",
    "workload.run_days": "as long as the tokens take",
    "workload.checkpoint_minutes": "the optimum for what stops a job on any network",
    "workload.calls_per_step": "a range of ours where a simulation runs",
    "workload.mpi_share": "what follows from ranges of ours where a simulation runs",
    "workload.jobs": "one job on all GPUs, or on a shared cluster the sizes published for one",
    "schedule.production_by": "none: no date binds",
    "organisation.beyond_money": "no order: it breaks no tie",
    "money.materiality_usd": "by the rule: a share of what the two bills differ by line by line, the noise of their quotes, or a share of the rent or the network",
    "providers": "none named",
    "offers": "none: published prices stand in",
    "measurements": "none",
    "elicited": "none: the ranges are our assumptions",
    **dict.fromkeys(("overrides", "adopted", "extra"), "none"),
}
"""What an absent value means, where the schema has none to show."""


@dataclass(frozen=True)
class Assumed:
    """A key that was not given: what is assumed in its place, and the keys that follows from (none: a plain default).

    `derived`: the schema has no value, but the other keys give one.
    """

    key: str
    text: str
    follows_from: tuple[str, ...] = ()
    derived: bool = False

    @property
    def meaning(self) -> str:
        """What the key is, in the first words that the schema describes it with."""
        field = field_at(Params, undotted(self.key))
        return re.split(r"[.:;](?:\s|$)", (field and field.description) or self.key)[0]


def defaulted_keys(params: Params) -> tuple[str, ...]:
    """Dotted keys that the user did not give, in schema order, those without a value among them."""
    return tuple(_defaulted(params, (), given=True))


def is_given(params: Params, key: str) -> bool:
    """Whether the user gave the value at a dotted key such as `cluster.gpu`, or an item of it (`providers[0].name`)."""
    return _found(params, undotted(key.partition("[")[0]))[1]


def assumptions(params: Params) -> tuple[Assumed, ...]:
    """Every key that was not given, with what is assumed and from what."""
    derived = _derived(params)
    return tuple(
        Assumed(
            key,
            str(derived[key]) if key in derived else _text(key, value_at(params, key)),
            FOLLOWS_FROM.get(key, ()),
            derived=key in derived,
        )
        for key in defaulted_keys(params)
    )


def _derived(params: Params) -> dict[str, Any]:
    """What other keys give for those of which the schema has no value."""
    return {
        "client.slug": client_slug(params),
        "cluster.nic_ports_per_node": params.cluster.ports_per_node,
        "question": params.asked.value,
    }


def _defaulted(model: BaseModel, path: KeyPath, *, given: bool) -> Iterator[str]:
    """Keys of a model that were not given."""
    for name, field in model.__class__.model_fields.items():
        value = getattr(model, name)
        here = (*path, field.alias or name)
        stated = given and name in model.model_fields_set
        if isinstance(value, BaseModel):
            yield from _defaulted(value, here, given=stated)
        elif not stated:
            yield dotted(here)


def _text(key: str, value: Any) -> str:
    if value is None or value == ():
        return IN_WORDS[key]
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return f"{value:,g}" if isinstance(value, float) else str(value)


def value_at(params: Params, key: str) -> Any:
    """The value at a dotted key such as `cluster.trajectory[1].gpus` or `memo.from`."""
    return _found(params, undotted(key))[0]


def _found(params: Params, path: KeyPath) -> tuple[Any, bool]:
    """The value at a key, and whether the user gave it, or the list that it is in."""
    found: Any = params
    given, listed = True, False
    for part in path:
        if isinstance(part, int):
            found, listed = found[part], True
        else:
            name = "from_" if part == "from" else part
            given = given and (listed or name in found.model_fields_set)
            found = getattr(found, name)
    return found, given


CURRENCY = "USD"
"""The currency of every amount in the params, whatever the memo's."""
_DIGITS, _DIGITS_OF_RANGE = 6, 4
_NONE = "none"


@dataclass(frozen=True)
class Stated:
    """A value of the params: the one in force, as a reader is told it, its unit (`text` for what is no number, or has another's
    unit), and whether the user gave it."""

    value: Any
    text: str
    unit: str
    given: bool


def stated_at(params: Params, key: str) -> Stated:
    """What the params say at a dotted key (`money.gpu_hour_value`, `providers[0].name`); where none was given and other keys
    give one, that."""
    path = undotted(key)
    value, given = _found(params, path)
    if value is None:
        value = _derived(params).get(key)
    unit = unit_of(field_at(Params, path))
    text = IN_WORDS.get(key, _NONE) if value is None or value == () else in_words(value, unit)
    return Stated(value, text, unit, given)


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


def flat_keys(keys: Mapping[str, Any], params: Params, above: str = "") -> Iterator[tuple[str, Any]]:
    """Keys of the schema by their dotted names; a range is the value of one."""
    for key, value in keys.items():
        within = isinstance(value_at(params, above + key), BaseModel)
        yield from flat_keys(value, params, f"{above}{key}.") if within else [(above + key, value)]
