"""The bills that are compared: every option's cost piece by piece, over the same work and the same draws."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from fabricreport.inputs import Inputs
from fabricreport.marks import Part
from fabricreport.models.judgement.comparison import expected_order
from fabricreport.models.judgement.difference import difference
from fabricreport.models.money.ownership import CostComponents
from fabricreport.provenance import Traced, plain
from fabricreport.sections.client import stages_of
from fabricreport.sections.tco import fabric
from fabricreport.sections.tco.cost import (
    CAUSES,
    COMMON_CAUSES,
    FABRIC_CAUSES,
    TIME_CAUSES,
    by_cause,
    cash_bill,
    common_hour_value,
    full_bill,
    with_delay,
)
from fabricreport.sections.tco.fabric import Build
from fabricreport.sections.tco.inputs import Common, OptionInputs


@dataclass(frozen=True)
class Bills:
    """By option id: what stands (`built`, empty for a renter), what is paid before lost time, and the whole bill.

    `stated` are the inputs common to all as they were given, `common` the same with a value for a lost GPU-hour.
    `parts` are present values piece by piece, (draws,): what two options share cancels to exact zero in `gap`.
    `components` are the same by cause, for the causes that are not zero for every option, whose names are `labels`.
    """

    stated: Common
    common: Common
    own: Mapping[str, OptionInputs]
    built: Mapping[str, tuple[Build, ...]]
    paid: Mapping[str, CostComponents]
    parts: Mapping[str, Mapping[str, Traced]]
    components: Mapping[str, Mapping[str, Traced]]
    labels: Mapping[str, str]
    totals: Mapping[str, Traced]

    @property
    def order(self) -> tuple[str, ...]:
        """Option ids, the lowest mean total first."""
        return expected_order(self.totals)

    def gap(self, a: str, b: str) -> Traced:
        """Cost of `a` less cost of `b` (draws,); what both share leaves neither money nor provenance."""
        return Traced(difference(self.parts[a], self.parts[b]).draws)

    def gap_by_cause(self, a: str, b: str) -> dict[str, Traced]:
        """The same by cause, without the common ones, which do not differ; the causes sum to it."""
        found = by_cause(difference(self.parts[a], self.parts[b]).parts)
        size = next(iter(self.totals.values())).size
        return {c: _wide(found.get(c, 0.0), size) for c in self.labels if c not in COMMON_CAUSES}

    def cash_gap(self, a: str, b: str) -> Traced:
        """What of that gap is paid (draws,)."""
        return self._gap_of(a, b, timed=False)

    def time_gap(self, a: str, b: str) -> Traced:
        """What of it is time at its value (draws,); the two sum to it."""
        return self._gap_of(a, b, timed=True)

    def gap_parts(self, a: str, b: str) -> tuple[Part, ...]:
        """What the gap is the sum of: what is paid, what is time, and every cause."""
        return parts_of(self.gap_by_cause(a, b))

    def _gap_of(self, a: str, b: str, *, timed: bool) -> Traced:
        found = (value for cause, value in self.gap_by_cause(a, b).items() if (cause in TIME_CAUSES) == timed)
        return sum(found, start=_wide(0.0, next(iter(self.totals.values())).size))


def parts_of(components: Mapping[str, Any]) -> tuple[Part, ...]:
    """What a bill by cause is the sum of as the memo prints it: what is paid, what is time, every cause of either, and the network."""
    cash, time = apart(components)
    causes = {c: Part(value) for c, value in components.items()}
    timed = tuple(part for c, part in causes.items() if c in TIME_CAUSES)
    bought = [part for c, part in causes.items() if c in FABRIC_CAUSES]
    network = (Part(sum(part.value for part in bought), tuple(bought)),) if bought else ()
    paid = tuple(part for c, part in causes.items() if c not in TIME_CAUSES)
    return Part(cash, (*paid, *network)), Part(time, timed), *causes.values(), *network


def apart(components: Mapping[str, Any]) -> tuple[Any, Any]:
    """What of a bill by cause is cash, and what is time at its value: (draws,) each."""
    sums: list[Any] = [0.0, 0.0]
    for cause, value in components.items():
        sums[cause in TIME_CAUSES] = sums[cause in TIME_CAUSES] + value
    return sums[0], sums[1]


def bills(
    given: Inputs,
    common: Common,
    own: Mapping[str, OptionInputs],
    standing: Mapping[str, tuple[Build, ...]],
    before: Bills | None = None,
) -> Bills:
    """Every option's bill; `own`: what is the option's own, `standing`: `builds_of`, both by option id.

    Of `before`, bills on other inputs, whatever rests on the very same objects is taken over as it is.
    """
    rent = given.team.rented
    unpaid = {o for o in own if not (before and _paid_as(before, o, common, own, standing))}
    paid = {
        o: cash_bill(standing.get(o, ()), i, common, rent=rent) if not before or o in unpaid else before.paid[o]
        for o, i in own.items()
    }
    valued = common_hour_value(paid, own, common)
    # where an hour is worth what it costs, it is another's cost too
    kept = {o for o in own if before and o not in unpaid and own[o] is before.own[o] and valued is common}
    parts, raw = {}, {}
    for o, i in own.items():
        if before and o in kept:
            parts[o], raw[o] = before.parts[o], before.components[o]
        else:
            parts[o] = _parts(given, full_bill(paid[o], i, valued, rent=rent), i, valued)
            raw[o] = by_cause(parts[o])
    causes = [cause for cause in CAUSES if any(np.any(plain(found.get(cause, 0.0))) for found in raw.values())]
    components = {o: {cause: given.spread(found.get(cause, 0.0)) for cause in causes} for o, found in raw.items()}
    totals = {o: _sum(given, found) for o, found in components.items()}
    return Bills(common, valued, own, standing, paid, parts, components, {c: CAUSES[c] for c in causes}, totals)


def _paid_as(
    before: Bills,
    option: str,
    common: Common,
    own: Mapping[str, OptionInputs],
    standing: Mapping[str, tuple[Build, ...]],
) -> bool:
    """Whether what is paid for an option rests on the very same objects as in the bills before."""
    same_build = standing.get(option) is before.built.get(option)
    return same_build and common is before.stated and option in before.own and own[option].pays_as(before.own[option])


def servers_per_rack(given: Inputs) -> int:
    """Servers that share a rack, which decides where copper reaches."""
    return int(given.central("evidence:servers-per-rack"))


def builds_of(given: Inputs) -> dict[str, tuple[Build, ...]]:
    """What stands of each option after each stage, by option id; empty for a renter."""
    if given.team.rented:
        return {}
    rack, stages = servers_per_rack(given), stages_of(given)
    return {o.id: fabric.builds(given.params.cluster, o, stages, rack) for o in given.options}


def _parts(given: Inputs, bill: CostComponents, option: OptionInputs, common: Common) -> dict[str, Traced]:
    """A full bill piece by piece, each (draws,)."""
    return {name: given.spread(value) for name, value in with_delay(bill, option, common).items()}


def _sum(given: Inputs, parts: Mapping[str, Traced]) -> Traced:
    total: Any = 0.0
    for value in parts.values():
        total = total + value
    return given.spread(total)


def _wide(value: Any, size: int) -> Traced:
    wide = np.broadcast_to(np.asanyarray(value, dtype=float), (size,))
    return wide if isinstance(wide, Traced) else Traced(wide)
