"""The body of a memo about a choice among providers: a renter's case as it is read, its words, and what would change its answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date
from functools import cached_property

from fabricreport.base.formats import NBSP, listed
from fabricreport.base.provenance import mean_of
from fabricreport.base.vocabulary import STATED, Basis, Confidence, CourseKind, Ground, Side
from fabricreport.bodies.views import Told
from fabricreport.books.options import Option
from fabricreport.books.sellers import UNNAMED, first_question, spoken
from fabricreport.ledger.facts import Name, Named, OptionName, joined
from fabricreport.models.money.offers import CONDITIONAL, Standing
from fabricreport.scenario import is_given
from fabricreport.sections.client import one_node
from fabricreport.sections.decision.offers.judgements import Judged, Open
from fabricreport.sections.decision.offers.study import OffersResult
from fabricreport.sections.decision.tables import asking
from fabricreport.sections.diligence.study import contracts
from fabricreport.sections.stance import direction


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
    def single_level(self) -> bool:
        """Whether they cost as much as far as can be told: less apart than is close, and more or less by their range."""
        if self.single is None:
            return False
        found = self.case.figure(f"decision.courses.against.{CourseKind.SINGLE_NODE}").spread
        return found is not None and found.p5 < 0 < found.p95 and abs(self.single) <= self.verdict.materiality

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
        found = {Side(o.side): o for o in map(self.option, self.verdict.pair)}
        return found if self.pair and {*found} == {Side.INFINIBAND, Side.ROCEV2} else {}

    def option(self, option_id: str) -> Option:
        """An option by its id."""
        return self.given.all_options[option_id]


SHOWN = 8
"""Most offers in the table of page one."""


def chooses_network(case: Told) -> bool:
    """Whether two networks are weighed: offers that all name one leave nothing to weigh."""
    return Read(case).pair


def needs_network(case: Told) -> bool:
    """Whether a network joins the nodes that a job runs on."""
    return Read(case).networked


def words(case: Told) -> Mapping[str, object]:
    """Words of this body's own."""
    read = Read(case)
    better, worse = read.verdict.pair[:: 1 if read.worth != "more" else -1]
    order = list(read.found.judged.values()) if read.found else []
    hour = _hour_at(read)
    return {
        **_choices(read),
        "on_network": _on_network(read),
        "expected": hour if read.hired and read.asking and not read.stated else None,
        "better": _option(read.option(better)),
        "worse": _option(read.option(worse)),
        "on_its_own": _option(read.by_side.get(Side.INFINIBAND)),
        "on_ethernet": _option(read.by_side.get(Side.ROCEV2)),
        "asked_list": _asked_list(read),
        "lowest": _priced(read, order[0]) if order else None,
        "highest": _priced(read, order[-1]) if read.several else None,
        "second_way": _second_way(read),
        "last_date": Name(day(read.result.schedule.last_delivery)) if read.counted_on else None,
        "shown": Name(str(SHOWN)) if len(order) > SHOWN else None,
        "credited": tuple(_credits(read)),
        "crediting": tuple(Named(j.offer.seller, j.offer.id) for j in order if j.offer.credit is not None),
        "questions": tuple(_questions(case, order)),
        "hour_at": hour,
        "counted_at": None if read.stated else hour,
        "single_way": Name("less" if read.single < 0 else "more") if read.single is not None else None,
        "good_until": Name(last_day(case, order[0])) if order else None,
    }


def _choices(read: Read) -> Mapping[str, Name | None]:
    """Words that choose within a sentence: each there where it holds."""
    found, fine_tuned = read.found, read.given.params.workload.kind == "fine-tuning"
    soon = read.result.courses.single.soon
    held = {
        "networked": read.networked,
        "two_networks": read.pair,
        "first_without": read.best is not None and Open.EXTRA in read.best.open,
        "one_first": found is not None and not found.unranked,
        "of_either": not read.pair and bool(read.case.diligence().promises_of_rival),
        "room_told": found is not None and found.room is not None,
        "old_prices": found is not None and bool(found.having(Open.OLD)),
        "unsure": read.unsure,
        "beside": read.beside,
        "unnamed": found is not None and any(not j.named for j in found.judged.values()),
        "next_late": found is not None
        and read.conditional
        and found.next is not None
        and found.likely_late(found.pick.second),
        "single_saves": read.single is not None and read.single < 0 and not read.single_level,
        "single_level": read.single_level,
        "single_slow": read.single is not None and not soon,
        "single_dear": read.single is not None and soon and read.single > -read.verdict.materiality,
        "single_dated": read.dated and read.single is not None,
        "rent_level": read.rent_level,
        "term_assumed": not is_given(read.given.params, "money.horizon_months"),
        "listed_term": found is not None
        and any(t.behind and t.share.fixed and o not in found.moved for o, t in found.terms.items()),
        "full_assumed": fine_tuned and not is_given(read.given.params, "workload.method"),
        "memory_told": read.result.courses.single.memory is not None,
        "many_gpus": read.pair and not read.case.spoken("tail_risk").findings.small,
    }
    return {word: Name(word) if holds else None for word, holds in held.items()}


