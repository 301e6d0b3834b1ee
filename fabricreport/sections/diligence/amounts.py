"""What the contract of one option promises with an amount: limits, damages and credits, from its bills and its network.

Every amount is what breaking a promise costs this client, in present value where it lasts and in today's money where it does not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fabricreport.base.provenance import Traced, inputs_of, mean_of, plain, stated
from fabricreport.books.options import Option
from fabricreport.inputs.inputs import Inputs
from fabricreport.ledger.figures import worded
from fabricreport.ledger.numbers import Number
from fabricreport.models.collectives.timing import CollectiveTime
from fabricreport.sections.client import fabric_gpus, stages_of
from fabricreport.sections.diligence.inputs import Ground
from fabricreport.sections.diligence.plan.result import Stage, stages
from fabricreport.sections.diligence.plan.rule import timed
from fabricreport.sections.diligence.terms import (
    CREDIT_CAP,
    DAMAGES_CAP,
    EVERY,
    PROMISED,
    SHARE,
    Credit,
    Damages,
    Exchange,
    Percent,
    Slower,
    Terms,
    delivery,
    exchange_of,
    most_credited,
    paid_for,
    percent_of,
    share_of_hours,
    slower,
    tuning,
)
from fabricreport.sections.latency import inputs
from fabricreport.sections.latency.inputs import cluster_allreduce
from fabricreport.sections.tco.cost import FABRIC_CAUSES
from fabricreport.sections.tco.result import TcoResult

GIB = 2.0**30
_PERCENT = 0.01
ALLREDUCE = Exchange("T-ALLREDUCE", "allreduce", "AllReduce", sent=True)


@dataclass(frozen=True)
class Tested:
    """The ground of one option's acceptance test: what a percent of bandwidth and a microsecond cost, and its terms."""

    on: Ground
    percent: Percent
    latency: Slower | None
    terms: Terms


def modelled(on: Ground, option: Option, gpus: int, sizes: list[float], *, every: int = 1) -> CollectiveTime:
    """AllReduce on the option over `gpus` (whole nodes) at sizes in bytes, (draws, sizes)."""
    return cluster_allreduce(on.given, on.network(option, every), gpus, sizes)


def tested_gpus(on: Ground) -> int:
    """GPUs that one acceptance test spans: all that a network joins."""
    return fabric_gpus(on.given, int(on.given.params.cluster.gpus))


def price_of(given: Inputs, tco: TcoResult, option: str) -> Traced:
    """What an option's seller is paid over the horizon: the rent, or for what is owned the fabric's capital, (draws,)."""
    parts = tco.components[option]
    causes = ("rent",) if given.team.rented else FABRIC_CAUSES
    return given.spread(sum((parts[cause] for cause in causes if cause in parts), start=np.asarray(0.0)))


# ---- the terms


def tested_on(on: Ground, options: tuple[str, ...], beside: Tested | None = None) -> Tested | None:
    """The ground of the test and the terms of the option that it names; None where no network is tested.

    `options`: all that the contract may come to be about, whose exchange is one. `beside`: the same of the option that its
    rival stands beside, in whose unit of time its own is written.
    """
    if not on.networked or not stages(on.given):
        return None
    wires = on.network(on.option, EVERY)
    less = replace(wires, slowdown=np.asanyarray(wires.slowdown) / (1.0 - _PERCENT))
    percent = percent_of(on, less, wires)
    longer = None
    if wires.extra_step_us is not None and np.all(_microseconds(on) > 0):
        longer = slower(on, wires, replace(wires, extra_step_us=np.asanyarray(wires.extra_step_us) + 1.0))
    return Tested(on, percent, longer, _terms(on, options, percent, longer, beside))


