"""What the risk study found, named: which sentence of the notebook is true, and the words that its sentences use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from itertools import pairwise

from fabricreport.books.names import family_names
from fabricreport.durations import DAYS_PER_YEAR
from fabricreport.findings import Findings, Name, Named, OptionName, Spoken
from fabricreport.formats import inside
from fabricreport.inputs import Inputs
from fabricreport.provenance import plain
from fabricreport.scenario import is_given
from fabricreport.sections.client import judges, largest_job, rented, stages_of
from fabricreport.sections.tail_risk.figure_context import EFFECTIVE_TIME, cards, in_hours
from fabricreport.sections.tail_risk.horizon import CAUSES
from fabricreport.sections.tail_risk.result import TailResult
from fabricreport.sections.validity import GOODPUT, beyond

_OFTEN = 0.1
"""Share of draws from which missing the date is a risk worth naming."""
_APART = 0.02
"""Difference between shares of draws below which two fabrics keep a date alike."""
_FAR_LATER = 0.1
"""How much more often plain Ethernet's runs are late before that is said."""
_RARELY = 0.1
"""Faults of the fabric expected in a run below which almost every run meets none."""
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

    # how the section opens
    OPENS_SMALL = "so few GPUs that the fabric does not make a run late"
    OPENS_GROWTH = "growth moves the chance of a late run more than the choice of fabric does"
    OPENS_DATE = "of two fabrics side by side one at least may well miss the date"
    OPENS_DATE_ALONE = "the only fabric may well miss the date"
    OPENS_STABLE = "each fabric is stable in time, and most GPU time is lost to other things on each"
    OPENS_LOSS = "each fabric is stable in time, and most GPU time lost is its own doing on each"
    OPENS_PARTED = "both are stable in time, and most GPU time lost is its own doing on one of the two"
    # what holds of the client
    SMALL = "so few GPUs, and no growth, that the fabric hardly matters"
    GROWS = "the plan grows within the horizon"
    SMALL_PAIR = "and two are set side by side"
    SMALL_ALONE = "and one is told of alone"
    PAIR = "an InfiniBand and a RoCEv2 option are set side by side"
    RENTED = "the fabric is the provider's"
    WAITS = "every step waits for the slowest worker"
    # the date
    DATE_ASSUMED = "the client gave no date"
    ELICITED = "experts judged for this client what nobody has published"
    NEVER_MISSED = "in no draw does one of the fabrics miss the date"
    # the run
    RUN_LONGER = "a run takes longer and costs more on RoCEv2, as printed"
    RUN_DIFFERS = "a run takes as long or less on RoCEv2, or costs no more"
    # where the time goes
    LOST_PAIR = "what is lost on two fabrics is told of a large cluster"
    LOST_ALONE = "what is lost on one fabric is told of a large cluster"
    FAULTS_RARE = "so few GPUs that almost no run meets a fault of the fabric"
    PLAIN_LATE = "plain Ethernet's runs are late far more often"
    # the title of the chart of dates
    DATES_IN_HOURS = "stable in time, and runs so short that they end within hours of their plan"
    DATES_ALONE = "one fabric alone"
    DATES_ALIKE = "both fabrics keep their dates alike"
    DATES_PART_IN_READINESS = "the fabrics differ in the time to stable more than in the run"
    DATES_PART_IN_RUN = "the fabrics differ in the run more than in the time to stable"
    DATES_PART_IN_RUN_READY = "the same, and both are stable in time"
    # the title of the chart of causes
    CAUSES_BRING_UP = "not so on each, and of what is a fabric's own bring-up is the largest part on each"
    CAUSES_COMMON = "most loss is common on each fabric, and on some bring-up is not the largest of the rest"
    CAUSES_FABRIC = "most loss is the fabric's own on each"
    CAUSES_PARTED = "most loss is the fabric's own on one of the two, and on some bring-up is not the largest of it"
    # levers
    LEVER_PAYS = "the best lever saves at least what it costs"
    NO_LEVER_PAYS = "no lever saves what it costs"
    # maturity
    MATURITY_MOVES_READINESS = "maturity moves the chance of being stable in time more than that of a late run"
    # the model at full size
    FULL_SIZE_BELOW = "the plan grows, and the model gives a published run less productive time than was reported"
    FULL_SIZE_AGREES = "the plan grows, and the model gives a published run at least what was reported"
    OPTIMISTIC_AT_SIZE = "jobs of about this size failed more often than our rates give"
    CARD_MISSED = "something written down before goodput was calibrated was not met"
    CARD_MET = "all that was written down before goodput was calibrated was met"
    # outside what the model was tried on
    BEYOND = "the model of goodput was tried on no such run"
    BEYOND_SIMULATION = "a simulation"
    BEYOND_INFERENCE = "inference"
    BEYOND_FEW = "a job on fewer GPUs than any run tried"
    BEYOND_MANY = "a job on more GPUs than any run tried"
    # stress cases
    DROPS_LISTED = "dropped packets are among the stress cases"
    NEIGHBOUR_LISTED = "a noisy neighbour is among the stress cases"


