"""Lock-in, exit, subnets and tenants in money, as far as the books hold prices for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fabricreport.chain import Chain
from fabricreport.errors import InputError
from fabricreport.inputs import Inputs
from fabricreport.models.money.ownership import OF, Purchase
from fabricreport.provenance import mean_of, plain
from fabricreport.scenario import changed_params
from fabricreport.sections.client import rented, side_by_side
from fabricreport.sections.generations import announced
from fabricreport.sections.tco.bills import Bills
from fabricreport.sections.tco.cost import purchases
from fabricreport.uncertain import exactly
from fabricreport.vocabulary import OperatingModel

NEIGHBOURS = "evidence:noisy-neighbour-time-share"
_OF_SERVERS = f"residual{OF}servers"


@dataclass(frozen=True)
class Priced:
    """What reasons beyond money come to in money, (draws,) by option id; empty where there is no figure.

    `against`: the compared option of several makers whose switches cost least, '' without one. `replaced`: what the
    switches of an option of one maker cost above these when all are bought again at the end of the horizon, `later` when
    those of the later stages are bought; present values. `resale`: of its fabric at the end. `subnets`: what more than
    one subnet costs. `licences`: those in the bill. `neighbours`: what other tenants' traffic costs.
    """

    against: str = ""
    replaced: Mapping[str, Any] = field(default_factory=dict)
    later: Mapping[str, Any] = field(default_factory=dict)
    resale: Mapping[str, Any] = field(default_factory=dict)
    subnets: Mapping[str, Any] = field(default_factory=dict)
    licences: Mapping[str, Any] = field(default_factory=dict)
    neighbours: Mapping[str, Any] = field(default_factory=dict)


def priced_of(base: Chain, fast: Chain, options: Sequence[str]) -> Priced:
    """The figures of these options; `fast` is the same chain without provenance."""
    given, bills = base.given, base.bills
    shared = side_by_side(given)
    against = "" if rented(given) else _cheapest_open(given, bills, options)
    bound = [o.id for o in given.options if o.id in options and o.operating_model == OperatingModel.TURNKEY]
    later = [o for o in bound if against and any(p.month for p in _bought(bills, o))]
    return Priced(
        against,
        {o: _replaced(bills, o) - _replaced(bills, against) for o in bound if against},
        {o: _later(bills, o) - _later(bills, against) for o in later},
        {o: found for o in options if np.any(plain(found := _resale(bills, o)))},
        _of_one_subnet(given, bills, fast, options),
        {o: bills.parts[o]["licences"] for o in options if shared and "licences" in bills.parts[o]},
        _without_neighbours(bills, fast, options) if shared else {},
    )


def _cheapest_open(given: Inputs, bills: Bills, options: Sequence[str]) -> str:
    """Of the options whose switches several makers sell and that can be ordered, the one whose switches cost least."""
    found = [
        o.id
        for o in given.options
        if o.id in options and o.rdma and o.operating_model != OperatingModel.TURNKEY and not announced(o, given.as_of)
    ]
    return min(found, key=lambda o: mean_of(bills.parts[o]["switches"]), default="")


def _bought(bills: Bills, option: str) -> tuple[Purchase, ...]:
    return purchases(bills.built[option], bills.own[option], bills.common)


def _replaced(bills: Bills, option: str) -> Any:
    """All its switches once more at today's prices, at the end of the horizon."""
    months, all_of_them = bills.common.months, sum(p.capex_usd["switches"] for p in _bought(bills, option))
    return bills.common.discounting.lump(all_of_them, months, months)


def _later(bills: Bills, option: str) -> Any:
    """Its switches of the stages after the first."""
    lump, months = bills.common.discounting.lump, bills.common.months
    return sum(lump(p.capex_usd["switches"], p.month, months) for p in _bought(bills, option) if p.month)


def _resale(bills: Bills, option: str) -> Any:
    """What the bill takes off for the fabric at the end of the horizon."""
    pieces = [
        value for name, value in bills.parts[option].items() if name.startswith("residual") and name != _OF_SERVERS
    ]
    return -sum(pieces, start=np.zeros(1))


def _of_one_subnet(given: Inputs, bills: Bills, fast: Chain, options: Sequence[str]) -> dict[str, Any]:
    """What several subnets cost against one, the model run again."""
    if given.params.cluster.subnets < 2:
        return {}
    again = changed_chain(fast, {"cluster__subnets": 1})
    return {} if again is None else {o: plain(bills.totals[o]) - again.bills.totals[o] for o in options}


def _without_neighbours(bills: Bills, fast: Chain, options: Sequence[str]) -> dict[str, Any]:
    """What traffic of other tenants costs against none, the model run again."""
    if NEIGHBOURS not in fast.reached_by:
        return {}
    quiet = fast.replacing({NEIGHBOURS: exactly(0.0)}).bills
    return {o: plain(bills.totals[o]) - plain(quiet.totals[o]) for o in options}


def changed_chain(fast: Chain, keys: Mapping[str, Any]) -> Chain | None:
    """The chain as another topology or number of subnets, under which a step takes as long; None where that cannot be."""
    given = fast.given
    try:
        params = changed_params(given.params, keys, {}, extra_options=given.all_options)
        return fast.over(given.with_params(params))
    except InputError:
        return None
