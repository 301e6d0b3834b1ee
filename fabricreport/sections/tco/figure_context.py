"""What the figures of the total cost are made from: the case, the result, and lookups that several figures share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from fabricreport.books.names import whole_names
from fabricreport.books.options import Option
from fabricreport.figures import FigureSpec
from fabricreport.inputs import Inputs
from fabricreport.provenance import Traced
from fabricreport.sections.tco.cost import FABRIC_CAUSES
from fabricreport.sections.tco.fabric import Build
from fabricreport.sections.tco.list_bills import ListBill
from fabricreport.sections.tco.result import Ownership, TcoResult
from fabricreport.validation.card import Card, CardRow
from fabricreport.validation.topology import topology_card
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

    @cached_property
    def gaps(self) -> Mapping[str, Traced]:
        """Total cost of each option less that of the advised one (draws,)."""
        return {o: self.result.gap(o, self.result.choice) for o in self.result.totals}

    # ---- a client that rents

    @property
    def rents(self) -> bool:
        """Whether the client rents, and owns no fabric."""
        return self.result.ownership is None

    # ---- a client that owns

    @cached_property
    def card(self) -> Card:
        """The bill of materials tried on published reference designs."""
        return topology_card()

    @cached_property
    def spines(self) -> tuple[CardRow, ...]:
        """The card's rows that count spines, if the client owns."""
        return spines_of(self.card) if self.owns else ()

    @property
    def full(self) -> tuple[Option, ...]:
        """Options whose manager finds every leaf port taken."""
        return full_options(self.given, self.result)

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

    def last(self, option: str) -> Build:
        """What stands of an option after the last stage."""
        return self.owned.builds[option][-1]

    def stage(self, number: str, option: str) -> Build | None:
        """What stands of an option after one stage, None if there are fewer."""
        stages = self.owned.builds[option]
        return stages[int(number)] if int(number) < len(stages) else None

    @property
    def managed_gap(self) -> Any:
        """Total cost of the rival less the choice's (draws,), with InfiniBand's fabric manager, which no size needs here."""
        infiniband = {o.id for o in self.given.options if o.side == Side.INFINIBAND}
        added = {o: cost for o, cost in self.owned.managers.items() if o in infiniband}
        more, less = (added.get(o, 0.0) for o in (self.result.rival, self.result.choice))
        return self.result.difference.draws + more - less

    def by_other_rule(self, option: str) -> int:
        """Switches of the last stage by the rule of bundles that is not built: equal, or the fewest at all."""
        bom = self.last(option).bom
        return bom.equal_bundle_switches if bom.switches == bom.fewest_switches else bom.fewest_switches

    @cached_property
    def bundled_unevenly(self) -> tuple[str, ...]:
        """Options whose switches are fewer than equal bundles from leaf to spine would take."""
        return tuple(o for o in self.owners if self.last(o).bom.switches < self.by_other_rule(o))

    @cached_property
    def bundled_equally(self) -> tuple[str, ...]:
        """Options of a reference design's size, where uneven bundles would take fewer switches."""
        return tuple(o for o in self.owners if self.last(o).bom.switches > self.by_other_rule(o))

    @property
    def last_size(self) -> int:
        """GPUs of the last stage."""
        return next(iter(self.owned.builds.values()))[-1].gpus

    def hardware(self, option: str) -> Any:
        """Capital of what a price list shows."""
        return sum(self.owned.capital[option][c] for c in HARDWARE)

    def fabric(self, option: str) -> Any:
        """Capital of the whole fabric, installed."""
        return sum(self.owned.capital[option][c] for c in FABRIC_CAUSES)

    @cached_property
    def list_rows(self) -> Mapping[str, ListBill]:
        """Bills at list prices by option and switch, in the order of the table."""
        rows = self.owned.list_bills if self.owns else ()
        return {f"{row.option}.{row.switch_ref.partition(':')[2]}": row for row in rows}

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


SPINE = ": spine"
"""How the case of a card's row ends that counts spines."""


def spines_of(card: Card) -> tuple[CardRow, ...]:
    """The rows of a card that count spines."""
    return tuple(row for row in card.rows if row.case.endswith(SPINE))


def full_options(given: Inputs, result: TcoResult) -> tuple[Option, ...]:
    """Options whose manager has links but no port of its own, because every leaf port is taken at the last stage."""
    owned = result.ownership
    if owned is None:
        return ()
    return tuple(o for o in given.options if o.management.links and not owned.builds[o.id][-1].bom.management_links)


Spec = FigureSpec[CostFigures]
EachSpec = FigureSpec[CostFigures, str]
PairSpec = FigureSpec[CostFigures, str, str]
