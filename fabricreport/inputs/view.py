"""What a buyer's params and books say, as they are asked for: options, offers, answers, files, contested quantities.

    seller: Example Cloud            # a file holds one offer; every key is one of `scenario.candidates.Offer`
    date: 2026-11-12
    expiry: 2026-12-12
    fabric: infiniband               # a family, an option that is compared, unknown or varies
    network: included                # whether it is in the price
    price_per_gpu_hour: 2.60
    ladder: [{months: 12, price_per_gpu_hour: 2.20}]

Its amounts become prices of the price book (`offer-<id>-...`), so that each is one figure wherever it is printed. Every
fault of a file is reported at once, each with file, line, key, remedy and the nearest name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Any

from fabricreport.base.errors import InputError, Problem
from fabricreport.base.locations import Located
from fabricreport.base.uncertain import Replaced, Uncertain
from fabricreport.base.vocabulary import Grade
from fabricreport.base.yaml_files import load_strict
from fabricreport.books.answers import AnswerFile
from fabricreport.books.evidence import EvidenceBook, EvidenceEntry
from fabricreport.books.options import Option
from fabricreport.books.prices.book import Price, PriceBook, PriceView
from fabricreport.books.reader import checked
from fabricreport.books.sellers import Kind, Network, Offer, OfferAddOn, OfferRung, read_providers
from fabricreport.inputs.answers import Answered
from fabricreport.inputs.options import Team, chosen
from fabricreport.inputs.records import price_unit
from fabricreport.inputs.replacements import Elicited, Overridden
from fabricreport.ledger.numbers import INPUT_KINDS
from fabricreport.models.audit.disagreement import Contested, contested, joined
from fabricreport.scenario import Offer as WrittenOffer
from fabricreport.scenario import Params, Reason, Reference, option_excluded, slugify, value_at
from fabricreport.scenario.rules import offer_findings


@dataclass
class Books:
    """The books as they are read, before any override, and the folder of the params file.

    The folder is another once a build has frozen its inputs: then files are read there, whoever asked before.
    """

    folder: Path
    evidence: EvidenceBook
    prices: PriceBook
    options: Mapping[str, Option]


@dataclass(frozen=True)
class InForce:
    """What speaks for an input once references are followed and replacements are in force.

    `id`: the input itself, or the entry that a key of the params refers to. `value`: its figure in its own unit and currency,
    the sources that disagree on it, or what no figure is made of. `follows`: the input whose draws it takes, itself or the
    entry that an override refers to in the end. `unit`: of an entry, its money written `usd` whatever the currency.
    `currency`: of a price; all other money is in US dollars. `group`: of the entries that move together.
    """

    id: str
    value: Any
    follows: str
    unit: str = ""
    currency: str = ""
    group: str = ""

    @property
    def figure(self) -> Uncertain:
        """The figure; `TypeError` for words."""
        if isinstance(self.value, str):
            raise TypeError(f"{self.id.replace(':', ' ')} is text: it has no number to draw")
        return self.value.prior if isinstance(self.value, Contested) else Uncertain.of(self.value)

    @property
    def moves_with_others(self) -> bool:
        """Whether its draws are tied to those of its group."""
        return bool(self.group) and not self.figure.fixed


class Reader:
    """The params, and the books of the memo's date with the overrides in force."""

    params: Params
    compares_for: Params
    """The params whose size, work and day leave options out: the client's own, whatever an analysis asks of another size."""
    evidence: EvidenceBook
    prices: PriceView
    all_options: Mapping[str, Option]
    """Every option that can be named, by id, on the prices of the memo's date."""
    overrides: Mapping[str, Overridden]
    """The client's overrides by the id that they replace."""
    elicited: Elicited
    """What the client's experts answered, pooled."""
    offers: tuple[Offer, ...]
    """What sellers offer this client, in the params' order."""
    answered: Answered
    """What sellers answered, as the models take it."""
    _books: Books
    _definitions: Mapping[str, Any]
    _weights: Mapping[str, float]
    _quantities: dict[str, tuple[Uncertain, Replaced | None]]
    _in_force: dict[str, InForce]
    _built: dict[str, Option]
    _builder: Reader
    _noted: list[set[str]]

    def move(self, folder: Path) -> None:
        """Look for the files that the params name in another folder from now on."""
        self._books.folder = folder

    @property
    def as_of(self) -> date:
        """The memo's date."""
        return date.fromisoformat(str(self.params.as_of))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the client, the options and the providers, which may hold digits wherever they are printed."""
        options = [option.name for option in self.options]
        providers = [provider.name for provider in self.params.providers]
        sellers = [offer.seller for offer in self.offers]
        return tuple(dict.fromkeys([self.params.client.name, *options, *providers, *sellers]))

    @property
    def currency(self) -> str:
        """The memo's currency."""
        return str(self.params.money.currency)

    @property
    def options(self) -> tuple[Option, ...]:
        """The options to compare, in the params' order: those stated, without the `excluded`, built for the client."""
        return tuple(self.built(o) for o in self.params.options if o not in self.excluded)

    def built(self, option: str) -> Option:
        """A stated option with the switch that is bought for this client, by the prices that the case was opened with:
        where inputs are moved alone it stays."""
        by = self._builder
        if option not in by._built:
            by._built[option] = chosen(self.all_options[option], by.params, by.prices, by.evidence)
        return by._built[option]

    @property
    def sold_and_bought(self) -> tuple[Mapping[str, Option], tuple[Option, ...]]:
        """Every option that can be named on the prices of the memo's date, and those compared as they are built."""
        return self.all_options, self.options

    def _known_options(self) -> list[Option]:
        """The options to compare, without those that nobody knows, which are told of later."""
        return [self.built(o) for o in self.params.options if o in self.all_options.keys() - self.excluded]

    @property
    def excluded(self) -> Mapping[str, Reason]:
        """The stated options that are not compared, by id, each with why."""
        stated = [self.all_options[o] for o in self.params.options if o in self.all_options]
        return {o.id: reason for o in stated if (reason := option_excluded(self.compares_for, o)) is not None}

    def option_key(self, option: str) -> str:
        """The key of the params that states an option."""
        return f"options[{self.params.options.index(option)}]"

    @property
    def price_book(self) -> PriceBook:
        """Every row of the price files, with those of other days."""
        return self._books.prices

    @property
    def shipped(self) -> EvidenceBook:
        """The evidence without overrides."""
        return self._books.evidence

    @property
    def folder(self) -> Path:
        """The folder of the params file; a file in it is asked for with `file`."""
        return self._books.folder

    def file(self, name: str) -> Path:
        """A file that the params name, by its path below their folder."""
        return self._books.folder / name

    @property
    def answer_files(self) -> tuple[AnswerFile, ...]:
        """The files of what sellers answered, in the params' order."""
        return self.answered.files

    # ---- quantities on which sources disagree

    def contested(self, quantity: str) -> Contested:
        """What the sources say on a contested quantity, figures in force, and the prior that their spread makes."""
        return contested(quantity, self.evidence, self._definitions, self._weights)

    @property
    def quantities(self) -> tuple[str, ...]:
        """Ids of every contested quantity: those defined, then those that only an entry names."""
        named = (e.contested for e in self._books.evidence.values() if e.contested)
        return tuple(dict.fromkeys([*self._definitions, *named]))

    def _speaking_on(self, quantity: str) -> list[str]:
        """Ids of the entries that speak on a contested quantity."""
        own = (name for name, entry in self._books.evidence.items() if entry.contested == quantity)
        return [f"evidence:{i}" for i in (*own, *joined(self._definitions.get(quantity, {})))]

    def quantities_of(self, ids: Iterable[str]) -> set[str]:
        """The contested quantities that any of these entries speaks on."""
        names, book = {i.partition(":")[2] for i in ids if i.startswith("evidence:")}, self._books.evidence
        own = {book[name].contested for name in names if name in book}
        also = {q for q, d in self._definitions.items() if names & {*joined(d)}}
        return {*own, *also} - {""}

    # ---- one input

    def uncertain(self, input_id: str) -> Uncertain:
        """The figure in force of `price:…` (its own currency), `evidence:…` (its own unit) or a number of the params."""
        found = self.in_force(input_id)
        self._note(input_id, found.id)
        return found.figure

    def in_force(self, input_id: str) -> InForce:
        """What speaks for `price:…`, `evidence:…`, `contested:…` or `param:…`."""
        if input_id not in self._in_force:
            self._in_force[input_id] = self._speaking_for(input_id)
        return self._in_force[input_id]

    def _speaking_for(self, input_id: str) -> InForce:
        kind, _, name = input_id.partition(":")
        override = self.overrides.get(input_id)
        follows = (override.follows if override else "") or input_id
        if kind == "price":
            price = self.prices[name]
            return InForce(input_id, price.figure, follows, price_unit(price), price.currency)
        if kind == "evidence":
            entry = self.evidence[name]
            return InForce(input_id, entry.value, follows, entry.unit, group=entry.group)
        if kind == "contested":
            found, own = self.contested(name), self._quantities.get(name)
            return InForce(input_id, own[0] if own else found, follows, found.unit)
        if kind == "param":
            value = value_at(self.params, name)
            return self.in_force(str(value)) if isinstance(value, Reference) else InForce(input_id, value, follows)
        raise KeyError(f"{input_id}: an input id starts with {', '.join(INPUT_KINDS)}")

    def central(self, input_id: str) -> float:
        """The central value of an input: its mode if it has one, else its median."""
        return self.uncertain(input_id).central

    def words(self, entry_id: str) -> str:
        """A fact in words of the evidence."""
        self._note(f"evidence:{entry_id}")
        return str(self.evidence[entry_id].value)

    def entry(self, entry_id: str) -> EvidenceEntry:
        """An entry of the evidence, the figure in force."""
        self._note(f"evidence:{entry_id}")
        return self.evidence[entry_id]

    # ---- the client's team

    @cached_property
    def team(self) -> Team:
        """Who runs the client's network and its jobs."""
        return Team.of(self.params, self.words)

    # ---- who asked for what

    @contextmanager
    def noting(self) -> Iterator[set[str]]:
        """The ids of every input asked for inside the block."""
        asked: set[str] = set()
        self._noted.append(asked)
        try:
            yield asked
        finally:
            self._noted[:] = [others for others in self._noted if others is not asked]  # by identity: two may be equal

    def _note(self, *input_ids: str) -> None:
        for asked in self._noted:
            asked.update(input_ids)


