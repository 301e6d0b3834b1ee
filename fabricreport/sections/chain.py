"""From inputs to bills: exposed communication, then losses, then every option's bill, each part run only when reached.

A what-if is the same chain on other inputs. Each part remembers which inputs it asked for, so a part that the change
does not reach is taken over as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeVar

from fabricreport.base.provenance import Traced
from fabricreport.base.uncertain import Uncertain
from fabricreport.books.options import Option
from fabricreport.inputs.centre import Centre
from fabricreport.inputs.inputs import Inputs
from fabricreport.models.training.step import Network
from fabricreport.sections.client import stages_of
from fabricreport.sections.latency.inputs import pair, stages
from fabricreport.sections.latency.measurements import ClientMeasurements, client_measurements, measured_option
from fabricreport.sections.latency.result import (
    Exposure,
    Jobs,
    Timed,
    beside_of,
    jobs_of,
    plans_of,
    timed_on,
    timed_over,
)
from fabricreport.sections.tail_risk.inputs import Losses, losses
from fabricreport.sections.tco.fabric import Build
from fabricreport.sections.tco.inputs import (
    Common,
    Hired,
    OptionInputs,
    bared,
    common_inputs,
    option_inputs,
    with_losses,
)
from fabricreport.sections.tco.result import Bills, bills, builds_of

Found = TypeVar("Found")
JOBS, BESIDE, STEPS, STANDING, COMMON = "jobs", "plan beside", "steps", "standing", "common"


@dataclass(frozen=True)
class Delivered:
    """What was seen of one option (its id) where it stands; None: nothing was seen of it.

    `network`: as measured. `weeks`: until it was stable. `faults`: by what factor the GPU time that the fabric's faults
    take differs from what was expected.
    """

    option: str
    network: Network | None = None
    weeks: float | None = None
    faults: float = 1.0


@dataclass(frozen=True)
class Parts:
    """What the bills are made of, each part made or still to be made (None; of an option: missing).

    `jobs`: what is run, with the plans that are known of options; `replanned`: unless other jobs suit the inputs now;
    `rebased`: unless they are held against another now. `standing`: what is built, by option id; `common`: inputs that
    options share.
    By option id: `timed`: network and steps, `exposed`: exposed communication over the horizon, `lost`: losses by cause
    and weeks to stable, `terms`: the option's own inputs, whatever its losses. `before`: other bills. `seen`: of an option
    that stands. `whole`: fabrics that the client does not compare are timed too, which a study shows and no bill needs.
    `hired`: what a GPU-hour costs with an offer; None: the market's rent.
    """

    jobs: Jobs | None = None
    replanned: bool = False
    rebased: bool = False
    timed: Mapping[str, Timed] = field(default_factory=dict)
    exposed: Mapping[str, Traced] = field(default_factory=dict)
    lost: Mapping[str, tuple[Mapping[str, Traced], Traced]] = field(default_factory=dict)
    standing: Mapping[str, tuple[Build, ...]] | None = None
    common: Common | None = None
    terms: Mapping[str, OptionInputs] = field(default_factory=dict)
    before: Bills | None = None
    seen: Delivered | None = None
    whole: bool = False
    hired: Hired | None = None


@dataclass(frozen=True)
class Chain:
    """The parts and the bills made of them, the inputs they were made from, and the ids that each part asked for.

    `hired`: what a GPU-hour costs with the offer that a renter is advised to take; None: the market's rent.
    """

    given: Inputs
    measurements: ClientMeasurements | None
    exposure: Exposure
    exposed: Mapping[str, Traced]
    losses: Losses
    bills: Bills
    asked: Mapping[str, frozenset[str]]
    hired: Hired | None = None

    @property
    def reached_by(self) -> frozenset[str]:
        """Ids of every input that the bills rest on."""
        return frozenset().union(*self.asked.values())

    def replacing(self, figures: Mapping[str, Uncertain]) -> Chain:
        """The chain with other figures in force for these ids, every other input at its draws."""
        return _run(self.given.replacing(figures), self.measurements, self._unreached_by(figures), self.asked)

    def onto(self, given: Inputs, moved: Collection[str]) -> Chain:
        """The chain of inputs that differ from these in the figures in force of these ids alone; of no client with logs."""
        return _run(given, None, replace(self._unreached_by(moved), whole=True), self.asked)

    def _unreached_by(self, ids: Collection[str]) -> Parts:
        reached = {i for i in self.reached_by if self.given.rests_on(i, ids)}
        return self._parts(lambda part: not reached.isdisjoint(self.asked[part]))

    def delivered(self, seen: Delivered) -> Chain:
        """The chain with what was seen of one option in the place of what was expected of it; of the others, all is the same."""
        stands = next(o for o in self.given.options if o.id == seen.option)
        parts = self._parts(lambda part: part == _lost(seen.option))
        if seen.network is not None:
            timed = timed_over(self.given, self.exposure.jobs, stands, seen.network)
            exposed = {o: draws for o, draws in self.exposed.items() if o != seen.option}
            parts = replace(parts, timed={**parts.timed, seen.option: timed}, exposed=exposed)
        return _run(self.given, self.measurements, replace(parts, seen=seen), self.asked)

    def at(self, hired: Hired | None) -> Chain:
        """The bills where a GPU-hour is rented at this price, and at the market's rent without one."""
        parts = replace(self._parts(lambda _: False), common=None, whole=True, hired=hired)
        return _run(self.given, self.measurements, parts, self.asked)

    def bare(self) -> Chain:
        """The same chain, ready to be run again without provenance."""
        exposed, lost, bill = bared(dict(self.exposed)), bared(self.losses), bared(self.bills)
        timed = {
            o: replace(one, steps=bared(dict(one.steps)), shares=bared(dict(one.shares)))
            for o, one in self.exposure.timed.items()
        }
        steps = replace(self.exposure, timed=timed)
        return replace(self, given=self.given.bare(), exposure=steps, exposed=exposed, losses=lost, bills=bill)

    def at_centre(self) -> Chain:
        """The central case of the same equipment and jobs: one draw, every uncertain input at its central value."""
        parts = Parts(jobs=self.exposure.jobs, standing=self.bills.built, hired=self.hired)
        return _run(Centre(self.given), self.measurements, parts, {})

    def under(self, given: Inputs) -> Chain:
        """The bills under other inputs that reach the bills alone: what stands and what the fabrics lose is the same."""
        parts = replace(self._parts(lambda _: False), common=None, terms={})
        return _run(given, self.measurements, parts, self.asked)

    def priced(self, given: Inputs) -> Chain:
        """The bills under other terms of what an option is bought with: all but the options' own inputs is the same."""
        own = {_own(o) for o in self.bills.own}
        return _run(given, self.measurements, self._parts(own.__contains__), self.asked)

    def over(self, given: Inputs) -> Chain:
        """The whole chain over another horizon, or as another topology or number of subnets: if that adds or leaves out no
        size and buys no other switches, each step takes as long as it did."""
        sizes = {gpus for _, gpus in stages_of(given)}
        same = sizes == set(self.exposure.jobs.mixes) and given.options == self.given.options
        parts = Parts(jobs=self.exposure.jobs, timed=self._timed(lambda _: False)) if same else Parts()
        return _run(given, self.measurements, replace(parts, hired=self.hired), self.asked)

    def again(self, given: Inputs) -> Chain:
        """The whole chain under other params of the same client, whose logs are not read again."""
        return _run(given, self.measurements, Parts(hired=self.hired), self.asked)

    def _parts(self, is_reached: Callable[[str], bool]) -> Parts:
        """The parts that are not reached; losses follow from steps."""
        timed = self._timed(is_reached)
        exposed = {o: draws for o, draws in self.exposed.items() if o in timed}
        lost = {o: (self.losses.lost[o], self.losses.weeks[o]) for o in exposed if not is_reached(_lost(o))}
        jobs = self.exposure.jobs
        return Parts(
            jobs=replace(jobs, own={o: own for o, own in jobs.own.items() if not is_reached(_plans(o))}),
            replanned=is_reached(JOBS),
            rebased=is_reached(BESIDE),
            timed=timed,
            exposed=exposed,
            lost=lost,
            standing=None if is_reached(STANDING) else self.bills.built,
            common=None if is_reached(COMMON) else self.bills.stated,
            terms={o: own for o, own in self.bills.own.items() if not is_reached(_own(o))},
            before=self.bills,
            hired=self.hired,
        )

    def _timed(self, is_reached: Callable[[str], bool]) -> dict[str, Timed]:
        timed = self.exposure.timed.items()
        return {o: one for o, one in timed if not (is_reached(_steps(o)) or is_reached(_plans(o)))}


