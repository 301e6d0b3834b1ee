"""What a seller's answer says: of the figures of a fabric, which inputs it speaks of and how; and of the seller's terms.

A question names its effect (`data/questions.yaml`); which entries that is follows from how the option behaves and
from who runs it. Entries are stated for a reference size, a team of medium maturity and a turnkey fabric, an answer for
this client's: it is divided by what the models multiply with.

A term binds as it is written or it binds nobody, so none is weighed: words alone move nothing, and where an offer says
the same, the offer stands. Of a range the end counts that is worse for the client.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum
from typing import Any, Protocol

import numpy as np

from fabricreport.base.errors import InputError
from fabricreport.base.uncertain import Uncertain, exactly
from fabricreport.base.vocabulary import Grade, Maturity
from fabricreport.books.answers import Answer, AnswerFile, Log
from fabricreport.books.options import Option
from fabricreport.books.prices.book import Price
from fabricreport.books.prices.rules import shelf_life_days
from fabricreport.books.sellers import Offer, Proof, folded
from fabricreport.inputs.options import Team, burden, is_rented, wired, wired_as_family
from fabricreport.models.audit.diligence import Observed, taper_loss
from fabricreport.models.collectives.timing import allreduce
from fabricreport.models.risk.entries import MATURITIES, Effort, complexity, maturity_effect
from fabricreport.models.training.parallel import Practice
from fabricreport.scenario import Params, slugify

BYTES_PER_MIB = 2.0**20
MIB_PER_GIB = 1024.0
OWN, CLIENT, NOBODY = "own team", "client", "nobody"
"""Short answers on who tunes."""


class Effect(StrEnum):
    """What of the models an answer moves."""

    OVERSUBSCRIPTION = "oversubscription"
    BANDWIDTH = "bandwidth"
    TUNER = "tuner"
    WEEKS = "weeks"
    REPAIR = "repair"
    PRICE = "price"
    ADD_ON = "add-on"
    SIZE = "size"
    START = "start"
    CREDITS = "credits"


TERMS = (Effect.PRICE, Effect.ADD_ON, Effect.SIZE, Effect.START, Effect.CREDITS)
"""Terms of an offer: they stand as they are stated, or they do not."""


class Known(Protocol):
    """What is known before any answer: the params, and the figures of the books with overrides and judgements in force."""

    params: Params

    @property
    def practice(self) -> Practice:
        """Models to train, GPUs, and the collective model."""

    def central(self, input_id: str) -> float:
        """The central value of an input."""

    def uncertain(self, input_id: str) -> Uncertain:
        """The figure of an input."""

    @property
    def team(self) -> Team:
        """Who is taken to run the fabric."""


class Nothing(Exception):
    """An answer that moves nothing, and why in words."""


@dataclass(frozen=True)
class Says:
    """What an answer says of one input: a value from `low` to `high`, or a `loss` that comes to what is lost already.

    `share`: the input is one.
    """

    input_id: str
    low: float = 0.0
    high: float = 0.0
    share: bool = False
    loss: float = 0.0

    def observed(self, noise: float) -> Observed:
        """The value as the update takes it."""
        return Observed(self.low, self.high, noise)


@dataclass(frozen=True)
class Put:
    """An answer as it was put: of which option, resting on what, what is known besides; `against` the seller that gave it."""

    known: Known
    option: Option
    answer: Answer
    proof: Proof
    against: bool = False

    @property
    def params(self) -> Params:
        """The client's params."""
        return self.known.params

    def entry(self, entry_id: str) -> float:
        """The central value of an entry of the evidence."""
        return self.known.central(f"evidence:{entry_id}")

    def range(self, entry_id: str) -> Uncertain:
        """The figure of an entry of the evidence."""
        return self.known.uncertain(f"evidence:{entry_id}")

    @property
    def effort(self) -> Effort:
        """What the option takes with that team, every entry at its central value."""
        return self.known.team.effort(self.option, self.entry)

    @property
    def value(self) -> tuple[float, float]:
        """The ends of the answer's value."""
        low, high = self.answer.low, self.answer.high
        if low is None or high is None:
            raise Nothing("no number came with it")
        return low, high


def says(effect: Effect, put: Put) -> tuple[Says, ...]:
    """What an answer says of the inputs of an option; `Nothing` with the reason where it says nothing of any."""
    if int(put.params.cluster.gpus) <= int(put.params.cluster.gpus_per_node):
        raise Nothing("all GPUs share one node, and no fabric lies between them")
    found = tuple(_READ[effect](put))
    if any(said.low <= 0.0 and not said.share and not said.loss for said in found):
        raise Nothing("nothing takes no time at all")
    return found


def busbw(known: Known, option: Option, log: Log) -> float:
    """AllReduce busbw (GB/s) of the option when it is tuned, at a log's size, every input at its central value.

    `Nothing` for a log of a cluster that the model knows nothing of.
    """
    wires = wired(known.params, known.practice, option, known.central)
    try:
        found = allreduce([log.size_mib * BYTES_PER_MIB], wires.job(log.gpus))
    except InputError:  # told with its place in the file by `check`
        raise Nothing("its log is of a cluster that the model cannot know") from None
    return float(np.asarray(found.busbw_gbytes_per_s).ravel()[0] * wires.reduction / wires.slowdown)