F = TailFinding


class _Read:
    """A risk study with what its findings and words are made of."""

    def __init__(self, given: Inputs, result: TailResult) -> None:
        self.given, self.result = given, result
        self.focus = result.focus
        self.other = result.pair[0] if result.pair else result.focus
        cluster = given.params.cluster
        self.small = cluster.gpus <= given.central("evidence:fabric-matters-from-gpus") and not cluster.trajectory
        ends = (stages_of(given)[0], stages_of(given)[-1])
        self.start, self.full = (str(largest_job(given, gpus)) for _, gpus in ends)
        self.grows = len(stages_of(given)) > 1
        self.plain = next((o.id for o in given.options if not o.rdma), "")
        self.hours = in_hours(result.planned_days)

    def value(self, figure: str) -> float:
        """The central value of a figure of this section."""
        return self.result.numbers[f"tail_risk.{figure}"].value

    def rises(self, figure: str) -> bool:
        """Whether a difference is above zero as it is printed."""
        number = self.result.numbers[f"tail_risk.{figure}"]
        return number.value > 0 and any(digit in "123456789" for digit in number.text)

    @property
    def least_missed(self) -> float:
        """Share of draws in which the better of the two misses the date."""
        return min(self.value(f"not_ready.{o}") for o in (self.focus, self.other))

    @property
    def most_missed(self) -> float:
        """Share of draws in which the worse of the two misses the date."""
        return max(self.value(f"not_ready.{o}") for o in (self.focus, self.other))

    def apart(self, what: str) -> float:
        """A share of draws on RoCEv2 less that on InfiniBand."""
        return self.value(f"{what}.{self.focus}") - self.value(f"{what}.{self.other}")

    def worse(self, what: str) -> str:
        """The one of the two with the larger share."""
        return self.focus if self.apart(what) > 0 else self.other

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
    def late_by_size(self) -> str:
        """How the share of late runs moves over the sizes shown, the smallest first."""
        late = [
            self.value(f"size.{s.label}.late") for s in sorted(self.result.sensitivity.sizes, key=lambda s: s.value)
        ]
        steps = [after - before for before, after in pairwise(late)]
        if not any(steps):
            return "as many"
        if all(step >= 0 for step in steps):
            return "more"
        return "fewer" if all(step <= 0 for step in steps) else "not always more"

    @property
    def missed(self) -> list[str]:
        """What was written down before goodput was calibrated and did not come true."""
        card = cards()["goodput"]
        return [text for text, met in zip(card.expected, card.as_expected.values(), strict=True) if not met]

    @property
    def near(self) -> str:
        """The row of the card that holds our rates against failures counted at about this size of job, '' without one."""
        if not COUNTED_AT / _ABOUT <= float(self.start) <= COUNTED_AT * _ABOUT:
            return ""
        rows = enumerate(cards()["goodput"].rows)
        return next((str(n) for n, row in rows if row.source == COUNTED and row.band == _ONE_RATE), "")

    def failing_sooner(self, row: str) -> bool:
        """Whether less time lay between failures than our rates give."""
        return self.value(f"card.goodput.{row}.published") < self.value(f"card.goodput.{row}.ours")

    def by_maturity(self, what: str) -> float:
        """How much more often the focus misses a date at low maturity than at high."""
        low, high = (self.value(f"maturity.{level}.{self.focus}.{what}") for level in ("low", "high"))
        return low - high

    @property
    def worst_cause(self) -> str:
        """The cause that takes most GPU time on the focus."""
        lost = self.result.lost[self.focus]
        return max(CAUSES, key=lambda c: float(plain(lost[c]).mean()))


