"""Sellers of GPU time: what they document and their service levels, with the questions to put to them.

`evidence/providers.yaml` holds the table; the questions are those of `fabricreport.books.questions`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from fabricreport.books.fields import CLOSED, EvidenceId, Id
from fabricreport.books.names import seller_names
from fabricreport.books.questions import Question, Wording, read_questions, read_wording
from fabricreport.books.reader import shipped


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
