"""The figures of the acceptance plan: every threshold, the chances of error, the credit, and thresholds in use beside ours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from fabricreport.figures import FigureSpec, Index, TakenSpec
from fabricreport.ledger import Number
from fabricreport.models.audit.acceptance import Values, luck
from fabricreport.provenance import inputs_of
from fabricreport.sections.diligence.figure_context import DiligenceFigures
from fabricreport.sections.diligence.plan.result import Plan, PlannedTest
from fabricreport.sections.diligence.plan.rule import gpu_gbytes_per_s, noise_id
from fabricreport.sections.diligence.plan.sheets import ethernets, headroom_bytes, port_gbits_per_s
from fabricreport.sections.diligence.terms import Credit, Terms, paid_for
from fabricreport.sections.latency import inputs

_ALLREDUCE = "T-ALLREDUCE"
IN_USE = "evidence:acceptance-share-together"
_HEADROOM = ("evidence:acceptance-cable-metres", "evidence:fibre-delay-ns-per-metre", "evidence:lossless-packet-bytes")
_LINKS = ("param:cluster.link_gbits_per_s", "param:cluster.links_per_gpu", "param:cluster.gpu")


def numbers_of(plan: Plan) -> Iterator[Number]:
    """Every number that the study of a plan made; promises of the body's table are figures of their own."""
    for test in plan.tests:
        lines = (n for line in test.lines.values() for n in (line.floor, line.credit, line.saving))
        yield from (
            n for n in (*lines, test.price, test.repeats, test.false_pass, test.false_fail) if n and ".plan." in n.id
        )


def _both(at: DiligenceFigures) -> tuple[Plan, ...]:
    return tuple(plan for plan in (at.result.plan, at.result.plan_of_rival) if plan is not None)


def _keyed(plan: Plan | None, terms: Terms | None, prefix: str) -> Mapping[str, Number]:
    """The numbers of a plan, and those of the credits of its later stages."""
    later = [n for c in terms.credits.values() for n in (c.rate, c.most) if ".plan." in n.id] if terms else []
    return {n.id.removeprefix(prefix): n for n in (*numbers_of(plan), *later)} if plan else {}


def _ours(at: DiligenceFigures) -> Mapping[str, Number]:
    return _keyed(at.result.plan, at.result.terms, "diligence.plan.")


def _theirs(at: DiligenceFigures) -> Mapping[str, Number]:
    return _keyed(at.result.plan_of_rival, at.result.terms_of_rival, "diligence.rival.plan.")


def line_gbytes_per_s(at: DiligenceFigures) -> float:
    """Line rate of the fabric adapters of a scale-up domain of the option tested."""
    domain = inputs.middle(at.given, at.result.option).domain_gpus
    return gpu_gbytes_per_s(at.given, at.result.option) * domain


def _floor(at: DiligenceFigures, place: int) -> Number:
    """The threshold of AllReduce at the largest message: on the fewest GPUs (0) or on all (-1)."""
    test = at.result.plan.of(_ALLREDUCE)[0]
    ends = sorted(test.bars)
    gpus = ends[place][0]
    return test.bars[max(key for key in ends if key[0] == gpus)]


Spec = FigureSpec[DiligenceFigures]
EachSpec = FigureSpec[DiligenceFigures, str]


def _share_of_line(name: str, place: int, where: str) -> Spec:
    return Spec(
        f"diligence.line_share.{name}",
        "share",
        label=f"Threshold of AllReduce at the largest message on {where}, as a share of line rate",
        rule="threshold ÷ line rate of a domain's network adapters",
        value=lambda at: _floor(at, place).value / line_gbytes_per_s(at),
        inputs=lambda at: (_floor(at, place), *_LINKS),
        digits=2,
        when=lambda at: bool(at.result.plan.tests),
    )


