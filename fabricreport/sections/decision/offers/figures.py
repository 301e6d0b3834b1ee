"""Figures of the offers: what each comes to, what is left open, and how far the first is ahead."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from fabricreport.books.names import item_names
from fabricreport.provenance import Traced, inputs_of
from fabricreport.sections.decision.figure_context import DATE, HORIZON, DecisionContext, EachSpec, Spec
from fabricreport.sections.decision.offers.bids import Bid, BidLine
from fabricreport.sections.decision.offers.judged import MOVE, Judged, Market, Open
from fabricreport.sections.decision.offers.study import OffersResult
from fabricreport.uncertain import Uncertain

SAME_WORK = "for the same useful work over the horizon, present value"


def found(at: DecisionContext) -> OffersResult:
    """The offers; asked for where there are some."""
    assert at.result.offers is not None
    return at.result.offers


def of(at: DecisionContext, offer: str) -> Judged:
    """One offer as it was judged."""
    return found(at).judged[offer]


def offers_in(at: DecisionContext) -> Mapping[str, Judged]:
    """The offers by id; none where there are none."""
    return at.result.offers.judged if at.result.offers else {}


def _seller(at: DecisionContext, offer: str) -> str:
    return of(at, offer).offer.seller


def _named(what: str) -> Callable[[DecisionContext, str], str]:
    return lambda at, offer: f"{what}: {_seller(at, offer)}"


def _some(at: DecisionContext) -> bool:
    return at.result.offers is not None


def _money(
    name: str,
    what: str,
    rule: str,
    value: Callable[[DecisionContext, str], Any],
    *,
    unit: str = "usd",
    when: Callable[[DecisionContext, str], bool] | None = None,
) -> EachSpec:
    """An amount in the memo's currency of one offer, (draws,)."""
    return EachSpec(
        f"decision.offers.{name}[offer]",
        unit,
        label=_named(what),
        rule=rule,
        value=value,
        inputs=(HORIZON,),
        central="mean",
        when=when,
    )


def _least(name: str, what: str, rule: str, shares: Callable[[OffersResult], Mapping[str, float]]) -> EachSpec:
    """The share of draws in which one offer costs least, of those that it is counted among."""
    return EachSpec(
        f"decision.offers.{name}[offer]",
        "share",
        label=_named(what),
        rule=rule,
        value=lambda at, offer: shares(found(at))[offer],
        inputs=lambda at, offer: inputs_of(of(at, offer).total),
        digits=2,
        when=lambda at, offer: offer in shares(found(at)),
    )


def _share(name: str, what: str) -> EachSpec:
    """A share that a seller states."""
    return EachSpec(
        f"decision.offers.{name}[offer]",
        "share",
        label=_named(what),
        rule="as the offer states it",
        value=lambda at, offer: float(getattr(of(at, offer).offer, name)),
        sources=lambda at, offer: (of(at, offer).price,),
        grade="quote",
        digits=4,
        when=lambda at, offer: getattr(of(at, offer).offer, name) is not None,
    )


def _count(name: str, what: str, rule: str, value: Callable[[OffersResult], int]) -> Spec:
    return Spec(
        f"decision.offers.{name}",
        "count",
        label=what,
        rule=rule,
        value=lambda at: float(value(found(at))),
        counted=True,
        when=_some,
    )


def _term(end: str, what: str, value: Callable[[Uncertain], float]) -> EachSpec:
    return EachSpec(
        f"decision.offers.term_{end}[offer]",
        "share",
        label=_named(what),
        rule="as the seller says, or 1 − reserved price ÷ price on demand, else the range that we assume",
        value=lambda at, offer: value(found(at).terms[offer].share),
        sources=lambda at, offer: tuple(sorted(found(at).terms[offer].behind)),
        digits=2,
        when=lambda at, offer: bool(found(at).terms.get(offer) and found(at).terms[offer].behind),
    )


