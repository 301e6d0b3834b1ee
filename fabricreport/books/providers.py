"""Sellers of GPU time: what they document and their service levels, with the questions to put to them.

`evidence/providers.yaml` holds the table; the questions are those of `fabricreport.books.questions`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from fabricreport.books.names import seller_names
from fabricreport.books.questions import Question, Wording, read_questions, read_wording
from fabricreport.evidence import read_yaml


@dataclass(frozen=True)
class Seller:
    """One cloud of the shipped table. Link speeds in Gb/s per GPU (None where the host decides); `sla`: evidence ids;
    `listed_as`: names that the price files have for it besides its own. `topology` is the article's; `since`: evidence ids of
    what was found that is newer, `topology_now` the topology that it documents according to that, '' where that says none.
    """

    id: str
    name: str
    fabric: str
    generation: str
    link_low_gbits_per_s: float | None
    link_high_gbits_per_s: float | None
    availability: str
    every_gpu_node: bool
    topology: str
    add_on: bool
    sla: tuple[str, ...]
    notes: tuple[str, ...]
    listed_as: tuple[str, ...] = ()
    since: tuple[str, ...] = ()
    topology_now: str = ""

    @property
    def stated_topology(self) -> str:
        """The topology that it documents, as far as is known; '' where it documents none."""
        return self.topology_now or self.topology


@dataclass(frozen=True)
class ContractOnly:
    """A cloud outside the table whose service levels were read."""

    id: str
    name: str
    sla: tuple[str, ...]


@dataclass(frozen=True)
class ProviderBook:
    """The shipped table, the questions, and the rules for reading answers. `source` is the table's evidence id."""

    source: str
    sellers: tuple[Seller, ...]
    contracts_only: tuple[ContractOnly, ...]
    common: tuple[str, ...]
    questions: tuple[Question, ...]
    wording: Wording

    def seller(self, name: str) -> Seller | None:
        """The seller of this name (case and the parts of a double name do not matter), or None."""
        wanted = folded(name)
        return next((s for s in self.sellers if wanted in set(map(folded, seller_names(s.name)))), None)

    def question(self, question_id: str) -> Question:
        """The question with this id; KeyError if there is none."""
        return next(q for q in self.questions if q.id == question_id)


@lru_cache(maxsize=1)
def read_providers() -> ProviderBook:
    """The shipped table and questions."""
    table = read_yaml("providers")
    return ProviderBook(
        table["source"],
        tuple(_seller(row) for row in table["providers"]),
        tuple(ContractOnly(r["id"], r["name"], tuple(r["sla"])) for r in table["contracts_only"]),
        tuple(table["common"]),
        read_questions(),
        read_wording(),
    )


def _seller(row: Mapping[str, Any]) -> Seller:
    link = row["link_gbits_per_s"] or {"low": None, "high": None}
    return Seller(
        row["id"],
        row["name"],
        row["fabric"],
        row["generation"],
        link["low"],
        link["high"],
        row["availability"],
        bool(row["every_gpu_node"]),
        row["topology"],
        bool(row["add_on"]),
        tuple(row["sla"]),
        tuple(row["notes"]),
        tuple(row.get("listed_as", ())),
        tuple(row["since"]),
        row.get("topology_now", ""),
    )


def folded(name: str) -> str:
    """A name for comparing: case and doubled spaces do not matter."""
    return " ".join(name.casefold().split())
