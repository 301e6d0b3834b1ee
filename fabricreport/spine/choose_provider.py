"""What the body of a memo about a choice among providers finds of its own, and its own words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date
from enum import StrEnum

from fabricreport.books.offers.terms import first_question, spoken
from fabricreport.books.options import Option
from fabricreport.findings import Name, Named, OptionName
from fabricreport.formats import NBSP, listed
from fabricreport.models.money.offers import Standing
from fabricreport.provenance import mean_of
from fabricreport.scenario import is_given
from fabricreport.sections.decision.monday.kinds import PAGE_ONE
from fabricreport.sections.decision.offers.judged import Judged, Open
from fabricreport.sections.decision.offers.study import OffersResult
from fabricreport.sections.decision.offers.tables import asking
from fabricreport.sections.diligence.study import contracts
from fabricreport.spine.choose_provider_read import Read
from fabricreport.spine.told import Told
from fabricreport.vocabulary import STATED, Ground, Side

SHOWN = 8
"""Most offers in the table of page one."""
TURNS = ("price", "rent", "term", "lone", "refused", "either", "day", "start", "nodes", "counts")
"""What may change the answer of a renter, in the order of page one's table; the notebook has a phrase for each."""


class Finding(StrEnum):
    """What may be true of a choice among providers beside what the sections find."""

    # the advice
    ASKING = "published prices stand in, and a network joins the nodes"
    ASKING_ONE_NODE = "published prices stand in, and one node needs no network"
    UNPRICED_ALL = "no seller has a price, and a network joins the nodes"
    UNPRICED_ONE_NODE = "no seller has a price, and one node needs no network"
    PREMIUM = "nobody is bound yet, and one network may cost a little more by the hour"
    PREFERRED = "nobody is bound yet, and the advised network is worth more by the hour"
    BY_DATE = "nobody is bound yet, and the date decides between the networks"
    BY_STATED = "nobody is bound yet, and something else that the client stated decides between the networks"
    ASK_BOTH = "nobody is bound yet, and nothing decides between the networks but offers"
    SIGN_TESTED = "an offer may be taken, and its network is tested"
    SIGN_DATED = "an offer may be taken, and there is no network to test"
    DATE_MISSED = "nobody is bound yet, and the client's date is not met by the share wanted"
    DATE_MISSED_ON = "likewise, and two networks are weighed"
    # the tiles
    BILL_RANGE = "several offers are judged"
    NAME_TOLD = "two networks are worth another price by the hour"
    NAME_FREE = "two networks are worth the same price by the hour"
    NAME_NONE = "one node needs no network"
    JOBS_WITHIN = "several nodes, and the client's jobs stay within one"
    ORDER_OLD = "one of several offers costs least in so many outcomes, and some of the prices are out of date"
    ORDER_DATED = "one of several offers costs least in so many outcomes, and none of the prices is out of date"
    ORDER_OPEN = "several published prices may come to cost least for the term"
    PAIR_TOLD = "no order of offers is told, and one network costs less in so many outcomes"
    READY_BY = "the client has a date, nobody is bound yet, and the date can be met if the hand-over is early"
    READY_PAIR = "the date cannot be met even so, and two networks are compared"
    READY_ALONE = "the date cannot be met even so or no network is needed, and one option is compared"
    SURE_REFUSED = "offers are judged, and none may be taken"
    SURE_ONE = "one price is judged, and one network at most"
    SURE_NONE = "none is, and one network at most"
    TILE_SINGLE = "one network or none is weighed, and jobs within single nodes are another course"
    TILE_CENT = "they are none, and offers are judged"
    TILE_MARKET = "and none is"
    READY_OFFER = "the client has a date, and an offer may be taken"
    DAY_PRICED = "the client has no date, and a network is tuned, of which a day has a price"
    HAND_OVER_PRICED = "the client has no date, and no network is needed: a day without the GPUs has a price"
    # why
    WHY_RENT = "several offers and two networks are compared"
    WHY_RENT_ALONE = "several offers are compared, and one network or none"
    WHY_ONE = "one offer is judged"
    WHY_REFUSED = "every offer refuses what is needed in writing"
    WHY_NONE = "no offer is judged"
    NETWORK_IDLE = "two networks are compared, and which one it is does not matter here"
    NETWORK_COUNTS = "two networks are compared, and which one it is counts"
    BOTH_SIDES = "the two are an InfiniBand and a RoCEv2"
    ONE_SWITCH = "two nodes may share their leaf switches, and some seller documents no topology"
    # the case against
    SINGLE_MORE = "jobs within single nodes are another course, and cost more"
    SINGLE_LESS = "jobs within single nodes are another course, and cost less"
    AGAINST_MORE = "they are the main alternative, and cost more"
    AGAINST_LESS = "they are the strongest case against, and cost less"
    NEXT = "the next offer is the strongest case against"
    NEXT_NETWORK = "its price holds the network, and that of the first does not say so"
    NEXT_IN_DATE = "its price is in date, and that of the first is not"
    NEXT_DOCUMENTED = "it documents its topology, and the first does not"
    NEXT_NOTHING = "nothing of it is better on paper"
    REFUSED_ALL = "no offer may be taken"
    ALONE_ASKED = "there is one offer and no other course"
    NOBODY_PRICED = "there is no price and no other course"
    # what would change it, and the body
    MORE_OFFERS = "the table of page one leaves some offers out"
    SOME_WITHOUT = "several nodes, and some price does not hold the network, or does not say so"
    UNSURE = "several nodes, and nothing says of some price whether it holds the network"
    UNSURE_LISTED = "and it is a published price, of a seller who has the network on some product"
    BESIDE = "several nodes, and some seller has the network beside its price"
    SINGLE_RENT = "jobs within single nodes are another course, and the rent is told at which they cost the same"
    JOBS_WITHIN_RENT = "jobs stay within a node, and the rent is told at which nodes without a network cost the same"
    DOCUMENTED = "several nodes and sellers, and some of these document their network"
    UNDOCUMENTED = "several nodes and sellers, and none of these documents its network"
    TO_TEST = "there is a network to test"
    TEST_TWO = "and two nodes are the whole cluster"
    TEST_MANY = "and there are more than two nodes"
    NO_TEST = "no network is needed"
    BEFORE = "there is something to do before signing, and the client has put a price on an hour"
    BEFORE_OFFER = "there is something to do before signing, and a lost hour costs what the offer advised asks"
    MORE_STEPS = "there is more to do than page one has room for"
    BEFORE_MARKET = "there is something to do before signing, and a lost hour costs the market's rent"
    BESIDE_MARKET = "there is a network to test, and the market's rent stands beside the price of the offer advised"
    MANY_GPUS = "two networks are compared for so many GPUs that they show"
    CREDITED = "the contract of a seller in the list was read"
    NO_DATE = "the client has no date"
    TERM_ASSUMED = "the client named no term"


