"""What no bill holds: each option's score on five criteria by rules, summed by the order that the client states."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from fabricreport.books.families import families
from fabricreport.books.options import Option
from fabricreport.books.providers import read_providers
from fabricreport.evidence import read_yaml
from fabricreport.inputs import Inputs
from fabricreport.models.judgement.beyond import order_weights, weighted
from fabricreport.models.judgement.framework import met
from fabricreport.sections.decision.axes import facts_of

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