_EACH = (
    _money(
        "total", "Cost of the work", SAME_WORK + ", each paid hour at the offer's price", lambda at, o: of(at, o).total
    ),
    _money(
        "useful_hour",
        "Cost of a useful GPU-hour",
        "everything paid for the work ÷ its GPU-hours, both discounted",
        lambda at, o: of(at, o).useful_hour,
        unit="usd/gpu-hour",
    ),
    _money(
        "gap",
        "How much more it costs than the first",
        "difference of the total costs, outcome by outcome",
        lambda at, o: of(at, o).total - of(at, found(at).pick.first).total,
        when=lambda at, o: bool(found(at).pick.first) and o != found(at).pick.first,
    ),
    _least(
        "cheapest",
        "Share of outcomes in which the offer costs least",
        "count of outcomes with the lowest total cost ÷ all outcomes; ties are shared",
        lambda found: found.cheapest,
    ),
    _term("low", "Least discount for the term asked for", lambda share: share.low),
    _term("high", "Most discount for the term asked for", lambda share: share.high),
    EachSpec(
        "decision.offers.moved[offer]",
        "usd/gpu-hour",
        label=_named("Expired price, moved on to the memo's date"),
        rule="price × how far sellers' prices moved in eleven months, for the share of it since this one expired; the mean",
        value=lambda at, offer: found(at).moved[offer],
        inputs=lambda at, offer: (of(at, offer).price, MOVE),
        digits=3,
        when=lambda at, offer: offer in found(at).moved,
    ),
    EachSpec(
        "decision.offers.ready[offer]",
        "share",
        label=_named("Chance that it is in production by the client's date"),
        rule="share of outcomes in which all weeks from the memo's date to production are at most those to the client's date",
        value=lambda at, offer: of(at, offer).ready,
        inputs=lambda at, offer: {
            *inputs_of(of(at, offer).arrival.production(at.bills.own[of(at, offer).option].bring_up_weeks)),
            DATE,
        },
        digits=2,
    ),
    _share("uptime", "Uptime promised"),
    _share("credit", "Credit for falling short of it, share of the month's bill"),
    _share("cap", "Most that is paid back, share of the month's bill"),
)


def _at_market(name: str, what: str, rule: str, value: Callable[[Market], Traced], unit: str = "usd") -> Spec:
    """What the market asks, beside the offers."""

    def amount(at: DecisionContext) -> Traced:
        market = found(at).market
        assert market is not None
        return value(market)

    return Spec(
        f"decision.offers.market_{name}",
        unit,
        label=what,
        rule=rule,
        value=amount,
        inputs=(HORIZON,),
        central="mean",
        when=lambda at: at.result.offers is not None and at.result.offers.market is not None,
    )


_MARKET = (
    _at_market(
        "hour",
        "The market's rent for the term",
        "rent on demand, less the discount for the term that is assumed",
        lambda market: market.hour,
        "usd/gpu-hour",
    ),
    _at_market(
        "useful_hour",
        "Cost of a useful GPU-hour at the market's rent",
        "cost of the work ÷ its GPU-hours, both discounted",
        lambda market: market.useful_hour,
        "usd/gpu-hour",
    ),
    _at_market("total", "Cost of the work at the market's rent", SAME_WORK, lambda market: market.total),
)

