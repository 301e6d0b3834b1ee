"""What breaks a tie of money after the client's date: its policy, its estate, its order of criteria, its weights."""

from __future__ import annotations

from collections.abc import Collection

from fabricreport.books.names import name_book
from fabricreport.books.options import Option
from fabricreport.inputs import Inputs
from fabricreport.models.judgement.framework import FrameworkResult
from fabricreport.scenario import Params
from fabricreport.sections.decision.axes import weights_stated
from fabricreport.sections.decision.beyond import first_of, sums_of
from fabricreport.vocabulary import Ground, OperatingModel, Side

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
