"""The audit of claims: each claim's own inputs worked through, and the verdict that follows.

A method takes a claim's own inputs (numbers or (low, high) ranges). `claims.yaml` names the method; nothing here
knows what the claim stated.

The methods are in `fabricreport.models.audit.claims`. A verdict on a numeric claim is computed: the outcome is
held against what is stated. Only where there is no number to compare is the verdict a judgement, and then it
names its grounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Protocol

from fabricreport.base.errors import InputError, Problem

Amount = float | tuple[float, float]
"""A number, or a range as (low, high)."""


@dataclass(frozen=True)
class Claim:
    """One claim in our words.

    `stated` is what the article says (a number, a (low, high) range or a text) in `unit`; `inputs` are the
    claim's own inputs (numbers, ranges, or `evidence:<id>`); `method` names a recomputation of
    `fabricreport.models.audit.claims`, `compare` how its outcome is held against `stated`, within `tolerance`
    (a share of what is stated). Without a number to compare, `verdict` is our judgement and `by` its grounds.
    `against` names claims of the same source that this one contradicts. `aged`: what speaks against it is younger
    than the claim, so that a claim that fails is out of date and not contradicted.
    """

    id: str
    source: str
    kind: str
    claim: str
    about: str
    stated: Amount | str
    unit: str = "text"
    inputs: Mapping[str, Amount | str] = field(default_factory=dict)
    method: str = ""
    compare: str = "equal"
    tolerance: float = 0.0
    caveat: str = ""
    verdict: str = ""
    by: tuple[str, ...] = ()
    against: tuple[str, ...] = ()
    note: str = ""
    aged: bool = False

    @property
    def computed(self) -> bool:
        """Whether code reaches the verdict: there is a method, and a stated number to hold its outcome against."""
        return bool(self.method) and not isinstance(self.stated, str)


class Entry(Protocol):
    """A figure or a fact as its source states it."""

    @property
    def id(self) -> str:
        """Its id in the library."""

    @property
    def what(self) -> str:
        """The figure in one line of words."""

    @property
    def unit(self) -> str:
        """Its unit."""

    @property
    def kind(self) -> str:
        """The form of its value: number, text, range, pert or interval."""

    @property
    def low(self) -> float:
        """Lower end; not a number for a fact in words."""

    @property
    def mid(self) -> float:
        """Central value; not a number for a fact in words."""

    @property
    def high(self) -> float:
        """Upper end; not a number for a fact in words."""

    @property
    def contested(self) -> str:
        """The quantity on which sources disagree, '' for none."""

    @property
    def base(self) -> str:
        """What its source's figure is measured on."""


Inputs = Mapping[str, Amount]


@dataclass(frozen=True)
class Working:
    """What a method gives: what it comes to (number or (low, high)), the formula in words, and steps (label, value, unit)."""

    recomputed: Amount
    formula: str
    steps: tuple[tuple[str, float, str], ...] = ()


def recompute(method: str, inputs: Inputs) -> Working:
    """The named method on these inputs; `InputError` names an unknown method or a missing input."""
    if method not in METHODS:
        raise InputError(Problem("is not a recomputation we have", key="method", value=method))
    try:
        return METHODS[method](inputs)
    except KeyError as missing:
        raise InputError(Problem("needs another input", key=method, value=str(missing.args[0]))) from None


def ends(amount: Amount) -> tuple[float, float]:
    """A number as a range of no width; a range as it is."""
    return amount if isinstance(amount, tuple) else (amount, amount)


def _number(inputs: Inputs, key: str) -> float:
    low, high = ends(inputs[key])
    if low != high:
        raise InputError(Problem("must be one number, not a range", key=key))
    return low


def _collapse(low: float, high: float) -> Amount:
    return low if low == high else (low, high)


def _words(key: str) -> str:
    return key.removeprefix("over_").removeprefix("minus_").replace("_", " ")


# ---- methods: generic arithmetic first, then the few claims that need their own formula ----------------------


