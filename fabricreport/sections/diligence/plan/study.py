"""The acceptance plan of one option: each test at each stage of the cluster, with its command and what it has to show."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from fabricreport.books.acceptance import AcceptanceBook, PlanEntry, Suite, filled
from fabricreport.books.sellers import read_questions
from fabricreport.inputs.inputs import Inputs
from fabricreport.ledger.figures import worded
from fabricreport.ledger.numbers import Number
from fabricreport.models.audit.acceptance import Reason, Values, written
from fabricreport.models.training.step import Network
from fabricreport.sections.diligence.amounts import Tested
from fabricreport.sections.diligence.inputs import Ground
from fabricreport.sections.diligence.plan.result import Layout, Line, Plan, PlannedTest, Stage, Tool, layout_of, stages
from fabricreport.sections.diligence.plan.rule import (
    BITS_PER_BYTE,
    LIMITS,
    Bar,
    Made,
    bar_name,
    bar_of,
    gpu_gbytes_per_s,
    healthy_of,
    noise_id,
    timed,
)
from fabricreport.sections.diligence.promises import Promise
from fabricreport.sections.diligence.terms import is_sent

_BESIDE = 3
"""Nodes of the incast test that do not send to the one receiver: itself, and the two of the bystander."""
_PROMISED = ("weeks", "interruptions", "detection")
_NEVER = 1e-6
"""A chance below it is stated as it: the noise is not known so far out."""
_SOAK = ((), ("evidence:acceptance-soak-hours",))
Key = tuple[int, int]


@dataclass(frozen=True)
class Bars:
    """What a test has to show: lines of the ledger by (GPUs, bytes), how often it is run, and what they do for the lead.

    `errors`: chances of error as numbers, (false pass, false fail), where the test is no exact one. `passing`: the chance, of each
    network that the model holds possible, to pass the whole test.
    """

    lines: Mapping[Key, Line]
    unit: str
    at_least: bool
    runs: int
    counted: int
    basis: str
    errors: tuple[Number | None, Number | None] = (None, None)
    passing: Values | None = None


def plan_of(on: Ground, promised: Sequence[Promise], tested: Tested | None, *, prefix: str = "diligence") -> Plan:
    """The plan for the option that the ground names; without tests where all GPUs sit in one node."""
    if tested is None:
        return Plan(on.option.id, ())
    making = Making(on, {p.id: p for p in promised}, tested, prefix, layout_of(on.given, on.option))
    found = [making.test(e, s) for s in stages(on.given) for e in making.book.tests if making.layout.applies(e, s)]
    setup = {
        stage.number: filled(making.book.setup, making.words(stage, _runs(found, stage))) for stage in stages(on.given)
    }
    return Plan(on.option.id, tuple(found), setup, filled(making.book.versions, making.facts), making.settings)


def _runs(found: Sequence[PlannedTest], stage: Stage) -> int:
    """Runs of a stage's collectives at large messages, the same for all."""
    return next(test.runs for test in found if test.stage == stage.number and test.by_step is not None)


