"""From when to when the prices behind a memo's page one are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date

from fabricreport.findings import Name
from fabricreport.inputs import Inputs
from fabricreport.provenance import inputs_of
from fabricreport.sections.decision.result import DecisionResult

_PRICE = "price:"


def price_dates(given: Inputs, result: DecisionResult, options: Iterable[str]) -> Mapping[str, Name]:
    """The months of the oldest and the newest price behind the bills of these options; empty without any."""
    behind = {i for o in options for i in inputs_of(result.totals[o]) if i.startswith(_PRICE)}
    return months(given.prices.by_id(i).date for i in behind)


def months(days: Iterable[date]) -> Mapping[str, Name]:
    """The words `oldest_price` and `newest_price` of the days on which prices were read."""
    found = sorted(days)
    return {"oldest_price": Name(f"{found[0]:%B %Y}"), "newest_price": Name(f"{found[-1]:%B %Y}")} if found else {}
