"""What stands in `evidence/offers.yaml`: what has to be in writing, what may be refused, who is asked first, and what."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fabricreport.books.fields import CLOSED
from fabricreport.books.questions import known_ids, read_questions
from fabricreport.books.reader import shipped

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
