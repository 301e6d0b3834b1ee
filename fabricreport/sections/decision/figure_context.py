"""What the figures of a decision are made from: the case, the result, and lookups that several figures share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING

from fabricreport.books.names import whole_names
from fabricreport.figures import FigureSpec
from fabricreport.inputs import Inputs
from fabricreport.provenance import Traced, inputs_of
from fabricreport.sections.decision.changes import Change
from fabricreport.sections.decision.held import HeldPrice
from fabricreport.sections.decision.result import DecisionResult
from fabricreport.sections.decision.reversals import Reversal
from fabricreport.sections.decision.turning import Turn, key_of
from fabricreport.sections.decision.unquoted import Unquoted
from fabricreport.sections.tco.bills import Bills
from fabricreport.sections.tco.cost import network_pieces

if TYPE_CHECKING:
    from fabricreport.sections.decision.monday.study import Monday

HORIZON, DATE = "param:money.horizon_months", "param:schedule.production_by"
"""Ids of the client's choices that most amounts and most chances rest on."""


@dataclass(frozen=True)
class DecisionContext:
    """What the figures of a decision are made from; `steps`: what to do before signing, which rests on other sections too."""

    given: Inputs
    result: DecisionResult
    bills: Bills
    steps: Callable[[], Monday]

    @cached_property
    def names(self) -> Mapping[str, str]:
        """Names of the options by id."""
        return whole_names(self.given.options)

    @property
    def choice(self) -> str:
        """The name of the advised option."""
        return self.names[self.result.verdict.choice]

    @property
    def rival(self) -> str:
        """The name of its runner-up."""
        return self.names[self.result.verdict.runner_up]

    @property
    def compared(self) -> tuple[str, str]:
        """Ids of the advised option and of its runner-up: a lead above zero says that the first costs less."""
        return self.result.verdict.choice, self.result.verdict.runner_up

    @cached_property
    def everything(self) -> frozenset[str]:
        """Ids of every input that the difference rests on."""
        return inputs_of(self.result.difference)

    @cached_property
    def apart(self) -> Mapping[frozenset[str], frozenset[str]]:
        """Ids of the inputs that tell two options apart, by the pair."""
        pairs = combinations(self.result.totals, 2)
        return {frozenset(pair): inputs_of(self.bills.gap(*pair)) for pair in pairs}

    @property
    def networks(self) -> Iterator[Traced]:
        """What is paid to buy and run the networks of the two compared, piece by piece (draws,)."""
        for option in self.compared:
            yield from network_pieces(self.bills.parts[option]).values()

    @cached_property
    def stale(self) -> tuple[str, ...]:
        """Ids of the prices behind the totals that are past their shelf life."""
        prices = sorted(i for i in self.result.behind if i.startswith("price:"))
        return tuple(i for i in prices if self.given.prices.by_id(i).stale)

    @cached_property
    def held(self) -> Mapping[str, HeldPrice]:
        """Prices beside which a newer one is held, by item."""
        return {one.price.item: one for one in self.result.held}

    @cached_property
    def drawn(self) -> Mapping[str, Turn]:
        """What each uncertain input does to the lead, by the input's id with a dot for the colon."""
        return {key_of(t.input_id): t for t in self.result.turns.drawn}

    @cached_property
    def turning(self) -> Mapping[str, tuple[Turn, ...]]:
        """Inputs that turn something within their range, by the same key. A choice of the client's whose value is
        uncertain is there twice: as drawn and, last, as chosen."""
        found: dict[str, tuple[Turn, ...]] = {}
        for turn in (*self.result.turns.drawn, *self.result.turns.choices):
            if turn.break_even is not None or turn.edge is not None:
                found[key_of(turn.input_id)] = (*found.get(key_of(turn.input_id), ()), turn)
        return found

    @cached_property
    def changes(self) -> Mapping[str, Change]:
        """What would change the advice, by the input's id with a dot for the colon."""
        return {key_of(change.turn.input_id): change for change in self.result.changes}

    @cached_property
    def reversals(self) -> Mapping[str, Reversal]:
        """What was set otherwise between the two compared, by key."""
        return {one.key: one for one in (self.result.reversals.tried if self.result.reversals else ())}

    @cached_property
    def unquoted(self) -> Mapping[str, Unquoted]:
        """Items of the two compared that nobody publishes a price for, by item."""
        return {u.item: u for u in self.result.unquoted}

    def point(self, key: str, name: str) -> Turn | None:
        """The last turn of an input that has this point: `in_use`, `break_even`, `edge` or `other_edge`."""
        return next((t for t in reversed(self.turning[key]) if getattr(t, name) is not None), None)

    @property
    def materiality_stated(self) -> bool:
        """Whether the client says what a material lead is."""
        return self.given.params.money.materiality_usd is not None


Spec = FigureSpec[DecisionContext]
EachSpec = FigureSpec[DecisionContext, str]
PairSpec = FigureSpec[DecisionContext, str, str]
