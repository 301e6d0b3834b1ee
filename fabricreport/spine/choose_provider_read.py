"""A renter's case as the body reads it: what its findings and words are made of."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from fabricreport.books.offers.terms import UNNAMED
from fabricreport.books.options import Option
from fabricreport.models.money.offers import CONDITIONAL
from fabricreport.provenance import mean_of
from fabricreport.sections.client import one_node
from fabricreport.sections.decision.offers.judged import Judged, Open
from fabricreport.sections.decision.offers.study import OffersResult
from fabricreport.sections.stance import direction
from fabricreport.spine.told import Told
from fabricreport.vocabulary import STATED, Basis, Confidence, CourseKind, Ground, Side


class Read:
    """A renter's case, and what its findings and words are made of."""

    def __init__(self, case: Told) -> None:
        self.case, self.given, self.result = case, case.inputs, case.decision()
        self.found: OffersResult | None = self.result.offers
        self.verdict = self.result.verdict
        several = not one_node(self.given, int(self.given.params.cluster.gpus))
        self.within = several and not self.result.joins_nodes
        self.networked = several and self.result.joins_nodes
        self.pair = len(self.result.totals) > 1 and self.networked and not self.one_network
        self.dated = self.given.params.dated
        self.ground: str = self.result.ground
        self.idle = self.ground in (Ground.SIZE, Confidence.DOES_NOT_MATTER)

    @property
    def one_network(self) -> bool:
        """Whether several offers all name one network with RDMA, so that none is there to choose."""
        fast = (
            [j for j in self.found.judged.values() if not j.named or self.option(j.option).rdma] if self.found else []
        )
        named = {judged.offer.fabric for judged in fast}
        return len(fast) > 1 and len(named) == 1 and not named & {*UNNAMED}

    @property
    def two(self) -> bool:
        """Whether two nodes are the whole cluster."""
        cluster = self.given.params.cluster
        return int(cluster.final_gpus) <= 2 * int(cluster.gpus_per_node)

    @property
    def asking(self) -> bool:
        """Whether nobody is bound yet: published prices stand in, or there are none."""
        return self.found is None or self.found.listed

    @property
    def best(self) -> Judged | None:
        """The offer to take or to ask first."""
        return self.found.best if self.found else None

    @property
    def several(self) -> bool:
        """Whether there is more than one offer."""
        return self.found is not None and len(self.found.judged) > 1

    @cached_property
    def worth(self) -> str:
        """Whether an hour on the runner-up is worth less than one on the choice, more, or the same."""
        told = f"tco.worth_less.{self.verdict.runner_up}"
        return direction(self.case.figure(told)) if self.pair and told in self.case.tco().numbers else "same"

    @property
    def preferred(self) -> bool:
        """Whether one network is advised for its money, and is worth more by the hour."""
        return self.worth == "less" and not self.verdict.open and self.ground not in (Ground.DEADLINE, *STATED)

    @property
    def single(self) -> float | None:
        """What jobs within single nodes cost more, where they are another course than the one advised."""
        row = self.result.courses.row(CourseKind.SINGLE_NODE)
        told = row is not None and self.networked and self.result.courses.single.days is not None
        return mean_of(row.against) if told and row is not None else None

    @property
    def counted_on(self) -> bool:
        """Whether the client's date is met by the share wanted, if the machines are handed over in time."""
        return self.dated and self.networked and self.result.schedule.kept is not None and not self.date_missed

    @property
    def date_missed(self) -> bool:
        """Whether a date was stated that the share wanted does not meet."""
        return self.dated and not self.result.schedule.advised.in_time

    @property
    def stated(self) -> bool:
        """Whether the client says what a lost hour is worth."""
        return self.case.tco().common.value_basis == Basis.STATED

    @property
    def hired(self) -> bool:
        """Whether hours are counted at the price of an offer, and not at the market's rent."""
        return self.case.tco().common.server.hired is not None

    @cached_property
    def rent_level(self) -> bool:
        """Whether there is a rent without a network at which single nodes cost the same, and it prints as another than with one."""
        if self.result.courses.single.level_rent is None:
            return False
        rents = ("decision.courses.rent_hour", "decision.courses.single_rent")
        return len({self.case.figure(rent).text for rent in rents}) > 1

    @property
    def refused(self) -> bool:
        """Whether there are offers and none may be taken."""
        return self.found is not None and self.found.best is None

    @property
    def conditional(self) -> bool:
        """Whether an offer is to be taken once something is settled."""
        return self.found is not None and self.found.pick.standing in CONDITIONAL

    @property
    def unsure(self) -> bool:
        """Whether nothing says of some price that it holds the network that is needed."""
        return self.networked and self.found is not None and bool(self.found.having(Open.NETWORK))

    @property
    def beside(self) -> bool:
        """Whether that network is sold beside some price."""
        return self.networked and self.found is not None and bool(self.found.having(Open.EXTRA))

    @property
    def by_side(self) -> Mapping[Side, Option]:
        """An InfiniBand and a RoCEv2 that are compared, by their side; of any other two nothing."""
        found = {Side(o.side): o for o in map(self.option, (self.verdict.choice, self.verdict.runner_up))}
        return found if self.pair and {*found} == {Side.INFINIBAND, Side.ROCEV2} else {}

    def option(self, option_id: str) -> Option:
        """An option by its id."""
        return self.given.all_options[option_id]
