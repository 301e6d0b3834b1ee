"""What the figures of the total cost are made from: the case, the result, and lookups that several figures share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from fabricreport.books.names import whole_names
from fabricreport.figures import FigureSpec
from fabricreport.inputs import Inputs
from fabricreport.sections.tco.edge import Edge, tier_steps
from fabricreport.sections.tco.fabric import Build
from fabricreport.sections.tco.result import Ownership, TcoResult
from fabricreport.vocabulary import Side

HARDWARE = ("switches", "optics_and_cables", "adapters")
"""The causes of the fabric's hardware: what a price list shows."""


@dataclass(frozen=True)
class CostFigures:
    """What the figures of the total cost are made from."""

    given: Inputs
    result: TcoResult

    @cached_property
    def names(self) -> Mapping[str, str]:
        """Names of the options by id."""
        return whole_names(self.given.options)

    @property
    def choice(self) -> str:
        """The name of the advised option."""
        return self.names[self.result.choice]

    @property
    def pair(self) -> str:
        """The rival less the advised option, in words."""
        return f"{self.names[self.result.rival]} less {self.choice}"

    @property
    def compared(self) -> tuple[str, str]:
        """Ids of the advised option and of its rival: a difference above zero says that the first costs less."""
        return self.result.choice, self.result.rival

    # ---- a client that rents

    @property
    def rents(self) -> bool:
        """Whether the client rents, and owns no fabric."""
        return self.result.ownership is None

    # ---- a client that owns

    @property
    def owns(self) -> bool:
        """Whether the client owns its fabric."""
        return self.result.ownership is not None

    @property
    def owned(self) -> Ownership:
        """What only an owner has; asked for where `owns` is true."""
        assert self.result.ownership is not None
        return self.result.ownership

    @property
    def owners(self) -> Iterable[str]:
        """The options, if their fabric is owned."""
        return self.owned.builds if self.owns else ()

    @property
    def fabric_causes(self) -> Iterable[str]:
        """The causes of the fabric's capital that this client has, if it owns one."""
        return next(iter(self.owned.capital.values())) if self.owns else ()

    def last(self, option: str) -> Build:
        """What stands of an option after the last stage."""
        return self.owned.builds[option][-1]

    def stage(self, number: str, option: str) -> Build | None:
        """What stands of an option after one stage, None if there are fewer."""
        stages = self.owned.builds[option]
        return stages[int(number)] if int(number) < len(stages) else None

    def hardware(self, option: str) -> Any:
        """Capital of what a price list shows."""
        return sum(self.owned.capital[option][c] for c in HARDWARE)

    def fabric(self, option: str) -> Any:
        """Capital of the whole fabric, installed."""
        return sum(self.owned.capital[option].values())

    @cached_property
    def steps(self) -> Mapping[str, tuple[int, ...]]:
        """By option, the sizes in GPUs up to which one and two tiers of its switches are enough; none where it is rented."""
        cluster = self.given.params.cluster
        stated = self.given.priced_options
        return {o.id: tier_steps(cluster, stated[o.id]) for o in self.given.options} if self.owns else {}

    @property
    def edge(self) -> Edge:
        """The edge of a tier near the client's size; asked for where there is one."""
        assert self.result.edge is not None
        return self.result.edge

    @property
    def both_families(self) -> bool:
        """Whether an owner compares InfiniBand with RoCEv2."""
        return bool(self.owns and self.result.infiniband and self.result.rocev2)

    @property
    def infiniband(self) -> str:
        """The cheaper InfiniBand option; asked for where `both_families` is true."""
        return self.result.infiniband or ""

    @cached_property
    def roces(self) -> tuple[str, ...]:
        """RoCEv2 options that are held against InfiniBand, the cheapest first."""
        sides = {o.id: o.side for o in self.given.options}
        return tuple(o for o in self.result.order if sides[o] == Side.ROCEV2) if self.both_families else ()


Spec = FigureSpec[CostFigures]
EachSpec = FigureSpec[CostFigures, str]
PairSpec = FigureSpec[CostFigures, str, str]
