"""Words of the body of a memo about a choice among providers, and what would change its answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date

from fabricreport.books.offers.terms import first_question, spoken
from fabricreport.books.options import Option
from fabricreport.findings import Name, Named, OptionName
from fabricreport.formats import NBSP, listed
from fabricreport.models.money.offers import Standing
from fabricreport.provenance import mean_of
from fabricreport.scenario import is_given
from fabricreport.sections.decision.offers.judged import Judged, Open
from fabricreport.sections.decision.offers.tables import asking
from fabricreport.sections.diligence.study import contracts
from fabricreport.spine.choose_provider_read import Read
from fabricreport.spine.told import Told
from fabricreport.vocabulary import Side

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
    better, worse = (read.verdict.choice, read.verdict.runner_up)[:: 1 if read.worth != "more" else -1]
    order = list(read.found.judged.values()) if read.found else []
    hour = _hour_at(read)
    return {
        **_choices(read),
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
    found = read.found
    held = {
        "networked": read.networked,
        "two_networks": read.pair,
        "first_without": read.best is not None and read.best.without_network,
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
        "single_saves": read.single is not None and read.single < 0,
        "rent_level": read.rent_level,
        "term_assumed": not is_given(read.given.params, "money.horizon_months"),
        "many_gpus": read.pair and not read.case.spoken("tail_risk").findings.small,
    }
    return {word: Name(word) if holds else None for word, holds in held.items()}


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
    """The sellers that are asked the same first, as a sentence lists them, with the question."""
    asked: dict[str, list[str]] = {}
    for one in order:
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
    """What would change the answer, by the kinds of `evidence/offers.yaml`, in the order of its rows."""
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
