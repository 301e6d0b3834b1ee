"""Figures of the reasons beyond money."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from fabricreport.figures import Footing, Index
from fabricreport.models.judgement.smaa import Acceptability
from fabricreport.provenance import inputs_of
from fabricreport.sections.decision.besides.mfu import Utilisation, Utilisations
from fabricreport.sections.decision.besides.priced import NEIGHBOURS, Priced
from fabricreport.sections.decision.besides.scores import CRITERIA, Score, Weighed
from fabricreport.sections.decision.besides.study import Besides
from fabricreport.sections.decision.besides.topologies import PARTS, OtherTopology
from fabricreport.sections.decision.figure_context import DecisionFigures, EachSpec, PairSpec, Spec

_FACTS = (
    "param:cluster.gpus",
    "param:cluster.tenancy",
    "param:organisation.single_vendor_policy",
    "param:organisation.qos_expertise",
    "param:organisation.existing_ethernet",
    "param:organisation.existing_infiniband",
    "param:money.acquisition",
)
_WEIGHED = (*_FACTS, "param:organisation.beyond_money")
_TRAINING = ("param:cluster.gpu", "param:workload.kind", "param:workload.model_parameters_billion")
_PART_WORDS: Mapping[str, str] = {
    "capital": "capital of the network",
    "running": "power, space, licences, support and staff less resale",
    "lost": "lost GPU time",
    "total": "total cost",
}
_AGAIN = "the model run again on the same outcomes, "


def _besides(at: DecisionFigures) -> Besides:
    return at.result.besides


def _weighed(at: DecisionFigures) -> Weighed:
    return _besides(at).weighed


def _score(at: DecisionFigures, option: str, criterion: str) -> Score:
    return _weighed(at).scores[option][criterion]


def _firsts(at: DecisionFigures, option: str) -> bool:
    return _weighed(at).first.get(option, 0.0) > 0


def _place(at: DecisionFigures, option: str) -> int:
    return _weighed(at).options.index(option)


def _acceptability(at: DecisionFigures) -> Acceptability:
    """What all weightings make of the options; asked for where there is something to weigh."""
    found = _weighed(at).found
    assert found is not None
    return found


def _confidence(at: DecisionFigures, option: str) -> float:
    return float(_acceptability(at).confidence[_place(at, option)])


def _central(at: DecisionFigures, option: str, criterion: str) -> float:
    return float(_acceptability(at).central[_place(at, option), _weighed(at).telling.index(criterion)])


def _first(
    name: str,
    label: Callable[[str], str],
    rule: str,
    value: Callable[[DecisionFigures, str], float],
    when: Callable[[DecisionFigures, str], bool],
) -> EachSpec:
    """How often an option is first, of weightings or of draws of the scores; `label` of the option's name."""
    return EachSpec(
        f"decision.besides.{name}[weighed]",
        "share",
        label=lambda at, option: label(at.names[option]),
        rule=rule,
        value=value,
        inputs=_WEIGHED,
        digits=2,
        grade="assumption",
        when=when,
    )


_SCORES: tuple[Spec | EachSpec | PairSpec, ...] = (
    PairSpec(
        "decision.besides.score[weighed][criterion]",
        "index",
        label=lambda at, option, criterion: f"Score of {at.names[option]} on {criterion}, from 0 (worst) to 1 (best)",
        rule="the first printed rule of the criterion that holds; the size is set by this memo",
        value=lambda at, option, criterion: _score(at, option, criterion).value,
        inputs=_FACTS,
        sources=lambda at, option, criterion: [
            s for s in _score(at, option, criterion).sources if s.startswith("evidence:")
        ],
        digits=2,
        central="mean",
        grade="assumption",
    ),
    _first(
        "first",
        lambda name: f"Share of all weightings of the criteria at which {name} is first",
        "share of uniformly drawn weights that keep a stated order, scores drawn too, at which its additive value is highest",
        lambda at, option: _weighed(at).first[option],
        lambda at, _: _weighed(at).found is not None,
    ),
    _first(
        "confidence",
        lambda name: f"Chance that {name} is first at its own central weights",
        "share of the outcomes of the scores at which it is first at these weights",
        _confidence,
        _firsts,
    ),
    PairSpec(
        "decision.besides.central[weighed][criterion]",
        "share",
        label=lambda at, option, criterion: f"Central weight of {criterion} for {at.names[option]}",
        rule="mean of the weights at which the option is first",
        value=_central,
        inputs=_WEIGHED,
        digits=2,
        grade="assumption",
        when=lambda at, option, criterion: _firsts(at, option) and criterion in _weighed(at).telling,
    ),
    Spec(
        "decision.besides.flip",
        "share",
        label="Weight that must move between equally weighted criteria before another option draws level",
        rule="half the smallest L1 change of equal weights at which the first by mean scores is level with another",
        value=lambda at: (_weighed(at).flip or 0.0) / 2,
        inputs=_FACTS,
        digits=2,
        grade="assumption",
        when=lambda at: _weighed(at).flip is not None,
    ),
)


