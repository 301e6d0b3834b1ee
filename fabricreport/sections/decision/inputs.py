"""What the decision rests on besides money: the framework's facts, the printed rule, the client's date and weights."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from fabricreport.evidence import read_yaml
from fabricreport.inputs import Inputs
from fabricreport.models.judgement.comparison import (
    Comparison,
    Rule,
    Verdict,
    Weighing,
    decide,
    noise,
    noise_apart,
    stake,
)
from fabricreport.models.judgement.framework import FrameworkResult, evaluate, rules_from
from fabricreport.provenance import Traced, mean_of, plain
from fabricreport.scenario import Params, is_given
from fabricreport.sections.partner import barred
from fabricreport.sections.tco.bills import Bills
from fabricreport.sections.tco.cost import QUOTED, RENT
from fabricreport.vocabulary import OperatingModel, Side

LOOK_AHEAD_MONTHS = 36
"""The trajectory counts up to the longer end of the window in which growth is said to lock the fabric in."""

AXES = ("workload", "maturity", "scale_and_budget", "time_to_production")
_DATE = "organisation.time_to_production_weeks"


@dataclass(frozen=True)
class Judge:
    """Everything but the bills that the verdict follows from; it gives the verdict on any bills of the same options.

    `barred`: options that are billed and cannot be advised, because the client's contract does not allow them.
    """

    sides: Mapping[str, str]
    rule: Rule
    weighing: Weighing
    framework: FrameworkResult
    weeks_allowed: float
    gpus: int
    gpus_per_node: int
    materiality: float | None
    barred: tuple[str, ...] = ()

    def advisable(self, bills: Bills) -> dict[str, Traced]:
        """Total cost (draws,) of each option that may be advised, by its id."""
        return {o: total for o, total in bills.totals.items() if o not in self.barred}

    def verdict(self, bills: Bills) -> Verdict:
        """The printed rule applied to these bills, of the options that may be advised."""
        return decide(
            self.advisable(bills),
            self.sides,
            rule=self.rule,
            materiality=lambda a, b: material(bills, a, b, self.rule, self.materiality),
            ready=ready(bills, self.weeks_allowed),
            weighing=self.weighing,
            gpus=self.gpus,
            gpus_per_node=self.gpus_per_node,
        )


def judge_of(given: Inputs) -> Judge:
    """The rule, the framework and the client's date and weights of a case."""
    params, found = given.params, framework_of(given)
    stated = params.money.materiality_usd
    return Judge(
        sides={o.id: o.side for o in given.options},
        rule=rule_of(given),
        weighing=Weighing(
            leans_to=found.leans_to,
            weights_stated=weights_stated(params) and abs(found.total) >= given.central("evidence:rule-decisive-lean"),
            date_stated=is_given(params, _DATE),
        ),
        framework=found,
        weeks_allowed=float(params.organisation.time_to_production_weeks),
        gpus=target_gpus(params),
        gpus_per_node=int(params.cluster.gpus_per_node),
        materiality=None if stated is None else float(stated) * mean_of(given.rate("USD")),
        barred=barred(given),
    )


def comparison_of(given: Inputs, bills: Bills) -> Comparison:
    """The verdict on a case's bills, the rule, and the lead by draw."""
    judge = judge_of(given)
    verdict = judge.verdict(bills)
    return Comparison(verdict, judge.rule, bills.gap(verdict.runner_up, verdict.choice))


def rule_of(given: Inputs) -> Rule:
    """The thresholds of the printed rule, each an entry of the library."""
    return Rule(
        clear_probability=given.central("evidence:rule-clear-probability"),
        material_share=given.central("evidence:rule-material-share"),
        ready_probability=given.central("evidence:rule-ready-probability"),
        fabric_matters_from_gpus=int(given.central("evidence:fabric-matters-from-gpus")),
    )