def _product(inputs: Inputs) -> Working:
    """All inputs multiplied; those whose name begins with `over_` divide. Inputs are not negative."""
    low = high = 1.0
    for key, value in inputs.items():
        a, b = ends(value)
        low, high = (low / b, high / a) if key.startswith("over_") else (low * a, high * b)
    top = " × ".join(_words(k) for k in inputs if not k.startswith("over_")) or "1"
    bottom = " × ".join(_words(k) for k in inputs if k.startswith("over_"))
    return Working(_collapse(low, high), f"{top} / ({bottom})" if bottom else top)


def _sum(inputs: Inputs) -> Working:
    """All inputs added; those whose name begins with `minus_` are taken away."""
    low = high = 0.0
    for key, value in inputs.items():
        a, b = ends(value)
        low, high = (low - b, high - a) if key.startswith("minus_") else (low + a, high + b)
    parts = [f"{'− ' if k.startswith('minus_') else '+ '}{_words(k)}" for k in inputs]
    return Working(_collapse(low, high), " ".join(parts).removeprefix("+ "))


def _same(inputs: Inputs) -> Working:
    """One figure held beside the claim as it is."""
    (key, value), *rest = inputs.items()
    if rest:
        raise InputError(Problem("takes exactly one input", key="same"))
    return Working(value, _words(key))


def _span(inputs: Inputs) -> Working:
    """From the lowest to the highest of the inputs."""
    pairs = [ends(value) for value in inputs.values()]
    return Working(
        _collapse(min(a for a, _ in pairs), max(b for _, b in pairs)),
        "lowest to highest of " + ", ".join(map(_words, inputs)),
    )


def _fabric_totals(inputs: Inputs) -> tuple[float, float]:
    totals = []
    for fabric in ("roce", "ib"):
        nics = _number(inputs, f"{fabric}_nic_usd") * _number(inputs, "nic_ports")
        totals.append(nics + _number(inputs, f"{fabric}_switches_usd") + _number(inputs, f"{fabric}_cables_usd"))
    return totals[0], totals[1]


def _table_discount(inputs: Inputs) -> Working:
    """How much less RoCEv2 costs, as a share of the InfiniBand total of the table."""
    roce, ib = _fabric_totals(inputs)
    steps = (
        ("RoCEv2 total", roce, "usd"),
        ("InfiniBand total", ib, "usd"),
        ("difference", ib - roce, "usd"),
        ("less, on the InfiniBand total", (ib - roce) / ib, "relative"),
        ("more, on the RoCEv2 total", (ib - roce) / roce, "relative"),
    )
    return Working((ib - roce) / ib, "(InfiniBand total − RoCEv2 total) / InfiniBand total", steps)


def _table_premium(inputs: Inputs) -> Working:
    """How much more InfiniBand costs, as a share of the RoCEv2 total of the table."""
    roce, ib = _fabric_totals(inputs)
    steps = _table_discount(inputs).steps
    return Working((ib - roce) / roce, "(InfiniBand total − RoCEv2 total) / RoCEv2 total", steps)


def _premium(inputs: Inputs) -> Working:
    """How much dearer `dearer` is than `cheaper`, as a share of `cheaper`; either may be a range."""
    (d_low, d_high), (c_low, c_high) = ends(inputs["dearer"]), ends(inputs["cheaper"])
    return Working(_collapse(d_low / c_high - 1, d_high / c_low - 1), "dearer / cheaper − 1")


def _difference_in_units(inputs: Inputs) -> Working:
    """How many units of the product of the `over_` inputs the difference of two sums of money is worth."""
    difference = _number(inputs, "dearer_usd") - _number(inputs, "cheaper_usd")
    unit = math.prod(_number(inputs, key) for key in inputs if key.startswith("over_"))
    bottom = " × ".join(_words(key) for key in inputs if key.startswith("over_"))
    steps = (("difference", difference, "usd"), ("one unit", unit, "usd"))
    return Working(difference / unit, f"(dearer − cheaper) / ({bottom})", steps)