def _on_network(read: Read) -> Name:
    """On which network, where one is needed and two are not told of side by side."""
    option = read.option(read.verdict.choice)
    return joined((" on ", OptionName(option.name, option.id)), "") if read.networked and not read.pair else Name("")


def _option(option: Option | None) -> Named | None:
    return None if option is None else OptionName(option.name, option.id)


def _asked_list(read: Read) -> Name:
    """The sellers of the list where none has a price, as a sentence lists them."""
    names = [s.name for s in read.case.diligence().shown] or [p.name for p in read.given.params.providers]
    return Name(listed(names[:4]) if names else "several providers")


def _hour_at(read: Read) -> Named:
    """What an hour is counted at."""
    if read.best is None or not read.hired:
        return Named("the market’s rent", "market")
    seller, bound = read.best.offer.seller, read.best.offer.contractual
    said = f"the price of {seller}" if bound else f"the price that we expect of {seller} for the term"
    return Named(said, read.best.offer.id)


def _priced(read: Read, judged: Judged) -> Named:
    """A seller with its price."""
    return Named(judged.offer.seller, judged.offer.id, price=read.case.figure(judged.price))


def _second_way(read: Read) -> Name | None:
    """Whether the next offer costs more than the first or less."""
    found = read.found
    if found is None or found.best is None or found.next is None:
        return None
    return Name("less" if mean_of(found.next.total) < mean_of(found.best.total) else "more")


def _credits(read: Read) -> Iterator[Named]:
    """Sellers of the list whose contracts were read and pay a credit."""
    result = read.case.diligence()
    listed_ones = {s.seller.name: s.seller.id for s in result.shortlist if s.seller}
    for one in contracts(read.given, result):
        if one.name in listed_ones and one.credit is not None and one.claim is not None:
            claim = Name(one.claim) if isinstance(one.claim, str) else one.claim
            yield Named(one.name, listed_ones[one.name], credit=one.credit, claim=claim)


def to_ask(case: Told, judged: Judged, form: str) -> str:
    """What to ask a seller first; of a client without a network nothing about it, and what it refuses before all."""
    found = case.decision().offers
    if found and judged.offer.id in found.pick.late:
        return "Can it be handed over sooner?" if form == "question" else "Sooner?"
    if judged.refused:
        refused = listed(map(spoken, judged.refused))
        return f"Does it still refuse this: {refused}?" if form == "question" else f"Refuses: {refused}"
    what, old = asking(judged), Open.OLD in judged.open
    if not needs_network(case):
        what = ("renew" if old else "nothing") if judged.offer.contractual else "old" if old else "listed"
    return first_question(what, form)


def _questions(case: Told, order: list[Judged]) -> Iterator[Named]:
    """The sellers that are asked the same first, as a sentence lists them, with the question; where the order is open only those
    that page one asks."""
    asked: dict[str, list[str]] = {}
    found = case.decision().offers
    kept = found.asked if found and found.unranked else tuple(judged.offer.id for judged in order)
    for one in (judged for judged in order if judged.offer.id in kept):
        asked.setdefault(to_ask(case, one, "question"), []).append(one.offer.seller)
    for question, sellers in asked.items():
        yield Named(listed(sellers), sellers[0], question=Name(question))


def last_day(case: Told, judged: Judged) -> str:
    """Until when the price of an offer is good."""
    return f"{case.inputs.prices.by_id(judged.price).expiry:%-d %b %Y}".replace(" ", NBSP)


def day(when: date) -> str:
    """A day of the coming weeks, as a table says it."""
    return f"{when:%-d}{NBSP}{when:%B}"


def turning(case: Told) -> tuple[str, ...]:
    """What would change the answer, by the kinds of `data/offers.yaml`, in the order of its rows."""
    read = Read(case)
    found = read.found
    either = found is not None and found.pick.standing == Standing.EITHER
    unranked = found is not None and found.unranked
    room = found is not None and found.room is not None and not either
    held = {
        "price": room,
        "term": unranked,
        "lone": not room and not either and not read.refused and not unranked,
        "refused": read.refused,
        "either": either,
        "day": read.counted_on and (read.asking or read.refused),
        "start": read.counted_on and not read.asking and not read.refused,
        "nodes": read.single is not None and read.single >= 0 and read.rent_level,
        "counts": read.pair and not read.idle and read.preferred,
    }
    return tuple(kind for kind, holds in held.items() if holds)
