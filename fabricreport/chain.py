"""From inputs to bills: exposed communication, then losses, then every option's bill, each part run only when reached.

A what-if is the same chain on other inputs. Each part remembers which inputs it asked for, so a part that the change
does not reach is taken over as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from fabricreport.inputs import Inputs
from fabricreport.provenance import Traced
from fabricreport.sections.latency.exposure import Exposure, exposure
from fabricreport.sections.latency.inputs import pair
from fabricreport.sections.latency.measured import ClientMeasurements, client_measurements, measured_option
from fabricreport.sections.tail_risk.horizon import Losses, losses
from fabricreport.sections.tco.bills import Bills, bills
from fabricreport.uncertain import Uncertain

Found = TypeVar("Found")
LATENCY, LOSSES, BILLS = "latency", "losses", "bills"


@dataclass(frozen=True)
class Chain:
    """The three parts, the inputs they were made from, and the ids that each asked for."""

    given: Inputs
    measurements: ClientMeasurements | None
    exposure: Exposure
    exposed: Mapping[str, Traced]
    losses: Losses
    bills: Bills
    asked: Mapping[str, frozenset[str]]

    @property
    def reached_by(self) -> frozenset[str]:
        """Ids of every input that the bills rest on."""
        return frozenset().union(*self.asked.values())

    def replacing(self, figures: Mapping[str, Uncertain]) -> Chain:
        """The chain with other figures in force for these ids, every other input at its draws."""
        given = self.given.replacing(figures)
        ids = {*figures, *(f"contested:{q}" for q in self.given.quantities_of(figures))}
        first = bool(ids & self.asked[LATENCY])
        second = first or bool(ids & self.asked[LOSSES])
        found, exposed = (None, None) if first else (self.exposure, self.exposed)
        return _run(given, self.measurements, found, exposed, None if second else self.losses, self)

    def bare(self) -> Chain:
        """The same chain, ready to be run again without provenance."""
        return replace(self, given=self.given.bare())

    def under(self, given: Inputs) -> Chain:
        """The bills under other inputs that reach neither steps nor losses; what stands is the same."""
        return _run(given, self.measurements, self.exposure, self.exposed, self.losses, self)


def chain(given: Inputs) -> Chain:
    """The whole chain of a case; the client's logs are read here."""
    return _run(given, client_measurements(given, measured_option(given)), None, None, None, None)


def _run(
    given: Inputs,
    measurements: ClientMeasurements | None,
    found: Exposure | None,
    exposed: Mapping[str, Traced] | None,
    lost: Losses | None,
    before: Chain | None,
) -> Chain:
    asked = dict(before.asked) if before else {}

    def part(name: str, compute: Callable[[], Found]) -> Found:
        with given.noting() as ids:
            result = compute()
        asked[name] = frozenset(ids)
        return result

    factors = measurements.factors if measurements else None
    if found is None or exposed is None:
        # A rerun needs no pair of fabrics that the client does not compare: only the study shows it.
        options = given.options if before else tuple({o.id: o for o in (*given.options, *pair(given))}.values())
        found = part(LATENCY, lambda: exposure(given, options, factors))
        horizon = found.horizon(given)
        exposed = {o.id: horizon[o.id] for o in given.options}
    shares = exposed
    if lost is None:
        lost = part(LOSSES, lambda: losses(given, shares))
    all_lost = lost
    built = before.bills.built if before else None
    bill = part(BILLS, lambda: bills(given, shares, all_lost, built))
    return Chain(given, measurements, found, shares, all_lost, bill, asked)
