"""From books and params to the case: each input's uncertainty, and the record the ledger prints of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from fabricreport import formats
from fabricreport.books.answer_limits import Links
from fabricreport.books.evidence import EvidenceEntry
from fabricreport.books.prices.book import Price
from fabricreport.bounds import Bound, bound_of, price_bound
from fabricreport.errors import Problem
from fabricreport.ledger import in_currency
from fabricreport.located import undotted
from fabricreport.models.collectives.parameters import gpu_class
from fabricreport.models.sampling import Distribution, fixed
from fabricreport.scenario import (
    Interval90,
    Override,
    Params,
    Pert,
    Range,
    Reference,
    UncertainValue,
    dump_uncertain,
    is_given,
    param_text,
    unit_at,
    value_in_force,
)

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
    """The unit of a price as a `Number` has it, its money written `usd` whatever the currency."""
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


def impossible_overrides(
    params: Params, terms: Callable[[str], tuple[str, str] | None], evidence: Mapping[str, EvidenceEntry]
) -> Iterator[Problem]:
    """Overrides that no entry of that unit could have; `terms` gives the unit and currency of a price item.

    An id that no book holds is passed over: that is told elsewhere. Each problem has the key of the params, no line.
    """
    for number, override in enumerate(params.overrides):
        bound = _bound_of_entry(override.id, terms, evidence)
        if bound is None or isinstance(override.value, Reference):
            continue
        figure = dump_uncertain(override.value)
        if fault := bound.fault(figure):
            shown = (
                ", ".join(f"{k}: {v:g}" for k, v in figure.items()) if isinstance(figure, Mapping) else f"{figure:g}"
            )
            remedy = "The figure is in the unit of the entry: correct it or its unit."
            yield Problem(fault, key=f"overrides[{number}].value", value=shown, remedy=remedy)


def _bound_of_entry(
    entry_id: str, terms: Callable[[str], tuple[str, str] | None], evidence: Mapping[str, EvidenceEntry]
) -> Bound | None:
    """What the entry with this id may be; None for one that no book holds or that is text."""
    kind, _, name = entry_id.partition(":")
    if kind == "price":
        found = terms(name)
        return None if found is None else price_bound(*found)
    entry = evidence.get(name)
    return None if entry is None or entry.kind == "text" else bound_of(entry.unit)


def links_of(params: Params) -> Links:
    """The links of the client's cluster, by which a seller's bandwidths are judged possible."""
    cluster = params.cluster
    rack = gpu_class(cluster.gpu).domain_gpus
    return Links(float(cluster.link_gbits_per_s), cluster.links_per_gpu, max(cluster.gpus_per_node, rack))


def price_record(price: Price, override: Override | None) -> dict[str, Any]:
    """The ledger's record of a price as of the memo's date.

    The book knows the day a price is of, not the day on which somebody read it: `read` is empty.
    """
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
        "unit": formats.unit_in(unit, price.currency),
        **in_currency(unit, price.currency),
        "date": price.date.isoformat(),
        "source": price.source,
        "publisher": price.source.split(",")[0],
        "address": "",
        "read": "",
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
    value, given = value_in_force(params, key), is_given(params, key)
    return {
        "id": f"param:{key}",
        "kind": "param",
        "label": key.replace("_", " ").replace(".", ", "),
        "value": _central(value),
        "text": param_text(params, key),
        "unit": unit_at(undotted(key)),
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


def _central(value: Any) -> float | None:
    """The number that stands for a value of the params: itself, its mode, else its median; None if it has none."""
    if isinstance(value, int | float):
        return None if isinstance(value, bool) else value
    if isinstance(value, Pert | Interval90 | Range):
        distribution = distribution_of(value)
        return distribution.mode if distribution.kind == "pert" else float(distribution.quantile(0.5))
    return None


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
