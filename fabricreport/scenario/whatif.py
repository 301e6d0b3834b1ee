"""Params with something changed: the same file as if these keys had been written otherwise."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from fabricreport.errors import InputError, Problem
from fabricreport.scenario.load import params_from
from fabricreport.scenario.schema import Params

TRIED_BY, WHY = "A what-if", "A change tried, not a source"


def changed_params(
    params: Params, keys: Mapping[str, Any], figures: Mapping[str, Any], *, extra_options: Iterable[str] = ()
) -> Params:
    """The params with `keys` (`cluster__gpus`, or `seed`) set and `figures` overridden (`price:…`, by id).

    Values are written as in the file; `InputError` lists every fault. `extra_options`: ids of the client's own options.
    """
    data = params.model_dump(mode="json", by_alias=True, exclude_unset=True)
    for key, value in keys.items():
        *sections, name = key.split("__")
        place: Any = data
        for depth, section in enumerate(sections):
            place = place.setdefault(section, {})
            if not isinstance(place, dict):
                above = ".".join(sections[: depth + 1])
                remedy = f"Write the whole of {above}: `{'__'.join(sections[: depth + 1])}=...`."
                raise InputError(Problem(f"holds no key {name}", key=above, remedy=remedy))
        place[name] = value
    kept = [o for o in data.get("overrides", ()) if o["id"] not in figures]
    tried = [
        {"id": i, "value": value, "who": TRIED_BY, "why": WHY, "until": str(params.as_of)}
        for i, value in figures.items()
    ]
    if kept or tried:
        data["overrides"] = [*kept, *tried]
    return params_from(data, extra_options=extra_options)
