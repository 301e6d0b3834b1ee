"""What a seller answered of its terms: price, add-on, size, hand-over and credit, each as it stands or not at all.

A term binds as it is written or it binds nobody, so none is weighed: words alone move nothing, and where an offer says
the same, the offer stands. Of a range the end counts that is worse for the client.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from fabricreport.answer_effects import Effect, Nothing
from fabricreport.as_run import is_rented
from fabricreport.books.answers import Answer, AnswerFile
from fabricreport.books.offers.offer import Offer
from fabricreport.books.prices.book import Price
from fabricreport.books.prices.rules import shelf_life_days
from fabricreport.books.providers import folded
from fabricreport.books.questions import Proof
from fabricreport.scenario import Params, slugify
from fabricreport.uncertain import Uncertain, exactly
from fabricreport.vocabulary import Grade

GPU_HOUR = "gpu-hour"
LEAD = "evidence:lead-weeks-equipment"
"""The entry of weeks from order to delivery, whose place an answer takes for its option."""
_WORSE_LOW = (Effect.SIZE, Effect.CREDITS)
"""Terms of which less is worse for the client."""


@dataclass(frozen=True)
class Term:
    """A term as it was answered: its value, what it rests on, and the price of the book that it makes, if it is one."""

    effect: Effect
    input_id: str
    value: float
    proof: Proof
    price: Price | None = None

    @property
    def figure(self) -> Uncertain:
        """The value as a figure."""
        return exactly(self.value)


def term_of(
    effect: Effect, params: Params, offers: Sequence[Offer], file: AnswerFile, answer: Answer, proof: Proof
) -> Term:
    """The term that an answer states; `Nothing` with the reason where nobody may rely on it, or another one stands."""
    low, high = answer.low, answer.high
    if low is None or high is None:
        raise Nothing("no number came with it")
    if proof == Proof.STATEMENT:
        raise Nothing("a term in words alone binds nobody")
    value = low if effect in _WORSE_LOW else high
    if not is_rented(params):
        if effect != Effect.START:
            raise Nothing("it is a term of rent, and this client owns its cluster")
        return Term(effect, LEAD, value, proof)
    offer = next((o for o in offers if folded(o.seller) == folded(file.provider)), None)
    if offers and offer is None:
        raise Nothing("this seller has made no offer that the term could belong to")
    if offer is not None and _states(offer, effect):
        raise Nothing("its offer states the same term, and the offer binds")
    price = _price(effect, params, file, value, proof) if effect in (Effect.PRICE, Effect.ADD_ON) else None
    return Term(effect, price.id if price else f"offer:{slugify(file.provider)}.{effect}", value, proof, price)


def _states(offer: Offer, effect: Effect) -> bool:
    """Whether an offer says itself what the answer says."""
    return {
        Effect.PRICE: True,
        Effect.ADD_ON: offer.with_network,
        Effect.SIZE: offer.size > 0,
        Effect.START: offer.start is not None,
        Effect.CREDITS: offer.credit is not None,
    }[effect]


def _price(effect: Effect, params: Params, file: AnswerFile, value: float, proof: Proof) -> Price:
    """An amount answered as a price of the day of the answer, in US dollars as the question asks."""
    day, as_of = date.fromisoformat(file.date), date.fromisoformat(str(params.as_of))
    expiry = day + timedelta(days=shelf_life_days(GPU_HOUR))
    what = "hour" if effect == Effect.PRICE else "network"
    return Price(
        f"answer-{slugify(file.provider)}-{what}", GPU_HOUR, value, None, None, "USD", day, expiry,
        f"{file.provider}, answer of {day.isoformat()}",
        Grade.CONTRACT if proof == Proof.CONTRACT else Grade.QUOTE,
        stale=as_of > expiry, age_days=(as_of - day).days, file=file.file,
    )  # fmt: skip
