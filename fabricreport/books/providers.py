"""Sellers of GPU time and the questions to put to them: the shipped table joined with the rules for answers.

`evidence/providers.yaml` holds what sellers document, their service levels and the questions; `evidence/diligence.yaml`
says beside each question how its answer is checked, whom it is for and which inputs of the models it settles. A
client's answer files are read by `fabricreport.books.provider_answers`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from fabricreport.evidence import read_yaml


@dataclass(frozen=True)
class Seller:
    """One cloud of the shipped table. Link speeds in Gb/s per GPU (None where the host decides); `sla`: evidence ids;
    `listed_as`: names that the price files have for it besides its own.
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


@dataclass(frozen=True)
class Question:
    """One question to a seller, with what a good answer settles.

    `title` is the question in a few words; `form` of a useful answer: text, number, table or document; `unit` of its value. `check` names the test of the
    answer, `to` whom it is put, `when` the condition for asking, `settles` patterns of input names, `contested`
    quantities, `guards` the question whose answer it tests. `commercial`: the answer is a price.
    """

    id: str
    title: str
    source: str
    axis: str
    question: str
    why: str
    good: str
    red_flag: str
    form: str
    unit: str
    evidence: tuple[str, ...]
    check: str
    to: tuple[str, ...]
    when: str
    settles: tuple[str, ...]
    contested: tuple[str, ...]
    guards: str
    commercial: bool


@dataclass(frozen=True)
class ContractOnly:
    """A cloud outside the table whose service levels were read."""

    id: str
    name: str
    sla: tuple[str, ...]


@dataclass(frozen=True)
class Wording:
    """Words by which an answer is judged; see `evidence/diligence.yaml`."""

    topology: tuple[str, ...]
    topology_unknown: tuple[str, ...]
    vague: tuple[str, ...]
    others_tune: tuple[str, ...]
    least_words: int


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
        return next((s for s in self.sellers if wanted in {folded(p) for p in (s.name, *s.name.split("/"))}), None)

    def question(self, question_id: str) -> Question:
        """The question with this id; KeyError if there is none."""
        return next(q for q in self.questions if q.id == question_id)


@lru_cache(maxsize=1)
def read_providers() -> ProviderBook:
    """The shipped table and questions. `ValueError` if the two files do not speak of the same questions."""
    table, rules = read_yaml("providers"), read_yaml("diligence")
    by_id = {rule["id"]: rule for rule in rules["questions"]}
    asked = [q["id"] for q in table["questions"]]
    if sorted(asked) != sorted(by_id):
        raise ValueError(f"providers.yaml and diligence.yaml differ on {sorted(set(asked) ^ set(by_id))}")
    return ProviderBook(
        table["source"],
        tuple(_seller(row) for row in table["providers"]),
        tuple(ContractOnly(r["id"], r["name"], tuple(r["sla"])) for r in table["contracts_only"]),
        tuple(table["common"]),
        tuple(_question(row, by_id[row["id"]]) for row in table["questions"]),
        Wording(
            tuple(rules["topology_words"]),
            tuple(rules["topology_unknown"]),
            tuple(rules["vague_phrases"]),
            tuple(rules["others_tune"]),
            int(rules["least_words"]),
        ),
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
    )


def _question(row: Mapping[str, Any], rule: Mapping[str, Any]) -> Question:
    return Question(
        row["id"],
        rule["title"],
        row["source"],
        row["axis"],
        row["question"],
        row["why"],
        row["good"],
        row["red_flag"],
        row["answer"],
        row["unit"],
        tuple(row["evidence"]),
        rule["check"],
        tuple(rule["to"]),
        rule.get("when", ""),
        tuple(rule["settles"]),
        tuple(rule.get("contested", ())),
        rule.get("guards", ""),
        bool(rule.get("commercial", False)),
    )


def folded(name: str) -> str:
    """A name for comparing: case and doubled spaces do not matter."""
    return " ".join(name.casefold().split())