def _terms(
    on: Ground, options: tuple[str, ...], percent: Percent, longer: Slower | None, beside: Tested | None
) -> Terms:
    given, common, option = on.given, on.tco.late, on.option
    prefix, unit = ("diligence", "") if beside is None else ("diligence.rival", _unit(beside.terms))
    exchange = exchange_of(on.latency, options)
    order = None if given.team.rented else _network_price(on, 0)
    weeks = tuning(given, common, on.tail.bring_up_weeks[option.id], order, unit=unit)
    gpus = delivery(given, common, order)
    credits = {s.number: _credit(on, percent, s, prefix) for s in stages(given)} if exchange.sent else {}
    credits = {number: credit for number, credit in credits.items() if credit.rate.value > 0}
    found = Terms(
        option.id,
        weeks,
        gpus,
        _limit(on, weeks, prefix),
        {"weeks": _loss(on, "weeks", weeks, prefix), "delivery": _loss(on, "delivery", gpus, prefix)},
        {"weeks": _damages(on, "weeks", weeks, prefix), "delivery": _damages(on, "delivery", gpus, prefix)},
        exchange,
        credits,
        {} if longer is None else {s.number: _per_microsecond(on, longer, s, prefix) for s in stages(given)},
        {},
    )
    return replace(found, worth=_worth(on, weeks, found, percent, longer))


def _unit(terms: Terms) -> str:
    return terms.weeks.unit if terms.weeks else ""


def of_delivery(on: Ground) -> Terms:
    """The terms where no network between nodes is bought: the day on which the GPUs are handed over, and nothing else."""
    given, owned = on.given, on.tco.ownership
    servers = None if owned is None else on.tco.common.server.price * owned.builds[on.option.id][0].nodes
    gpus = delivery(given, on.tco.late, None if servers is None else given.spread(servers))
    return Terms(
        on.option.id,
        None,
        gpus,
        None,
        {"delivery": _loss(on, "delivery", gpus, "diligence")},
        {"delivery": _damages(on, "delivery", gpus, "diligence")},
        ALLREDUCE,
        {},
        {},
        {},
    )


def _limit(on: Ground, weeks: Damages, prefix: str) -> Number:
    return on.number(
        f"{prefix}.{_PASS[prefix]}.weeks",
        weeks.limit,
        weeks.unit,
        **worded("agreed", "limit"),
        inputs={*inputs_of(on.tail.bring_up_weeks[on.option.id]), PROMISED},
    )


_PASS = {"diligence": "pass", "diligence.rival": "passes"}
LOST = {"weeks": "of tuning", "delivery": "without the GPUs"}
"""What time is lost where a promise of it is broken."""


def _loss(on: Ground, name: str, late: Damages, prefix: str) -> Number:
    return on.number(
        f"{prefix}.price.{name}",
        late.loss,
        f"usd/{late.unit}",
        **worded("agreed", f"loss-{name}", unit=late.unit),
        inputs={*late.of_loss, "param:money.price_of_delay_usd_per_day"},
    )


def _damages(on: Ground, name: str, late: Damages, prefix: str) -> Number:
    kind = "damages" if late.by_share else "damages-most" if late.rent is None else "damages-rent"
    return on.number(
        f"{prefix}.damages.{name}",
        late.per_unit,
        f"usd/{late.unit}",
        **worded("agreed", kind, unit=late.unit, lost=LOST[name]),
        inputs={*late.of_loss, SHARE, *([] if late.by_share else (*late.capped_by, *_cap_of(late)))},
    )


def _cap_of(late: Damages) -> tuple[str, ...]:
    """The share of a price at which all that is paid ends; none where a rent caps it."""
    return () if late.rent is not None else (DAMAGES_CAP,)


def _network_price(on: Ground, place: int) -> Traced:
    """What the network of an owner's stage costs to buy, today, (draws,): its mean is that of the bill."""
    owned = on.tco.ownership
    assert owned is not None, "asked for where the network is bought"
    return on.given.spread(np.mean(sum(owned.bought[on.option.id][place].values())))


