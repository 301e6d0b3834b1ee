"""What the risk study found, named: which sentence of the notebook is true, and the words that its sentences use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum

from fabricreport.base.vocabulary import Question
from fabricreport.books.names import family_names
from fabricreport.inputs.inputs import Inputs
from fabricreport.ledger.facts import Findings, Name, Named, OptionName, Spoken
from fabricreport.sections.client import largest_job, stages_of
from fabricreport.sections.tail_risk.result import TailResult
from fabricreport.sections.validity import GOODPUT, beyond
from fabricreport.validation.risk import goodput_card

COUNTED, COUNTED_AT = "evidence:kokolis-mttf-1024-gpus", 1024
"""Whose time between failures of a job is measured at a size that clients build, and that size in GPUs."""
_ONE_RATE = "one rate for both"
"""The band of a card's rows that hold our own rates against what was counted."""
_ABOUT = 2.0
"""A job of up to so many times more or fewer GPUs is about as large."""


class TailFinding(StrEnum):
    """What may be true of a client's risk; those of one group exclude each other."""

    # what holds of the client
    SMALL = "so few GPUs, and no growth, that the fabric hardly matters"
    # the rates of failure
    OPTIMISTIC_AT_SIZE = "jobs of about this size failed more often than our rates give"
    # outside what the model was tried on
    BEYOND = "the model of goodput was tried on no such run"


F = TailFinding


class _Read:
    """A risk study with what its findings and words are made of."""

    def __init__(self, given: Inputs, result: TailResult) -> None:
        self.given, self.result = given, result
        self.focus = result.focus
        cluster = given.params.cluster
        self.small = cluster.gpus <= given.central("evidence:fabric-matters-from-gpus") and not cluster.trajectory
        self.start = largest_job(given, stages_of(given)[0][1])

    def value(self, figure: str) -> float:
        """The central value of a figure of this section."""
        return self.result.numbers[f"tail_risk.{figure}"].value

    @property
    def near(self) -> str:
        """The row of the card that holds our rates against failures counted at about this size of job, '' without one."""
        if not COUNTED_AT / _ABOUT <= self.start <= COUNTED_AT * _ABOUT:
            return ""
        rows = enumerate(goodput_card().rows)
        return next((str(n) for n, row in rows if row.source == COUNTED and row.band == _ONE_RATE), "")

    def failing_sooner(self, row: str) -> bool:
        """Whether less time lay between failures than our rates give."""
        return self.value(f"card.goodput.{row}.published") < self.value(f"card.goodput.{row}.ours")


def spoken(given: Inputs, result: TailResult) -> Spoken:
    """Findings and words of the risk."""
    read = _Read(given, result)
    groups = (_client, _rates, _beyond)
    return Spoken(Findings(TailFinding, (f for group in groups for f in group(read))), _words(read))


def _client(read: _Read) -> Iterator[TailFinding]:
    yield from (F.SMALL,) if read.small else ()


def _rates(read: _Read) -> Iterator[TailFinding]:
    if read.near and read.failing_sooner(read.near):
        yield F.OPTIMISTIC_AT_SIZE


def _beyond(read: _Read) -> Iterator[TailFinding]:
    if beyond(read.given, GOODPUT):
        yield F.BEYOND


# ---- words


def _words(read: _Read) -> Mapping[str, object]:
    """Every word of the section's prose; None where there is none here."""
    options = {o.id: o for o in read.given.options}
    family = {o: Name(family_names(option.family).phrase) for o, option in options.items()}
    name = {o: OptionName(option.name, o, family=family[o]) for o, option in options.items()}
    best = read.result.levers[0]
    return {
        "focus": name[read.focus],
        "worked": name[read.result.worked],
        "dates_here": Name("here") if read.given.params.asked != Question.BUY_ONCE else None,
        "of_ethernet": options[read.result.worked].behaviour.manager,
        "lever": Named(best.label, best.id),
        "interval_rule": interval_rule(read.given),
        "near": Named(
            goodput_card().rows[int(read.near)].case,
            read.near,
            gpus=Name(f"{COUNTED_AT:,} GPUs"),
            sources=(COUNTED,),
        )
        if read.near
        else None,
    }


def interval_rule(given: Inputs) -> Name:
    """Whose interval between checkpoints it is."""
    stated = given.params.workload.checkpoint_minutes is not None
    return Name("as you state" if stated else "the optimum on any network")
