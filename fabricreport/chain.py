"""From inputs to bills: exposed communication, then losses, then every option's bill, each part run only when reached.

A what-if is the same chain on other inputs. Each part remembers which inputs it asked for, so a part that the change
does not reach is taken over as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeVar

from fabricreport.inputs import Inputs
from fabricreport.provenance import Traced
from fabricreport.sections.latency.exposure import Exposure, exposure
from fabricreport.sections.latency.inputs import pair
from fabricreport.sections.latency.measured import ClientMeasurements, client_measurements, measured_option
from fabricreport.sections.tail_risk.horizon import Losses, losses
from fabricreport.sections.tco.bills import Bills, bills, builds_of
from fabricreport.sections.tco.fabric import Build
from fabricreport.sections.tco.inputs import Common, OptionInputs, bared, common_inputs, option_inputs
from fabricreport.uncertain import Uncertain

Found = TypeVar("Found")
STEPS, LOSSES, STANDING, COMMON = "steps", "losses", "standing", "common"


@dataclass(frozen=True)
class Parts:
    """What the bills are made of, each part made or still to be made (None; of an option: missing).

    `exposed`: exposed communication over the horizon, `lost`: losses by cause and weeks to stable, `standing`: what is
    built, `own`: the option's own inputs; all by option id. `common`: inputs that options share. `before`: other bills.
    """

    found: Exposure | None = None
    exposed: Mapping[str, Traced] | None = None
    lost: Mapping[str, tuple[Mapping[str, Traced], Traced]] = field(default_factory=dict)
    standing: Mapping[str, tuple[Build, ...]] | None = None
    common: Common | None = None
    own: Mapping[str, OptionInputs] = field(default_factory=dict)
    before: Bills | None = None


@dataclass(frozen=True)
class Chain:
    """The parts and the bills made of them, the inputs they were made from, and the ids that each part asked for.

    `read`: everything that was read for the steps and for the losses, of a chain made from the beginning.
    """

    given: Inputs
    measurements: ClientMeasurements | None
    exposure: Exposure
    exposed: Mapping[str, Traced]
    losses: Losses
    bills: Bills
    asked: Mapping[str, frozenset[str]]
    read: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def read_by(self, given: Inputs) -> Chain:
        """The same chain for another reader of its inputs."""
        return replace(self, given=given)

    @property
    def reached_by(self) -> frozenset[str]:
        """Ids of every input that the bills rest on."""
        return frozenset().union(*self.asked.values())

    def replacing(self, figures: Mapping[str, Uncertain]) -> Chain:
        """The chain with other figures in force for these ids, every other input at its draws."""
        reached = {i for i in self.reached_by if self.given.rests_on(i, figures)}
        parts = self._parts(lambda part: not reached.isdisjoint(self.asked[part]))
        return _run(self.given.replacing(figures), self.measurements, parts, self.asked)

    def bare(self) -> Chain:
        """The same chain, ready to be run again without provenance."""
        exposed, lost, bill = bared(dict(self.exposed)), bared(self.losses), bared(self.bills)
        return replace(self, given=self.given.bare(), exposed=exposed, losses=lost, bills=bill)

    def under(self, given: Inputs) -> Chain:
        """The bills under other inputs that reach the bills alone: what stands and what the fabrics lose is the same."""
        parts = replace(self._parts(lambda _: False), common=None, own={})
        return _run(given, self.measurements, parts, self.asked)

    def again(self, given: Inputs) -> Chain:
        """The whole chain under other params of the same client, whose logs are not read again."""
        return _run(given, self.measurements, Parts(), self.asked)

    def _parts(self, is_reached: Callable[[str], bool]) -> Parts:
        """The parts that are not reached; losses follow from steps, and an option's own inputs from its losses."""
        kept = Parts(
            standing=None if is_reached(STANDING) else self.bills.built,
            common=None if is_reached(COMMON) else self.bills.stated,
            before=self.bills,
        )
        if is_reached(STEPS):
            return kept
        lost = {o: (self.losses.lost[o], self.losses.weeks[o]) for o in self.exposed if not is_reached(_lost(o))}
        own = {o: self.bills.own[o] for o in lost if not is_reached(_own(o))}
        return replace(kept, found=self.exposure, exposed=self.exposed, lost=lost, own=own)


def chain(given: Inputs) -> Chain:
    """The whole chain of a case; the client's logs are read here."""
    with given.reads.frame() as logs:
        measured = client_measurements(given, measured_option(given))
    made = _run(given, measured, Parts(), {})
    return replace(made, read={**made.read, STEPS: made.read[STEPS] | logs})


def _lost(option: str) -> str:
    return f"losses of {option}"


def _own(option: str) -> str:
    return f"inputs of {option}"


def _run(
    given: Inputs, measurements: ClientMeasurements | None, parts: Parts, before: Mapping[str, frozenset[str]]
) -> Chain:
    """Make what is missing of the parts, and the bills; `before`: what each part asked for when it was made."""
    asked = dict(before)
    read: dict[str, frozenset[str]] = {}

    def part(name: str, compute: Callable[[], Found]) -> Found:
        with given.noting() as ids, given.reads.frame() as seen:
            result = compute()
        asked[name], read[name] = frozenset(ids), frozenset(seen)
        return result

    found, exposed = parts.found, parts.exposed
    factors = measurements.factors if measurements else None
    if found is None or exposed is None:
        # A rerun needs no pair of fabrics that the client does not compare: only the study shows it.
        options = given.options if before else tuple({o.id: o for o in (*given.options, *pair(given))}.values())
        found = part(STEPS, lambda: exposure(given, options, factors))
        horizon = found.horizon(given)
        exposed = {o.id: horizon[o.id] for o in given.options}
    lost = dict(parts.lost)
    for option in given.options:
        if option.id not in lost:
            lost[option.id] = part(_lost(option.id), partial(losses, given, option, exposed[option.id]))
    all_lost = Losses({o: shares for o, (shares, _) in lost.items()}, {o: weeks for o, (_, weeks) in lost.items()})
    standing = part(STANDING, lambda: builds_of(given)) if parts.standing is None else parts.standing
    common = part(COMMON, lambda: common_inputs(given)) if parts.common is None else parts.common
    own = dict(parts.own)
    for option in given.options:
        if option.id not in own:
            own[option.id] = part(_own(option.id), partial(option_inputs, given, option, exposed[option.id], all_lost))
    bill = bills(given, common, {o.id: own[o.id] for o in given.options}, all_lost, standing, parts.before)
    read[LOSSES] = frozenset().union(*(read.get(_lost(o.id), frozenset()) for o in given.options))
    return Chain(given, measurements, found, exposed, all_lost, bill, asked, read)
