"""Sellers of GPU time: the questions put to them, what they document, and what they offer on which terms.

`data/questions.yaml` holds the questions and its head explains each key, `data/wording.yaml` the words. A client's
answer files are read by `fabricreport.books.answers`.

`data/providers.yaml` holds the table; the questions are those of `fabricreport.books.sellers`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from functools import cache
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from fabricreport.books.fields import CLOSED, EvidenceId, Id
from fabricreport.books.names import seller_names
from fabricreport.books.reader import shipped


class Proof(StrEnum):
    """What an answer rests on, firmest first."""

    CONTRACT = "contract"
    LOG = "log"
    RECORD = "record"
    STATEMENT = "statement"


Wordings = Annotated[
    tuple[str, ...], BeforeValidator(lambda found: (found,) if isinstance(found, str) else tuple(found))
]
"""A sentence of a clause: the first of its wordings whose figures exist is taken."""


ALLREDUCE = "T-ALLREDUCE"
"""The test whose place the one of the job's own exchange takes."""


@dataclass(frozen=True)
class Question:
    """One question to a seller, with what a good answer settles; the head of the file explains each key.

    `best` of several values is the most or the least, '' where no clause holds one. Lists that are left out are empty.
    """

    __pydantic_config__ = CLOSED
    id: str
    title: str
    source: str
    axis: Literal["workload", "maturity", "scale", "time", "contract"]
    question: str
    why: str
    good: str
    red_flag: str
    form: Literal["text", "number", "table", "document"]
    unit: str
    evidence: tuple[str, ...]
    check: str
    to: tuple[Literal["cloud", "builder"], ...]
    settles: tuple[str, ...]
    formerly: str = ""
    when: str = ""
    contested: tuple[str, ...] = ()
    guards: str = ""
    commercial: bool = False
    choices: tuple[str, ...] = ()
    accepts: tuple[Proof, ...] = ()
    effect: str = ""
    clause: tuple[Wordings, ...] = ()
    tests: tuple[str, ...] = ()
    best: Literal["", "most", "least"] = ""
    breach: str = ""

    def tests_of(self, exchange: str) -> tuple[str, ...]:
        """The tests that hold a seller to it: where its clause is on the exchange of the job, the test of that (its id)."""
        on_the_job = any("{exchange}" in wording for sentence in self.clause for wording in sentence)
        return tuple(exchange if on_the_job and test == ALLREDUCE else test for test in self.tests)


@dataclass(frozen=True)
class Questions:
    """The file of the questions."""

    __pydantic_config__ = CLOSED
    questions: tuple[Question, ...]


@dataclass(frozen=True)
class Wording:
    """Words by which what sellers document and answer is judged; see `data/wording.yaml`."""

    __pydantic_config__ = CLOSED
    topology: Annotated[tuple[str, ...], Field(alias="topology_words")]
    topology_unknown: tuple[str, ...]
    vague: Annotated[tuple[str, ...], Field(alias="vague_phrases")]
    others_tune: tuple[str, ...]
    least_words: int


def read_questions() -> tuple[Question, ...]:
    """Every question, in the order of the file."""
    return shipped("questions", Questions).questions


@cache
def known_ids() -> Mapping[str, str]:
    """The id of a question by every id under which it is read: its own, and what it was called before."""
    former = {q.formerly: q.id for q in read_questions() if q.formerly}
    return {**{q.id: q.id for q in read_questions()}, **former}


def read_wording() -> Wording:
    """The words by which what sellers document and answer is judged."""
    return shipped("wording", Wording)


@dataclass(frozen=True)
class LinkRates:
    """The slowest and the fastest link that a seller has for a GPU, in Gb/s."""

    __pydantic_config__ = CLOSED
    low: float
    high: float


@dataclass(frozen=True)
class Seller:
    """One cloud of the shipped table. Link speeds in Gb/s per GPU are None where the host decides; `sla`: evidence ids;
    `listed_as`: names that the price files have for it besides its own. `topology` is the article's; `since`: evidence ids of
    what was found that is newer, `topology_now` the topology that it documents according to that, '' where that says none.
    """

    __pydantic_config__ = CLOSED
    id: Id
    name: str
    fabric: str
    generation: str
    link_gbits_per_s: LinkRates | None
    availability: str
    every_gpu_node: bool
    topology: str
    add_on: bool
    sla: tuple[EvidenceId, ...]
    notes: tuple[EvidenceId, ...]
    since: tuple[EvidenceId, ...]
    listed_as: tuple[str, ...] = ()
    topology_now: str = ""

    @property
    def link_low_gbits_per_s(self) -> float | None:
        """The slowest link of a GPU."""
        return None if self.link_gbits_per_s is None else self.link_gbits_per_s.low

    @property
    def link_high_gbits_per_s(self) -> float | None:
        """The fastest link of a GPU."""
        return None if self.link_gbits_per_s is None else self.link_gbits_per_s.high

    @property
    def stated_topology(self) -> str:
        """The topology that it documents, as far as is known; '' where it documents none."""
        return self.topology_now or self.topology


@dataclass(frozen=True)
class ContractOnly:
    """A cloud outside the table whose service levels were read."""

    __pydantic_config__ = CLOSED
    id: Id
    name: str
    sla: tuple[EvidenceId, ...]


