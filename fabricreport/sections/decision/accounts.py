"""The accounts of what page one compares, for a workbook: the central case, written down by the functions that the sample goes
through, and how far each price may go before other equipment is bought or others are compared.

The central case is one draw of the same model. Shares of GPU time lost and numbers of pieces stand in it as numbers that no
price moves; all money is told by its formula.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial, reduce
from typing import Any

import numpy as np

from fabricreport.base.provenance import mean_of
from fabricreport.base.uncertain import Uncertain, exactly
from fabricreport.base.written import INSTALLED, LEAF, Script, Term, joined, leaf, term_of
from fabricreport.books.sellers import Offer
from fabricreport.inputs.centre import Centre
from fabricreport.inputs.inputs import Inputs
from fabricreport.inputs.options import Terms, chosen
from fabricreport.ledger.facts import capital
from fabricreport.models.money.accounts import COUNT, Scheduled, StatedLoss, counted, payments, split
from fabricreport.models.money.ownership import CostComponents
from fabricreport.sections.chain import Chain
from fabricreport.sections.decision.inputs import Judge
from fabricreport.sections.decision.offers.judgements import Becomes, judged_of
from fabricreport.sections.decision.offers.study import OffersResult, offers_of
from fabricreport.sections.rents import term_discount
from fabricreport.sections.tco import fabric
from fabricreport.sections.tco.cost import (
    CAUSES,
    TIME_CAUSES,
    cash_bill,
    cause_of,
    full_bill,
    staff_per_year,
    useful_hour_usd,
    with_delay,
)
from fabricreport.sections.tco.fabric import Build
from fabricreport.sections.tco.inputs import OptionInputs, common_inputs, option_inputs

LEAST, MOST = 0.5, 2.0
"""How far a price is followed, as multiples of it."""
_TRIED = 1.5
_STEPS = 6
_PARTS = ("leaf", "spine", "core")


def accounts_of(
    base: Chain, fast: Chain, judge: Judge, pair: Sequence[str], offers: OffersResult | None
) -> dict[str, Any]:
    """The accounts as plain data; `fast`: the chain without provenance, `pair`: the options compared, `offers` those of a renter."""
    writer = _Writer(base, offers)
    two = tuple(dict.fromkeys(pair if offers is None else compared_offers(offers)))
    totals = {o: j.total for o, j in offers.judged.items()} if offers else base.bills.totals
    bills = writer.offered(offers, two) if offers else writer.bills
    materials = list(writer.rented(bills) if base.given.team.rented else writer.materials())
    subjects = [
        {
            "id": o,
            "name": writer.names[o],
            "paid": None if offers else writer.place(writer.paid[o].total),
            "total": writer.place(bill.total),
            "hour": writer.hour(bill),
            "mean": mean_of(totals[o]),
            "lines": list(writer.lines(bill)),
        }
        for o, bill in bills.items()
    ]
    months, limit = writer.months, _Limits(base, fast, judge, frozenset(two), offers)
    return {
        "currency": base.given.currency,
        "compared": list(two),
        "subjects": subjects,
        "materials": materials,
        "rates": {"today": writer.place(months.real_per_year), "fixed": writer.place(months.nominal_per_year)},
        "hours": [flow.tolist() for flow in months.flows],
        "steps": writer.script.steps,
        "inputs": {step[-1]: writer.told(step[-1], step[1], limit) for step in writer.script.steps if step[0] == LEAF},
    }


def compared_offers(offers: OffersResult) -> tuple[str, ...]:
    """The two that page one names: the one to sign with and the next, else the least and the most that work comes to."""
    if offers.listed or offers.best is None:
        return offers.order[0], offers.order[-1]
    return (offers.pick.first, *filter(None, [offers.pick.second]))


class _Writer:
    """The central case of a chain, written."""

    def __init__(self, base: Chain, offers: OffersResult | None) -> None:
        self.base, self.script = base, Script()
        self.names = {o: option.name for o, option in base.given.all_options.items()}
        self.names |= {o: j.offer.seller for o, j in offers.judged.items()} if offers else {}
        self.pen = pen = Centre(base.given, writes=True)
        common = common_inputs(pen, base.hired)
        terms = common.discounting
        self.months = Scheduled(terms.rate_per_year, terms.kind, terms.inflation_per_year)
        self.common = replace(common, discounting=self.months)
        self.own = self.own_at(base.at_centre())
        self.standing = {o: tuple(map(partial(_counted, o), b)) for o, b in base.bills.built.items()}
        if offers is None:
            self.paid, self.bills = self._bills()

    def own_at(self, centre: Chain) -> dict[str, OptionInputs]:
        """Each option's own inputs, written, with the shares of time lost and the weeks of the central case."""
        found = {}
        for option in centre.given.options:
            o = option.id
            own = option_inputs(self.pen, option, centre.exposed[o], centre.losses)
            stable = leaf(np.asarray(own.bring_up_weeks), f"weeks:until stable:{o}")
            arrival = {
                f.name: leaf(np.asarray(week), f"weeks:{f.name}:{o}") if np.any(week) else 0.0
                for f in fields(own.arrival)
                for week in [getattr(own.arrival, f.name)]
            }
            lost = StatedLoss(**vars(own.lost), whose=o)
            found[o] = replace(own, lost=lost, bring_up_weeks=stable, arrival=replace(own.arrival, **arrival))
        return found

    def _bills(self) -> tuple[dict[str, CostComponents], dict[str, CostComponents]]:
        """What is paid for each option, and its whole bill."""
        rent, common = self.base.given.team.rented, self.common
        paid = {o: cash_bill(self.standing.get(o, ()), i, common, rent=rent) for o, i in self.own.items()}
        if common.gpu_hour_value is None:  # the cheapest one's, as of the sample
            hours = [useful_hour_usd(paid[o], i, common) for o, i in self.own.items()]
            self.common = common = replace(common, gpu_hour_value=reduce(np.minimum, hours))
        whole = {o: with_delay(full_bill(paid[o], i, common, rent=rent), i, common) for o, i in self.own.items()}
        return paid, whole

    def offered(self, offers: OffersResult, two: Sequence[str]) -> dict[str, CostComponents]:
        """The bills of the offers compared, each at the rung in use and on the network that it has."""
        given, found = self.base.given, {}
        for o in two:
            judged = offers.judged[o]
            figures = given.answered.figures_of(judged.offer.seller) if given.answer_files else {}
            own = self.own_at(self.base.replacing(figures).at_centre()) if figures else self.own
            bills = replace(self.base.bills, own=own, common=self.common)
            rungs = tuple(r for r in judged.offer.rungs if r.price == judged.price)[:1]
            offer = replace(judged.offer, rungs=rungs)
            found[o] = judged_of(self.pen, bills, offer, self._becomes(offer)).cost.costs
        return found

    def _becomes(self, offer: Offer) -> Any:
        """What the offer's price becomes, as a factor: by the seller's own two prices where these say so."""
        pen, term = self.pen, term_discount(self.pen, offer)
        becomes, own = Becomes(pen, offer), sorted(term.behind - {term.entry})
        left: Any = np.ones(1)
        if own and term.entry.startswith("price:") and term.entry in [stream for stream, *_ in becomes.parts]:
            reserved, listed = (pen.tagged(pen.central(i), {i}) for i in (term.entry, *own))
            left = (1.0 + reserved / listed) / 2.0 * left
        rest = np.asarray(becomes.drawn()) / np.asarray(left)
        known = np.allclose(rest, 1.0, rtol=1e-12)
        return left if known else left * leaf(rest, f"factor:price once asked for:{offer.id}")

    def place(self, amount: Any) -> int:
        """Where an amount stands among the steps."""
        return self.script.place(term_of(amount))

    def hour(self, bill: CostComponents) -> int:
        """At what a lost GPU-hour is charged: its value, or the rent and what is paid with it by the hour."""
        if self.base.given.team.rented and self.common.value_basis != "stated":
            cash = [p for name, amount in bill.items() if cause_of(name) not in TIME_CAUSES
                    for p in payments(term_of(amount)) if p.hours is not None]  # fmt: skip
            return self.script.place(reduce(partial(joined, "+"), [p.amount for p in cash]))
        return self.place(self.common.gpu_hour_value)

    def lines(self, bill: CostComponents) -> Iterator[dict[str, Any]]:
        """The lines of a bill: cause, whether it is time, and its payments."""
        order = list(CAUSES)
        found = sorted(bill.items(), key=lambda item: order.index(c) if (c := cause_of(item[0])) in order else -1)
        for name, amount in found:
            cause = cause_of(name)
            paid = [vars(p) | {"amount": self.script.place(p.amount)} for p in payments(term_of(amount))]
            if paid:
                told = {"name": _name(name), "cause": CAUSES.get(cause, capital(cause)), "time": cause in TIME_CAUSES}
                yield told | {"payments": paid}

    def materials(self) -> Iterator[dict[str, Any]]:
        """What stands of each option after each stage: pieces and their prices, and what runs."""
        common = self.common
        for o, builds in self.standing.items():
            own = self.own[o]
            for build, (_, staff) in zip(builds, staff_per_year(common, own), strict=True):
                parts = {**fabric.capex(build, own, common), "servers": build.nodes * common.server.price}
                runs = [
                    ("Power of servers", "watts", build.nodes * common.server.watts),
                    ("Power of the network", "watts", sum(fabric.watts(build, own, common).values())),
                    ("Licences", "yearly", fabric.licences_per_year(build, own)),
                    ("Network staff", "yearly", staff),
                ]
                yield {
                    "what": "stage",
                    "subject": o,
                    "month": build.month,
                    "gpus": build.gpus,
                    "parts": [
                        {"name": _name(name), "sum": self.place(amount), "rows": list(self._rows(amount))}
                        for name, amount in parts.items()
                        if term_of(amount).value
                    ],
                    "runs": [[name, unit, self.place(amount)] for name, unit, amount in runs if term_of(amount).value],
                }

    def rented(self, bills: Mapping[str, CostComponents]) -> Iterator[dict[str, Any]]:
        """Of a renter, the hours that are paid for and their price."""
        for o, bill in bills.items():
            parts = []
            for name, amount in bill.items():
                for paid in payments(term_of(amount)):
                    if paid.hours is not None:
                        hours = float(self.months.flows[paid.hours].sum())
                        pieces = Term(INSTALLED, (), hours, str(paid.hours))
                        terms = pieces, paid.amount, joined("*", pieces, paid.amount)
                        row = list(map(self.script.place, terms))
                        parts.append({"name": _name(name), "sum": row[-1], "rows": [[*row, []]]})
            yield {"what": "rented", "subject": o, "parts": parts, "runs": []}

    def _rows(self, amount: Any) -> Iterator[list[Any]]:
        for one in filter(lambda one: one.value, split(term_of(amount), "+")):
            pieces, price = counted(one)
            names = [key for key in _keys(price) if not key.startswith(COUNT)]
            yield [pieces and self.script.place(pieces), self.script.place(price), self.script.place(one), names[:1]]

    def told(self, key: str, value: float, limit: _Limits) -> dict[str, Any]:
        """An input as the workbook shows it, and between which values a change of it alone keeps what is compared."""
        given = self.base.given
        kind, _, rest = key.partition(":")
        if kind in ("price", "evidence", "param"):
            record = given.record(key)
            moves = kind == "price" or (kind == "evidence" and str(record["unit"]).startswith("usd"))
            low, high = limit.of(key) if moves else (1.0, 1.0)
            told = {name: str(record[name]) for name in ("label", "unit", "grade", "source", "date")}
            return told | {"kind": kind, "low": value * low, "high": value * high}
        what, whose, *where = [*rest.split(":"), ""]
        words = " ".join([what, *where]).replace("_", " ").strip()
        name = self.names.get(whose, whose or "Rate")
        unit = {"count": "pieces", "share": "share", "weeks": "week"}.get(kind, "ratio")
        told = {"label": f"{name}: {words}", "unit": unit, "grade": "", "source": "", "date": str(given.as_of)}
        return told | {"kind": kind, "low": value, "high": value}