def _premium_to_discount(inputs: Inputs) -> Working:
    """A premium on the cheaper as a discount on the dearer."""
    low, high = ends(inputs["premium"])
    return Working(_collapse(low / (1 + low), high / (1 + high)), "premium / (1 + premium)")


def _discount_to_premium(inputs: Inputs) -> Working:
    """A discount on the dearer as a premium on the cheaper."""
    low, high = ends(inputs["discount"])
    return Working(_collapse(low / (1 - low), high / (1 - high)), "discount / (1 − discount)")


def _extra_days_at_efficiency(inputs: Inputs) -> Working:
    """Days a run is longer when a share of every day is lost: days × (1 / (1 − loss) − 1)."""
    days, loss = _number(inputs, "days"), _number(inputs, "loss")
    return Working(days * (1 / (1 - loss) - 1), "days × (1 / (1 − loss) − 1)")


def _tier_overlap(inputs: Inputs) -> Working:
    """How far one tier's end reaches into the next tier's beginning."""
    end, begin = _number(inputs, "first_tier_ends"), _number(inputs, "second_tier_begins")
    return Working(max(0.0, end - begin), "end of the first tier − beginning of the second")


def _oversubscription(inputs: Inputs) -> Working:
    """Host bandwidth over uplink bandwidth of a leaf."""
    down = _number(inputs, "host_ports") * _number(inputs, "host_gbits_per_s")
    up = _number(inputs, "uplinks") * _number(inputs, "uplink_gbits_per_s")
    steps = (("down", down, "gbits/s"), ("up", up, "gbits/s"))
    return Working(down / up, "host ports × host speed / (uplinks × uplink speed)", steps)


def _switch_row(inputs: Inputs) -> Working:
    """Price of the switches of a non-blocking fat tree: (2 × tiers − 1) × ports / radix × price of one.

    Each tier but the top spends half its ports downwards, so t tiers need 2t − 1 ports for each end port.
    """
    ports, radix, tiers = (_number(inputs, k) for k in ("ports", "radix", "tiers"))
    switches = (2 * tiers - 1) * ports / radix
    largest = 2 * (radix / 2) ** tiers
    if ports > largest:
        raise InputError(Problem("does not fit this number of tiers", key="ports", value=f"{ports:g}"))
    steps = (
        ("switches", switches, "count"),
        ("largest fabric of these tiers", largest, "count"),
    )
    return Working(switches * _number(inputs, "switch_usd"), "(2 × tiers − 1) × ports / radix × price", steps)


def _allreduce_ms(inputs: Inputs) -> Working:
    """Milliseconds of one AllReduce: size / algorithm bandwidth, busbw = algbw × 2(n−1)/n (nccl-tests)."""
    ranks = _number(inputs, "ranks")
    algbw = _number(inputs, "busbw_gbytes_per_s") * ranks / (2 * (ranks - 1))
    milliseconds = _number(inputs, "gbytes") / algbw * _number(inputs, "ms_per_s")
    return Working(milliseconds, "size / (busbw × n / (2(n − 1)))", (("algbw", algbw, "gbytes/s"),))


METHODS: Mapping[str, Callable[[Inputs], Working]] = {
    "product": _product,
    "sum": _sum,
    "same": _same,
    "span": _span,
    "table-discount": _table_discount,
    "table-premium": _table_premium,
    "premium": _premium,
    "difference-in-units": _difference_in_units,
    "premium-to-discount": _premium_to_discount,
    "discount-to-premium": _discount_to_premium,
    "extra-days-at-efficiency": _extra_days_at_efficiency,
    "tier-overlap": _tier_overlap,
    "oversubscription": _oversubscription,
    "switch-row": _switch_row,
    "allreduce-ms": _allreduce_ms,
}
"""Every recomputation by name; `claims.yaml` names them."""