@dataclass(frozen=True)
class Making:
    """What the tests of one option are made from."""

    on: Ground
    promised: Mapping[str, Promise]
    tested: Tested
    prefix: str
    layout: Layout

    @property
    def book(self) -> AcceptanceBook:
        """The plan's data."""
        return self.layout.book

    @property
    def given(self) -> Inputs:
        """The client's inputs."""
        return self.on.given

    @cached_property
    def wires(self) -> Network:
        """The option's network, every draw."""
        return self.on.network(self.on.option, 1)

    @property
    def suite(self) -> Suite:
        """The benchmark of the client's GPUs."""
        return self.book.suites[str(self.given.params.cluster.vendor)]

    @property
    def settings(self) -> tuple[str, ...]:
        """What the order names: reduction in the switches as the total cost has it, and the library's defaults for the rest."""
        reduction = self.on.option.behaviour.reduction
        on = bool(reduction) and self.given.central(f"evidence:{reduction}") > 1.0
        return (self.book.reduction["on" if on else "off"],)

    def test(self, entry: PlanEntry, stage: Stage) -> PlannedTest:
        """A test at a stage."""
        bars = _MAKERS[entry.bar](self, entry, stage)
        price, most = self._pays(entry, stage)
        return PlannedTest(
            entry.id,
            entry.title,
            Tool(entry.tool),
            entry.measures,
            stage.number,
            stage.gpus,
            {key: line.floor.value for key, line in bars.lines.items()},
            bars.unit,
            bars.at_least,
            bars.runs,
            bars.counted,
            filled(entry.command, self.words(stage, bars.runs)),
            self.book.reasons["floor" if isinstance(bars.basis, Reason) else bars.basis],
            tuple(q.id for q in read_questions() if entry.id in q.tests_of(self.tested.terms.exchange.test)),
            price,
            *bars.errors,
            lines=bars.lines,
            basis=bars.basis,
            why=entry.why,
            by_step=self.by_step(entry),
            repeats=self._repeats(entry, stage, bars),
            passing=bars.passing,
            most=most,
            pays=entry.pays,
        )

    def _pays(self, entry: PlanEntry, stage: Stage) -> tuple[Number | None, float | None]:
        """What a unit of shortfall is paid by, and the most that is paid where that is ever reached, as the terms have both."""
        terms = self.tested.terms
        if entry.pays == "busbw":
            credit = terms.credits.get(stage.number) if entry.id == terms.exchange.test else None
            return (None, None) if credit is None else (credit.rate, credit.most.value if credit.ends else None)
        if entry.pays == "latency":
            return terms.latency.get(stage.number), None
        if entry.pays == "weeks":
            return terms.damages["weeks"], float(
                terms.weeks.cap
            ) if terms.weeks and terms.weeks.cap is not None else None
        return (self.promised[entry.pays].price if entry.pays in self.promised else None), None

    def _repeats(self, entry: PlanEntry, stage: Stage, bars: Bars) -> Number:
        return self.on.number(
            self.number_id(entry, stage, "runs"),
            float(bars.runs),
            "count",
            **worded("agreed", "runs", test=entry.id, stage=stage.number),
            inputs={*LIMITS, *([noise_id(entry.noise)] if entry.noise != "none" else []), *_SOAK[entry.bar == "soak"]},
        )

    def by_step(self, entry: PlanEntry) -> bool | None:
        """Whether a step of the job sends what a collective times, where it asks: else no saving is at stake in it."""
        if not entry.collective:
            return None
        traffic = self.on.latency.steps[self.on.option.id].traffic
        return any(is_sent(entry, t) for t in traffic)

    def saves(self, entry: PlanEntry) -> bool:
        """Whether a saving is at stake in a test: not in one of what the job does not send, but for that of the promise."""
        return self.by_step(entry) is not False or entry.id == self.tested.terms.exchange.test

    def number_id(self, entry: PlanEntry, stage: Stage, *rest: object) -> str:
        """The id of a number of this plan."""
        return ".".join([self.prefix, "plan", entry.id, str(stage.number), *(str(r) for r in rest)])

    @property
    def facts(self) -> Mapping[str, str]:
        """What fills commands at any stage."""
        suite, transport = self.suite, self.book.transports[str(self.on.option.side)]
        named = {name: getattr(suite, name) for name in ("folder", "memory", "driver", "build", "source")}
        order = " ".join(f"-x {setting}" for setting in self.settings)
        wires = {"library_env": transport.library, "perftest": transport.perftest}
        return {**named, "suite": suite.name, "settings": order, **wires}

    def words(self, stage: Stage, runs: int) -> Mapping[str, str]:
        """What fills the commands of a stage."""
        layout, nodes = self.layout, self.layout.nodes(stage)
        senders = min(nodes - _BESIDE, round(self.given.central("evidence:acceptance-incast-senders")))
        return {
            **self.facts,
            "stage": str(stage.number),
            "all_nodes": str(nodes),
            "nodes": " ".join(str(gpus // layout.per_node) for gpus in layout.ladder(stage)),
            "half": str(layout.half(stage)),
            "per_node": str(layout.per_node),
            "incast_last": str(senders + _BESIDE - 1),
            "runs": str(runs),
        }


# ---- thresholds by repeated runs


def _collective(making: Making, entry: PlanEntry, stage: Stage, *, loaded: bool = False, runs: int = 0) -> Bars:
    """Floors of bandwidth, or ceilings of time, at each number of GPUs and each size."""
    at_least, sizes = entry.noise == "bandwidth", making.book.sizes[entry.sizes]
    made: dict[Key, Made] = {}
    for gpus in making.layout.spans(entry, stage):
        own = _at(making, entry, stage, gpus, loaded=loaded, runs=runs)
        if loaded:  # on half the GPUs, and beside the idle test of all: it asks no more than that one
            idle = _at(making, entry, stage, stage.gpus, name="idle")
            own = [one.no_tighter(other, at_least=at_least) for one, other in zip(own, idle, strict=True)]
        made |= {(gpus, size): one for size, one in zip(sizes, own, strict=True)}
    first = next(iter(made.values())).threshold
    credit_only = any(m.threshold.reason is Reason.CREDIT_ONLY for m in made.values())
    basis = Reason.CREDIT_ONLY if credit_only else first.reason
    counted = round(making.given.central("evidence:acceptance-counted-run"))
    passing = np.prod(np.broadcast_arrays(*(m.passes for m in made.values())), axis=0)
    errors = _errors(making, entry, stage, tuple(made.values()), passing)
    lines = {key: m.line for key, m in made.items()}
    return Bars(lines, _unit(entry), at_least, first.runs, counted, basis, errors, passing)


def _unit(entry: PlanEntry) -> str:
    return "gbytes/s" if entry.noise == "bandwidth" else "us"


def _at(
    making: Making, entry: PlanEntry, stage: Stage, gpus: int, *, loaded: bool = False, runs: int = 0, name: str = ""
) -> list[Made]:
    """What a collective has to show on so many GPUs, by size; `name` tells its numbers from those of the test itself."""
    given, sizes = making.given, making.book.sizes[entry.sizes]
    at_least, (slower, used) = entry.noise == "bandwidth", _beside_others(making) if loaded else (1.0, ())
    found = timed(given, making.wires, entry.measures, gpus, sizes)
    shown = found.busbw_gbytes_per_s / slower if at_least else found.time_us * slower
    parts = [name] if name else []
    return [
        bar_of(
            making.on,
            Bar(
                making.number_id(entry, stage, *parts, gpus, size),
                _unit(entry),
                label=bar_name(name or "test", test=entry.id, stage=stage.number, gpus=gpus, size=size),
                noise=entry.noise,
                together=making.layout.judged(stage),
                at_least=at_least,
                used=("param:cluster.gpus", *used),
                runs=runs,
                healthy=healthy_of(given, making.on.option, entry.measures, gpus, size) if at_least else None,
            ),
            shown[..., place],
            gone=making.tested.percent.gone if at_least and not loaded and not name and making.saves(entry) else None,
            footing=making.tested.percent.footing,
        )
        for place, size in enumerate(sizes)
    ]


def _errors(
    making: Making, entry: PlanEntry, stage: Stage, made: Sequence[Made], passing: Values
) -> tuple[Number | None, Number | None]:
    """The chances of error of a test with all its thresholds: to pass it, a fabric passes every one."""

    def number(part: str, chance: float) -> Number:
        footing = {i for m in made for i in m.line.floor.inputs} | {*LIMITS, noise_id(entry.noise)}
        return making.on.number(
            making.number_id(entry, stage, part),
            max(chance, _NEVER),
            "share",
            **worded("agreed", part, test=entry.id, stage=stage.number),
            inputs=footing,
            digits=2,
        )

    passed = [m.threshold.false_pass for m in made if m.threshold.false_pass is not None]
    lost = number("false_pass", max(passed)) if passed else None
    return lost, number("false_fail", 1.0 - float(np.mean(passing)))


def _beside_others(making: Making) -> tuple[Any, tuple[str, ...]]:
    """How much longer traffic takes beside others' (draws, 1), and the entry that says so."""
    source = f"evidence:{making.on.option.behaviour.neighbours}"
    return 1.0 + making.given.draw(source)[:, None], (source,)


def _soak(making: Making, entry: PlanEntry, stage: Stage) -> Bars:
    return _collective(making, entry, stage, runs=round(making.given.central("evidence:acceptance-soak-hours")))


# ---- thresholds that no run-to-run noise moves


def _exact(
    making: Making,
    entry: PlanEntry,
    stage: Stage,
    values: Mapping[Key, float],
    unit: str,
    *,
    basis: str,
    at_least: bool = True,
    used: Sequence[str] = (),
    once: bool = False,
    digits: int = 3,
) -> Bars:
    """Thresholds that are stated: run as often as any test is at least, or once."""
    given = making.given

    def of(gpus: int) -> str:
        return f" on {gpus:,} GPUs" if len(values) > 1 else ""

    lines = {
        key: Line.exact(
            making.on.number(
                making.number_id(entry, stage, *key),
                value,
                unit,
                **worded("agreed", f"exact-{entry.bar}", test=entry.id, stage=stage.number, of=of(key[0])),
                inputs=("param:cluster.gpus", *used),
                digits=digits,
            )
        )
        for key, value in values.items()
    }
    counted, least = (round(given.central(f"evidence:acceptance-{n}")) for n in ("counted-run", "least-runs"))
    often = (1, 1) if once else (least, counted)
    return Bars(lines, unit, at_least, *often, basis)


def _ranks(making: Making, entry: PlanEntry, stage: Stage) -> Bars:
    values = {(n, 0): 2.0 * (n - 1) / n for n in making.layout.spans(entry, stage)}
    return _exact(making, entry, stage, values, "ratio", basis="exact", once=True, digits=5)


def _links(making: Making, share: float, per_gpu: float) -> float:
    return written(share * per_gpu / making.given.params.cluster.links_per_gpu, at_least=True)


def _link_bar(making: Making) -> float:
    """Gb/s that one link has to show: the lower of the shares in use, of its line rate."""
    share = making.given.uncertain("evidence:acceptance-port-share").low
    return _links(making, share, gpu_gbytes_per_s(making.given, making.on.option) * BITS_PER_BYTE)


def _link(making: Making, entry: PlanEntry, stage: Stage) -> Bars:
    return _exact(
        making,
        entry,
        stage,
        {(2, 0): _link_bar(making)},
        "gbits/s",
        basis="in-use",
        used=("evidence:acceptance-port-share", "param:cluster.link_gbits_per_s"),
    )


def _victim(making: Making, entry: PlanEntry, stage: Stage) -> Bars:
    share = making.given.central("evidence:acceptance-victim-share")
    return _exact(
        making,
        entry,
        stage,
        {(2, 0): written(share * _link_bar(making), at_least=True)},
        "gbits/s",
        basis="in-use",
        used=("evidence:acceptance-port-share", "evidence:acceptance-victim-share", "param:cluster.link_gbits_per_s"),
    )


def _reroute(making: Making, entry: PlanEntry, stage: Stage) -> Bars:
    source = f"evidence:{making.on.option.behaviour.reroute}"
    value = written(making.given.central(source), at_least=False)
    values = {(stage.gpus, 0): value}
    return _exact(
        making,
        entry,
        stage,
        values,
        "s",
        basis="assumed",
        at_least=False,
        used=(source,),
    )


def _none(making: Making, entry: PlanEntry, stage: Stage) -> Bars:
    values = {(stage.gpus, 0): 0.0}
    return _exact(making, entry, stage, values, "count", basis="exact", at_least=False, once=True)


def _promise(making: Making, entry: PlanEntry, stage: Stage) -> Bars:
    """What the body's table promises, word for word the same number."""
    passes = making.promised[entry.bar].passes
    return Bars({(stage.gpus, 0): Line.exact(passes)}, passes.unit, False, 1, 1, "assumed")


Maker = Callable[[Making, PlanEntry, Stage], Bars]
_MAKERS: Mapping[str, Maker] = {
    "bandwidth": _collective,
    "time": _collective,
    "loaded-time": lambda m, e, s: _collective(m, e, s, loaded=True),
    "loaded-bandwidth": lambda m, e, s: _collective(m, e, s, loaded=True),
    "soak": _soak,
    "ranks": _ranks,
    "link": _link,
    "victim": _victim,
    "reroute": _reroute,
    "none": _none,
    **dict.fromkeys(_PROMISED, _promise),
}
