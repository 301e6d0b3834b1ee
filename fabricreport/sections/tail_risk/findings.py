"""What the risk study found, named: which sentence of the notebook is true, and the words that its sentences use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum

from fabricreport.books.names import family_names
from fabricreport.findings import Findings, Name, Named, OptionName, Spoken
from fabricreport.formats import inside
from fabricreport.inputs import Inputs
from fabricreport.provenance import plain
from fabricreport.sections.client import judges, largest_job, stages_of
from fabricreport.sections.tail_risk.horizon import CAUSES
from fabricreport.sections.tail_risk.result import TailResult
from fabricreport.sections.validity import GOODPUT, beyond
from fabricreport.validation.risk import goodput_card
from fabricreport.vocabulary import Question

COUNTED, COUNTED_AT = "evidence:kokolis-mttf-1024-gpus", 1024
"""Whose time between failures of a job is measured at a size that clients build, and that size in GPUs."""
_ONE_RATE = "one rate for both"
"""The band of a card's rows that hold our own rates against what was counted."""
_HALF = 0.5
"""Share of the GPU time lost above which it is most of it."""
_ABOUT = 2.0
"""A job of up to so many times more or fewer GPUs is about as large."""


class TailFinding(StrEnum):
    """What may be true of a client's risk; those of one group exclude each other."""

    # what holds of the client
    SMALL = "so few GPUs, and no growth, that the fabric hardly matters"
    ELICITED = "experts judged for this client what nobody has published"
    DATES_HERE = "the body has no table of the dates"
    # the run
    RUN_LONGER = "a run takes longer and costs more on RoCEv2, as printed"
    # the title of the chart of causes
    CAUSES_BRING_UP = "not so on each, and of what is a fabric's own bring-up is the largest part on each"
    CAUSES_COMMON = "most loss is common on each fabric, and on some bring-up is not the largest of the rest"
    CAUSES_FABRIC = "most loss is the fabric's own on each"
    CAUSES_PARTED = "most loss is the fabric's own on one of the two, and on some bring-up is not the largest of it"
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
        self.other = result.pair[0] if result.pair else result.focus
        cluster = given.params.cluster
        self.small = cluster.gpus <= given.central("evidence:fabric-matters-from-gpus") and not cluster.trajectory
        self.start = largest_job(given, stages_of(given)[0][1])

    def value(self, figure: str) -> float:
        """The central value of a figure of this section."""
        return self.result.numbers[f"tail_risk.{figure}"].value

    def rises(self, figure: str) -> bool:
        """Whether a difference is above zero as it is printed."""
        number = self.result.numbers[f"tail_risk.{figure}"]
        return number.value > 0 and any(digit in "123456789" for digit in number.text)

    @property
    def both(self) -> tuple[str, ...]:
        """The two that are set side by side; twice the focus where it stands alone."""
        return self.other, self.focus

    def own_share(self, option: str) -> float:
        """Share of the GPU time lost on an option that its fabric takes."""
        lost = self.value(f"lost.{option}")
        return self.value(f"fabric_lost.{option}") / lost if lost else 0.0

    @property
    def mostly_fabric(self) -> frozenset[bool]:
        """Whether the fabric itself takes more than half of the GPU time lost: one answer where the two agree."""
        return frozenset(self.own_share(o) > _HALF for o in self.both)

    @property
    def bring_up_largest(self) -> bool:
        """Whether bring-up is the largest part of what the fabric itself takes, on each."""
        own = ("stalls", "topology", "fabric")
        return all(
            self.value(f"lost.bring_up.{o}") >= max(self.value(f"lost.{cause}.{o}") for cause in own) for o in self.both
        )

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

    @property
    def worst_cause(self) -> str:
        """The cause that takes most GPU time on the focus."""
        lost = self.result.lost[self.focus]
        return max(CAUSES, key=lambda c: float(plain(lost[c]).mean()))


def spoken(given: Inputs, result: TailResult) -> Spoken:
    """Findings and words of the risk."""
    read = _Read(given, result)
    groups = (_client, _run, _causes_title, _rates, _beyond)
    return Spoken(Findings(TailFinding, (f for group in groups for f in group(read))), _words(read))


def _by_owner(read: _Read, fabric: TailFinding, others: TailFinding, parted: TailFinding) -> TailFinding:
    """The finding by whose doing most of the lost GPU time is: the fabric's on each, something else's on each, neither."""
    found = read.mostly_fabric
    return parted if len(found) > 1 else fabric if True in found else others


def _client(read: _Read) -> Iterator[TailFinding]:
    yield from (F.SMALL,) if read.small else ()
    yield from (F.ELICITED,) if read.given.elicited else ()
    yield from (F.DATES_HERE,) if read.given.params.asked != Question.BUY_ONCE else ()


def _run(read: _Read) -> Iterator[TailFinding]:
    if read.result.pair and read.rises("difference") and read.rises("difference_usd"):
        yield F.RUN_LONGER


def _causes_title(read: _Read) -> Iterator[TailFinding]:
    if read.small:
        return
    if False in read.mostly_fabric and read.bring_up_largest:
        yield F.CAUSES_BRING_UP
    else:
        yield _by_owner(read, F.CAUSES_FABRIC, F.CAUSES_COMMON, F.CAUSES_PARTED)


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
        "judges": judges(read.given),
        "other": name[read.other],
        "mostly_own": name[max(read.both, key=read.own_share)],
        "worst": Named(inside(CAUSES[read.worst_cause]), read.worst_cause),
        "lever": Named(best.label, best.id),
        "near": Named(
            goodput_card().rows[int(read.near)].case,
            read.near,
            gpus=Name(f"{COUNTED_AT:,} GPUs"),
            sources=(COUNTED,),
        )
        if read.near
        else None,
    }
