"""What the name and the unit of a figure do not tell of its base, by the pattern of its id without its keys.

    ("tco.total", {"quantity": "total cost", "horizon": Horizon.WHOLE})

`*` stands for anything; of several that fit the longest holds. What a rule leaves out follows from the figure
(`bases.derived`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any

from fabricreport.bases import Clock, Horizon, Size, Statistic

Rule = Mapping[str, Any]

_WHOLE = {"horizon": Horizon.WHOLE, "size": Size.PLAN}
_YEARLY = {"horizon": Horizon.FIRST_YEAR, "size": Size.NOW}
_RUN = {"horizon": Horizon.RUN, "size": Size.JOB}
_OF_TIME = {"of": "GPU time", "statistic": Statistic.MEAN}
_OUTCOMES = {"statistic": Statistic.OUTCOMES, "of": "all outcomes"}
_STATED = {"statistic": Statistic.STATED}
_START = {"quantity": "time until a network runs stably", "clock": Clock.POWER_ON, "size": Size.NOW}


def _of(quantity: str, *parts: Rule, **more: Any) -> Rule:
    found: dict[str, Any] = {"quantity": quantity}
    for part in (*parts, more):
        found |= part
    return found


_MONEY: Mapping[str, Rule] = {
    "decision.total": _of("total cost", _WHOLE),
    "decision.gap": _of("difference of total costs", _WHOLE),
    "decision.difference": _of("difference of total costs", _WHOLE),
    "decision.cash": _of("difference of cash paid", _WHOLE),
    "decision.cash_gap": _of("difference of cash paid", _WHOLE),
    "decision.time": _of("difference of the value of GPU time lost", _WHOLE),
    "decision.time_gap": _of("difference of the value of GPU time lost", _WHOLE),
    "decision.materiality": _of("lead below which a choice is close", _STATED),
    "decision.margin": _of("lead of the best other choice up to which the advice stands", _STATED),
    "decision.trifle": _of("worth below which a close choice does not matter", _STATED),
    "decision.reverses": _WHOLE,
    "decision.alike_lead": _WHOLE,
    "decision.besides.*": _WHOLE,
    "decision.worth": _of("worth of a step", _WHOLE),
    "decision.courses.against": _of("cost of a course over that of the plain one", _WHOLE),
    "decision.courses.paid": _of("cash paid where the plan ends early", _WHOLE),
    "decision.courses.*": _WHOLE,
    "decision.courses.first_whole": {"horizon": Horizon.DAY_ONE, "size": Size.NOW},
    "decision.courses.late": _WHOLE,
    "decision.courses.single_rent": _of("rent", {"statistic": Statistic.WHERE_LEVEL}),
    "decision.courses.rent_hour": _of("rent"),
    "decision.offers.total": _of("cost of the work", _WHOLE),
    "decision.offers.market_total": _of("cost of the work", _WHOLE),
    "decision.offers.gap": _of("difference of costs of the work", _WHOLE),
    "decision.offers.spread": _of("difference of costs of the work", _WHOLE),
    "decision.offers.useful_hour": _of("cost of a useful GPU-hour", _WHOLE),
    "decision.offers.market_useful_hour": _of("cost of a useful GPU-hour", _WHOLE),
    "decision.offers.cent": _of("worth of a cent less for a GPU-hour", _WHOLE),
    "decision.offers.room": _of("rent above the first's", {"statistic": Statistic.WHERE_LEVEL}),
    "decision.offers.moved": _of("price asked, moved on to the memo's date"),
    "decision.bids.*": _WHOLE,
    "decision.price_level": {"statistic": Statistic.WHERE_LEVEL},
    "tco": _WHOLE,
    "tco.total": _of("total cost", _WHOLE),
    "tco.cash": _of("cash paid", _WHOLE),
    "tco.time": _of("value of GPU time lost", _WHOLE),
    "tco.difference": _of("difference of total costs", _WHOLE),
    "tco.part": _WHOLE,
    "tco.pairs.*": _WHOLE,
    "tco.edge.cost": _WHOLE,
    "tco.bill": {"size": Size.PLAN},
    "tco.fabric_capex": _of("network purchase", _WHOLE),
    "tco.fabric_difference": _of("difference of network purchases", _WHOLE),
    "tco.stage.price": _of("network purchase", {"stage": "one stage", "horizon": Horizon.DAY_ONE}),
    "tco.overbuild": _WHOLE,
    "tco.usd_per_useful_gpu_hour": _of("cost of a useful GPU-hour", _WHOLE),
    "tco.rent_per_useful_gpu_hour": _of("cost of a useful GPU-hour when renting", _WHOLE),
    "tco.gpu_hour_value": _of("value of a lost GPU-hour"),
    "tail_risk.stress.usd": {"horizon": Horizon.RUN},
    "tail_risk.lever.*": _YEARLY,
    "tail_risk.overrun_p90": _of("cost of one run beyond its plan", _RUN, statistic=Statistic.P90),
    "tail_risk.overrun_es95": _of("cost of one run beyond its plan", _RUN, statistic=Statistic.WORST),
    "diligence.lead": _of("difference of total costs", _WHOLE),
    "diligence.lead_*": _WHOLE,
    "diligence.informs": _of("worth of an answer to the choice", _WHOLE),
    "diligence.moves": _of("move of the difference of total costs", _WHOLE),
    "diligence.stake": _of("move of the total cost", _WHOLE),
    "diligence.damages": _STATED,
    "diligence.credit_most": _STATED,
    "diligence.rival.credit_most": _STATED,
    "diligence.plan": {**_STATED, "stage": "one stage"},
    "diligence.rival.plan": {**_STATED, "stage": "one stage"},
}

_TIME: Mapping[str, Rule] = {
    "tail_risk.weeks": _START,
    "tail_risk.planned": _of("length of a run", _RUN, statistic=Statistic.CENTRAL),
    "decision.courses.run_days": _of("length of a run", _RUN, statistic=Statistic.CENTRAL),
    "decision.courses.single_days": _of("length of a run within a node", _RUN, {"size": Size.NODE}),
    "tail_risk.deadline": _of("days after which a run is late", _RUN, _STATED),
    "tail_risk.checkpoint_interval": _of(
        "work between two checkpoints", {"size": Size.JOB}, statistic=Statistic.MEDIAN
    ),
    "tail_risk.finish_p90": _of("length of a run", _RUN, statistic=Statistic.P90),
    "tail_risk.delay_p90": _of("delay of a run", _RUN, statistic=Statistic.P90),
    "tail_risk.stress.*": {"horizon": Horizon.RUN},
    "latency.step": _of("time of one step", {"size": Size.JOB}),
    "decision.schedule.lead*": _of("time to delivery", {"clock": Clock.ORDER}),
    "decision.schedule.lead": _of(
        "time to delivery that meets the client's date", {"clock": Clock.ORDER}, statistic=Statistic.QUANTILE
    ),
    "decision.later_month": {"clock": Clock.ORDER},
    "diligence.pass": _STATED,
    "diligence.starts": _STATED,
    "diligence.rival.passes": _STATED,
    "diligence.rival.credit": _STATED,
    "evidence.age": {"clock": Clock.MEMO},
}

_SHARES: Mapping[str, Rule] = {
    "decision.probability": _of("share of outcomes in which the choice costs less", _OUTCOMES),
    "decision.sure.*": _OUTCOMES,
    "decision.cheapest_error": {"of": "all outcomes"},
    "decision.ready": _of("chance of production by the client's date", _OUTCOMES, {"clock": Clock.MEMO}),
    "decision.courses.ready": _of("chance of production by the client's date", _OUTCOMES, {"clock": Clock.MEMO}),
    "decision.schedule.in_time": _of("chance of production by the client's date", _OUTCOMES, {"clock": Clock.MEMO}),
    "decision.schedule.kept": _of("chance of production by the client's date", _OUTCOMES, {"clock": Clock.ORDER}),
    "decision.offers.ready": _of("chance of production by the client's date", _OUTCOMES, {"clock": Clock.MEMO}),
    "decision.offers.cheapest": _OUTCOMES,
    "decision.alike_probability": _OUTCOMES,
    "decision.beyond*": _OUTCOMES,
    "decision.assumption_share": {"of": "the difference's explained spread"},
    "decision.later_share": {"of": "the plan's equipment"},
    "tail_risk.late": _of("chance that a run ends late", _OUTCOMES, _RUN),
    "tail_risk.tail_share": _of("GPU time lost to stalls and collisions", _WHOLE, _OF_TIME),
    "tail_risk.incident_share": _of("GPU time lost to faults of the network", _WHOLE, _OF_TIME),
    "tail_risk.bring_up_share": _of("GPU time lost to start-up", _WHOLE, _OF_TIME),
    "tail_risk.common_lost": _of("GPU time lost on any network", _WHOLE, _OF_TIME),
    "tail_risk.fabric_lost": _of("GPU time lost to the network", _WHOLE, _OF_TIME),
    "tail_risk.stress.loss": {"of": "throughput"},
    "tco.useful": _of("GPU time that does work", _WHOLE, _OF_TIME),
    "tco.server_share": {"of": "the total cost", **_WHOLE},
    "tco.discount": {"of": "InfiniBand's price"},
    "tco.premium": {"of": "the other's price"},
    "latency.exposed": _of("GPU time lost to network traffic", _WHOLE, _OF_TIME),
    "latency.exposed_now": _of("GPU time lost to network traffic", _OF_TIME, size=Size.NOW),
    "latency.exposed_final": _of("GPU time lost to network traffic", _OF_TIME, size=Size.FULL),
    "latency.job.exposed": _of("GPU time lost to network traffic", _OF_TIME, size=Size.NOW, stage="one size of job"),
    "latency.job.share": _of("GPU time in jobs of one size", _OF_TIME, statistic=Statistic.STATED),
    "latency.part": {"of": "the step", "size": Size.JOB, "statistic": Statistic.MEAN},
    "latency.penalty": _of("extra step time", size=Size.NOW, of="the other's step"),
    "diligence.share": {"of": "the loss"},
    "diligence.cap*": {"of": "the price"},
    "diligence.credit_share": {"of": "the price of the network"},
    "diligence.line_share.*": {"of": "line rate"},
    "diligence.plan_false_fail": {"statistic": Statistic.OUTCOMES, "of": "all networks that the model holds possible"},
}

_POINTS: Mapping[str, Rule] = {
    "decision.break_even": {"statistic": Statistic.WHERE_LEVEL},
    "decision.edge": {"statistic": Statistic.WHERE_CHANGED},
    "decision.other_edge": {"statistic": Statistic.WHERE_CHANGED, "stage": "the other side"},
    "decision.change.at": {"statistic": Statistic.WHERE_CHANGED, "stage": "to another option"},
    "evidence.*.p5": {"statistic": Statistic.P5},
    "evidence.*.p50": {"statistic": Statistic.MEDIAN},
    "evidence.*.p95": {"statistic": Statistic.P95},
    "diligence.*_low": {"statistic": Statistic.P5},
    "diligence.*_high": {"statistic": Statistic.P95},
}

RULES: Mapping[str, Rule] = {**_MONEY, **_TIME, **_SHARES, **_POINTS}
"""Every rule by the pattern of the ids that it holds for."""

KEYS = re.compile(r"\[\w+\]")
"""An index of a pattern."""


@lru_cache(maxsize=1024)
def rule_of(pattern: str) -> Rule:
    """What is declared of the figures of a pattern (`tco.total[option]`); nothing where all is derived."""
    bare = KEYS.sub("", pattern)
    fits = [name for name in RULES if fnmatchcase(bare, name)]
    return RULES[max(fits, key=len)] if fits else {}
