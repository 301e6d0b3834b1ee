"""What the decision rests on besides money: the printed rule, the four axes, what no bill holds, and what breaks a tie."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from fabricreport.base.provenance import Traced, mean_of, plain
from fabricreport.base.vocabulary import Ground, OperatingModel, Side
from fabricreport.base.yaml_files import read_yaml
from fabricreport.books.equipment import families
from fabricreport.books.names import name_book
from fabricreport.books.options import Option
from fabricreport.books.sellers import read_providers
from fabricreport.inputs.inputs import Inputs
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
from fabricreport.models.judgement.framework import (
    AXES,
    FrameworkResult,
    evaluate,
    met,
    order_weights,
    rules_from,
    weighted,
)
from fabricreport.scenario import Assumed, Params, assumptions, is_given
from fabricreport.sections.client import barred
from fabricreport.sections.tco.cost import QUOTED, RENT, network_pieces
from fabricreport.sections.tco.result import Bills

OF_OWNERS = (
    "cluster.optics",
    "cluster.premises",
    "cluster.server_age_months",
    "organisation.operations",
    "money.manager_licence",
    "money.switch_system_licence",
)
"""Keys of the params about what only an owner buys."""
OF_SITES = ("cluster.sites_joined", "cluster.site_distance_km", "cluster.site_tbits_per_s")
"""Whether several sites are joined, and how."""
OF_SIMULATIONS = ("workload.calls_per_step", "workload.mpi_share")
OF_TUNING = ("workload.method",)
"""What is said of fine-tuning alone."""
OF_RUNS = (
    *("refresh.moved_share", "memo.language", "sections", "adopted", "extra"),
    *("brand", "brand.logo", "brand.colours", "brand.footer"),
)
"""Keys of the params about when a memo is made, what of a client's own stands in it and how it looks, which bear on no input."""

LOOK_AHEAD_MONTHS = 36
"""The trajectory counts up to the longer end of the window in which growth is said to lock the fabric in."""


def weights_stated(params: Params) -> bool:
    """Whether the client's weights state a preference: some are given, and they are not all alike."""
    given = any(is_given(params, f"weights.{a}") for a in AXES)
    return given and len(set(params.weights.shares.values())) > 1


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
        "weeks_to_production": params.weeks_allowed if params.dated else None,
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


_ROUNDING = 1e-9


def criteria() -> dict[str, str]:
    """The titles of the criteria beyond money, by id."""
    return {str(c["id"]): str(c["title"]) for c in read_yaml("beyond")["criteria"]}


def sums_of(given: Inputs, options: Collection[str]) -> dict[str, float]:
    """The weighted sum of the scores of these options; empty where the client states no order."""
    order = given.params.organisation.beyond_money
    if not order:
        return {}
    scores = {o.id: scores_of(given, o) for o in given.options if o.id in options}
    return weighted(scores, order_weights(order, tuple(criteria())))


def first_of(sums: Mapping[str, float]) -> str:
    """The option with the highest sum; '' where none is alone with it."""
    top = max(sums.values(), default=0.0)
    first = [option for option, value in sums.items() if value > top - _ROUNDING]
    return first[0] if len(first) == 1 else ""


def scores_of(given: Inputs, option: Option) -> dict[str, float]:
    """An option's score on every criterion, 0 worst to 1 best: by the first rule that holds."""
    facts = option_facts(given, option)
    found: dict[str, float] = {}
    for rule in read_yaml("beyond")["rules"]:
        if rule["criterion"] not in found and met(rule["when"], facts):
            found[rule["criterion"]] = float(facts[rule["value"]] if isinstance(rule["value"], str) else rule["value"])
    return found


def option_facts(given: Inputs, option: Option) -> dict[str, Any]:
    """The client's facts that the framework asks for, and those of one option."""
    return {
        **facts_of(given),
        "rented": given.team.rented,
        "side": str(option.side),
        "operating_model": option.operating_model,
        "takes_skill": option.behaviour.skill,
        "unquoted": option.pieces["switch"].price in option.unquoted.values(),
        "offered": offered(given, option),
    }