F = Finding


def findings(case: Told) -> Iterator[Finding]:
    """Those that hold here."""
    read = Read(case)
    for group in (_advice, _tiles, _why, _against, _body):
        yield from group(read)


def _advice(read: Read) -> Iterator[Finding]:
    if read.found is None:
        yield F.UNPRICED_ALL if read.networked else F.UNPRICED_ONE_NODE
    elif read.found.listed:
        yield F.ASKING if read.networked else F.ASKING_ONE_NODE
    elif read.best:
        yield F.SIGN_TESTED if read.networked else F.SIGN_DATED
    if read.asking and read.date_missed:
        yield F.DATE_MISSED_ON if read.pair else F.DATE_MISSED
    if read.asking and read.pair:
        yield from _between(read)


def _between(read: Read) -> Iterator[Finding]:
    """Which network to ask for where nobody is bound yet."""
    settled = {Ground.DEADLINE: F.BY_DATE, **dict.fromkeys(STATED, F.BY_STATED)}
    if read.idle:
        yield from () if read.worth == "same" else (F.PREMIUM,)
    elif read.ground in settled:
        yield settled[Ground(read.ground)]
    else:
        yield F.PREFERRED if read.preferred else F.ASK_BOTH


def _tiles(read: Read) -> Iterator[Finding]:
    if read.several:
        yield F.BILL_RANGE
    yield _how_sure(read)
    if not read.dated:
        yield F.NO_DATE
        yield F.DAY_PRICED if "diligence.price.weeks" in read.case.diligence().numbers else F.HAND_OVER_PRICED
    elif not read.asking and read.best:
        yield F.READY_OFFER
    elif read.asking and read.counted_on:
        yield F.READY_BY
    else:
        yield F.READY_PAIR if read.pair else F.READY_ALONE
    yield _of_network(read)


