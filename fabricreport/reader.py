"""What a buyer's params and books say, as they are asked for: options, offers, answers, files, contested quantities."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Any

from fabricreport.answered import Answered
from fabricreport.as_run import Team
from fabricreport.books.answers import AnswerFile
from fabricreport.books.evidence import EvidenceBook
from fabricreport.books.evidence_entry import EvidenceEntry
from fabricreport.books.offers.offer import Offer
from fabricreport.books.options import Option
from fabricreport.books.prices.book import PriceBook, PriceView
from fabricreport.elicited import Elicited
from fabricreport.models.audit.disagreement import Contested, contested, contested_quantities, joined
from fabricreport.overrides import Overridden
from fabricreport.scenario import Params, Reason, Reference, option_excluded, value_at
from fabricreport.switching import chosen
from fabricreport.uncertain import Replaced, Uncertain

INPUT_KINDS = ("price:", "evidence:", "contested:", "param:")
"""How the id of an input begins, by the book that it is of."""


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
    priced_options: Mapping[str, Option]
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
            by._built[option] = chosen(self.priced_options[option], by.params, by.prices, by.evidence)
        return by._built[option]

    @property
    def sold_and_bought(self) -> tuple[Mapping[str, Option], tuple[Option, ...]]:
        """Every option that can be named on the prices of the memo's date, and those compared as they are built."""
        return self.priced_options, self.options

    def _known_options(self) -> list[Option]:
        """The options to compare, without those that nobody knows, which are told of later."""
        return [self.built(o) for o in self.params.options if o in self.priced_options.keys() - self.excluded]

    @property
    def excluded(self) -> Mapping[str, Reason]:
        """The stated options that are not compared, by id, each with why."""
        stated = [self.priced_options[o] for o in self.params.options if o in self.priced_options]
        return {o.id: reason for o in stated if (reason := option_excluded(self.compares_for, o)) is not None}

    def option_key(self, option: str) -> str:
        """The key of the params that states an option."""
        return f"options[{self.params.options.index(option)}]"

    @property
    def all_options(self) -> Mapping[str, Option]:
        """Every option that can be named, by id."""
        return self.priced_options

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

    def contested_quantities(self) -> dict[str, Contested]:
        """Every contested quantity by id."""
        return contested_quantities(self.evidence, self._definitions, self._weights)

    # ---- one input

    def uncertain(self, input_id: str) -> Uncertain:
        """The figure in force of `price:…` (its own currency), `evidence:…` (its own unit) or a number of the params."""
        self._note(input_id)
        kind, _, name = input_id.partition(":")
        if kind == "price":
            return self.prices[name].figure
        if kind == "evidence":
            return self.evidence[name].figure
        if kind == "contested":
            return self._quantities[name][0] if name in self._quantities else self._prior(name)
        if kind == "param":
            value = value_at(self.params, name)
            return self.uncertain(str(value)) if isinstance(value, Reference) else Uncertain.of(value)
        raise KeyError(f"{input_id}: an input id starts with {', '.join(INPUT_KINDS)}")

    def _prior(self, quantity: str) -> Uncertain:
        found = self.contested(quantity)
        return Uncertain("interval", found.prior_low, found.prior_mid, found.prior_high)

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

    def stated_elsewhere(self, key_id: str) -> bool:
        """Whether a key of the params only refers to an entry of a book."""
        return isinstance(value_at(self.params, key_id.partition(":")[2]), Reference)

    def stated_by(self, input_id: str) -> str:
        """The entry that states the value: the input itself, or what an override of it refers to in the end."""
        replaced = self.overrides.get(input_id)
        return replaced.follows if replaced is not None and replaced.follows else input_id

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

    def _note(self, input_id: str) -> None:
        for asked in self._noted:
            asked.add(input_id)