@dataclass(frozen=True)
class Stated:
    """An offer as it is written, and as it is read."""

    written: WrittenOffer
    offer: Offer


def with_offers(folder: Path, params: Params, view: PriceView) -> tuple[tuple[Offer, ...], PriceView]:
    """The offers of a client in the params' order, and the prices of the day with theirs; `InputError` with every fault."""
    stated = read_offers(folder, params)
    return tuple(one.offer for one in stated), view.plus(*(p for one in stated for p in prices_of(one, view.as_of)))


def read_offers(folder: Path, params: Params) -> tuple[Stated, ...]:
    """The offers of a client in the params' order; `InputError` with every fault of all files."""
    found: list[tuple[WrittenOffer, str, Located | None]] = []
    problems: list[Problem] = []
    for number, one in enumerate(params.offers):
        if isinstance(one, WrittenOffer):
            found.append((one, f"offers[{number}]", None))
            continue
        try:
            offer, located = read_offer(folder / str(one.file), params)
            found.append((offer, "", located))
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(problems)
    ids: list[str] = []
    for offer, _, _ in found:
        name = slugify(offer.seller)
        ids.append(name if name not in ids else f"{name}-{sum(i.startswith(name) for i in ids) + 1}")
    return tuple(Stated(o, _read(o, i, key, at)) for i, (o, key, at) in zip(ids, found, strict=True))