def _credit(on: Ground, percent: Percent, stage: Stage, prefix: str) -> Credit:
    """What a percent of bandwidth costs on the GPUs that a stage adds to one network, and the price that its share is of."""
    lost = percent.lost.at(stage)
    rate = on.number(
        f"{prefix}.price.busbw" if stage.number == 1 else f"{prefix}.plan.price.busbw.{stage.number}",
        lost,
        "usd/percent",
        central="mean",
        **worded("agreed", "percent", of=_of(on, stage)),
        inputs=inputs.PROFILE,
    )
    price = _paid(on, stage)
    most, ends = most_credited(rate.value, price, on.given.central(CREDIT_CAP))
    end = on.number(
        f"{prefix}.credit_most" if stage.number == 1 else f"{prefix}.plan.credit_most.{stage.number}",
        most,
        "usd",
        **worded("agreed", "credit-ends" if ends else "credit-whole", of=_of(on, stage), paid_for=paid_for(on.given)),
        inputs=(rate, CREDIT_CAP),
    )
    return Credit(rate, price, end, ends)


def _of(on: Ground, stage: Stage) -> str:
    return f" on the GPUs of stage {stage.number}" if len(stages(on.given)) > 1 else ""


def _paid(on: Ground, stage: Stage) -> float:
    """What the seller of a stage is paid for one network: its price to buy, or the rent of its GPUs over the horizon."""
    if on.given.team.rented:
        return mean_of(price_of(on.given, on.tco, on.option.id)) * share_of_hours(on, stage)
    sizes = stages_of(on.given)
    place = next(n for n, (month, _) in enumerate(sizes) if month == stage.month)
    added = sizes[place][1] - (sizes[place - 1][1] if place else 0)
    return mean_of(_network_price(on, place)) * min(1.0, (stage.gpus - stage.before) / added)


def _microseconds(on: Ground) -> Any:
    """By how much the smallest AllReduce takes longer where the way between NICs is a microsecond longer."""
    wires, size = on.network(on.option, EVERY), on.given.central("evidence:acceptance-message-bytes")
    longer = replace(wires, extra_step_us=np.asanyarray(wires.extra_step_us) + 1.0)
    times = [cluster_allreduce(on.given, w, tested_gpus(on), [size]).time_us[..., 0] for w in (longer, wires)]
    return times[0] - times[1]


def _per_microsecond(on: Ground, longer: Slower, stage: Stage, prefix: str) -> Number:
    return on.number(
        f"{prefix}.price.latency" if stage.number == 1 else f"{prefix}.plan.price.latency.{stage.number}",
        longer.at(stage) / _microseconds(on),
        "usd/µs",
        central="mean",
        **worded("agreed", "microsecond", of=_of(on, stage)),
        inputs=inputs.PROFILE,
    )


def _worth(on: Ground, late: Damages, terms: Terms, percent: Percent, longer: Slower | None) -> Mapping[str, Any]:
    """What breaking each promise pays, by draw, if the network turns out as that draw has it."""
    given, first = on.given, stages(on.given)[0]
    weeks = given.spread(on.tail.bring_up_weeks[on.option.id])
    found: dict[str, Any] = {"weeks": given.spread(late.paid(weeks - late.limit_weeks))}
    credit = terms.credits.get(first.number)
    if credit is not None:
        shown = busbw_of(on, terms.exchange, tested_gpus(on))
        percents = 100.0 * np.maximum(1.0 - shown / float(np.median(plain(shown))), 0.0)
        rate = stated(credit.rate.value, percent.lost.at(first))
        found["busbw"] = given.spread(np.minimum(percents * rate, credit.most.value))
    if first.number in terms.latency and longer is not None:
        time = smallest_us(on)
        over = np.maximum(time - float(np.median(plain(time))), 0.0)
        found["latency"] = given.spread(over * stated(terms.latency[first.number].value, longer.at(first)))
    return found


def busbw_of(on: Ground, exchange: Exchange, gpus: int) -> Any:
    """What an exchange shows among so many GPUs with the message of the test, GB/s, (draws,)."""
    size = on.given.central("evidence:acceptance-message-gib") * GIB
    return timed(on.given, on.network(on.option, 1), exchange.measures, gpus, [size]).busbw_gbytes_per_s[..., 0]


def smallest_us(on: Ground) -> Any:
    """Time of the smallest AllReduce of the test in microseconds, (draws,)."""
    size = on.given.central("evidence:acceptance-message-bytes")
    return modelled(on, on.option, tested_gpus(on), [size]).time_us[..., 0]