def chain(given: Inputs) -> Chain:
    """The whole chain of a case; the client's logs are read here."""
    return _run(given, client_measurements(given, measured_option(given)), Parts(whole=True), {})


def _plans(option: str) -> str:
    return f"plans of {option}"


def _steps(option: str) -> str:
    return f"{STEPS} of {option}"


def _lost(option: str) -> str:
    return f"losses of {option}"


def _own(option: str) -> str:
    return f"inputs of {option}"


def _run(
    given: Inputs, measurements: ClientMeasurements | None, parts: Parts, before: Mapping[str, frozenset[str]]
) -> Chain:
    """Make what is missing of the parts, and the bills; `before`: what each part asked for when it was made."""
    asked = dict(before)

    def part(name: str, compute: Callable[[], Found]) -> Found:
        with given.noting() as ids:
            result = compute()
        asked[name] = frozenset(ids)
        return result

    def each(known: Mapping[str, Found], name: Callable[[str], str], make: Callable[[str], Found]) -> dict[str, Found]:
        """The part of every option by id, made where it is not known."""
        return {o: known[o] if o in known else part(name(o), partial(make, o)) for o in option}

    factors = measurements.factors(given) if measurements else None
    option = {o.id: o for o in given.options}
    others = [o for o in pair(given) if o.id not in option]
    jobs = parts.jobs
    if jobs is None or parts.replanned:
        fresh = part(JOBS, lambda: jobs_of(given))
        if jobs is None or (fresh.mixes, fresh.shared) != (jobs.mixes, jobs.shared):
            jobs, parts = fresh, replace(parts, timed={}, exposed={}, lost={})
    own_plans = {
        o.id: jobs.own.get(o.id) or part(_plans(o.id), partial(plans_of, given, jobs.shared, o))
        for o in (*given.options, *others)
    }
    was, jobs = jobs, replace(jobs, own=own_plans)
    if was.beside is None or parts.rebased or len(was.own) < len(own_plans):
        jobs = replace(jobs, beside=part(BESIDE, partial(beside_of, given, jobs)))
        if jobs.beside != was.beside:
            parts = replace(parts, timed={}, exposed={}, lost={})
    timed = each(parts.timed, _steps, lambda o: timed_on(given, jobs, option[o], factors))
    for o in others if parts.whole else ():
        known = parts.timed.get(o.id)
        timed[o.id] = known or part(_steps(o.id), partial(timed_on, given, jobs, o, factors))
    found = Exposure(stages(given), jobs, timed)
    exposed = {o: parts.exposed[o] if o in parts.exposed else found.over_horizon(given, o) for o in option}
    lost = each(parts.lost, _lost, lambda o: _losses(given, option[o], found, parts.seen))
    all_lost = Losses({o: shares for o, (shares, _) in lost.items()}, {o: weeks for o, (_, weeks) in lost.items()})
    standing = part(STANDING, lambda: builds_of(given)) if parts.standing is None else parts.standing
    common = part(COMMON, lambda: common_inputs(given, parts.hired)) if parts.common is None else parts.common
    own = each(parts.terms, _own, lambda o: option_inputs(given, option[o], exposed[o], all_lost))
    own |= {o: with_losses(own[o], o, exposed[o], all_lost) for o in parts.terms if o not in parts.lost}
    bill = bills(given, common, own, standing, parts.before)
    return Chain(given, measurements, found, exposed, all_lost, bill, asked, parts.hired)


def _losses(
    given: Inputs, option: Option, found: Exposure, seen: Delivered | None
) -> tuple[Mapping[str, Traced], Traced]:
    """What an option loses by cause, and its weeks; as seen, where it stands."""
    if seen is None or seen.option != option.id:
        return losses(given, option, found.by_job(given, option.id), found.jobs.standby)
    lost, weeks = losses(given, option, found.by_job(given, option.id), found.jobs.standby, seen.weeks)
    return {**lost, "fabric": given.spread(lost["fabric"] * seen.faults)}, weeks