@dataclass(frozen=True)
class ProviderBook:
    """The shipped table, the questions, and the rules for reading answers. `source` is the table's evidence id."""

    __pydantic_config__ = CLOSED
    source: EvidenceId
    sellers: Annotated[tuple[Seller, ...], Field(alias="providers")]
    contracts_only: tuple[ContractOnly, ...]
    common: tuple[EvidenceId, ...]

    @property
    def questions(self) -> tuple[Question, ...]:
        """The questions to put to any seller."""
        return read_questions()

    @property
    def wording(self) -> Wording:
        """The words by which answers are judged."""
        return read_wording()

    def seller(self, name: str) -> Seller | None:
        """The seller of this name (case and the parts of a double name do not matter), or None."""
        wanted = folded(name)
        return next((s for s in self.sellers if wanted in set(map(folded, seller_names(s.name)))), None)

    def question(self, question_id: str) -> Question:
        """The question with this id; KeyError if there is none."""
        return next(q for q in self.questions if q.id == question_id)


def read_providers() -> ProviderBook:
    """The shipped table and questions."""
    return shipped("providers", ProviderBook)


def folded(name: str) -> str:
    """A name for comparing: case and doubled spaces do not matter."""
    return " ".join(name.casefold().split())


class Network(StrEnum):
    """Whether the network between servers is in the price."""

    INCLUDED = "included"
    ADD_ON = "add-on"
    EXTRA = "extra"
    UNKNOWN = "unknown"


class Kind(StrEnum):
    """What sort of price it is: an offer to this client, or one that is published."""

    OFFER = "offer"
    ON_DEMAND = "on demand"
    TERM = "for a term"
    LIST = "list price"
    MARKETPLACE = "marketplace"
    SPOT = "spot"


RANKED = (Kind.OFFER, Kind.TERM, Kind.ON_DEMAND, Kind.LIST)
"""Prices at which somebody can be held to a whole term; a spot machine is taken away again."""


@dataclass(frozen=True)
class OfferRung:
    """A price of the price book (its id) for a commitment of so many months; 0 for none."""

    months: int
    price: str


@dataclass(frozen=True)
class OfferAddOn:
    """Something beside the GPU-hour: its price's id, a GPU-hour's or a month's, and whether the work needs it."""

    name: str
    price: str
    monthly: bool
    needed: bool


@dataclass(frozen=True)
class Offer:
    """An offer by its `id`. Prices are ids of the price book, so that each is one figure wherever it is printed.

    `fabric` is an option's id, a family's, or one of `terms.UNNAMED`; `known_as` the id of the seller in the shipped
    table, '' if it is not there. `topology` and `generation` are as documented, '' where they are not. `size` 0: as many
    GPUs as the client asks for. `items`: prices of a bill of quantities (price ids, and how many) by item of the price book.
    `uptime`, `credit` and `cap` are shares. `lines` are those of its file, by key.
    """

    id: str
    seller: str
    kind: Kind
    fabric: str
    network: Network
    product: str
    topology: str
    generation: str
    rungs: tuple[OfferRung, ...] = ()
    size: int = 0
    minimum_share: float = 1.0
    start: date | None = None
    add_ons: tuple[OfferAddOn, ...] = ()
    uptime: float | None = None
    credit: float | None = None
    cap: float | None = None
    refuses: tuple[str, ...] = ()
    items: Mapping[str, tuple[str, float]] = field(default_factory=dict)
    known_as: str = ""
    key: str = ""
    file: str = field(default="", compare=False)
    lines: Mapping[str, int] = field(default_factory=dict, compare=False, repr=False)

    @property
    def contractual(self) -> bool:
        """Whether it is addressed to this client."""
        return self.kind == Kind.OFFER

    @property
    def with_network(self) -> bool:
        """Whether the price, its needed add-ons counted, is known to hold the network."""
        return self.network in (Network.INCLUDED, Network.ADD_ON)

    @property
    def prices(self) -> tuple[str, ...]:
        """Every price of it."""
        own = (*(r.price for r in self.rungs), *(a.price for a in self.add_ons), *(p for p, _ in self.items.values()))
        return tuple(dict.fromkeys(own))


UNNAMED = ("unknown", "varies")
"""What an offer says in the place of a fabric that it does not name."""


@dataclass(frozen=True)
class Asked:
    """What to ask a seller first where something is open, as a sentence, and `short`, for a table."""

    __pydantic_config__ = CLOSED
    question: str
    short: str


@dataclass(frozen=True)
class Turn:
    """What would change the answer, a cell of the row each; templates of the body's words and figures."""

    __pydantic_config__ = CLOSED
    what: str
    now: str
    turns: str
    odds: str
    settled: str


@dataclass(frozen=True)
class OfferTerms:
    """The file of these terms; its head explains each key."""

    __pydantic_config__ = CLOSED
    needed: tuple[str, ...]
    other: tuple[str, ...]
    ask: Mapping[str, Asked]
    turns: Mapping[str, Turn]


def offer_terms() -> OfferTerms:
    """The file, read once."""
    return shipped("offers", OfferTerms)


def needed() -> tuple[str, ...]:
    """What has to be in writing: an offer that refuses one of these is not taken."""
    return offer_terms().needed


def refusable() -> tuple[str, ...]:
    """Everything that an offer may say it refuses."""
    return (*needed(), *offer_terms().other, *known_ids())


def spoken(term: str) -> str:
    """What a table calls something refused: a question by its id and title, whatever it was refused under; a term by its words."""
    question = known_ids().get(term)
    title = next((q.title for q in read_questions() if q.id == question), "")
    return f"{question} {title}" if question else term.replace("-", " ")


def first_question(what: str, form: str = "question") -> str:
    """What to ask a seller where `what` is open, as a `question` or `short`, for a table."""
    found: str = getattr(offer_terms().ask[what], form)
    return found
