"""The yearly licences of an option: of the fabric's manager and of its switches' system, charged by one rule for every
option, as its makers sell them or as the client says."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from fabricreport.books.options import Licence, Option
from fabricreport.inputs import Inputs
from fabricreport.vocabulary import Charge, Sold


@dataclass(frozen=True)
class Charged:
    """What a licence costs a year for one endpoint or switch, and the GPUs above which it is in the bill; inf: at no size."""

    per_year: Any
    above_gpus: Any

    def at(self, gpus: int) -> Any:
        """Whether it is in the bill of a fabric of so many GPUs."""
        return np.asanyarray(self.above_gpus) < gpus

    def counted(self, gpus: int) -> bool:
        """Whether it is so in any draw."""
        return bool(np.any(self.at(gpus)))

    def usd_per_year(self, pieces: int, gpus: int) -> Any:
        """What so many endpoints or switches cost a year."""
        return pieces * self.at(gpus) * np.asanyarray(self.per_year)


NEVER = Charged(0.0, math.inf)
"""A licence that no bill holds."""


def manager_of(given: Inputs, option: Option) -> Charged:
    """The licence of an option's manager as the client has it charged."""
    return charged(given, option.licence, given.params.money.manager_licence)


def system_of(given: Inputs, option: Option) -> Charged:
    """The licence of its switches' system, likewise."""
    return charged(given, option.operating_system, given.params.money.switch_system_licence)


def charged(given: Inputs, licence: Licence | None, charge: str) -> Charged:
    """A licence by the one rule; what nobody sells costs nothing."""
    above = above_gpus(given, licence, charge)
    if licence is None or above is NEVER.above_gpus:
        return NEVER
    return Charged(given.money(licence.per_year) if licence.per_year else 0.0, above)


def above_gpus(given: Inputs, licence: Licence | None, charge: str) -> Any:
    """The GPUs above which a licence is in the bill: what is charged is so at any size, and what is left out at none. As
    sold, it is where makers list it apart."""
    if licence is None or charge == Charge.LEFT_OUT:
        return NEVER.above_gpus
    if charge == Charge.CHARGED:
        return 0.0
    if licence.sold == Sold.INCLUDED:
        return NEVER.above_gpus
    return given.value(licence.above_gpus) if licence.above_gpus else 0.0