@dataclass(frozen=True)
class AuditedClaim(Claim):
    """A claim with what it comes to.

    `recomputed` is in `unit` as `stated` is (a number, a (low, high) range; None without a method). `by` lists all that
    speaks for or against it (`evidence:<id>`, `claim:<id>`), what its own inputs cite among it.
    """

    recomputed: Amount | None = None
    formula: str = ""
    steps: tuple[tuple[str, float, str], ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """The claim for `--json`; ranges become [low, high]."""
        told = {k: v for k, v in vars(self).items() if k not in ("inputs", "method", "aged")}
        told["computed"] = self.computed
        return {k: list(v) if isinstance(v, tuple) else v for k, v in told.items()}


@dataclass(frozen=True)
class SelfContradiction:
    """A source that says two things that cannot both hold: the two claims, in our words."""

    source: str
    claim: str
    against: str


def audit(claims: Mapping[str, Claim], evidence: Mapping[str, Entry]) -> tuple[AuditedClaim, ...]:
    """Every claim recomputed and judged, in file order; `InputError` if a method or an evidence id is unknown."""
    return tuple(audit_claim(claim, evidence) for claim in claims.values())


def audit_claim(claim: Claim, evidence: Mapping[str, Entry]) -> AuditedClaim:
    """One claim recomputed from its own inputs and judged."""
    working = recompute(claim.method, resolve(claim, evidence)) if claim.method else None
    verdict = claim.verdict
    if claim.computed and working is not None:
        verdict = judge(claim, working.recomputed)
    cited = (*claim.by, *(v for v in claim.inputs.values() if isinstance(v, str)))
    found = {of.name: getattr(claim, of.name) for of in fields(Claim)}
    found |= {"verdict": verdict, "by": tuple(dict.fromkeys(cited))}
    return AuditedClaim(**found, **({} if working is None else vars(working)))


def resolve(claim: Claim, evidence: Mapping[str, Entry]) -> dict[str, Amount]:
    """The claim's inputs as numbers and ranges: `evidence:<id>` becomes the entry's value."""
    out: dict[str, Amount] = {}
    for key, value in claim.inputs.items():
        if not isinstance(value, str):
            out[key] = value
            continue
        name = value.removeprefix("evidence:")
        if name not in evidence or math.isnan(evidence[name].low):
            remedy = "Restore the entry, or withdraw the claim's recomputation."
            raise InputError(Problem("rests on evidence without a number", key=claim.id, value=value, remedy=remedy))
        low, high = evidence[name].low, evidence[name].high
        out[key] = low if low == high else (low, high)
    return out


def judge(claim: Claim, outcome: Amount) -> str:
    """Reproduces, reproduces with a caveat, contradicted, or out of date: the outcome held against what is stated.

    `equal`: both ends agree within the tolerance; `within`: the outcome lies inside the stated range;
    `overlap`: the ranges share a point; `at-most`, `at-least`: what is stated bounds the outcome from above, below.
    """
    if isinstance(claim.stated, str):
        raise InputError(Problem("has no number to judge", key=claim.id))
    (s_low, s_high), (low, high) = ends(claim.stated), ends(outcome)
    slack_low, slack_high = (claim.tolerance * abs(end) for end in (s_low, s_high))
    close = {
        "equal": abs(low - s_low) <= slack_low and abs(high - s_high) <= slack_high,
        "within": s_low - slack_low <= low and high <= s_high + slack_high,
        "overlap": low <= s_high + slack_high and s_low - slack_low <= high,
        "at-most": high <= s_high + slack_high,
        "at-least": low >= s_low - slack_low,
    }
    if not close[claim.compare]:
        return "out of date" if claim.aged else "contradicted"
    return "reproduces with a caveat" if claim.caveat else "reproduces"


def self_contradictions(audited: Iterable[AuditedClaim]) -> tuple[SelfContradiction, ...]:
    """The sources that contradict themselves, claim against claim."""
    by_id = {claim.id: claim for claim in audited}
    return tuple(
        SelfContradiction(claim.source, claim.id, other)
        for claim in by_id.values()
        for other in claim.against
        if other in by_id
    )