def read_offer(path: Path, params: Params) -> tuple[WrittenOffer, Located]:
    """The offer of one file, and its lines. Raises `InputError` with every fault."""
    located = load_strict(path)
    if not isinstance(located.data, dict):
        remedy = "Begin with `seller:`; params/offers/example-cloud.yaml shows one."
        raise InputError(located.problem((), "must hold keys and values", remedy=remedy))
    offer = checked(located, WrittenOffer)
    faults = [
        replace(
            located.problem(f.path, f.message, value=f.value, remedy=f.remedy, suggestion=f.suggestion), rule=f.rule
        )
        for f in offer_findings(offer, params)
    ]
    if faults:
        raise InputError(faults)
    return offer, located


def _read(offer: WrittenOffer, own_id: str, key: str, located: Located | None) -> Offer:
    seller = read_providers().seller(offer.seller)
    rungs = [] if offer.price_per_gpu_hour is None else [OfferRung(offer.term_months or 0, _price(own_id, "hour"))]
    rungs += [OfferRung(r.months, _price(own_id, f"hour-{r.months}")) for r in offer.ladder]
    add_ons = (
        OfferAddOn(a.name, _price(own_id, f"add-on-{n}"), a.price_per_month is not None, a.needed)
        for n, a in enumerate(offer.add_ons, start=1)
    )
    lines = {} if located is None else {str(path[0]): line for path, line in located.lines.items() if len(path) == 1}
    return Offer(
        id=own_id,
        seller=offer.seller,
        kind=Kind.OFFER,
        fabric=offer.fabric,
        network=Network(offer.network),
        product=offer.product or "",
        topology=offer.topology or "",
        generation=offer.generation or "",
        rungs=tuple(rungs),
        size=offer.size or 0,
        minimum_share=offer.minimum_share,
        start=offer.start,
        add_ons=tuple(add_ons),
        uptime=offer.credits.uptime,
        credit=offer.credits.credit,
        cap=offer.credits.cap,
        refuses=offer.refuses,
        items={i.item: (_price(own_id, f"item-{i.item}"), i.quantity) for i in offer.items},
        known_as=seller.id if seller else "",
        key=key,
        file=located.file if located else "",
        lines=lines,
    )