def material(bills: Bills, a: str, b: str, rule: Rule, stated: float | None) -> float:
    """The money below which a lead between two options is close: the client's figure, else the larger of a share of the
    lines that differ and the noise of their quotes.

    Two fabrics that are rented are two sellers, so the rent of one says nothing of the other's.
    """
    if stated is not None:
        return stated
    parts = bills.parts[a], bills.parts[b]
    quoted = [name for name in {**parts[0], **parts[1]} if name.startswith(QUOTED)]
    return max(rule.material_share * stake(*parts), noise(*parts, quoted), noise_apart(*parts, RENT))


def near_kin(judge: Judge, bills: Bills, verdict: Verdict) -> str:
    """The cheapest option of the choice's own side that money does not tell from the choice; '' if there is none."""
    if verdict.open:
        return ""
    mean = {o: mean_of(total) for o, total in bills.totals.items()}
    kin = [
        o
        for o in mean
        if o not in (verdict.choice, verdict.runner_up, *judge.barred)
        and judge.sides[o] == judge.sides[verdict.choice]
        and abs(mean[o] - mean[verdict.choice]) < material(bills, verdict.choice, o, judge.rule, judge.materiality)
    ]
    return min(kin, key=lambda o: mean[o], default="")


def weights_stated(params: Params) -> bool:
    """Whether the client's weights state a preference: some are given, and they are not all alike."""
    given = any(is_given(params, f"weights.{a}") for a in AXES)
    return given and len(set(params.weights.shares.values())) > 1


def ready(bills: Bills, weeks_allowed: float) -> dict[str, float]:
    """Share of draws in which each option is stable within the weeks the client allows."""
    weeks = {o: plain(own.bring_up_weeks) for o, own in bills.own.items()}
    return {o: float(np.mean(w <= weeks_allowed)) for o, w in weeks.items()}


def framework_facts(params: Params, ethernet: Collection[str]) -> dict[str, Any]:
    """The facts the framework's rules may ask for; `ethernet` are the operating models of the Ethernet that is compared."""
    cluster, organisation = params.cluster, params.organisation
    return {
        "kind": params.workload.kind,
        "latency_variance_bound": params.workload.latency_variance_bound,
        "vendor": cluster.vendor,
        "target_gpus": target_gpus(params),
        "one_node": target_gpus(params) <= cluster.gpus_per_node,
        "spans_subnets": cluster.subnets > 1,
        "tenancy": cluster.tenancy,
        "networking_maturity": organisation.networking_maturity,
        "qos_expertise": organisation.qos_expertise,
        "existing_ethernet": organisation.existing_ethernet,
        "existing_infiniband": organisation.existing_infiniband,
        "single_vendor_policy": organisation.single_vendor_policy,
        "ethernet_of_one_maker": OperatingModel.TURNKEY in ethernet,
        "ethernet_of_another_maker": any(model != OperatingModel.TURNKEY for model in ethernet),
        "nvidia_cloud_partner": organisation.nvidia_cloud_partner,
        "weeks_to_production": organisation.time_to_production_weeks,
    }


def facts_of(given: Inputs) -> dict[str, Any]:
    """The framework's facts for this client and the options compared."""
    return framework_facts(given.params, {o.operating_model for o in given.options if o.side != Side.INFINIBAND})


def target_gpus(params: Params) -> int:
    """The largest size the client plans within LOOK_AHEAD_MONTHS."""
    stages = [s.gpus for s in params.cluster.trajectory if s.month <= LOOK_AHEAD_MONTHS]
    return max([params.cluster.gpus, *stages])


def framework_of(given: Inputs) -> FrameworkResult:
    """The four axes for this client."""
    data = read_yaml("framework")
    return evaluate(
        rules_from(data["rules"]),
        {a["id"]: a["title"] for a in data["axes"]},
        facts_of(given),
        given.params.weights.model_dump(),
        assumed=assumed_facts(given.params),
    )


def assumed_facts(params: Params) -> dict[str, str]:
    """The framework's facts that the client did not state, with their names in prose."""
    facts: Mapping[str, Any] = read_yaml("framework")["facts"]
    return {f: entry["name"] for f, entry in facts.items() if not any(is_given(params, k) for k in entry["keys"])}