def spoken(given: Inputs, result: TailResult) -> Spoken:
    """Findings and words of the risk."""
    read = _Read(given, result)
    groups = (_opening, _client, _date, _run, _lost, _dates_title, _causes_title, _levers, _stress, _card, _beyond)
    return Spoken(Findings(TailFinding, (f for group in groups for f in group(read))), _words(read))


def _opening(read: _Read) -> Iterator[TailFinding]:
    if read.small:
        yield F.OPENS_SMALL
    elif read.grows and _by_growth(read) > abs(read.apart("late")):
        yield F.OPENS_GROWTH
    elif read.most_missed >= _OFTEN:
        yield F.OPENS_DATE if read.result.pair else F.OPENS_DATE_ALONE
    else:
        yield _by_owner(read, F.OPENS_LOSS, F.OPENS_STABLE, F.OPENS_PARTED)


def _by_owner(read: _Read, fabric: TailFinding, others: TailFinding, parted: TailFinding) -> TailFinding:
    """The finding by whose doing most of the lost GPU time is: the fabric's on each, something else's on each, neither."""
    found = read.mostly_fabric
    return parted if len(found) > 1 else fabric if True in found else others


def _by_growth(read: _Read) -> float:
    """How much more often a run is late at full size than at the start."""
    return read.value(f"size.{read.full}.late") - read.value(f"size.{read.start}.late")


def _client(read: _Read) -> Iterator[TailFinding]:
    holds = {
        F.SMALL: read.small,
        F.SMALL_PAIR: read.small and bool(read.result.pair),
        F.SMALL_ALONE: read.small and not read.result.pair,
        F.GROWS: read.grows,
        F.PAIR: bool(read.result.pair),
        F.RENTED: rented(read.given),
        F.WAITS: bool(read.given.params.workload.latency_variance_bound),
    }
    yield from (finding for finding, true in holds.items() if true)


def _date(read: _Read) -> Iterator[TailFinding]:
    if not is_given(read.given.params, "organisation.time_to_production_weeks"):
        yield F.DATE_ASSUMED
    if read.given.elicited:
        yield F.ELICITED
    if read.least_missed == 0:
        yield F.NEVER_MISSED


def _run(read: _Read) -> Iterator[TailFinding]:
    if read.result.pair:
        yield F.RUN_LONGER if read.rises("difference") and read.rises("difference_usd") else F.RUN_DIFFERS


def _lost(read: _Read) -> Iterator[TailFinding]:
    if read.small:
        in_a_run = read.value(f"incidents.{read.focus}") * read.result.planned_days / DAYS_PER_YEAR
        yield from (F.FAULTS_RARE,) if in_a_run < _RARELY else ()
        return
    yield F.LOST_PAIR if read.result.pair else F.LOST_ALONE
    if read.plain and read.value(f"late.{read.plain}") > read.value(f"late.{read.focus}") + _FAR_LATER:
        yield F.PLAIN_LATE


def _dates_title(read: _Read) -> Iterator[TailFinding]:
    in_time, in_run = abs(read.apart("not_ready")), abs(read.apart("late"))
    if read.hours and read.most_missed < _OFTEN:
        yield F.DATES_IN_HOURS
    elif not read.result.pair:
        yield F.DATES_ALONE
    elif max(in_time, in_run) < _APART:
        yield F.DATES_ALIKE
    elif in_time >= in_run:
        yield F.DATES_PART_IN_READINESS
    else:
        yield F.DATES_PART_IN_RUN if read.most_missed >= _OFTEN else F.DATES_PART_IN_RUN_READY