def _how_sure(read: Read) -> Finding:
    """What the second tile says: how sure the order of prices is, or of the two networks, or why there is none."""
    if read.found and read.found.unranked:
        return F.ORDER_OPEN
    if read.refused:
        return F.SURE_REFUSED
    found = read.found
    if found and read.several and (found.pick.first == found.order[0] or not read.pair):
        return F.ORDER_OLD if found.having(Open.OLD) else F.ORDER_DATED
    if read.pair:
        return F.PAIR_TOLD
    return F.SURE_ONE if found else F.SURE_NONE


def _of_network(read: Read) -> Finding:
    """What the last tile says: what the name of the network is worth, or having one, or what the rent is."""
    if not read.networked:
        return F.JOBS_WITHIN if read.within else F.NAME_NONE
    if read.pair:
        return F.NAME_FREE if read.worth == "same" else F.NAME_TOLD
    if read.single is not None:
        return F.TILE_SINGLE
    return F.TILE_CENT if read.found else F.TILE_MARKET


def _why(read: Read) -> Iterator[Finding]:
    if read.refused:
        yield F.WHY_REFUSED
    elif read.several:
        yield F.WHY_RENT if read.pair else F.WHY_RENT_ALONE
    else:
        yield F.WHY_ONE if read.found else F.WHY_NONE
    if read.pair:
        yield F.NETWORK_IDLE if read.idle else F.NETWORK_COUNTS
        if {*read.by_side} == {Side.INFINIBAND, Side.ROCEV2}:
            yield F.BOTH_SIDES
    if read.found and read.networked and read.two and read.found.having(Open.TOPOLOGY):
        yield F.ONE_SWITCH


def _against(read: Read) -> Iterator[Finding]:
    better = list(_better(read))
    if read.single is not None:
        yield F.SINGLE_LESS if read.single < 0 else F.SINGLE_MORE
        if read.levels:
            yield F.SINGLE_RENT
    if read.refused:
        yield F.REFUSED_ALL
    elif read.single is not None and (read.asking or not better):
        yield F.AGAINST_LESS if read.single < 0 else F.AGAINST_MORE
    elif read.found is None:
        yield F.NOBODY_PRICED
    elif read.found.next is None:
        yield F.ALONE_ASKED
    else:
        yield F.NEXT
        yield from better or (F.NEXT_NOTHING,)


def _better(read: Read) -> Iterator[Finding]:
    """What the next offer has on paper that the first has not."""
    first, other = (read.found.best, read.found.next) if read.found else (None, None)
    if first is None or other is None:
        return
    mine, theirs = {*first.open}, {*other.open}

    def only(*what: Open) -> bool:
        return bool({*what} & mine) and not {*what} & theirs

    if read.networked and only(Open.EXTRA, Open.NETWORK):
        yield F.NEXT_NETWORK
    if only(Open.OLD):
        yield F.NEXT_IN_DATE
    if read.networked and only(Open.TOPOLOGY):
        yield F.NEXT_DOCUMENTED


def _body(read: Read) -> Iterator[Finding]:
    yield from () if is_given(read.given.params, "money.horizon_months") else (F.TERM_ASSUMED,)
    if read.found and len(read.found.judged) > SHOWN:
        yield F.MORE_OFFERS
    if read.found and read.networked:
        yield from _in_the_price(read.found)
    if read.within and read.levels:
        yield F.JOBS_WITHIN_RENT
    if read.case.diligence().plan.tests and read.networked:
        yield F.TO_TEST
        if read.several and read.hired and not read.stated:
            yield F.BESIDE_MARKET
        yield F.TEST_TWO if read.two else F.TEST_MANY
    elif not read.networked:
        yield F.NO_TEST
    if read.case.monday().todos or not read.networked:
        yield _counted_at(read)
        if len(read.case.monday().todos) + (not read.networked) > PAGE_ONE:
            yield F.MORE_STEPS
    tests = read.case.diligence()
    if read.networked and len(tests.shortlist) > 1:
        yield F.DOCUMENTED if tests.fitting else F.UNDOCUMENTED
    if read.pair and not read.case.spoken("tail_risk").findings.small:
        yield F.MANY_GPUS
    if any(True for _ in _credits(read)):
        yield F.CREDITED


