"""The record of each input as the ledger and the source list print it: value in force, unit, date, source, grade."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from fabricreport.base import formats
from fabricreport.base.uncertain import Replaced, Uncertain
from fabricreport.base.vocabulary import Grade
from fabricreport.books.evidence import EvidenceEntry
from fabricreport.books.names import item_names
from fabricreport.books.prices.book import Price
from fabricreport.books.publications import claim_record, purchase_record
from fabricreport.ledger.numbers import in_currency, weakest
from fabricreport.models.audit.disagreement import Contested
from fabricreport.scenario import Params, stated_at

PRICE_UNITS = {"each": "usd", "usd": "ratio"}
_TARIFFS = frozenset({"usd", "kwh"})
"""Units of exchange rates and of power: who publishes those sells neither."""


def price_unit(price: Price) -> str:
    """The unit of a price as a `Number` has it, its money written `usd` whatever the currency."""
    return PRICE_UNITS.get(price.unit, f"usd/{price.unit}")


def price_record(price: Price) -> dict[str, Any]:
    """The ledger's record of a price as of the memo's date.

    The book knows the day a price is of, not the day on which somebody read it: `read` is empty.
    """
    unit = price_unit(price)
    stand_in = f" {price.stand_in.capitalize()}." if price.stand_in else ""
    held = f" {price.quarantined}" if price.quarantined else ""
    ranged = (
        f" Ranged by ×{price.spread:g} both ways, as every single web price of its class." if price.spread > 1 else ""
    )
    return {
        "id": price.id,
        "kind": "price",
        "label": f"Price of {item_names(price.item).phrase}",
        "value": price.price,
        "text": _price_text(price.figure, unit, price.currency),
        "unit": formats.unit_in(unit, price.currency),
        **in_currency(unit, price.currency),
        "date": price.date.isoformat(),
        "source": price.source,
        "publisher": re.split(r"[,;:(]", price.source)[0].strip(),
        "address": "",
        "read": "",
        "grade": price.grade,
        "seen": "B",
        "interest": "seller"
        if price.grade in ("quote", "secondary", "published") and price.unit not in _TARIFFS
        else "",
        "use": f"price per {price.unit} in {price.currency}.{held}{stand_in}{ranged}",
        "expiry": price.expiry.isoformat(),
        "stale": price.stale,
        "override": replaced_record(price.replaced, lambda old: _price_text(old, unit, price.currency)),
    }


def evidence_record(entry: EvidenceEntry) -> dict[str, Any]:
    """The ledger's record of an evidence entry."""
    words = isinstance(entry.value, str)
    by = entry.replaced.who if entry.replaced is not None and not entry.replaced.restates else ""
    return {
        "id": f"evidence:{entry.id}",
        "kind": "evidence",
        "label": entry.what,
        "value": None if words else entry.figure.central,
        "text": str(entry.value) if words else _value_text(entry.figure, entry.unit),
        "unit": entry.unit,
        "date": entry.date,
        "source": f"{by}, for the client" if by else entry.source,
        "publisher": by or entry.publisher,
        "address": "" if by else entry.address,
        "read": entry.read,
        "grade": entry.grade,
        "seen": entry.seen,
        "interest": "" if by else entry.interest,
        "use": f"{entry.use.rstrip('.')}. Searched {entry.searched}" if entry.searched else entry.use,
        "expiry": "",
        "stale": False,
        "override": replaced_record(entry.replaced, lambda old: _value_text(old, entry.unit)),
    }


def contested_record(quantity: Contested, value: Uncertain | None, replaced: Replaced | None) -> dict[str, Any]:
    """The ledger's record of a contested quantity: the prior that its sources make, or the client's figure for it."""
    dates = [p.date for p in quantity.admissible if p.date[:1].isdigit()]
    own = value is not None and replaced is not None
    return {
        "id": f"contested:{quantity.id}",
        "kind": "evidence",
        "label": quantity.what,
        "value": (value or quantity.prior).central,
        "text": _value_text(value or quantity.prior, quantity.unit),
        "unit": quantity.unit,
        "date": max(dates, default="undated"),
        "source": replaced.who if own and replaced else "; ".join(sorted({p.publisher for p in quantity.admissible})),
        "publisher": replaced.who if own and replaced else "",
        "address": "",
        "read": "",
        "grade": Grade.CONTRACT if own else weakest((p.grade for p in quantity.admissible), Grade.ASSUMPTION),
        "seen": "-" if own else "D",
        "interest": "",
        "use": "the client's own figure" if own else "the spread of the sources that disagree on it",
        "expiry": "",
        "stale": False,
        "override": replaced_record(replaced, lambda old: _value_text(old, quantity.unit), quantity.prior),
    }