PLAN = (
    TakenSpec[DiligenceFigures, str]("diligence.plan[bar]", lambda at, key: _ours(at)[key]),
    TakenSpec[DiligenceFigures, str](
        "diligence.rival.plan[bar_of_rival]",
        lambda at, key: _theirs(at)[key],
    ),
    EachSpec(
        "diligence.run_gpus[span]",
        "gpus",
        label=lambda _, gpus: f"GPUs of a run of the acceptance plan: {gpus}",
        rule="GPUs of a node × nodes, from two up by fours to the whole stage; of some tests every second node",
        value=lambda _, gpus: float(gpus),
        inputs=("param:cluster.gpus", "param:cluster.gpus_per_node"),
        digits=7,
    ),
    Spec(
        "diligence.line_rate",
        "gbytes/s",
        label="Line rate of a scale-up domain's network adapters",
        rule="links of a GPU × line rate × GPUs of a domain ÷ 8",
        value=line_gbytes_per_s,
        inputs=_LINKS,
        when=lambda at: bool(at.result.plan.tests),
    ),
    _share_of_line("few", 0, "the fewest nodes tested"),
    _share_of_line("all", -1, "all nodes of the first stage"),
    Spec(
        "diligence.in_use",
        "gbytes/s",
        label="What a threshold in use would ask at this line rate",
        rule="share in use × line rate",
        value=lambda at: at.given.central(IN_USE) * line_gbytes_per_s(at),
        inputs=(IN_USE, *_LINKS),
        when=lambda at: bool(at.result.plan.tests),
    ),
    Spec(
        "diligence.plan_false_fail",
        "share",
        label="Chance that a network fails anything at a stage, over all that the model holds possible",
        rule="mean over the draws of the model, all tests of a stage together; the largest of the stages",
        value=lambda at: max(_fails(at.result.plan).values()),
        inputs=lambda at: [t.false_fail for t in at.result.plan.tests if t.false_fail],
        digits=2,
        when=lambda at: bool(_fails(at.result.plan)),
    ),
    Spec(
        "diligence.credit_share",
        "share",
        label=lambda at: f"Credit for one percent of bandwidth, as a share of {paid_for(at.given)} of the first stage",
        rule="mean cost of one percent less busbw ÷ mean price of what the seller delivers",
        value=lambda at: _credit(at).rate.value / _credit(at).price,
        inputs=lambda at: [_credit(at).rate, *inputs_of(at.result.price)],
        digits=2,
        when=lambda at: 1 in at.result.terms.credits,
    ),
    Spec(
        "diligence.credit_luck",
        "share",
        label="By how much the middle run of a sound network falls short on average",
        rule="noise of a run ÷ (2 × √runs)",
        value=lambda at: luck(at.given.central(noise_id("bandwidth")), _paying(at).runs),
        inputs=lambda at: (noise_id("bandwidth"), *([r] if (r := _paying(at).repeats) else [])),
        digits=2,
        when=lambda at: 1 in at.result.terms.credits,
    ),
    EachSpec(
        "diligence.port_rate[ethernet]",
        "gbits/s",
        label=lambda at, option: f"Rate of a port of {ethernets(at.given)[option].name}",
        rule="rate of a GPU’s link ÷ planes over which the adapter splits it",
        value=lambda at, option: port_gbits_per_s(at.given, ethernets(at.given)[option]),
        inputs=_LINKS,
    ),
    EachSpec(
        "diligence.headroom[ethernet]",
        "kbytes",
        label=lambda at, option: f"Least headroom of a lossless port of {ethernets(at.given)[option].name}",
        rule="2 × cable length × delay of fibre × rate of the port ÷ 8 + two packets of the largest size",
        value=lambda at, option: headroom_bytes(at.given, ethernets(at.given)[option]) / 1000.0,
        inputs=(*_HEADROOM, *_LINKS),
    ),
)

INDEXES: Mapping[str, Index[DiligenceFigures]] = {
    "bar": Index(_ours),
    "bar_of_rival": Index(_theirs),
    "span": Index(lambda at: dict.fromkeys(str(g) for p in _both(at) for t in p.tests for g, size in t.bars if size)),
    "ethernet": Index(lambda at: ethernets(at.given)),
}


def _fails(plan: Plan) -> dict[int, float]:
    """Chance of a false fail by stage: a network that is poor in one test is so in the next."""
    passing: dict[int, Values] = {}
    for test in plan.tests:
        if test.passing is not None:
            passing[test.stage] = passing.get(test.stage, np.ones(1)) * test.passing
    return {stage: 1.0 - float(np.mean(chance)) for stage, chance in passing.items()}


def _credit(at: DiligenceFigures) -> Credit:
    return at.result.terms.credits[1]


def _paying(at: DiligenceFigures) -> PlannedTest:
    return at.result.plan.of(at.result.terms.exchange.test)[0]