def _counted_at(read: Read) -> Finding:
    """At what price the worth of each step is counted."""
    if read.stated:
        return F.BEFORE
    if not read.hired:
        return F.BEFORE_MARKET
    return F.BEFORE_OFFER


def _in_the_price(found: OffersResult) -> Iterator[Finding]:
    """Whether prices hold the network."""
    unsure, beside = found.having(Open.NETWORK), found.having(Open.EXTRA)
    if unsure or beside:
        yield F.SOME_WITHOUT
    if unsure:
        yield F.UNSURE
        if found.listed:
            yield F.UNSURE_LISTED
    if beside:
        yield F.BESIDE


# ---- words


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
    return {
        "better": _option(read.option(better)),
        "worse": _option(read.option(worse)),
        "on_its_own": _option(read.by_side.get(Side.INFINIBAND)),
        "on_ethernet": _option(read.by_side.get(Side.ROCEV2)),
        "asked_list": _asked_list(read),
        "lowest": _priced(read, order[0]) if order else None,
        "highest": _priced(read, order[-1]) if order else None,
        "second_way": _second_way(read),
        "last_date": Name(day(read.result.schedule.last_delivery)),
        "shown": Name(str(SHOWN)),
        "credited": tuple(_credits(read)),
        "crediting": tuple(Named(j.offer.seller, j.offer.id) for j in order if j.offer.credit is not None),
        "questions": tuple(_questions(case, order)),
        "hour_at": _hour_at(read),
        "rent_level": Name("level") if _level(read) else None,
        "single_way": Name("less" if read.single < 0 else "more") if read.single is not None else None,
        "good_until": Name(last_day(case, order[0])) if order else None,
        "term": (Named("term", "term"),) if not read.networked else (),
        **{f"turns_{kind}": (turn,) if turn else () for kind, turn in turning(case).items()},
    }


def _option(option: Option | None) -> Named | None:
    return None if option is None else OptionName(option.name, option.id)


def _asked_list(read: Read) -> Name:
    """The sellers of the list where none has a price, as a sentence lists them."""
    names = [s.name for s in read.case.diligence().shown] or [p.name for p in read.given.params.providers]
    return Name(listed(names[:4]) if names else "several providers")


def _level(read: Read) -> bool:
    """Whether the rent at which single nodes cost as much prints as the rent that they stand beside."""
    if read.single is None or not read.levels:
        return False
    here, level = (read.case.figure(f"decision.courses.{rent}") for rent in ("rent_hour", "single_rent"))
    return here.text == level.text


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


def turning(case: Told) -> Mapping[str, Named | None]:
    """What would change the answer, by kind: the thing that its phrase is said of, or None where it does not apply."""
    read = Read(case)
    found = read.found

    def turn(kind: str, *, holds: bool) -> Named | None:
        return Named(kind, kind) if holds else None

    either = found is not None and found.pick.standing == Standing.EITHER
    unranked = found is not None and found.unranked
    room = found is not None and found.room is not None and not either
    return {
        "price": turn("price", holds=room and read.networked),
        "rent": turn("rent", holds=room and not read.networked),
        "term": turn("term", holds=unranked),
        "lone": turn("lone", holds=not room and not either and not read.refused and not unranked),
        "refused": turn("refused", holds=read.refused),
        "either": turn("either", holds=either),
        "day": turn("day", holds=read.counted_on and (read.asking or read.refused)),
        "start": turn("start", holds=read.counted_on and not read.asking and not read.refused),
        "nodes": turn("nodes", holds=read.single is not None and read.levels),
        "counts": turn("counts", holds=read.pair and not read.idle and read.preferred),
    }