def _name(piece: str) -> str:
    return capital(piece.replace("_", " "))


def _keys(term: Any) -> Iterator[str]:
    yield from [term.key] if term.op == LEAF else [key for one in term.of for key in _keys(one)]


def _counted(option: str, build: Build, place: str = "") -> Build:
    """What stands after a stage, every number of pieces told by what it counts."""

    def told(found: Any, names: Sequence[str]) -> dict[str, Any]:
        numbers = {name: getattr(found, name) for name in names}
        where = f"{option}:month {build.month}{place}"
        return {name: leaf(n, f"{COUNT}{name}:{where}") for name, n in numbers.items() if n}

    cables, bom = told(build.cables, [f.name for f in fields(build.cables)]), told(build.bom, _PARTS)
    return replace(
        build,
        bom=replace(build.bom, **bom),
        cables=replace(build.cables, **cables),
        sites=tuple(_counted(option, site, f":site {n}") for n, site in enumerate(build.sites, 1)),
        **told(build, ("nodes", "site_ports")),
    )


@dataclass(frozen=True)
class _Limits:
    """Between which multiples of a price the same equipment is bought and the same two are compared.

    The totals are asked of the model at one other price; each draw's is a straight line in a price, and read off in between:
    the price with its range, and as a number without one.
    """

    base: Chain
    fast: Chain
    judge: Judge
    two: frozenset[str]
    offers: OffersResult | None

    def of(self, input_id: str) -> tuple[float, float]:
        """The least and the most, as multiples; no more than `LEAST` and `MOST`."""
        figure = self.base.given.in_force(input_id).figure
        keeps = self._sellers(input_id, figure) if self.offers else self._options(input_id, figure)
        return _edge(keeps, LEAST), _edge(keeps, MOST)

    def _options(self, input_id: str, figure: Uncertain) -> Callable[[float], bool]:
        names = ("parts", "components", "totals")
        bills = self.fast.bills, self.fast.replacing({input_id: figure.times(_TRIED)}).bills
        now, moved = ({name: getattr(own, name) for name in names} for own in bills)
        slopes = _each(lambda own, other: None if np.array_equal(own, other) else other - own, now, moved)
        drawn = figure.central / np.asarray(self.fast.given.own(input_id))

        def pair(factor: Any) -> set[str]:
            part = (factor - 1.0) / (_TRIED - 1.0)
            at = _each(lambda own, slope: own if slope is None else own + part * slope, now, slopes)
            return set(self.judge.verdict(replace(self.fast.bills, **at)).pair)

        def keeps(factor: float) -> bool:
            given = self.fast.given.replacing({input_id: figure.times(factor)})
            same = all(_chosen(given, o) == self.base.given.built(o) for o in self.fast.bills.own)
            return same and all(pair(f) == self.two for f in (factor, factor * drawn))

        return keeps

    def _sellers(self, input_id: str, figure: Uncertain) -> Callable[[float], bool]:
        assert self.offers is not None
        prices = self._priced(self.base.given, self.offers)

        def stays(value: Uncertain) -> bool:
            chain = self.fast.replacing({input_id: value})
            found = offers_of(chain.given, chain.bills, self.judge, lambda figures: chain.replacing(figures).bills)
            if found is None or frozenset(compared_offers(found)) != self.two:
                return False
            return self._priced(chain.given, found) == prices

        return lambda factor: stays(figure.times(factor)) and (figure.fixed or stays(exactly(figure.central * factor)))

    def _priced(self, given: Inputs, offers: OffersResult) -> dict[str, tuple[str, str]]:
        """The price that is used of each offer compared, and what says what it becomes."""
        found = {o: offers.judged[o] for o in self.two}
        return {o: (j.price, term_discount(given, j.offer).entry) for o, j in found.items()}


def _chosen(given: Inputs, option: str) -> Any:
    return chosen(given.all_options[option], Terms(given.params, given.prices, given.in_force))


def _each(made: Callable[[Any, Any], Any], one: Any, other: Any) -> Any:
    """What is made of each number of two nests of mappings; one that the other lacks is not another there."""
    if not isinstance(one, Mapping):
        return made(one, other)
    return {key: _each(made, own, other.get(key, own)) for key, own in one.items()}


def _edge(keeps: Callable[[float], bool], end: float) -> float:
    """The last multiple on the way from 1 to `end` at which all is kept, to a hundredth."""
    if keeps(end):
        return end
    inside, beyond = 1.0, end
    for _ in range(_STEPS):
        middle = (inside * beyond) ** 0.5
        inside, beyond = (middle, beyond) if keeps(middle) else (inside, middle)
    return inside