_ALL = (
    _count("count", "Sellers judged", "offers, or sellers with a price of this GPU", lambda r: len(r.judged)),
    _count(
        "old",
        "Prices out of date",
        "count of those that expire within two weeks of the memo's date, or have",
        lambda r: len(r.having(Open.OLD)),
    ),
    _count(
        "asked",
        "Sellers who may come to cost least for the term",
        "count of those whose least cost is no more than the least of all highest costs",
        lambda r: len(r.asked),
    ),
    _count(
        "unsure",
        "Prices that do not say whether they hold the network",
        "count of those whose row does not say, of sellers who have the network on some products alone",
        lambda r: len(r.having(Open.NETWORK)),
    ),
    _count(
        "extra",
        "Prices that do not hold the network, which is paid for beside them",
        "count of those that say so",
        lambda r: len(r.having(Open.EXTRA)),
    ),
    Spec(
        "decision.offers.spread",
        "usd",
        label="The dearest offer's cost less that of the cheapest",
        rule="difference of the total costs, outcome by outcome",
        value=lambda at: of(at, found(at).order[-1]).total - of(at, found(at).order[0]).total,
        inputs=(HORIZON,),
        central="mean",
        when=_some,
    ),
    Spec(
        "decision.offers.cent",
        "usd",
        label="What a cent less for a GPU-hour is worth over the horizon",
        rule="what the first offer's total grows by for each dollar an hour ÷ 100",
        value=lambda at: found(at).per_dollar / 100,
        inputs=lambda at: {*inputs_of(found(at).leading.cost.per_dollar), HORIZON, "param:cluster.gpus"},
        when=_some,
    ),
    Spec(
        "decision.offers.room",
        "usd/gpu-hour",
        label="What a GPU-hour of the first may cost more until the second costs no more",
        rule="difference of the mean total costs ÷ what the first's total grows by for each dollar an hour",
        value=lambda at: found(at).room,
        inputs=lambda at: inputs_of(*(of(at, o).total for o in (found(at).pick.first, found(at).pick.second))),
        when=lambda at: at.result.offers is not None and at.result.offers.room is not None,
    ),
)


def _bid(
    name: str, label: Callable[[DecisionContext, Bid], str], rule: str, value: Callable[[Bid], Traced]
) -> EachSpec:
    """An amount of one offer of pieces, (draws,)."""
    return EachSpec(
        f"decision.bids.{name}[bid]",
        "usd",
        label=lambda at, bid: label(at, at.result.bids[bid]),
        rule=rule,
        value=lambda at, bid: value(at.result.bids[bid]),
        inputs=(HORIZON,),
        central="mean",
    )


_BIDS = (
    _bid(
        "total",
        lambda at, bid: f"Total cost of {at.names[bid.option]} at the prices of {bid.offer.seller}",
        "the model run again with the prices quoted in force, every other input as it varies",
        lambda bid: bid.total,
    ),
    _bid(
        "gap",
        lambda _, bid: f"The same less the total cost at the prices of this memo: {bid.offer.seller}",
        "difference of the two totals, outcome by outcome",
        lambda bid: bid.gap,
    ),
    _bid(
        "compared",
        lambda at, bid: f"What the offer of {bid.offer.seller} is compared by: {at.names[bid.option]}",
        "price of the first order + weeks from order to delivery × a week without the GPUs + weeks until stable × a week of tuning",
        lambda bid: bid.compared,
    ),
    EachSpec(
        "decision.bids.counted[line]",
        "count",
        label=lambda at, line: f"Pieces that the seller counts: {item_names(_line(at, line).item).row}",
        rule="as the offer states it",
        value=lambda at, line: _line(at, line).counted,
        sources=lambda at, line: (_line(at, line).price,),
        grade="quote",
        when=lambda at, line: _line(at, line).counted > 0,
    ),
    EachSpec(
        "decision.bids.ours[line]",
        "count",
        label=lambda at, line: (
            f"Pieces that the first stage takes, spares included: {item_names(_line(at, line).item).row}"
        ),
        rule="parts list of the first stage, with spares",
        value=lambda at, line: float(_line(at, line).ours),
        inputs=("param:cluster.gpus", "evidence:spares-share"),
    ),
)


def _line(at: DecisionContext, line: str) -> BidLine:
    return bid_lines(at)[line]


def bid_lines(at: DecisionContext) -> Mapping[str, BidLine]:
    """The lines of every bill of quantities, by offer and item."""
    return {f"{bid.offer.id}.{line.item}": line for bid in at.result.bids.values() for line in bid.lines}


OFFERS = (*_EACH, *_MARKET, *_ALL, *_BIDS)
"""Every figure of the offers; the indexes `offer`, `bid` and `line` run through `offers_in`, the bids and `bid_lines`."""