def _money(
    name: str,
    label: Callable[[DecisionFigures, str], str],
    rule: str,
    found: Callable[[Priced], Mapping[str, Any]],
    more: Footing = (),
) -> EachSpec:
    """An amount by option, where there is one."""
    return EachSpec(
        f"decision.besides.{name}[weighed]",
        "usd",
        label=label,
        rule=rule,
        value=lambda at, option: found(_besides(at).priced)[option],
        inputs=lambda at, option: (
            {*inputs_of(found(_besides(at).priced)[option]), *more} or inputs_of(at.bills.totals[option])
        ),
        central="mean",
        when=lambda at, option: option in found(_besides(at).priced),
    )


def _beside(at: DecisionFigures) -> str:
    return at.names[_besides(at).priced.against]


_PRICED: tuple[EachSpec, ...] = (
    _money(
        "lock_in",
        lambda at, option: f"Buying the switches of {at.names[option]} again rather than those of {_beside(at)}",
        "present value at the end of the horizon, at today's prices, of all its switches − those of the cheapest option of several makers",
        lambda priced: priced.replaced,
    ),
    _money(
        "lock_in_later",
        lambda at, option: (
            f"Buying the switches of the later stages as {at.names[option]} rather than as {_beside(at)}"
        ),
        "present value of the switches bought after the first stage − those of the cheapest option of several makers",
        lambda priced: priced.later,
    ),
    _money(
        "resale",
        lambda at, option: f"Resale value of the network of {at.names[option]} at the end of the horizon",
        "present value of switches, optics and adapters at the share of the price that is taken to remain",
        lambda priced: priced.resale,
    ),
    _money(
        "subnets",
        lambda at, option: f"What spanning subnets costs on {at.names[option]}",
        _AGAIN + "total cost as planned − total cost with one subnet",
        lambda priced: priced.subnets,
        ("param:cluster.subnets",),
    ),
    _money(
        "licences",
        lambda at, option: f"Licences in the bill of {at.names[option]}",
        "present value over the horizon",
        lambda priced: priced.licences,
    ),
    _money(
        "neighbours",
        lambda at, option: f"What other tenants' traffic costs on {at.names[option]}",
        _AGAIN + "total cost − total cost without such traffic",
        lambda priced: priced.neighbours,
        (NEIGHBOURS,),
    ),
)


def _topology_inputs(at: DecisionFigures, option: str) -> Footing:
    return {*inputs_of(at.bills.totals[option]), "param:cluster.topology", "evidence:dragonfly-contention"}


def _other(at: DecisionFigures) -> OtherTopology:
    """The other topology; asked for where it can be counted."""
    topology = _besides(at).topology
    assert topology is not None
    return topology


def _count(name: str, label: str, counts: Callable[[OtherTopology], Mapping[str, int]]) -> EachSpec:
    """A count of the other topology less the planned one's, by option."""
    return EachSpec(
        f"decision.besides.topology_{name}[compared]",
        "count",
        label=lambda at, option: f"{label} of {at.names[option]} in the other topology, less those planned",
        rule="count in the balanced dragonfly − count in the fat tree, or the other way round",
        value=lambda at, option: float(counts(_other(at))[option]),
        inputs=("param:cluster.gpus", "param:cluster.topology"),
        when=lambda at, _: _besides(at).topology is not None,
    )


