"""The figures of the acceptance plan: every threshold, the chances of error, the credit, and thresholds in use beside ours.

What each is called and rests on stands in `figures.yaml`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from fabricreport.base.provenance import inputs_of
from fabricreport.books.options import Option
from fabricreport.inputs.inputs import Inputs
from fabricreport.ledger.figures import Reckoning, figure
from fabricreport.ledger.numbers import Number
from fabricreport.models.audit.acceptance import Values, luck
from fabricreport.sections.diligence.plan.result import Plan, ethernets, headroom_bytes, port_gbits_per_s
from fabricreport.sections.diligence.plan.rule import gpu_gbytes_per_s, noise_id
from fabricreport.sections.diligence.result import DiligenceResult
from fabricreport.sections.diligence.terms import Credit, Terms, paid_for
from fabricreport.sections.latency import inputs

_ALLREDUCE = "T-ALLREDUCE"
IN_USE = "evidence:acceptance-share-together"


@dataclass(frozen=True)
class PlanFigures:
    """What the figures of the acceptance plan are made from, and how each is made."""

    given: Inputs
    result: DiligenceResult

    # ---- what the ids run through

    @cached_property
    def bars(self) -> Mapping[str, Number]:
        """The numbers of the plan by key."""
        return _keyed(self.result.plan, self.result.terms, "diligence.plan.")

    @cached_property
    def bars_of_rival(self) -> Mapping[str, Number]:
        """The numbers of the rival's plan by key, where the course is open."""
        return _keyed(self.result.plan_of_rival, self.result.terms_of_rival, "diligence.rival.plan.")

    @property
    def spans(self) -> Iterable[str]:
        """GPUs of the runs of either plan, where sizes of messages matter."""
        plans = [plan for plan in (self.result.plan, self.result.plan_of_rival) if plan is not None]
        return dict.fromkeys(str(gpus) for p in plans for t in p.tests for gpus, size in t.bars if size)

    def nodes_of(self, gpus: int) -> str:
        """The nodes of a run, in words."""
        return f"{gpus // self.given.params.cluster.gpus_per_node:,} nodes"

    @cached_property
    def ethernets(self) -> Mapping[str, Option]:
        """The options that have a sheet to fill in for their lossless ports, by id."""
        return ethernets(self.given)

    def ethernet_name(self, option: str) -> str:
        """The name of such an option."""
        return self.ethernets[option].name

    # ---- what this client has

    @property
    def is_tested(self) -> bool:
        """Whether the plan has tests."""
        return bool(self.result.plan.tests)

    @property
    def may_fail(self) -> bool:
        """Whether one of them can fail by chance."""
        return bool(self._fails)

    @property
    def has_credit(self) -> bool:
        """Whether bandwidth that falls short at the first stage is credited."""
        return 1 in self.result.terms.credits

    @property
    def credit(self) -> Credit:
        """That credit; asked for where there is one."""
        return self.result.terms.credits[1]

    @property
    def paid_for(self) -> str:
        """What the seller is paid for, in words."""
        return paid_for(self.given)

    # ---- thresholds

    @figure("diligence.plan[bar]")
    def bar(self, key: str) -> Number:
        return self.bars[key]

    @figure("diligence.rival.plan[bar_of_rival]")
    def bar_of_rival(self, key: str) -> Number:
        return self.bars_of_rival[key]

    @figure("diligence.run_gpus[span]")
    def run_gpus(self, gpus: str) -> float:
        return float(gpus)

    @figure("diligence.line_rate")
    def line_rate(self) -> Any:
        option = self.result.option
        return gpu_gbytes_per_s(self.given, option) * inputs.middle(self.given, option).domain_gpus

    def share_of_line(self, place: int) -> Reckoning:
        """The threshold of AllReduce at the largest message, on the fewest GPUs (0) or on all (-1), as a share of line rate."""
        bars = self.result.plan.of(_ALLREDUCE)[0].bars
        gpus = sorted(bars)[place][0]
        floor = bars[max(key for key in bars if key[0] == gpus)]
        return Reckoning(floor.value / self.line_rate(), inputs=(floor,))

    @figure("diligence.line_share.few")
    def line_share_few(self) -> Reckoning:
        return self.share_of_line(0)

    @figure("diligence.line_share.all")
    def line_share_all(self) -> Reckoning:
        return self.share_of_line(-1)

    @figure("diligence.in_use")
    def in_use(self) -> Any:
        return self.given.central(IN_USE) * self.line_rate()

    # ---- chances of error, and the credit

    @cached_property
    def _fails(self) -> Mapping[int, float]:
        """Chance of a false fail by stage: a network that is poor in one test is so in the next."""
        passing: dict[int, Values] = {}
        for test in self.result.plan.tests:
            if test.passing is not None:
                passing[test.stage] = passing.get(test.stage, np.ones(1)) * test.passing
        return {stage: 1.0 - float(np.mean(chance)) for stage, chance in passing.items()}

    @figure("diligence.plan_false_fail")
    def plan_false_fail(self) -> Reckoning:
        each = [test.false_fail for test in self.result.plan.tests if test.false_fail]
        return Reckoning(max(self._fails.values()), inputs=each)

    @figure("diligence.credit_share")
    def credit_share(self) -> Reckoning:
        rate = self.credit.rate
        share, of = rate.value / self.credit.price, {"of": self.paid_for}
        return Reckoning(share, inputs=(rate, *inputs_of(self.result.price)), base=of)

    @figure("diligence.credit_luck")
    def credit_luck(self) -> Reckoning:
        paying = self.result.plan.of(self.result.terms.exchange.test)[0]
        noise = self.given.central(noise_id("bandwidth"))
        return Reckoning(luck(noise, paying.runs), inputs=[paying.repeats] if paying.repeats else ())

    # ---- the sheet of a lossless port

    @figure("diligence.port_rate[ethernet]")
    def port_rate(self, option: str) -> float:
        return port_gbits_per_s(self.given, self.ethernets[option])

    @figure("diligence.headroom[ethernet]")
    def headroom(self, option: str) -> float:
        return headroom_bytes(self.given, self.ethernets[option]) / 1000.0


def _keyed(plan: Plan | None, terms: Terms | None, prefix: str) -> Mapping[str, Number]:
    """The numbers that the study of a plan made, those of the credits of its later stages included, by what follows the prefix.

    Promises of the body's table are figures of their own.
    """
    if plan is None:
        return {}
    made: list[Number | None] = []
    for test in plan.tests:
        made += [n for line in test.lines.values() for n in (line.floor, line.credit, line.saving)]
        made += [test.price, test.repeats, test.false_pass, test.false_fail]
    later = [n for c in terms.credits.values() for n in (c.rate, c.most)] if terms else []
    return {n.id.removeprefix(prefix): n for n in (*made, *later) if n and ".plan." in n.id}
