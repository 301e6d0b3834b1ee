"""From books and params to the case: each input's uncertainty, and the record the ledger prints of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fabricreport import formats
from fabricreport.books.evidence import EvidenceEntry
from fabricreport.books.prices import Price
from fabricreport.models.sampling import Distribution, fixed
from fabricreport.scenario import Interval90, Override, Params, Pert, Range, UncertainValue, is_given, value_at

PARAM_UNITS = (
    ("_weeks", "week"),
    ("_months", "month"),
    ("_days", "day"),
    ("_gbits_per_s", "gbits/s"),
    ("_per_year", "share"),
    ("_usd_per_day", "usd/day"),
    ("gpus_per_node", "gpus"),
    ("gpus", "gpus"),
    ("month", "month"),
    ("network_engineers", "fte"),
)
"""Unit of a params value by the end of its key; a key that says nothing counts things."""

PRICE_UNITS = {"each": "usd", "usd": "ratio"}


def distribution_of(value: UncertainValue) -> Distribution:
    """The distribution of a value as the params write it; a reference has none of its own."""
    if isinstance(value, Pert):
        return Distribution("pert", value.low, value.mode, value.high)
    if isinstance(value, Interval90):
        return Distribution("interval", value.p5, value.p5, value.p95)
    if isinstance(value, Range):
        return Distribution("uniform", value.low, (value.low + value.high) / 2, value.high)
    if isinstance(value, int | float):
        return fixed(float(value))
    raise TypeError(f"{value!r} refers to another entry: look that one up")


def price_distribution(price: Price) -> Distribution:
    """PERT between the low and the high a price row states around its price; without them the price is taken as it is."""
    low = price.price if price.low is None else price.low
    high = price.price if price.high is None else price.high
    return fixed(price.price) if low == high else Distribution("pert", low, price.price, high)


def price_unit(price: Price) -> str:
    """The ledger's unit of a price, whose money is always written `usd`: the writer puts the memo's currency there."""
    return PRICE_UNITS.get(price.unit, f"usd/{price.unit}")


def evidence_distribution(entry: EvidenceEntry) -> Distribution:
    """Number: fixed; {low, high}: uniform; {low, mode, high}: PERT; {p5, p95}: a 90 % interval."""
    value = entry.value
    if isinstance(value, int | float):
        return fixed(float(value))
    if isinstance(value, Mapping):
        if "mode" in value:
            return Distribution("pert", float(value["low"]), float(value["mode"]), float(value["high"]))
        if "p5" in value:
            return Distribution("interval", float(value["p5"]), float(value["p5"]), float(value["p95"]))
        low, high = float(value["low"]), float(value["high"])
        return Distribution("uniform", low, (low + high) / 2, high)
    raise TypeError(f"evidence {entry.id} is text: it has no number to draw")


def price_record(price: Price, override: Override | None) -> dict[str, Any]:
    """The ledger's record of a price as of the memo's date."""
    unit = price_unit(price)
    stand_in = f" {price.stand_in.capitalize()}." if price.stand_in else ""
    held = f" {price.quarantined}" if price.quarantined else ""
    return {
        "id": price.id,
        "kind": "price",
        "label": f"Price of {price.item.replace('-', ' ')}",
        "value": price.price,
        "text": formats.write(price.price, unit, 6, price.currency)
        + _range_text(price_distribution(price), unit, price.currency),
        "unit": unit,
        "date": price.date.isoformat(),
        "source": price.source,
        "publisher": price.source.split(",")[0],
        "address": "",
        "read": "2026-11-20",
        "grade": "contract" if override else price.grade,
        "seen": "B",
        "interest": "seller" if price.grade in ("quote", "secondary", "published") else "",
        "use": f"price per {price.unit} in {price.currency}.{held}{stand_in}",
        "expiry": price.expiry.isoformat(),
        "stale": price.stale and override is None,
        "override": _override_record(override),
    }


def evidence_record(entry: EvidenceEntry, override: Override | None) -> dict[str, Any]:
    """The ledger's record of an evidence entry."""
    numeric = not isinstance(entry.value, str)
    distribution = evidence_distribution(entry) if numeric else None
    text = _value_text(distribution, entry.unit) if distribution else str(entry.value)
    return {
        "id": f"evidence:{entry.id}",
        "kind": "evidence",
        "label": entry.what,
        "value": distribution.mode if distribution else None,
        "text": text,
        "unit": entry.unit,
        "date": entry.date,
        "source": entry.source,
        "publisher": entry.publisher,
        "address": entry.address,
        "read": entry.read,
        "grade": "contract" if override else entry.grade,
        "seen": entry.seen,
        "interest": entry.interest,
        "use": entry.use,
        "expiry": "",
        "stale": False,
        "override": _override_record(override),
    }


def param_record(params: Params, key: str) -> dict[str, Any]:
    """The ledger's record of a value of the params: the client's word where the key was given, else an assumption."""
    value, given = value_at(params, key), is_given(params, key)
    unit = next((unit for end, unit in PARAM_UNITS if key.endswith(end)), "count")
    return {
        "id": f"param:{key}",
        "kind": "param",
        "label": key.replace("_", " ").replace(".", ", "),
        "value": value if isinstance(value, int | float) and not isinstance(value, bool) else None,
        "text": formats.write(value, unit, 6)
        if isinstance(value, int | float) and not isinstance(value, bool)
        else str(value),
        "unit": unit,
        "date": str(params.as_of),
        "source": "The client's params file" if given else "Assumption of this memo",
        "publisher": params.client.name if given else "",
        "address": "",
        "read": str(params.as_of),
        "grade": "contract" if given else "assumption",
        "seen": "-",
        "interest": "",
        "use": "stated by or for the client" if given else "assumed: not stated",
        "expiry": "",
        "stale": False,
        "override": None,
    }


def _override_record(override: Override | None) -> dict[str, str] | None:
    if override is None:
        return None
    return {"who": override.who, "why": override.why, "until": str(override.until)}


def _value_text(distribution: Distribution, unit: str) -> str:
    if distribution.fixed:
        return formats.write(distribution.mode, unit, 6)
    ends = f"{formats.write(distribution.low, unit, 4)} to {formats.write(distribution.high, unit, 4)}"
    kind = {"interval": " (P5–P95)", "pert": f", most likely {formats.write(distribution.mode, unit, 4)}"}
    return ends + kind.get(distribution.kind, "")


def _range_text(distribution: Distribution, unit: str, currency: str) -> str:
    if distribution.fixed:
        return ""
    return f" ({formats.write(distribution.low, unit, 6, currency)} to {formats.write(distribution.high, unit, 6, currency)})"
