"""One reader of a buyer's params and books: whatever it takes out of them is noted as read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from fabricreport.answered import Answered
from fabricreport.books.answers import AnswerFile
from fabricreport.books.evidence import EvidenceBook
from fabricreport.books.offers.offer import Offer
from fabricreport.books.options import Option
from fabricreport.books.prices.book import PriceBook, PriceView
from fabricreport.elicited import Elicited
from fabricreport.models.audit.disagreement import Contested, contested, contested_quantities, joined
from fabricreport.overrides import Overridden
from fabricreport.reads import EVERY, Reads
from fabricreport.scenario import OfferFile, Params, named_files
from fabricreport.seen import SeenEvidence, SeenPrices, seen_params
from fabricreport.uncertain import Replaced, Uncertain


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
    """The evidence and the prices of the memo's date with the overrides in force, of which nothing is noted."""

    evidence: EvidenceBook
    prices: PriceView


class Reader:
    """The params and the books through a reader's eyes."""

    _in_force: InForce
    _overrides: Mapping[str, Overridden]
    _elicited: Elicited
    _offers: tuple[Offer, ...]
    _answered: Answered
    _definitions: Mapping[str, Any]
    _weights: Mapping[str, float]
    _quantities: dict[str, tuple[Uncertain, Replaced | None]]
    evidence: EvidenceBook
    prices: PriceView
    priced_options: Mapping[str, Option]
    """Every option on the prices of the memo's date; of these nothing is noted."""

    def __init__(self, params: Params, books: Books) -> None:
        self._books, self.reads = books, Reads()
        self.params = seen_params(params, self.reads)

    def look(self, reads: Reads, in_force: InForce) -> None:
        """Note in `reads` what is taken from now on; these entries are in force."""
        self.reads, self._in_force = reads, in_force
        self.params = seen_params(self.params, reads)
        self.evidence = SeenEvidence(in_force.evidence, reads)
        self.prices = SeenPrices(in_force.prices, reads)

    @property
    def books(self) -> Books:
        """The books as they are, of which nothing more is noted than that all of them are read."""
        self.reads.note(*EVERY.values())
        return self._books

    @property
    def in_force(self) -> InForce:
        """The same of the entries in force."""
        self.reads.note(*EVERY.values())
        return self._in_force

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
        """The options to compare, in the params' order."""
        wanted = self.params.options
        self.reads.note(*(f"option:{o}" for o in wanted))
        return tuple(self.priced_options[o] for o in wanted)

    @property
    def all_options(self) -> Mapping[str, Option]:
        """Every option that can be named, by id."""
        self.reads.note(EVERY["option"])
        return self.priced_options

    @property
    def price_book(self) -> PriceBook:
        """Every row of the price files, with those of other days."""
        self.reads.note(EVERY["history"])
        return self._books.prices

    @property
    def shipped(self) -> EvidenceBook:
        """The evidence without overrides."""
        self.reads.note(EVERY["evidence"])
        return self._books.evidence

    @property
    def folder(self) -> Path:
        """The folder of the params file; a file in it is asked for with `file`."""
        self.reads.note(EVERY["file"])
        return self._books.folder

    def file(self, name: str) -> Path:
        """A file that the params name, by its path below their folder."""
        self.reads.note(f"file:{name}")
        return self._books.folder / name

    @property
    def elicited(self) -> Elicited:
        """What the client's experts answered, pooled."""
        self.reads.note("params:elicited", *(f"file:{name}" for name in self.params.elicited))
        return self._elicited

    @property
    def offers(self) -> tuple[Offer, ...]:
        """What sellers offer this client, in the params' order."""
        files = [str(o.file) for o in self.params.offers if isinstance(o, OfferFile)]
        self.reads.note("params:offers", *(f"file:{name}" for name in files))
        return self._offers

    @property
    def answer_files(self) -> tuple[AnswerFile, ...]:
        """The files of what sellers answered, in the params' order."""
        files = [str(p.answers) for p in self.params.providers if p.answers]
        self.reads.note(*(f"file:{name}" for name in files))
        return self._answered.files

    @property
    def answered(self) -> Answered:
        """What sellers answered, as the models take it; where anybody answered, it rests on all that is known besides."""
        if self.answer_files:
            self._note_everything()
        return self._answered

    def _note_everything(self) -> None:
        """Every book as a whole, and each file that the params name by its name."""
        self.reads.note(*(every for kind, every in EVERY.items() if kind != "file"))
        self.reads.note(*(f"file:{name}" for name in named_files(self.params)))

    def lag_weeks(self, option: str) -> float:
        """Weeks that an option stands later than the first that could, where sellers of each have answered.

        Nothing of the evidence has a part in it: a term is as it is written, or none.
        """
        if self.answer_files:
            blocks = ("as_of", "options", "cluster", "money")
            self.reads.note(*(f"params:{b}" for b in blocks), *(f"option:{o}" for o in self.params.options))
        return self._answered.lags.get(option, 0.0)

    @property
    def overrides(self) -> Mapping[str, Overridden]:
        """The client's overrides by the id that they replace."""
        self.reads.note("params:overrides")
        return self._overrides

    def quantity_in_force(self, quantity: str) -> tuple[Uncertain, Replaced | None] | None:
        """The figure put in the place of what the sources say, and who put it there."""
        self.reads.note(f"contested:{quantity}")
        return self._quantities.get(quantity)

    # ---- quantities on which sources disagree

    def contested(self, quantity: str) -> Contested:
        """What the sources say on a contested quantity, figures in force, and the prior that their spread makes."""
        self.reads.note(f"contested:{quantity}")
        return contested(quantity, self._in_force.evidence, self._definitions, self._weights)

    @property
    def quantities(self) -> tuple[str, ...]:
        """Ids of every contested quantity: those defined, then those that only an entry names."""
        self.reads.note(EVERY["contested"])
        named = (e.contested for e in self._books.evidence.values() if e.contested)
        return tuple(dict.fromkeys([*self._definitions, *named]))

    def _speaking_on(self, quantity: str) -> list[str]:
        """Ids of the entries that speak on a contested quantity."""
        self.reads.note(f"contested:{quantity}")
        own = (name for name, entry in self._books.evidence.items() if entry.contested == quantity)
        return [f"evidence:{i}" for i in (*own, *joined(self._definitions.get(quantity, {})))]

    def quantities_of(self, ids: Iterable[str]) -> set[str]:
        """The contested quantities that any of these entries speaks on."""
        ids = [i for i in ids if i.startswith("evidence:")]
        self.reads.note(*ids)
        names, book = {i.partition(":")[2] for i in ids}, self._books.evidence
        own = {book[name].contested for name in names if name in book}
        also = {q for q, d in self._definitions.items() if names & {*joined(d)}}
        return {*own, *also} - {""}

    def contested_quantities(self) -> dict[str, Contested]:
        """Every contested quantity by id."""
        found = contested_quantities(self._in_force.evidence, self._definitions, self._weights)
        self.reads.note(EVERY["contested"], *(f"contested:{q}" for q in found))
        return found