def offered(given: Inputs, option: Option) -> float:
    """Share of the providers in question that document a fabric of the option's side: the client's, or all that are listed."""
    book = read_providers()
    named = [seller for p in given.params.providers if (seller := book.seller(p.name)) is not None]
    asked = [s for s in named or book.sellers if s.fabric in families()]
    return sum(families()[s.fabric].side == option.side for s in asked) / len(asked) if asked else 0.0


_LARGE = "large"
"""The extent of an estate that is a reason of its own to stay with its kind of network."""


def grounds_of(
    given: Inputs, framework: FrameworkResult, barred: Collection[str]
) -> tuple[tuple[Ground, frozenset[str]], ...]:
    """What the client stated that may break a tie, in the order in which it does, each with the options it speaks for."""
    params, options = given.params, given.options
    first = first_of(sums_of(given, [o.id for o in options if o.id not in barred]))
    decisive = abs(framework.total) >= given.central("evidence:rule-decisive-lean")
    leaning = framework.leans_to if weights_stated(params) and decisive else ""
    return (
        (Ground.POLICY, frozenset(o.id for o in options if _by_policy(params, o))),
        (Ground.ESTATE, frozenset(o.id for o in options if o.side == large_estate(params))),
        (Ground.ORDER, frozenset({first} - {""})),
        (Ground.WEIGHTS, frozenset(o.id for o in options if o.side == leaning)),
    )


def told_ground(params: Params, ground: Ground) -> str:
    """What a sentence calls the ground that broke a tie; '' for what the client did not state."""
    names = name_book().grounds
    which = {Ground.POLICY: params.organisation.single_vendor_policy, Ground.ESTATE: large_estate(params)}.get(ground)
    return names.get(f"{ground}-{which}" if which else str(ground), "")


def _by_policy(params: Params, option: Option) -> bool:
    """Whether the client's policy on one maker of GPUs and network speaks for the option."""
    policy = params.organisation.single_vendor_policy
    return policy != "neutral" and (policy == "prefer") == of_the_gpus_maker(params, option)


def of_the_gpus_maker(params: Params, option: Option) -> bool:
    """Whether the maker of the client's GPUs makes adapters and switches of the option: NVIDIA is the one who does."""
    return option.operating_model is OperatingModel.TURNKEY and params.cluster.vendor == "nvidia"


def large_estate(params: Params) -> str:
    """The side of which the client runs a large estate and of the other none; '' for neither or both."""
    organisation = params.organisation
    large = {
        Side.INFINIBAND: organisation.existing_infiniband == _LARGE,
        Side.ROCEV2: organisation.existing_ethernet == _LARGE,
    }
    sides = [side for side, is_large in large.items() if is_large]
    return sides[0] if len(sides) == 1 else ""


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
    kin = (o for o in verdict.tied if judge.sides[o] == side and o not in verdict.pair)
    return "" if verdict.open else next(kin, "")


def ready(bills: Bills, weeks_allowed: float) -> dict[str, float]:
    """Share of draws in which each option, ordered at once, is in production by the client's date."""
    weeks = {o: plain(own.production_weeks) for o, own in bills.own.items()}
    return {o: float(np.mean(w <= weeks_allowed)) for o, w in weeks.items()}


def assumed_keys(given: Inputs) -> tuple[Assumed, ...]:
    """The keys that were not given and bear on this client's memo, with what is assumed."""
    cluster, work, rented = given.params.cluster, given.params.workload, given.team.rented
    idle = {
        *OF_RUNS,
        *(OF_OWNERS if rented else ()),
        *(OF_SITES[cluster.sites > 1 :] if cluster.sites < 2 or not cluster.sites_joined else ()),
        *(OF_SIMULATIONS if work.kind != "hpc-simulation" else ()),
        *(OF_TUNING if work.kind != "fine-tuning" else ()),
    }
    return tuple(one for one in assumptions(given.params) if one.key not in idle)