def _price(own_id: str, what: str) -> str:
    return f"price:offer-{own_id}-{what}"


def prices_of(stated: Stated, as_of: date) -> Iterator[Price]:
    """The amounts of an offer as prices of the day."""
    written, offer = stated.written, stated.offer

    def price(price_id: str, amount: float, unit: str) -> Price:
        return Price(
            price_id.removeprefix("price:"), unit, amount, None, None, written.currency, written.date, written.expiry,
            f"{written.seller}, offer of {written.date.isoformat()}", Grade.QUOTE, stale=as_of > written.expiry,
            age_days=(as_of - written.date).days, file=offer.file,
        )  # fmt: skip

    amounts = [] if written.price_per_gpu_hour is None else [written.price_per_gpu_hour]
    amounts += [r.price_per_gpu_hour for r in written.ladder]
    for rung, amount in zip(offer.rungs, amounts, strict=True):
        yield price(rung.price, amount, "gpu-hour")
    for add_on, asked in zip(offer.add_ons, written.add_ons, strict=True):
        stated_price = asked.price_per_month if add_on.monthly else asked.price_per_gpu_hour
        yield price(add_on.price, float(stated_price or 0.0), "month" if add_on.monthly else "gpu-hour")
    for line in written.items:
        yield price(offer.items[line.item][0], line.price, "each")
