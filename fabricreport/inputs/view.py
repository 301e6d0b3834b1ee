"""What a buyer's params and books say, as they are asked for: options, offers, answers, files, contested quantities."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Any

from fabricreport.base.memory import cached_method
from fabricreport.base.uncertain import Replaced, Uncertain
from fabricreport.books.answers import AnswerFile
from fabricreport.books.evidence import EvidenceBook, EvidenceEntry
from fabricreport.books.options import Option
from fabricreport.books.prices.book import PriceBook, PriceView
from fabricreport.books.sellers import Offer
from fabricreport.inputs.answers import Answered
from fabricreport.inputs.options import Team, Terms, chosen
from fabricreport.inputs.records import price_unit
from fabricreport.inputs.replacements import Elicited, InForce, Overridden
from fabricreport.ledger.numbers import INPUT_KINDS
from fabricreport.models.audit.disagreement import Contested, contested, joined
from fabricreport.scenario import Params, Reason, Reference, option_excluded, value_at


@dataclass
class Books:
    """The books as they are read, before any override, and the folder of the params file.

    The folder is another once a build has frozen its inputs: then files are read there, whoever asked before.
    """

    folder: Path
    evidence: EvidenceBook
    prices: PriceBook
    options: Mapping[str, Option]


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
    _builder: Reader
    _noted: list[set[str]]

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
        return self._builder._chosen(option)

    @cached_method
    def _chosen(self, option: str) -> Option:
        return chosen(self.all_options[option], Terms(self.params, self.prices, self.in_force))

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

    @cached_method
    def in_force(self, input_id: str) -> InForce:
        """What speaks for `price:…`, `evidence:…`, `contested:…` or `param:…`."""
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
