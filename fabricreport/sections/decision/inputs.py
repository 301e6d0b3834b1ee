"""What the decision rests on besides money: the printed rule, and what breaks a tie, the client's date first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from fabricreport.inputs import Inputs
from fabricreport.models.judgement.comparison import (
    Apart,
    Comparison,
    Rule,
    Verdict,
    Weighing,
    decide,
    lines_apart,
    noise,
    noise_apart,
)
from fabricreport.models.judgement.framework import FrameworkResult
from fabricreport.provenance import Traced, mean_of, plain
from fabricreport.sections.decision.axes import framework_of, target_gpus
from fabricreport.sections.decision.ties import grounds_of
from fabricreport.sections.partner import barred
from fabricreport.sections.tco.bills import Bills
from fabricreport.sections.tco.cost import QUOTED, RENT, network_pieces


@dataclass(frozen=True)
class Judge:
    """Everything but the bills that the verdict follows from; it gives the verdict on any bills of the same options.

    `barred`: options that are billed and cannot be advised, because the client's contract does not allow them. `stated`: the
    client's own materiality, in the memo's currency.
    """

    sides: Mapping[str, str]
    rule: Rule
    weighing: Weighing
    framework: FrameworkResult
    weeks_allowed: float
    gpus: int
    gpus_per_node: int
    stated: float | None
    barred: tuple[str, ...] = ()

    def advisable(self, bills: Bills) -> dict[str, Traced]:
        """Total cost (draws,) of each option that may be advised, by its id."""
        return {o: total for o, total in bills.totals.items() if o not in self.barred}

    def close(self, bills: Bills, a: str, b: str) -> float:
        """The lead up to which two options are close."""
        return float(apart(bills, a, b).material(self.rule, self.stated))

    def verdict(self, bills: Bills) -> Verdict:
        """The printed rule applied to these bills, of the options that may be advised."""
        return decide(
            self.advisable(bills),
            self.sides,
            rule=self.rule,
            apart=lambda a, b: apart(bills, a, b),
            ready=ready(bills, self.weeks_allowed),
            weighing=self.weighing,
            gpus=self.gpus,
            gpus_per_node=self.gpus_per_node,
            stated=self.stated,
        )


def judge_of(given: Inputs) -> Judge:
    """The rule, the framework, and what breaks a tie of a case."""
    params, found = given.params, framework_of(given)
    stated, out = params.money.materiality_usd, barred(given)
    return Judge(
        sides={o.id: o.side for o in given.options},
        rule=rule_of(given),
        weighing=Weighing(found.leans_to, params.dated, grounds_of(given, found, out)),
        framework=found,
        weeks_allowed=params.weeks_allowed,
        gpus=target_gpus(params),
        gpus_per_node=int(params.cluster.gpus_per_node),
        stated=None if stated is None else float(stated) * mean_of(given.rate("USD")),
        barred=out,
    )


def comparison_of(given: Inputs, bills: Bills) -> Comparison:
    """The verdict on a case's bills, the rule, and the lead by draw."""
    judge = judge_of(given)
    verdict = judge.verdict(bills)
    return Comparison(verdict, judge.rule, bills.gap(verdict.runner_up, verdict.choice))


def rule_of(given: Inputs) -> Rule:
    """The thresholds of the printed rule: an entry of the library each, but for the client's share wanted."""

    def of(name: str) -> float:
        return given.central(f"evidence:rule-{name}")

    return Rule(
        clear_probability=of("clear-probability"),
        material_share=of("material-share"),
        network_share=of("network-share"),
        trifling_share=of("trifling-share"),
        turning_share=of("turning-share"),
        ready_probability=float(given.params.schedule.share_wanted),
        fabric_matters_from_gpus=int(given.central("evidence:fabric-matters-from-gpus")),
    )


def apart(bills: Bills, a: str, b: str) -> Apart:
    """What tells the bills of two options apart.

    Two fabrics that are rented are two sellers, so the rent of one says nothing of the other's, and lies as far from it as
    rents on the market do; and the network is in it.
    """
    parts = bills.parts[a], bills.parts[b]
    quoted = [name for name in {**parts[0], **parts[1]} if name.startswith(QUOTED)]
    return Apart(
        lines=lines_apart(bills.components[a], bills.components[b]),
        quotes=max(noise(*parts, quoted), noise_apart(*parts, RENT, bills.common.server.rents_spread)),
        network=max(sum(mean_of(amount) for amount in network_pieces(of).values()) for of in parts),
    )


def near_kin(judge: Judge, verdict: Verdict) -> str:
    """The cheapest option of the choice's own side that ties with it; '' if there is none, or the course is open."""
    side = judge.sides[verdict.choice]
    kin = (o for o in verdict.tied if judge.sides[o] == side and o not in (verdict.choice, verdict.runner_up))
    return "" if verdict.open else next(kin, "")


def ready(bills: Bills, weeks_allowed: float) -> dict[str, float]:
    """Share of draws in which each option, ordered at once, is in production by the client's date."""
    weeks = {o: plain(own.production_weeks) for o, own in bills.own.items()}
    return {o: float(np.mean(w <= weeks_allowed)) for o, w in weeks.items()}