def origin(record: Mapping[str, Any], *, stated: bool) -> str:
    """How the ledger says where a quoted input comes from; `stated`: the figure is the source's own and not made of it."""
    assumed = record["grade"] == Grade.ASSUMPTION
    if record["kind"] == "param":
        return "as assumed: not stated in the params" if assumed else "as stated in the params"
    if assumed:
        return "as assumed by this memo"
    return "as stated by the source" if stated and record["seen"] != "D" else "worked out from what the source states"


def _key_in_words(key: str) -> str:
    """A key of the params as words: `money.gpu_hour_value` is money, GPU-hour value."""
    words = re.sub("_[gt]bits_per_s$", "_rate", key).replace("_usd", "").replace("_", " ").replace(".", ", ")
    return words.replace("gpu hour", "GPU-hour").replace("gpu", "GPU")


def param_record(params: Params, key: str) -> dict[str, Any]:
    """The ledger's record of a value of the params: the client's word where the key was given, else an assumption."""
    said = stated_at(params, key)
    return {
        "id": f"param:{key}",
        "kind": "param",
        "label": _key_in_words(key),
        "value": _central(said.value),
        "text": said.text,
        "unit": said.unit,
        "date": str(params.as_of),
        "source": "The client's params file" if said.given else "Our own assumption",
        "publisher": params.client.name if said.given else "",
        "address": "",
        "read": str(params.as_of),
        "grade": Grade.CONTRACT if said.given else Grade.ASSUMPTION,
        "seen": "-",
        "interest": "",
        "use": "stated by or for the client" if said.given else "assumed: not stated",
        "expiry": "",
        "stale": False,
        "override": None,
    }


def _central(value: Any) -> float | None:
    """The number that stands for a value of the params: itself, its mode, else its median; None if it has none."""
    if isinstance(value, bool):
        return None
    return Uncertain.of(value).central if isinstance(value, int | float | Uncertain) else None


def replaced_record(
    replaced: Replaced | None, write: Any, instead_of: Uncertain | None = None
) -> dict[str, str] | None:
    """Who replaced a figure, why, until when, and what stood there before; None if nobody did."""
    if replaced is None:
        return None
    old = replaced.old or instead_of
    return {
        "who": replaced.who,
        "why": replaced.why,
        "until": replaced.until,
        "replaced": write(old) if old is not None else "no usable figure",
    }


def _value_text(figure: Uncertain, unit: str) -> str:
    if figure.fixed:
        return formats.write(figure.mode, unit, 6)
    ends = f"{formats.write(figure.low, unit, 4)} to {formats.write(figure.high, unit, 4)}"
    median = f" (P5–P95), median {formats.write(figure.mode, unit, 4)}"
    kind = {"interval": " (P5–P95)", "pooled": median, "pert": f", most likely {formats.write(figure.mode, unit, 4)}"}
    return ends + kind.get(figure.kind, "")


def _digits_of(end: float) -> int:
    """Six for an end that somebody stated, three for one that was worked out and has no end of digits."""
    return 6 if float(f"{end:.6g}") == end else 3


def _price_text(figure: Uncertain, unit: str, currency: str) -> str:
    text = formats.write(figure.central, unit, 6, currency)
    if figure.fixed:
        return text
    low, high = (formats.write(end, unit, _digits_of(end), currency) for end in (figure.low, figure.high))
    return f"{text} ({low} to {high})"


QUOTABLE: Mapping[str, Callable[[str], dict[str, Any]]] = {"claim": claim_record, "purchase": purchase_record}