def _weeks(put: Put) -> Iterator[Says]:
    """Weeks to stable; of a rented fabric, which ran before, as a factor on those of one that is built anew."""
    if put.option.one_switch:
        raise Nothing("one switch joins all GPUs, and its weeks are those of the servers on any fabric")
    gpus = int(put.params.cluster.gpus)
    team = float(_team(put).bring_up * complexity(put.entry, gpus))
    team = team * float(burden(put.params, put.option, put.params.cluster.halls(gpus)[0], put.entry))
    team = team * float(put.effort.bring_up)
    weeks = put.option.behaviour.weeks
    if put.known.team.rented:
        yield Says("evidence:rented-bring-up-factor", *_over(team * put.entry(weeks), *put.value))
    else:
        yield Says(f"evidence:{weeks}", *_over(team, *put.value))


def _repair(put: Put) -> Iterator[Says]:
    yield Says("evidence:config-fault-hours-to-find", *_over(_team(put).detection, *put.value))


def _tuner(put: Put) -> Iterator[Says]:
    """What follows from who tunes: a state of the fabric, as uncertain as the entries that describe it."""
    who = put.answer.choice or (CLIENT if put.against else OWN)
    rented = put.known.team.rented
    if who == OWN and rented:
        raise Nothing("the figures of a rented fabric assume that the seller’s own team tunes it")
    if who == OWN:
        level = MATURITIES[-1]
        faults, weeks = (put.range(f"lever-tuning-{what}-factor") for what in ("config", "bring-up"))
    elif who in (CLIENT, NOBODY) and rented:
        level = str(put.params.organisation.networking_maturity)
        if Maturity(level).rank >= Maturity(put.known.team.maturity).rank:
            raise Nothing("the client’s team is taken to tune no worse than a seller’s")
        faults, weeks = (_maturing(put, level, what) for what in ("config-faults", "bring-up"))
    else:
        raise Nothing("the figures already assume that no team of the seller’s tunes it")
    own = put.option.behaviour
    if put.option.one_switch:
        raise Nothing("one switch joins all GPUs, and there is nothing between switches to tune")
    for entry, factor in ((own.config_faults, faults), (own.weeks, weeks)):
        middle = put.entry(entry)
        yield Says(f"evidence:{entry}", middle * factor.low, middle * factor.high)
    if _tunable(put):
        state = put.range(f"{own.tuning}-{level}")
        yield Says(_tuning(put), state.low, state.high, share=True)


def _maturing(put: Put, level: str, what: str) -> Uncertain:
    """How a team of another maturity multiplies what the fabric's own does, by the entries of both."""
    medium = str(Maturity.MEDIUM)
    theirs, ours = (
        exactly(1.0) if team == medium else put.range(f"maturity-{team}-{what}")
        for team in (level, put.known.team.maturity)
    )
    return theirs.times(1.0 / ours.central)


def _bandwidth(put: Put) -> Iterator[Says]:
    if not _tunable(put):
        raise Nothing("what this fabric reaches is not taken to depend on who tunes it")
    log = put.answer.measured
    if log is None:
        low, high = put.value
        log = Log(int(put.params.cluster.gpus), low, put.entry("acceptance-message-gib") * MIB_PER_GIB)
    else:
        low = high = log.busbw_gbytes_per_s
    tuned = busbw(put.known, put.option, log)
    effort = float(put.effort.tuning)
    low, high = (max(0.0, 1.0 - (1.0 - min(reached / tuned, 1.0)) / effort) for reached in (low, high))
    yield Says(_tuning(put), low, high, share=True)


def _oversubscription(put: Put) -> Iterator[Says]:
    design, ratio = float(put.params.cluster.oversubscription), put.value[1]
    if ratio <= design:
        raise Nothing("the client’s design asks for no less, and the figures assume it")
    if put.proof == Proof.STATEMENT:
        raise Nothing("a taper in words alone is no drawing: ask for one")
    if put.option.one_switch:
        raise Nothing("one switch joins all GPUs, and no link of it is shared")
    dragonfly = str(put.params.cluster.topology) == "dragonfly"
    entry = "dragonfly-contention" if dragonfly else put.option.behaviour.contention
    yield Says(f"evidence:{entry}", loss=taper_loss(put.entry("cross-leaf-traffic-share"), ratio, design))


def _team(put: Put) -> Any:
    return maturity_effect(put.entry, put.known.team.maturity)


def _tunable(put: Put) -> bool:
    return bool(put.option.behaviour.tuning) and wired_as_family(put.params, put.known.practice, put.option)


def _tuning(put: Put) -> str:
    return f"evidence:{put.option.behaviour.tuning}-{put.known.team.maturity}"


def _over(factor: Any, low: float, high: float) -> tuple[float, float]:
    return low / float(factor), high / float(factor)


_READ: Mapping[Effect, Callable[[Put], Iterator[Says]]] = {
    Effect.OVERSUBSCRIPTION: _oversubscription,
    Effect.BANDWIDTH: _bandwidth,
    Effect.TUNER: _tuner,
    Effect.WEEKS: _weeks,
    Effect.REPAIR: _repair,
}


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