def _causes_title(read: _Read) -> Iterator[TailFinding]:
    if read.small:
        return
    if False in read.mostly_fabric and read.bring_up_largest:
        yield F.CAUSES_BRING_UP
    else:
        yield _by_owner(read, F.CAUSES_FABRIC, F.CAUSES_COMMON, F.CAUSES_PARTED)


def _levers(read: _Read) -> Iterator[TailFinding]:
    saved_per_dollar = read.value(f"lever.{read.result.levers[0].id}.per_dollar")
    yield F.LEVER_PAYS if saved_per_dollar >= 1 else F.NO_LEVER_PAYS


def _stress(read: _Read) -> Iterator[TailFinding]:
    listed = {case.id for case in read.result.stress}
    yield from (F.DROPS_LISTED,) if "packet-drop" in listed else ()
    yield from (F.NEIGHBOUR_LISTED,) if "noisy-neighbour" in listed else ()


def _card(read: _Read) -> Iterator[TailFinding]:
    if read.by_maturity("not_ready") > read.by_maturity("late"):
        yield F.MATURITY_MOVES_READINESS
    if read.grows:
        reported = read.given.central(EFFECTIVE_TIME)
        yield F.FULL_SIZE_BELOW if read.value("llama3") < reported else F.FULL_SIZE_AGREES
    if read.near and read.failing_sooner(read.near):
        yield F.OPTIMISTIC_AT_SIZE
    yield F.CARD_MISSED if read.missed else F.CARD_MET


def _beyond(read: _Read) -> Iterator[TailFinding]:
    found = beyond(read.given, GOODPUT)
    if found:
        yield F.BEYOND
    yield from (TailFinding[f"BEYOND_{one.name}"] for one in found)


# ---- words


def _words(read: _Read) -> Mapping[str, object]:
    """Every word of the section's prose; None where there is none here."""
    options = {o.id: o for o in read.given.options}
    family = {o: Name(family_names(option.family).phrase) for o, option in options.items()}
    name = {o: OptionName(option.name, o, family=family[o]) for o, option in options.items()}
    best, known = read.result.levers[0], cards()
    return {
        "focus": name[read.focus],
        "worked": name[read.result.worked],
        "judges": judges(read.given),
        "other": name[read.other],
        "ib": name[read.result.pair[0]] if read.result.pair else None,
        "roce": name[read.result.pair[1]] if read.result.pair else None,
        "plain": name[read.plain] if read.plain else None,
        "slower": name[read.worse("not_ready")],
        "later": name[read.worse("late")],
        "mostly_own": name[max(read.both, key=read.own_share)],
        "late_by_size": Name(read.late_by_size.capitalize()),
        "start": Named(read.start, read.start),
        "full": Named(read.full, read.full),
        "worst": Named(inside(CAUSES[read.worst_cause]), read.worst_cause),
        "lever": Named(best.label, best.id),
        "maturity": Name(read.given.words("rented-fabric-maturity")),
        "llama": Name("Llama 3"),
        "near": Named(
            known["goodput"].rows[int(read.near)].case,
            read.near,
            gpus=Name(f"{COUNTED_AT:,} GPUs"),
            sources=(COUNTED,),
        )
        if read.near
        else None,
        "missed": Name("; ".join(read.missed)) if read.missed else None,
        "expected": tuple(Named(text, text) for text in known["goodput"].expected),
        "stress": tuple(
            Named(case.title, case.id, formula=Name(case.formula.replace(" x ", " × ")), caveat=Name(case.caveat))
            for case in read.result.stress
        ),
        **{f"{model}_range": Name(card.valid_range) for model, card in known.items()},
        "unclaimed": tuple(Named(text, text) for card in known.values() for text in card.does_not_claim),
        "irreducible": tuple(Named(text, text) for card in known.values() for text in card.irreducible),
    }