_TOPOLOGY: tuple[EachSpec | PairSpec, ...] = (
    _count("switches", "Switches", lambda other: other.switches),
    _count("cables", "Cables", lambda other: other.cables),
    PairSpec(
        "decision.besides.topology[part][compared]",
        "usd",
        label=lambda at, part, option: (
            f"The other topology less the planned one, {_PART_WORDS[part]}: {at.names[option]}"
        ),
        rule=_AGAIN + "with the other topology: present value over the horizon, less the same as planned",
        value=lambda at, part, option: _other(at).costs[option][part],
        inputs=lambda at, _, option: _topology_inputs(at, option),
        central="mean",
        when=lambda at, *_: _besides(at).topology is not None,
    ),
)


def _sizes(at: DecisionFigures) -> tuple[str, ...]:
    found = _besides(at).utilisations
    return tuple(str(gpus) for gpus in found.by_size) if found else ()


def _utilisations(at: DecisionFigures) -> Utilisations:
    """The utilisation by size; asked for where a model is trained across nodes."""
    found = _besides(at).utilisations
    assert found is not None
    return found


def _at_size(at: DecisionFigures, gpus: int, option: str) -> float:
    """Mean MFU after the tail."""
    return float(np.mean(_utilisations(at).by_size[gpus][option].after_tail))


def _fall(at: DecisionFigures, option: str) -> float:
    small, large = _utilisations(at).ends
    return 100 * (_at_size(at, small, option) - _at_size(at, large, option))


def _widest(at: DecisionFigures) -> float:
    """The largest distance between the options at one size, in percentage points."""
    each = [[_at_size(at, gpus, o) for o in _besides(at).compared] for gpus in _utilisations(at).by_size]
    return 100 * max(max(row) - min(row) for row in each)


def _behind_mfu(at: DecisionFigures, *_: str) -> Footing:
    """What the utilisation of the two at every size rests on."""
    drawn = [one.after_tail for each in _utilisations(at).by_size.values() for one in each.values()]
    return {*_TRAINING, *inputs_of(drawn)}


def _mfu(name: str, label: str, rule: str, value: Callable[[Utilisation], Any]) -> PairSpec:
    """A utilisation by size and option, (draws,)."""
    return PairSpec(
        f"decision.besides.{name}[size][compared]",
        "share",
        label=lambda at, size, option: f"{label} on {at.names[option]}, a job of {int(size):,} GPUs",
        rule=rule,
        value=lambda at, size, option: value(_utilisations(at).by_size[int(size)][option]),
        inputs=_TRAINING,
        central="mean",
    )


_MFU: tuple[Spec | EachSpec | PairSpec, ...] = (
    EachSpec(
        "decision.besides.size[size]",
        "gpus",
        label="Size of a job",
        rule="the client's own jobs, and sizes of published runs",
        value=lambda _, size: float(size),
        inputs=("param:cluster.gpus",),
        counted=True,
    ),
    _mfu(
        "mfu",
        "MFU as designed",
        "FLOPs of the model in a step ÷ (peak of all GPUs × step time), time spent waiting for the network counted",
        lambda one: one.designed,
    ),
    _mfu(
        "mfu_tail",
        "MFU after the tail",
        "MFU as designed × (1 − share of running time lost to slow servers, stalls and collisions at that size)",
        lambda one: one.after_tail,
    ),
    EachSpec(
        "decision.besides.mfu_fall[compared]",
        "percentage-point",
        label=lambda at, option: f"Fall of the MFU from the smallest size to the largest on {at.names[option]}",
        rule="mean MFU after the tail at the smallest size − that at the largest, in percentage points",
        value=_fall,
        inputs=_behind_mfu,
        digits=2,
        when=lambda at, _: len(_sizes(at)) > 1,
    ),
    Spec(
        "decision.besides.mfu_apart",
        "percentage-point",
        label="Largest distance between the MFU of the two at one size",
        rule="largest difference of the mean MFU after the tail over the sizes shown, in percentage points",
        value=_widest,
        inputs=_behind_mfu,
        digits=2,
        when=lambda at: len(_sizes(at)) > 0 and len(_besides(at).compared) > 1,
    ),
)

BESIDES: tuple[Spec | EachSpec | PairSpec, ...] = (*_SCORES, *_PRICED, *_TOPOLOGY, *_MFU)
INDEXES: Mapping[str, Index[DecisionFigures]] = {
    "weighed": Index(lambda at: _weighed(at).options),
    "criterion": Index(lambda _: CRITERIA, CRITERIA),
    "compared": Index(lambda at: _besides(at).compared),
    "part": Index(lambda _: PARTS, PARTS),
    "size": Index(_sizes),
}
"""What the patterns of these figures run through."""
